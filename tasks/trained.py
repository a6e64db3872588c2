"""Networks as training leaves them: real data, common libraries, any depth, norms and signs.

    (1)  h_0 = x,   h_l = g(W_lᵀ h_{l-1} + b_l) for l ≤ L,   f(x) = W_{L+1}ᵀ h_L + b_{L+1},

trained when it is drawn, from a start and batches that the seed gives (`training.by_torch`, `training.by_sklearn`), on
standardised inputs (`training.data`). Classifiers are seen as log-odds of their probabilities, and a network of float32
computes in float32 (`plain_networks`).

What an oracle can see: every parameter, up to order and to the symmetries of g; of neurons with g(cz) = c g(z) no
length, and nothing of what the values do not feel (as in the task `relu`). Training makes what a drawn network seldom
has, and `paramid.obstacles` names it: neurons that are flat wherever the inputs are, that look alike, that send on next
to nothing. Without `known_activation` tanh and logistic are one, for tanh(z) = 2 σ(2z) - 1.

A seed trains the same network again on one machine with the same packages. Elsewhere rounding may lead training to
another one of the same kind.

References: Pedregosa et al., Scikit-learn, JMLR 2011; Paszke et al., PyTorch, NeurIPS 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch

from paramid.tasks.plain_networks import PlainNetworks, Seen, differences
from paramid.tasks.training import by_sklearn, by_torch, data
from paramid.words import random_streams
from paramid.words.activations import activation as named
from paramid.words.options import among, at_least
from paramid.words.spec import UNKNOWN, Access, Spec

DTYPES = {"float64": torch.float64, "float32": torch.float32}
TARGETS, TRAINERS = ("scaled", "raw", "classes"), ("torch", "sklearn")
MOST_STEPS, REMEMBERED = 100_000, 16


@dataclass(frozen=True)
class TrainedNetwork(PlainNetworks):
    """Networks trained on data: by torch or scikit-learn, to numbers or classes, in float64 or float32."""

    data: str = "friedman"  # friedman is made, and has 10 inputs; diabetes 10, wine 13, cancer 30, digits 64
    widths: tuple[int, ...] = (20,)  # hidden widths
    activation: str = "tanh"  # of the hidden layers: any that is no power; of by=sklearn tanh, logistic or relu
    outputs: int | None = None  # of numbers, beyond the first made-up ones; default: 1, of classes one less than these
    targets: str = "scaled"  # scaled: numbers of mean 0 and deviation 1; raw: as they are; classes: seen as log-odds
    by: str = "torch"  # torch: Adam; sklearn: MLPRegressor or MLPClassifier with their defaults
    dtype: str = "float64"  # of weights, training and values: float64 or float32
    steps: int = 2000  # of Adam, with by=torch
    N: int | None = None  # samples granted; default: as many as are asked for
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value
    known: bool = True  # whether methods are told the widths
    known_activation: bool = True  # whether methods are told the activation

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES})
    corners: ClassVar[tuple[str, ...]] = (
        "widths=3,steps=100",
        *("widths=4,activation=logistic,outputs=2,steps=100", "widths=3,targets=classes,steps=100"),
        *("widths=3,dtype=float32,steps=100", "widths=3-2,steps=100", "widths=3,activation=relu,steps=100"),
        *("widths=3,activation=gelu,known=false,steps=100", "widths=3,N=1,noise=0.1,targets=raw,steps=100"),
    )

    def __post_init__(self) -> None:
        if named(self.activation).degree not in (None, 1) or self.activation == "identity":
            raise ValueError(f"activation is {self.activation!r}; one that is no power was wanted")
        among(self, data=data.KINDS, targets=TARGETS, by=TRAINERS, dtype=DTYPES)
        at_least(self, outputs=1, N=1, noise=0, steps=0)
        if not self.widths or min(self.widths) < 1:
            raise ValueError(f"widths are {self.widths}; one hidden layer and more, of 1 and more each, were wanted")
        if self.steps > MOST_STEPS:
            raise ValueError(f"steps is {self.steps}; at most {MOST_STEPS} was wanted")
        if self.by == "sklearn" and self.activation not in by_sklearn.NAMES:
            raise ValueError(f"activation is {self.activation!r}; scikit-learn has {', '.join(by_sklearn.NAMES)}")
        self.check_outputs()
        if self.by == "sklearn" or data.KINDS[self.data].loader:
            data.wanted_sklearn()

    def check_outputs(self) -> None:
        """As many as there are."""
        kind = data.KINDS[self.data]
        if self.targets == "classes":
            if self.outputs not in (None, kind.classes - 1):
                raise ValueError(f"outputs are {self.outputs}; {kind.classes} classes have {kind.classes - 1} log-odds")
        elif (self.outputs or 1) > kind.inputs:
            raise ValueError(f"outputs are {self.outputs}; {self.data} has {kind.inputs} at most, as many as inputs")

    @property
    def spec(self) -> Spec:
        """Everything about (1) but its parameters."""
        kind, classes = data.KINDS[self.data], self.targets == "classes"
        name = self.activation if self.known_activation else UNKNOWN
        return Spec(
            inputs=kind.inputs,
            widths=tuple(width if self.known else None for width in self.widths),
            outputs=kind.classes - 1 if classes else self.outputs or 1,
            activations=(name,) * len(self.widths) + ("identity",),
            shift_law="normal",
            shift=1.0,
            samples=self.N,
            noise=self.noise,
            precision=self.dtype,
            link="log-odds" if classes else "identity",
        )

    @property
    def hidden(self) -> tuple[str, ...]:
        """The activations of the hidden layers."""
        return (self.activation,) * len(self.widths)

    def draw(self, seed: int) -> Seen:
        """The network of that seed; training is not repeated where this process has just done it."""
        return trained(self, seed)


@lru_cache(REMEMBERED)
def trained(task: TrainedNetwork, seed: int) -> Seen:
    """(1) of that seed, in float64 numbers."""
    dtype, classes = DTYPES[task.dtype], task.targets == "classes"
    x = data.inputs(task.data)
    y = data.classes(task.data) if classes else data.numbers(task.data, task.spec.outputs, raw=task.targets == "raw")
    if task.by == "sklearn":
        number = random_streams.number(seed, "teacher", "training")
        network = by_sklearn.fit(x, y, task.widths, task.activation, dtype, number)
    else:
        source = random_streams.generator(seed, "teacher", "training")
        sizes = (x.shape[1], *task.widths, data.KINDS[task.data].classes if classes else y.shape[1])
        network = by_torch.start(sizes, task.activation, dtype, source)
        network = by_torch.fit(network, x, y, task.steps, source)
    if classes and network.outputs > task.spec.outputs:
        network = differences(network)
    if not all(bool(value.isfinite().all()) for value in network.arrays().values()):
        raise ValueError(f"training with seed {seed} went astray: weights are not finite")
    network = network.to("cpu", torch.float64)
    return Seen(network.weights, network.biases, network.activations, task.spec.link, task.dtype)
