"""Statements of the paper in numbers that no suite has: §6.1, §3.2, Proposition H.1."""

import math
from collections.abc import Iterator
from functools import cache
from statistics import mean

import torch
from torch import Tensor

from benchmarks.reproduce.hierarchy.exponents import law, within
from benchmarks.reproduce.hierarchy.statements.symmetric_tensors import star
from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run
from paramid.tasks.hierarchy import Hierarchy
from paramid.words import random_streams

ROWS = 20_000
TEACHERS, DRAWS = range(5), 20
GAPS = (0.4, 0.2, 0.1, 0.05, 0.025)


def left_by(columns: Tensor, wanted: Tensor) -> float:
    """The share of `wanted` that least squares over `columns` leave."""
    scaled = columns / columns.norm(dim=0)
    found = torch.linalg.lstsq(scaled, wanted[:, None], driver="gelsd").solution
    return float((wanted - (scaled @ found)[:, 0]).square().sum() / wanted.square().sum())


@cache
def representations() -> dict[str, list[float]]:
    """§6.1: what a quadratic function of squares of several directions and of x_3, x_4 leaves of the third layer."""
    run = Run.seeded(0)
    x = run.normal(2000, 4)
    s = x[:, :2].square()
    wanted = (s[:, 0] ** 2 + x[:, 2]) ** 2 + (s[:, 1] ** 2 + x[:, 3]) ** 2
    turned = torch.tensor([[1.0, 2.0], [2.0, -1.0]], dtype=x.dtype) / math.sqrt(5)
    made = {"the true ones": [torch.eye(2, dtype=x.dtype)], "turned, q = 2": [turned]}
    made |= {f"random, q = {q}": [run.normal(q, 2) for _ in range(DRAWS)] for q in (2, 3, 4)}
    return {
        n: [left_by(star(torch.cat([(s @ r.T).square(), x[:, 2:]], 1)), wanted) for r in drawn]
        for n, drawn in made.items()
    }


def richer(_: Made) -> Judged:
    """Whether three random squares are enough, and two turned ones are not."""
    two, three = representations()["turned, q = 2"][0], representations()["random, q = 3"]
    told = f"a share of {two:.2g} is left over two turned squares, {spread(three, '.1e')} over three, {DRAWS} draws"
    return two > 1e-3 and max(three) < 1e-10, told


def same_function(_: Made) -> Judged:
    """(x_1² + 2 x_2²)² / 5 + (2 x_1² - x_2²)² / 5 = x_1⁴ + x_2⁴."""
    a, b = Run.seeded(1).normal(1000, 2).square().T
    gap = float(((a + 2 * b) ** 2 / 5 + (2 * a - b) ** 2 / 5 - a**2 - b**2).abs().max())
    return gap < 1e-10, f"they differ by {gap:.0e} at most"


@cache
def labels(seed: int) -> tuple[tuple[float, float, float], ...]:
    """Of §3.2 and Proposition H.1, by α_3: Pr[labels without layer 3 differ], √E(F - G*)², CE at v = 1/ε."""
    rows = []
    for gap in GAPS:
        task = Hierarchy(alphas=(1.0, gap), truncate=2.5)
        x = task.rows(ROWS, random_streams.generator(seed, "labels"))
        terms = task.draw(seed).terms(x)
        terms = terms / terms.sum(1).std()
        whole, low = terms.sum(1), terms[:, 0]
        threshold = random_streams.generator(seed, "labels' x_0")
        start = torch.randn(ROWS, generator=threshold, dtype=x.dtype) - whole.mean()
        label = (start + whole).sign()
        eps = float((whole - low).square().mean().sqrt())
        entropy = float(torch.nn.functional.softplus(-label * (start + low) / eps).mean())
        rows.append((float((label != (start + low).sign()).double().mean()), eps, entropy))
    return tuple(rows)


def gap_is_accuracy(_: Made) -> Judged:
    """Pr ≈ α_l."""
    powers = {seed: slope(GAPS, (p for p, _, _ in labels(seed))) for seed in TEACHERS}
    depend = [p for seed in TEACHERS for p, _, _ in labels(seed)]
    told = (
        f"{spread(depend, '.2%')} of the labels depend on layer 3, like α_3^({within(powers)}), {len(powers)} teachers"
    )
    return law(powers, 1.0), told


def entropy_is_error(_: Made) -> Judged:
    """CE ≈ ε where E(F - G*)² = ε² and v = 1/ε."""
    powers = {s: slope((e for _, e, _ in labels(s)), (c for _, _, c in labels(s))) for s in TEACHERS}
    told = f"the cross entropy at v = 1/ε goes like ε^({within(powers)}), {len(powers)} teachers, F without layer 3"
    return law(powers, 1.0), told


def text() -> Iterator[str]:
    """The tables behind them."""
    yield "§6.1: what least squares leave of (x_1⁴ + x_3)² + (x_2⁴ + x_4)² over products of x_3, x_4 and squares of"
    yield f"directions in x_1², x_2² (2000 rows; of {DRAWS} draws where they are random):"
    yield ""
    rows = ((name, f"{min(v):.1e}", f"{max(v):.1e}") for name, v in representations().items())
    yield from grid(("squares of", "least share left", "largest"), rows)
    yield ""
    yield "§3.2: labels sgn(x_0 + G*), Var G* = 1, |x| ≤ 2.5; F is G* without layer 3; means of"
    yield f"{len(TEACHERS)} teachers, {ROWS} rows each:"
    yield ""
    by_gap = zip(*(labels(seed) for seed in TEACHERS), strict=True)
    means = [[mean(column) for column in zip(*rows, strict=True)] for rows in by_gap]
    head = ("α_3", "labels that differ", "ε = √E(F - G*)²", "cross entropy, v = 1/ε")
    yield from grid(
        head, ((f"{a:g}", f"{p:.2%}", f"{e:.3f}", f"{c:.3f}") for a, (p, e, c) in zip(GAPS, means, strict=True))
    )
