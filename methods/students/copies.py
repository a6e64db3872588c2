"""What a network has twice is merged, and what sends nothing on is dropped: the same function with fewer neurons.

A wide student without loss holds, for every true neuron, copies of (w, b) whose outgoing weights add up to the true
ones; groups of any one (w, b) whose outgoing weights add up to 0; and neurons without incoming weights, constants that
belong to the next shift. Neurons are compared as `symmetries` turns them, so that mirror images are copies too. What
remains of a student without loss is the teacher; neurons are then cut to those that send on most.

Reference: Şimşek, Ged, Jacot, Spadaro, Hongler, Gerstner & Brea, ICML 2021.
"""

import numpy as np
import torch
from scipy.cluster.hierarchy import fcluster, linkage

from paramid import GiveUp, Network, Spec, activation
from paramid.methods.students import symmetries
from paramid.words.network import permute

SAME = 1e-5  # distance of copies
SILENT = 1e-5  # of the outgoing weights
CONSTANT = 1e-8  # length of the weights of a constant


def merged(network: Network, same: float = SAME) -> Network:
    """The network without copies, zero groups and constants."""
    for layer in range(len(network.widths)):
        network = symmetries.turned(network, layer)
        network = without_constants(network, layer)
        network = without_copies(network, layer, same)
        sent = network.weights[layer + 1].norm(dim=1)
        network = permute(network, layer, (sent > SILENT * sent.max() if len(sent) else sent > 0).nonzero()[:, 0])
    return network


def without_constants(network: Network, layer: int) -> Network:
    """What neurons without incoming weights send on, in the next shift."""
    w, b = list(network.weights), list(network.biases)
    still = w[layer].norm(dim=0) <= CONSTANT
    sent = activation(network.activations[layer])(b[layer][still]) @ w[layer + 1][still]
    b[layer + 1] = b[layer + 1] + sent
    return permute(network.with_layers(w, b), layer, (~still).nonzero()[:, 0])


def without_copies(network: Network, layer: int, same: float) -> Network:
    """Neurons of one (w, b) as one, their outgoing weights added up."""
    w, b = list(network.weights), list(network.biases)
    neurons = torch.cat([w[layer], b[layer][None]]).T
    if len(neurons) < 2:
        return network
    labels = fcluster(linkage(neurons.numpy(force=True), "average"), same, "distance")
    groups = np.unique(labels)
    sums = torch.as_tensor((labels == groups[:, None]).astype(np.float64)).to(w[layer])  # (groups, neurons)
    means = sums / sums.sum(1, keepdim=True)
    w[layer], b[layer], w[layer + 1] = w[layer] @ means.T, means @ b[layer], sums @ w[layer + 1]
    return network.with_layers(w, b)


def cut(network: Network, spec: Spec) -> Network:
    """The neurons that send on most, no more than the teacher is told to have."""
    for layer, most in enumerate(spec.widths):
        if most is not None and network.widths[layer] > most:
            order = network.weights[layer + 1].norm(dim=1).argsort(descending=True)[:most]
            network = permute(network, layer, order)
    return network


def require(network: Network, spec: Spec) -> None:
    """Give up on more neurons than the teacher is told to have."""
    for layer, (mine, told) in enumerate(zip(network.widths, spec.widths, strict=True), 1):
        if told is not None and mine > told:
            raise GiveUp(f"{mine} different neurons are left in layer {layer}, the teacher has {told}")
