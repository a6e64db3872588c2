"""The span of w_k w_kᵀ from noisy Hessians: leading singular vectors, and the projector in its cheaper form.

All Hessians of f(x) = Σ_k g(⟨w_k, x⟩ + τ_k) lie in W = span{w_k w_kᵀ}, of dimension m. Stacked as rows, their first m
right singular vectors estimate W. Its projector is kept over the span or over the complement, whichever is smaller.

Reference: Rauchensteiner 2023, Algorithm 3.2 lines 1-3.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid.methods.spans import symmetric

CHUNK = 2**17  # doubles of intermediate: what a core's cache holds
FEWEST, MOST = 32, 2**24  # rows worth reading all matrices for, as long as they are not more doubles than this


@dataclass(frozen=True)
class Projector:
    """The orthogonal projector onto a span of symmetric matrices.

    Kept as orthonormal `matrices` (k, d, d) of the span or of its complement: with C_j u at hand, the coefficients
    c_j = uᵀ C_j u and Σ_j c_j C_j u cost one product of matrices and no rearrangement.
    """

    matrices: Tensor
    complement: bool
    order: ClassVar[int] = 2

    @property
    def dtype(self) -> torch.dtype:
        """Of the matrices."""
        return self.matrices.dtype

    @property
    def numbers(self) -> int:
        """Of the images of a row."""
        return self.matrices.shape[0] * self.matrices.shape[1]

    @property
    def at_once(self) -> int:
        """Rows whose intermediates stay in the cache, or enough to reuse what was read for them."""
        k, d, _ = self.matrices.shape
        return max(1, CHUNK // (k * d), min(FEWEST, MOST // (k * d))) if k else CHUNK

    def energy(self, u: Tensor) -> Tensor:
        """Φ(u) = ‖P(u uᵀ)‖² for unit rows u."""
        squared = torch.cat([self._images(rows)[1].square().sum((1, 2)) for rows in u.split(self.at_once)])
        return 1 - squared if self.complement else squared

    def pull(self, u: Tensor) -> Tensor:
        """P(u uᵀ) u for unit rows u."""
        parts = []
        for rows in u.split(self.at_once):
            images, coefficients = self._images(rows)
            parts.append((coefficients.transpose(1, 2) @ images)[:, 0])
        inner = torch.cat(parts)
        return u - inner if self.complement else inner

    def _images(self, u: Tensor) -> tuple[Tensor, Tensor]:
        """C_j u, (rows, k, d), and uᵀ C_j u, (rows, k, 1)."""
        images = self.images(u)
        return images, images @ u[:, :, None]

    def images(self, u: Tensor) -> Tensor:
        """C_j u, (rows, k, d)."""
        return (u @ self.matrices.flatten(0, 1).T).view(len(u), *self.matrices.shape[:2])


def projector(columns: Tensor, complement: bool, d: int) -> Projector:
    """The projector onto the span of packed orthonormal `columns`, or onto what is orthogonal to them."""
    return Projector(symmetric.unpack(columns.T, d), complement)


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
        columns = self.rest if smaller else self.basis
        return projector(columns, smaller, self.d)


def leading_span(rows: Tensor, m: int, d: int) -> Span:
    """The leading m right singular directions of packed Hessians (count, d(d+1)/2), count >= m.

    The triangular factor keeps the small singular values that a Gram matrix loses.
    """
    r = torch.linalg.qr(rows, mode="r")[1] if len(rows) > rows.shape[1] else rows
    _, values, v = torch.linalg.svd(r, full_matrices=True)
    gap = float(values[m - 1] / values[m]) if m < len(values) else math.inf
    return Span(v[:m].T.contiguous(), v[m:].T.contiguous(), gap, d)
