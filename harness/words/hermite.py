"""Hermite polynomials and coefficients of functions of a Gaussian input.

With x ~ N(0, I_D), the probabilists' polynomials He_0 = 1, He_1 = z, He_{k+1} = z He_k - k He_{k-1}, and for a
multi-index i_1 ≤ … ≤ i_k in which the coordinate j comes n_j times,

    (1)  He_k(x)[i_1 … i_k] = Π_j He_{n_j}(x_j),        E He_k(x)[i]² = Π_j n_j!,
    (2)  T_k = E[f(x) He_k(x)],   a symmetric tensor,
    (3)  f = Σ_i a_i g(l_i ⟨w_i, x⟩ + b_i), ‖w_i‖ = 1:   T_k = Σ_i a_i c_k(l_i, b_i) w_i^{⊗k},
         c_k(l, b) = E[g(l z + b) He_k(z)],   z ~ N(0, 1),
    (4)  g = max(0, ·), l = 1:   c_0 = b Φ(b) + φ(b),   c_1 = Φ(b),   c_k = (-1)^k He_{k-2}(b) φ(b).

A symmetric tensor is held by its distinct entries, the C(D+k-1, k) multi-indices in lexicographic order.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §3; Stein's identity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from paramid.words.activations import activation as named

CPU = torch.device("cpu")
NODES = 200  # of the quadrature for c_k: right to 1e-14 for l = 1 and |b| up to 2; tanh at l = 2 to 2e-9 only


def polynomials(z: Tensor, order: int) -> list[Tensor]:
    """He_0 … He_order at every entry of `z`."""
    values = [torch.ones_like(z), z]
    for k in range(1, order):
        values.append(z * values[k] - k * values[k - 1])
    return values[: order + 1]


def entries(inputs: int, order: int) -> int:
    """How many distinct entries a symmetric tensor of that order has."""
    return math.comb(inputs + order - 1, order)


@cache
def multi_indices(inputs: int, order: int, device: torch.device = CPU) -> Tensor:
    """The multi-indices i_1 ≤ … ≤ i_k, a row each; held on every device that asks, never to be written into."""
    if device != CPU:
        return multi_indices(inputs, order).to(device)
    if order == 0:
        return torch.zeros(1, 0, dtype=torch.long, device="cpu")
    return torch.combinations(torch.arange(inputs, device="cpu"), order, with_replacement=True)


@cache
def multiplicities(inputs: int, order: int, device: torch.device = CPU) -> Tensor:
    """How often each distinct entry stands in the full tensor, k! / Π n_j!: the weights of its Frobenius norm."""
    if device != CPU:
        return multiplicities(inputs, order).to(device)
    rows = multi_indices(inputs, order)
    run, repeats = (
        torch.ones(len(rows), dtype=torch.float64, device="cpu"),
        torch.ones(len(rows), dtype=torch.float64, device="cpu"),
    )
    for k in range(1, order):
        run = torch.where(rows[:, k] == rows[:, k - 1], run + 1, torch.ones_like(run))
        repeats = repeats * run
    return math.factorial(order) / repeats


def features(x: Tensor, order: int) -> Tensor:
    """The distinct entries of (1) for every row of `x` (rows, D): (rows, entries)."""
    tables = torch.stack(polynomials(x.T.contiguous(), order))  # (order + 1, D, rows): whole rows are gathered
    rows = multi_indices(x.shape[1], order, x.device)
    out = torch.ones(len(rows), len(x), device=x.device, dtype=x.dtype)
    for degree, column in _factors(rows, order):
        out.mul_(tables[degree, column])
    return out.T


def powers(columns: Tensor, order: int) -> Tensor:
    """The distinct entries of w^{⊗order} for every column w of (D, m): (entries, m)."""
    rows = multi_indices(len(columns), order, columns.device)
    out = torch.ones(len(rows), columns.shape[1], device=columns.device, dtype=columns.dtype)
    for k in range(order):
        out = out * columns[rows[:, k]]
    return out


def positions(rows: Tensor, inputs: int) -> Tensor:
    """Which of the distinct entries the ordered multi-indices `rows` (any, order) are."""
    order = rows.shape[1]
    digits = inputs ** torch.arange(order - 1, -1, -1, device=rows.device)
    known = multi_indices(inputs, order, rows.device)
    return torch.searchsorted((known * digits).sum(dim=1), (rows * digits).sum(dim=1))


def unfold(distinct: Tensor, inputs: int, order: int) -> Tensor:
    """The full symmetric tensor (D, …, D) of its distinct entries."""
    return distinct[_places(inputs, order, distinct.device)].reshape((inputs,) * order)


def fold(full: Tensor) -> Tensor:
    """The distinct entries of a full symmetric tensor."""
    return full[tuple(multi_indices(full.shape[0], full.ndim, full.device).T)]


def coefficients(name: str, order: int, biases: Tensor, lengths: Tensor | None = None) -> list[Tensor]:
    """c_0 … c_order of (3) for every neuron: closed form (4) for ReLU, Gauss-Hermite quadrature otherwise."""
    lengths = torch.ones_like(biases) if lengths is None else lengths
    if name == "relu":
        b = biases / lengths
        density = torch.exp(-b * b / 2) / math.sqrt(2 * math.pi)
        cumulative = torch.special.ndtr(b)
        higher = [(-1) ** k * h * density for k, h in enumerate(polynomials(b, max(order - 2, 0)))]
        return [lengths * c for c in (b * cumulative + density, cumulative, *higher)][: order + 1]
    nodes, weights = _quadrature(biases.device, biases.dtype)
    values = named(name)(lengths[:, None] * nodes + biases[:, None])
    return [values @ (weights * h) for h in polynomials(nodes, order)]


def shallow_tensors(
    weights: Tensor, biases: Tensor, outer: Tensor, name: str, orders: Sequence[int]
) -> dict[int, Tensor]:
    """T_k of Σ_i a_i g(⟨v_i, x⟩ + b_i) by (3), for columns v_i (D, m) of any length."""
    lengths = weights.norm(dim=0)
    units = weights / lengths.clamp_min(torch.finfo(weights.dtype).tiny)
    c = coefficients(name, max(orders), biases, lengths)
    return {k: powers(units, k) @ (outer * c[k]) for k in orders}


@cache
def _places(inputs: int, order: int, device: torch.device = CPU) -> Tensor:
    """For every entry of the full tensor, which distinct one it is."""
    if device != CPU:
        return _places(inputs, order).to(device)
    digits = inputs ** torch.arange(order - 1, -1, -1, device="cpu")
    full = torch.arange(inputs**order, device="cpu")[:, None] // digits % inputs
    return positions(full.sort(dim=1).values, inputs)


def _factors(rows: Tensor, order: int) -> list[tuple[Tensor, Tensor]]:
    """Pairs (degree, coordinate) per multi-index, one pair for every run of equal indices; degree 0 fills up."""
    pairs = []
    for k in range(order):
        first = torch.ones(len(rows), dtype=torch.bool, device=rows.device) if k == 0 else rows[:, k] != rows[:, k - 1]
        degree = (rows == rows[:, k : k + 1]).sum(dim=1)
        pairs.append((torch.where(first, degree, torch.zeros_like(degree)), rows[:, k]))
    return pairs


@cache
def _quadrature(device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Nodes and weights of E[·] under N(0, 1)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / math.sqrt(2 * math.pi)
    return torch.as_tensor(nodes, device=device, dtype=dtype), torch.as_tensor(weights, device=device, dtype=dtype)
