"""What an author of a method writes: a `Method`; and what it is given: a `Run`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from paramid.oracle.protocol import Oracle
from paramid.words import random_streams
from paramid.words.claims import Claim
from paramid.words.spec import UNKNOWN, Access, Spec


class GiveUp(Exception):
    """A method that checked its own work says that it has no answer: an honest end, better than a wrong network."""


@dataclass(frozen=True)
class Run:
    """Where and with what randomness a method works. Draws come from a CPU stream, the same on every device."""

    device: torch.device
    generator: torch.Generator
    dtype: torch.dtype = torch.float64

    @classmethod
    def seeded(cls, seed: int, device: str | torch.device = "cpu") -> Run:
        """A run over the method's own stream of `seed`."""
        return cls.streamed(random_streams.number(seed, "method"), device)

    @classmethod
    def streamed(cls, number: int, device: str | torch.device = "cpu") -> Run:
        """A run over the stream of that number, which does not tell the seed."""
        return cls(torch.device(device), torch.Generator(device="cpu").manual_seed(number))

    @classmethod
    def teacher(cls, seed: int) -> Run:
        """A run over the teacher's stream of `seed`, for tasks to draw from."""
        return cls(torch.device("cpu"), random_streams.generator(seed, "teacher"))

    def normal(self, rows: int, columns: int) -> Tensor:
        """Standard normal rows on the run's device."""
        return random_streams.normal(rows, columns, self.generator, self.device, self.dtype)

    def sphere(self, rows: int, columns: int) -> Tensor:
        """Rows uniform on the unit sphere."""
        u = self.normal(rows, columns)
        return u / u.norm(dim=1, keepdim=True)


class Method(Protocol):
    """A named, fully configured identification procedure without mutable state: a frozen dataclass."""

    version: ClassVar[int]

    @property
    def access(self) -> frozenset[Access]:
        """The kinds of access it will use."""
        ...

    def declines(self, spec: Spec, /) -> str | None:
        """Why this method is not for such a teacher, or None to accept."""
        ...

    def identify(self, oracle: Oracle, run: Run, /) -> Iterator[Claim]:
        """Yield what is believed so far; the last claim is the answer."""
        ...


class Offer(Protocol):
    """What a method is asked about: what a task grants, and what is public of its teachers."""

    @property
    def access(self) -> frozenset[Access]:
        """The kinds of access that are granted."""
        ...

    @property
    def spec(self) -> Spec:
        """What is public."""
        ...


def declined(method: Method, offer: Offer) -> str | None:
    """Why this pair is not to be run, or None."""
    if missing := method.access - offer.access:
        return f"needs {_kinds(missing)}; the task grants {_kinds(offer.access)}"
    return refused(method, offer.spec)


def refused(method: Method, spec: Spec) -> str | None:
    """Why the method is not for such teachers, or None; activations are left open to those that `finds_activation`."""
    if UNKNOWN in spec.activations and not getattr(method, "finds_activation", False):
        return "needs to know the activation"
    reason = method.declines(spec)
    return None if reason is None else str(reason)


def _kinds(access: frozenset[Access]) -> str:
    return ", ".join(sorted(kind.value for kind in access)) or "nothing"
