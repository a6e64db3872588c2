"""Symmetric products of Appendix C in numbers: Definitions C.2 and C.3, Fact C.4, Lemmas C.5 and C.6."""

import math
from functools import cache

import torch
from torch import Tensor

from benchmarks.reproduce.pages import slope
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run

DRAWS = 1000
WIDTHS = (2, 3, 4, 6, 8)
CHANCES = (0.01, 0.02, 0.05, 0.1)


def star(a: Tensor) -> Tensor:
    """The product a * a of Definition C.2, row by row: products a_i a_j for i ≤ j, those of i < j times √2."""
    i, j = torch.triu_indices(a.shape[1], a.shape[1])
    scale = torch.ones_like(a[0, i]).masked_fill_(i != j, math.sqrt(2))
    return scale * a[:, i] * a[:, j]


def products(_: Made) -> Judged:
    """⟨x, y⟩² = ⟨x * x, y * y⟩, and Lemma C.5."""
    run = Run.seeded(2)
    x, y, r = run.normal(50, 5), run.normal(50, 5), run.normal(15, 5)
    first = float(((x * y).sum(1).square() - (star(x) * star(y)).sum(1)).abs().max())
    u = torch.linalg.qr(run.normal(5, 5))[0]
    q = torch.linalg.solve(star(r), star(r @ u))
    second = float((q.T @ q - torch.eye(15, dtype=q.dtype)).abs().max())
    return max(first, second) < 1e-8, f"both up to {max(first, second):.0e}"


@cache
def extremes(width: int) -> tuple[tuple[float, ...], float, float]:
    """Of R ~ N(0, 1/k²): all σ_min(R * R) in order, and what 99 of 100 σ_max(R * R) and ‖R‖ are below."""
    run = Run.seeded(width)
    drawn = [run.normal(width * (width + 1) // 2, width) / width for _ in range(DRAWS)]
    values = [torch.linalg.svdvals(star(r)) for r in drawn]
    norms = sorted(float(torch.linalg.matrix_norm(r, 2)) for r in drawn)
    least, most = sorted(float(v[-1]) for v in values), sorted(float(v[0]) for v in values)
    return tuple(least), most[-1 - DRAWS // 100], norms[-1 - DRAWS // 100]


def mixing(_: Made) -> Judged:
    """Lemma C.6, as proved in J.2: σ_min(R * R) ≥ p² / O(k⁴) with probability 1 - p.

    What is printed, 1 / O(k⁴ p²), grows as p falls. O( ) has no number: only exponents of k and of p can fail.
    """
    first = [extremes(k)[0][DRAWS // 100] for k in WIDTHS]
    by_width = slope(WIDTHS, first)
    shares = [extremes(WIDTHS[-1])[0][int(DRAWS * p)] for p in CHANCES]
    by_chance = slope(CHANCES, shares)
    told = f"a share p of σ_min is below k^{by_width:.1f} for k = {WIDTHS[0]} to {WIDTHS[-1]}, p = 0.01, and p^"
    return (
        by_width > -4 and by_chance < 2,
        f"{told}{by_chance:.1f} at k = {WIDTHS[-1]}; read as J.2 proves it, p² / O(k⁴)",
    )


def bounded(_: Made) -> Judged:
    """Lemma C.6: σ_max(R * R) and ‖R‖ do not grow with k, at p = 0.01."""
    tops, norms = zip(*(extremes(k)[1:] for k in WIDTHS), strict=True)
    told = f"σ_max {', '.join(f'{v:.2g}' for v in tops)} and ‖R‖ {', '.join(f'{v:.2g}' for v in norms)}"
    held = slope(WIDTHS, tops) <= 0 and slope(WIDTHS, norms) <= 0
    return held, f"{told} at k = {', '.join(map(str, WIDTHS))}, all draws but one in 100"


def monomials(n: int) -> tuple[list[float], list[list[tuple[int, int]]]]:
    """a_{i,j} of pairs i ≤ j of n, and the places of M whose pairs are the same four indices: one monomial each."""
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for a, one in enumerate(pairs):
        for b, two in enumerate(pairs):
            groups.setdefault(tuple(sorted((*one, *two))), []).append((a, b))
    return [1.0 if i == j else math.sqrt(2) for i, j in pairs], list(groups.values())


def coefficients(m: Tensor, n: int) -> list[float]:
    """Of the monomials of (z * z)ᵀ M (z * z)."""
    weight, groups = monomials(n)
    return [sum(weight[a] * weight[b] * float(m[a, b]) for a, b in places) for places in groups]


def symmetrised(m: Tensor, n: int) -> Tensor:
    """Sym(M) of Definition C.3."""
    weight, groups = monomials(n)
    made = torch.zeros_like(m)
    for places, total in zip(groups, coefficients(m, n), strict=True):
        for a, b in places:
            made[a, b] = total / len(places) / (weight[a] * weight[b])
    return made


def coefficients_bound(_: Made) -> Judged:
    """Fact C.4: O(1) ‖M‖² ≥ C(z ↦ (z * z)ᵀ M (z * z)) ≥ ‖Sym(M)‖²; the least O(1) is Σ a² a² of a monomial's places."""
    weight, groups = monomials(4)
    constant = max(sum((weight[a] * weight[b]) ** 2 for a, b in places) for places in groups)
    above, below = [], []
    run = Run.seeded(5)
    for m in (run.normal(10, 10) for _ in range(20)):
        squares = sum(c * c for c in coefficients(m, 4))
        above.append(squares / float(m.square().sum()))
        below.append(squares / float(symmetrised(m, 4).square().sum()))
    told = f"C is {spread(above, '.2f')} times ‖M‖², at most {constant:.0f} times for any M, and {spread(below, '.2f')}"
    return max(above) <= constant and min(below) >= 1, f"{told} times ‖Sym(M)‖², {len(above)} M, n = 4"


def twice_symmetric(_: Made) -> Judged:
    """Fact C.4: Sym(M) has the values of M."""
    run = Run.seeded(3)
    m, z = run.normal(10, 10), star(run.normal(50, 4))
    gap = float((((z @ m) * z).sum(1) - ((z @ symmetrised(m, 4)) * z).sum(1)).abs().max())
    apart = float((m - symmetrised(m, 4)).norm() / m.norm())
    return gap < 1e-8, f"values differ by {gap:.0e} at most, matrices by {apart:.2f} of their norm"


def diagonal_stays(_: Made) -> Judged:
    """Fact C.4: Sym(M) = M where M is symmetric and zero unless i = j and k = l."""
    places = [n for n, (i, j) in enumerate(zip(*torch.triu_indices(4, 4).tolist(), strict=True)) if i == j]
    m, some = torch.zeros(10, 10, dtype=torch.float64), Run.seeded(4).normal(4, 4)
    m[torch.tensor(places)[:, None], torch.tensor(places)] = some + some.T
    apart = float((m - symmetrised(m, 4)).norm() / m.norm())
    told = f"such an M and Sym(M) of Definition C.3 differ by {apart:.2f} of its norm"
    return apart < 1e-8, f"{told}, as {{1, 1}}, {{2, 2}} has the indices of {{1, 2}}, {{1, 2}}"
