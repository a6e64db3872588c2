"""Shifts that went astray, found on values around 0.

With all weights and all other shifts where they are, f is linear in the outer weights and one shift b_j is left. With
Q an orthonormal basis of the other columns g(⟨w_k, x⟩ + b_k) and 1, and γ the part of g(⟨w_j, x⟩ + b) that is off it,

    (1)  min ‖y - …‖² = ‖(1 - QQᵀ) y‖² - ‖γᵀy‖² / ‖γ‖²

for every b of a grid. The shift that gains most moves, until none gains a tenth.
"""

from dataclasses import replace

import torch
from torch import Tensor

from paramid import Activation
from paramid.methods.far_field.neurons import Neurons

FARTHEST, WIDE, CLOSE, FINE = 6.0, 49, 0.5, 11  # grids: ±6 around 0 by 1/4, ±0.5 around where it is by 1/10
GAIN = 0.9  # of the residual
SWEEPS = 2  # for every neuron
TINY = torch.finfo(torch.float64).tiny


def scanned(found: Neurons, x: Tensor, y: Tensor, g: Activation) -> Neurons:
    """The neurons with shifts and outer weights that suit values."""
    b, rest = found.b.clone(), left(found.w, found.b, x, y, g)
    for _ in range(SWEEPS * len(b)):
        told = [best(found.w, b, j, x, y, g) for j in range(len(b))]
        j = min(range(len(b)), key=lambda i: told[i][0])
        if not told[j][0] < GAIN * rest:
            break
        rest, b[j] = told[j]
    columns = torch.cat([g(x @ found.w.T + b), torch.ones_like(x[:, :1])], 1)
    return replace(found, b=b, a=(torch.linalg.pinv(columns) @ y)[:-1])


def left(w: Tensor, b: Tensor, x: Tensor, y: Tensor, g: Activation) -> float:
    """The norm of what outer weights and a constant leave of y."""
    q = torch.linalg.qr(torch.cat([g(x @ w.T + b), torch.ones_like(x[:, :1])], 1))[0]
    return float((y - q @ (q.T @ y)).norm())


def best(w: Tensor, b: Tensor, j: int, x: Tensor, y: Tensor, g: Activation) -> tuple[float, float]:
    """The least of (1) over the grid of b_j, its root, and where it is."""
    columns = torch.cat([g(x @ w.T + b), torch.ones_like(x[:, :1])], 1)
    q = torch.linalg.qr(torch.cat([columns[:, :j], columns[:, j + 1 :]], 1))[0]
    r = y - q @ (q.T @ y)
    wide = [FARTHEST * (2 * i / (WIDE - 1) - 1) for i in range(WIDE)]
    fine = [float(b[j]) + CLOSE * (2 * i / (FINE - 1) - 1) for i in range(FINE)]
    places = b.new_tensor(wide + fine)
    gamma = g((x @ w[j])[:, None] + places)
    gamma = gamma - q @ (q.T @ gamma)
    gains = (gamma.T @ r).square().sum(1) / gamma.square().sum(0).clamp(min=TINY)
    k = int(gains.argmax())
    return float((r.square().sum() - gains[k]).clamp(min=0).sqrt()), float(places[k])
