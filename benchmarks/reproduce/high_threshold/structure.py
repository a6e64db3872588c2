"""Sections 3 and 4 and Appendix E in numbers, on teachers of fixed seeds (some ten seconds).

With φ of N(0, 1), û_k = E[u(g) h_k(g)], μ = E X, f = Σ_{i<j} X_i X_j of m orthonormal units,

    (1)  C_2(w_i) = φ(t) E[∂P/∂X_i] = φ(t) (m - 1) μ for steps, |C_2(z)| = O(ε / α) at an angle α from every w_i,
    (2)  C_3(w_i) is that for ReLUs, as a second difference; as printed it has φ'(t) E[P | ⟨w_i, x⟩ = t] beside it.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise
from statistics import fmean

import numpy as np
import torch
from torch import Tensor

from benchmarks.reproduce.high_threshold.contraction import between, tilted
from benchmarks.reproduce.high_threshold.theorems import CPU, ROWS, SEEDS, teacher
from benchmarks.reproduce.pages import slope
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run
from paramid.contracts import registry
from paramid.methods.thresholds import plane_jumps
from paramid.oracle.counting import CountingOracle
from paramid.words import hermite
from paramid.words.spec import Access
from paramid.words.threshold_units import Thresholded, coefficients

UNITS, LOW = 4, 0.5  # m = D and t of (1) and (2)
QUERIES = frozenset({Access.QUERIES})
WIDTHS, TILTS = (0.01, 0.005, 0.0025), (0.1, 0.05, 0.025)  # ε, and angles to a unit
WIDTH, FAR = 0.01, 0.1  # ε at units, and the angle from which on it is elsewhere
NEAR = 0.05  # of a law, relatively


# Section 3


def jumps_of(unit: str, seed: int) -> tuple[plane_jumps.Jumps, Thresholded]:
    """C_2 or C_3 by queries on 20 000 points of a plane, and the teacher."""
    text = f"D={UNITS},m={UNITS},t={LOW},polynomial=no-linear,activation={unit}"
    f = teacher(text, seed)
    oracle = CountingOracle(f, registry.task(f"threshold:{text}").spec, access=QUERIES, seed=seed, device=CPU)
    return plane_jumps.by_queries(oracle, Run.seeded(seed).normal(20_000, UNITS), LOW, unit), f


def law(unit: str) -> float:
    """(1)."""
    return plane_jumps.density(LOW) * (UNITS - 1) * coefficients(unit, LOW, 1)[0]


@cache
def jumps(unit: str) -> tuple[list[float], list[float]]:
    """C at every w_i over (1), and the largest |C| over it at an angle of 0.1 or more, by seed; ε = 0.01."""
    at, away = [], []
    for seed in SEEDS:
        of, f = jumps_of(unit, seed)
        jump = of(WIDTH)
        at += [jump(w)[0] / law(unit) for w in f.columns.T]
        far = [z for z in Run.seeded(seed).sphere(30, UNITS) if min(between(z, w) for w in f.columns.T) >= FAR]
        away.append(max(abs(jump(z)[0]) for z in far) / law(unit))
    return at, away


@cache
def elsewhere(unit: str) -> dict[float, dict[float, float]]:
    """|C| at an angle α from a unit, means over seeds, by α and ε."""
    sums = {alpha: dict.fromkeys(WIDTHS, 0.0) for alpha in TILTS}
    for seed in SEEDS:
        of, f = jumps_of(unit, seed)
        for alpha, here in sums.items():
            z = tilted(f.columns[:, 0], alpha, Run.seeded(seed))
            for width in WIDTHS:
                here[width] += abs(of(width)(z)[0]) / len(SEEDS)
    return sums


def jumps_hold(unit: str, name: str) -> Callable[[Made], Judged]:
    """The verdict on C at units."""

    def verdict(_: Made) -> Judged:
        at, away = jumps(unit)
        told = f"{name} at units is {spread(at, '.2f')} of φ(t) E ∂P/∂X_i, {max(away):.2g} of it at most elsewhere"
        return max(abs(v - 1) for v in at) < NEAR, f"{told}, ε = {WIDTH:g}, {len(SEEDS)} seeds"

    return verdict


def jumps_vanish(unit: str, name: str) -> Callable[[Made], Judged]:
    """The verdict on C elsewhere: like ε up to 0.2 in the exponent, and |C| α/ε times 1.3 at most by halving α."""

    def verdict(_: Made) -> Judged:
        found = elsewhere(unit)
        powers = [slope(here, here.values()) for here in found.values()]
        sizes = [fmean(v * alpha / w for w, v in here.items()) for alpha, here in found.items()]
        shown = ", ".join(f"{v:.2g} at α = {a:g}" for a, v in zip(found, sizes, strict=True))
        numbers = f"{name} goes like ε^{min(powers):.2f} at least, and |{name}| α/ε is {shown}, {len(SEEDS)} seeds"
        return min(powers) > 0.8 and all(b < 1.3 * a for a, b in pairwise(sizes)), numbers

    return verdict


def third_as_printed(_: Made) -> Judged:
    """Lemma 19's value of C_3, with φ'(t) E P beside the rest; cosines are 0 for orthonormal units."""
    at, _away = jumps("relu")
    printed = 1 - LOW * (UNITS - 2) / 2 * coefficients("relu", LOW, 1)[0]
    told = f"with φ'(t) E P it is {printed:.2f} of φ(t) E ∂P/∂X_i, the second difference {spread(at, '.2f')}"
    return max(abs(v - printed) for v in at) < NEAR, f"{told}: what is there on both sides of the plane cancels"


# Section 4


def expanded(task: str, seed: int, mean: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Coefficients of X_i and X_i X_j in P(μ(X + 1)), Σ_{S ∋ i} c_S μ^S and Σ_{S ∋ i, j} c_S μ^S."""
    f = registry.task(task).draw(seed)
    assert isinstance(f, Thresholded)
    if mean is None:
        mean = torch.exp(-f.rate * (f.thresholds - f.rate * f.columns.sum(dim=0) / 2))
    members = (f.slopes != 0).to(mean)
    weights = f.scales * (mean**members).prod(dim=1)
    pairs = torch.einsum("s,si,sj->ij", weights, members, members)
    return members.T @ weights, pairs


def gap_of_blocks(task: str, seed: int) -> float:
    """Theorem 8's: the least linear coefficient over the largest of a product, with μ = E X."""
    alone, pairs = expanded(task, seed)
    return float(alone.min() / pairs.fill_diagonal_(0.0).max())


def unmixed(task: str, seed: int, constant: float) -> bool:
    """Theorem 10's C_i + C_j > constant û_2² / (û_0 û_4) C_ij, for every pair."""
    f = registry.task(task).draw(seed)
    assert isinstance(f, Thresholded)
    u = [c / math.sqrt(math.factorial(k)) for k, c in enumerate(coefficients(f.unit, 0.0, 5, f.rate))]
    alone, pairs = expanded(task, seed, torch.full_like(f.thresholds, u[0]))
    bound = constant * u[2] ** 2 / (u[0] * u[4])
    return all(float(alone[i] + alone[j] - bound * pairs[i, j]) > 0 for i, j in combinations(range(len(alone)), 2))


def mean_of_blocks(_: Made) -> Judged:
    """Theorem 8's μ, as it is printed twice; within 2 %."""
    rho, t, d = 0.5, 1.0, 3
    g = Run.seeded(SEEDS[0]).normal(ROWS, 1)[:, 0] * math.sqrt(d)
    seen = float(torch.exp(rho * (g - t)).mean())
    printed = (math.exp(-rho * t), math.exp(-rho * (t - rho * d) / 2))
    told = f"E X is {seen:.3f}, printed in Theorem 8 {printed[0]:.3f}, in its proof {printed[1]:.3f}"
    held = any(abs(p / seen - 1) < 0.02 for p in printed)
    return held, f"{told}; e^(-ρ(t - ρd/2)) is {math.exp(-rho * (t - rho * d / 2)):.3f}"


def objective_of_blocks(_: Made) -> Judged:
    """Theorem 9's h(z) = g(z) - λ‖z‖_1 - γ‖z‖² at z = s times the indicator of a block; whether it ever falls."""
    size, lam, gamma = 3, 1.0, 1.0
    steps = np.linspace(0, 20, 2001)
    values = np.exp(size * (0.5 + steps)) - lam * size * steps - gamma * size * steps**2
    shown = ", ".join(f"{values[int(100 * s)]:.1e}" for s in (1, 2, 5, 20))
    most = 2 * math.exp(1 + size / 2) / 4, math.exp(size / 2) - 3 * gamma  # Lemmas 21 and 23, P = X_1 + X_2
    allowed = f"γ = {gamma:g} < {most[0]:.2g} (Lemma 21, β = 1), λ = {lam:g} < {most[1]:.2g} (Lemma 23, α = 1)"
    told = f"{allowed}: at s times a block, s = 1, 2, 5, 20, it is {shown}"
    falls = bool((np.diff(values) <= 0).any())
    return falls, told if falls else f"{told}, and rises all the way"


def constant_of_even_units(_: Made) -> Judged:
    """D.3's 6 û_2²; within 0.1."""
    u = coefficients("abs", 0.0, 4)
    f = teacher("D=2,m=2,t=0,activation=abs,polynomial=no-linear", SEEDS[0])
    frame = f.columns
    fourth = torch.einsum("abcd,ai,bj,ck,dl->ijkl", hermite.unfold(f.moments(4), 2, 4), *[frame] * 4)
    measured = 6 * float(fourth[0, 0, 1, 1]) / math.sqrt(24) / (u[2] ** 2 / 2)
    return abs(measured - 6) < 0.1, f"E[X_i X_j h_4] has {measured:.3f} û_2² z_i² z_j², which is √6"


def quadratic_of_even_units(_: Made) -> Judged:
    """D.3's 3 û_2 z_i² (2‖z‖² - 1) beside û_4 z_i⁴, at ‖z‖ = 1 from samples; within 0.05."""
    x = Run.seeded(SEEDS[0]).normal(ROWS, 2)
    along = x.sum(dim=1) / math.sqrt(2)
    seen = float((x[:, 0].abs() * hermite.polynomials(along, 4)[4]).mean()) / math.sqrt(24)
    u = coefficients("abs", 0.0, 5)
    first, printed = u[4] / math.sqrt(24) / 4, u[4] / math.sqrt(24) / 4 + 3 * u[2] / math.sqrt(2) / 2
    told = f"of |x| at z_i² = 1/2 it is {seen:.3f}, as printed {printed:.3f}, û_4 z_i⁴ alone {first:.3f}"
    return abs(printed - seen) < NEAR, f"{told}: Fact 3 is of Hermite polynomials that are not normalised"


# Appendix E


@cache
def independence() -> list[tuple[float, float]]:
    """Appendix E: the largest E[X_i X_j] / E[X_j] of steps on a second layer, and the largest E X_i, by threshold."""
    made = []
    for seed in SEEDS:
        run = Run.seeded(seed)
        inner, outer = run.normal(10, 20) / math.sqrt(10), torch.linalg.qr(run.normal(20, 6))[0]
        z = torch.tanh(run.normal(ROWS // 8, 10) @ inner) @ outer
        made.append(z / z.std(dim=0))
    return [crowded(made, t) for t in (1.0, 1.5, 2.0, 2.5)]


def crowded(layers: list[Tensor], t: float) -> tuple[float, float]:
    """The largest E[X_i X_j] / E[X_j] and E X_i of these layers at that threshold."""
    ratios, means = [], []
    for z in layers:
        on = (z > t).double()
        both, alone = on.T @ on / len(on), on.mean(dim=0)
        ratios.append(float((both / alone).fill_diagonal_(0.0).max()))
        means.append(float(alone.max()))
    return max(ratios), max(means)


def cuts_are_independent(_: Made) -> Judged:
    """Appendix E's E[Π X] / E[X_j] < μ^{|S|-1}, for pairs: whether it falls with t, to a tenth and less."""
    told = independence()
    falls = all(b[0] < a[0] for a, b in pairwise(told))
    shown = ", ".join(f"{r:.2g} (E X up to {e:.2g})" for r, e in told)
    numbers = f"above random tanh layers, t = 1, 1.5, 2, 2.5 deviations, it is at most {shown}, {len(SEEDS)} layers"
    return falls and told[-1][0] < 0.1, numbers
