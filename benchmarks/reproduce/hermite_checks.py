"""What the paper on biased ReLUs asserts with a number, computed: one small function a statement, with a fixed seed.

Every function returns whether the statement holds as printed, and a sentence with the numbers that say so; together
they take about half a minute. With He_k the probabilists' polynomials, φ and Φ the normal density and its integral,

    (1)  f(x) = Σ_i a_i σ(⟨w_i, x⟩ + b_i),   T_k = E[f He_k] = Σ_i a_i c_k(b_i) w_i^{⊗k},
    (2)  c_k(b) = (-1)^k He_{k-2}(b) φ(b) for k ≥ 2,   c_1 = Φ(b),   c_0 = b Φ(b) + φ(b).

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209.
"""

import math
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks.reproduce.pages import slope
from paramid import Network, Run
from paramid.methods import cp_als
from paramid.methods.hermite import moment_estimates, relu_scalars
from paramid.methods.hermite.affine_part import consolidated
from paramid.methods.hermite.jennrich import expand
from paramid.methods.hermite.moment_estimates import PRINTED, Moments
from paramid.methods.hermite_jennrich import HermiteJennrich
from paramid.methods.relu_regression import regressed
from paramid.tasks import relu_units
from paramid.tasks.biased_relu import BiasedRelu, least_singular_value
from paramid.words import hermite, random_streams

F64 = torch.float64
ROUNDING = 1e-9  # what is called zero


class Checked(NamedTuple):
    """Whether a statement holds as printed, and the numbers."""

    holds: bool
    said: str


def line(low: float, high: float, count: int) -> Tensor:
    """So many numbers from low to high."""
    return torch.linspace(low, high, count, device="cpu", dtype=F64)


def density(b: Tensor) -> Tensor:
    """φ(b)."""
    return torch.exp(-b * b / 2) / math.sqrt(2 * math.pi)


def unit_columns(d: int, m: int, run: Run) -> Tensor:
    """Columns uniform on the sphere, (d, m)."""
    return run.sphere(m, d).T.contiguous()


# Section 3: coefficients and risk


@cache
def closed_forms() -> Checked:
    """Lemma 3.5 by quadrature over the half line where the unit is on."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    worst = 0.0
    for b in line(-3, 3, 25).tolist():
        z = torch.as_tensor((14 + b) / 2 * nodes + (14 - b) / 2, dtype=F64)
        share = torch.as_tensor((14 + b) / 2 * weights, dtype=F64) * density(z) * (z + b)
        told = hermite.coefficients("relu", 8, torch.tensor([b], dtype=F64))
        for k, polynomial in enumerate(hermite.polynomials(z, 8)):
            worst = max(worst, float((share @ polynomial - told[k]).abs()) / math.sqrt(math.factorial(k)))
    return Checked(worst < ROUNDING, f"T_0 … T_8 of a unit with |b| ≤ 3 differ from a quadrature by {worst:.0e} √k!")


@cache
def risk_expansion(orders: int = 150, rows: int = 400_000) -> Checked:
    """Proposition 3.6: Σ ‖T_k(f̃) - T_k(f)‖² / k! beside E(f̃ - f)² on fresh inputs."""
    task = BiasedRelu(D=4, m=3)
    f, g = task.draw(0), task.draw(1)
    w = torch.cat([f.weights[0], g.weights[0]], dim=1)
    b = torch.cat([f.biases[0], g.biases[0]])
    a = torch.cat([f.weights[1][:, 0], -g.weights[1][:, 0]])
    cosines, terms = w.T @ w, []
    for k, c in enumerate(hermite.coefficients("relu", orders, b)):
        scaled = a * c / math.sqrt(math.factorial(k))
        terms.append(float(scaled @ cosines**k @ scaled))
    total = sum(terms)
    x = Run.seeded(0).normal(rows, 4)
    squares = (f(x) - g(x)).square()
    mean, error = float(squares.mean()), float(squares.std()) / math.sqrt(rows)
    said = f"{orders} orders sum up to {total:.4f}, {rows:,} inputs give {mean:.4f} ± {error:.4f}"
    return Checked(abs(total - mean) < 3 * error + 1e-3 * mean, said)


@cache
def without_biases() -> Checked:
    """(8), (9) and the coefficients of σ itself: c_k(0) = (-1)^{(k-2)/2} (k-3)!! / √(2π) for even k."""
    told = [float(c) for c in hermite.coefficients("relu", 12, torch.zeros(1, dtype=F64))]
    odd = {k: math.prod(range(k - 3, 0, -2)) for k in range(2, 13, 2)}
    printed = {k: (-1) ** ((k - 2) // 2) * odd[k] / math.sqrt(2 * math.pi) if k in odd else 0.0 for k in range(2, 13)}
    printed |= {0: 1 / math.sqrt(2 * math.pi), 1: 0.5}
    worst = max(abs(told[k] - value) / math.sqrt(math.factorial(k)) for k, value in printed.items())
    omitted = f"T_4 = {told[4]:.3f} Σ a_i w_i^⊗4, a factor that §1 omits"
    said = f"at b = 0 they agree to order 12 within {worst:.0e} √k!; {omitted}"
    return Checked(worst < ROUNDING, said)


# Section 4: exact coefficients


@cache
def separation() -> Checked:
    """Lemma 4.3: max(|He_k|, |He_{k+1}|) ≥ √(k!/2) everywhere."""
    t = line(-6, 6, 1_200_001)
    sizes = [h.abs() for h in hermite.polynomials(t, 7)]
    least = {k: float(torch.maximum(sizes[k], sizes[k + 1]).min()) for k in range(1, 6)}
    short = [k for k, value in least.items() if value < math.sqrt(math.factorial(k) / 2)]
    proved = [k for k, value in least.items() if k > 1 and value < math.sqrt(math.factorial(k - 1) / 2)]
    rows = ", ".join(f"{v:.3f} for {math.sqrt(math.factorial(k) / 2):.3f} (k = {k})" for k, v in least.items())
    weaker = "holds" if not proved else f"fails for k = {proved}"
    said = f"the least value is {rows}; false for {len(short)} of these {len(least)}; √((k−1)!/2) for k ≥ 2 {weaker}"
    return Checked(not short, said)


@cache
def turan() -> Checked:
    """(10): He_{k+1}² - He_k He_{k+2} = k! Σ_{i≤k} He_i² / i!."""
    he = hermite.polynomials(line(-6, 6, 10_001), 9)
    worst = 0.0
    for k in range(8):
        right = math.factorial(k) * sum(he[i] ** 2 / math.factorial(i) for i in range(k + 1))
        worst = max(worst, float(((he[k + 1] ** 2 - he[k] * he[k + 2] - right) / right).abs().max()))
    return Checked(worst < ROUNDING, f"both sides differ by {worst:.0e} of their size, k ≤ 7")


class Scalars(NamedTuple):
    """The largest errors of b and a on exact coefficients, and |b| where that of b is."""

    bias: float
    outer: float
    at: float


def scalar_errors(order: int, *, printed: bool) -> Scalars:
    """Algorithm 2 at |b| ≤ 1.5, |a| = 1, with the order of the tensor as printed or the polynomial's index."""
    b = line(-1.5, 1.5, 300_001)
    zeta = {j: (-1) ** j * h * density(b) for j, h in enumerate(hermite.polynomials(b, order + 1), 2)}
    found_b, found_a = torch.empty_like(b), torch.empty_like(b)
    higher = zeta[order + 2].abs() > zeta[order + 1].abs()
    for p, where in ((order + 1, ~higher), (order + 2, higher)):
        q = p if printed else p - 2
        bias = -(zeta[p + 1] + q * zeta[p - 1]) / zeta[p]
        outer = (-1) ** p * math.sqrt(2 * math.pi) * zeta[p] * torch.exp(bias**2 / 2)
        outer = outer / hermite.polynomials(bias, q)[q]
        found_b[where], found_a[where] = bias[where], outer[where]
    off = (found_b - b).abs()
    typical = float((found_a - 1).abs().median())
    return Scalars(float(off.max()), typical, float(b[off.argmax()].abs()))


@cache
def four_values() -> Checked:
    """Lemma 4.5, (12): z and β from γ_k … γ_{k+3}, γ_j = (-1)^j ξ^j β He_j(z), k ≥ 2."""
    z, worst = line(-4, 4, 80_001), 0.0
    for sign in (1, -1):
        gamma = [(-sign) ** j * h for j, h in enumerate(hermite.polynomials(z, 8))]
        for k in (2, 3, 4, 5):
            higher = gamma[k + 2].abs() > gamma[k + 1].abs()
            for q, where in ((k + 1, ~higher), (k + 2, higher)):
                found = -(gamma[q + 1] + q * gamma[q - 1]) / gamma[q]
                beta = (-1) ** q * gamma[q] / hermite.polynomials(found, q)[q]
                worst = max(worst, *(float(off[where].abs().max()) for off in (found - sign * z, beta - 1)))
    return Checked(worst < ROUNDING, f"z and β are right within {worst:.0e}, |z| ≤ 4 and k ≤ 5")


@cache
def printed_scalars() -> Checked:
    """Algorithm 2 for l ≥ 2, as printed and with the index put right."""
    wrong, right = ({k: scalar_errors(k, printed=p) for k in (2, 3)} for p in (True, False))
    told = (f"b is wrong by up to {w.bias:.2f} (at |b| = {w.at:.3f}), a by {w.outer:.2f} in the median, for l = {k}"
            for k, w in wrong.items())  # fmt: skip
    best = max(max(r.bias, r.outer) for r in right.values())
    return Checked(max(w.bias for w in wrong.values()) < ROUNDING, f"{'; '.join(told)}; put right both are {best:.0e}")


class Pair(NamedTuple):
    """Two networks of other signs, and how far apart their values are."""

    one: Network
    other: Network
    gap: float


def turned_pair(w: Tensor, b: Tensor, a: Tensor) -> Pair:
    """A network and the one with every unit turned."""
    one, other = Network.shallow(w, b, "relu", a), Network.shallow(-w, -b, "relu", a)
    x = Run.seeded(0).normal(10_000, len(w))
    return Pair(one, other, float((one(x) - other(x)).abs().max()))


def dependent_triple() -> Pair:
    """Σ a w = 0 and Σ a b = 0 over three units in the plane: turning all of them changes nothing."""
    h = math.sqrt(0.5)
    w = torch.tensor([[1.0, 0.0, -h], [0.0, 1.0, -h]], dtype=F64)
    b = torch.tensor([0.7, -0.3, -0.4 * h], dtype=F64)
    return turned_pair(w, b, torch.tensor([1.0, 1.0, math.sqrt(2)], dtype=F64))


@cache
def equal_functions() -> Checked:
    """(5): its second condition as printed, and with the sign that is missing there, on equal networks."""
    pair = dependent_triple()
    a, b, turned = pair.one.weights[1][:, 0], pair.one.biases[0], torch.special.ndtr(-pair.one.biases[0])
    right = float((a * b * torch.special.ndtr(b)).sum())
    printed, mended = float((a * b * turned).sum()), float((-a * b * turned).sum())
    said = (
        f"two networks that differ by {pair.gap:.0e} have {printed:+.4f} and {right:+.4f} on its sides; with ξ_i on the"
        f" left {mended:+.4f}"
    )
    return Checked(abs(printed - right) < ROUNDING, said)


@cache
def dependent_columns() -> Checked:
    """Claim 4.8: with b = 0 and Σ β_i w_i = 0, a = β, turning every unit changes nothing."""
    gaps = []
    for seed in range(10):
        w = unit_columns(4, 5, Run.seeded(seed))
        a = torch.linalg.svd(w)[2][-1]
        gaps.append(turned_pair(w, torch.zeros(5, dtype=F64), a).gap)
    return Checked(max(gaps) < ROUNDING, f"ten networks of five units in four dimensions differ by {max(gaps):.0e}")


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


@cache
def bounded_polynomials() -> Checked:
    """Claim B.4: |He_k(x)| exp(-x²/2) ≤ √k!."""
    x = line(-8, 8, 160_001)
    sizes = [
        float((h.abs() * torch.exp(-x * x / 2)).max()) / math.sqrt(math.factorial(k))
        for k, h in enumerate(hermite.polynomials(x, 20))
    ]
    return Checked(max(sizes) <= 1 + 1e-12, f"at most {max(sizes):.3f} of the bound (k = {sizes.index(max(sizes))})")


# Section 5: errors


ROWS = (4_000, 16_000, 64_000)


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
        f"exponents of N from {min(falls):.2f} to {max(falls):.2f}; from D = 3 to 6 the error of T_3 grows like"
        f" D^{grows[3]:.1f}, of T_4 like D^{grows[4]:.1f}, where D^1.5 and D^2 are allowed"
    )
    return Checked(min(falls) > -0.6 and max(falls) < -0.4, said)


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


LEVELS = (1e-6, 1e-5, 1e-4, 1e-3)


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
def robustness() -> Checked:
    """The error follows η; what is proved of Lemma 5.6 asks for η ~ ε⁴."""
    errors = errors_of_coefficients()
    exponent, factor = slope(errors, errors.values()), median(e / level for level, e in errors.items())
    target, bound = 1e-2, 1.5
    proved = target**4 / (2 * (1 + bound) ** 2)
    said = (
        f"the error is {factor:.0f} η in the median of ten networks and grows like η^{exponent:.2f} from {LEVELS[0]:g}"
        f" to {LEVELS[-1]:g}; for an error of {target:g} that is η = {target / factor:.0e}, where Lemma 5.6 supposes"
        f" {proved:.0e}"
    )
    return Checked(0.8 < exponent < 1.2, said)


@cache
def near_zero() -> Checked:
    """Lemmas 5.6 and 5.7: |z̃ - ξz| ≤ ε|z|/(B+1), at z = 0."""
    epsilon, bound = 0.1, 1.5
    allowed = epsilon**4 / (2 * (1 + bound) ** 2)
    zeta_2, zeta_3 = 1 / math.sqrt(2 * math.pi) - allowed, allowed
    off = abs(zeta_3 / zeta_2)
    said = f"at z = 0 an error of {allowed:.0e} in γ moves z̃ by {off:.0e}, where 0 is allowed and {epsilon:g} is meant"
    return Checked(off <= 0, said)


@cache
def sign_margins() -> Checked:
    """Algorithm 3 on exact parameters, how far z_i is from 0, and signs missed where they are off by 0.01."""
    told = [f"{float(torch.special.ndtr(torch.tensor(-b, dtype=F64))):.4f} at |b| = {b:g}" for b in (1.5, 2.5, 3.5)]
    missed = {rule: signs_missed(rule, 0.01) for rule in relu_scalars.RULES}
    units, exact = 8 * SIGNED, signs_missed("printed", 0.0)
    said = (
        f"{exact} of {units} signs are missed where parameters are exact; its margin is {', '.join(told)}, that of the"
        f" midpoint rule ½: where parameters are off by 0.01 and |b| ≤ 3.5 they miss {missed['printed']} and"
        f" {missed['midpoint']}"
    )
    return Checked(exact == 0, said)


SIGNED = 100  # networks


def signs_missed(rule: str, off: float) -> int:
    """Signs that `rule` tells wrongly of networks with D = m = 8 whose parameters are off by so much."""
    wrong = 0
    for seed in range(SIGNED):
        f, run = BiasedRelu(D=8, m=8, s_min=0.1, bias=3.5).draw(seed), Run.seeded(seed)
        w = f.weights[0] + off * run.sphere(8, 8).T
        b, a = (t + off * run.normal(1, 8)[0] for t in (f.biases[0], f.weights[1][:, 0]))
        signs = torch.where(run.normal(1, 8)[0] > 0, 1.0, -1.0).to(F64)
        told = relu_scalars.fix_signs(f.moments(1), signs * w / w.norm(dim=0), signs * b, a, rule=rule)
        wrong += int((told != signs).sum())
    return wrong


# Section 5.3: functions


@cache
def affine_units() -> Checked:
    """Lemma 5.9: E(z - σ(z))² = (1 + b²) Φ(-b) - b φ(b) for z ~ N(b, 1), beside b² exp(-b²/2)."""
    b = line(1, 7, 601)
    lost = (1 + b**2) * torch.special.ndtr(-b) - b * density(b)
    ratio = lost / (b**2 * torch.exp(-(b**2) / 2))
    told = (f"{v:g} is affine but for {float(lost[b.sub(v).abs().argmin()]) ** 0.5:.0e}" for v in (2, 4, 6))
    said = (
        f"a unit with b = {', '.join(told)} (root mean square); the bound's constant is {float(ratio.max()):.3f} over"
        " 1 ≤ b ≤ 7"
    )
    return Checked(float(ratio.max()) < 1, said)


@cache
def two_more_units() -> Checked:
    """Claim B.5: units and their mirror images and an affine part as m + 2 units."""
    run = Run.seeded(0)
    units = BiasedRelu(D=5, m=4).draw(0)
    w, b, a = units.weights[0], units.biases[0], units.weights[1][:, 0]
    mirrored, (v, c) = run.normal(1, 4)[0], run.normal(1, 6)[0].split((5, 1))
    x = run.normal(10_000, 5)
    g = units(x) + Network.shallow(-w, -b, "relu", mirrored)(x) + x @ v[:, None] + c
    kept = Network.shallow(w, b, "relu", a + mirrored)
    whole = consolidated(kept, v - w @ mirrored, c - b @ mirrored)
    gap = float((whole(x) - g).abs().max())
    return Checked(gap < ROUNDING, f"{2 * 4} units and an affine part are {whole.widths[0]} units, but for {gap:.0e}")


LARGE = BiasedRelu(D=8, m=7, biases="large")  # the case of Theorem 3.2: four units with small biases, three with large


class Regression(NamedTuple):
    """Algorithm 5's last step in its own features: what bounds what."""

    features: int
    rank: int
    threshold: float  # τ
    longest: float  # ‖φ(x)‖ of any sample
    ball: float
    length: float  # ‖β‖ of least squares
    exact: float  # what it misses
    descent: Mapping[int, float]  # steps -> what projected gradient descent misses


@cache
def printed_regression(rows: int = 100_000, epsilon: float = 1e-2) -> Regression:
    """Steps 3 and 4 as printed, on the units with small biases, told exactly but for their signs."""
    f, run = LARGE.draw(0), Run.seeded(0)
    shown = f.biases[0].abs() <= relu_units.HIDDEN
    w, b, a = f.weights[0][:, shown], f.biases[0][shown], f.weights[1][shown, 0]
    x = run.normal(rows, LARGE.D)
    y = f(x)[:, 0]
    z, m, d, s, bound = x @ w, LARGE.m, LARGE.D, int(shown.sum()), float(f.biases[0].abs().max())
    eight = [i * a * torch.relu(j * z + k * b) for i in (1, -1) for j in (1, -1) for k in (1, -1)]
    phi = torch.cat([*eight, x, torch.ones(rows, 1, dtype=F64)], dim=1)
    two = torch.cat([a * torch.relu(z + b), a * torch.relu(-z - b), phi[:, 8 * s :]], dim=1)
    gram, right = phi.T @ phi / rows, phi.T @ y / rows
    ball = math.sqrt(8 * s) + m * (1 + bound)
    beta = torch.linalg.pinv(gram, hermitian=True, rtol=1e-12) @ right
    return Regression(
        features=two.shape[1],
        rank=int(torch.linalg.matrix_rank(two)),
        threshold=20 * m * (8 * s + d) * bound * math.sqrt(math.log(m * d * bound * s / epsilon)),
        longest=float(phi.norm(dim=1).max()),
        ball=ball,
        length=float(beta.norm()),
        exact=float((y - phi @ beta).square().mean().sqrt()),
        descent=descended(phi, y, ball, (10, 1_000, 100_000)),
    )


def descended(phi: Tensor, y: Tensor, ball: float, steps: tuple[int, ...]) -> dict[int, float]:
    """The root mean square left by projected gradient descent after so many steps of the inverse of the curvature."""
    gram, right = phi.T @ phi / len(y), phi.T @ y / len(y)
    beta, rate, left = torch.zeros_like(right), 1 / float(torch.linalg.matrix_norm(gram, 2)), {}
    for step in range(1, max(steps) + 1):
        beta = beta + rate * (right - gram @ beta)
        if (size := float(beta.norm())) > ball:
            beta = beta * ball / size
        if step in steps:
            left[step] = float((y - phi @ beta).square().mean().sqrt())
    return left


@cache
def dropped_steps() -> Checked:
    """Truncation, ball and descent of Algorithm 5, which least squares does without."""
    told = printed_regression()
    falls = ", ".join(f"{missed:.0e} after {step:,}" for step, missed in told.descent.items())
    said = (
        f"‖φ(x)‖ ≤ {told.longest:.0f} where τ = {told.threshold:,.0f}, ‖β‖ = {told.length:.1f} where {told.ball:.0f} is"
        f" allowed; projected gradient descent misses {falls} steps, least squares {told.exact:.0e}; of the"
        f" {told.features} features σ(±z), x, 1 {told.rank} are independent"
    )
    return Checked(told.longest < told.threshold and told.length < told.ball, said)


@cache
def signs_left_open() -> Checked:
    """Theorem 4.2, second half: units whose signs are unknown, regressed on, miss nothing."""
    run, missed = Run.seeded(0), []
    for seed in range(5):
        f = BiasedRelu(D=4, m=8, s_min=0.1).draw(seed)
        signs = torch.where(run.normal(1, 8)[0] > 0, 1.0, -1.0).to(F64)
        x = run.normal(2_000, 4)
        units, v, c = regressed(
            [(x, f(x))], relu_scalars.turned(f.weights[0], f.biases[0], f.weights[1][:, 0], signs), affine=True
        )
        x = run.normal(2_000, 4)
        missed.append(float((units(x) + x @ v[:, None] + c - f(x)).square().mean().sqrt()))
    return Checked(
        max(missed) < ROUNDING, f"five networks of eight units in four dimensions are missed by {max(missed):.0e}"
    )


# Section 6: smoothed analysis


class Smoothed(NamedTuple):
    """Median of s_m(Ŵ^{⊙l}) over draws by τ, its exponent, and the constant of the bound."""

    sizes: Mapping[float, float]
    exponent: float
    constant: float


TAUS = (0.4, 0.2, 0.1, 0.05)
DRAWS = 100
CASES = {1: (5, 4), 2: (4, 9), 3: (3, 9)}  # l -> D, m, with m ≤ 0.99 C(D+l-1, l)


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
    """Corollary 3.3: s_m ≥ c_l (τ/D)^l / √m."""
    told = {k: smoothed(k) for k in CASES}
    said = "; ".join(
        f"l = {k}, D = {CASES[k][0]}, m = {CASES[k][1]}: the median s_m falls like τ^{s.exponent:.2f}, and all {DRAWS}"
        f" draws are above the bound with c_l = {s.constant:.2g}"
        for k, s in told.items()
    )
    return Checked(all(abs(s.exponent - k) < 0.25 for k, s in told.items()), said)


# Baselines


class Starts(NamedTuple):
    """How many single starts of alternating least squares ended above SOLVED after so many rounds, of how many."""

    ended: Mapping[int, int]
    of: int


@cache
def alternating_starts(networks: int = 3, starts: int = 3) -> Starts:
    """Exact T_3 and T_4 at D = m = 5, every start by itself: whether more rounds would have helped."""
    ended = dict.fromkeys((300, 900), 0)
    for seed in range(networks):
        f = BiasedRelu(D=5, m=5).draw(seed)
        for k in (3, 4):
            tensor, run = hermite.unfold(f.moments(k), 5, k), Run.seeded(seed)
            for _ in range(starts):
                start = [run.normal(5, 5) for _ in range(k)]
                for rounds in ended:
                    columns = cp_als.alternate(tensor / tensor.norm(), start, rounds, 1e-12)
                    left = math.inf if columns is None else expand(columns, f.moments(k), k).residual
                    ended[rounds] += left > 1e-6 * float(tensor.norm())
    return Starts(ended, 2 * networks * starts)


@cache
def energy_beyond(seed: int, degree: int) -> float:
    """Σ ‖T_k‖² / k! over k > degree of a network of `LARGE`: what no polynomial of that degree explains of E f²."""
    f = LARGE.draw(seed)
    cosines, a = f.weights[0].T @ f.weights[0], f.weights[1][:, 0]
    scaled = [a * c / math.sqrt(math.factorial(k)) for k, c in enumerate(hermite.coefficients("relu", 60, f.biases[0]))]
    return sum(float(s @ cosines**k @ s) for k, s in enumerate(scaled) if k > degree)
