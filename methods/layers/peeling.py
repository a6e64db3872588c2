"""Coordinates above a layer that is known, in which the layers above it are a network of their own.

With W of full column rank, τ and an orthonormal basis Q of col(W_next), and c the middle of g's range,

    (1)  x(a) = W⁺ᵀ(g⁻¹(c + Q a) - τ),   a = Qᵀ(g(Wᵀx + τ) - c)   at every x that f can tell apart,

make a a free input around 0: f(x(a)) is a network with one layer less, whose first weights QᵀW_next are unit columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Activation, Network

INVERSES = {"tanh": torch.atanh, "logistic": torch.logit, "erf": torch.erfinv}
INSIDE = 1 - 1e-15  # what is left of g's range where its values round to the edge


@dataclass(frozen=True)
class Peeled:
    """The coordinates (1) above a layer."""

    weights: Tensor
    shifts: Tensor
    basis: Tensor
    g: Activation

    def lifted(self, a: Tensor) -> Tensor:
        """x(a)."""
        z = inverse(self.g, middle(self.g) + a @ self.basis.T) - self.shifts
        return z @ torch.linalg.pinv(self.weights)

    def image(self, x: Tensor) -> Tensor:
        """The a of x."""
        return (self.g(torch.addmm(self.shifts, x, self.weights)) - middle(self.g)) @ self.basis

    def below(self, above: Network) -> Network:
        """The network whose layers from the second on are `above` in these coordinates."""
        w = self.basis @ above.weights[0]
        b = above.biases[0] - middle(self.g) * w.sum(0)
        return Network(
            (self.weights, w, *above.weights[1:]),
            (self.shifts, b, *above.biases[1:]),
            (self.g.name, *above.activations),
        )


def middle(g: Activation) -> float:
    """The c of (1)."""
    return 0.5 if g.symmetry == "complement" else 0.0


def inverse(g: Activation, y: Tensor) -> Tensor:
    """g⁻¹, of values on the edge of its range those next to it."""
    if g.name == "identity":
        return y
    half = middle(g)
    reach = INSIDE * (half or 1.0)
    inner: Tensor = INVERSES[g.name]((y - half).clamp(-reach, reach) + half)
    return inner
