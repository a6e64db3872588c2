"""What a trained network shows: its values, in float32 where it was trained so, or log-odds of its probabilities.

A classifier of K classes has probabilities p = softmax(z_1, …, z_K), and no value tells z from z + c. What is seen, and
what the teacher's K - 1 outputs are, is

    (1)  log p_k - log p_K = z_k - z_K,   k < K;   of two classes log p_2 - log p_1,

so that outer weights are differences. The values are computed by way of the probabilities, as anybody has them: (1)
carries their rounding, for two classes that of 1 - p, about eps / (p (1 - p)), and a probability that rounds to 0
counts as the smallest normal number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from paramid.judging.determined import determined
from paramid.tasks.relu import felt
from paramid.words.network import Network, normalise


@dataclass(frozen=True, eq=False, repr=False)
class Trained(Network):
    """A network that is seen in a precision and through a link; parameters and derivatives are those of (1)."""

    link: str = "identity"
    precision: str = "float64"

    def __call__(self, x: Tensor) -> Tensor:
        """What is seen, (rows, outputs) in float64."""
        given = x.float() if self.precision == "float32" else x
        z = plain(self).to(x.device, given.dtype)(given)
        return (log_odds(z) if self.link == "log-odds" else z).to(x.dtype)

    @cached_property
    def known(self) -> Network:
        """1 where a parameter of the normalised network is determined on the inputs of the law, 0 where it is not."""
        return determined(normalise(plain(self)), felt(self.inputs))


def plain(teacher: Network) -> Network:
    """The parameters alone."""
    return Network(teacher.weights, teacher.biases, teacher.activations)


def log_odds(z: Tensor) -> Tensor:
    """(1) by way of the probabilities of the classes, of whose values the last is 0, or the first of two."""
    least = torch.finfo(z.dtype).tiny
    if z.shape[1] == 1:
        p = z.sigmoid()
        return p.clamp(min=least).log() - (1 - p).clamp(min=least).log()
    p = torch.cat([z, torch.zeros_like(z[:, :1])], dim=1).softmax(dim=1).clamp(min=least).log()
    return p[:, :-1] - p[:, -1:]


def differences(network: Network) -> Network:
    """The network of (1) of a classifier with an output a class."""
    (*weights, a), (*biases, c) = network.weights, network.biases
    if len(c) == 2:
        return network.with_layers([*weights, a[:, 1:] - a[:, :1]], [*biases, c[1:] - c[:1]])
    return network.with_layers([*weights, a[:, :-1] - a[:, -1:]], [*biases, c[:-1] - c[-1:]])
