"""Singular values of the Jacobian, Propositions 7.1 to 7.4 and Corollary 7.5, with every named constant (seconds).

J = D_v φ'(WX) ⋆ X (kd × n), J̃ its φ' centred, Γ = diag E φ''(‖w_l‖ g), |φ''| ≤ L; k = d, W orthonormal, v = 1:

    (1)  σ_min(J) ≥ c σ_min(W) d,   σ_max(J) ≤ C σ_max(W) √(nk),                                  (7.12), (7.13)
    (2)  σ_min(J̃) ≥ d/2 σ_min(D_v Γ W),   or d/2 where Γ = 0,                                     (7.7), (7.35)
    (3)  σ_min(J̃)² - σ_min(J)² ≤ (4√3 n + C d^1.5 + C √(dn)) L² ‖v‖²_∞ ‖W‖²,                      (7.4)
    (4)  σ_max(J) ≤ σ_max(J̃) + 3 √n ‖D_v μ‖,                                                      (7.5)
    (5)  σ_min(X ⋆ X) ≥ c d,   σ_max(X ⋆ X) ≤ C √(nd).                                            (7.14), (7.15)

Gram matrices stand for the products: (A ⋆ B)ᵀ(A ⋆ B) = AᵀA ∘ BᵀB (Lemma 5.4).

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, §7.1.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.quadratic.local_convergence import EVEN, SHARPNESS
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run, activation

DIMENSIONS = (10, 20, 40, 60)
SHARES = (10, 40)  # n = d²/10, d²/40, at least d
FLAT = 0.25  # of an exponent
BENDS = {"softplus": 1.0, "tanh": 4 / (3 * math.sqrt(3)), "logistic": 1 / (6 * math.sqrt(3)),
         "erf": 2 / math.sqrt(math.pi * math.e)}  # max |φ''| at b = 1, of φ(z) = g(bz)/b times b  # fmt: skip


@dataclass(frozen=True)
class Spectrum:
    """(1) to (4) at one d and n, each as what is measured over what is claimed."""

    name: str
    d: int
    n: int
    least: float  # σ_min(J) / (σ_min(W) d)
    most: float  # σ_max(J) / (σ_max(W) √(nk))
    centred: float  # σ_min(J̃) / (d σ_min(D_v Γ W)), or / d
    lost: float  # (3), with C = 1
    gained: float  # (4)


def singular(left: Tensor, right: Tensor) -> tuple[float, float]:
    """The least and largest singular values of A ⋆ B, of matrices with as many columns."""
    values = torch.linalg.eigvalsh((left.T @ left) * (right.T @ right))
    return math.sqrt(max(0.0, float(values[0]))), math.sqrt(float(values[-1]))


def averaged(name: str, order: int) -> float:
    """E φ^(order)(g) at ‖w‖ = 1, from a million draws of g that are a grid of quantiles."""
    b, steps = SHARPNESS.get(name, 1.0), 10**6
    at = (torch.arange(steps, dtype=torch.float64, device="cpu") + 0.5) / steps
    g = math.sqrt(2) * torch.erfinv(2 * at - 1)
    return float(b ** (order - 1) * activation(name)(b * g, order).mean())


@cache
def spectra() -> tuple[Spectrum, ...]:
    """Every activation, d and n."""
    sizes = sorted({(d, max(d, d * d // share)) for d in DIMENSIONS for share in SHARES})
    return tuple(spectrum(name, d, n) for name in EVEN for d, n in sizes)


def spectrum(name: str, d: int, n: int) -> Spectrum:
    """(1) to (4)."""
    run, b = Run.seeded(1000 * d + n), SHARPNESS.get(name, 1.0)
    w, x = torch.linalg.qr(run.normal(d, d))[0], run.normal(d, n)
    mu, gamma = averaged(name, 1), averaged(name, 2)
    slopes = activation(name)(b * w @ x, 1)
    low, high = singular(slopes, x)
    low_centred, high_centred = singular(slopes - mu, x)
    bend = b * BENDS[name] if EVEN[name] is False else b / 4
    allowed = (4 * math.sqrt(3) * n + d**1.5 + math.sqrt(d * n)) * bend**2
    return Spectrum(
        name, d, n, low / d, high / math.sqrt(n * d), low_centred / (d * (abs(gamma) if EVEN[name] else 1.0)),
        (low_centred**2 - low**2) / allowed, high / (high_centred + 3 * math.sqrt(n * d) * abs(mu)),
    )  # fmt: skip


@cache
def self_products() -> tuple[tuple[int, int, float, float], ...]:
    """(5): d, n, σ_min/d and σ_max/√(nd) of X ⋆ X."""
    found = []
    for d in DIMENSIONS:
        for n in sorted({d, max(d, d * d // 10), d * d // 4, d * (d + 1) // 2}):
            x = Run.seeded(1000 * d + n).normal(d, n)
            low, high = singular(x, x)
            found.append((d, n, low / d, high / math.sqrt(n * d)))
    return tuple(found)


def text() -> Iterator[str]:
    """Both tables."""
    yield "One draw of W and X for every row. (7.4) with C = 1; at most 1 where a bound holds, (7.7) and (7.35) at"
    yield "least 1/2."
    yield ""
    head = ("φ", "d = k", "n", "(7.12) σ_min(J)/(σ_min(W) d)", "(7.13) σ_max(J)/(σ_max(W)√(nk))",
            "(7.7), (7.35) σ_min(J̃)/(d σ_min(ΓW)), /d", "(7.4) reached", "(7.5) reached")  # fmt: skip
    yield from grid(
        head,
        (
            (s.name, str(s.d), str(s.n), *(f"{v:.2g}" for v in (s.least, s.most, s.centred, s.lost, s.gained)))
            for s in spectra()
        ),
    )
    yield ""
    rows = ((str(d), str(n), f"{low:.2g}", f"{high:.2g}") for d, n, low, high in self_products())
    yield from grid(("d", "n", "(7.14) σ_min(X ⋆ X)/d", "(7.15) σ_max(X ⋆ X)/√(nd)"), rows)


# Verdicts


def drifts(values: list[tuple[int, float]]) -> float:
    """The exponent over d."""
    return slope([d for d, _ in values], [v for _, v in values])


def jacobian(_: Made) -> Judged:
    """(7.12) and (7.13): over d at n = d²/10 the first ratio does not fall, and the second does not rise."""
    told, held = [], []
    for name in EVEN:
        mine = [s for s in spectra() if s.name == name and s.n == max(s.d, s.d**2 // 10)]
        low, high = drifts([(s.d, s.least) for s in mine]), drifts([(s.d, s.most) for s in mine])
        held.append(low > -FLAT and high < FLAT)
        told.append(f"{name}: c = {spread((s.least for s in mine), '.2g')}, like d^{low:.2f}, C = "
                    f"{spread((s.most for s in mine), '.2g')}, like d^{high:.2f}")  # fmt: skip
    return all(held), f"n = d²/10, d = {DIMENSIONS[0]} to {DIMENSIONS[-1]}: {'; '.join(told)}"


def centred(even: bool, _: Made) -> Judged:
    """(7.7), or (7.35) where Γ = 0, at the least n."""
    mine = [s for s in spectra() if EVEN[s.name] == even and s.n <= s.d**2 / 20]
    most = [s.centred for s in spectra() if EVEN[s.name] == even and s.n > s.d**2 / 20]
    what = "σ_min(J̃) / (d σ_min(ΓW))" if even else "σ_min(J̃)/d"
    return min(s.centred for s in mine) >= 0.5, (
        f"{what} is {spread((s.centred for s in mine), '.2g')} at n ≤ d²/20, {spread(most, '.2g')} at n = d²/10, where "
        "at least 0.5 is printed" + ("" if even else "; the scale of φ is not in it, so that no constant can be")
    )


def perturbed(_: Made) -> Judged:
    """(7.4) and (7.5)."""
    lost, gained = max(s.lost for s in spectra()), max(s.gained for s in spectra())
    least = "σ_min(J) is never below σ_min(J̃)" if lost <= 0 else f"at most {lost:.2g} of (7.4) with C = 1 is reached"
    return max(lost, gained) <= 1, f"{least}, and at most {gained:.2g} of (7.5) is reached"


def products(_: Made) -> Judged:
    """(7.14) and (7.15): as long as n ≤ c_1 d² with a small c_1."""
    small = [row for row in self_products() if row[1] == max(row[0], row[0] ** 2 // 10)]
    low, high = drifts([(r[0], r[2]) for r in small]), drifts([(r[0], r[3]) for r in small])
    edge = spread((row[2] for row in self_products() if row[1] == row[0] * (row[0] + 1) // 2), ".1e")
    return low > -FLAT and high < FLAT, (
        f"n = d²/10: σ_min/d is {spread((r[2] for r in small), '.2g')}, like d^{low:.2f}, σ_max/√(nd) "
        f"{spread((r[3] for r in small), '.2g')}, like d^{high:.2f}; at n = d(d+1)/2 σ_min/d is {edge}"
    )
