"""What the paper proves beside Theorem 5, checked in numbers on teachers of fixed seeds (some twenty seconds).

With φ, Φ of N(0, 1), û_k = E[u(g) h_k(g)], μ = E X, X_i = u(⟨w_i, x⟩ - t):

    (1)  E Π_{i in S} X_i ≤ ρ(t, 1) (κ ρ(t, ‖W‖))^{|S|-1},   E|f - f_lin| ≤ O(d³ ρ ρ),   ρ(t, σ) = e^{-t²/2σ²},
    (2)  E[u δ'(⟨z, x⟩)] = c cot α,   C_1(s) = φ(s) Φ((s cos α - t) / sin α),
    (3)  C_2(w_i) = φ(t) (m - 1) μ for f = Σ_{i<j} X_i X_j, orthonormal steps; C_3 likewise for ReLUs.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from statistics import NormalDist, median

import numpy as np
import torch
from torch import Tensor

from benchmarks.reproduce.high_threshold.contraction import between
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import GiveUp, Run
from paramid.contracts import registry
from paramid.methods.thresholds import correlations, plane_jumps, quartic_minima
from paramid.oracle.counting import CountingOracle
from paramid.oracle.samples import Samples
from paramid.words import hermite, random_streams
from paramid.words.spec import Access
from paramid.words.threshold_units import Thresholded, coefficients

SEEDS = (700, 701, 702)
THRESHOLDS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
ROWS = 1_000_000
CPU = torch.device("cpu")
F64 = torch.float64


def teacher(text: str, seed: int) -> Thresholded:
    """The function of a task."""
    drawn = registry.task(f"threshold:{text}").draw(seed)
    assert isinstance(drawn, Thresholded)
    return drawn


def tail(t: float, sigma: float = 1.0) -> float:
    """ρ(t, σ) of steps and ReLUs."""
    return math.exp(-t * t / (2 * sigma * sigma))


# Lemmas 1, 2, 4, 10, 12, 16


@cache
def products_over_bounds() -> tuple[float, int]:
    """Lemma 1: the largest E X_i X_j over its bound, over pairs, thresholds and seeds, and how many of them."""
    shares = []
    for seed in SEEDS:
        x = Run.seeded(seed).normal(ROWS // 4, 5)
        for t in (1.0, 1.5, 2.0):
            f = teacher(f"D=5,m=5,t={t},weights=random,kappa=4", seed)
            on, s = f.activated(x), torch.linalg.svdvals(f.columns)
            both = (on.T @ on / len(x))[torch.triu_indices(5, 5, 1).unbind()]
            shares += (both / (tail(t) * float(s[0] / s[-1]) * tail(t, float(s[0])))).tolist()
    return max(shares), len(shares)


def lemma_of_products(_: Made) -> Judged:
    """Lemma 1."""
    worst, count = products_over_bounds()
    return worst <= 1, f"E X_i X_j of steps is at most {worst:.2g} of the bound, over {count} pairs, κ up to 4"


def bend(m: int, t: float) -> float:
    """E|f - f_lin| / E f_lin of a union of m orthonormal halfspaces."""
    mu = NormalDist().cdf(-t)
    return 1 - (1 - (1 - mu) ** m) / (m * mu)


def lemma_of_closeness(_: Made) -> Judged:
    """Lemma 2."""
    ratios = [bend(m, t) * m * NormalDist().cdf(-t) / (m**3 * tail(t) ** 2) for m in (5, 10, 20) for t in THRESHOLDS]
    small = ", ".join(f"{bend(10, t):.1e} at t = {t:g}" for t in (2.0, 3.0, 4.0))
    return max(
        ratios
    ) <= 1, f"E|f - f_lin| of unions is {spread(ratios, '.1e')} of d³ρρ; over E f_lin at d = 10: {small}"


def cotangent(_: Made) -> Judged:
    """Lemma 16 and Claim 4: |cot α|."""
    h, phi0 = 1e-5, plane_jumps.density(0.0)

    def slope(alpha: float) -> float:
        ends = [plane_jumps.density(s) * NormalDist().cdf(s / math.tan(alpha)) for s in (h, -h)]
        return (ends[0] - ends[1]) / (2 * h) / phi0**2

    sharp, blunt = slope(1.0), slope(2.2)
    told = f"it is c times {sharp:.3f} at α = 1, where cot α is {1 / math.tan(1.0):.3f}, and {blunt:.3f} at α = 2.2"
    return blunt >= 0, f"{told}: it has the sign of cot α"


def growth(unit: str, order: int) -> float:
    """The exponent p of |û_k| ~ t^p e^{-t²/2} over t from 4 to 12."""
    ts = np.linspace(4, 12, 17)
    values = [abs(coefficients(unit, float(t), order + 1)[order]) * math.exp(t * t / 2) for t in ts]
    return float(np.polyfit(np.log(ts[8:]), np.log(values[8:]), 1)[0])


def lemma_of_relus(_: Made) -> Judged:
    """Lemma 10's lower bound t³ e^{-t²/2} of û_4."""
    return growth(
        "relu", 4
    ) > 2.5, f"û_4 of a ReLU goes like t^{growth('relu', 4):.2f} e^(-t²/2), û_2 like t^{growth('relu', 2):.2f}"


def lemma_of_steps(_: Made) -> Judged:
    """Lemma 11."""
    told = [growth("step", k) for k in (2, 4)]
    return all(
        0 < p < 4 for p in told
    ), f"û_2 and û_4 of a step go like t^{told[0]:.2f} and t^{told[1]:.2f} times e^(-t²/2)"


def lemma_of_sigmoids(_: Made) -> Judged:
    """Lemma 12: û_4 = Θ(e^{-t}), which the proof bounds from below by an integral that is zero."""
    low, high = 2.0, 4.0
    for _step in range(40):
        t = (low + high) / 2
        low, high = (t, high) if coefficients("sigmoid", t, 5)[4] < 0 else (low, t)
    law = [coefficients("sigmoid", t, 5)[4] * math.exp(t - 0.5) for t in (4.0, 6.0, 8.0)]
    told = ", ".join(f"{v:.2f}" for v in law)
    return min(law) > 0.1, f"û_4 is negative below t = {low:.3f}; √24 û_4 over e^(1/2 - t) is {told} at t = 4, 6, 8"


# Stage 1: λ, ψ, powers


@cache
def found_by_margin() -> dict[float, int]:
    """How many of SEEDS find all minima of G at λ in units of |û_4| / (c_min û_2²)."""
    found = {}
    for margin in (0.5, 0.9, 1.1, 4.0, 40.0):
        found[margin] = 0
        for seed in SEEDS:
            w = torch.linalg.qr(Run.seeded(seed).normal(5, 5))[0]
            given = quartic_minima.whitened(w @ w.T, torch.einsum("ai,bi,ci,di->abcd", w, w, w, w), 5)
            try:
                quartic_minima.one_by_one(given, Run.seeded(seed), margin=margin)
                found[margin] += 1
            except GiveUp:
                continue
    return found


def lambda_is_bounded(_: Made) -> Judged:
    """Claims 1 and 2: λ = Θ(|û_4| / û_2²)."""
    found = found_by_margin()
    told = ", ".join(f"{n} of {len(SEEDS)} at {k:g}" for k, n in found.items())
    return all(
        n == len(SEEDS) for n in found.values()
    ), f"in units of |û_4| / (c_min û_2²) all minima are found by {told}"


@cache
def psi() -> dict[str, tuple[float, float]]:
    """E[f ψ(v, w)] over û_4 ⟨v, w_1⟩² ⟨w, w_1⟩², the least and largest of ten pairs, as corrected and as printed."""
    run = Run.seeded(SEEDS[0])
    t, d = 2.0, 3
    x = run.normal(2 * ROWS, d)
    x = x[x[:, 0] > t]
    f, u = x[:, 0] - t, coefficients("relu", t, 5)[4]
    made: dict[str, list[float]] = {"corrected": [], "printed": []}
    share = NormalDist().cdf(-t) / len(x)
    for _ in range(10):
        v, w = run.sphere(2, d)
        a, b, dot = x @ v, x @ w, float(v @ w)
        h = (a * a - 1) * (b * b - 1) / 2
        target = u * float(v[0] * w[0]) ** 2
        if abs(target) < 0.02 * abs(u):
            continue
        made["corrected"].append(share * float(f @ (2 * h + 2 * dot**2 - 4 * dot * a * b)) / target)
        made["printed"].append(share * float(f @ (h + 2 * dot**2 + 4 * dot * a * b)) / target)
    return {k: (min(r), max(r)) for k, r in made.items()}


def psi_is_a_product(_: Made) -> Judged:
    """B.4's ψ."""
    told = psi()
    (low, high), (least, most) = told["printed"], told["corrected"]
    ours = f"with 2 H_2 H_2 + 2 ⟨v, w⟩² - 4 ⟨v, w⟩ ⟨v, x⟩ ⟨w, x⟩ from {least:.2f} to {most:.2f}"
    return high - low < 0.3 * abs(high), f"E[f ψ] over the product is from {low:.2f} to {high:.2f} as printed, {ours}"


def powers(seed: int, rows: int | None) -> float:
    """B.7: the largest angle of stage 1 before Σ_i X_i + b_i X_i² of ReLUs at t = 2.5, b unknown to it."""
    run, m, t = Run.seeded(seed), 5, 2.5
    f = teacher(f"D={m},m={m},t={t},activation=relu,polynomial=linear,weights=mild", seed)
    b = 0.5 + run.normal(1, m)[0].abs()

    def value(x: Tensor) -> Tensor:
        on = f.activated(x)
        return (on.sum(dim=1) + on.square() @ b)[:, None]

    if rows is None:
        nodes = t + torch.linspace(0, 8, 200_001, dtype=F64)
        density = torch.exp(-nodes.square() / 2) / math.sqrt(2 * math.pi)
        he = hermite.polynomials(nodes, 4)
        first, square = ([float(torch.trapezoid((nodes - t) ** p * density * h, nodes)) for h in he] for p in (1, 2))
        second, fourth = (1 + 0 * b) * first[2] + b * square[2], (1 + 0 * b) * first[4] + b * square[4]
        w = f.columns
        given = quartic_minima.whitened((w * second) @ w.T, torch.einsum("ai,bi,ci,di,i->abcd", w, w, w, w, fourth), m)
    else:

        def draw(index: int, n: int) -> Tensor:
            return random_streams.normal(n, m, random_streams.generator(seed, index), CPU, F64)

        moments, _ = correlations.of_samples(Samples(rows, m + 1, rows, draw, lambda _, x: value(x)))
        given = quartic_minima.whitened(moments.full(2), moments.full(4), m)
    margin = 4 * float(np.linalg.norm(given.quartic.reshape(m * m, m * m), 2))
    found = quartic_minima.one_by_one(given, run, margin=margin)
    gaps = torch.minimum(torch.cdist(found.columns.T, f.columns.T), torch.cdist(-found.columns.T, f.columns.T))
    return float(gaps.min(dim=0).values.max())


@cache
def angles_under_powers() -> tuple[list[float], list[float]]:
    """From exact moments and from 300 000 samples."""
    return [powers(s, None) for s in SEEDS], [powers(s, 300_000) for s in SEEDS]


def powers_are_taken(_: Made) -> Judged:
    """B.7."""
    exact, sampled = angles_under_powers()
    told = f"X_i² beside X_i, of coefficients that differ: angles {max(exact):.1e} at most from exact moments"
    return max(exact) < 1e-4, f"{told}, {median(sampled):.2g} from 300 000 samples, {len(SEEDS)} seeds"


# Sections 3 and 4, Appendix E


@cache
def jumps(unit: str) -> tuple[list[float], list[float]]:
    """(3): C at w_i over its law, and the largest |C| over it at an angle of 0.1 or more, by seed; ε = 0.01."""
    at, away, t = [], [], 0.5
    for seed in SEEDS:
        text = f"D=4,m=4,t={t},polynomial=no-linear,activation={unit}"
        f, run = teacher(text, seed), Run.seeded(seed)
        oracle = CountingOracle(f, registry.task(f"threshold:{text}").spec, access=QUERIES, seed=seed, device=CPU)
        law = plane_jumps.density(t) * 3 * coefficients(unit, t, 1)[0]
        jump = plane_jumps.by_queries(oracle, run.normal(20_000, 4), t, unit)(0.01)
        at += [jump(w)[0] / law for w in f.columns.T]
        far = [z for z in run.sphere(30, 4) if min(between(z, w) for w in f.columns.T) >= 0.1]
        away.append(max(abs(jump(z)[0]) for z in far) / law)
    return at, away


QUERIES = frozenset({Access.QUERIES})


def jumps_hold(unit: str, name: str) -> Callable[[Made], Judged]:
    """The verdict on Lemma 8 or 19."""

    def verdict(_: Made) -> Judged:
        at, away = jumps(unit)
        told = f"{name} at units is {spread(at, '.2f')} of φ(t) E ∂P/∂X_i, {max(away):.2g} of it at most elsewhere"
        return max(abs(v - 1) for v in at) < 0.15 and max(away) < 0.1, f"{told}, ε = 0.01, {len(SEEDS)} seeds"

    return verdict


def mean_of_blocks(_: Made) -> Judged:
    """Theorem 8's μ = e^{-ρ(t - ρd)/2}, as the proof has it."""
    rho, t, d = 0.5, 1.0, 3
    g = Run.seeded(SEEDS[0]).normal(ROWS, 1)[:, 0] * math.sqrt(d)
    seen, printed = float(torch.exp(rho * (g - t)).mean()), math.exp(-rho * (t - rho * d) / 2)
    right = math.exp(-rho * (t - rho * d / 2))
    return abs(printed / seen - 1) < 0.02, f"μ is {seen:.3f}, as printed {printed:.3f}, e^(-ρ(t - ρd/2)) is {right:.3f}"


def objective_of_blocks(_: Made) -> Judged:
    """Theorem 9's maximum of g(z) - λ‖z‖_1 - γ‖z‖²."""
    size, lam, gamma = 3, 1.0, 1.0
    values = [math.exp(size * (0.5 + s)) - lam * size * s - gamma * size * s * s for s in (1.0, 2.0, 5.0, 20.0)]
    grows = all(b > a for a, b in pairwise(values))
    return (
        not grows,
        f"at s times the indicator of a block, s = 1, 2, 5, 20, it is {', '.join(f'{v:.1e}' for v in values)}",
    )


def constant_of_even_units(_: Made) -> Judged:
    """Theorem 10's 6 û_2²."""
    u = coefficients("abs", 0.0, 4)
    f = teacher("D=2,m=2,t=0,activation=abs,polynomial=no-linear", SEEDS[0])
    frame = f.columns
    fourth = torch.einsum("abcd,ai,bj,ck,dl->ijkl", hermite.unfold(f.moments(4), 2, 4), *[frame] * 4)
    measured = 6 * float(fourth[0, 0, 1, 1]) / math.sqrt(24) / (u[2] ** 2 / 2)
    return abs(measured - 6) < 0.1, f"E[X_i X_j h_4] has {measured:.3f} û_2² z_i² z_j², which is √6"


@cache
def independence() -> list[tuple[float, float]]:
    """Appendix E: the largest E[X_i X_j] / E[X_j] of steps on a second layer, and the largest E X_i, by threshold."""
    run, made = Run.seeded(SEEDS[0]), []
    inner, outer = run.normal(10, 20) / math.sqrt(10), torch.linalg.qr(run.normal(20, 6))[0]
    z = torch.tanh(run.normal(ROWS // 2, 10) @ inner) @ outer
    z = z / z.std(dim=0)
    for t in (1.0, 1.5, 2.0, 2.5):
        on = (z > t).double()
        both, alone = on.T @ on / len(on), on.mean(dim=0)
        made.append((float((both / alone).fill_diagonal_(0.0).max()), float(alone.max())))
    return made


def cuts_are_independent(_: Made) -> Judged:
    """Appendix E's E[Π X] / E[X_j] < μ^{|S|-1}, for pairs."""
    told = independence()
    falls = all(b[0] < a[0] for a, b in pairwise(told))
    shown = ", ".join(f"{r:.2g} (E X up to {e:.2g})" for r, e in told)
    return falls and told[-1][
        0
    ] < 0.2, f"above a random tanh layer, t = 1, 1.5, 2, 2.5 deviations, it is at most {shown}"
