"""Hermite polynomials: their size, the roots that two in a row do not share, and z told from four of them.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §4 and Claim B.4.
"""

import math
from functools import cache
from typing import NamedTuple

import torch

from benchmarks.reproduce.biased_relu.checks.checked import ROUNDING, Checked, density, line
from paramid.words import hermite


@cache
def separation() -> Checked:
    """Lemma 4.3: max(|He_k|, |He_{k+1}|) ≥ √(k!/2) everywhere."""
    t = line(-6, 6, 1_200_001)
    sizes = [h.abs() for h in hermite.polynomials(t, 7)]
    least = {k: float(torch.maximum(sizes[k], sizes[k + 1]).min()) for k in range(1, 6)}
    short = [k for k, value in least.items() if value < math.sqrt(math.factorial(k) / 2)]
    proved = [k for k, value in least.items() if k > 1 and value < math.sqrt(math.factorial(k - 1) / 2)]
    rows = ", ".join(f"{v:.3f} for {math.sqrt(math.factorial(k) / 2):.3f} (k = {k})" for k, v in least.items())
    weaker = "holds" if not proved else f"does not hold ({proved})"
    said = (
        f"the least value is {rows}; false for {len(short)} of these {len(least)}; √((k−1)!/2), which the proof leads "
        f"to, {weaker} for k ≥ 2 and fails for k = 1, as (11) does at k = 0, where the sum has one term"
    )
    return Checked(not short, said)


AWAY, LARGE = 0.5, 1.0  # what "not close to 0" and "large" are taken for


@cache
def odd_separation() -> Checked:
    """§4, before Lemma 4.3: of two odd polynomials in a row one is large where |x| is not close to 0."""
    t = line(AWAY, 8, 750_001)
    sizes = [h.abs() for h in hermite.polynomials(t, 7)]
    least = {k: float(torch.maximum(sizes[k], sizes[k + 2]).min()) for k in (1, 3, 5)}
    rows = ", ".join(f"{v:.2f} for He_{k} and He_{k + 2}" for k, v in least.items())
    return Checked(min(least.values()) > LARGE, f"the larger of the two is at least {rows} where |x| ≥ {AWAY:g}")


@cache
def turan() -> Checked:
    """(10): He_{k+1}² - He_k He_{k+2} = k! Σ_{i≤k} He_i² / i!."""
    he = hermite.polynomials(line(-6, 6, 10_001), 9)
    worst = 0.0
    for k in range(8):
        right = math.factorial(k) * sum(he[i] ** 2 / math.factorial(i) for i in range(k + 1))
        worst = max(worst, float(((he[k + 1] ** 2 - he[k] * he[k + 2] - right) / right).abs().max()))
    return Checked(worst < ROUNDING, f"both sides differ by {worst:.0e} of their size, k ≤ 7")


@cache
def bounded_polynomials() -> Checked:
    """Claim B.4: |He_k(x)| exp(-x²/2) ≤ √k!."""
    x = line(-8, 8, 160_001)
    sizes = [
        float((h.abs() * torch.exp(-x * x / 2)).max()) / math.sqrt(math.factorial(k))
        for k, h in enumerate(hermite.polynomials(x, 20))
    ]
    return Checked(max(sizes) <= 1 + 1e-12, f"at most {max(sizes):.3f} of the bound (k = {sizes.index(max(sizes))})")


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
    """Lemma 4.5, (12): z and β from γ_k … γ_{k+3}, γ_j = (-1)^j ξ^j β He_j(z).

    Printed for k ≥ 2; Claim 4.6 applies it at k = l - 2 for l ≥ 2.
    """
    z, worst = line(-4, 4, 80_001), 0.0
    for sign in (1, -1):
        gamma = [(-sign) ** j * h for j, h in enumerate(hermite.polynomials(z, 8))]
        for k in range(6):
            higher = gamma[k + 2].abs() > gamma[k + 1].abs()
            for q, where in ((k + 1, ~higher), (k + 2, higher)):
                found = -(gamma[q + 1] + q * gamma[q - 1]) / gamma[q]
                beta = (-1) ** q * gamma[q] / hermite.polynomials(found, q)[q]
                worst = max(worst, *(float(off[where].abs().max()) for off in (found - sign * z, beta - 1)))
    return Checked(
        worst < ROUNDING,
        f"z and β are right within {worst:.0e}, |z| ≤ 4 and k ≤ 5, "
        "also at k = 0 and 1, which Claim 4.6 needs for l = 2 and 3 and k ≥ 2 leaves out",
    )


@cache
def printed_scalars() -> Checked:
    """Algorithm 2 for l ≥ 2, as printed and with the index put right."""
    wrong, right = ({k: scalar_errors(k, printed=p) for k in (2, 3)} for p in (True, False))
    told = (f"b is wrong by up to {w.bias:.2f} (at |b| = {w.at:.3f}), a by {w.outer:.2f} in the median, for l = {k}"
            for k, w in wrong.items())  # fmt: skip
    best = max(max(r.bias, r.outer) for r in right.values())
    said = (
        f"of |b| ≤ 1.5 and |a| = 1 {'; '.join(told)}; with the polynomial's index for the tensor's both are {best:.0e}"
    )
    return Checked(max(w.bias for w in wrong.values()) < ROUNDING, said)
