"""Shallow networks with unit outer weights, the teachers of the thesis' chapters 1 to 3.

    (1)  f(x) = Σ_{k≤m} g(⟨w_k, x⟩ + τ_k),   x ∈ R^D,   w_k uniform on the unit sphere.

What an oracle can see: for tanh, logistic and erf every w_k and τ_k, up to their order, while m ≤ D(D-1)/2. For
squares only Q = Σ_k (w_k, τ_k)(w_k, τ_k)ᵀ.

Reference: Rauchensteiner, Finite sample identification of artificial neural networks, TUM 2023, (1.11) and §3.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, cast

import torch

from paramid import judging, streams
from paramid.activations import activation as named
from paramid.claims import Claim, Directions, Gram, Subspace
from paramid.contracts import Task
from paramid.judging import Teacher
from paramid.network import Network
from paramid.spec import Access, Spec


@dataclass(frozen=True)
class Shallow(Task):
    """Sums of ridge functions with unit weights, all outer weights 1."""

    D: int = 20
    m: int | None = None
    beta: float | None = None  # m = ⌈0.4 D^beta⌉ where m is not given; 1.5 where neither is
    activation: str = "tanh"
    shift_law: str = "uniform"
    shift: float = 0.5  # half-width, or standard deviation of the normal law
    N: int | None = None  # samples granted
    noise: float = 0.0

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES, Access.DERIVATIVES})
    corners: ClassVar[tuple[str, ...]] = (
        "D=6,m=3",
        *("D=1,m=1", "D=2,m=1", "D=3,m=3", "D=4,m=9", "D=30,m=1"),
        *("D=6,m=3,N=1", "D=6,m=3,N=40", "D=6,m=3,shift=0", "D=6,m=3,shift=3", "D=6,m=3,noise=0.1"),
        *("D=6,m=3,activation=logistic", "D=6,m=3,activation=square"),
    )

    def __post_init__(self) -> None:
        named(self.activation)
        if self.m is not None and self.beta is not None:
            raise ValueError("m and beta were both given; one of them was wanted")
        for name, least in (("D", 1), ("m", 1), ("N", 1), ("shift", 0), ("noise", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise ValueError(f"{name} is {value}; at least {least} was wanted")
        if self.beta is not None and not 0 <= self.beta <= 4:
            raise ValueError(f"beta is {self.beta}; a number from 0 to 4 was wanted")
        streams.shifts(self.shift_law, self.shift, 1, streams.generator(0), torch.float64)

    @property
    def neurons(self) -> int:
        """m, given or by its exponent."""
        if self.m is not None:
            return self.m
        return math.ceil(0.4 * self.D ** (1.5 if self.beta is None else self.beta))

    @property
    def spec(self) -> Spec:
        """Everything about (1) but its weights and shifts."""
        return Spec(
            inputs=self.D,
            widths=(self.neurons,),
            activations=(self.activation, "identity"),
            outer="ones",
            norms="unit",
            output_bias="zero",
            shift_law=self.shift_law,
            shift=self.shift,
            samples=self.N,
            noise=self.noise,
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
        """The network (1) of that seed."""
        source = streams.generator(seed, "teacher")
        w = streams.unit_columns(self.D, self.neurons, source, torch.float64)
        tau = streams.shifts(self.shift_law, self.shift, self.neurons, source, torch.float64)
        return Network.shallow(w, tau, self.activation)

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The network, its columns, the span of w_k w_kᵀ, or Q."""
        network = cast("Network", teacher)
        if kind is Directions:
            return Directions(network.weights[0])
        if kind is Subspace:
            return Subspace(judging.span_of_squares(network.weights[0]))
        if kind is Gram:
            return Gram(judging.gram(network))
        return network
