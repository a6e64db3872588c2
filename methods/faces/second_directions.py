"""Directions of the second layer on a face, and what they tell about the shifts of the first.

With coordinates off by δ (shift_ranks), Hessians of Φ(y) are to first order

    (1)  ∇²Φ = Σ_k c_k W_k W_kᵀ + Σ_j d_j e_j e_jᵀ,   d_j = -2 δ_j ∂_jΦ,

so that the span of their parts off the diagonal, of dimension m_2, together with all e_j e_jᵀ holds every W_k W_kᵀ and
is known better than either. Its rank-ones are the W_k / ‖W_k‖ and the e_j; with both known, d by least squares gives

    (2)  δ_j = -½ Σ d_j ∂_jΦ / Σ (∂_jΦ)²,

and all is repeated in the better coordinates. The m_2 + n squares are unique up to n(n-1)/2.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import GiveUp, Run
from paramid.methods.faces.face import Face
from paramid.methods.spans import sphere_search, subspace, symmetric
from paramid.methods.spans.output_differences import Values, gradients, packed_hessians

INSIDE = 0.45  # of |y| at the points of (1)
STEP, GRADIENT_STEP = 0.04, 0.02
ROUNDS = 4
SETTLED = 3e-3  # of the steps (2)
LONGEST = 0.5
AXIS = 0.9999  # of a coordinate of e_j


@dataclass(frozen=True)
class Bent:
    """Points (P, n), Hessians there (P, outputs, n(n+1)/2), and unit columns W_k (n, found)."""

    points: Tensor
    hessians: Tensor
    columns: Tensor


def crowded(n: int, rank: int) -> str | None:
    """Why m_2 directions and n axes are not unique, or None."""
    if rank + n <= n * (n - 1) // 2:
        return None
    return f"{rank} neurons on a face of {n} are beyond n(n-3)/2 = {n * (n - 3) // 2}"


def second_directions(f: Values, face: Face, rank: int, run: Run) -> tuple[Face, Tensor]:
    """The face with corrected shifts, and unit columns of the second layer, (n, m_2)."""
    for rounds in range(ROUNDS):
        phi = face.values(f)
        bent = look(phi, face.n, rank, run)
        if (count := bent.columns.shape[1]) < rank and rounds in (0, ROUNDS - 1):
            raise GiveUp(f"a face shows {count} of {rank} directions of the second layer")
        step = correction(phi, bent)
        face = face.shifted(step)
        if float(step.abs().max()) < SETTLED and bent.columns.shape[1] == rank:
            break
    if bent.columns.shape[1] < rank:
        raise GiveUp(f"a face shows {bent.columns.shape[1]} of {rank} directions of the second layer")
    return face, bent.columns


def look(phi: Values, n: int, rank: int, run: Run) -> Bent:
    """(1) at a few points, and the rank-ones of its span that are no e_j."""
    outputs = phi(run.normal(1, n) * 0).shape[1]
    y = run.normal(max(12, math.ceil(2 * (rank + n) / min(outputs, rank))), n)
    y = INSIDE * y / y.abs().amax(1, keepdim=True)
    bends = packed_hessians(phi, y, STEP)
    i, j = symmetric.triangle(n, y.device)
    _, values, vt = torch.linalg.svd(bends.flatten(0, 1)[:, i != j], full_matrices=False)
    gap = float(values[rank - 1] / values[rank]) if len(values) > rank else math.inf
    basis = y.new_zeros(bends.shape[2], rank + n)
    basis[i != j, :rank] = vt[:rank].T
    basis[(i == j).nonzero()[:, 0], rank + torch.arange(n, dtype=torch.int64, device=y.device)] = 1.0
    p = subspace.projector(basis, False, n)
    found = sphere_search.search(p, basis, rank + n, run, gap=max(5.0, min(gap, 1e4))).directions
    return Bent(y, bends, found[found.abs().amax(1) < AXIS][:rank].T)


def correction(phi: Values, bent: Bent) -> Tensor:
    """(2)."""
    n = bent.points.shape[1]
    eye = torch.eye(n, dtype=bent.points.dtype, device=bent.points.device)
    squares = symmetric.squares(torch.cat([bent.columns.T, eye]))
    d = (bent.hessians @ torch.linalg.pinv(squares))[:, :, bent.columns.shape[1] :]
    slopes = gradients(phi, bent.points, eye, GRADIENT_STEP).mT
    step = -0.5 * (d * slopes).sum((0, 1)) / slopes.square().sum((0, 1))
    return step.clamp(-LONGEST, LONGEST)
