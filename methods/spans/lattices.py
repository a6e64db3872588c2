"""Third-order lattices: many elements of span{w_k w_kᵀ} from few values of a scalar function.

Around a base point x take F_abc = f(x + h(e_a + e_b + e_c)) for 0 ≤ a ≤ b ≤ c ≤ D with e_0 = 0, each point once:
C(D+3, 3) values. With Δ_i the difference between entry i ≥ 1 and entry 0 along one axis of the symmetric cube F,

    (1)  H_ij = Δ_i Δ_j F_··0 / h²  ≈ ∂²f/∂x_i∂x_j  = Σ_k a_k g''(z_k) w_ki w_kj,
    (2)  T_ijl = Δ_i Δ_j Δ_l F / h³ ≈ Σ_k a_k g'''(z_k) w_ki w_kj w_kl,   z_k = ⟨w_k, x⟩ + τ_k,

so that H and the D slices T_··l all lie in span{w_k w_kᵀ}: D + 1 rows for D³/6 values, against D² for a row of a
symmetric Hessian stencil, which is cheaper only where less than about D/6 rows are wanted. The error is of order h
one-sided, of order h² in the mean of (1), (2) over ±h, which share x. It meets rounding of order 1/h³ at

    (3)  h = 2e-4 √D one-sided,   6e-4 √D over ±h   (measured for tanh and D from 10 to 50).

Noise of deviation σ in the values leaves σ/h³ in (2) and only σ/h² in Hessians: these alone are taken then, at twice
the queries for a tenth of the error, with

    (4)  h = 3 σ^(1/4)   (measured), which balances h² and σ/h², and 1e-3 without noise.

Values rounded to float32 are noisy as well, by what that leaves of numbers from 1 to 10.
"""

import math
from itertools import permutations

import torch
from torch import Tensor

from paramid import Oracle, Run
from paramid.methods.spans import hessians, symmetric
from paramid.methods.spans.output_differences import Values

BATCH = 2**20  # doubles of points held at once
BASES = 3  # at a single base point g''' may vanish for some neuron
LONGEST = 0.5


def sample_rows(oracle: Oracle, run: Run, count: int, *, both_sides: bool, h: float | None = None) -> Tensor:
    """At least `count` packed rows of the span at Gaussian points: lattices or Hessians, the fewer queries."""
    d, noise = oracle.spec.inputs, oracle.spec.resolution
    bases = max(BASES, math.ceil(count / (d + 1)))
    if noise or count * (d * d + d + 1) <= bases * points_of(d, both_sides):
        curvature = h or max(1e-3, min(LONGEST, 3 * noise**0.25))
        return hessians.sample_hessians(oracle, run.normal(count, d), h=curvature, stencil="symmetric")
    third = h or (6e-4 if both_sides else 2e-4) * math.sqrt(d)
    return lattice_rows(oracle, run.normal(bases, d), h=third, both_sides=both_sides)


def points_of(d: int, both_sides: bool) -> int:
    """The values that a lattice takes."""
    one = math.comb(d + 3, 3)
    return 2 * one - 1 if both_sides else one


def lattice_rows(oracle: Oracle, x: Tensor, *, h: float, both_sides: bool) -> Tensor:
    """Packed (1) and (2) at every row of `x`, (rows · (D+1), D(D+1)/2)."""
    triples, place = corners(x.shape[1], x.device)
    found = []
    for base in x:
        up = values(oracle.query, base, h, triples)[:, 0]
        rows = differences(up[place], h)
        if both_sides:
            down = torch.cat([up[:1], values(oracle.query, base, -h, triples[1:])[:, 0]])
            rows = (rows + differences(down[place], -h)) / 2
        found.append(symmetric.pack(rows))
    return torch.cat(found)


def corners(d: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """All 0 ≤ a ≤ b ≤ c ≤ d as rows, the first of them 0, and the row of every (a, b, c) in whatever order."""
    triples = torch.combinations(torch.arange(d + 1, dtype=torch.int64, device=device), 3, with_replacement=True)
    place = torch.empty(d + 1, d + 1, d + 1, dtype=torch.int64, device=device)
    for order in permutations(range(3)):
        place[tuple(triples[:, axis] for axis in order)] = torch.arange(len(triples), dtype=torch.int64, device=device)
    return triples, place


def values(f: Values, base: Tensor, h: float, triples: Tensor) -> Tensor:
    """F of every output at the corners `triples` of the lattice around `base`, (corners, outputs)."""
    d = len(base)
    e = torch.cat([base.new_zeros(1, d), h * torch.eye(d, device=base.device, dtype=base.dtype)])
    return torch.cat([f(base + e[abc].sum(1)) for abc in triples.split(max(1, BATCH // (3 * d)))])


def differences(cube: Tensor, h: float) -> Tensor:
    """(1) and (2) from the symmetric cube F: H and the slices of T, (D+1, D, D)."""
    once = cube[1:] - cube[:1]
    twice = (once[:, 1:] - once[:, :1]) / h**2
    third = (twice[:, :, 1:] - twice[:, :, :1]) / h
    return torch.cat([twice[None, :, :, 0], third.movedim(2, 0)])
