"""ReLU networks of any depth, any norms and any signs: the teachers of cryptanalytic extraction.

    (1)  h_0 = x,   h_l = max(0, W_lᵀ h_{l-1} + b_l) for l ≤ L,   f(x) = W_{L+1}ᵀ h_L + b_{L+1},

with weights of a law whose width goes with the fan-in n of each layer,

    (2)  normal N(0, 1/n);   uniform ± √(3/n), as wide;   torch ± 1/√n, what torch.nn.Linear starts from;
         adam: those of torch, trained on a sum of a sine, a product and a kink (trained_relu).

What an oracle can see: every weight and bias, up to the order of each hidden layer and one positive factor a neuron,

    (3)  (w, b, a) → (c w, c b, a / c),   c > 0,

as far as the values feel it: what is no parameter of the function on the inputs of the law is found out by the rank of
the teacher's own Jacobian there (judging.determined), and is neither wrong nor right. Below one output, beside a neuron
that never switches, others may look either way (judging.turned).

With `decisions`, only the sign of the output is seen, the same for f and for c f, c > 0. One of them stands for all,

    (4)  f with the mean 0 over the inputs of the law, its outer weights of length 1 where all other weights have
         columns of length 1,

and that is told. Nor are there decisions on anything but the planes that the boundary {f = 0} meets: a neuron whose
plane it does not meet is scored all the same, and nobody finds it.

References: Carlini, Jagielski & Mironov, Cryptanalytic extraction of neural network models, CRYPTO 2020;
Canales-Martínez et al., Polynomial time cryptanalytic extraction of neural network models, EUROCRYPT 2024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging.aligned_networks import score_network
from paramid.judging.determined import determined, missing
from paramid.judging.metrics import EXACT, Metrics
from paramid.judging.output_errors import score_outputs
from paramid.judging.turned import turned
from paramid.tasks import relu_obstacles, trained_relu
from paramid.words import random_streams
from paramid.words.claims import Claim, Directions
from paramid.words.network import Network, Teacher, normalise
from paramid.words.options import among, at_least
from paramid.words.spec import Access, Spec

CPU, F64 = torch.device("cpu"), torch.float64
LAWS = {"normal": 1.0, "uniform": math.sqrt(3), "torch": 1.0, "adam": 1.0}  # times 1/√n: half-width or deviation
BIAS_LAWS = ("uniform", "normal")
PRECISIONS = ("float64", "float32")
FELT, JUDGED = 20_000, 10_000  # inputs of the law for what is felt, and for what is exact


@dataclass(frozen=True, eq=False, repr=False)
class ReluTeacher(Network):
    """A network (1) that knows which of its parameters the function determines."""

    @cached_property
    def known(self) -> Network:
        """1 where a parameter of the normalised network is determined on the inputs of the law, 0 where it is not."""
        return determined(normalise(self), felt(self.inputs))


@dataclass(frozen=True)
class Relu(Task):
    """ReLU networks of any depth, norms and signs: what cryptanalytic extraction is measured on."""

    D: int = 20  # inputs
    widths: tuple[int, ...] = (10,)  # hidden widths
    outputs: int = 1  # outputs
    law: str = "normal"  # of weights: normal, uniform or torch, scaled by the fan-in; adam: torch's, then trained
    bias_law: str = "uniform"  # uniform: biases in ±bias; normal: of standard deviation bias
    bias: float | None = None  # half-width or standard deviation of biases, 0 for none; default: 1 / √fan-in
    steps: int = 3000  # of training, with law=adam
    awkward: str | None = (
        None  # one obstacle: silent, zero, twin, mirror, faint, parallel, near, far, norms, never, dead
    )
    by: float = 1e-4  # the size of it: a factor, a distance or a bias
    layer: int = 1  # the hidden layer that it is put into
    N: int | None = None  # samples granted; default: as many as are asked for
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value
    known: bool = True  # whether methods are told the widths
    precision: str = "float64"  # float64: values as computed; float32: values rounded to single precision
    decisions: bool = False  # the sign of the output is all that is granted; its mean over the law is 0

    version: ClassVar[int] = 1
    metrics: ClassVar[dict[str, str]] = {
        "function_exact": "flag: output_error_relative is below 1e-8 on 10 000 inputs of the law",
        "undetermined": "parameters that the function does not determine on 20 000 inputs of the law; none is scored",
    }
    corners: ClassVar[tuple[str, ...]] = (
        "D=5,widths=3",
        *("D=1,widths=1", "D=1,widths=3", "D=2,widths=1", "D=3,widths=8", "D=4,widths=3,outputs=3", "D=12,widths=2"),
        *("D=4,widths=3-3", "D=3,widths=2-2-2", "D=4,widths=3-2,outputs=2", "D=4,widths=3,bias=0"),
        *("D=4,widths=3,bias=3,bias_law=normal", "D=4,widths=3,law=uniform", "D=4,widths=3,law=adam,steps=50"),
        *("D=4,widths=3,N=1", "D=4,widths=3,noise=0.1", "D=4,widths=3,precision=float32", "D=4,widths=3,known=false"),
        *(f"D=4,widths=3,awkward={name}" for name in relu_obstacles.AWKWARD),
        *("D=4,widths=3-3,awkward=never,layer=2", "D=4,widths=3-3,awkward=dead", "D=4,widths=3-3,known=false"),
        "D=4,widths=3,decisions=true",
    )

    def __post_init__(self) -> None:
        among(self, law=LAWS, bias_law=BIAS_LAWS, precision=PRECISIONS, awkward=relu_obstacles.AWKWARD)
        at_least(self, D=1, outputs=1, bias=0, steps=0, N=1, noise=0, layer=1)
        if not self.widths or min(self.widths) < 1:
            raise ValueError(f"widths are {self.widths}; one hidden layer and more, of 1 and more each, were wanted")
        if self.layer > len(self.widths):
            raise ValueError(f"layer is {self.layer}; there are {len(self.widths)} hidden layers")
        if not (math.isfinite(self.by) and self.by > 0):
            raise ValueError(f"by is {self.by}; a positive number was wanted")
        if self.decisions and self.outputs > 1:
            raise ValueError(f"outputs are {self.outputs}; decisions are those of one output")
        if self.awkward in relu_obstacles.OF_TWO and self.widths[self.layer - 1] < 2:
            raise ValueError(f"awkward={self.awkward} is about two neurons; layer {self.layer} has 1")

    @property
    def access(self) -> frozenset[Access]:  # type: ignore[override]  # depends on the options
        """Values at chosen inputs and at those of the law, or decisions at chosen inputs."""
        return frozenset({Access.DECISIONS} if self.decisions else {Access.QUERIES, Access.SAMPLES})

    @property
    def spec(self) -> Spec:
        """Everything about (1) but its parameters."""
        return Spec(
            inputs=self.D,
            widths=tuple(width if self.known else None for width in self.widths),
            outputs=self.outputs,
            outer="unit" if self.decisions else "free",
            activations=("relu",) * len(self.widths) + ("identity",),
            shift_law=self.bias_law,
            shift=1 / math.sqrt(self.D) if self.bias is None else self.bias,
            samples=self.N,
            noise=self.noise,
            precision=self.precision,
        )

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """The claims that have a truth here: directions are the first layer's."""
        return Network, Directions

    def draw(self, seed: int) -> ReluTeacher:
        """The network (1) of that seed."""
        source = random_streams.generator(seed, "teacher")
        weights, biases = [], []
        for n, width in pairwise((self.D, *self.widths, self.outputs)):
            weights.append(LAWS[self.law] / math.sqrt(n) * spread(self.law, (n, width), source))
            size = 1 / math.sqrt(n) if self.bias is None else self.bias
            biases.append(random_streams.shifts(self.bias_law, size, width, source, F64))
        drawn = ReluTeacher(tuple(weights), tuple(biases), self.spec.activations)
        if self.law == "adam":
            drawn = trained_relu.trained(drawn, self.steps, random_streams.generator(seed, "teacher", "training"))
        if self.awkward is not None:
            source = random_streams.generator(seed, "teacher", "obstacle")
            drawn = relu_obstacles.put(drawn, self.awkward, self.by, self.layer - 1, source)
        return balanced(drawn) if self.decisions else drawn

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The network, or the columns of its first hidden layer."""
        network = cast("Network", teacher)
        return Directions(normalise(network).weights[0]) if kind is Directions else network

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Networks by what is determined of them and by their values; the rest as everywhere."""
        if not isinstance(claim, Network):
            return super().judge(claim, teacher)
        truth = cast("ReluTeacher", teacher)
        return self.headed(score_felt(truth, truth.known, claim))


def score_felt(truth: Network, known: Network, claim: Network, close: float = EXACT) -> Metrics:
    """Networks by what is determined of them, and by their values on inputs of the law."""
    metrics = score_network(truth, turned(truth, claim.copy(), felt(truth.inputs)), known)
    x = random_streams.normal(JUDGED, truth.inputs, random_streams.generator(0, "relu judge"), CPU, F64)
    values = score_outputs(truth, claim, x.split(1000))["output_error_relative"]
    metrics |= {"function_exact": float(values < close), "undetermined": float(missing(known))}
    if metrics["undetermined"]:  # what cannot be scored by itself must be right as a function
        metrics |= {name: metrics[name] * metrics["function_exact"] for name in ("identified", "exact")}
    return metrics


def balanced(drawn: ReluTeacher) -> ReluTeacher:
    """(4): the same neurons, the output shifted and scaled."""
    (*weights, _), (*biases, c) = drawn.weights, drawn.biases
    *_, a = normalise(drawn).weights
    size = a.norm() if a.any() else 1.0
    mean = drawn(felt(drawn.inputs)).mean(dim=0)
    return drawn.with_layers([*weights, drawn.weights[-1] / size], [*biases, (c - mean) / size])


def felt(inputs: int) -> Tensor:
    """The inputs of the law that parameters are to be felt on."""
    return random_streams.normal(FELT, inputs, random_streams.generator(0, "relu felt"), CPU, F64)


def spread(law: str, shape: tuple[int, int], source: torch.Generator) -> Tensor:
    """Entries of (2) but for their scale."""
    if law == "normal":
        return torch.randn(shape, generator=source, device="cpu", dtype=F64)
    return 2 * torch.rand(shape, generator=source, device="cpu", dtype=F64) - 1
