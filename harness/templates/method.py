"""`newcomer`: what it does, in one line.

For one neuron, f(x) = tanh(⟨w, x⟩ + τ) and ‖w‖ = 1,

    (1)  f(h e_i) - f(-h e_i) = 2 h tanh'(τ) w_i + O(h³),
    (2)  f(0) = tanh(τ).

Reference: whose idea it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch

from paramid import Access, Claim, Network, Oracle, Run, Spec


@dataclass(frozen=True)
class Newcomer:
    """What `paramid list` says of it."""

    h: float = 1e-4  # step of (1); every field is an option, newcomer:h=1e-3, and this is what `describe` says of it

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        """None, or why this teacher is not for it."""
        known = spec.shallow and spec.widths == (1,) and spec.activation == "tanh" and spec.outer == "ones"
        return None if known else "needs a single tanh neuron with outer weight 1"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Yield what is believed so far; the last claim is the answer. Random numbers come from `run` alone."""
        steps = self.h * torch.eye(oracle.spec.inputs, dtype=run.dtype, device=run.device)
        w = oracle.query(steps) - oracle.query(-steps)  # (1)
        level = oracle.query(torch.zeros_like(steps[:1]))[0]  # (2)
        yield Network.shallow(w / w.norm(), level.clamp(-1 + 1e-12, 1 - 1e-12).atanh(), oracle.spec.activation)


METHODS = {"newcomer": Newcomer}
