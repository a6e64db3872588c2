"""Kernels of infinitely wide ReLU networks: of the random network (NNGP), and tangent to it at its start (NTK).

With u = (z, 1) of length D + 1, weights N(0, 2 / fan-in) and h hidden layers,

    (1)  Σ_0 = ⟨u, u'⟩ / (D + 1),   Σ_h = √(Σ_{h-1}(u, u) Σ_{h-1}(u', u')) (sin θ + (π - θ) cos θ) / π,
    (2)  Θ_0 = Σ_0,   Θ_h = Σ_h + Θ_{h-1} (π - θ) / π,   cos θ the correlation under Σ_{h-1}.

Σ_h(u, u) = Σ_0(u, u) for all h. Σ is the kernel of the Gaussian process, Θ the tangent kernel.

References: Cho & Saul, NIPS 2009; Jacot, Gabriel & Hongler, arXiv:1806.07572.
"""

import math

import torch
from torch import Tensor


def kernels(a: Tensor, b: Tensor, layers: int) -> tuple[Tensor, Tensor]:
    """Σ_h and Θ_h of (1) and (2) between rows of a and rows of b."""
    left, right = (torch.nn.functional.pad(z, (0, 1), value=1.0) for z in (a, b))
    width = left.shape[1]
    size = ((left.square().sum(1) / width)[:, None] * (right.square().sum(1) / width)).sqrt()
    process = left @ right.T / width
    tangent = process
    for _ in range(layers):
        cosine = (process / size).clamp(-1, 1)
        angle = torch.acos(cosine)
        process = size * (angle.sin() + (math.pi - angle) * cosine) / math.pi
        tangent = process + tangent * (math.pi - angle) / math.pi
    return process, tangent
