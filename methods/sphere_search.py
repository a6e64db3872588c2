"""All rank-one directions of a span of symmetric matrices, by descents from what is left of the span.

Descents (`sphere_descent`) start from

    (1)  the eigenvector of the eigenvalue largest in modulus of  M = Z - Σ_k α_k u_k u_kᵀ,  α solving G α = (u_kᵀ Z u_k),

with Z random in the span and G_kl = ⟨u_k, u_l⟩² over all directions found so far, so that M ⊥ every u_k u_kᵀ: about 1.6
starts a neuron where uniform starts need ln m. After a round that found nothing, one from the whole sphere follows,
for (1) repeats itself when a single direction is missing.

A span known to δ leaves E = O(δ²) at its rank-ones, other minima of E lie far higher unless m is close to D(D-1)/2:

    (2)  accept u where E(u) < c / gap²,   gap = S_m / S_{m+1} of the rows that gave the span,

with c = 10 while m < n/2, n = D(D+1)/2, where other minima lie above 0.02, and c = 0.3 (n-m)/n beyond: about ten times
what was seen at true directions. The search runs in float32; its ends agree to 1e-4 and are one
direction when closer than `SAME`. New ones are polished in float64 and compared once more.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Run
from paramid.methods import symmetric
from paramid.methods.sphere_descent import descend, polish, terms
from paramid.methods.subspace import Projector

SAME = 1e-2
SPURIOUS = 0.02  # a minimum above it is never a rank-one
PATIENCE = 10  # starts for each direction of the span that may go by without a new one


@dataclass(frozen=True)
class Found:
    """Unit rows (at most m, d), E at each of them, and the work it took."""

    directions: Tensor
    energies: Tensor
    starts: int
    steps: int


def acceptance(gap: float, p: Projector) -> float:
    """(2), above what float64 makes of E in the form of `p`."""
    k, d, _ = p.matrices.shape
    factor, rounding = (0.6 * k / (d * (d + 1)), 1e-20) if p.complement else (10.0, 1e-12)
    return min(max(factor / gap**2, rounding), SPURIOUS / 2)


def search(p: Projector, basis: Tensor, m: int, run: Run, *, gap: float, batch: int = 250, steps: int = 25) -> Found:
    """The at most `m` rank-ones of the span with packed orthonormal `basis`, projector `p` and gap of (2)."""
    fast, d, accept = replace(p, matrices=p.matrices.float()), p.matrices.shape[2], acceptance(gap, p)
    coarse = max(accept, 1e-9 if p.complement else 1e-5)  # what float32 makes of E
    found, starts, taken, idle = basis.new_empty(0, d), 0, 0, 0
    while len(found) < m and idle < max(1000, PATIENCE * m):
        count = min(batch, max(16, 2 * (m - len(found))))
        u = run.sphere(batch, d) if idle else remaining(basis, found, count, run)
        ends, work = descend(fast, u.float(), accept=coarse, hopeless=SPURIOUS, steps=steps)
        new, last = polish(p, distinct(found.float(), ends))
        new = distinct(found, new[(last < SAME / 1e4) & (terms(p, new).energy < accept)])
        found, starts, taken = torch.cat([found, new]), starts + len(u), taken + work
        idle = 0 if len(new) else idle + len(u)
    energies = terms(p, found).energy
    best = energies.argsort()[:m]
    return Found(found[best], energies[best], starts, taken)


def remaining(basis: Tensor, found: Tensor, count: int, run: Run) -> Tensor:
    """Starts (1), (count, d)."""
    d, z = found.shape[1], basis @ run.normal(basis.shape[1], count)
    known = symmetric.squares(found)
    gram = known.new_zeros(len(found)).fill_(1e-12).diag() + (found @ found.T).square()
    z = z - known.T @ torch.cholesky_solve(known @ z, torch.linalg.cholesky(gram))
    values, vectors = torch.linalg.eigh(symmetric.unpack(z.T, d))
    top = values.abs().argmax(1)
    return vectors.gather(2, top[:, None, None].expand(-1, d, 1))[:, :, 0]


def distinct(found: Tensor, ends: Tensor) -> Tensor:
    """The rows of `ends` that are neither among the unit rows `found` nor among earlier rows, up to sign."""
    limit = 1 - SAME**2 / 2
    new = ends[(ends @ found.T).abs().amax(1) < limit] if len(found) else ends
    return new[~((new @ new.T).abs() >= limit).triu(1).any(0)]
