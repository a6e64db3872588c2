"""A network as its spec has it: outer weights 1, columns of length 1, no output bias, wherever these are pinned.

What lines show meets the pins up to signs and, of homogeneous activations, lengths,

    (1)  a g(z) = -a g(-z)   (odd),   a g(z) = a - a g(-z)   (complement),   a g(z) = a λ⁻¹ g(λz)   (degree 1),

and to what it is known to. It is put there before it is refined; a function that does not meet the pins
leaves too much.
"""

import torch

from paramid import Network, Spec, activation
from paramid.words.network import flip, normalise


def pinned(network: Network, spec: Spec) -> Network:
    """The network in the form that `spec` pins."""
    g = activation(network.activations[0])
    if spec.norms == "unit":
        network = normalise(network) if g.degree is not None else network
    elif spec.outer == "ones" and g.degree is not None:
        network = scaled(network, network.weights[1][:, 0].abs())
    if spec.outer == "ones" and g.symmetry in ("odd", "complement"):
        side = network.weights[1][:, 0].sign()
        network = flip(network, 0, torch.where(side == 0, 1.0, side))
    (w, a), (b, c) = network.weights, network.biases
    if spec.norms == "unit":
        w = w / w.norm(dim=0)
    a = torch.ones_like(a) if spec.outer == "ones" else a
    c = torch.zeros_like(c) if spec.output_bias == "zero" else c
    return network.with_layers((w, a), (b, c))


def scaled(network: Network, factor: torch.Tensor) -> Network:
    """The same function with columns longer by `factor`, of an activation of degree 1."""
    (w, a), (b, c) = network.weights, network.biases
    return network.with_layers((w * factor, a / factor[:, None]), (b * factor, c))
