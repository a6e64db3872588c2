"""Projected gradient ascent on the spectral norm: near-rank-one elements of a span of symmetric matrices.

    (1)  maximise ‖M‖ over M in the span with ‖M‖_F ≤ 1
    (2)  M ← P(M + γ u uᵀ), M ← M / ‖M‖_F,   u the unit eigenvector of the largest eigenvalue of M.

In coefficients c over an orthonormal basis {B_i} of the span, P(u uᵀ) has coefficients ⟨B_i, u uᵀ⟩, so one step costs
one eigendecomposition. λ₁ rises strictly; a maximiser is accepted when λ₁ is close to 1.

Reference: Rauchensteiner 2023, Algorithm 2.1. Step, iterations and threshold are not given there: ours were measured.
"""

import torch
from torch import Tensor

from paramid.methods.spans import symmetric
from paramid.methods.spans.power_ascent import LOOKS

CHUNK = 2**22  # doubles of intermediate


def ascend(basis: Tensor, d: int, c: Tensor, *, step: float, steps: int, tol: float) -> tuple[Tensor, Tensor]:
    """Iterate (2) from rows `c` (starts, m) over an orthonormal `basis`: unit eigenvectors and their λ₁."""
    parts = [_ascend(basis, rows, d, step, steps, tol) for rows in c.split(max(1, CHUNK // len(basis)))]
    return torch.cat([u for u, _ in parts]), torch.cat([top for _, top in parts])


def _ascend(basis: Tensor, c: Tensor, d: int, step: float, steps: int, tol: float) -> tuple[Tensor, Tensor]:
    c = c / c.norm(dim=1, keepdim=True)
    values = torch.linalg.eigvalsh(symmetric.unpack(c @ basis.T, d))
    c = torch.where((values[:, 0].abs() > values[:, -1])[:, None], -c, c)  # the largest eigenvalue is to be positive
    moving = torch.arange(len(c), dtype=torch.int64, device=c.device)
    for done in range(0, steps, LOOKS):
        after = c[moving]
        for _ in range(min(LOOKS, steps - done)):
            before = after
            u, _ = top_eigenvector(before, basis, d)
            after = before + step * symmetric.squares(u) @ basis
            after = after / after.norm(dim=1, keepdim=True)
        c[moving] = after
        moving = moving[(after - before).norm(dim=1) >= tol]
        if not len(moving):
            break
    return top_eigenvector(c, basis, d)


def top_eigenvector(c: Tensor, basis: Tensor, d: int) -> tuple[Tensor, Tensor]:
    """Unit eigenvectors of the largest eigenvalues of M = Σ c_i B_i, row by row, and these eigenvalues."""
    values, vectors = torch.linalg.eigh(symmetric.unpack(c @ basis.T, d))
    return vectors[:, :, -1], values[:, -1]
