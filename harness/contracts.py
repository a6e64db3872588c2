"""The contracts between tasks, methods and the harness: everything else stands on these three classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from paramid import judging, streams
from paramid.claims import Claim, Function
from paramid.judging import Metrics, Teacher
from paramid.oracle import Oracle
from paramid.spec import Access, Spec


class GiveUp(Exception):
    """A method that checked its own work says that it has no answer: an honest end, better than a wrong network."""


@dataclass(frozen=True)
class Run:
    """Where and with what randomness a method works. Draws come from a CPU stream, the same on every device."""

    device: torch.device
    generator: torch.Generator
    dtype: torch.dtype = torch.float64

    @classmethod
    def seeded(cls, seed: int, device: str | torch.device = "cpu") -> "Run":
        """A run over the method's own stream of `seed`."""
        return cls(torch.device(device), streams.generator(seed, "method"))

    @classmethod
    def teacher(cls, seed: int) -> "Run":
        """A run over the teacher's stream of `seed`, for tasks to draw from."""
        return cls(torch.device("cpu"), streams.generator(seed, "teacher"))

    def normal(self, rows: int, columns: int) -> Tensor:
        """Standard normal rows on the run's device."""
        return streams.normal(rows, columns, self.generator, self.device, self.dtype)

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


class Task(Protocol):
    """A family of teachers with its parameters: a frozen dataclass that derives from this class.

    A family defines `access`, `spec`, `kinds`, `draw` and `truth`; the rest has defaults. `metrics` names what it
    measures beyond the common ones (name -> meaning), `corners` the options of its small and awkward members, the most
    ordinary first, before which `paramid check` puts every method.
    """

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]]
    metrics: ClassVar[dict[str, str]] = {}
    corners: ClassVar[tuple[str, ...]] = ("",)

    @property
    def spec(self) -> Spec:
        """What is public about these teachers."""
        ...

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """The claims it can judge besides functions, fullest first."""
        ...

    @property
    def headline(self) -> str:
        """The metric that is this family's `error`."""
        return "weight_error"

    def draw(self, seed: int) -> Teacher:
        """The teacher of that seed, on the CPU in float64."""
        ...

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """What a perfect method would claim of that kind."""
        ...

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Score a claim modulo the symmetries no oracle can see."""
        if isinstance(claim, Function):
            return {}
        kind = type(claim)
        if kind not in self.kinds:
            wanted = ", ".join(k.__name__ for k in (*self.kinds, Function))
            raise judging.Unjudgeable(f"claimed a {kind.__name__}; this task can judge {wanted}")
        return self.headed(judging.score(self.truth(teacher, kind), claim))

    def headed(self, metrics: Metrics) -> Metrics:
        """`metrics` with this family's headline under the common name `error`."""
        if self.headline not in metrics:
            return metrics
        spoiled = self.headline == "weight_error" and metrics.get("excess", 0.0) > 0
        return {"error": judging.CAP if spoiled else metrics[self.headline], **metrics}
