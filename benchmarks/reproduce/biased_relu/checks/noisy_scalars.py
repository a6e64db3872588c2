"""z and α from loadings that are off: the robust versions of Lemma 4.5, with the constants of their proofs.

    (1)  γ_j = α (-1)^j φ(z) He_j(z) within ε' = ε⁴ / (2(1+B)²),   1/B ≤ |α| ≤ B,   |z| ≤ B,
    (2)  |z| < 2 √log(c_k / (ε^{1/4} (1+B)³)),   c_k = 16 (k+3)! for k ≥ 2 and 16 for k = 1.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Lemmas 5.6 and 5.7, Appendix B.2.2.
"""

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.biased_relu.checks.checked import F64, Checked, density, line
from paramid.words import hermite

ORDERS = (-1, 0, 1, 2, 3)  # k of Lemma 5.6, which is applied at k = l - 2; -1 stands for Lemma 5.7
CASES = ((0.1, 2.0), (0.2, 2.0), (0.2, 7.0), (0.01, 2.0))  # ε, B


def constant(k: int) -> float:
    """c_k of (2), or c of Lemma 5.7."""
    return 16.0 if k < 0 else 16.0 * math.factorial(k + 3)


def farthest(k: int, epsilon: float, bound: float) -> float:
    """The |z| below which (1) and (2) allow; 0 where none."""
    inside = math.log(constant(k) / (epsilon**0.25 * (1 + bound) ** 3))
    return min(bound, 2 * math.sqrt(inside)) if inside > 0 else 0.0


def loadings(k: int) -> range:
    """The j of γ_j."""
    return range(2) if k < 0 else range(k, k + 4)


class Off(NamedTuple):
    """The largest |z| where z̃ misses its bound, below 0 where none does, and the largest errors of z̃ and α̃ over ε."""

    missed_to: float
    bias: float
    outer: float


def worst(k: int, epsilon: float, bound: float) -> Off:
    """At the worst signs of the errors, for α = B and 1/B, and |z| to where (2) allows."""
    z, allowed = line(0, farthest(k, epsilon, bound), 20_001), epsilon**4 / (2 * (1 + bound) ** 2)
    off = Off(-1.0, 0.0, 0.0)
    for alpha in (bound, 1 / bound):
        exact = [(-1) ** j * alpha * density(z) * h for j, h in enumerate(hermite.polynomials(z, max(k, 0) + 3))]
        for signs in product((-1, 1), repeat=len(loadings(k))):
            gamma = {j: exact[j] + s * allowed for j, s in zip(loadings(k), signs, strict=True)}
            found, outer = of_two(gamma) if k < 0 else of_four(gamma, k)
            gap = (found - z).abs()
            missed = torch.where(gap > epsilon * z / (bound + 1), z, -1.0).max()
            seen = (missed, gap.max() / epsilon, (outer - alpha).abs().max() / epsilon)
            off = Off(*(max(old, float(new)) for old, new in zip(off, seen, strict=True)))
    return off


@cache
def all_cases() -> tuple[Off, ...]:
    """The worst of every order and case that (2) leaves a z."""
    return tuple(worst(k, *case) for k in ORDERS for case in CASES if farthest(k, *case) > 0)


def of_two(gamma: dict[int, Tensor]) -> tuple[Tensor, Tensor]:
    """z̃ and α̃ of Lemma 5.7."""
    z = -gamma[1] / gamma[0]
    return z, gamma[0] / density(z)


def of_four(gamma: dict[int, Tensor], k: int) -> tuple[Tensor, Tensor]:
    """z̃ and α̃ of Lemma 5.6."""
    found, outer = torch.empty_like(gamma[k]), torch.empty_like(gamma[k])
    higher = gamma[k + 2].abs() > gamma[k + 1].abs()
    for q, where in ((k + 1, ~higher), (k + 2, higher)):
        z = -(gamma[q + 1] + q * gamma[q - 1]) / gamma[q]
        alpha = (-1) ** q * gamma[q] / (density(z) * hermite.polynomials(z, q)[q])
        found[where], outer[where] = z[where], alpha[where]
    return found, outer


@cache
def relative_bound() -> Checked:
    """(22) and (23): |z̃ - ξz| ≤ ε|z|/(B+1)."""
    missed = [off.missed_to for off in all_cases()]
    epsilon, bound = CASES[0]
    allowed = epsilon**4 / (2 * (1 + bound) ** 2)
    phi = float(density(torch.zeros((), dtype=F64)))
    inside = constant(-1) / (epsilon**0.25 * (1 + bound) ** 3)
    said = (
        f"with ε = {epsilon:g} and B = {bound:g} an error of {allowed:.0e} in each γ moves z̃ by "
        f"{allowed / (phi - allowed):.0e} at z = 0 and α = 1 by Lemma 5.7, where 0 is allowed (condition (ii) with "
        f"c = 16 is just met: its logarithm is of {inside:.2f}); the bound is missed in {sum(m >= 0 for m in missed)} "
        f"of {len(missed)} cases of k, ε and B near 0, up to |z| = {max(missed):.2g}, and nowhere beyond"
    )
    return Checked(max(missed) < 0, said)


@cache
def meant_bounds() -> Checked:
    """(22) and (23): |z̃ - ξz| ≤ ε and |α̃ - α| ≤ ε."""
    told = all_cases()
    said = (
        f"at most {max(o.bias for o in told):.2g} ε and {max(o.outer for o in told):.2g} ε at the worst signs of the "
        f"errors, in {len(told)} cases of k ≤ 3, ε and B, also at k = 0 and 1, which l = 2 and 3 need and the Lemma "
        "leaves out"
    )
    return Checked(max(max(o.bias, o.outer) for o in told) <= 1, said)


@cache
def condition() -> Checked:
    """What the proofs of Lemmas 5.6 and 5.7 take from (2): |β| > c_k ε'^{1/4} (1+B)², β = α φ(z)."""
    epsilon, bound = CASES[0]
    asked = {k: constant(k) * (epsilon**4 / (2 * (1 + bound) ** 2)) ** 0.25 * (1 + bound) ** 2 for k in (-1, 2)}
    reach = {k: farthest(k, epsilon, bound) for k in asked}
    sizes = {k: density(line(0, z, 2)) for k, z in reach.items()}
    ratios = {k: asked[k] / (bound * float(sizes[k][0])) for k in asked}
    said = (
        f"with ε = {epsilon:g} and B = {bound:g} it allows |z| < {reach[-1]:.2g} by Lemma 5.7 and all "
        f"|z| ≤ {reach[2]:g} for k = 2, but no β there is as large: that takes {ratios[-1]:.0f} and "
        f"{ratios[2]:,.0f} times the largest; a larger c_k allows more and asks for more"
    )
    return Checked(all(float(sizes[k][1]) / bound > least for k, least in asked.items()), said)
