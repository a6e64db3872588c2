"""§3.4.4 and Remark 3.4 as printed: Hermite polynomials, their coefficients, and the series of E and E₂.

(1)  h_r(t) = (-1)^r exp(t²/2) dʳ/dtʳ exp(-t²/2) / √r!,     ∫ h_r h_s exp(-t²/2) dt = √(2π) δ_rs,
(2)  μ_r(f) = ∫ f h_r exp(-t²/2) dt / √(2π),                f = Σ_r μ_r h_r,
(3)  E[f(⟨u, X⟩) g(⟨v, X⟩)] = Σ_r μ_r(f) μ_r(g) ⟨u, v⟩^r.

Definition 3.2 has no 1/√(2π) in (2), and Remark 3.4 has ½ Σ_r in (3) for E₂ = E[g'' g''].
"""

import math

import torch

from benchmarks.reproduce.shallow.hessian_information import ORDERS, gauss, hermite_polynomials, second_moment
from benchmarks.reproduce.shallow.items import Check, verdict
from benchmarks.reproduce.shallow.teachers import drawn
from paramid.words.activations import activation

ROUNDING = 1e-10  # of an identity
LOW = 6  # orders of Lemma 3.4 that are tried
ANGLES = (0.0, 0.3, 0.8, 1.0)  # ⟨u, v⟩
SERIES = 1e-3  # what the orders left out may be


def of_pairs() -> float:
    """The largest error of Lemma 3.4 over r, s < `LOW`."""
    nodes, weights = gauss()
    h, worst = hermite_polynomials(nodes, LOW), 0.0
    for c in ANGLES:
        other = hermite_polynomials(c * nodes[:, None] + math.sqrt(1 - c * c) * nodes, LOW)
        found = torch.einsum("ri,i,sij,j->rs", h, weights, other, weights)
        truth = torch.diag(torch.tensor([c**r for r in range(LOW)], dtype=found.dtype, device=found.device))
        worst = max(worst, float((found - truth).abs().max()))
    return worst


def of_series() -> tuple[float, float, float]:
    """How far the series of E₂ is from its integral, and how many times too large without 1/√(2π), and with ½ alone."""
    g, network = activation("tanh"), drawn(6, 8)
    w, tau = network.weights[0], network.biases[0]
    nodes, weights = gauss()
    c = (w.T @ w).clamp(-1, 1)
    x = nodes[:, None]
    both = c[..., None, None] * x + (1 - c * c).clamp_min(0).sqrt()[..., None, None] * nodes
    first = g(x + tau[:, None, None, None], 2)
    truth = torch.einsum("i,j,klij->kl", weights, weights, first * g(both + tau[:, None, None], 2))
    series = second_moment(w, tau, g, 2)
    size = float(series.norm() / truth.norm())
    return float((series - truth).abs().max()), 2 * math.pi * size, size / 2


def of_polynomials() -> tuple[float, float]:
    """∫ h_2² exp(-t²/2) dt of (1), and of the t² - 1 that is printed for h_2."""
    nodes, weights = gauss()
    normal = float(weights @ hermite_polynomials(nodes, 3)[2].square()) * math.sqrt(2 * math.pi)
    return normal, float(weights @ (nodes.square() - 1).square()) * math.sqrt(2 * math.pi)


def series() -> Check:
    """Lemma 3.4, Definitions 3.1 and 3.2, Lemma 3.8, Remark 3.4."""
    pairs, (gap, whole, half), (normal, monic) = of_pairs(), of_series(), of_polynomials()
    lines = (
        f"- Lemma 3.4 for r, s < {LOW} and ⟨u, v⟩ = {', '.join(f'{c:g}' for c in ANGLES)}: errors below {pairs:.0e}.",
        f"- E₂ of 8 neurons, D = 6, by (3) of `hermite_series` to order {ORDERS}, the rest on the diagonal: "
        f"{gap:.0e} from its integral.",
        f"  With the coefficients of Definition 3.2 it is {whole:.3g} times as large, with the ½ of Remark 3.4 "
        f"{half:.2g} times.",
        f"- ∫ h₂² exp(-t²/2) dt is {normal:.3f} = √(2π) for the h₂ of Definition 3.1, {monic:.3f} for t² - 1; "
        f"printed is √(2π s) = {math.sqrt(4 * math.pi):.3f}.",
    )
    right = gap < SERIES
    return Check(
        "Hermite series (§3.4.4, Lemmas 3.4 and 3.8, Remark 3.4)",
        lines,
        (
            verdict(
                "Lemma 3.4: E[h_r(⟨u, X⟩) h_s(⟨v, X⟩)] = δ_rs ⟨u, v⟩^r",
                pairs < ROUNDING,
                f"of the h_r of Definition 3.1, but for {pairs:.0e}",
            ),
            verdict(
                "Definition 3.2, Lemma 3.8: coefficients and the series of E, as printed",
                right and abs(whole - 1) < SERIES,
                f"1/√(2π) is missing from the coefficients: the series is 2π = {whole:.3g} times too large, "
                f"and {'holds' if right else 'does not hold'} with it",
            ),
            verdict(
                "Remark 3.4: E₂ = ½ Σ T_r T_rᵀ, as printed",
                right and abs(half - 1) < SERIES,
                f"the ½ belongs to E alone: the series is {half:.2g} times E₂, "
                f"and {'holds' if right else 'does not hold'} without it",
            ),
            verdict(
                "§3.4.4: h₂ = t² - 1, h₃ = t³ - 3t, ∫ h_r h_s w_G = √(2π s) δ_rs, as printed beside Definition 3.1",
                abs(normal - monic) < ROUNDING and abs(normal - math.sqrt(4 * math.pi)) < ROUNDING,
                f"h₂ is (t² - 1)/√2 there, and its integral √(2π) = {normal:.3f}",
            ),
        ),
    )
