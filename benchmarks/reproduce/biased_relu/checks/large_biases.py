"""Units of large |b|: how affine they are, the regression beside them as printed, and its m + 2 units.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §5.3, Algorithm 5 and Claim B.5.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.biased_relu.checks.checked import ROUNDING, Checked, density, line
from paramid import Network, Run
from paramid.methods.hermite.affine_part import consolidated
from paramid.tasks import relu_units
from paramid.tasks.biased_relu import BiasedRelu
from paramid.words import hermite

F64 = torch.float64
LARGE = BiasedRelu(D=8, m=7, biases="large")  # the case of Theorem 3.2: four units with small biases, three with large


@cache
def affine_units() -> Checked:
    """Lemma 5.9: E(z - σ(z))² = (1 + b²) Φ(-b) - b φ(b) for z ~ N(b, 1), beside b² exp(-b²/2)."""
    b = line(1, 7, 601)
    lost = (1 + b**2) * torch.special.ndtr(-b) - b * density(b)
    ratio = lost / (b**2 * torch.exp(-(b**2) / 2))
    told = (f"{v:g} is affine but for {float(lost[b.sub(v).abs().argmin()]) ** 0.5:.0e}" for v in (2, 4, 6))
    said = (
        f"a unit with b = {', '.join(told)} (root mean square); "
        f"the bound's constant is {float(ratio.max()):.3f} over 1 ≤ b ≤ 7"
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
        f"‖φ(x)‖ ≤ {told.longest:.0f} where τ = {told.threshold:,.0f}, "
        f"‖β‖ = {told.length:.1f} where {told.ball:.0f} is allowed; "
        f"projected gradient descent misses {falls} steps, least squares {told.exact:.0e}; "
        f"of the {told.features} features σ(±z), x, 1 {told.rank} are independent"
    )
    return Checked(told.longest < told.threshold and told.length < told.ball, said)


@cache
def energy_beyond(seed: int, degree: int) -> float:
    """Σ ‖T_k‖² / k! over k > degree of a network of `LARGE`: what no polynomial of that degree explains of E f²."""
    f = LARGE.draw(seed)
    cosines, a = f.weights[0].T @ f.weights[0], f.weights[1][:, 0]
    scaled = [a * c / math.sqrt(math.factorial(k)) for k, c in enumerate(hermite.coefficients("relu", 60, f.biases[0]))]
    return sum(float(s @ cosines**k @ s) for k, s in enumerate(scaled) if k > degree)
