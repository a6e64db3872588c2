"""INITIAL-DISTILL of Algorithm 1: how many features a layer has, and a first K_l, both out of its head W_l.

With W_l = (W_<, W_last), W_last being the block of the layer just below,

    (1)  k_l = the number of singular values of W_<ᵀ W_last from 1 / (10 κ²) on                          (line 21)
    (2)  K_<ᵀ K_last = U S V,   its k_l leading ones;   K_< = √S Uᵀ,   K_last = √S V                    (lines 22, 23)
    (3)  K_< ← P⁻¹ K_<,   K_last ← P K_last,   P symmetric, with which K_lastᵀ K_last is closest to W_lastᵀ W_last:

(2) leaves P open, as the paper notes ("by left/right multiplying", B.3). Layer 2 has no W_<, of which the paper says
nothing: there W_2ᵀ W_2 stands for the product, its singular values being its eigenvalues, and K_2 is its root.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, Algorithm 1 and B.3.
"""

import torch
from torch import Tensor

from paramid.methods.hierarchy.layer_regression import eigen_root

LEAST = 1e-6  # of an eigenvalue of P²


def distilled(w: Tensor, last: int, kappa: float) -> Tensor:
    """K_l (k_l, Σ q_j) by (1) to (3), the last `last` columns being the block below; at least one row."""
    first = w.shape[1] - last
    product = w[:, :first].T @ w[:, first:] if first else w.T @ w
    width = rank(product, kappa)
    if not first:
        return eigen_root(product, width)
    u, s, v = torch.linalg.svd(product, full_matrices=False)
    lower, upper = s[:width].sqrt()[:, None] * u.T[:width], s[:width].sqrt()[:, None] * v[:width]
    back = torch.linalg.pinv(upper)
    values, vectors = torch.linalg.eigh(back.T @ w[:, first:].T @ w[:, first:] @ back)
    values = values.clamp(min=LEAST).sqrt()
    gauge, inverse = (vectors * values) @ vectors.T, (vectors / values) @ vectors.T
    return torch.cat([inverse @ lower, gauge @ upper], dim=1)


def rank(product: Tensor, kappa: float) -> int:
    """k_l of (1), at least one."""
    return max(1, int((torch.linalg.svdvals(product) >= 1 / (10 * kappa**2)).sum()))
