"""Which parameters of a network its values determine on given inputs, by the rank of its own Jacobian there.

    (1)  J = ∂f/∂θ at the inputs, a row for every value,
    (2)  C: for every neuron of a homogeneous layer the direction w of dw, for its length is nobody's to see,

(both of `limits.information`), and what is not determined has an entry in the null space of [J; Cᵀ]. Columns are scaled
to length 1 before it is taken. Of many inputs those are looked at that feel most: for every neuron some of the rarer of
its sides.

One hidden layer of ReLUs needs no Jacobian: a neuron is determined where it switches on the inputs, on more of them
than it has weights, sends something on, and shares its half-space with no other; what never switches is an affine
function, and then the output's bias is not determined either. (The rank would miss a neuron and its mirror image on one
plane, whose biases and the output's may move together at the price of a strip that (1) does not see.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from paramid.limits.information import still, telling, triangle
from paramid.words.network import Network, shaped
from paramid.words.neuron_distances import distances

SAME = 1e-9  # of two half-spaces
NULL, ENTRY = 1e-9, 1e-6  # of the largest singular value; of a vector of length 1


def determined(network: Network, x: Tensor) -> Network:
    """1 for every parameter that is determined at the rows of `x`, 0 for those that are not, in the network's shape."""
    return (by_planes if network.activations == ("relu", "identity") else by_rank)(network, x)


def by_rank(network: Network, x: Tensor) -> Network:
    """By the null space of [J; Cᵀ]."""
    factor = triangle(network, x[telling(network, x)], still(network))
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
