"""Theorems 2.1 and 2.2 on a turned orthonormal basis: near-rank-one matrices of Ŵ, and where Algorithm 2.1 ends.

For M = Σ_k σ_k P_Ŵ(w_k w_kᵀ), ‖M‖_F = 1, with eigenvalues λ and σ in descending order and π(1) the first of these,

(1)  ‖u₁ ± w_π(1)‖ ≤ √2 (√ν ‖σ_2…m‖ + 2δ) / ((1 - ν) λ₁ - λ₂ - 2δ),                                    (2.12)
(2)  λ₁ > (λ₂ + 2δ) / (1 - ν), where it says something; printed is λ₂ - 2δ.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.shallow.teachers import apart
from paramid import Run
from paramid.methods.spans import spectral_ascent, symmetric
from paramid.methods.spans.subspace import Span

RESTS = (0.01, 0.1, 0.3)  # of what is beside the first w_k w_kᵀ
MATRICES = 100  # of each


class Matrices(NamedTuple):
    """Of one basis."""

    ratio: float  # the largest error over (1) where (2) is true
    tried: int  # matrices of which (2) is true
    impossible: bool  # whether (1) is negative where (2) is true as printed
    square: Tensor  # λ₁² at the ends of Algorithm 2.1
    split: float  # the 38δ + 13ν of Theorem 2.2

    @property
    def parted(self) -> bool:
        """Theorem 2.2."""
        return self.split < 1 / 4 and bool(((self.square >= 1 - self.split) | (self.square <= self.split)).all())

    @property
    def row(self) -> tuple[str, ...]:
        """In the table."""
        return (f"1 - {1 - float(self.square.min()):.1e}", f"{self.ratio:.2g}")


def matrices(span: Span, w: Tensor, nu: float, delta: float, starts: int, run: Run) -> Matrices:
    """Of random matrices near every w_k w_kᵀ, of the sum of two, and of ends from so many random starts."""
    d, m = w.shape
    squares = symmetric.squares(w.T)
    ends, top = spectral_ascent.ascend(span.basis, d, run.normal(starts, m), step=10.0, steps=5000, tol=1e-13)
    planted = [
        squares[torch.arange(MATRICES, device=w.device) % m] + s * run.sphere(MATRICES, m) @ squares for s in RESTS
    ]
    error, bound, room = judged(span, w, torch.cat([symmetric.squares(ends), *planted]), nu, delta)
    near = room > 0
    _, _, twins = judged(span, w, squares[:1] + squares[1:2], nu, delta)
    impossible = bool(((twins < 0) & (twins + 4 * delta > 0)).any())
    return Matrices(float((error / bound)[near].max()), int(near.sum()), impossible, top.square(), 38 * delta + 13 * nu)


def judged(span: Span, w: Tensor, packed: Tensor, nu: float, delta: float) -> tuple[Tensor, Tensor, Tensor]:
    """The errors of u₁, (1) and its denominator for the projections of packed matrices onto Ŵ, row by row."""
    c = packed @ span.basis
    c = c / c.norm(dim=1, keepdim=True)
    sigma = torch.linalg.solve(span.basis.T @ symmetric.squares(w.T).T, c.T).T
    values, vectors = torch.linalg.eigh(symmetric.unpack(c @ span.basis.T, span.d))
    room = (1 - nu) * values[:, -1] - values[:, -2] - 2 * delta
    rest = sigma.sort(1, descending=True)[0][:, 1:].norm(dim=1)
    error = apart(vectors[:, :, -1], w).gather(1, sigma.argmax(1, keepdim=True))[:, 0]
    return error, math.sqrt(2) * (rest * math.sqrt(nu) + 2 * delta) / room, room
