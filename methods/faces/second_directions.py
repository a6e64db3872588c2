"""Directions of the second layer on a face, and what they tell about the shifts of the first.

In the true coordinates Hessians of Φ(y) lie in the span of the squares of the second layer's weights,

    (1)  ∇²Φ = Σ_k c_k W_k W_kᵀ,

whose rank-ones are the W_k / ‖W_k‖. With coordinates off by δ (shift_ranks) that is so to first order but for

    (2)  Σ_j d_j e_j e_jᵀ,   d_j = -2 δ_j ∂_jΦ,

so that the span of their parts off the diagonal, of dimension m_2, together with all e_j e_jᵀ holds every W_k W_kᵀ and
is known better than either. With its rank-ones known, d by least squares gives

    (3)  δ_j = -½ Σ d_j ∂_jΦ / Σ (∂_jΦ)²,

and all is repeated in the better coordinates. The squares are unique up to n(n-1)/2, with the e_j e_jᵀ or without.
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
STEP, GRADIENT_STEP = 0.01, 0.02
ROUNDS = 4
CLEAR = 5.0  # σ_{m_2} / σ_{m_2+1} from which shifts are right
SURE = 1e4  # the largest gap that is believed
LONGEST = 0.5
AXIS = 0.9999  # of a coordinate of e_j


@dataclass(frozen=True)
class Bent:
    """Points (P, n) and Hessians there (P, outputs, n(n+1)/2)."""

    points: Tensor
    hessians: Tensor

    @property
    def rows(self) -> Tensor:
        """All Hessians."""
        return self.hessians.flatten(0, 1)


def crowded(n: int, rank: int) -> str | None:
    """Why a face of n neurons does not tell m_2 above them, or None: (2) of shift_ranks needs n equations and more."""
    if n >= 3 and rank < (pairs := n * (n - 1) // 2) and (pairs - rank) * max(rank + n, 20) > 2 * n:
        return None
    return f"faces of {n} neurons of the first layer tell no {rank} neurons of the second"


def second_directions(f: Values, face: Face, rank: int, run: Run) -> tuple[Face, Tensor]:
    """The face, with corrected shifts where that is called for, and unit columns of the second layer, (n, m_2)."""
    best, most, count = None, 0.0, 0
    for rounds in range(ROUNDS):
        phi = face.values(f)
        bent = look(phi, face.n, rank, run)
        columns, gap = plain(bent, rank, run)
        if columns.shape[1] == rank:
            return face, columns
        columns, gap = beside_axes(bent, rank, run)
        count = columns.shape[1]
        if count == rank and gap > most:
            best, most = (face, columns), gap
        elif best is not None or not rounds:
            break
        face = face.moved(correction(phi, bent, columns), torch.zeros_like(face.layer.norms))
    if best is None:
        raise GiveUp(f"a face shows {count} of {rank} directions of the second layer")
    return best


def look(phi: Values, n: int, rank: int, run: Run) -> Bent:
    """Hessians at a few points around the middle."""
    outputs = phi(run.normal(1, n) * 0).shape[1]
    y = run.normal(max(12, math.ceil(2 * (rank + n) / min(outputs, rank))), n)
    y = INSIDE * y / y.abs().amax(1, keepdim=True)
    return Bent(y, packed_hessians(phi, y, STEP))


def plain(bent: Bent, rank: int, run: Run) -> tuple[Tensor, float]:
    """The rank-ones of (1), none where its span has no gap, and the gap."""
    n = bent.points.shape[1]
    span = subspace.leading_span(bent.rows, rank, n)
    if span.gap < CLEAR:
        return bent.points.new_empty(n, 0), span.gap
    found = sphere_search.search(span.projector(), span.basis, rank, run, gap=min(span.gap, SURE))
    return found.directions.T, span.gap


def beside_axes(bent: Bent, rank: int, run: Run) -> tuple[Tensor, float]:
    """The rank-ones of the span that (2) leaves as it is, without the e_j, and the gap off the diagonal."""
    n = bent.points.shape[1]
    i, j = symmetric.triangle(n, bent.points.device)
    if rank + n > n * (n - 1) // 2:
        return bent.points.new_empty(n, 0), 0.0
    _, values, vt = torch.linalg.svd(bent.rows[:, i != j], full_matrices=False)
    gap = float(values[rank - 1] / values[rank]) if len(values) > rank else math.inf
    basis = bent.points.new_zeros(len(i), rank + n)
    basis[i != j, :rank] = vt[:rank].T
    basis[(i == j).nonzero()[:, 0], rank + torch.arange(n, dtype=torch.int64, device=basis.device)] = 1.0
    p = subspace.projector(basis, False, n)
    found = sphere_search.search(p, basis, rank + n, run, gap=max(CLEAR, min(gap, SURE))).directions
    return found[found.abs().amax(1) < AXIS][:rank].T, gap


def correction(phi: Values, bent: Bent, columns: Tensor) -> Tensor:
    """(3)."""
    n = bent.points.shape[1]
    eye = torch.eye(n, dtype=columns.dtype, device=columns.device)
    squares = symmetric.squares(torch.cat([columns.T, eye]))
    d = (bent.hessians @ torch.linalg.pinv(squares))[:, :, columns.shape[1] :]
    slopes = gradients(phi, bent.points, eye, GRADIENT_STEP).mT
    step = -0.5 * (d * slopes).sum((0, 1)) / slopes.square().sum((0, 1))
    return step.clamp(-LONGEST, LONGEST)
