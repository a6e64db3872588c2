"""Errors of coefficients from samples, and of parameters from coefficients that are off.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §5.1 and §5.2.
"""

import math
from collections.abc import Mapping
from functools import cache
from statistics import median

import torch

from benchmarks.reproduce.biased_relu.checks.checked import ROUNDING, Checked
from benchmarks.reproduce.pages import slope
from paramid import Run
from paramid.methods.hermite import moment_estimates
from paramid.methods.hermite.moment_estimates import PRINTED, Moments
from paramid.methods.hermite_jennrich import HermiteJennrich
from paramid.tasks import relu_units
from paramid.tasks.biased_relu import BiasedRelu
from paramid.words import hermite

ROWS = (4_000, 16_000, 64_000)
LEAST_B = 2.0  # |a| ≥ 1/B, |a| and |b| ≤ B, where |a| is in [0.5, 1.5] and |b| ≤ 1.5
LEVELS = (1e-6, 1e-5, 1e-4, 1e-3)


@cache
def moment_noise() -> Checked:
    """Lemma 5.2: ‖T_k - E T_k‖ falls like N^{-1/2} and grows no faster than D^{k/2}."""
    sizes: dict[tuple[int, int, int], float] = {}
    for d in (3, 6):
        for rows in ROWS:
            for k, error in moment_errors(d, rows).items():
                sizes[d, rows, k] = error
    falls = [
        slope([4e3, 1.6e4, 6.4e4], [sizes[d, n, k] for n in (4_000, 16_000, 64_000)]) for d in (3, 6) for k in (3, 4)
    ]
    grows = {k: median(math.log2(sizes[6, n, k] / sizes[3, n, k]) for n in (4_000, 16_000, 64_000)) for k in (3, 4)}
    said = (
        f"medians of ten networks, exponents of N from {min(falls):.2f} to {max(falls):.2f}; "
        f"from D = 3 to 6 the error of T_3 grows like D^{grows[3]:.1f}, "
        f"of T_4 like D^{grows[4]:.1f}, where D^1.5 and D^2 are allowed"
    )
    return Checked(min(falls) > -0.6 and max(falls) < -0.4 and all(g <= k / 2 for k, g in grows.items()), said)


def moment_errors(d: int, rows: int) -> dict[int, float]:
    """‖T_k - E T_k‖ / (E y²)^{1/2} for k = 3, 4, the median over networks of three units."""
    found: dict[int, list[float]] = {3: [], 4: []}
    for seed in range(10):
        f = BiasedRelu(D=d, m=3).draw(seed)
        x = Run.seeded(seed).normal(rows, d)
        y = f(x)
        moments = moment_estimates.estimate([(x, y)], found, control=PRINTED)
        for k, seen in moments.tensors.items():
            gap = (hermite.multiplicities(d, k) * (seen - f.moments(k)) ** 2).sum().sqrt()
            found[k].append(float(gap / y.square().mean().sqrt()))
    return {k: median(errors) for k, errors in found.items()}


@cache
def errors_of_coefficients() -> Mapping[float, float]:
    """Theorems 3.1 and 5.1: the median error of Algorithm 6 where every T_k is off by η in Frobenius norm."""
    return {level: median(error_at(level, seed) for seed in range(10)) for level in LEVELS}


def error_at(level: float, seed: int) -> float:
    """max_i ‖w − ŵ‖ + |a − â| + |b − b̂| of one network, D = m = 5."""
    task, method, run = BiasedRelu(D=5, m=5), HermiteJennrich(), Run.seeded(seed)
    f = task.draw(seed)
    tensors, noise = {}, {}
    for k in method.orders:
        off = run.normal(1, hermite.entries(5, k))[0] / hermite.multiplicities(5, k).sqrt()
        off = off * level / (hermite.multiplicities(5, k) @ off**2).sqrt()
        tensors[k], noise[k] = f.moments(k) + off, moment_estimates.spectral(off, 5, k, 1)
    moments = Moments(5, tensors, noise)
    found = method.network(moments, method.directions(moments, task.spec, run), task.spec, run)
    return relu_units.score(f, found)["parameter_error"]


@cache
def powers_of_all() -> Checked:
    """Theorem 3.4, first half: units no two of which are parallel, by tensors to order 2m + 2, that is l = m."""
    errors = [unsigned_error(m, seed) for m in (2, 3) for seed in range(10)]
    said = (
        f"{len(errors)} networks of two and of three units in the plane, errors but for signs up to {max(errors):.0e}"
    )
    return Checked(max(errors) < ROUNDING, said)


def unsigned_error(m: int, seed: int) -> float:
    """The error but for signs of m units in the plane from exact coefficients, l = m."""
    task, method, run = BiasedRelu(D=2, m=m, s_min=0.1), HermiteJennrich(order=m, moments="exact"), Run.seeded(seed)
    f = task.draw(seed)
    moments = Moments(2, {k: f.moments(k) for k in method.orders}, dict.fromkeys(method.orders, 0.0))
    found = method.network(moments, method.directions(moments, task.spec, run), task.spec, run)
    return relu_units.score(f, found)["parameter_error_unsigned"]


@cache
def robustness() -> Checked:
    """The error follows η; what is proved of Lemma 5.6 asks for η ~ ε⁴."""
    errors = errors_of_coefficients()
    exponent, factor = slope(errors, errors.values()), median(e / level for level, e in errors.items())
    target, bound = 1e-2, LEAST_B
    proved = target**4 / (2 * (1 + bound) ** 2)
    said = (
        f"the error is {factor:.0f} η in the median of ten networks and grows like η^{exponent:.2f} "
        f"from {LEVELS[0]:g} to {LEVELS[-1]:g}; for an error of {target:g} that is η = {target / factor:.0e}, "
        f"where Lemma 5.6 supposes {proved:.0e}"
    )
    return Checked(0.8 < exponent < 1.2, said)


@cache
def near_zero() -> Checked:
    """Lemmas 5.6 and 5.7: |z̃ - ξz| ≤ ε|z|/(B+1), at z = 0."""
    epsilon, bound = 0.1, LEAST_B
    allowed = epsilon**4 / (2 * (1 + bound) ** 2)
    at_zero = [
        (-1) ** j * float(h) / math.sqrt(2 * math.pi) for j, h in enumerate(hermite.polynomials(torch.zeros(()), 5))
    ]
    first = allowed / (at_zero[0] - allowed)  # z̃ = -γ_1 / γ_0, Lemma 5.7
    second = (1 + 4) * allowed / (at_zero[4] - allowed)  # z̃ = -(γ_5 + 4 γ_3) / γ_4, Lemma 5.6 for k = 2
    said = (
        f"at z = 0 an error of {allowed:.0e} in each γ moves z̃ by {first:.0e}, or {second:.0e} for k = 2, "
        f"where 0 is allowed and {epsilon:g} is meant"
    )
    return Checked(max(first, second) <= 0, said)
