"""Units of large |b|: how affine they are.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §3 and §5.3.
"""

import math
from functools import cache

import torch
from torch import Tensor

from benchmarks.reproduce.biased_relu.checks.checked import Checked, density, line
from paramid.tasks.biased_relu import BiasedRelu
from paramid.words import hermite

F64 = torch.float64
LARGE = BiasedRelu(D=8, m=7, biases="large")  # the case of Theorem 3.2: four units with small biases, three with large


def lost(b: Tensor) -> Tensor:
    """E(z - σ(z))² = (1 + b²) Φ(-b) - b φ(b) for z ~ N(b, 1)."""
    return (1 + b**2) * torch.special.erfc(b * math.sqrt(0.5)) / 2 - b * density(b)  # ndtr(-b) is 0 beyond 8


@cache
def affine_units() -> Checked:
    """(39) and (41): E(z - σ(z))² beside b² exp(-b²/2)."""
    b = line(1, 7, 601)
    ratio = lost(b) / (b**2 * torch.exp(-(b**2) / 2))
    told = (f"{v:g} is affine but for {float(lost(line(v, v, 1))) ** 0.5:.0e}" for v in (2, 4, 6))
    said = (
        f"a unit with b = {', '.join(told)} (root mean square); "
        f"the bound's constant is {float(ratio.max()):.3f} over 1 ≤ b ≤ 7"
    )
    return Checked(float(ratio.max()) < 1, said)


KINKED = (10_000, 1_000_000, 100_000_000)
SELDOM = 1e-3  # samples expected where there are to be none


@cache
def unseen_kinks() -> Checked:
    """§3: for b ≫ √log N none of N samples is beyond the kink of σ(z + b); N Φ(-b) are expected there."""
    expected = {
        times: max(n * math.erfc(times * math.sqrt(math.log(n) / 2)) / 2 for n in KINKED)
        for times in (1.0, math.sqrt(2), 2.0)
    }
    told = ", ".join(f"{count:.2g} at b = {times:.2g} √log N" for times, count in expected.items())
    said = f"of N = {KINKED[0]:.0e} to {KINKED[-1]:.0e} samples at most {told} are expected beyond the kink"
    return Checked(expected[2.0] < SELDOM, said)


INPUTS = (1, 10, 100, 1_000)


@cache
def printed_threshold(c: float = 2.5, bound: float = 3.0) -> Checked:
    """Lemma 5.9 for one unit, a = 1, ε D B = 1/2: what is left at |b| = c √log(1/(ε m D B)), over ε.

    Beside it what σ(z) - z leaves where the threshold is c √log(m D B / ε).
    """
    printed, mended = [], []
    for d in INPUTS:
        epsilon = 1 / (2 * d * bound)
        b = torch.tensor([c * math.sqrt(math.log(2))], dtype=F64)
        coefficients = [float(t) for t in hermite.coefficients("relu", 60, b)]
        printed.append(sum(t * t / math.factorial(k) for k, t in enumerate(coefficients) if k > 1) ** 0.5 / epsilon)
        mended.append(float(lost(b.fill_(c * math.sqrt(math.log(d * bound / epsilon))))) ** 0.5 / epsilon)
    rows = ", ".join(f"{v:.2g} at D = {d:,}" for d, v in zip(INPUTS, printed, strict=True))
    said = (
        f"with c = {c:g}, m = 1, B = {bound:g} and ε = 1/(2 D B) the best affine function of a unit at the threshold "
        f"misses {rows} times ε, so that c' cannot depend on c alone; with log(m D B/ε) at most {max(mended):.1g}"
    )
    return Checked(max(printed) < 2 * printed[0], said)


@cache
def energy_beyond(seed: int, degree: int) -> float:
    """Σ ‖T_k‖² / k! over k > degree of a network of `LARGE`: what no polynomial of that degree explains of E f²."""
    f = LARGE.draw(seed)
    cosines, a = f.weights[0].T @ f.weights[0], f.weights[1][:, 0]
    scaled = [a * c / math.sqrt(math.factorial(k)) for k, c in enumerate(hermite.coefficients("relu", 60, f.biases[0]))]
    return sum(float(s @ cosines**k @ s) for k, s in enumerate(scaled) if k > degree)
