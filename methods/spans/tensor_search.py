"""All rank-ones of a span of symmetric tensors of order s, by descents from what is left of the span.

As `sphere_search` for matrices: with φ = φ_s (symmetric_tensors), z random in the span and ζ_j random unit vectors,

    (1)  M = z - Σ_k α_k φ(u_k),   G α = (⟨φ(u_k), z⟩)_k,   G_kl = ⟨u_k, u_l⟩^s,
    (2)  u = the eigenvector of M(ζ_1, …, ζ_{s-2}, ·, ·) whose eigenvalue is largest in modulus,

over {u_k} found so far; every second batch that brings nothing new is uniform. Up to m ≤ C(d+s-1, s) - d the rank-ones
are unique. Close to that, or in a crude span, minima of E that are none lie little higher than those that are, so

    (3)  everything with E(u) < min(0.1, 10 / gap²) is kept, and the search goes on after m were found

for a few batches; the m of least E are the answer. Descents run in float32, their ends are polished in float64.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans import symmetric_tensors
from paramid.methods.spans.gram_span import Spectrum
from paramid.methods.spans.sphere_descent import descend, polish, terms
from paramid.methods.spans.sphere_search import SPURIOUS, Found, distinct, seeds

LOOSEST, FINEST = 0.1, 1e-6  # (3)
CONVERGED = 1e-5  # the last step of a polish
SINGLE, DOUBLE = 6, 4  # steps of a polish in either precision, at most
SETTLE = 2  # batches without a better one after m were found
KEPT = 0.9  # of the best, which then make room for others
RIDGE = 1e-10


@dataclass(frozen=True)
class TensorProjector:
    """The projector onto a span of tensors by `slices` (n_{s-1}, k, d) of an orthonormal basis, of it or beyond it."""

    slices: Tensor
    complement: bool
    order: int

    @property
    def dtype(self) -> torch.dtype:
        """Of the slices."""
        return self.slices.dtype

    @property
    def numbers(self) -> int:
        """Of the images of a row."""
        return self.slices[0].numel()

    def images(self, u: Tensor) -> Tensor:
        """C_j(u, …, u, ·), (rows, k, d)."""
        powers = symmetric_tensors.powers(u, self.order - 1)
        return (powers @ self.slices.flatten(1)).view(len(u), *self.slices.shape[1:])

    def to(self, dtype: torch.dtype) -> "TensorProjector":
        """The same in another precision."""
        return TensorProjector(self.slices.to(dtype), self.complement, self.order)


def projector(spectrum: Spectrum, m: int, d: int, s: int) -> TensorProjector:
    """P onto the leading m dimensions, over the complement where that has fewer."""
    if len(spectrum.vectors) == spectrum.dimensions < 2 * m:
        return TensorProjector(symmetric_tensors.slices(spectrum.vectors[:, m:], d, s), True, s)
    return TensorProjector(symmetric_tensors.slices(spectrum.basis(m), d, s), False, s)


def acceptance(gap: float) -> float:
    """(3)."""
    return min(LOOSEST, max(10 / gap**2, FINEST))


def search(
    p: TensorProjector,
    basis: Tensor,
    m: int,
    run: Run,
    *,
    accept: float,
    known: Tensor,
    patience: int,
    batch: int,
    steps: int,
) -> Found:
    """The m best rank-ones, fewer where `patience` starts in a row bring none; `known` unit rows are tried first."""
    found, taken = visited(p, known[:0], known, accept=accept, steps=steps)
    starts = quiet = idle = 0
    while idle < patience and quiet < SETTLE:
        best = found[terms(p, found).energy.argsort()[:m]]
        u = tried(basis, best, m, p.order, run, batch=batch, uniform=bool(idle) and idle // batch % 2 == 0)
        new, work = visited(p, found, u, accept=accept, steps=steps)
        starts, taken, idle = starts + len(u), taken + work, 0 if len(new) else idle + len(u)
        if len(best) == m:
            better = len(new) and terms(p, new).energy.min() < terms(p, best).energy.max()
            quiet = 0 if better else quiet + 1
        found = torch.cat([found, new])
    return Found(found[terms(p, found).energy.argsort()[:m]], starts, taken)


def visited(p: TensorProjector, found: Tensor, u: Tensor, *, accept: float, steps: int) -> tuple[Tensor, int]:
    """The rank-ones where descents from `u` end, none of them among `found`, and the single steps it took."""
    fast, hopeless = p.to(torch.float32), max(SPURIOUS, 2 * accept)
    ends, work = descend(fast, u.float(), accept=accept, hopeless=hopeless, steps=steps)
    near, _ = polish(fast, distinct(found.float(), ends), steps=SINGLE, still=CONVERGED)
    new, last = polish(p, near, steps=DOUBLE, still=CONVERGED)
    return distinct(found, new[(last < CONVERGED) & (terms(p, new).energy < accept)]), work


def tried(basis: Tensor, best: Tensor, m: int, order: int, run: Run, *, batch: int, uniform: bool) -> Tensor:
    """Starts: (2) beside all that is known, or uniform; once there are m, half of each beside most of them."""
    d = best.shape[1]
    if uniform:
        return run.sphere(batch, d)
    if len(best) < m:
        return seeds(remaining(basis, best, batch, order, run), run, spread=False)
    half = seeds(remaining(basis, best[: int(KEPT * m)], batch // 2, order, run), run, spread=False)
    return torch.cat([half, run.sphere(batch - len(half), d)])


def remaining(basis: Tensor, found: Tensor, count: int, order: int, run: Run) -> Tensor:
    """Random matrices of (2), (count, d, d)."""
    z, known = basis @ run.normal(basis.shape[1], count), symmetric_tensors.powers(found, order)
    ridge = RIDGE * torch.eye(len(found), dtype=found.dtype, device=found.device)
    factor = torch.linalg.cholesky((found @ found.T) ** order + ridge)
    left = z - known.T @ torch.cholesky_solve(known @ z, factor)
    return symmetric_tensors.contracted(left.T, run.sphere(count, found.shape[1]), order)
