"""A deep network from its entangled weights but for diagonals and shifts, and their descent.

With Ṽ_l = V_l(0) π_l S_l, permutations π and diagonals S unknown, and ⁺ the pseudo-inverse,

    (1)  W̃_1 = Ṽ_1,   W̃_{l+1} = Ṽ_l⁺ Ṽ_{l+1} = S_l⁻¹ π_lᵀ diag(g'(z_l(0))) W_{l+1} π_{l+1} S_{l+1},
    (2)  f̃:   W_l = R_{l-1}⁻¹ L_l W̃_l R_l,   shifts τ_l,   R_0 = 1, L and R diagonal,

is the teacher for R_l = S_l⁻¹, L_{l+1} = π_lᵀ diag(g')⁻¹ π_l; for odd g for any signs of R_l in hidden layers as well.
So L = R = 1 and τ = 0 are a start from which no entry has to pass 0. Descent on the SUM of squares over a batch,

    (3)  J = Σ_i ‖f̃(x_i) - y_i‖²,   G_l = ∂J/∂W_l,   P_l = G_l ∘ W_l,
         ∂J/∂L_l = P_l 1 / L_l,   ∂J/∂R_l = (1ᵀ P_l - P_{l+1} 1) / R_l,   ∂J/∂τ_l by backpropagation.

Entangled weights of error ε leave a plateau of the order of ε: neither L nor R can turn a column.

Reference: Rauchensteiner 2023, Definition 4.4, Propositions 4.3 and 4.4, (4.67) to (4.69).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from paramid import Network, Run
from paramid.methods.refinement.backprop import loss_gradient
from paramid.oracle.samples import Samples


@dataclass(frozen=True)
class LossFree:
    """The student (2): W̃, and L, R, τ of every layer."""

    matrices: tuple[Tensor, ...]
    left: tuple[Tensor, ...]
    right: tuple[Tensor, ...]
    shifts: tuple[Tensor, ...]
    activations: tuple[str, ...]

    @classmethod
    def of(cls, entangled: Sequence[Tensor], activations: tuple[str, ...]) -> LossFree:
        """(1) from Ṽ_1 … Ṽ_L, each (inputs, width), with L = R = 1 and τ = 0."""
        w = (entangled[0], *(torch.linalg.pinv(below) @ above for below, above in pairwise(entangled)))
        left, right = tuple(torch.ones_like(t[:, 0]) for t in w), tuple(torch.ones_like(t[0]) for t in w)
        return cls(w, left, right, tuple(torch.zeros_like(t[0]) for t in w), activations)

    def network(self) -> Network:
        """(2) as plain weights and shifts."""
        before = (torch.ones_like(self.left[0]), *self.right[:-1])
        layers = zip(before, self.left, self.matrices, self.right, strict=True)
        w = tuple((left / r)[:, None] * matrix * right for r, left, matrix, right in layers)
        return Network(w, tuple(b.clone() for b in self.shifts), self.activations)

    def descended(self, x: Tensor, y: Tensor, rate: float) -> LossFree:
        """One step of `rate` down (3) on a batch."""
        network = self.network()
        _, by_weights, by_shifts = loss_gradient(network, x, y)
        products = [len(x) * g * w for g, w in zip(by_weights, network.weights, strict=True)]
        rows, columns = [p.sum(1) for p in products], [p.sum(0) for p in products]
        above = [*rows[1:], torch.zeros_like(columns[-1])]
        return LossFree(
            self.matrices,
            tuple(v - rate * r / v for v, r in zip(self.left, rows, strict=True)),
            tuple(v - rate * (c - r) / v for v, c, r in zip(self.right, columns, above, strict=True)),
            tuple(b - rate * len(x) * g for b, g in zip(self.shifts, by_shifts, strict=True)),
            self.activations,
        )


def descend(
    student: LossFree, samples: Samples, run: Run, *, rate: float, batch: int, epochs: int
) -> Iterator[LossFree]:
    """The student after every epoch; samples are read in their chunks, each in a new order."""
    for _ in range(epochs):
        for x, y in samples:
            order = torch.randperm(len(x), generator=run.generator, device="cpu").to(x.device)
            for rows in order.split(batch):
                student = student.descended(x[rows], y[rows], rate)
        yield student


def misfit(network: Network, samples: Samples) -> float:
    """The root mean square of f̃ - y over that of y."""
    missed = total = 0.0
    for x, y in samples:
        missed += float((network(x) - y).square().sum())
        total += float(y.square().sum())
    return (missed / total) ** 0.5 if total else float(missed > 0)
