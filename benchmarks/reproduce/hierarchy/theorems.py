"""Statements of the paper in numbers that no suite has: §6.1, Lemmas C.5 and C.6, Fact C.4, §3.2, Proposition H.1."""

import math
from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor

from benchmarks.reproduce.hierarchy.verdicts import NEAR
from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run
from paramid.tasks.hierarchy import Hierarchy
from paramid.words import random_streams

ROWS, DRAWS = 20_000, 200
GAPS = (0.4, 0.2, 0.1, 0.05, 0.025)
WIDTHS = (2, 3, 4, 6, 8)


def star(a: Tensor) -> Tensor:
    """The product a * a of Definition C.2, row by row: products a_i a_j for i ≤ j, those of i < j times √2."""
    i, j = torch.triu_indices(a.shape[1], a.shape[1])
    scale = torch.ones_like(a[0, i]).masked_fill_(i != j, math.sqrt(2))
    return scale * a[:, i] * a[:, j]


def left_by(columns: Tensor, wanted: Tensor) -> float:
    """The share of `wanted` that least squares over `columns` leave."""
    scaled = columns / columns.norm(dim=0)
    found = torch.linalg.lstsq(scaled, wanted[:, None], driver="gelsd").solution
    return float((wanted - (scaled @ found)[:, 0]).square().sum() / wanted.square().sum())


@cache
def representations() -> dict[str, float]:
    """§6.1: what a quadratic function of squares of several directions and of x_3, x_4 leaves of the third layer."""
    run = Run.seeded(0)
    x = run.normal(2000, 4)
    s = x[:, :2].square()
    wanted = (s[:, 0] ** 2 + x[:, 2]) ** 2 + (s[:, 1] ** 2 + x[:, 3]) ** 2
    turned = torch.tensor([[1.0, 2.0], [2.0, -1.0]], dtype=x.dtype) / math.sqrt(5)
    made = {"the true ones": torch.eye(2, dtype=x.dtype), "turned, q = 2": turned}
    made |= {f"random, q = {q}": run.normal(q, 2) for q in (2, 3, 4)}
    return {n: left_by(star(torch.cat([(s @ r.T).square(), x[:, 2:]], 1)), wanted) for n, r in made.items()}


def richer(_: Made) -> Judged:
    """Whether three random squares are enough, and two are not."""
    left = representations()
    two, three = left["turned, q = 2"], left["random, q = 3"]
    return two > 1e-3 and three < 1e-10, f"a share of {two:.2g} is left over two turned squares, {three:.1e} over three"


def same_function(_: Made) -> Judged:
    """(x_1² + 2 x_2²)² / 5 + (2 x_1² - x_2²)² / 5 = x_1⁴ + x_2⁴."""
    a, b = Run.seeded(1).normal(1000, 2).square().T
    gap = float(((a + 2 * b) ** 2 / 5 + (2 * a - b) ** 2 / 5 - a**2 - b**2).abs().max())
    return gap < 1e-10, f"they differ by {gap:.0e} at most"


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
def least_singular(width: int) -> float:
    """The first percentile of σ_min(R * R) for R ~ N(0, 1/k²), over draws."""
    run = Run.seeded(width)
    size = width * (width + 1) // 2
    least = [float(torch.linalg.svdvals(star(run.normal(size, width) / width))[-1]) for _ in range(DRAWS)]
    return sorted(least)[DRAWS // 100]


def mixing(_: Made) -> Judged:
    """Lemma C.6: σ_min(R * R) ≥ 1 / O(k⁴ p²) with probability 1 - p; p = 0.01."""
    least = [least_singular(k) for k in WIDTHS]
    power = -slope(WIDTHS, least)
    told = f"the first of a hundred σ_min falls like k^-{power:.1f} for k = {WIDTHS[0]} to {WIDTHS[-1]}"
    return min(v * k**4 / 1e-4 for v, k in zip(least, WIDTHS, strict=True)) > 1, f"{told}; the bound falls like k^-4"


def symmetrised(m: Tensor, n: int) -> Tensor:
    """Sym(M) of Definition C.3, over pairs i ≤ j of n."""
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    weight = [1.0 if i == j else math.sqrt(2) for i, j in pairs]
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for a, one in enumerate(pairs):
        for b, two in enumerate(pairs):
            groups.setdefault(tuple(sorted((*one, *two))), []).append((a, b))
    made = torch.zeros_like(m)
    for places in groups.values():
        total = sum(weight[a] * weight[b] * float(m[a, b]) for a, b in places) / len(places)
        for a, b in places:
            made[a, b] = total / (weight[a] * weight[b])
    return made


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


@cache
def labels() -> tuple[tuple[float, float, float], ...]:
    """Of §3.2 and Proposition H.1, by α_3: Pr[labels without layer 3 differ], √E(F - G*)², CE at v = 1/ε."""
    rows = []
    for gap in GAPS:
        task = Hierarchy(alphas=(1.0, gap), truncate=2.5)
        x = task.rows(ROWS, random_streams.generator(0, "labels"))
        terms = task.draw(0).terms(x)
        terms = terms / terms.sum(1).std()
        whole, low = terms.sum(1), terms[:, 0]
        threshold = random_streams.generator(1, "labels")
        start = torch.randn(ROWS, generator=threshold, dtype=x.dtype) - whole.mean()
        label = (start + whole).sign()
        eps = float((whole - low).square().mean().sqrt())
        entropy = float(torch.nn.functional.softplus(-label * (start + low) / eps).mean())
        rows.append((float((label != (start + low).sign()).double().mean()), eps, entropy))
    return tuple(rows)


def gap_is_accuracy(_: Made) -> Judged:
    """Pr ≈ α_l."""
    power = slope(GAPS, (p for p, _, _ in labels()))
    told = f"{spread((p for p, _, _ in labels()), '.2%')} of the labels depend on layer 3, like α_3^{power:.2f}"
    return abs(power - 1) < NEAR, told


def entropy_is_error(_: Made) -> Judged:
    """CE ≈ ε where E(F - G*)² = ε² and v = 1/ε."""
    power = slope((e for _, e, _ in labels()), (c for _, _, c in labels()))
    return abs(power - 1) < NEAR, f"the cross entropy at v = 1/ε goes like ε^{power:.2f}"


def text() -> Iterator[str]:
    """The tables behind them."""
    yield "§6.1: what least squares leave of (x_1⁴ + x_3)² + (x_2⁴ + x_4)² over products of x_3, x_4 and squares of"
    yield "directions in x_1², x_2² (2000 rows, one seed):"
    yield ""
    yield from grid(("squares of", "share left"), ((name, f"{v:.1e}") for name, v in representations().items()))
    yield ""
    yield f"§3.2: labels sgn(x_0 + G*), Var G* = 1, {ROWS} rows of one seed, |x| ≤ 2.5; F is G* without layer 3:"
    yield ""
    rows = zip(GAPS, labels(), strict=True)
    head = ("α_3", "labels that differ", "ε = √E(F - G*)²", "cross entropy, v = 1/ε")
    yield from grid(head, ((f"{a:g}", f"{p:.2%}", f"{e:.3f}", f"{c:.3f}") for a, (p, e, c) in rows))
