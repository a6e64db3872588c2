"""All rank-one directions of a span of symmetric matrices, by descents from what is left of the span.

Descents (`sphere_descent`) start from matrices in the span that are orthogonal to every u_k u_kᵀ found so far,

    (1)  M = Z - Σ_k α_k u_k u_kᵀ,   Z random in the span,   G α = (u_kᵀ Z u_k),   G_kl = ⟨u_k, u_l⟩²,
    (2)  u = the eigenvector of M whose eigenvalue is largest in modulus,

about 1.6 starts a neuron where uniform ones need ln m and more. When few are missing M hardly varies; then, with g
Gaussian and M₊ the positive part of M in its eigenbasis,

    (3)  u = M₊ g / ‖M₊ g‖.

A span known to δ leaves E = O(δ²) at its rank-ones, other minima of E lie far higher unless m is close to D(D-1)/2:

    (4)  accept u where E(u) < c / gap²,   gap = S_m / S_{m+1} of the rows that gave the span,

with c = 10 while m < n/2, n = D(D+1)/2, where other minima lie above 0.02, and c = 0.3 (n-m)/n beyond: about ten times
what was seen at true directions. The search runs in float32; its ends agree to 1e-4 and are one direction when closer
than `SAME`. New ones are polished in float64 and compared once more.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans import symmetric
from paramid.methods.spans.sphere_descent import descend, polish, terms
from paramid.methods.spans.subspace import Projector

SAME = 1e-2
SETTLED = 1e-6  # the last step of a polish that converged
SPURIOUS = 0.02  # a minimum above it is never a rank-one
PATIENCE = 10  # starts for each direction of the span that may go by without a new one


@dataclass(frozen=True)
class Found:
    """Unit rows (at most m, d), E at each of them, and the work it took."""

    directions: Tensor
    starts: int
    steps: int


def acceptance(gap: float, p: Projector) -> float:
    """(4), above what float64 makes of E in the form of `p`."""
    k, d, _ = p.matrices.shape
    factor, rounding = (0.6 * k / (d * (d + 1)), 1e-20) if p.complement else (10.0, 1e-12)
    return min(max(factor / gap**2, rounding), SPURIOUS / 2)


def search(p: Projector, basis: Tensor, m: int, run: Run, *, gap: float, batch: int = 250, steps: int = 25) -> Found:
    """The at most `m` rank-ones of the span with packed orthonormal `basis`, projector `p` and gap of (4)."""
    accept, found, starts, taken, idle = acceptance(gap, p), basis.new_empty(0, p.matrices.shape[2]), 0, 0, 0
    while len(found) < m and idle < max(1000, PATIENCE * m):
        count = min(batch, max(16, 2 * (m - len(found)), idle))
        u = seeds(remaining(basis, found, count, run), run, spread=idle > 0)
        new, work = visited(p, found, u, accept=accept, steps=steps)
        found, starts, taken = torch.cat([found, new]), starts + len(u), taken + work
        idle = 0 if len(new) else idle + len(u)
    energies = terms(p, found).energy
    best = energies.argsort()[:m]
    return Found(found[best], starts, taken)


def visited(p: Projector, found: Tensor, u: Tensor, *, accept: float, steps: int) -> tuple[Tensor, int]:
    """The rank-ones where descents from `u` end, none of them among `found`, and the single steps it took."""
    fast = replace(p, matrices=p.matrices.float())
    coarse = max(accept, 1e-9 if p.complement else 1e-5)  # what float32 makes of E
    ends, work = descend(fast, u.float(), accept=coarse, hopeless=SPURIOUS, steps=steps)
    new, last = polish(p, distinct(found.float(), ends))
    return distinct(found, new[(last < SETTLED) & (terms(p, new).energy < accept)]), work


def remaining(basis: Tensor, found: Tensor, count: int, run: Run) -> Tensor:
    """Random matrices (1), (count, d, d)."""
    z, known = basis @ run.normal(basis.shape[1], count), symmetric.squares(found)
    ridge = 1e-12 * torch.eye(len(found), dtype=found.dtype, device=found.device)
    factor = torch.linalg.cholesky((found @ found.T).square() + ridge)
    return symmetric.unpack((z - known.T @ torch.cholesky_solve(known @ z, factor)).T, found.shape[1])


def seeds(matrices: Tensor, run: Run, *, spread: bool) -> Tensor:
    """A start (2), or (3) when `spread`, from every matrix: unit rows."""
    values, vectors = torch.linalg.eigh(matrices)
    top = values.abs().amax(1, keepdim=True)
    weights = (values.abs() == top).to(values.dtype)
    if spread:
        weights = values.clamp(min=1e-3 * top) * run.normal(*values.shape)
    u = (vectors @ weights[:, :, None])[:, :, 0]
    return u / u.norm(dim=1, keepdim=True)


def distinct(found: Tensor, ends: Tensor, same: float = SAME) -> Tensor:
    """The rows of `ends` that are neither among the unit rows `found` nor among earlier rows, up to sign."""
    limit = 1 - same**2 / 2
    new = ends[(ends @ found.T).abs().amax(1) < limit] if len(found) else ends
    return new[~((new @ new.T).abs() >= limit).triu(1).any(0)]
