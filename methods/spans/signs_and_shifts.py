"""Signs and first shifts from directional derivatives at the origin.

For f(x) = Σ_k g(⟨w_k, x⟩ + τ_k) and directions ŵ_k = s_k w_k up to sign, the derivatives along them are

    (1)  T_n,l = dⁿ/dtⁿ f(t ŵ_l) at 0 = Σ_k ⟨ŵ_l, ŵ_k⟩ⁿ s_kⁿ g⁽ⁿ⁾(τ_k),

so with Hadamard powers G_n of the Gram matrix,

    (2)  C_2 = G_2⁻¹ T_2 = g''(τ),   C_3 = G_3⁻¹ T_3 = s g'''(τ),
    (3)  τ_k = (g'')⁻¹(C_2,k) clipped to ±τ_∞,   s_k = sign C_3,k · sign g'''(0).

τ_k belongs to the sign-corrected weight s_k ŵ_k: it is not to be flipped with it.

Reference: Rauchensteiner 2023, Algorithm 3.3. τ_∞ there is 0.6 for tanh; the 1.5 it gives for logistic lies beyond
ln(2+√3) ≈ 1.317, where g'' stops being monotone.
"""

import torch
from torch import Tensor

from paramid import Activation, Oracle

SHIFT_LIMITS = {"tanh": 0.6, "logistic": 1.3, "erf": 0.7}


def signs_and_shifts(
    second: Tensor, third: Tensor, directions: Tensor, g: Activation, *, limit: float
) -> tuple[Tensor, Tensor]:
    """(2) and (3): the signs and shifts of unit columns `directions` (d, m) from T_2 and T_3."""
    gram = directions.T @ directions
    c2 = torch.linalg.solve(gram**2, second)
    c3 = torch.linalg.solve(gram**3, third)
    at_zero = g(torch.zeros_like(c3[:1]), 3)
    return torch.sign(c3) * torch.sign(at_zero), invert_curvature(c2, g, limit)


def invert_curvature(c: Tensor, g: Activation, limit: float) -> Tensor:
    """The τ in ±limit where g''(τ) = c, by bisection; the nearer end where there is none."""
    low, high = torch.full_like(c, -limit), torch.full_like(c, limit)
    rising = g(high, 2) > g(low, 2)
    for _ in range(60):
        middle = (low + high) / 2
        right = (g(middle, 2) < c) == rising
        low, high = torch.where(right, middle, low), torch.where(right, high, middle)
    return (low + high) / 2


def directional_differences(oracle: Oracle, directions: Tensor, *, h: float) -> tuple[Tensor, Tensor]:
    """T_2 and T_3 along columns by central differences of order 2, with 4m + 1 queries."""
    rows = directions.T
    points = torch.cat([0 * rows[:1], h * rows, -h * rows, 2 * h * rows, -2 * h * rows])
    f = oracle.query(points)[:, 0]
    middle, (up, down, up2, down2) = f[0], f[1:].reshape(4, -1)
    return (up - 2 * middle + down) / h**2, (up2 - 2 * up + 2 * down - down2) / (2 * h**3)


def directional_derivatives(oracle: Oracle, directions: Tensor, *, h: float) -> tuple[Tensor, Tensor]:
    """T_2 from the oracle's Hessian at 0, T_3 as a difference of its Hessians at ±h along every column."""
    rows = directions.T

    def curvature(at: Tensor) -> Tensor:
        hessians = torch.cat([oracle.hessian(part)[:, 0] for part in at.split(64)])
        return torch.einsum("kd,kde,ke->k", rows, hessians.expand(len(rows), -1, -1), rows)

    return curvature(0 * rows[:1]), (curvature(h * rows) - curvature(-h * rows)) / (2 * h)
