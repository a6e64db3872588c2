"""Which parameters of a network its values determine on given inputs, by the rank of its own Jacobian there.

    (1)  J = ∂f/∂θ at the inputs, a row for every value,
    (2)  G: for every neuron of a homogeneous layer the row w of dw, for its length is nobody's to see,

and what is not determined has an entry in the null space of [J; G]. Columns are scaled to length 1 before it is taken.
Of many inputs those are looked at that feel most: for every neuron some of the rarer of its sides.

One hidden layer of ReLUs needs no Jacobian: a neuron is determined where it switches on the inputs, on more of them
than it has weights, sends something on, and shares its half-space with no other; what never switches is an affine
function, and then the output's bias is not determined either. (The rank would miss a neuron and its mirror image on one
plane, whose biases and the output's may move together at the price of a strip that (1) does not see.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from paramid.words.activations import activation
from paramid.words.network import Network, shaped
from paramid.words.neuron_distances import distances

SAME = 1e-9  # of two half-spaces
NULL, ENTRY = 1e-9, 1e-6  # of the largest singular value; of a vector of length 1
EACH = 2  # looked at: so many values a parameter
CHUNK = 2**24  # doubles of a piece of J


def determined(network: Network, x: Tensor) -> Network:
    """1 for every parameter that is determined at the rows of `x`, 0 for those that are not, in the network's shape."""
    return (by_planes if network.activations == ("relu", "identity") else by_rank)(network, x)


def by_rank(network: Network, x: Tensor) -> Network:
    """By the null space of [J; G]."""
    factor = gauge(network)
    rows = telling(network, x)
    step = max(1, CHUNK // (factor.shape[1] * network.outputs))
    for piece in x[rows].split(max(step, 1 + factor.shape[1] // network.outputs)):
        factor = torch.linalg.qr(torch.cat([factor, jacobian(network, piece)]), mode="r")[1]
    length = factor.norm(dim=0)
    felt = length > 0
    _, sizes, v = torch.linalg.svd(factor[:, felt] / length[felt], full_matrices=True)
    kept = torch.cat([sizes, sizes.new_zeros(len(v) - len(sizes))]) > NULL * (float(sizes.max()) if len(sizes) else 0)
    seen = torch.zeros_like(length)
    seen[felt] = (v[~kept].norm(dim=0) < ENTRY).to(length.dtype)
    return shaped(network, seen)


def by_planes(network: Network, x: Tensor) -> Network:
    """The same of one hidden layer of ReLUs."""
    (w, a), (b, c) = network.weights, network.biases
    on = (network.preactivations(x)[0] > 0).sum(dim=0)
    lifted = torch.cat([w, b[None]])
    lifted = lifted / lifted.norm(dim=0).clamp(min=torch.finfo(w.dtype).tiny)
    alone = (distances(lifted, lifted) < SAME).sum(dim=1) == 1
    sends = (a != 0).any(dim=1)
    seen = (torch.minimum(on, len(x) - on) > len(w)) & alone & sends
    affine = bool(((on == len(x)) & sends).any())
    ones = seen.to(w.dtype)
    return network.with_layers(
        [ones.expand_as(w), ones[:, None].expand_as(a)], [ones, torch.zeros_like(c) if affine else torch.ones_like(c)]
    )


def missing(known: Network) -> int:
    """How many parameters are not determined."""
    return sum(int((part == 0).sum()) for part in (*known.weights, *known.biases))


def jacobian(network: Network, x: Tensor) -> Tensor:
    """(1), (rows * outputs, parameters): layer by layer the weights, row by row, then the biases."""
    below = [x]
    for z, name in zip(network.preactivations(x)[:-1], network.activations, strict=False):
        below.append(activation(name)(z))
    parts: list[Tensor] = []
    for h, s in zip(below, network.sensitivities(x), strict=True):
        parts += [(h[:, None, :, None] * s[:, :, None, :]).flatten(2), s]
    return torch.cat(parts, dim=2).flatten(0, 1)


def gauge(network: Network) -> Tensor:
    """(2), (neurons, parameters)."""
    blocks, width = [], sum(p.numel() for p in (*network.weights, *network.biases))
    at = 0
    for layer, (w, b) in enumerate(zip(network.weights, network.biases, strict=True)):
        if layer < len(network.widths) and activation(network.activations[layer]).degree is not None:
            rows = w.new_zeros(w.shape[1], width)
            rows[:, at : at + w.numel()] = (
                (w[:, :, None] * torch.eye(w.shape[1], device=w.device, dtype=w.dtype)[None]).flatten(0, 1).T
            )
            blocks.append(rows)
        at += w.numel() + b.numel()
    return torch.cat(blocks) if blocks else network.weights[0].new_zeros(0, width)


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
