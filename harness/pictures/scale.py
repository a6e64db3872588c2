"""Logarithmic axes: which values they hold, and the round numbers at which they are ruled."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis from `low` to `high`."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> Scale:
        """The axis that holds positive values with a margin; 1 alone where there are none."""
        seen = [v for v in values if v > 0 and math.isfinite(v)] or [1.0]
        margin = max((max(seen) / min(seen)) ** 0.06, 1.6)  # so that a round number lies within
        return cls(min(seen) / margin, max(seen) * margin)

    def held(self, value: float) -> float:
        """The value, or the end of the axis that is nearer."""
        return min(max(value, self.low), self.high)

    def share(self, value: float) -> float:
        """The place of a value, from 0 to 1: log(x/low) / log(high/low), held between the ends."""
        return math.log(self.held(value) / self.low) / math.log(self.high / self.low)

    def ticks(self, most: int = 7) -> list[float]:
        """Round numbers within: powers of ten, or 1, 2 and 5 times these where few powers fit."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        step = math.ceil((last - first + 1) / most)
        every = [
            float(f"{n}e{k}") for k in range(first, last + 1, step) for n in ((1, 2, 5) if last - first < 4 else (1,))
        ]
        return [v for v in every if self.low <= v <= self.high]
