"""A statement that was computed: whether it holds as printed, and the numbers; and what several computations share."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from paramid.tasks.biased_relu import LEAST, MOST, BiasedRelu

F64 = torch.float64
ROUNDING = 1e-9  # what is called zero


class Checked(NamedTuple):
    """Whether a statement holds as printed, None where that is not decided, and the numbers."""

    holds: bool | None
    said: str


def line(low: float, high: float, count: int) -> Tensor:
    """So many numbers from low to high."""
    return torch.linspace(low, high, count, device="cpu", dtype=F64)


def density(b: Tensor) -> Tensor:
    """φ(b)."""
    return torch.exp(-b * b / 2) / math.sqrt(2 * math.pi)


def bound(task: BiasedRelu) -> float:
    """B of §1.1: |a| and |b| are at most B, |a| at least 1/B."""
    return max(1 / LEAST, MOST, task.spec.shift)


def empty_from(task: BiasedRelu) -> float:
    """The ε from which |b| < c √log(1/(ε m D B)) leaves no bias, whatever c is."""
    return 1 / (task.m * task.D * bound(task))
