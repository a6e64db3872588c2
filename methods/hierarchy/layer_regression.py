"""Heads of a quadratic DenseNet by linear least squares, and the features that are hidden in them.

Over fixed features the heads are linear: with H_l = (h_j)_{j∈J_l} and symmetric M_l,

    (1)  f = Σ_l α_l H_lᵀ M_l H_l = Σ_l ⟨α_l pack(H_l H_lᵀ), pack(M_l)⟩,

solved by normal equations over scaled columns, ridge 1e-10. For M = KᵀK with K = (K_<, K_last), K_last being the block
of the layer just below and K_< those of x and of lower layers,

    (2)  where there is no K_<:  K = √Λ Vᵀ of the k leading eigenpairs of M,
    (3)  otherwise  K_< = √Λ Vᵀ of M_<<,   K_last = (K_<ᵀ)⁺ M_<,last :

products of the last block with itself are not independent (h_a h_b with a = (i, j), b = (k, l) is also that of (i, k),
(j, l)), so that M_last,last has no one value; the other two blocks do, which is what skips are for.

Where two layers have the same products, those of x with x above all, (1) sees their sum alone. It is solved for the
lower one, with M_<< = K_<ᵀ K_< of the upper one as that was last distilled; which is then found from its other blocks:

    (4)  M_<,last = U S V,   K_< = P⁻¹ √S Uᵀ,   K_last = P √S V,   P² = Q,

Q the least squares solution of hᵀ Vᵀ √S Q √S V h = hᵀ M_last,last h over rows h of the last block.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §6.1 and INITIAL-DISTILL; (3), (4) are ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from paramid.methods.hierarchy.densenet import Pairs, rows
from paramid.methods.spans import symmetric
from paramid.words.densenet import DenseNet

RIDGE = 1e-10
LEAST = 1e-6  # eigenvalue of Q, over its largest
Forms = Mapping[int, Tensor]


def unknowns(seen: Sequence[int]) -> int:
    """The columns of (1) for layers that see so many coordinates."""
    return sum(q * (q + 1) // 2 for q in seen)


def refit(
    net: DenseNet, pairs: Pairs, layers: Sequence[int], fixed: Forms | None = None, known: Forms | None = None
) -> dict[int, Tensor]:
    """M_l of (1) for `layers`, given those of layers that stay, and those of which `known` are what layers share."""
    own = {layer: owned(net, layer, layers if known else ()) for layer in layers}
    shared = {layer: symmetric.pack(m) * ~own[layer] for layer, m in (known or {}).items() if layer in own}
    size = sum(int(mask.sum()) for mask in own.values())
    square = net.weights[0].new_zeros(size, size)
    right, count = square[0].clone(), 0
    for x, y in rows(pairs, 3 * size):
        seen = net.layers(x)[0]
        for layer, m in (fixed or {}).items():
            h = seen[layer - 2]
            y = y - net.alphas[layer - 2] * ((h @ m) * h).sum(1)
        every = {layer: net.alphas[layer - 2] * symmetric.squares(seen[layer - 2]) for layer in layers}
        for layer, m in shared.items():
            y = y - every[layer] @ m
        a = torch.cat([every[layer][:, own[layer]] for layer in layers], dim=1)
        square, right, count = square + a.T @ a, right + y @ a, count + len(y)
    return split(net, own, shared, ridge(square / count, right / count))


def owned(net: DenseNet, layer: int, layers: Sequence[int]) -> Tensor:
    """Which packed products of H_l no lower one of `layers` has."""
    links = net.links[layer - 2]
    seen = [j for j, q in zip(links, net.blocks(layer), strict=True) for _ in range(q)]
    block = torch.tensor(seen, device="cpu")
    i, j = symmetric.triangle(len(block), torch.device("cpu"))
    mask = torch.ones(len(i), dtype=torch.bool, device="cpu")
    for lower in (n for n in layers if n < layer):
        has = torch.tensor([n in net.links[lower - 2] for n in range(layer)], device="cpu")
        mask &= ~(has[block[i]] & has[block[j]])
    return mask.to(net.weights[0].device)


def ridge(square: Tensor, right: Tensor) -> Tensor:
    """The solution over columns scaled to mean square 1."""
    scale = square.diagonal().sqrt().clamp(min=torch.finfo(square.dtype).tiny)
    one = torch.eye(len(right), dtype=right.dtype, device=right.device)
    return torch.linalg.solve(square / scale / scale[:, None] + RIDGE * one, right / scale) / scale


def split(net: DenseNet, own: Mapping[int, Tensor], shared: Forms, packed: Tensor) -> dict[int, Tensor]:
    """The solution as matrices by layer, what is shared being in its place."""
    parts, made = packed.split([int(mask.sum()) for mask in own.values()]), {}
    for (layer, mask), part in zip(own.items(), parts, strict=True):
        whole = shared.get(layer, torch.zeros_like(mask, dtype=packed.dtype)).clone()
        whole[mask] = part
        made[layer] = symmetric.unpack(whole, net.weights[layer - 2].shape[1])
    return made


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


def crossed(m: Tensor, h: Tensor, width: int) -> Tensor:
    """K_l of (4), rows h (rows, q) being those of the block below."""
    first = len(m) - h.shape[1]
    u, s, v = torch.linalg.svd(m[:first, first:], full_matrices=False)
    width = min(width, len(s))
    lower, upper = s[:width].sqrt()[:, None] * u.T[:width], s[:width].sqrt()[:, None] * v[:width]
    products, wanted = symmetric.squares(h @ upper.T), ((h @ m[first:, first:]) * h).sum(1)
    q = symmetric.unpack(ridge(products.T @ products / len(h), wanted @ products / len(h)), width)
    values, vectors = torch.linalg.eigh(q)
    values = values.clamp(min=LEAST * float(values.max().clamp(min=LEAST))).sqrt()
    p, inverse = (vectors * values) @ vectors.T, (vectors / values) @ vectors.T
    return torch.cat([inverse @ lower, p @ upper], dim=1)


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
