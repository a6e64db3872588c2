"""How large a task is, by what its name says.

    (1)  Σ_l n_{l-1} n_l over the widths n_1-…-n_L, or D m, with D = n_0 inputs and m neurons; D where neither is told.

It orders the tasks of one family, and is no count of parameters (docs/metrics.md, `parameters`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

from paramid.contracts import descriptions
from paramid.records.selection import options
from paramid.words.naming import Name

NEURONS = ("m", "k")


def family(task: str) -> str:
    """The family of a task."""
    return Name.parse(task).base


def inputs(task: str) -> float:
    """D: what its name says, or its family by default; NaN where neither is known."""
    told: object = options(task).get("D")
    if told is None and (source := descriptions.of("tasks", task)):
        told = source.literal("D")
    return float(told) if isinstance(told, int | float) else math.nan


@lru_cache(4096)
def weights(task: str) -> float:
    """(1)."""
    given, d = dict(Name.parse(task).options), inputs(task)
    first = 1.0 if math.isnan(d) else d
    if widths := [float(n) for n in given.get("widths", "").split("-") if n.isdigit()]:
        return sum(a * b for a, b in pairwise([first, *widths]))
    return first * next((options(task)[n] for n in NEURONS if n in options(task)), 1.0)
