"""The affine part ⟨v, x⟩ + c beside the units of a ReLU network: what units of large |b| leave of themselves.

As two units, whatever the rest,

    (1)  ⟨v, x⟩ + c = β (max(0, z) - max(0, -z)),   z = (⟨v, x⟩ + c) / β,   β = ‖v‖,

and, in a fit to samples, as one unit whose activation is the identity: w = v / β, b = c / β, a = β,

    (2)  g(x) = Σ_i a_i max(0, ⟨w_i, x⟩ + b_i) + β (⟨w, x⟩ + b),

so that unit norms, damping and steps are those of all other units.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Claim B.5.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Activation, Network, activation
from paramid.methods.refinement import sample_refinement
from paramid.methods.refinement.gradient_system import Pinned
from paramid.methods.refinement.sample_refinement import Pairs

UNIT = 1e-12  # shorter affine parts than that have no direction


@dataclass(frozen=True)
class BesideIdentity:
    """An activation on all columns but the last, which is left as it is."""

    g: Activation

    def __call__(self, z: Tensor, order: int = 0) -> Tensor:
        """Values, or derivatives of an order."""
        line = torch.full_like(z[:, -1:], float(order == 1)) if order else z[:, -1:]
        return torch.cat([self.g(z[:, :-1], order), line], dim=1)


def consolidated(network: Network, v: Tensor, c: Tensor) -> Network:
    """(1): two units more. A constant alone has no direction and becomes the output bias."""
    beta = v.norm()
    if float(beta) <= UNIT:
        return network.with_layers(network.weights, (network.biases[0], network.biases[1] + c))
    w, b, a = network.weights[0], network.biases[0], network.weights[1][:, 0]
    unit, shift = v[:, None] / beta, c / beta
    return Network.shallow(
        torch.cat([w, unit, -unit], dim=1),
        torch.cat([b, shift, -shift]),
        "relu",
        torch.cat([a, beta[None], -beta[None]]),
    )


def refined(samples: Pairs, theta: Tensor, rest: Tensor, *, most: int | None) -> tuple[Tensor, Tensor]:
    """Units θ = (W, b, a) and affine part (v, c) next to the given ones, by (2) on the first `most` samples."""
    pinned = Pinned(norms=True, outer=False)  # β is no unit's outer weight
    v, c = rest[:-1], rest[-1:]
    beta = v.norm().clamp_min(UNIT)
    start = torch.cat([theta, torch.cat([v / beta, c / beta, beta[None]])[:, None]], dim=1)
    found = sample_refinement.descended(samples, start, BesideIdentity(activation("relu")), pinned=pinned, most=most)
    line = found.theta[:, -1]
    return found.theta[:, :-1], line[-1] * line[:-1]
