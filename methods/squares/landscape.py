"""The landscape certificate of nets of squares: how near a point is to a local minimum, and what that says of its loss.

For f = Σ_l v_l ⟨w_l, x⟩² with fixed v, residuals r_i, and Λ = 1/n Σ_i r_i x_i x_iᵀ,

    (1)  ∂L/∂w_l = 2 v_l Λ w_l,
    (2)  ⟨U, H U⟩ = 2 Σ_l v_l u_lᵀ Λ u_l + 1/n Σ_i (2 Σ_l v_l ⟨w_l, x_i⟩ ⟨u_l, x_i⟩)²,
    (3)  ε_g = ‖∂L/∂W‖_F,   ε_H = max(0, -λ_min(H)),
    (4)  v = ν 1:   L ≤ ε_g/√ν max(√(1 + 14 M*), 4 ε_g/√ν) + ε_H/(2ν) M*,   M* the nuclear norm of Σ v*_l w*_l w*_lᵀ,
    (5)  w_q = 0:   λ_min(H) ≤ 2 min_q min eig(v_q Λ).

(4) holds for planted teachers of one sign, k > D and N ≲ D²; (5) says how steep the way out of a saddle is at which
some neurons are silent: zero columns stay zero under gradient descent, so that such points can be gone to on purpose.

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, Theorems 2.1 and 2.2 and §6; the Hessian with its 1/n.
"""

from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor

from paramid.words import memory_limits

LARGEST = 2**29  # bytes of a Hessian


@dataclass(frozen=True)
class Certificate:
    """L, and (3), (5) of one point; `saddle` is the right of (5), 0 where no neuron is silent."""

    loss: float
    slope: float  # ε_g
    lowest: float  # λ_min(H)
    saddle: float

    @property
    def curvature(self) -> float:
        """ε_H."""
        return max(0.0, -self.lowest)

    def bound(self, nuclear: float, nu: float = 1.0) -> float:
        """The right of (4)."""
        slope = self.slope / sqrt(nu)
        return slope * max(sqrt(1 + 14 * nuclear), 4 * slope) + self.curvature / (2 * nu) * nuclear


def certificate(x: Tensor, y: Tensor, w: Tensor, v: Tensor) -> Certificate:
    """(3) and (5) at columns `w` (D, k), outer weights `v` (k,), for samples x (n, D), y (n,)."""
    r = (x @ w).square() @ v - y
    weighted = (x.T * r) @ x / len(x)
    silent = v[w.norm(dim=0) == 0]
    steepest = 2 * torch.outer(silent, torch.linalg.eigvalsh(weighted))
    return Certificate(
        loss=float(r.square().mean()) / 2,
        slope=float((2 * weighted @ w * v).norm()),
        lowest=float(torch.linalg.eigvalsh(hessian(x, y, w, v))[0]),
        saddle=min(0.0, float(steepest.min())) if len(silent) else 0.0,
    )


def hessian(x: Tensor, y: Tensor, w: Tensor, v: Tensor) -> Tensor:
    """The matrix of (2), neuron after neuron: (k D, k D); a MemoryError where it cannot be held."""
    d, k = w.shape
    if reason := memory_limits.refusal({"Hessian": (k * d, k * d)}, LARGEST):
        raise MemoryError(reason)
    z = x @ w
    weighted = (x.T * (z.square() @ v - y)) @ x / len(x)
    total = 2 * torch.kron(torch.diag(v), weighted)
    for rows, values in zip(
        x.split(max(1, LARGEST // (64 * k * d))), z.split(max(1, LARGEST // (64 * k * d))), strict=True
    ):
        j = (2 * v * values)[:, :, None] * rows[:, None]
        total = total + j.flatten(1).T @ j.flatten(1) / len(x)
    return total


def nuclear_norm(w: Tensor, v: Tensor) -> float:
    """M* of (4)."""
    return float(torch.linalg.eigvalsh((w * v) @ w.T).abs().sum())
