"""Sums of biased ReLUs: what random samples, or exact Hermite coefficients, say about a kinked network.

    (1)  f(x) = Σ_{i≤m} a_i max(0, ⟨w_i, x⟩ + b_i),   x ~ N(0, I_D),   ‖w_i‖ = 1,
    (2)  |a_i| uniform in [0.5, 1.5], of either sign,   b_i uniform in ±bias or a named range, or listed,
    (3)  T_k = E[f(x) He_k(x)] = Σ_i a_i c_k(b_i) w_i^{⊗k}     (moments, by its distinct entries; see hermite),
    (4)  s_m(W^{⊙l}) ≥ s_min,   ‖W^{⊙l} z‖² = zᵀ (WᵀW)^{∘l} z,   l the least order with C(D+l-1, l) ≥ m.

weights=random draws columns on the sphere until (4) holds; orthonormal needs m ≤ D; correlated takes the columns along
√0.4 c + √0.6 u_i, c common to all: inner products of 0.4 on average, again until (4). smoothed is a small perturbation
of what cannot be told apart, m equal columns, whatever (4) says of it:

    (5)  w_i along c + τ g_i / √D,   g_i ~ N(0, I_D).

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §1.1, §3 and §6.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging.metrics import Metrics, Unjudgeable
from paramid.tasks import relu_units
from paramid.words import hermite, memory_limits, random_streams
from paramid.words.claims import Claim, Directions
from paramid.words.network import Network, Teacher
from paramid.words.options import among, at_least
from paramid.words.spec import Access, Spec

F64 = torch.float64
LEAST, MOST = 0.5, 1.5  # outer weights but for their sign
COMMON = 0.4  # the share of correlated columns that is common to all
TRIES, WORK = 5000, 2**30  # draws at most for (4), and multiplications
LAWS = ("random", "orthonormal", "correlated", "smoothed")
ROOT3 = math.sqrt(3)
LISTS = {
    "roots": (0.0, 1.0, -1.0, ROOT3, -ROOT3),  # of He_1, He_2, He_3: some T_k loses each of these units
    "large": (6.0, -6.0, 7.0),  # affine, dead and affine on any sample that fits here
}
RANGES = {"negative": (-2.5, -1.5)}  # every unit is silent at the origin


class ReluNetwork(Network):
    """A network (1) that can say its Hermite coefficients."""

    def moments(self, order: int) -> Tensor:
        """The distinct entries of T_order by (3)."""
        if order < 0:
            raise ValueError(f"order is {order}; a whole number from 0 was wanted")
        w, a = self.weights
        if reason := memory_limits.refusal(
            {"powers": (hermite.entries(self.inputs, order), w.shape[1])}, memory_limits.room()
        ):
            raise MemoryError(reason)
        return hermite.shallow_tensors(w, self.biases[0], a[:, 0], "relu", (order,))[order]


@dataclass(frozen=True)
class BiasedRelu(Task):
    """Sums of biased ReLUs with free outer weights, from samples, queries or exact Hermite coefficients."""

    D: int = 5  # inputs
    m: int = 5  # units
    weights: str = "random"  # random: on the sphere; orthonormal: m ≤ D; correlated: products of 0.4; smoothed: by tau
    tau: float = 0.3  # of smoothed weights: m equal columns, every entry moved by N(0, tau²/D), scaled to length 1
    s_min: float = 0.25  # weights are drawn until s_m(W^{⊙l}) is at least this, l the least with C(D+l-1, l) ≥ m
    bias: float = 1.5  # half-width of the uniform law of biases
    biases: str | None = None  # first units: 1--1, roots (of He_k), large (±6, 7); negative: all ≤ -1.5; default: drawn
    N: int = 200_000  # samples granted
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value
    known: bool = True  # whether methods are told m

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES, Access.MOMENTS})
    metrics: ClassVar[dict[str, str]] = {
        "parameter_error": "max over true units of ||w - w^|| + |a - a^| + |b - b^|; sqrt 2 + |a| + |b| if not found",
        "parameter_error_unsigned": "the same, the joint sign of (w, b) being free",
        "affine_error": "|v| + |c| of the affine function <v, x> + c that the claim has too much or too little",
        "visible": "higher is easier: true units that stand out of the noise of N samples",
    }
    corners: ClassVar[tuple[str, ...]] = (
        "D=5,m=3,N=20000",
        *("D=1,m=1,N=2000", "D=2,m=1,N=1", "D=3,m=2,N=40", "D=30,m=1,N=2000"),
        *("D=4,m=4,weights=orthonormal,N=5000", "D=3,m=3,weights=correlated,N=5000"),
        "D=4,m=6,weights=smoothed,tau=0.2,N=5000",
        *("D=4,m=6,s_min=0.1,N=5000", "D=2,m=3,s_min=0.1,N=5000", "D=3,m=9,s_min=0,N=5000"),
        *("D=5,m=3,known=false,N=5000", "D=4,m=6,s_min=0.1,known=false,N=5000", "D=4,m=3,noise=0.1,N=5000"),
        *("D=4,m=4,biases=large,N=5000", "D=4,m=4,biases=roots,N=5000", "D=2,m=1,biases=0,N=5000"),
        "D=4,m=6,s_min=0.1,biases=negative,N=5000",
    )

    def __post_init__(self) -> None:
        at_least(self, D=1, m=1, N=1, s_min=0, bias=0, noise=0)
        if not 0 < self.tau < math.inf:
            raise ValueError(f"tau is {self.tau:g}; a number above 0 was wanted")
        among(self, weights=LAWS)
        if self.m > (1 if self.D == 1 else self.D if self.weights == "orthonormal" else math.inf):
            raise ValueError(f"{self.m} units in {self.D} dimensions cannot be {self.weights} and not parallel")
        if len(self.listed) > self.m:
            raise ValueError(f"{len(self.listed)} biases were listed for {self.m} units")

    @property
    def listed(self) -> tuple[float, ...]:
        """The biases of the first units; a named list is cut where the units end."""
        if self.biases is None or self.biases in RANGES:
            return ()
        return LISTS[self.biases][: self.m] if self.biases in LISTS else numbers(self.biases)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the highest bias that is drawn."""
        return RANGES.get(self.biases or "", (-self.bias, self.bias))

    @property
    def order(self) -> int:
        """The exponent l of (4)."""
        order = 1
        while hermite.entries(self.D, order) < self.m:
            order += 1
        return order

    @property
    def spec(self) -> Spec:
        """Everything about (1) but its parameters."""
        low, high = self.limits
        return Spec(
            inputs=self.D,
            widths=(self.m if self.known else None,),
            activations=("relu", "identity"),
            norms="unit",
            output_bias="zero",
            shift=max(abs(low), abs(high), *map(abs, self.listed)),
            highest_shift=max([*self.listed, high][: self.m]),
            samples=self.N,
            noise=self.noise,
        )

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """The claims that have a truth here."""
        return (Network, Directions)

    def draw(self, seed: int) -> ReluNetwork:
        """The network (1) of that seed."""
        w = self.columns(random_streams.generator(seed, "teacher", "weights"))
        source = random_streams.generator(seed, "teacher", "units")
        low, high = self.limits
        b = (low + high) / 2 + random_streams.shifts("uniform", (high - low) / 2, self.m, source, F64)
        size, side = torch.rand(2, self.m, generator=source, device="cpu", dtype=F64)
        a = (LEAST + (MOST - LEAST) * size) * torch.where(side < 1 / 2, -1.0, 1.0)
        b[: len(self.listed)] = torch.tensor(self.listed, device="cpu", dtype=F64)
        return ReluNetwork.shallow(w, b, "relu", a)

    def columns(self, source: torch.Generator) -> Tensor:
        """Unit columns of the law asked for, with (4)."""
        if self.weights == "orthonormal":
            return torch.linalg.qr(random_streams.unit_columns(self.D, self.m, source, F64))[0]
        if self.weights == "smoothed":
            moves = random_streams.normal(self.D, self.m, source, torch.device("cpu"), F64)
            w = random_streams.unit_columns(self.D, 1, source, F64) + self.tau / math.sqrt(self.D) * moves
            return w / w.norm(dim=0)
        best, tries = 0.0, max(10, min(TRIES, WORK // self.m**3))
        for _ in range(tries):
            w = random_streams.unit_columns(self.D, self.m, source, F64)
            if self.weights == "correlated":
                shared = random_streams.unit_columns(self.D, 1, source, F64)
                w = math.sqrt(COMMON) * shared + math.sqrt(1 - COMMON) * w
                w = w / w.norm(dim=0)
            best = max(best, least := least_singular_value(w, self.order))
            if least >= self.s_min:
                return w
        raise ValueError(
            f"none of {tries} draws has s_m(W^({self.order})) ≥ s_min = {self.s_min:g}; the best reached {best:.2g}"
        )

    @property
    def headline(self) -> str:
        """All of a unit at once."""
        return "parameter_error"

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The network, or the columns that can be seen."""
        network = cast("Network", teacher)
        if kind is Directions:
            return Directions(network.weights[0][:, relu_units.Units.of(network).seen])
        return Network(network.weights, network.biases, network.activations)

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Score a claim modulo what no sample can see (see relu_units)."""
        if not isinstance(claim, Network):
            return super().judge(claim, teacher)
        if reason := claim.misfit(replace(self.spec, widths=(None,))):
            raise Unjudgeable(f"Network: {reason}")
        network = cast("Network", teacher)
        told = relu_units.visible(network, samples=self.N, noise=self.noise, order=self.order)
        return self.headed({**relu_units.score(network, claim), "visible": float(told)})


def least_singular_value(w: Tensor, order: int) -> float:
    """s_m(W^{⊙order}) by (4)."""
    return math.sqrt(max(0.0, float(torch.linalg.eigvalsh((w.T @ w) ** order)[0])))


def numbers(text: str) -> tuple[float, ...]:
    """Numbers joined by dashes, each with a sign of its own: 6--6-7 is 6, -6, 7."""
    parts = re.findall(r"(?:^|(?<=[\d.])-)([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", text)
    if "-".join(parts) != text:
        raise ValueError(f"biases is {text!r}; numbers joined by dashes, or {' or '.join(LISTS | RANGES)}, were wanted")
    return tuple(map(float, parts))
