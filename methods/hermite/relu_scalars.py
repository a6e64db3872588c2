"""Biases, outer weights and signs of ReLU units whose directions are known up to sign.

    f(x) = Σ_i a_i max(0, ⟨w_i, x⟩ + b_i),   ‖w_i‖ = 1,   x ~ N(0, I),   w̃_i = ξ_i w_i,   ξ_i = ±1,

    (1)  ζ_j = least squares of T_j on the w̃_i^{⊗j},   so that ζ_j = a (-1)^j He_{j-2}(ξ b) φ(b)   for j ≥ 2,
    (2)  b̃ = -(ζ_{p+1} + (p - 2) ζ_{p-1}) / ζ_p,   ã = (-1)^p √(2π) ζ_p exp(b̃²/2) / He_{p-2}(b̃),
    (3)  p = 2 for l = 1, and of l + 1, l + 2 the one whose ζ_p stands out more, as He_k and He_{k+1} share no root,
    (4)  z = least squares of T_1 on the ã_i w̃_i:   Φ(b̃_i) where ξ_i = 1 and -Φ(-b̃_i) = Φ(b̃_i) - 1 where ξ_i = -1,
    (5)  printed: ξ_i = sign z_i;   midpoint: ξ_i = 1 where z_i > Φ(b̃_i) - 1/2, the same distance from both whatever b.

The paper prints the tensor's order in (2) where the polynomial's, two less, is meant. Biases are cut at ±6 before they
are exponentiated: beyond, a unit is affine or zero to eight digits.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Algorithms 2 and 3.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from paramid import Network
from paramid.methods.hermite.jennrich import expand
from paramid.methods.hermite.moment_estimates import Moments
from paramid.words import hermite

FARTHEST = 6.0
RULES = ("printed", "midpoint")


def recover_scalars(moments: Moments, columns: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """(1) to (3): biases and outer weights of the unit `columns` (D, m), of the signs that the columns have."""
    zeta = {j: expand(columns, moments.tensors[j], j).coefficients for j in needed(order)}
    if order == 1:
        return solve(zeta, 2)
    low, high = order + 1, order + 2
    louder = _height(zeta, moments, high) > _height(zeta, moments, low)
    (b, a), (b_high, a_high) = solve(zeta, low), solve(zeta, high)
    return torch.where(louder, b_high, b), torch.where(louder, a_high, a)


def needed(order: int) -> range:
    """The orders j of (1)."""
    return range(2, 4) if order == 1 else range(order, order + 4)


def solve(zeta: Mapping[int, Tensor], p: int) -> tuple[Tensor, Tensor]:
    """(2)."""
    above = zeta[p + 1] if p == 2 else zeta[p + 1] + (p - 2) * zeta[p - 1]
    b = torch.nan_to_num(-above / zeta[p]).clamp(-FARTHEST, FARTHEST)
    scale = math.sqrt(2 * math.pi) * torch.exp(b * b / 2) / hermite.polynomials(b, p - 2)[-1]
    return b, torch.nan_to_num((-1) ** p * zeta[p] * scale, nan=0.0, posinf=0.0, neginf=0.0)


def fix_signs(first: Tensor, columns: Tensor, biases: Tensor, outer: Tensor, *, rule: str) -> Tensor:
    """(4) and (5): ξ for at most D units, ±1 each, from T_1."""
    z = torch.linalg.pinv(columns * outer) @ first
    threshold = torch.zeros_like(biases) if rule == "printed" else torch.special.ndtr(biases) - 0.5
    return torch.where(z > threshold, 1.0, -1.0).to(biases)


def turned(columns: Tensor, biases: Tensor, outer: Tensor, signs: Tensor) -> Network:
    """The network of those units, weights and biases times their signs."""
    return Network.shallow(columns * signs, biases * signs, "relu", outer)


def _height(zeta: Mapping[int, Tensor], moments: Moments, j: int) -> Tensor:
    """How far ζ_j stands out of the noise, where there is any."""
    exact = not all(moments.noise.values())
    return zeta[j].abs() / (1.0 if exact else moments.noise[j])
