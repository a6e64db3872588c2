"""Hessians of a scalar function by finite differences, packed as vectors.

    (1)  thesis:    H_ij = ( f(x+h(e_i+e_j)) - f(x+h(e_i-e_j)) - f(x-h(e_i-e_j)) + f(x-h(e_i+e_j)) ) / 4h²,
                    where i = j collapses to a second difference of step 2h; 2D²+1 points;
    (2)  symmetric: H_ii = ( f(x+he_i) - 2f(x) + f(x-he_i) ) / h²  and
                    H_ij = ( f(x+h(e_i+e_j)) - 2f(x) + f(x-h(e_i+e_j)) ) / 2h² - (H_ii + H_jj) / 2; D²+D+1 points.

Truncation is of order h², rounding of order u|f|/h²: float64 is needed at h = 1e-2.

Reference: Rauchensteiner 2023, Definition 1.1 and (4.77), whose last term has a sign misprinted.
"""

import math

import torch
from torch import Tensor

from paramid import Oracle
from paramid.methods.spans import symmetric

STENCILS = ("thesis", "symmetric")
BATCH = 2**20  # doubles of points held at once


def sample_hessians(oracle: Oracle, x: Tensor, *, h: float, stencil: str = "thesis") -> Tensor:
    """Packed Hessians at the rows of `x` by (1) or (2), (rows, D(D+1)/2)."""
    points = offsets(x.shape[1], h, stencil, x)
    at_once = max(1, BATCH // points.numel())
    found = []
    for rows in x.split(at_once):
        f = oracle.query((rows[:, None, :] + points).flatten(0, 1))[:, 0].reshape(len(rows), len(points))
        found.append(combine(f, x.shape[1], h, stencil))
    return torch.cat(found)


def exact_hessians(oracle: Oracle, x: Tensor) -> Tensor:
    """The same from the oracle's own derivatives."""
    at_once = max(1, BATCH // x.shape[1] ** 2)
    return torch.cat([symmetric.pack(oracle.hessian(rows)[:, 0]) for rows in x.split(at_once)])


def offsets(d: int, h: float, stencil: str, like: Tensor) -> Tensor:
    """The stencil's points around 0, each once."""
    e = h * torch.eye(d, device=like.device, dtype=like.dtype)
    i, j = torch.triu_indices(d, d, 1, device=like.device)
    plus = e[i] + e[j]
    if stencil == "thesis":
        minus = e[i] - e[j]
        return torch.cat([0 * e[:1], 2 * e, -2 * e, plus, -plus, minus, -minus])
    return torch.cat([0 * e[:1], e, -e, plus, -plus])


def combine(f: Tensor, d: int, h: float, stencil: str) -> Tensor:
    """Packed Hessians from the values at `offsets`, (rows, points)."""
    pairs = d * (d - 1) // 2
    middle, up, down, plus_up, plus_down, *minus = f.split(
        [1, d, d, *[pairs] * (4 if stencil == "thesis" else 2)], dim=1
    )
    if stencil == "thesis":
        diagonal = (up - 2 * middle + down) / (4 * h * h)
        off = (plus_up + plus_down - minus[0] - minus[1]) / (4 * h * h)
    else:
        i, j = torch.triu_indices(d, d, 1, device=f.device)
        diagonal = (up - 2 * middle + down) / (h * h)
        off = (plus_up - 2 * middle + plus_down) / (2 * h * h) - (diagonal[:, i] + diagonal[:, j]) / 2
    i, j = symmetric.triangle(d, f.device)
    packed = f.new_empty(len(f), len(i))
    packed[:, i == j], packed[:, i != j] = diagonal, math.sqrt(2) * off
    return packed
