"""Shallow networks: sums of ridge functions, the teachers of the thesis' chapters 1 to 3 and their relatives.

    (1)  f(x) = Σ_{k≤m} g(⟨w_k, x⟩ + τ_k),   x ∈ R^D,   w_k uniform on the unit sphere,
    (2)  with outer=free f(x) = Σ_{k≤m} a_k g(⟨l_k w_k, x⟩ + τ_k) + c,   |a_k| and l_k uniform in [0.5, 2], a_k of
         either sign, c standard normal.

What an oracle can see: for tanh, logistic and erf every w_k and τ_k, up to their order; where a_k is free, up to the
joint sign of (a_k, w_k, τ_k) besides, however many there are. Spans of derivatives tell less: their only rank-ones
are the w_k^⊗s while m ≤ C(D+s-1, s) - D in order s, for Hessians D(D-1)/2, which limits methods that look at such
spans and not what is identifiable. For squares only Q = Σ_k (w_k, τ_k)(w_k, τ_k)ᵀ is seen.

Reference: Rauchensteiner, Finite sample identification of artificial neural networks, TUM 2023, (1.11) and §3.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging.spans_and_directions import gram, span_of_squares
from paramid.words import random_streams
from paramid.words.activations import activation as named
from paramid.words.claims import Claim, Directions, Gram, Subspace
from paramid.words.network import Network, Teacher
from paramid.words.options import among, at_least
from paramid.words.spec import UNKNOWN, Access, Spec

LEAST, MOST = 0.5, 2.0  # free norms, and free outer weights but for their sign
CHOICES = {"outer": ("ones", "free"), "precision": ("float64", "float32")}


@dataclass(frozen=True)
class Shallow(Task):
    """Sums of ridge functions: unit weights and outer weights 1, or all of them free."""

    D: int = 20  # inputs
    m: int | None = None  # neurons; default: ⌈0.4 D^beta⌉
    beta: float | None = None  # exponent of m = ⌈0.4 D^beta⌉, given instead of m; default: 1.5
    activation: str = "tanh"  # activation of the neurons: tanh, logistic, erf, relu, softplus, square or identity
    shift_law: str = "uniform"  # uniform: shifts in ±shift; normal: of standard deviation shift
    shift: float = 0.5  # half-width of the uniform, standard deviation of the normal law of shifts
    N: int | None = None  # samples granted; default: as many as are asked for
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value
    outer: str = "ones"  # ones: outer weights and norms 1, no output bias; free: all of these drawn
    known: bool = True  # whether methods are told m
    known_activation: bool = True  # whether methods are told the activation
    precision: str = "float64"  # float64: values as computed; float32: values rounded to single precision

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES, Access.DERIVATIVES})
    corners: ClassVar[tuple[str, ...]] = (
        "D=6,m=3",
        *("D=1,m=1", "D=2,m=1", "D=3,m=3", "D=4,m=9", "D=30,m=1"),
        *("D=6,m=3,N=1", "D=6,m=3,N=40", "D=6,m=3,shift=0", "D=6,m=3,shift=3", "D=6,m=3,noise=0.1"),
        *("D=6,m=3,activation=logistic", "D=6,m=3,activation=square", "D=6,m=3,activation=softplus"),
        *("D=6,m=3,outer=free", "D=6,m=3,known=false", "D=6,m=3,precision=float32", "D=1,m=1,outer=free"),
        "D=6,m=3,outer=free,known_activation=false",
    )

    def __post_init__(self) -> None:
        named(self.activation)
        if self.m is not None and self.beta is not None:
            raise ValueError("m and beta were both given; one of them was wanted")
        at_least(self, D=1, m=1, N=1, shift=0, noise=0)
        among(self, **CHOICES)
        if self.beta is not None and not 0 <= self.beta <= 4:
            raise ValueError(f"beta is {self.beta}; a number from 0 to 4 was wanted")
        random_streams.shifts(self.shift_law, self.shift, 1, random_streams.generator(0), torch.float64)

    @property
    def neurons(self) -> int:
        """m, given or by its exponent."""
        if self.m is not None:
            return self.m
        return math.ceil(0.4 * self.D ** (1.5 if self.beta is None else self.beta))

    @property
    def spec(self) -> Spec:
        """Everything about (1) or (2) but its parameters."""
        pinned = self.outer == "ones"
        return Spec(
            inputs=self.D,
            widths=(self.neurons if self.known else None,),
            activations=(self.activation if self.known_activation else UNKNOWN, "identity"),
            outer=self.outer,
            norms="unit" if pinned else "free",
            output_bias="zero" if pinned else "free",
            shift_law=self.shift_law,
            shift=self.shift,
            samples=self.N,
            noise=self.noise,
            precision=self.precision,
        )

    @property
    def headline(self) -> str:
        """Squares show their Gram matrix and nothing more."""
        return "gram_error" if self.activation == "square" else "weight_error"

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """The claims that have a truth here."""
        return (Network, Gram) if self.activation == "square" else (Network, Directions, Subspace)

    def draw(self, seed: int) -> Network:
        """The network (1) or (2) of that seed."""
        source = random_streams.generator(seed, "teacher")
        w = random_streams.unit_columns(self.D, self.neurons, source, torch.float64)
        tau = random_streams.shifts(self.shift_law, self.shift, self.neurons, source, torch.float64)
        if self.outer == "ones":
            return Network.shallow(w, tau, self.activation)
        norms, size, side = (uniform(self.neurons, source) for _ in range(3))
        a = torch.where(side < (LEAST + MOST) / 2, -size, size)
        free = Network.shallow(w * norms, tau, self.activation, a)
        c = torch.randn(1, generator=source, device="cpu", dtype=torch.float64)
        return free.with_layers(free.weights, (tau, c))

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The network, its columns, the span of w_k w_kᵀ, or Q."""
        network = cast("Network", teacher)
        if kind is Directions:
            return Directions(network.weights[0])
        if kind is Subspace:
            return Subspace(span_of_squares(network.weights[0]))
        if kind is Gram:
            return Gram(gram(network))
        return network


def uniform(count: int, source: torch.Generator) -> Tensor:
    """Numbers uniform in [0.5, 2]."""
    return LEAST + (MOST - LEAST) * torch.rand(count, generator=source, device="cpu", dtype=torch.float64)
