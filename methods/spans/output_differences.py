"""Derivatives of a function with several outputs by differences: one evaluation serves all of them.

    (1)  ∂_p f(x) ≈ (8 (f(x + hp) - f(x - hp)) - (f(x + 2hp) - f(x - 2hp))) / 12h,   an error of order h⁴,

along the rows p of a matrix, and Hessians by a stencil of `hessians`, of order h². Exact values that are to show only
five digits take a quarter and half as many, on one side and with short steps, of order h:

    (2)  ∂_p f(x) ≈ (f(x + hp) - f(x)) / h,
    (3)  ∂_i∂_j f(x) ≈ (f(x + h(e_i + e_j)) - f(x + he_i) - f(x + he_j) + f(x)) / h².
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from paramid.methods.spans import hessians, symmetric

BATCH = 2**20  # doubles of points held at once
Values = Callable[[Tensor], Tensor]
ROUNDING = 1e-15  # of a value of order 1
SPREAD = math.sqrt(130) / 12  # of (1) under noise of deviation 1, times h
AHEAD, BENT_AHEAD = 2e-8, 1e-4  # h of one-sided differences (2) and (3) of exact values


def gradients(f: Values, x: Tensor, along: Tensor, h: float) -> Tensor:
    """(1) at the rows of `x` along the rows of `along`, (rows, directions, outputs), by 4 queries each."""
    y = asked(f, x, torch.cat([h * along, -h * along, 2 * h * along, -2 * h * along]))
    up, down, far_up, far_down = y.unflatten(1, (4, len(along))).unbind(1)
    return (8 * (up - down) - (far_up - far_down)) / (12 * h)


def ahead(f: Values, x: Tensor, along: Tensor, h: float = AHEAD) -> Tensor:
    """(2), (rows, directions, outputs), by a query each and one for every row."""
    y = asked(f, x, torch.cat([0 * along[:1], h * along]))
    return (y[:, 1:] - y[:, :1]) / h


def hessians_ahead(f: Values, x: Tensor, h: float = BENT_AHEAD) -> Tensor:
    """(3) of every output, packed (rows, outputs, d(d+1)/2), by d(d+3)/2 + 1 queries a row."""
    d = x.shape[1]
    e, (i, j) = h * torch.eye(d, dtype=x.dtype, device=x.device), symmetric.triangle(d, x.device)
    here, one, two = asked(f, x, torch.cat([0 * e[:1], e, e[i] + e[j]])).split([1, d, len(i)], dim=1)
    both = ((two - one[:, i] - one[:, j] + here) / h**2).mT
    return torch.where(i == j, both, math.sqrt(2) * both)


def asked(f: Values, x: Tensor, offsets: Tensor) -> Tensor:
    """F at the rows of `x` moved by every one of `offsets`, (rows, offsets, outputs)."""
    found = []
    for rows in x.split(max(1, BATCH // offsets.numel())):
        y = f((rows[:, None, :] + offsets).flatten(0, 1))
        found.append(y.view(len(rows), len(offsets), y.shape[1]))
    return torch.cat(found)


def packed_hessians(f: Values, x: Tensor, h: float, stencil: str = "symmetric") -> Tensor:
    """Hessians of every output at the rows of `x`, (rows, outputs, d(d+1)/2), by d² + d + 1 queries a row."""
    points, d = hessians.offsets(x.shape[1], h, stencil, x), x.shape[1]
    found = []
    for rows in x.split(max(1, BATCH // points.numel())):
        y = f((rows[:, None, :] + points).flatten(0, 1))
        y = y.view(len(rows), len(points), y.shape[1])
        packed = hessians.combine(y.transpose(1, 2).flatten(0, 1), d, h, stencil)
        found.append(packed.view(len(rows), y.shape[2], packed.shape[1]))
    return torch.cat(found)


def gradient_step(noise: float) -> float:
    """The h that balances h⁴ and noise / h in (1)."""
    return float(2 * max(noise, ROUNDING) ** 0.2)


def hessian_step(noise: float) -> float:
    """The h that balances h² and noise / h² in second differences."""
    return float(min(0.5, max(0.02, 3 * noise**0.25)))
