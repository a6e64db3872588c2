"""A network from what a graph computes, operation by operation.

Every value of a plain network is x, or h(z) for z = W v + b of the last linear layer and one scalar function h:

    (1)  linear operations end a layer and begin the next: h is then its activation,
    (2)  all others act on h alone, which is kept as its values on a grid, and recognised there.

So it does not matter whether a graph says GELU or writes it with erf. What is neither (a sum of two layers, a softmax,
a convolution) is no plain network, and is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from paramid.weight_files.arrays import network_of
from paramid.weight_files.limits import MOST_LAYERS, check_shape
from paramid.words.activations import ACTIVATIONS
from paramid.words.naming import UsageError
from paramid.words.network import Network

GRID = np.linspace(-6, 6, 241)
CLOSE = 1e-5  # constants may be of float32
Array = np.ndarray


@dataclass(frozen=True)
class Value:
    """What a name of a graph stands for: h of (1) on the grid, after so many linear layers; 0 is the input."""

    layer: int
    at: Array


class Chain:
    """The layers so far."""

    def __init__(self) -> None:
        self.weights: list[Array] = []
        self.biases: list[Array] = []
        self.names: list[str] = []
        self.begin = Value(0, GRID)
        self.used = False  # the last linear layer, by an operation of (2)

    def linear(self, value: Value, w: Array, b: Array | None) -> Value:
        """(1): v W + b with W (in, out)."""
        w = as_doubles(w, "weights")
        b = np.zeros(w.shape[-1]) if b is None else as_doubles(b, "biases").reshape(-1)
        if w.ndim != 2 or value.layer != len(self.weights) or len(w) != (self.width or len(w)):
            raise UsageError("is no plain network: layers branch, or weights are no matrix")
        name = recognised(value.at)
        if name == "identity" and self.weights:  # two linear layers are one
            b, w = self.biases.pop() @ w + b, self.weights.pop() @ w
        elif self.weights:
            self.names.append(name)
        elif name != "identity":
            raise UsageError(f"is no plain network: {name} acts on its inputs")
        if len(self.weights) == MOST_LAYERS:
            raise UsageError(f"has more than {MOST_LAYERS} layers")
        self.weights.append(w)
        self.biases.append(b * np.ones(w.shape[1]))
        self.used = False
        return Value(len(self.weights), GRID)

    @property
    def width(self) -> int:
        """Of the last layer; 0 before there is one."""
        return self.weights[-1].shape[1] if self.weights else 0

    def shifted(self, value: Value, b: Array) -> Value:
        """The sum of `value` and b: biases right behind a linear layer, a number anywhere."""
        fresh = value.layer == len(self.weights) > 0 and value.at is GRID and not self.used
        if fresh and b.size in (1, self.width):
            self.biases[-1] = self.biases[-1] + as_doubles(b, "biases").reshape(-1)
            return value
        return self.mapped(lambda t: t + number(b), value)

    def mapped(self, h: Callable[..., Array], *values: Value) -> Value:
        """(2)."""
        if len({value.layer for value in values}) > 1:
            raise UsageError("is no plain network: values of several layers meet")
        self.used = True
        with np.errstate(all="ignore"):
            return Value(values[0].layer, np.asarray(h(*(value.at for value in values)), dtype=np.float64))

    def network(self, end: Value) -> Network:
        """The whole of it."""
        if not self.weights or end.layer != len(self.weights):
            raise UsageError("is no plain network: its output is not that of its last linear layer")
        return network_of(self.weights, self.biases, (*self.names, recognised(end.at)))


def recognised(at: Array) -> str:
    """The activation that has these values on the grid."""
    t = torch.from_numpy(GRID)
    for name, g in ACTIVATIONS.items():
        if at.shape == GRID.shape and float(np.abs(g(t).numpy() - at).max()) < CLOSE:
            return name
    raise UsageError(f"has an activation that is none of {', '.join(ACTIVATIONS)}")


def as_doubles(a: Array, what: str) -> Array:
    """Numbers of a file in float64."""
    check_shape(a.shape, what)
    if a.dtype.kind not in "fiu":
        raise UsageError(f"{what} are {a.dtype}; real numbers were wanted")
    return a.astype(np.float64)


def number(a: Array) -> float:
    """A constant that acts on every neuron alike."""
    if a.size != 1:
        raise UsageError(f"is no plain network: a constant of shape {a.shape} acts on neurons")
    return float(a.reshape(-1)[0])
