"""Features of a quadratic DenseNet up to order and sign: what the squares of the next layer single out.

A layer l' > l sees S_l through squares of its true coordinates, S_l = V T with T the true features, V orthogonal. So

    (1)  A_i = R_lᵀ diag(K_{l',l}[i]) R_l = V D_i Vᵀ,   D_i diagonal, for every row i of every l' that sees l:

V is what diagonalises all of them at once, unique up to order and sign unless two coordinates share all their D_i.
Jacobi: each plane (p, q) is turned by the angle θ that is best for all matrices together, with
a = Σ_i (A_pp - A_qq)² - 4 A_pq² and b = 4 Σ_i (A_pp - A_qq) A_pq,

    (2)  θ = ¼ atan2(b, a).

References: Cardoso & Souloumiac, SIAM J. Matrix Anal. 17 (1996); that (1) identifies W_l is ours.
"""

from dataclasses import replace

import torch
from torch import Tensor

from paramid.words.densenet import DenseNet

SWEEPS, STILL = 100, 1e-15  # radians


def diagonalise(matrices: Tensor) -> tuple[Tensor, float]:
    """V for symmetric matrices (n, k, k), and the share of their norm that stays off the diagonals."""
    a, k = matrices, matrices.shape[-1]
    v = torch.eye(k, dtype=a.dtype, device=a.device)
    for _ in range(SWEEPS):
        largest = 0.0
        for p in range(k - 1):
            for q in range(p + 1, k):
                turn, angle = plane(a, p, q)
                a, v = turn.T @ a @ turn, v @ turn
                largest = max(largest, abs(angle))
        if largest < STILL:
            break
    rest = a - torch.diag_embed(a.diagonal(dim1=1, dim2=2))
    return v, float(rest.norm() / a.norm().clamp(min=torch.finfo(a.dtype).tiny))


def plane(a: Tensor, p: int, q: int) -> tuple[Tensor, float]:
    """The rotation (2) of the plane (p, q)."""
    apart, off = a[:, p, p] - a[:, q, q], a[:, p, q] + a[:, q, p]
    angle = torch.atan2(2 * (apart * off).sum(), (apart * apart - off * off).sum()) / 4
    c, s = torch.cos(angle), torch.sin(angle)
    turn = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    index = torch.tensor([p, p, q, q], device=a.device), torch.tensor([p, q, p, q], device=a.device)
    return turn.index_put(index, torch.stack([c, -s, s, c])), float(angle)


def plain(net: DenseNet) -> tuple[DenseNet, float]:
    """The net in the coordinates that the layers above single out, every R_l = I, and the worst share left off."""
    weights, mixes, worst = list(net.weights), list(net.mixes), 0.0
    for layer in range(2, net.depth):
        at = DenseNet(tuple(weights), tuple(mixes), net.links, net.alphas)
        above = {u: at.parts(u) for u in range(layer + 1, net.depth + 1) if layer in net.links[u - 2]}
        r = mixes[layer - 2]
        seen = torch.cat([parts[layer] for parts in above.values()])
        v, off = diagonalise(r.T @ (seen[:, :, None] * r))
        worst = max(worst, off)
        weights[layer - 2] = v.T @ weights[layer - 2]
        for u, parts in above.items():
            parts[layer] = parts[layer] @ (r @ v).square()
            weights[u - 2] = torch.cat([parts[j] for j in net.links[u - 2]], dim=1)
        mixes[layer - 2] = one(v)
    mixes[-1] = one(weights[-1])
    return replace(net, weights=tuple(weights), mixes=tuple(mixes)), worst


def one(like: Tensor) -> Tensor:
    """The identity on the rows of `like`."""
    return torch.eye(len(like), dtype=like.dtype, device=like.device)
