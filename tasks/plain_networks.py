"""What families share whose teachers are plain networks of any activation, depth, norms and signs: claims and judge.

Of smooth activations every parameter is scored, up to order and symmetry; where neurons have no length of their own
(ReLU and its kin), what the values determine on inputs of the law, as in the task `relu`. A teacher is seen in a
precision and through a link:

    (1)  f(x) as computed in float64, or in float32 by weights of float32,
    (2)  log-odds: of K classes with p = softmax(z_1, …, z_K) the K - 1 values log p_k - log p_K = z_k - z_K, of two
         classes log p_2 - log p_1, so that outer weights are differences.

(2) is computed by way of the probabilities, as anybody has them: it carries their rounding, for two classes that of
1 - p, about eps / (p (1 - p)), and a probability that rounds to 0 counts as the smallest normal number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging.aligned_networks import in_words_of
from paramid.judging.determined import determined
from paramid.judging.metrics import EXACT, Metrics
from paramid.judging.spans_and_directions import ENTANGLED_METRICS, span_of_squares
from paramid.tasks.pyramid import entangled
from paramid.tasks.relu import felt, score_felt
from paramid.words.activations import activation
from paramid.words.claims import Claim, Directions, EntangledWeights, Subspace
from paramid.words.network import Network, Teacher, normalise

PRECISIONS = ("float64", "float32")
CLOSE = {"float64": EXACT, "float32": 1e-4}  # values that are the function's own


@dataclass(frozen=True, eq=False, repr=False)
class Seen(Network):
    """A network that is seen as (1) or (2); parameters and derivatives are its own."""

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


class PlainNetworks(Task):
    """Tasks whose teachers are `Seen`."""

    metrics: ClassVar[dict[str, str]] = {
        "function_exact": "flag, of ReLUs, leaky or not: output_error_relative is below 1e-8 (1e-4 in float32)",
        "undetermined": "of ReLUs, parameters that the function does not determine on 20 000 inputs; none is scored",
        **ENTANGLED_METRICS,
    }

    def smooth(self) -> bool:
        """Whether neurons bend, and have a length of their own."""
        hidden = (activation(name) for name in self.hidden)
        return all(g.smooth and g.degree is None for g in hidden)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The activations of the hidden layers, told or not."""
        raise NotImplementedError

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """The claims that have a truth here: directions are the first layer's."""
        if not self.smooth():
            return Network, Directions
        return (Network, Directions, Subspace) if len(self.hidden) == 1 else (Network, EntangledWeights, Subspace)

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The network, its entangled weights at 0, the span of their squares, or its first layer's columns."""
        network = plain(cast("Network", teacher))
        if kind is Directions:
            w = normalise(network).weights[0]
            return Directions(w / w.norm(dim=0).clamp(min=torch.finfo(w.dtype).tiny))
        if kind is EntangledWeights:
            return entangled(network)
        if kind is Subspace:
            deep = len(network.widths) > 1
            return Subspace(span_of_squares(entangled(network).columns if deep else network.weights[0]))
        return network

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Networks of ReLUs and their kin by what is felt of them; the rest as everywhere."""
        if not isinstance(claim, Network) or all(activation(name).degree is None for name in self.hidden):
            return super().judge(claim, teacher)
        truth = cast("Seen", teacher)
        return self.headed(score_felt(plain(truth), truth.known, in_words_of(truth, claim), CLOSE[truth.precision]))


def plain(teacher: Network) -> Network:
    """The parameters alone."""
    return Network(teacher.weights, teacher.biases, teacher.activations)


def log_odds(z: Tensor) -> Tensor:
    """(2) by way of the probabilities of the classes, of whose values the last is 0, or the first of two."""
    least = torch.finfo(z.dtype).tiny
    if z.shape[1] == 1:
        p = z.sigmoid()
        return p.clamp(min=least).log() - (1 - p).clamp(min=least).log()
    p = torch.cat([z, torch.zeros_like(z[:, :1])], dim=1).softmax(dim=1).clamp(min=least).log()
    return p[:, :-1] - p[:, -1:]


def differences(network: Network) -> Network:
    """The network of (2) of a classifier with an output a class."""
    (*weights, a), (*biases, c) = network.weights, network.biases
    if len(c) == 2:
        return network.with_layers([*weights, a[:, 1:] - a[:, :1]], [*biases, c[1:] - c[:1]])
    return network.with_layers([*weights, a[:, :-1] - a[:, -1:]], [*biases, c[:-1] - c[-1:]])
