"""Signs of units: which networks of other signs are equal, and how surely T_1 tells them.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Theorems 3.4 and 4.2, Algorithm 3, Claim 4.8.
"""

import math
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.biased_relu.checks.checked import ROUNDING, Checked
from benchmarks.reproduce.biased_relu.checks.column_powers import unit_columns
from paramid import Network, Run
from paramid.methods.hermite import relu_scalars
from paramid.tasks.biased_relu import BiasedRelu

F64 = torch.float64


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


def misleading_triple() -> Pair:
    """Σ a w = 0 and Σ a b (2Φ(b) - 1) = 0: turning all three units keeps both sides of (5) as printed."""
    h = math.sqrt(0.5)
    w = torch.tensor([[1.0, 0.0, h], [0.0, 1.0, h]], dtype=F64)
    low, high = 0.0, 3.0
    while high - low > 1e-15:  # b (2Φ(b) - 1) rises for b > 0
        third = (low + high) / 2
        low, high = (third, high) if even(third) < (even(0.7) + even(-0.3)) * h else (low, third)
    b = torch.tensor([0.7, -0.3, third], dtype=F64)
    return turned_pair(w, b, torch.tensor([1.0, 1.0, -math.sqrt(2)], dtype=F64))


def even(b: float) -> float:
    """B (2Φ(b) - 1)."""
    return b * math.erf(b * math.sqrt(0.5))


class Sides(NamedTuple):
    """Both sides of the two conditions (5), all units turned: how far those of the first are apart, and the second."""

    first: float
    left: float
    right: float


def sides(network: Network) -> Sides:
    """(5) as printed with ξ_i = -1 for all i."""
    w, b, a = network.weights[0], network.biases[0], network.weights[1][:, 0]
    on, off = torch.special.ndtr(b), torch.special.ndtr(-b)
    first = float((w @ (a * off) + w @ (a * on)).norm())
    return Sides(first, float((a * b * off).sum()), float((a * b * on).sum()))


@cache
def equal_functions() -> Checked:
    """(5): networks that satisfy it as printed and differ, and equal ones that do not, where ξ_i mends it."""
    differ, equal = misleading_triple(), dependent_triple()
    kept, broken = sides(differ.one), sides(equal.one)
    said = (
        f"two networks that satisfy it within {max(kept.first, abs(kept.left - kept.right)):.0e} differ by "
        f"{differ.gap:.2f}, and two that differ by {equal.gap:.0e} have {broken.left:+.4f} and {broken.right:+.4f} on "
        f"the sides of its second condition; with ξ_i on the left it is {-broken.left:+.4f}"
    )
    satisfied = max(kept.first, abs(kept.left - kept.right)) < ROUNDING
    return Checked(not (satisfied and differ.gap > ROUNDING), said)


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
def signs_left_open() -> Checked:
    """Theorem 4.2, second half: least squares on the 2m features a σ(±z) of units whose signs are unknown."""
    run, missed = Run.seeded(0), []
    for seed in range(5):
        f = BiasedRelu(D=4, m=8, s_min=0.1).draw(seed)
        signs = torch.where(run.normal(1, 8)[0] > 0, 1.0, -1.0).to(F64)
        x, fresh = run.normal(2_000, 4), run.normal(2_000, 4)
        phi, again = (mirrored_features(rows, f, signs) for rows in (x, fresh))
        beta = torch.linalg.lstsq(phi, f(x), driver="gelsd").solution
        missed.append(float((again @ beta - f(fresh)).square().mean().sqrt()))
    said = (
        f"five networks of eight units in four dimensions are missed by {max(missed):.0e}; means over 2,000 samples "
        "stand for the exact queries"
    )
    return Checked(max(missed) < ROUNDING, said)


def mirrored_features(x: Tensor, f: Network, signs: Tensor) -> Tensor:
    """A σ(ξ(⟨w, x⟩ + b)) and a σ(-ξ(⟨w, x⟩ + b)) of all units."""
    z, a = signs * (x @ f.weights[0] + f.biases[0]), f.weights[1][:, 0]
    return torch.cat([a * torch.relu(z), a * torch.relu(-z)], dim=1)


SIGNED = 100  # networks


@cache
def sign_margins() -> Checked:
    """Algorithm 3 on exact parameters, how far z_i is from 0, and signs missed where they are off by 0.01."""
    told = [f"{float(torch.special.ndtr(torch.tensor(-b, dtype=F64))):.4f} at |b| = {b:g}" for b in (1.5, 2.5, 3.5)]
    missed = {rule: signs_missed(rule, 0.01) for rule in relu_scalars.RULES}
    units, exact = 8 * SIGNED, signs_missed("printed", 0.0)
    said = (
        f"{exact} of {units} signs are missed where parameters are exact; its margin is {', '.join(told)}, "
        "that of the midpoint rule ½: where parameters are off by 0.01 and |b| ≤ 3.5 "
        f"they miss {missed['printed']} and {missed['midpoint']}"
    )
    return Checked(exact == 0, said)


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


WIDTHS = (2, 4, 8, 16)
THRESHOLD, EDGE = 2.5, 0.1  # c, and ε m D B


@cache
def printed_margin() -> Checked:
    """Proof of Theorem 3.1: 4 ε_0 B² m / s_m ≤ Φ(-t) ≤ min|z*| / 2, t = c √log(1/(ε m D B)), where ε_0 is as printed.

    At the edge of G, |b| = t, the least |z*| is Φ(-t).
    """
    margin, bounded, s_m = float(tail(THRESHOLD, torch.tensor(EDGE, dtype=F64))), 2.0, 0.25
    printed = {m: min(margin, EDGE / (m * m * bounded)) * s_m / (8 * math.sqrt(m) * bounded**2) for m in WIDTHS}
    mended = {m: value / math.sqrt(m) for m, value in printed.items()}
    left, right = ({m: 4 * e * bounded**2 * m / s_m / margin for m, e in each.items()} for each in (printed, mended))
    rows = ", ".join(f"{value:.2f} Φ for m = {m}" for m, value in left.items())
    said = (
        f"with the ε_0 that is printed the left side is {rows} (D = m, c = {THRESHOLD:g}, ε m D B = {EDGE:g}), "
        "and at the edge of G the right side is Φ/2; "
        f"with m for √m in ε_0 the left side is at most {max(right.values()):.2f} Φ"
    )
    return Checked(max(left.values()) <= 1 / 2, said)


def tail(c: float, u: Tensor) -> Tensor:
    """Φ(-c √log(1/u))."""
    return torch.special.erfc(c * torch.sqrt(-torch.log(u) / 2)) / 2


AT_LEAST = 0.1  # a constant above is one


@cache
def tail_bound() -> Checked:
    """Proof of Theorem 3.1: Φ(-c √log(1/u)) ≥ Ω(u^{c²/2} min{1, u}), u = ε m D B."""
    u = torch.logspace(-12, -1e-6, 20_001, dtype=F64)
    least = {c: float((tail(c, u) / (u ** (c * c / 2) * u)).min()) for c in (1.0, 2.5, 4.0)}
    rows = ", ".join(f"{value:.2g} at c = {c:g}" for c, value in least.items())
    return Checked(min(least.values()) > AT_LEAST, f"the constant is {rows}")
