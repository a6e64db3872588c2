"""How f jumps, or bends, across a plane: correlations with δ' for steps and with δ'' for ReLUs.

With x ~ N(0, I) and E[f | z, s] the mean of f on the plane ⟨z, x⟩ = s,

    (1)  C_1(s) = E[f δ(⟨z, x⟩ - s)] = φ(s) E[f | z, s],
    (2)  steps:   C_2 = C_1(t + ε) - C_1(t - ε),
    (3)  ReLUs:   C_3 = (C_1(t + ε) - 2 C_1(t) + C_1(t - ε)) / ε,   the slope above t less that below,
    (4)  both are φ(t) E[∂P/∂X_i | ⟨w_i, x⟩ = t] + O(ε) at z = w_i, and O(ε) at an angle from every w_i.

By queries a mean on a plane is over the same Gaussians, projected, for every z. By samples

    (5)  C_1(s) ≈ 1/ε' of the mean of f over the slab |⟨z, x⟩ - s| < ε'/2, zero elsewhere,   ε' = ε / 4,

"an even smaller ε" of the paper, over the samples given, the same for every z.

Reference: Goel & Panigrahy, §3, Claim 3, Lemmas 8 and 19. Printed, δ' of (3) is left at t ± ε as it is; here it is a
difference over ε as δ' of (2) is.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from paramid import Oracle

WEIGHTS = {"step": {1: 1.0, -1: -1.0}, "relu": {1: 1.0, 0: -2.0, -1: 1.0}}  # of C_1(t + k ε)
THIN = 4  # ε / ε'
ENOUGH = 200  # samples in a slab, where differences are divided by ε those that weigh as much
Jump = Callable[[Tensor], tuple[float, float]]  # z -> (2) or (3), and its standard error
Jumps = Callable[[float], Jump]  # by ε


def by_queries(oracle: Oracle, gaussians: Tensor, t: float, unit: str) -> Jumps:
    """(2) or (3) over the same Gaussians for every z and ε."""

    def of(width: float) -> Jump:
        def jump(z: Tensor) -> tuple[float, float]:
            flat = gaussians - torch.outer(gaussians @ z, z)
            parts = [
                by * density(t + k * width) * oracle.query(flat + (t + k * width) * z)[:, 0]
                for k, by in WEIGHTS[unit].items()
            ]
            return averaged(torch.stack(parts).sum(dim=0) / scale(unit, width), len(gaussians))

        return jump

    return of


def by_samples(x: Tensor, y: Tensor, t: float, unit: str) -> Jumps:
    """(2) or (3) by (5)."""

    def of(width: float) -> Jump:
        thin = width / THIN

        def jump(z: Tensor) -> tuple[float, float]:
            heights = x @ z
            parts = [by * y[(heights - (t + k * width)).abs() < thin / 2] for k, by in WEIGHTS[unit].items()]
            return averaged(torch.cat(parts) / (thin * scale(unit, width)), len(x))

        return jump

    return of


def averaged(parts: Tensor, rows: int) -> tuple[float, float]:
    """Mean and standard error over `rows`, of which those not given are zeros."""
    mean, square = float(parts.sum()) / rows, float(parts.square().sum()) / rows
    return mean, math.sqrt(max(square - mean * mean, 0.0) / rows)


def widths(most: int, widest: float, rows: int | None, t: float, unit: str) -> list[float]:
    """ε, halved at most so often, while slabs of `rows` samples hold enough for half of it."""
    sizes = [widest / 2**k for k in range(most)]
    shown = [(rows or math.inf) * density(t + w) * w / 2 / THIN * scale(unit, w) ** 2 for w in sizes]
    return [w for w, n in zip(sizes, shown, strict=True) if n > ENOUGH]


def scale(unit: str, width: float) -> float:
    """What differences are divided by."""
    return width if unit == "relu" else 1.0


def density(s: float) -> float:
    """φ."""
    return math.exp(-s * s / 2) / math.sqrt(2 * math.pi)
