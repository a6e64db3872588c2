"""Mirror images of ReLUs that values do not tell apart, since another neuron of the layer never switches.

Below a single neuron or output, with neuron k of the layer active on all inputs,

    (1)  α max(0, z_l) = α max(0, -z_l) + α z_l,   α_k max(0, z_k) + α z_l = α_k max(0, z_k + (α / α_k) z_l),

so that every other neuron of that layer may be turned, and k takes what is left, while the function stays the same on
these inputs. A claim is read as the one of its forms whose neurons look the way the true ones do.
"""

from __future__ import annotations

from torch import Tensor

from paramid.words.network import Network

ALIKE = 0.99  # |cos| of the preactivations of a neuron and of the one that it stands for


def turned(truth: Network, claim: Network, x: Tensor) -> Network:
    """The claim with neurons turned by (1) where the true ones look the other way."""
    for layer in range(len(truth.widths)):
        name = truth.activations[layer]
        if name == "relu" and truth.weights[layer + 1].shape[1] == 1 and layer < len(claim.widths):
            claim = turned_layer(truth, claim, x, layer)
    return claim


def turned_layer(truth: Network, claim: Network, x: Tensor, layer: int) -> Network:
    """(1) in one layer."""
    true, mine = truth.preactivations(x)[layer], claim.preactivations(x)[layer]
    takes = always_active(claim, mine, layer)
    if not always_active(truth, true, layer).any() or not takes.any():
        return claim
    k = int((claim.weights[layer + 1][:, 0].abs() * takes).argmax())
    cos = (true / true.norm(dim=0)).T @ (mine / mine.norm(dim=0))
    nearest = cos.gather(0, cos.abs().nan_to_num().argmax(dim=0, keepdim=True))[0]
    turn = (nearest < -ALIKE) & ~takes
    w, b, alpha = claim.weights[layer].clone(), claim.biases[layer].clone(), claim.weights[layer + 1][:, 0]
    w[:, k] += w[:, turn] @ alpha[turn] / alpha[k]
    b[k] += b[turn] @ alpha[turn] / alpha[k]
    w[:, turn], b[turn] = -w[:, turn], -b[turn]
    weights, biases = list(claim.weights), list(claim.biases)
    weights[layer], biases[layer] = w, b
    return claim.with_layers(weights, biases)


def always_active(network: Network, z: Tensor, layer: int) -> Tensor:
    """Which neurons are active on all inputs and send something on."""
    return (z > 0).all(dim=0) & (network.weights[layer + 1][:, 0] != 0)
