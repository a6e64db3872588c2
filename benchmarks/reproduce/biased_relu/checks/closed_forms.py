"""Hermite coefficients of a sum of biased ReLUs in closed form, and the risk that they sum up to.

    (1)  f(x) = Σ_i a_i σ(⟨w_i, x⟩ + b_i),   T_k = E[f He_k] = Σ_i a_i c_k(b_i) w_i^{⊗k},
    (2)  c_k(b) = (-1)^k He_{k-2}(b) φ(b) for k ≥ 2,   c_1 = Φ(b),   c_0 = b Φ(b) + φ(b).

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §3.
"""

import math
from functools import cache

import numpy as np
import torch

from benchmarks.reproduce.biased_relu.checks.checked import ROUNDING, Checked, density, line
from paramid import Run
from paramid.tasks.biased_relu import BiasedRelu
from paramid.words import hermite

F64 = torch.float64


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
    """(8) and (9): c_k(0) = (-1)^{(k-2)/2} (k-3)!! / √(2π) for even k."""
    told = [float(c) for c in hermite.coefficients("relu", 12, torch.zeros(1, dtype=F64))]
    printed = {k: even_coefficient(k) for k in range(2, 13)} | {0: 1 / math.sqrt(2 * math.pi), 1: 0.5}
    worst = max(abs(told[k] - value) / math.sqrt(math.factorial(k)) for k, value in printed.items())
    omitted = f"T_4 = {told[4]:.3f} Σ a_i w_i^⊗4, a factor that §1 omits"
    said = f"at b = 0 they agree to order 12 within {worst:.0e} √k!; {omitted}"
    return Checked(worst < ROUNDING, said)


def even_coefficient(k: int) -> float:
    """(-1)^{(k-2)/2} (k-3)!! / √(2π) for even k ≥ 2, 0 for odd."""
    return 0.0 if k % 2 else (-1) ** ((k - 2) // 2) * math.prod(range(k - 3, 0, -2)) / math.sqrt(2 * math.pi)


@cache
def relu_coefficients() -> Checked:
    """After (9): the k-th coefficient of σ is (-1)^{(k-2)/2} (k-3)!! / √(2π k!), where E[σ He_k] was called that."""
    told = {k: float(c) for k, c in enumerate(hermite.coefficients("relu", 12, torch.zeros(1, dtype=F64))) if k > 1}
    printed = {k: even_coefficient(k) / math.sqrt(math.factorial(k)) for k in told}
    off = max(abs(told[k] - printed[k]) for k in told)
    scaled = max(abs(told[k] / math.sqrt(math.factorial(k)) - printed[k]) for k in told)
    said = (
        f"{printed[4]:+.3f} is printed for k = 4, where E[σ He_4] = {told[4]:+.3f}; "
        f"of He_k/√k! the printed ones are right within {scaled:.0e}, k ≤ 12"
    )
    return Checked(off < ROUNDING, said)
