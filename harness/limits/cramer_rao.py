"""The Cramér-Rao bound: how well any method can know the parameters of a network from values under noise.

For values f(x_i) + σ ε_i at given inputs, ε standard normal, an estimate without bias has a covariance of at least

    (1)  σ² (Q JᵀJ Q)⁺,   J = ∂f/∂θ at the inputs, Q onto what is free            (information, 1 and 2).

The largest of P normal errors is two to three times the largest deviation: an error of three bounds attains it.

It says nothing of estimates with bias, of steps and roundings that are no noise, nor of which inputs to choose: more
telling ones have a smaller bound, and `best_spread` looks for such.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from paramid.limits.information import ALL, moving, normal_matrix, starts, still
from paramid.words import random_streams
from paramid.words.network import Network, shaped

SPREADS = (1.0, 1.5, 2.5, 4.0, 6.0, 9.0)
ENOUGH = 4  # values a parameter when spreads are compared
UNSEEN = 1e-7  # of the Cholesky factor of correlations: rounding is left of the square


def bound(network: Network, x: Tensor, sigma: float, free: Collection[str] = ALL) -> float:
    """The largest deviation (1) of a parameter, from values at the rows of `x`; infinite where one is not seen at all.

    `free` names what is not known beforehand: "norms" of weight vectors, "outer" weights, the "output_bias".
    """
    return float(max(values.max() for values in deviations(network, x, sigma, free).arrays().values()))


def deviations(network: Network, x: Tensor, sigma: float, free: Collection[str] = ALL) -> Network:
    """The deviation (1) of every parameter, in the network's shape."""
    fixed = still(network, free)
    system, scale = moving(normal_matrix(network, x), fixed)
    length = system.diagonal().clamp(min=torch.finfo(system.dtype).tiny).sqrt()
    factor, failed = torch.linalg.cholesky_ex(system / length / length[:, None])
    if int(failed) or float(factor.diagonal().min()) < UNSEEN:
        return shaped(network, torch.full_like(length, torch.inf))
    variance = torch.cholesky_inverse(factor).diagonal() / length.square() - fixed.square().sum(1) / scale
    return shaped(network, sigma * variance.clamp(min=0).sqrt())


def best_spread(network: Network, free: Collection[str] = ALL) -> float:
    """The spread of Gaussian inputs whose values have the smallest bound, of a few."""
    rows = ENOUGH * starts(network)[-1] // min(network.outputs, network.widths[-1]) + network.inputs
    like = network.weights[0]
    x = random_streams.normal(rows, network.inputs, random_streams.generator(0, "limits"), like.device, like.dtype)
    return min(SPREADS, key=lambda spread: bound(network, spread * x, 1.0, free))
