"""Awkward members of the family of ReLU networks: one neuron of a network, or two, made hard to see or impossible.

Each is an edit of neuron 0 of a hidden layer, or of neurons 0 and 1, by a size that says how hard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from paramid.words.network import Network

if TYPE_CHECKING:
    Layer = tuple[Tensor, Tensor, Tensor]  # weights in, biases, weights out

N = TypeVar("N", bound=Network)
ALWAYS = 100.0  # times its norm: a bias that no input of the law overcomes


def silent(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001 -- as others
    """Nothing goes out of a neuron."""
    return w, b, row(a, 0, 0 * a[0])


def zero(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """Nothing comes in."""
    return column(w, 0, 0 * w[:, 0]), b, a


def twin(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """The second neuron is the first, 1 + by times as long."""
    return column(w, 1, (1 + by) * w[:, 0]), row(b, 1, (1 + by) * b[0]), a


def mirror(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """The second neuron is active where the first is not: they share a plane."""
    return column(w, 1, -w[:, 0]), row(b, 1, -b[0]), a


def faint(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """What goes out of a neuron is `by` times what it was."""
    return w, b, row(a, 0, by * a[0])


def parallel(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """The planes of two neurons are parallel, their biases `by` apart."""
    return column(w, 1, w[:, 0]), row(b, 1, b[0] + by), a


def near(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:
    """The directions of two neurons are `by` apart."""
    away = torch.randn(len(w), generator=source, device="cpu", dtype=w.dtype)
    length = float(w[:, 0].norm() / away.norm())
    return column(w, 1, w[:, 0] + by * length * away), b, a


def far(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """The plane of a neuron is 1 / by away from the origin."""
    return w, row(b, 0, w[:, 0].norm() / by), a


def norms(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:
    """The lengths of the neurons of a layer go from `by` to 1 / by."""
    size = by ** (2 * torch.rand(len(b), generator=source, device="cpu", dtype=w.dtype) - 1)
    return w * size, b * size, a


def never(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """A neuron is active everywhere."""
    return w, row(b, 0, ALWAYS * w[:, 0].norm()), a


def dead(w: Tensor, b: Tensor, a: Tensor, by: float, source: torch.Generator) -> Layer:  # noqa: ARG001
    """A neuron is active nowhere."""
    return w, row(b, 0, -ALWAYS * w[:, 0].norm()), a


AWKWARD: dict[str, Callable[[Tensor, Tensor, Tensor, float, torch.Generator], Layer]] = {
    edit.__name__: edit for edit in (silent, zero, twin, mirror, faint, parallel, near, far, norms, never, dead)
}
OF_TWO = ("twin", "mirror", "parallel", "near")


def put(network: N, name: str, by: float, layer: int, source: torch.Generator) -> N:
    """The network with that obstacle in a hidden layer."""
    weights, biases = list(network.weights), list(network.biases)
    edited = AWKWARD[name](weights[layer], biases[layer], weights[layer + 1], by, source)
    weights[layer], biases[layer], weights[layer + 1] = edited
    return network.with_layers(weights, biases)


def column(w: Tensor, at: int, value: Tensor) -> Tensor:
    """A matrix with another column."""
    return torch.cat([w[:, :at], value[:, None], w[:, at + 1 :]], dim=1)


def row(values: Tensor, at: int, value: Tensor) -> Tensor:
    """A matrix or vector with another row or entry."""
    return torch.cat([values[:at], value[None], values[at + 1 :]])
