"""Algorithm 5 in its own features: what bounds what, and units that are off.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Lemma 5.8, Algorithm 5.
"""

import math
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.biased_relu.checks.checked import F64, ROUNDING, Checked, bound
from benchmarks.reproduce.biased_relu.checks.large_biases import LARGE
from benchmarks.reproduce.pages import slope
from paramid import Network, Run
from paramid.tasks import relu_units
from paramid.tasks.biased_relu import BiasedRelu

EIGHT = tuple(product((1, -1), repeat=3))  # signs of w, b and a
TWO = ((1, 1, 1), (-1, -1, 1))  # those of w and b agree and that of a is known


def shown(f: Network) -> tuple[Tensor, Tensor, Tensor]:
    """w, b and a of the units that bend on samples."""
    kept = f.biases[0].abs() <= relu_units.HIDDEN
    return f.weights[0][:, kept], f.biases[0][kept], f.weights[1][kept, 0]


def features(x: Tensor, w: Tensor, b: Tensor, a: Tensor, signs: Iterable[tuple[int, int, int]]) -> Tensor:
    """φ(x) = (Z(x), x, 1): ξ_3 a σ(ξ_1 ⟨w, x⟩ + ξ_2 b) for all units and signs."""
    units = [k * a * torch.relu(i * (x @ w) + j * b) for i, j, k in signs]
    return torch.cat([*units, x, torch.ones(len(x), 1, dtype=F64)], dim=1)


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
    w, b, a = shown(f)
    x = run.normal(rows, LARGE.D)
    y = f(x)[:, 0]
    m, d, s, most = LARGE.m, LARGE.D, len(b), bound(LARGE)
    phi, two = features(x, w, b, a, EIGHT), features(x, w, b, a, TWO)
    gram, right = phi.T @ phi / rows, phi.T @ y / rows
    ball = math.sqrt(8 * s) + m * (1 + most)
    beta = torch.linalg.pinv(gram, hermitian=True, rtol=1e-12) @ right
    return Regression(
        features=two.shape[1],
        rank=int(torch.linalg.matrix_rank(two)),
        threshold=20 * m * (8 * s + d) * most * math.sqrt(math.log(m * d * most * s / epsilon)),
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
        f"‖φ(x)‖ ≤ {told.longest:.0f} where τ = {told.threshold:,.0f}, "
        f"‖β‖ = {told.length:.1f} where {told.ball:.0f} is allowed; "
        f"projected gradient descent misses {falls} steps, least squares {told.exact:.0e}; "
        f"of the {told.features} features σ(±z), x, 1 {told.rank} are independent"
    )
    unbound = told.longest < told.threshold and told.length < told.ball
    return Checked(unbound and min(told.descent.values()) < ROUNDING, f"of exact units {said}")


OFF = (1e-4, 1e-3, 1e-2)
CASES = (LARGE, BiasedRelu(D=4, m=5, biases="large"), BiasedRelu(D=16, m=12, biases="large"), BiasedRelu(D=8, m=7))


@cache
def units_that_are_off() -> Checked:
    """Lemma 5.8: units told within η, by eight features each but for three signs, by two but for one."""
    eight, two = left_by(EIGHT), left_by(TWO)
    values = {"D": {t.D for t in CASES}, "m": {t.m for t in CASES}, "B": {bound(t) for t in CASES}}
    cases = "; ".join(f"{name} = {', '.join(f'{v:g}' for v in sorted(each))}" for name, each in values.items())
    said = (
        f"w, b and a of the units are off by η ({cases}): medians of five networks are "
        f"{eight.low:.1f} to {eight.high:.1f} η by eight features a unit, whatever its signs, at most "
        f"{eight.share:.2g} of η m D B, like η^{eight.exponent:.2f} from {OFF[0]:g} to {OFF[-1]:g}; "
        f"by two, where w and b share a sign, {two.low:.1f} to {two.high:.1f} η"
    )
    return Checked(all(left.exponent > 0.8 and left.share < 1 for left in (eight, two)), said)


class Left(NamedTuple):
    """What is left over η, its least exponent over the cases, and the largest share of η m D B."""

    low: float
    high: float
    exponent: float
    share: float


def left_by(signs: tuple[tuple[int, int, int], ...]) -> Left:
    """Of medians over five networks of each case."""
    missed = {
        task: {eta: median(missed_at(task, eta, seed, signs) for seed in range(5)) for eta in OFF} for task in CASES
    }
    factors = {task: max(e / eta for eta, e in each.items()) for task, each in missed.items()}
    return Left(
        low=min(factors.values()),
        high=max(factors.values()),
        exponent=min(slope(each, each.values()) for each in missed.values()),
        share=max(f / (task.m * task.D * bound(task)) for task, f in factors.items()),
    )


def missed_at(task: BiasedRelu, eta: float, seed: int, signs: tuple[tuple[int, int, int], ...]) -> float:
    """The root mean square that least squares on such features misses of one network."""
    f, run = task.draw(seed), Run.seeded(seed)
    w, b, a = shown(f)
    turned = torch.where(run.normal(1, len(b))[0] > 0, 1.0, -1.0).to(F64)
    w = w + eta * run.sphere(len(b), task.D).T
    b, a = (t + eta * torch.sign(run.normal(1, len(b))[0]) for t in (b, a))
    other = turned if signs == TWO else torch.where(run.normal(1, len(b))[0] > 0, 1.0, -1.0).to(F64)
    told = turned * w / w.norm(dim=0), other * b, a
    x = run.normal(4_000, task.D)
    beta = torch.linalg.lstsq(features(x, *told, signs), f(x), driver="gelsd").solution
    x = run.normal(4_000, task.D)
    return float((features(x, *told, signs) @ beta - f(x)).square().mean().sqrt())
