"""Shift, outer weight and sign of every unit from its loadings in several Hermite coefficients.

A direction u = ξ w known up to its sign carries in T_k

    (1)  ζ_k = a ξ^k c_k(b),   c_k(b) = E[g(z + b) He_k(z)],
    (2)  (ξ, b, a) = argmin Σ_k (1/k!) (ζ_k - a ξ^k c_k(b))²,

where a is the best for each b, or 1 where outer weights are pinned. (2) has several minima: it is looked up on a grid
of b, fine enough for a fit of everything (`coefficient_fit`) to start from. For ReLU it replaces b = -ζ_3/ζ_2,
a = √(2π) ζ_2 exp(b²/2), which lean on two orders only. Where g(z) - g(-z) = z, every order k ≥ 2 is blind to a joint
turn of (w, b): signs are left to `sign_rules`.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from paramid.words import hermite

WIDEST, STEP = 4.0, 0.02  # of the grid of b
RAMPS = frozenset({"relu", "softplus"})  # g(z) - g(-z) = z, and convex: c_2 never vanishes


def scalars(loadings: Mapping[int, Tensor], name: str, *, pinned_outer: bool) -> tuple[Tensor, Tensor, Tensor]:
    """(ξ, b, a) of (2) for every unit, given ζ_k (m,) by order."""
    orders = sorted(loadings)
    some = loadings[orders[0]]
    count = round(WIDEST / STEP)
    grid = STEP * torch.arange(-count, count + 1, device=some.device, dtype=some.dtype)
    c = hermite.coefficients(name, max(orders), grid)
    signs = torch.ones_like(grid)
    shapes = torch.stack(
        [torch.cat([c[k], (-1) ** k * c[k]]) / math.sqrt(math.factorial(k)) for k in orders], 1
    )  # (2 grid, orders), ξ = 1 first
    wanted = torch.stack([loadings[k] / math.sqrt(math.factorial(k)) for k in orders])  # (orders, m)
    square = shapes.square().sum(1, keepdim=True).clamp_min(torch.finfo(some.dtype).tiny)
    outer = torch.ones_like(shapes @ wanted) if pinned_outer else shapes @ wanted / square
    left = (outer.square() * square - 2 * outer * (shapes @ wanted)).argmin(0)
    chosen = outer.gather(0, left[None])[0]
    return torch.cat([signs, -signs])[left], torch.cat([grid, grid])[left], chosen
