"""Signs that only the linear part of a network shows.

For softplus g(t) - g(-t) = t: turning a neuron's direction changes f by a linear function, which no second or higher
derivative sees. With two versions f_k⁺, f_k⁻ of every undecided neuron,

    (1)  ∇f(x_j) - Σ_k ∇f_k⁺(x_j) = Σ_k y_k (∇f_k⁻ - ∇f_k⁺)(x_j),   y_k ∈ {0, 1},

solved as least squares on 0 <= y <= 1. Of D equations that hold exactly the box has one solution, and that one whole,
for fewer than about 2D neurons: Donoho & Tanner, Counting the faces of randomly-projected hypercubes, 2010. Where y
does not come out whole the signs stay unknown.
"""

import numpy as np
import torch
from scipy.optimize import lsq_linear
from torch import Tensor

from paramid import GiveUp, Network, Oracle, activation
from paramid.methods.matched_differences import observe

STEP = 0.03
WHOLE = 0.25  # how far from 0 or 1 a solution of (1) may lie


def settled(oracle: Oracle, x: Tensor, upright: Network, turned: Network, turn: Tensor, undecided: Tensor) -> Tensor:
    """Which neurons are the `turned` ones: as `turn` says, and by (1) where it is `undecided`."""
    if not bool(undecided.any()):
        return turn
    base, other = gradients(upright, x), gradients(turned, x)
    rest = observe(oracle, x, STEP) - torch.where(turn & ~undecided, other, base).sum(2)
    columns = (other - base)[:, :, undecided].flatten(0, 1)
    solution = lsq_linear(columns.numpy(force=True), rest.flatten().numpy(force=True), bounds=(0, 1), tol=1e-12).x
    if (doubt := float(np.abs(solution - solution.round()).max())) > WHOLE:
        raise GiveUp(
            f"{len(solution)} signs do not show in the curvature, the gradient leaves them open by {doubt:.2f}"
        )
    chosen = turn.clone()
    chosen[undecided] = torch.from_numpy(solution > 0.5).to(turn.device)
    return chosen


def gradients(network: Network, x: Tensor) -> Tensor:
    """∇f_k(x_j) of every neuron, (rows, inputs, neurons)."""
    (w, outer), b, g = network.weights, network.biases[0], activation(network.activations[0])
    return g(x @ w + b, 1)[:, None, :] * (w * outer[:, 0])
