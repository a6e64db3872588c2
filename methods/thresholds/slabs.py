"""EstimateTanAlpha from training samples: how often f fires in slabs of them.

    (1)  l(z, s, ε) = {x : s - ε ≤ ⟨z, x⟩ ≤ s},   p(s) = the share of the samples in it with f(x) ≠ f(0),
    (2)  t_p by bisection of p(s), which is almost increasing,
    (3)  tan α = (t_.6 - t_.4) / (Φ⁻¹(.6) - Φ⁻¹(.4)).

N φ(t) ε samples lie in a slab about t. The printed ε is "sufficiently small, < η / t" with η = d e^{-Ω(t²)}, which is
no number; here ε = 2 tan α of the last estimate: both crossings shift alike, and fewer samples would show nothing. The
search ends where a slab holds fewer than `ENOUGH`. It sees the same samples in every round, so that it also follows
their noise; samples that it did not see tell at last whether the direction is better (`closer`, which is ours).

Reference: Goel & Panigrahy, §2.2, Lemmas 3 to 6. The body of their Algorithm 2 is not in the text at hand; (1) to (3)
are what Lemma 3 and the remark below its proof say of it. Noise is met as §2.3 has it, by what shares average out.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor

from paramid.methods.thresholds.angle_search import HIGH, LOW, SPREAD, Round, Tangent

FIRST, WIDE = 0.1, 2.0  # ε at first, then in units of tan α
AROUND = 10.0  # ε: how far from t crossings are sought
ENOUGH = 50  # samples of a slab
HALVINGS = 20
HELD = 4  # every such row is kept from the search
ROWS = 2**20  # of a unit, at most


@dataclass(frozen=True, eq=False)
class Rows:
    """Inputs near the plane of a unit, and where f fires."""

    x: Tensor  # (rows, D)
    fired: Tensor  # (rows,), 0 or 1


def near(samples: Iterable[tuple[Tensor, Tensor]], w: Tensor, t: float, base: float, cut: float) -> list[Rows]:
    """For every column of `w` the samples with ⟨w, x⟩ > t / 2; f fires where it is farther than `cut` from `base`."""
    kept: list[list[Tensor]] = [[] for _ in w.T]
    for x, y in samples:
        table, inside = torch.cat([x, ((y - base).abs() > cut).to(x)], dim=1), x @ w > t / 2
        for i, mine in enumerate(kept):
            mine.append(table[inside[:, i]][: ROWS - sum(map(len, mine))])
    return [Rows(table[:, :-1], table[:, -1]) for table in map(torch.cat, kept)]


def halves(rows: Rows) -> tuple[Rows, Rows]:
    """Rows to search with, and every `HELD`th for the check."""
    held = torch.arange(len(rows.x), device=rows.x.device) % HELD == 0
    return Rows(rows.x[~held], rows.fired[~held]), Rows(rows.x[held], rows.fired[held])


def width(angle: float) -> float:
    """ε for an angle as last estimated."""
    return min(FIRST, WIDE * math.tan(min(angle, FIRST)))


def tangents(rows: Rows, t: float) -> Round:
    """(3) over slabs as thick as the last angle asks for, while they hold enough samples."""

    def of(angle: float) -> Tangent | None:
        epsilon = width(angle)
        return (lambda z: tan_alpha(rows, z, t, epsilon)) if expected(len(rows.x), t, epsilon) > ENOUGH else None

    return of


def expected(rows: int, t: float, epsilon: float) -> float:
    """How many of the samples above t / 2 lie in a slab of that thickness below t."""
    cdf = NormalDist().cdf
    return rows * (cdf(t) - cdf(t - epsilon)) / cdf(-t / 2)


def tan_alpha(rows: Rows, z: Tensor, t: float, epsilon: float) -> float:
    """(3) by bisection within `AROUND` ε of t."""
    low, high = max(0.0, t - AROUND * epsilon), t + AROUND * epsilon
    heights = rows.x @ z
    here = (heights > low - epsilon) & (heights < high)
    heights, order = heights[here].sort()
    fired = torch.cat([heights.new_zeros(1), rows.fired[here][order].cumsum(dim=0)])
    levels = heights.new_tensor([LOW, HIGH])
    lower, upper = torch.full_like(levels, low), torch.full_like(levels, high)
    for _ in range(HALVINGS):
        s = (lower + upper) / 2
        first, last = torch.searchsorted(heights, torch.stack([s - epsilon, s]))
        below = fired[last] - fired[first] < levels * (last - first)
        lower, upper = torch.where(below, s, lower), torch.where(below, upper, s)
    return float(s[1] - s[0]) / SPREAD


def closer(held: Rows, z: Tensor, other: Tensor, t: float) -> bool:
    """Whether fewer samples, not searched with, are silent beyond the plane of `other` than beyond that of z."""
    silent = [int((held.fired[held.x @ w > t] == 0).sum()) for w in (z, other)]
    return silent[1] < silent[0]
