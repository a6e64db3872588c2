"""A statement that was computed: whether it holds as printed, and the numbers; and what several computations share."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

F64 = torch.float64
ROUNDING = 1e-9  # what is called zero


class Checked(NamedTuple):
    """Whether a statement holds as printed, and the numbers."""

    holds: bool
    said: str


def line(low: float, high: float, count: int) -> Tensor:
    """So many numbers from low to high."""
    return torch.linspace(low, high, count, device="cpu", dtype=F64)


def density(b: Tensor) -> Tensor:
    """φ(b)."""
    return torch.exp(-b * b / 2) / math.sqrt(2 * math.pi)
