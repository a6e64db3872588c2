"""Powers of columns: their least singular values, how near powers tell near columns, and equal columns perturbed.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Claims 1.4, B.2 and B.3, §6.
"""

import math
from collections.abc import Mapping
from functools import cache
from itertools import combinations, pairwise, takewhile
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.biased_relu.checks.checked import Checked, line
from benchmarks.reproduce.pages import slope
from paramid import Run
from paramid.tasks.biased_relu import least_singular_value
from paramid.words import random_streams

F64 = torch.float64


def unit_columns(d: int, m: int, run: Run) -> Tensor:
    """Columns uniform on the sphere, (d, m)."""
    return run.sphere(m, d).T.contiguous()


@cache
def lifted_columns() -> Checked:
    """Claim 1.4: s_k(U ⊙ V) ≥ κ s_k(U) / √(2k); for unit columns the factor 1/√(2k) is not needed."""
    worst, steps = math.inf, math.inf
    for seed in range(200):
        run = Run.seeded(seed)
        u, v = run.normal(5, 5), run.normal(4, 5)
        kappa, size = float(v.norm(dim=0).min()), float(torch.linalg.svdvals(u)[-1])
        product = torch.einsum("ik,jk->ijk", u, v).flatten(0, 1)
        worst = min(worst, float(torch.linalg.svdvals(product)[-1]) * math.sqrt(10) / (kappa * size))
        w = unit_columns(5, 5, run)
        least = [least_singular_value(w, j) for j in (1, 2, 3)]
        steps = min(steps, *(high / low for low, high in pairwise(least)))
    said = f"the left side is at least {worst:.1f} times the right one, s_m(W^⊙(j+1)) {steps:.2f} times s_m(W^⊙j)"
    return Checked(worst >= 1, said)


@cache
def two_columns() -> Checked:
    """Claim B.2: s_2([u v]) ≥ s_2([u^{⊗l} v^{⊗l}]) / √(2l)."""
    angle = line(-0.9999, 0.9999, 10_001).abs()
    ratios = [((1 - angle) * 2 * k / (1 - angle**k)).sqrt().min() for k in (2, 3, 4)]
    least = float(min(ratios))
    return Checked(least >= 1, f"the left side is at least {least:.2f} times the right one, l ≤ 4")


def kruskal_rank(columns: Tensor) -> int:
    """The most k of which any k columns are independent."""
    m = columns.shape[1]
    full = (
        all(int(torch.linalg.matrix_rank(columns[:, list(some)])) == k for some in combinations(range(m), k))
        for k in range(1, m + 1)
    )
    return sum(takewhile(bool, full))


@cache
def kruskal_ranks() -> Checked:
    """Fact 4.7: krank(U ⊙ V) = min(krank U + krank V - 1, m), where ≥ is meant."""
    found = []
    for seed in range(10):
        w = unit_columns(3, 6, Run.seeded(seed))
        square = torch.einsum("ik,jk->ijk", w, w).flatten(0, 1)
        found.append((kruskal_rank(square), min(2 * kruskal_rank(w) - 1, w.shape[1])))
    equal, above = (sum(f(rank, told) for rank, told in found) for f in (int.__eq__, int.__ge__))
    rank, told = found[0]
    said = (
        f"W ⊙ W of six unit columns in three dimensions has the Kruskal rank {rank} where {told} is printed; of "
        f"{len(found)} draws {equal} equal it and {above} are at least that, which is what Theorem 3.4 uses"
    )
    return Checked(equal == len(found), said)


@cache
def near_powers() -> Checked:
    """Claim B.3: ‖α u^{⊗l} - β v^{⊗l}‖ = ε < α/2 leaves ‖u^{⊗t} ∓ v^{⊗t}‖ ≤ √2 ε/α and |α - β| ≤ 3ε."""
    cosine, ratio = line(-1, 1, 401)[:, None], line(0.3, 1.7, 281)[None]
    worst_u, worst_a = 0.0, 0.0
    for order in (2, 3, 4):
        error = (1 + ratio**2 - 2 * ratio * cosine**order).clamp_min(0).sqrt()
        inside = (error < 0.5) & (error > 1e-6)
        for t in range(1, order + 1):
            off = (2 - 2 * cosine.abs() ** t).clamp_min(0).sqrt().expand_as(error)
            worst_u = max(worst_u, float((off / error)[inside].max()) / math.sqrt(2))
        worst_a = max(worst_a, float(((1 - ratio).abs() / error)[inside].max()) / 3)
    said = f"at most {worst_u:.2f} and {worst_a:.2f} of the two bounds, l ≤ 4"
    return Checked(max(worst_u, worst_a) <= 1, said)


TAUS = (0.4, 0.2, 0.1, 0.05)
DRAWS = 100
STEEPER = 0.25  # how much steeper than τ^l a fitted exponent may be
CASES = {1: (5, 4), 2: (4, 9), 3: (3, 9)}  # l -> D, m, with m ≤ 0.99 C(D+l-1, l)


class Smoothed(NamedTuple):
    """Median of s_m(Ŵ^{⊙l}) over draws by τ, its exponent, and the constant of the bound."""

    sizes: Mapping[float, float]
    exponent: float
    constant: float


@cache
def smoothed(order: int) -> Smoothed:
    """s_m of columns that were all equal before each entry moved by N(0, τ²/D), as printed: without unit length."""
    d, m = CASES[order]
    sizes, constant = {}, math.inf
    for tau in TAUS:
        source = random_streams.generator(0, "smoothed", str(order))
        found = []
        for _ in range(DRAWS):
            w = random_streams.unit_columns(d, 1, source, F64).expand(d, m)
            w = w + tau / math.sqrt(d) * torch.randn(d, m, generator=source, dtype=F64)
            found.append(least_singular_value(w, order))
        sizes[tau] = median(found)
        constant = min(constant, min(found) * math.sqrt(m) * (d / tau) ** order)
    return Smoothed(sizes, slope(sizes, sizes.values()), constant)


@cache
def smoothed_bound() -> Checked:
    """Corollary 3.3: s_m ≥ c_l (τ/D)^l / √m, at fixed D and m."""
    told = {k: smoothed(k) for k in CASES}
    rows = (
        f"l = {k}, D = {CASES[k][0]}, m = {CASES[k][1]}: the median s_m falls like τ^{s.exponent:.2f}, and the "
        f"least of {DRAWS} draws at each τ asks for c_l ≤ {s.constant:.2g}"
        for k, s in told.items()
    )
    said = f"{'; '.join(rows)}; c_l is not printed, D and m were not varied"
    return Checked(all(s.exponent < k + STEEPER for k, s in told.items()), said)
