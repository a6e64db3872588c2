"""Levenberg-Marquardt over the units of a shallow network, whatever the data.

With θ = (W, b, a), rows (D + 2, m), and a mean square L(θ) = mean r² whose residual r has the Jacobian -J,

    (1)  (G + λ diag G) p = s,   G = mean JᵀJ,  s = mean Jᵀr,   θ ← θ + p,
    (2)  L(θ + p) ≈ L - pᵀs   without damping,
    (3)  cov θ = σ² G⁻¹ / N   where r is noise of variance σ² on N rows.

Where columns are units, G and s are taken along the sphere, (I - w wᵀ) on either side, and columns renormalised; where
outer weights are pinned, theirs are left out. λ grows tenfold when a step fails and shrinks when it succeeds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Network
from paramid.methods.refinement.gradient_system import Pinned, split

FIRST, LEAST, MOST = 1e-3, 1e-9, 1e9  # of λ
SINGULAR = 1e-11  # smallest eigenvalue of the correlations in G that is told from rounding


@dataclass(frozen=True, eq=False)
class Normal:
    """L, s (D + 2, m) and G (n, n) of (1), n = (D + 2) m in the order of `slope.flatten()`."""

    loss: float
    slope: Tensor
    gram: Tensor


Look = Callable[[Tensor], Normal]


def parameters(network: Network) -> Tensor:
    """(W, b, a) of a shallow network, (D + 2, m)."""
    return torch.cat([network.weights[0], network.biases[0][None], network.weights[1].T])


def descend(
    theta: Tensor, look: Look, *, pinned: Pinned, settled: float, floor: float, steps: int
) -> tuple[Tensor, Normal]:
    """Iterate (1) until (2) promises less than `settled` of L, L is at `floor`, or no step makes it smaller."""
    theta = moved(theta, torch.zeros_like(theta), pinned)
    normal, damping = look(theta), FIRST
    for _ in range(steps):
        p, promised = increment(theta, normal, pinned, damping)
        if normal.loss <= floor or promised <= settled * normal.loss:
            break
        after = moved(theta, p, pinned)
        if (seen := look(after)).loss < normal.loss:
            theta, normal, damping = after, seen, max(damping / 10, LEAST)
        elif (damping := 10 * damping) > MOST:
            break
    return theta, normal


def increment(theta: Tensor, normal: Normal, pinned: Pinned, damping: float) -> tuple[Tensor, float]:
    """The p of (1) and what (2) promises of it."""
    slope, gram = tangent(theta, normal, pinned)
    scale = gram.diagonal()
    ridge = damping * scale + torch.finfo(gram.dtype).eps * scale.max()  # a silent unit has no diagonal of its own
    factor, failed = torch.linalg.cholesky_ex(gram + torch.diag(ridge))
    if int(failed):
        factor, _ = torch.linalg.cholesky_ex(gram + torch.diag(scale + scale.max()))
    p = torch.cholesky_solve(slope.flatten()[:, None], factor).view_as(theta)
    return p, float((p * slope).sum())


def tangent(theta: Tensor, normal: Normal, pinned: Pinned) -> tuple[Tensor, Tensor]:
    """Slope and Gram matrix along what is free, with ones in G's diagonal for what is not."""
    slope, n = normal.slope, theta.numel()
    gram = normal.gram
    size = gram.diagonal().mean()
    size = torch.where(size == 0, 1.0, size)
    if pinned.norms:
        slope = off_radius(slope, theta)
        gram = off_radius(off_radius(gram.view(*theta.shape, n), theta).view(n, n).T.reshape(*theta.shape, n), theta)
        gram = gram.reshape(n, n) + size * radii(theta)
    if pinned.outer:
        free = torch.ones_like(theta)
        free[-1] = 0
        slope, kept = slope * free, free.flatten()
        gram = kept[:, None] * gram * kept + torch.diag(size * (1 - kept))
    return slope, gram


def off_radius(rows: Tensor, theta: Tensor) -> Tensor:
    """(I - w wᵀ) on the weights of (D + 2, m, …)."""
    w = split(theta)[0].reshape(theta.shape[0] - 2, theta.shape[1], *([1] * (rows.ndim - 2)))
    weights = rows[:-2]
    return torch.cat([weights - w * (w * weights).sum(0), rows[-2:]])


def radii(theta: Tensor) -> Tensor:
    """Blocks w wᵀ on the diagonal of every unit, zero elsewhere, (n, n)."""
    w = torch.cat([theta[:-2], torch.zeros_like(theta[-2:])])
    each = torch.eye(theta.shape[1], device=theta.device, dtype=theta.dtype)
    return torch.einsum("ri,si,ij->risj", w, w, each).reshape(theta.numel(), theta.numel())


def moved(theta: Tensor, p: Tensor, pinned: Pinned) -> Tensor:
    """θ + p with what is pinned in its place."""
    w, b, a = split(theta + p)
    w = w / w.norm(dim=0) if pinned.norms else w
    a = torch.ones_like(a) if pinned.outer else a
    return torch.cat([w, b[None], a[None]])


def uncertainty(theta: Tensor, normal: Normal, pinned: Pinned, *, variance: float) -> float:
    """The largest standard deviation of a unit's w, b or a by (3), for σ² / N; infinite where (1) is singular."""
    _, gram = tangent(theta, normal, pinned)
    scale = gram.diagonal().sqrt()
    if not bool((scale > 0).all()) or not bool(torch.isfinite(scale).all()):
        return float("inf")
    values, vectors = torch.linalg.eigh(gram / scale[:, None] / scale)
    if float(values[0]) < SINGULAR:
        return float("inf")
    spread = ((vectors.square() / values).sum(1) / scale.square()).view_as(theta)
    w, b, a = split(off_pins(spread, pinned))
    return float((variance * torch.stack([w.sum(0), b, a]).max()) ** 0.5)


def off_pins(spread: Tensor, pinned: Pinned) -> Tensor:
    """Variances with none for outer weights that are pinned."""
    return torch.cat([spread[:-1], torch.zeros_like(spread[-1:])]) if pinned.outer else spread
