"""Somebody's own network: the weights in a file as a teacher behind the wall, metered and judged.

    (1)  h_0 = x,   h_l = g_l(W_lᵀ h_{l-1} + b_l) for l ≤ L,   f(x) = g_{L+1}(W_{L+1}ᵀ h_L + b_{L+1}),

read from `.npz`, `.npy`, `.onnx`, TorchScript or a state dict (`weight_files.reader`). ONNX and TorchScript tell their
activations; of the others `activation` says that of the hidden layers. Every seed has the same teacher, and draws anew
what a method does.

What was read is part of a record and of its key: `sha256` stands in the task's name, found from the file unless it is
given, and a file of other bytes is another task, or an error where it is. A method is told nothing of the path, and
behind the wall of mounts the file is empty.

What an oracle can see: as in the tasks `trained` and `relu`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import torch

from paramid.tasks.plain_networks import PRECISIONS, PlainNetworks, Seen
from paramid.weight_files import reader
from paramid.words import random_streams
from paramid.words.activations import activation as named
from paramid.words.network import Network
from paramid.words.options import among, at_least
from paramid.words.spec import UNKNOWN, Access, Spec

DIGITS = 16  # of the hash, in a name
EXAMPLE = (5, 4, 1)  # inputs, neurons and outputs where no file is named


@dataclass(frozen=True)
class File(PlainNetworks):
    """The network in a file: anybody's weights, found or not found by what they let through."""

    path: str | None = None  # .npz, .npy, .onnx or a torch file, from the current folder; default: a small example
    activation: str = "tanh"  # of the hidden layers, where the file does not say
    precision: str = "float64"  # what values are computed in: float64, or float32 as most models are run
    sha256: str | None = None  # how the hash of the file begins, 16 digits; default: as it does
    N: int | None = None  # samples granted; default: as many as are asked for
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value
    known: bool = True  # whether methods are told the widths
    known_activation: bool = True  # whether methods are told the activations

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES})
    corners: ClassVar[tuple[str, ...]] = (
        "activation=logistic",
        *("activation=relu", "precision=float32", "known=false", "noise=0.1,N=1"),
    )

    def __post_init__(self) -> None:
        named(self.activation)
        among(self, precision=PRECISIONS)
        at_least(self, N=1, noise=0)
        if self.path is None:
            if self.sha256 is not None:
                raise ValueError(f"sha256 is {self.sha256!r}; of the example none was wanted")
            return
        found = reader.read(self.path, self.activation).sha256[:DIGITS]
        if self.sha256 not in (None, found):
            raise ValueError(f"{self.path} is another file: its SHA-256 begins with {found}, not {self.sha256}")
        object.__setattr__(self, "sha256", found)

    @property
    def always_told(self) -> tuple[str, ...]:
        """What stands in the name whoever wrote it."""
        return () if self.path is None else ("sha256",)

    @property
    def private(self) -> tuple[str, ...]:
        """Files that a method is not to see."""
        return () if self.path is None else (str(Path(self.path).absolute()),)

    @cached_property
    def network(self) -> Network:
        """(1)."""
        return example(self.activation) if self.path is None else reader.read(self.path, self.activation).network

    @property
    def hidden(self) -> tuple[str, ...]:
        """The activations of the hidden layers."""
        return self.network.activations[:-1]

    @property
    def spec(self) -> Spec:
        """Everything about (1) but its parameters, and nothing of the file."""
        network = self.network
        names = self.hidden if self.known_activation else (UNKNOWN,) * len(self.hidden)
        return Spec(
            inputs=network.inputs,
            widths=tuple(width if self.known else None for width in network.widths),
            outputs=network.outputs,
            activations=(*names, network.activations[-1]),
            shift_law="normal",
            shift=1.0,
            samples=self.N,
            noise=self.noise,
            precision=self.precision,
        )

    def draw(self, seed: int) -> Seen:  # noqa: ARG002 -- there is one network
        """The network of the file."""
        made = self.network
        if self.precision == "float32":
            made = made.to("cpu", torch.float32).to("cpu", torch.float64)
        return Seen(made.weights, made.biases, made.activations, precision=self.precision)

    def guess(self, seed: int) -> Seen:
        """A network of the same shape: weights and biases N(0, 1/fan-in)."""
        source = random_streams.generator(seed, "guess")
        made = normal([self.network.inputs, *self.network.widths, self.network.outputs], self.hidden, source)
        return Seen(made.weights, made.biases, self.network.activations, precision=self.precision)


def example(activation: str) -> Network:
    """A network for who has none."""
    return normal(EXAMPLE, (activation,), random_streams.generator(0, "example"))


def normal(sizes: list[int] | tuple[int, ...], hidden: tuple[str, ...], source: torch.Generator) -> Network:
    """Weights and biases N(0, 1/fan-in) below linear outputs."""

    def drawn(rows: int, columns: int, fed: int) -> torch.Tensor:
        return random_streams.normal(rows, columns, source, torch.device("cpu"), torch.float64) / math.sqrt(fed)

    weights = tuple(drawn(n, width, n) for n, width in pairwise(sizes))
    return Network(weights, tuple(drawn(1, w.shape[1], len(w))[0] for w in weights), (*hidden, "identity"))
