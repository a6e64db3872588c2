"""What neurons nobody can tell apart: symmetries by activation, and one choice of each.

    none               elu and others            nothing
    odd                tanh, erf, identity       s(-z) = -s(z): (w, b) and the outgoing weights are turned
    complement         logistic                  s(-z) = 1 - s(z): the same, and a constant goes to the next shift
    even + linear      softplus, GELU, SiLU      s(-z) = s(z) - 2cz: (w, b) alone is turned, a linear map is left over
    homogeneous        ReLU, leaky ReLU          the same, and s(tz) = t s(z): (w, b) of length 1, its length moved on

with c the activation's `tilt`. Of w and -w that one is taken whose largest entry is positive. Where two entries of
opposite signs are nearly largest, noise would split a cluster in two: between students distances are taken without
signs, min(‖p - q‖, ‖p + q‖), and signs are matched once clusters are known.
"""

import torch
from torch import Tensor

from paramid import Network, activation
from paramid.words.network import flip, normalise


def turns(name: str) -> bool:
    """Whether (w, b) may be turned."""
    g = activation(name)
    return g.symmetry is not None or g.tilt is not None


def exact(name: str) -> bool:
    """Whether a turn leaves nothing over."""
    return activation(name).symmetry is not None


def turned(network: Network, layer: int) -> Network:
    """The same network with the largest entry of every (w, b) of a layer positive, where a turn leaves nothing over."""
    network = normalise(network)
    if not exact(network.activations[layer]):
        return network
    return flip(network, layer, signs(torch.cat([network.weights[layer], network.biases[layer][None]])))


def signs(columns: Tensor) -> Tensor:
    """±1 for every column, so that its largest entry becomes positive."""
    if not columns.shape[1]:
        return columns.new_zeros(0)
    largest = columns.gather(0, columns.abs().argmax(0, keepdim=True))[0]
    return torch.where(largest < 0, -1.0, 1.0).to(columns)
