"""`newcomer`: the family of teachers, in one line.

    (1)  f(x) = Σ_{k≤m} a_k tanh(⟨w_k, x⟩ + τ_k),   x ~ N(0, I),   w_k orthonormal, a_k = ±1.

What an oracle can see: all of it, up to the order of the neurons and the sign of (w_k, τ_k, a_k).

Reference: where it comes from.
"""

from dataclasses import dataclass
from typing import ClassVar, cast

import torch

from paramid import Access, Claim, Network, Run, Spec, Task, Teacher


@dataclass(frozen=True)
class Newcomer(Task):
    """What `paramid list` says of it."""

    D: int = 10  # inputs; every field is an option: newcomer:D=5,m=2
    m: int = 3  # neurons

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES})
    corners: ClassVar[tuple[str, ...]] = ("D=4,m=2", "D=1,m=1")  # what `paramid check` puts every method before

    def __post_init__(self) -> None:
        if not 1 <= self.m <= self.D:
            raise ValueError(f"m is {self.m} and D {self.D}; m from 1 to D was wanted")

    @property
    def spec(self) -> Spec:
        """What a method is told."""
        return Spec(inputs=self.D, widths=(self.m,), activations=("tanh", "identity"), norms="unit", output_bias="zero")

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """What can be judged, fullest first."""
        return (Network,)

    def draw(self, seed: int) -> Network:
        """The teacher of that seed: any callable on tensors, with `gradient` and `hessian` where granted."""
        run = Run.teacher(seed)
        w = torch.linalg.qr(run.normal(self.D, self.m))[0]
        tau, a = run.normal(2, self.m)
        return Network.shallow(w, tau.tanh(), "tanh", a.sign())

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """What a perfect method would claim."""
        return cast("Network", teacher)


TASKS = {"newcomer": Newcomer}
