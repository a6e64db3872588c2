"""Faces that share the second layer, joined to one rough network of two layers of tanh.

On every face the outer weights A_k are the same, up to order and the sign of each neuron: they tell which is which.
With the best face as reference,

    (1)  W_jk from the best face that holds j,   β_k = α_k - Σ_{i ∉ J} W_ik sign(⟨u_i, x_0⟩)  by (face, 2).

As logistic(z) = (1 + tanh(z/2)) / 2 a network of tanh is one of logistic, with

    (2)  W ← 2 W above and twice once more below another layer, and shifts that take up what is constant.
"""

import torch

from paramid import Network
from paramid.methods.faces.face import Layer
from paramid.methods.faces.face_fit import Solved
from paramid.methods.faces.second_layer import Upper
from paramid.words.neuron_distances import assign, distances


def joined(layer: Layer, solved: list[Solved]) -> Network:
    """(1), the faces together holding every neuron of `layer`."""
    order = sorted(solved, key=lambda q: q.rms)
    best, width = order[0], len(layer.norms)
    norms, shifts = layer.norms.clone(), layer.shifts.clone()
    weights = layer.norms.new_zeros(width, len(best.upper.shifts))
    for each in reversed(order):  # the best come last and stay
        j = each.face.neurons
        weights[j] = matched(best.upper, each.upper).weights
        norms[j], shifts[j] = each.face.layer.norms, each.face.layer.shifts
    still = torch.ones_like(norms).index_fill(0, best.face.neurons, 0.0)
    signs = still * (layer.directions.T @ best.face.base).sign()
    above = best.upper
    return Network(
        (layer.directions * norms, weights, above.outer),
        (shifts, above.shifts - signs @ weights, above.bias),
        ("tanh", "tanh", "identity"),
    )


def matched(reference: Upper, other: Upper) -> Upper:
    """`other` in the order and with the signs of `reference`."""
    straight, turned = (distances(reference.outer.T, sign * other.outer.T) for sign in (1, -1))
    _, order = assign(torch.minimum(straight, turned).cpu())
    order = order.to(other.outer.device)
    near, far = (t.gather(1, order[:, None])[:, 0] for t in (turned, straight))
    sign = torch.where(near < far, -1.0, 1.0).to(other.outer.dtype)
    return Upper(
        other.weights[:, order] * sign,
        other.shifts[order] * sign,
        other.outer[order] * sign[:, None],
        other.bias,
    )


def renamed(network: Network, name: str) -> Network:
    """(2): a network of tanh as one of logistic, or as it is."""
    if name == "tanh":
        return network
    weights, shifts = list(network.weights), list(network.biases)
    for below in range(len(weights)):
        if below:  # y = 2 logistic - 1
            shifts[below] = shifts[below] - weights[below].sum(0)
            weights[below] = 2 * weights[below]
        if below < len(weights) - 1:  # tanh(z) = 2 logistic(2z) - 1
            weights[below], shifts[below] = 2 * weights[below], 2 * shifts[below]
    return Network(tuple(weights), tuple(shifts), (name,) * (len(weights) - 1) + ("identity",))
