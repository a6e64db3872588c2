"""Deep networks, most of them narrowing from layer to layer: the teachers of the thesis' chapter 4.

    (1)  y_0 = x,   z_l = W_lᵀ y_{l-1} + τ_l,   y_l = g(z_l) for l < L,   f(x) = g_L(z_L),

with columns of every W_l uniform on the unit sphere and shifts normal of standard deviation `shift`. `widths` are
m_1-…-m_L, the output layer included. With `layers` = L instead, m neurons in all and `last` = m_L of them outputs,

    (2)  m_{l+1} = ⌊c m_l⌋ for l + 1 < L,   c = `contraction`,

from the m_1 whose chain comes closest to m - m_L from below; the rest goes to m_1.

What an oracle can see: every weight and shift, up to the order of each hidden layer and the joint signs of a hidden
neuron's (w, τ) and what it sends on (for logistic units with a constant moved along). To second order at a point x,

    (3)  V_1 = W_1,   V_{l+1}(x) = V_l(x) diag(g'(z_l(x))) W_{l+1},   ∇²f_k(x) = Σ_l V_l diag(s_kl) V_lᵀ,

the entangled weights v = ∇z; those of the output layer count where g_L bends. Their truth is told at x = 0.

Reference: Rauchensteiner, Finite sample identification of artificial neural networks, TUM 2023, ch. 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, cast

import torch

from paramid.contracts.task import Task
from paramid.judging import claim_scores
from paramid.judging.aligned_networks import shift_errors
from paramid.judging.metrics import Metrics
from paramid.judging.output_errors import score_lengths
from paramid.judging.spans_and_directions import ENTANGLED_METRICS, span_of_squares
from paramid.words import random_streams
from paramid.words.activations import activation as named
from paramid.words.claims import Claim, EntangledWeights, Subspace
from paramid.words.network import Network, Teacher
from paramid.words.options import among, at_least
from paramid.words.spec import Access, Spec

WIDTHS = (50, 25, 10)
OUTPUTS = ("tanh", "identity")
JUDGED, CHUNK = 10_000, 2**20  # inputs over which lengths of errors are taken, and doubles of a chunk of them


@dataclass(frozen=True)
class Pyramid(Task):
    """Deep networks with unit weights and small shifts."""

    D: int = 50  # inputs
    widths: tuple[int, ...] | None = None  # m_1-…-m_L, outputs last; default: by layers and m, or 50-25-10 without them
    layers: int | None = None  # number L of layers, outputs included; goes with m; default: that of widths
    m: int | None = None  # neurons in all, outputs included; goes with layers; default: those of widths
    last: int = 10  # outputs m_L, where layers and m are given
    contraction: float = 0.5  # c of m_{l+1} = ⌊c m_l⌋ in hidden layers, where layers and m are given; up to 1
    output: str = "tanh"  # activation of the outputs; tanh: they bend; identity: they are linear
    activation: str = "tanh"  # activation of the hidden layers: tanh, logistic, erf or softplus
    shift: float = 0.05  # standard deviation of shifts: the thesis' N(0, 0.05) must mean it for its tables to come out
    N: int | None = None  # samples granted; default: as many as are asked for
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES, Access.DERIVATIVES, Access.LABELS})
    metrics: ClassVar[dict[str, str]] = {
        **ENTANGLED_METRICS,
        "mean_distance": "mean over inputs of the length of f - f^, all outputs together",
        "uniform_distance": "the largest length of f - f^ over the largest length of f, on the same inputs",
        "shift_error": "length of |shifts| - |claimed shifts| of a layer over the length of its shifts",
    }
    corners: ClassVar[tuple[str, ...]] = (
        "D=8,widths=6-4-3,output=identity",
        *("D=8,widths=6-4-3", "D=8,widths=8-6-4-3,output=identity", "D=8,widths=6-4-3,activation=logistic"),
        *("D=8,widths=6-4-3,noise=1e-06", "D=8,widths=6-4-3,noise=0.1", "D=8,widths=6-4-3,shift=0", "D=6,widths=5-3-1"),
        *("D=8,widths=6-6-3", "D=8,widths=6-7-3", "D=6,widths=5-3-2-4-2", "D=4,widths=6-3-2", "D=8,widths=5-3"),
        *("D=1,widths=1-1", "D=1,widths=2-1-1", "D=2,widths=2-1-1", "D=8,widths=6-4-3,N=1", "D=8,widths=6-4-3,shift=1"),
    )

    def __post_init__(self) -> None:
        if named(self.activation).degree is not None or not named(self.activation).smooth:
            raise ValueError(f"activation is {self.activation!r}; a smooth one that is no power was wanted")
        among(self, output=OUTPUTS)
        if self.widths is not None and (self.layers, self.m) != (None, None):
            raise ValueError("widths and layers or m were both given; one of them was wanted")
        if (self.layers is None) != (self.m is None):
            raise ValueError("layers and m come together; one of them was given")
        at_least(self, D=1, N=1, layers=2, last=1, shift=0, noise=0)
        if not 0 < self.contraction <= 1:
            raise ValueError(f"contraction is {self.contraction}; a number above 0 and up to 1 was wanted")
        if len(self.shape) < 2 or min(self.shape) < 1:
            raise ValueError(f"widths are {'-'.join(map(str, self.shape))}; two layers and more of 1 and more wanted")

    @property
    def shape(self) -> tuple[int, ...]:
        """m_1, …, m_L."""
        if self.layers is not None and self.m is not None:
            return (*contracted(self.m - self.last, self.layers - 1, self.contraction), self.last)
        return self.widths or WIDTHS

    @property
    def spec(self) -> Spec:
        """Everything about (1) but its parameters."""
        *hidden, outputs = self.shape
        return Spec(
            inputs=self.D,
            widths=tuple(hidden),
            outputs=outputs,
            activations=(self.activation,) * len(hidden) + (self.output,),
            norms="unit",
            shift_law="normal",
            shift=self.shift,
            samples=self.N,
            noise=self.noise,
        )

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """The claims that have a truth here."""
        return (Network, EntangledWeights, Subspace)

    def draw(self, seed: int) -> Network:
        """The network (1) of that seed."""
        source = random_streams.generator(seed, "teacher")
        sizes = list(pairwise((self.D, *self.shape)))
        weights = tuple(random_streams.unit_columns(fed, width, source, torch.float64) for fed, width in sizes)
        shifts = tuple(random_streams.shifts("normal", self.shift, width, source, torch.float64) for _, width in sizes)
        return Network(weights, shifts, self.spec.activations)

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The network, its entangled weights at 0, or the span of their squares, of the layers that bend."""
        network = cast("Network", teacher)
        if kind is Network:
            return network
        found = entangled(network)
        if kind is EntangledWeights:
            return found
        bends = len(self.shape) - (self.output == "identity")
        return Subspace(span_of_squares(found.columns[:, found.layers <= bends]))

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Entangled weights have an error of their own, and a network has some too."""
        metrics = super().judge(claim, teacher)
        if isinstance(claim, Network):
            truth = cast("Network", teacher)
            metrics |= claim_scores.score(entangled(truth), entangled(claim))
            metrics |= score_lengths(truth, claim, self.inputs(JUDGED)) | shift_errors(truth, claim)
        return {"error": metrics["entangled_error"], **metrics} if "entangled_error" in metrics else metrics

    def inputs(self, count: int) -> Iterator[torch.Tensor]:
        """So many standard normal inputs in chunks, always the same."""
        source = random_streams.generator(0, "pyramid judge")
        rows = max(1, CHUNK // max(self.D, *self.shape))
        for first in range(0, count, rows):
            size = min(rows, count - first), self.D
            yield torch.randn(size, generator=source, device="cpu", dtype=torch.float64)


def entangled(network: Network) -> EntangledWeights:
    """V_1, …, V_L of (3) at 0, and the layer of every column."""
    slopes = [v[0] for v in network.slopes(network.weights[0].new_zeros(1, network.inputs))]
    layers = [torch.full_like(v[0], float(number)) for number, v in enumerate(slopes, 1)]
    return EntangledWeights(torch.cat(slopes, 1), torch.cat(layers))


def contracted(total: int, count: int, c: float) -> tuple[int, ...]:
    """`count` widths by (2) that sum up to `total`."""

    def chain(first: int) -> list[int]:
        widths = [first]
        for _ in range(count - 1):
            widths.append(int(c * widths[-1]))
        return widths

    low, high = 0, max(total, 1)  # chains grow with their first width: by bisection the largest that fits
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sum(chain(middle)) <= total else (low, middle)
    first = high if sum(chain(high)) <= total else low
    widths = chain(first)
    return (widths[0] + total - sum(widths), *widths[1:])
