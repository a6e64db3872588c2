"""The subspace power method: rank-one directions of a span of symmetric matrices.

With P the orthogonal projector onto the span and ‖u‖ = 1,

    (1)  Φ(u) = ‖P(u uᵀ)‖²_F ≤ 1, with equality at u = ±w_k,
    (2)  u ← (u + 2γ P(u uᵀ) u) / ‖u + 2γ P(u uᵀ) u‖,

where (2) is projected gradient ascent on (1), monotone for γ ≤ 1. Random starts end at every ±w_k; several end at the
same one, and starts that have not converged are worse than their neighbours, so of each heap the best is kept.

References: Kileel & Pereira, arXiv:1912.04007; Rauchensteiner 2023, Algorithm 2.2 and §3.6.
"""

import torch
from torch import Tensor

from paramid.methods.spans.subspace import Projector


def ascend(p: Projector, u: Tensor, *, step: float, steps: int, tol: float) -> Tensor:
    """Iterate (2) from unit rows `u` (starts, d). A start that moves by less than `tol` has arrived and stays."""
    return torch.cat([_ascend(p, rows, step, steps, tol) for rows in u.split(p.at_once)])


def _ascend(p: Projector, u: Tensor, step: float, steps: int, tol: float) -> Tensor:
    ends, moving = u.clone(), torch.arange(len(u), dtype=torch.int64, device=u.device)
    for _ in range(steps):
        before = ends[moving]
        after = before + 2 * step * p.pull(before)
        after = after / after.norm(dim=1, keepdim=True)
        ends[moving] = after
        moving = moving[(after - before).norm(dim=1) >= tol]
        if not len(moving):
            break
    return ends


def distinct(u: Tensor, quality: Tensor, *, threshold: float, most: int, same: float = 0.99) -> Tensor:
    """Of the rows with quality above `threshold` at most `most`, the best of every heap |cos| >= `same`, best first."""
    kept = u.new_empty(0, u.shape[1])
    for index in quality.argsort(descending=True).tolist():
        if len(kept) == most or quality[index] <= threshold:
            break
        if not len(kept) or (kept @ u[index]).abs().max() < same:
            kept = torch.cat([kept, u[index : index + 1]])
    return kept
