"""The span of w_k w_kᵀ from noisy Hessians: leading singular vectors, and the projector in its cheaper form.

All Hessians of f(x) = Σ_k g(⟨w_k, x⟩ + τ_k) lie in W = span{w_k w_kᵀ}, of dimension m. Stacked as rows, their first m
right singular vectors estimate W. The projector is P = B Bᵀ, or I - C Cᵀ over the complement where that is smaller.

Reference: Rauchensteiner 2023, Algorithm 3.2 lines 1-3.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid.methods import symmetric


@dataclass(frozen=True)
class Projector:
    """The orthogonal projector onto a span of packed symmetric matrices (columns of an orthonormal `basis`)."""

    basis: Tensor  # of the span, or of its complement
    complement: bool
    d: int

    def energy(self, u: Tensor) -> Tensor:
        """Φ(u) = ‖P(u uᵀ)‖² for unit rows u."""
        squared = (symmetric.squares(u) @ self.basis).square().sum(1)
        return 1 - squared if self.complement else squared

    def pull(self, u: Tensor) -> Tensor:
        """P(u uᵀ) u for unit rows u."""
        part = (symmetric.squares(u) @ self.basis) @ self.basis.T
        inner = (symmetric.unpack(part, self.d) @ u[:, :, None])[:, :, 0]
        return u - inner if self.complement else inner


@dataclass(frozen=True)
class Span:
    """A span of packed symmetric d x d matrices and what is orthogonal to it, as orthonormal columns."""

    basis: Tensor
    rest: Tensor
    gap: float  # of the singular values at its end
    d: int

    def projector(self) -> Projector:
        """P in the form with fewer columns."""
        smaller = self.rest.shape[1] < self.basis.shape[1]
        return Projector(self.rest if smaller else self.basis, smaller, self.d)


def leading_span(rows: Tensor, m: int, d: int) -> Span:
    """The leading m right singular directions of packed Hessians (count, d(d+1)/2), count >= m.

    The triangular factor keeps the small singular values that a Gram matrix loses.
    """
    r = torch.linalg.qr(rows, mode="r")[1] if len(rows) > rows.shape[1] else rows
    _, values, v = torch.linalg.svd(r, full_matrices=True)
    gap = float(values[m - 1] / values[m]) if m < len(values) else math.inf
    return Span(v[:m].T.contiguous(), v[m:].T.contiguous(), gap, d)
