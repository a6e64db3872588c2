"""Teachers that are data: a finite set of inputs with a value each, some of them shown and the others held out.

Such a teacher has no parameters and no law to draw from. Its samples are the first rows, each shown once; what a claim
is worth shows on the rest. Elsewhere it has the value of the nearest input.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

CHUNK = 256  # rows looked up at a time


@dataclass(frozen=True, eq=False, repr=False)
class Labelled:
    """Inputs (rows, inputs) and their values (rows, outputs), on the CPU in float64."""

    x: Tensor
    y: Tensor
    shown: int  # how many, from the first on, are samples

    def __call__(self, x: Tensor) -> Tensor:
        """The value of the nearest input."""
        places = [torch.cdist(rows, self.x).argmin(dim=1) for rows in x.to(self.x).split(CHUNK)]
        return self.y[torch.cat(places)].to(x)

    def shown_rows(self, first: int, count: int) -> Tensor:
        """Inputs that are samples, (count, inputs)."""
        return self.x[: self.shown][first : first + count]

    def held_out(self) -> tuple[Tensor, Tensor]:
        """All that is not shown: inputs and values."""
        return self.x[self.shown :], self.y[self.shown :]
