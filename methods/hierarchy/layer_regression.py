"""Heads of a quadratic DenseNet by linear least squares, and the features that are hidden in them.

Over fixed features the heads are linear: with H_l = (h_j)_{j∈J_l} and symmetric M_l,

    (1)  f = Σ_l α_l H_lᵀ M_l H_l = Σ_l ⟨α_l pack(H_l H_lᵀ), pack(M_l)⟩,

solved by normal equations over scaled columns, ridge 1e-10. For M = KᵀK with K = (K_<, K_last), K_last being the block
of the layer just below and K_< those of x and of lower layers,

    (2)  where there is no K_<:  K = √Λ Vᵀ of the k leading eigenpairs of M,
    (3)  otherwise  K_< = √Λ Vᵀ of M_<<,   K_last = (K_<ᵀ)⁺ M_<,last :

products of the last block with itself are not independent (h_a h_b with a = (i, j), b = (k, l) is also that of (i, k),
(j, l)), so that M_last,last has no one value; the other two blocks do, which is what skips are for.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §6.1 and INITIAL-DISTILL; (3) is ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from paramid.methods.hierarchy.densenet import Pairs, rows
from paramid.methods.spans import symmetric
from paramid.words.densenet import DenseNet

RIDGE = 1e-10
Forms = Mapping[int, Tensor]


def unknowns(seen: Sequence[int]) -> int:
    """The columns of (1) for layers that see so many coordinates."""
    return sum(q * (q + 1) // 2 for q in seen)


def refit(net: DenseNet, pairs: Pairs, layers: Sequence[int], fixed: Forms | None = None) -> dict[int, Tensor]:
    """M_l of (1) for `layers`, given those of layers that stay as they are."""
    size = unknowns([net.weights[layer - 2].shape[1] for layer in layers])
    square = net.weights[0].new_zeros(size, size)
    right, count = square[0].clone(), 0
    for x, y in rows(pairs, 3 * size):
        seen = net.layers(x)[0]
        for layer, m in (fixed or {}).items():
            h = seen[layer - 2]
            y = y - net.alphas[layer - 2] * ((h @ m) * h).sum(1)
        a = torch.cat([net.alphas[layer - 2] * symmetric.squares(seen[layer - 2]) for layer in layers], dim=1)
        square, right, count = square + a.T @ a, right + y @ a, count + len(y)
    return split(net, layers, ridge(square / count, right / count))


def ridge(square: Tensor, right: Tensor) -> Tensor:
    """The solution over columns scaled to mean square 1."""
    scale = square.diagonal().sqrt().clamp(min=torch.finfo(square.dtype).tiny)
    one = torch.eye(len(right), dtype=right.dtype, device=right.device)
    return torch.linalg.solve(square / scale / scale[:, None] + RIDGE * one, right / scale) / scale


def split(net: DenseNet, layers: Sequence[int], packed: Tensor) -> dict[int, Tensor]:
    """The solution as matrices by layer."""
    widths = [net.weights[layer - 2].shape[1] for layer in layers]
    parts = packed.split([unknowns([q]) for q in widths])
    return {layer: symmetric.unpack(p, q) for layer, p, q in zip(layers, parts, widths, strict=True)}


def headed(net: DenseNet, forms: Forms) -> DenseNet:
    """The layers of the net that have a head in `forms`, with these heads."""
    part = net.upto(max(forms))
    return replace(part, forms=tuple(forms[layer] for layer in range(2, part.depth + 1)))


def root(m: Tensor, last: int, width: int) -> Tensor:
    """K_l (width, Σ q_j) of (2) or (3), the last `last` columns being the block below."""
    first = len(m) - last
    if not first:
        return eigen_root(m, width)
    lower = eigen_root(m[:first, :first], width)
    return torch.cat([lower, torch.linalg.pinv(lower.T) @ m[:first, first:]], dim=1)


def eigen_root(m: Tensor, width: int) -> Tensor:
    """√Λ Vᵀ of the `width` largest eigenvalues, filled up with zeros; negative ones count as zero."""
    values, vectors = torch.linalg.eigh(m)
    values, vectors = values.flip(0)[:width].clamp(min=0), vectors.flip(1)[:, :width]
    k = values.sqrt()[:, None] * vectors.T
    return torch.cat([k, k.new_zeros(width - len(k), k.shape[1])])


def aligned(k: Tensor, to: Tensor) -> Tensor:
    """U k for the rotation U that brings it closest to another K_l."""
    u, _, v = torch.linalg.svd(to @ k.T)
    return u @ v @ k
