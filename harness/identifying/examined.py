"""A function under examination: who asks it, where, and what was seen of it so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from paramid.identifying import measurements
from paramid.words import random_streams
from paramid.words.activations import ACTIVATIONS, Activation
from paramid.words.spec import Spec

POINTS, LINES = 64, 16
LAST = {"float64": 1e-15, "float32": 1e-7}  # of the largest value: its last digits


class Examined:
    """A function under examination and what was told of it; `activation` is None where none was told."""

    def __init__(self, query: Callable[[Tensor], Tensor], spec: Spec, seed: int, activation: str | None) -> None:
        self._query, self.spec = query, spec
        self.told: Activation | None = ACTIVATIONS.get(activation or "")
        self._source = random_streams.generator(seed, "misfits")
        self._mix = self.normal(1, spec.outputs)[0] if spec.outputs > 1 else torch.ones(1, dtype=torch.float64)

    def normal(self, rows: int, columns: int) -> Tensor:
        """Standard normal rows."""
        return random_streams.normal(rows, columns, self._source, torch.device("cpu"), torch.float64)

    def lines(self, count: int) -> tuple[Tensor, Tensor]:
        """Gaussian points and unit directions."""
        u = self.normal(count, self.spec.inputs)
        return self.normal(count, self.spec.inputs), u / u.norm(dim=1, keepdim=True)

    def f(self, x: Tensor) -> Tensor:
        """One output, or a random mix of several, (rows,)."""
        return self._query(x) @ self._mix

    @cached_property
    def sample(self) -> Tensor:
        """Values at Gaussian points."""
        return self.f(self.normal(POINTS, self.spec.inputs))

    @cached_property
    def size(self) -> float:
        """The largest of them."""
        return float(self.sample.abs().max().clamp(min=1e-300))

    @cached_property
    def roughness(self) -> float:
        """σ of the values."""
        return measurements.roughness(self.f, *self.lines(LINES))

    @property
    def error(self) -> float:
        """How far a value may be from that of a smooth function where no test objects."""
        return max(10 * self.roughness, LAST[self.spec.precision] * self.size)

    @cached_property
    def growth(self) -> str:
        """How it grows along rays."""
        u = self.lines(LINES)[1]
        return measurements.growth(self.f, torch.cat([u, -u]))
