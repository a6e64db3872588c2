"""What values of a layered network say of its parameters: JᵀJ, the Fisher information under noise of deviation 1.

θ_l = (W_l; b_l), rows (in + 1, out), layer after layer. With Y_l the inputs of layer l and a column of ones, and
δ_l = ∂f/∂z_l by backpropagation, the Jacobian of row i is Y_l,i ⊗ δ_l,i, so that

    (1)  (JᵀJ)_(l,a,b),(l',a',b') = Σ_i Y_l,ia Y_l',ia' (δ_l,i ᵀδ_l',i)_bb'

is one product of matrices for every pair of layers, as cheap for many outputs as for a single one.

Parameters that are pinned, or that a homogeneous activation leaves open, are directions in which nothing moves,

    (2)  C: (w_k; 0) of columns of fixed length, unit vectors of outer weights and output biases that are told,

orthonormal; Q = 1 - CCᵀ projects them off. As rank [J; Cᵀ] = rank JQ + the number of columns of C, the triangular
factor of [J; Cᵀ] tells what is determined.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from paramid.words.activations import activation
from paramid.words.network import Network
from paramid.words.spec import Spec

ROWS = 2**22  # doubles of (1)'s factors at once
CHUNK = 2**24  # and of a piece of J
EACH = 2  # values a parameter of rows that tell a rank
ALL = ("norms", "outer", "output_bias")


def free_of(spec: Spec) -> tuple[str, ...]:
    """Which of norms, outer weights and output bias a spec leaves free."""
    told = {"norms": spec.norms != "unit", "outer": spec.outer != "ones", "output_bias": spec.output_bias != "zero"}
    return tuple(name for name, free in told.items() if free)


def normal_matrix(network: Network, x: Tensor) -> Tensor:
    """JᵀJ of (1), (parameters, parameters), layer after layer, weights before shifts."""
    ends = starts(network)
    total = x.new_zeros(ends[-1], ends[-1])
    widest = max((w.shape[0] + 1) ** 2 + w.shape[1] ** 2 for w in network.weights)
    for rows in x.split(max(1, ROWS // widest)):
        fed, delta = parts(network, rows)
        for i in range(len(fed)):
            for j in range(i, len(fed)):
                total[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] += block(fed[i], delta[i], fed[j], delta[j])
    for i in range(1, len(ends) - 1):
        total[ends[i] : ends[i + 1], : ends[i]] = total[: ends[i], ends[i] : ends[i + 1]].T
    return total


def jacobian(network: Network, x: Tensor) -> Tensor:
    """J, (rows · outputs, parameters)."""
    fed, delta = parts(network, x)
    blocks = [(y[:, None, :, None] * d[:, :, None, :]).flatten(2) for y, d in zip(fed, delta, strict=True)]
    return torch.cat(blocks, dim=2).flatten(0, 1)


def triangle(network: Network, x: Tensor, fixed: Tensor) -> Tensor:
    """The triangular factor of [J; Cᵀ], in pieces of `x`, with C the columns of `fixed`."""
    factor = fixed.T
    step = max(1, CHUNK // (factor.shape[1] * network.outputs))
    for piece in x.split(max(step, 1 + factor.shape[1] // network.outputs)):
        factor = torch.linalg.qr(torch.cat([factor, jacobian(network, piece)]), mode="r")[1]
    return factor


def telling(network: Network, x: Tensor) -> Tensor:
    """The rows of `x` that are looked at: the first ones, and for every neuron enough of its rarer side."""
    width = sum(p.numel() for p in (*network.weights, *network.biases))
    chosen = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    chosen[: EACH * width // network.outputs + 1] = True
    for z, w in zip(network.preactivations(x)[:-1], network.weights, strict=False):
        on = z > 0
        rarer = torch.where(on.double().mean(0) > 0.5, ~on, on)
        chosen |= (rarer & (rarer.cumsum(0) <= EACH * (len(w) + 1))).any(dim=1)
    return chosen.nonzero()[:, 0]


def starts(network: Network) -> list[int]:
    """Where the parameters of every layer begin, and their number."""
    sizes = [(w.shape[0] + 1) * w.shape[1] for w in network.weights]
    return [0, *torch.tensor(sizes, dtype=torch.int64, device="cpu").cumsum(0).tolist()]


def parts(network: Network, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Y_l (rows, inputs of l + 1) and δ_l (rows, outputs, width) for every layer."""
    ones, z = torch.ones_like(x[:, :1]), network.preactivations(x)
    fed = [x, *(activation(name)(t) for name, t in zip(network.activations, z[:-1], strict=False))]
    return [torch.cat([t, ones], 1) for t in fed], network.sensitivities(x)


def block(fed: Tensor, delta: Tensor, other_fed: Tensor, other_delta: Tensor) -> Tensor:
    """The block of (1) between two layers."""
    (a, b), (c, d) = (fed.shape[1], delta.shape[2]), (other_fed.shape[1], other_delta.shape[2])
    left = (fed[:, :, None] * other_fed[:, None, :]).flatten(1)
    right = (delta.transpose(1, 2) @ other_delta).flatten(1)
    return (left.T @ right).view(a, c, b, d).transpose(1, 2).reshape(a * b, c * d)


def still(network: Network, free: Collection[str] = ALL) -> Tensor:
    """C of (2), (parameters, directions)."""
    ends, found = starts(network), []
    for layer, w in enumerate(network.weights):
        last = layer == len(network.weights) - 1
        if last:
            told = torch.zeros(w.shape[0] + 1, dtype=torch.bool, device="cpu")
            told[:-1], told[-1] = "outer" not in free, "output_bias" not in free
            picked = torch.eye(ends[-1] - ends[layer], dtype=w.dtype, device=w.device)[
                :, told.repeat_interleave(w.shape[1]).to(w.device)
            ]
        elif "norms" in free and activation(network.activations[layer]).degree is None:
            continue
        else:
            unit = w / w.norm(dim=0).clamp(min=torch.finfo(w.dtype).tiny)
            lifted = torch.cat([unit, torch.zeros_like(unit[:1])])
            picked = (lifted[:, :, None] * torch.eye(w.shape[1], dtype=w.dtype, device=w.device)).flatten(0, 1)
        found.append(torch.nn.functional.pad(picked, (0, 0, ends[layer], ends[-1] - ends[layer + 1])))
    return torch.cat(found, 1) if found else network.weights[0].new_zeros(ends[-1], 0)


def held(network: Network, free: Collection[str] = ALL) -> int:
    """How many columns C has, without making it: of wide networks it does not fit in memory."""
    pinned = [
        w.shape[1]
        for w, name in zip(network.weights, network.activations[:-1], strict=False)
        if "norms" not in free or activation(name).degree is not None
    ]
    outer, output_bias = network.weights[-1].numel(), network.biases[-1].numel()
    return sum(pinned) + ("outer" not in free) * outer + ("output_bias" not in free) * output_bias


def moving(normal: Tensor, fixed: Tensor) -> tuple[Tensor, float]:
    """Q JᵀJ Q + s CCᵀ and s, of the size of JᵀJ: where it has an inverse it is that on what is free, and 1/s on C."""
    scale = float(normal.diagonal().mean())
    if not fixed.shape[1]:
        return normal, scale
    crossed = normal @ fixed
    inner = fixed.T @ crossed
    inner.diagonal().add_(scale)
    off = crossed - fixed @ inner / 2
    return normal.addmm(off, fixed.T, alpha=-1).addmm_(fixed, off.T, alpha=-1), scale
