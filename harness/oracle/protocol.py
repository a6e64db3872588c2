"""What a method sees of the teacher: the `Oracle`, the only way to it, wherever the teacher lives."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from paramid.oracle.samples import Samples
from paramid.words.spec import Spec


class BudgetSpent(Exception):
    """More rows were asked for than were granted."""


class AccessRefused(Exception):
    """A kind of access was asked for that the task does not grant or the method did not declare."""


class Oracle(Protocol):
    """What a method sees of the teacher. A method cannot tell whether the teacher lives in this process."""

    spec: Spec

    def query(self, x: Tensor, /) -> Tensor:
        """F at chosen points: (rows, inputs) -> (rows, outputs)."""
        ...

    def decide(self, x: Tensor, /) -> Tensor:
        """Which output is largest, from 0; of a single one 1 where it is positive, 0 elsewhere: (rows, 1)."""
        ...

    def sample(self, n: int, /) -> Samples:
        """`n` further passive pairs from the input law."""
        ...

    def gradient(self, x: Tensor, /) -> Tensor:
        """Exact ∂f/∂x, (rows, outputs, inputs)."""
        ...

    def hessian(self, x: Tensor, /) -> Tensor:
        """Exact ∂²f/∂x², (rows, outputs, inputs, inputs)."""
        ...

    def moments(self, order: int, /) -> Tensor:
        """The exact Hermite coefficient of that order."""
        ...

    def label(self, columns: Tensor, /) -> Tensor:
        """Which layer the neuron is in, from 1, whose ∇z at 0 is nearest to each of the columns, up to sign."""
        ...
