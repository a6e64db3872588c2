"""Every unit's hyperplane from the places at which a function stops being constant, by queries alone.

All units of f(x) = P(X_1, …, X_m), X_i = u(⟨w_i, x⟩ - t_i), are silent near the origin. On a ray from there

    (1)  f(r θ) ≠ f(0) first at some r θ with ⟨w_i, r θ⟩ = t_i for one i,

found by bisection to rounding. Around that point p the same is done on parallel lines p + g + s θ, g ⊥ θ small, and

    (2)  w_i, t_i = the plane through the crossings x_j: the last right singular vector of x_j - x̄, and ⟨w_i, x̄⟩ > 0.

Crossings that are no plane, where two units meet, are dropped. A ray whose (1) lies on a plane that is known tells
nothing new. Where P needs two units at once, (1) is a point on the plane of the later one.

This is ours; it replaces correlations, their bias and their samples, wherever points can be chosen.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import GiveUp, Run
from paramid.methods.thresholds.angle_search import Fired, crossings

HALVINGS = 60
FLAT = 1e-9  # of the offsets: how far crossings are from their plane
ON = 1e-7  # of a known plane
RADII = (0.1, 0.01, 0.001)
WIDE = 10.0  # slopes of a plane over its line that are seen
FARTHEST = 12.0  # rays in units of the largest threshold


@dataclass(frozen=True, eq=False)
class Planes:
    """Unit columns (D, k) and thresholds (k,) of planes ⟨w, x⟩ = t, t > 0, and the rays taken."""

    columns: Tensor
    thresholds: Tensor
    rays: int


def planes(fired: Fired, run: Run, *, d: int, m: int, thresholds: tuple[float, float], batch: int, most: int) -> Planes:
    """The planes of all m units, the least and the largest threshold being known; a GiveUp after `most` rays."""
    w, rays = torch.empty(d, 0, device=run.device, dtype=run.dtype), 0
    low, high = thresholds
    found = w[0]
    while len(found) < m:
        if rays >= most:
            raise GiveUp(f"{rays} rays met the planes of {len(found)} of {m} units")
        theta, rays = run.sphere(batch, d), rays + batch
        for point, direction in zip(*first_changes(fired, theta, FARTHEST * high), strict=True):
            known = bool(((point @ w - found).abs() < ON * high).any())
            if known or len(found) == m:
                continue
            normal = plane_at(fired, point, direction, run)
            if normal is not None and low - ON * high < float(normal @ point) < high + ON * high:
                w, found = torch.cat([w, normal[:, None]], dim=1), torch.cat([found, (normal @ point)[None]])
    return Planes(w, found, rays)


def first_changes(fired: Fired, theta: Tensor, reach: float) -> tuple[Tensor, Tensor]:
    """The points (1) on those rays that end where f differs from f(0), and their directions."""
    theta = theta[fired(reach * theta)]
    lower, upper = theta.new_zeros(len(theta)), theta.new_full((len(theta),), reach)
    for _ in range(HALVINGS):
        middle = (lower + upper) / 2
        on = fired(middle[:, None] * theta)
        lower, upper = torch.where(on, lower, middle), torch.where(on, middle, upper)
    return upper[:, None] * theta, theta


def plane_at(fired: Fired, point: Tensor, theta: Tensor, run: Run) -> Tensor | None:
    """The normal (2) at a crossing, or None where there is no plane."""
    d = len(point)
    if d == 1:
        return point.sign()
    for radius in RADII:
        g = radius * run.sphere(4 * d, d)
        base = point + g - torch.outer(g @ theta, theta)
        reach = WIDE * radius
        across = fired(base + reach * theta) & ~fired(base - reach * theta)
        if int(across.sum()) < 2 * d:
            continue
        base = base[across]
        at = crossings(fired, base, theta, low=-reach, high=reach, halvings=HALVINGS)
        x = base + at[:, None] * theta
        _, sizes, axes = torch.linalg.svd(x - x.mean(dim=0), full_matrices=False)
        if float(sizes[-1]) < FLAT * radius:
            return axes[-1] * (axes[-1] @ point).sign()
    return None
