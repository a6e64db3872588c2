"""Signs that orders k ≥ 2 do not show: g(z) - g(-z) = z makes (w_i, b_i) and (-w_i, -b_i) differ by an affine part.

Turning the units of S subtracts Σ_S a_i (⟨w_i, x⟩ + b_i), so that with t_i = 1 for i in S and r what T_1 and T_0 leave,

    (1)  r = (T_1; T_0) - Σ_i a_i (c_1(b_i) w_i; c_0(b_i)),   M = [a_i (w_i; b_i)]_i,
    (2)  t = argmin ‖r + M t‖,   t ∈ {0, 1}^m:

a shortest-vector problem in D + 1 equations. While m ≤ D the columns are independent and rounding the least squares t
does it: that is ξ_i = +1 iff z_i > Φ(b_i) - ½ for z of Σ z_i a_i w_i = T_1, the midpoint between Φ(b) and -Φ(-b), which
lie 1 apart whatever b is. Beyond, all 2^m are looked at up to m = 16, and a search over single and double flips from
several starts takes over from there. Two sets that do equally well are the same function, or not told apart.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Algorithm 3 and (5), with the signs of their second
condition put right.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.refinement.gradient_system import split
from paramid.words import hermite

LISTED = 16  # units whose 2^m sets are all looked at
STARTS = 64


@dataclass(frozen=True, eq=False)
class Flips:
    """t of (2), what it leaves of r, and what the best other set does."""

    chosen: Tensor  # bool (m,)
    left: float
    second: float


def settled(theta: Tensor, tensors: dict[int, Tensor], name: str, run: Run) -> tuple[Tensor, Flips]:
    """θ = (W, b, a) with the signs of (2), given T_0 and T_1."""
    w, b, a = split(theta)
    c = hermite.coefficients(name, 1, b)
    rest = torch.cat([tensors[1] - w @ (a * c[1]), tensors[0] - (a * c[0]).sum()])
    flips = decide(a * torch.cat([w, b[None]]), rest, run)
    signs = 1 - 2 * flips.chosen.to(w.dtype)
    return torch.cat([signs * w, (signs * b)[None], a[None]]), flips


def decide(columns: Tensor, rest: Tensor, run: Run) -> Flips:
    """(2) by the rule that fits the number of units."""
    m = columns.shape[1]
    if m < len(columns):
        return compared(columns, rest, rounded(columns, rest)[None])
    return compared(columns, rest, every(m, rest) if m <= LISTED else searched(columns, rest, run))


def least_trace(columns: Tensor, run: Run) -> float:
    """The smallest ‖Σ_S a_i (w_i; b_i)‖ of any set S: what turning it changes."""
    rest, m = torch.zeros_like(columns[:, 0]), columns.shape[1]
    return compared(columns, rest, every(m, rest) if m <= LISTED else searched(columns, rest, run)).second


def rounded(columns: Tensor, rest: Tensor) -> Tensor:
    """The midpoint rule: t > ½ in least squares."""
    return (torch.linalg.pinv(columns) @ -rest > 0.5).to(rest.dtype)


def every(m: int, like: Tensor) -> Tensor:
    """All sets, (2^m, m)."""
    numbers = torch.arange(2**m, device=like.device, dtype=torch.int64)
    places = torch.arange(m, device=like.device, dtype=torch.int64)
    return (numbers[:, None] >> places & 1).to(like.dtype)


def searched(columns: Tensor, rest: Tensor, run: Run) -> Tensor:
    """Sets that no single or double flip betters, from the rounded one and random ones, (sets, m)."""
    m = columns.shape[1]
    drawn = (run.normal(STARTS - 1, m) > 0).to(rest.dtype)
    gram, found = columns.T @ columns, []
    for start in torch.cat([rounded(columns, rest)[None], drawn]):
        t, falls = start, True
        while falls:
            way = 1 - 2 * t
            slope = 2 * way * (columns.T @ (rest + columns @ t))
            alone = slope + gram.diagonal()
            pairs = alone[:, None] + alone + 2 * way[:, None] * gram * way
            gain = torch.where(torch.eye(m, device=t.device, dtype=torch.bool), alone, pairs)
            place = int(gain.argmin())
            falls = float(gain.flatten()[place]) < -1e-12 * float(gram.diagonal().max())
            if falls:
                flip = torch.zeros_like(t).index_fill(0, torch.tensor([place // m, place % m], device=t.device), 1.0)
                t = (t - flip).abs()
        found.append(t)
    return torch.unique(torch.stack(found), dim=0)


def compared(columns: Tensor, rest: Tensor, sets: Tensor) -> Flips:
    """The best of the sets, and the second best of them and of its own neighbours."""
    left = (rest + sets @ columns.T).norm(dim=1)
    best = int(left.argmin())
    chosen = sets[best]
    beside = (chosen - torch.eye(len(chosen), device=rest.device, dtype=rest.dtype)).abs()
    others = torch.cat([torch.cat([left[:best], left[best + 1 :]]), (rest + beside @ columns.T).norm(dim=1)])
    return Flips(chosen > 0.5, float(left[best]), float(others.min()))
