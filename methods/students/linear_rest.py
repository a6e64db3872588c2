"""The linear map that turned neurons leave, and which neurons to turn back for it to vanish.

Where s(-z) = s(z) - 2cz, a network with the wrong sides of the neurons in S leaves

    (1)  f(x) - Σ_k a_k s(⟨w_k, x⟩ + b_k) = Bᵀ(x; 1),   B = -2c Σ_S a_k (w_k; b_k) but for the output bias,

so that S is found from B (`hermite.sign_rules`): by least squares up to as many neurons as inputs, beyond by looking at
all sets or at flips of some.
"""

import torch
from torch import Tensor

from paramid import Network, Run, activation
from paramid.methods.hermite import sign_rules
from paramid.methods.students.plateaus import lifted


def fitted(network: Network, x: Tensor, y: Tensor) -> Tensor:
    """B of (1), (inputs + 1, outputs), by least squares."""
    return torch.linalg.pinv(lifted(x)) @ (y - network(x))  # lstsq rounds anew at every call


def turned_back(network: Network, bypass: Tensor, run: Run) -> Network:
    """The network with the neurons of (1) on their other side, and all that is constant in the output bias."""
    tilt = activation(network.activations[0]).tilt
    assert tilt is not None
    (w, a), (b, c) = network.weights, network.biases
    columns = 2 * tilt * w[:, None] * a.T  # (inputs, outputs, neurons)
    flips = sign_rules.decide(columns.flatten(0, 1), bypass[:-1].flatten(), run).chosen
    signs = 1 - 2 * flips.to(w.dtype)
    offset = c + bypass[-1] + 2 * tilt * (flips.to(w.dtype) * b) @ a
    return network.with_layers((w * signs, a), (b * signs, offset))
