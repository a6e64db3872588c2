"""Threshold units under a polynomial: the lowest layer of a network whose upper layers are unknown.

    (1)  f(x) = P(X_1, …, X_m),   X_i = u(⟨w_i, x⟩ - t),   x ~ N(0, I_D),   ‖w_i‖ = 1,
    (2)  linear          Σ_i c_i X_i
         or              1 - Π_i (1 - X_i), the union of m halfspaces
         intersection    Π_i (1 - X_i), the intersection of their complements
         pairs           Σ_i c_i X_i + Σ_{i<j} c_ij X_i X_j,   c_ij uniform in ± mixing
         monotone        the same with c_ij uniform in [0, mixing]
         no-linear       Σ_{i<j} X_i X_j

with c_i = 1, or uniform in [0.5, 2]. Weights: `orthonormal`; `mild`, an orthonormal matrix + 0.35 G / √D with unit
columns; `random` unit columns with a spectrum cut until their condition is at most κ; `blocks`, indicators of disjoint
blocks of D / m shuffled inputs; `uneven`, of sizes like 1 : 2 : … : m. Of (1) an oracle shows w_i (up to sign for even
u), t and P, up to the order of units.

References: Goel & Panigrahy, arXiv:1903.09231; `paramid.words.threshold_units` for the coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging.metrics import EXACT, Metrics
from paramid.judging.spans_and_directions import span_of_squares
from paramid.judging.threshold_unit_errors import polynomial_error, score, units_of
from paramid.words import random_streams
from paramid.words.claims import Claim, Directions, Subspace
from paramid.words.network import Network, Teacher
from paramid.words.neuron_distances import CLOSE
from paramid.words.options import among, at_least
from paramid.words.spec import Access, ThresholdSpec
from paramid.words.threshold_units import EVEN, UNITS, Thresholded, Units, monomials, subsets

MILD = 0.35
POLYNOMIALS = ("linear", "or", "intersection", "pairs", "monotone", "no-linear")
CHOICES = {
    "activation": tuple(UNITS),
    "polynomial": POLYNOMIALS,
    "weights": ("orthonormal", "mild", "random", "blocks", "uneven"),
    "coefficients": ("ones", "free"),
}
NETWORKS = {"relu": "relu", "sigmoid": "logistic"}


@dataclass(frozen=True)
class Threshold(Task):
    """Units with a high threshold under an unknown polynomial, such as unions of halfspaces."""

    D: int = 5  # inputs
    m: int = 5  # units
    t: float = 2.5  # threshold of every unit: X_i = u(⟨w_i, x⟩ - t)
    N: int = 1_000_000  # samples granted
    activation: str = "step"  # unit u of a = ⟨w, x⟩ - t: step (0 or 1), relu, sigmoid, exponential e^{ρa}, abs, cosh ρa
    polynomial: str = "or"  # or: any; intersection: none; linear: sum; pairs, monotone: + products; no-linear: products
    weights: str = "orthonormal"  # orthonormal; mild: nearly so; random: condition ≤ κ; blocks, uneven: indicators
    kappa: float = 8.0  # κ, the largest condition number of random weights
    coefficients: str = "ones"  # linear coefficients c_i of the polynomial; ones: all 1; free: uniform in [0.5, 2]
    mixing: float = 1.0  # coefficients of products are uniform in ±mixing (pairs) or in [0, mixing] (monotone)
    rate: float = 1.0  # ρ of exponential and cosh units
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value

    version: ClassVar[int] = 1
    metrics: ClassVar[dict[str, str]] = {
        "angle_error": "largest angle between a true and the matched direction, in radians; pi/2 where none was found",
        "threshold_error": "largest error of a threshold; sqrt 2 where no unit was found",
        "coefficient_error": "largest error of a linear coefficient of P; sqrt 2 where no unit was found",
        "polynomial_error": "largest error of P over points of [0, 1]^m",
    }
    corners: ClassVar[tuple[str, ...]] = (
        "D=4,m=3,N=20000",
        *("D=4,m=2,N=20000,activation=relu,polynomial=linear", "D=1,m=1,N=2000", "D=6,m=2,N=20000,polynomial=pairs"),
        *("D=3,m=3,N=20000,activation=sigmoid,t=5,polynomial=linear", "D=3,m=3,N=1", "D=3,m=3,t=0,N=5000"),
        *("D=3,m=4,N=5000,weights=random", "D=3,m=3,N=20000,polynomial=intersection", "D=4,m=2,t=6,N=5000"),
        *("D=4,m=4,t=0,polynomial=no-linear,N=5000", "D=3,m=3,t=1.7320508075688772,polynomial=linear,N=5000"),
        "D=6,m=3,N=20000,t=1,rate=0.5,activation=exponential,weights=blocks,polynomial=monotone,mixing=0.5",
        *("D=3,m=3,N=20000,t=0,activation=abs,polynomial=linear", "D=3,m=3,N=20000,noise=0.1"),
    )

    def __post_init__(self) -> None:
        among(self, **CHOICES)
        at_least(self, D=1, m=1, N=1, t=0, kappa=1, mixing=0, noise=0)
        if self.m > self.D and self.weights != "random":
            raise ValueError(f"{self.m} {self.weights} vectors in {self.D} dimensions; m up to D was wanted")
        if self.binary != (self.activation == "exponential") or (self.even and self.t):
            raise ValueError("blocks go with exponential units, t=0 with even ones; this mixes them")
        if self.weights == "uneven" and self.m * (self.m + 1) // 2 > self.D:
            raise ValueError(f"{self.D} inputs make no {self.m} blocks of growing size")
        if self.weights == "blocks" and self.D % self.m:
            raise ValueError(f"{self.D} inputs make no {self.m} blocks of one size")

    @property
    def binary(self) -> bool:
        """Whether weights are indicators of disjoint blocks."""
        return self.weights in ("blocks", "uneven")

    @property
    def even(self) -> bool:
        """Whether signs cannot be seen."""
        return self.activation in EVEN

    @property
    def layered(self) -> bool:
        """Whether the teacher is a network."""
        return self.polynomial == "linear" and self.activation in NETWORKS

    @property
    def access(self) -> frozenset[Access]:  # type: ignore[override]  # exact moments depend on the options
        """Queries and samples; exact moments where they have a closed form."""
        closed = self.weights == "orthonormal" or (self.polynomial == "linear" and not self.binary)
        return frozenset({Access.QUERIES, Access.SAMPLES} | ({Access.MOMENTS} if closed else set()))

    @property
    def spec(self) -> ThresholdSpec:
        """Everything but the directions and P; of P whether the teacher is a network."""
        return ThresholdSpec(
            inputs=self.D,
            widths=(self.m,),
            activations=(NETWORKS[self.activation], "identity") if self.layered else (self.activation, "polynomial"),
            norms="free" if self.binary else "unit",
            output_bias="zero" if self.polynomial != "intersection" else "free",
            shift=self.t,
            noise=self.noise,
            samples=self.N,
            unit=self.activation,
            threshold=self.t,
            rate=self.rate,
            weights=self.weights if self.binary or self.weights == "orthonormal" else "unit",
        )

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """Whole functions, units, directions; networks and spans where the teacher is a network."""
        return (*([Network, Subspace] if self.layered else []), Thresholded, Units, Directions)

    def draw(self, seed: int) -> Thresholded:
        """The function (1) of that seed."""
        source = random_streams.generator(seed, "teacher")
        w = columns(self.weights, self.D, self.m, self.kappa, source)
        free = 0.5 + 1.5 * torch.rand(self.m, generator=source, device="cpu", dtype=torch.float64)
        c = free if self.coefficients == "free" else torch.ones_like(free)
        pairs = torch.rand(math.comb(self.m, 2), generator=source, device="cpu", dtype=torch.float64)
        pairs = self.mixing * (2 * pairs - 1 if self.polynomial == "pairs" else pairs)
        scales, constants, slopes = polynomial(self.polynomial, c, pairs)
        return Thresholded(w, torch.full_like(c, self.t), scales, constants, slopes, self.activation, self.rate)

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The function, its units or directions, the span of w_i w_iᵀ, or the network that it is."""
        whole = cast("Thresholded", teacher)
        if kind is Directions:
            return Directions(whole.columns)
        if kind is Subspace:
            return Subspace(span_of_squares(whole.columns))
        if kind is Network:
            return Network.shallow(
                whole.columns, -whole.thresholds, NETWORKS[self.activation], whole.units.coefficients
            )
        return whole.units if kind is Units else whole

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Units are compared whatever holds them; whole functions by their polynomials as well."""
        metrics = super().judge(claim, teacher) if isinstance(claim, Network) else {}
        units = units_of(claim)
        if units is None or type(claim) not in self.kinds:
            return super().judge(claim, teacher)
        whole = cast("Thresholded", teacher)
        told, worst = score(whole, units, even=self.even, bare=isinstance(claim, Directions))
        if isinstance(claim, Thresholded):
            told["polynomial_error"] = polynomial_error(whole, claim)
            worst = max(worst, told["polynomial_error"])
        if not isinstance(claim, Directions):
            right = told["sign_accuracy"] == 1 and max(told["threshold_error"], told["coefficient_error"]) < 0.1
            right = right and told["weight_error"] < CLOSE and not told["excess"]
            told |= {"identified": float(right), "exact": float(right and worst < EXACT)}
        return self.headed({**told, **metrics})


def columns(law: str, d: int, m: int, kappa: float, source: torch.Generator) -> Tensor:
    """Weights of a named law, (d, m)."""
    g = torch.randn(d, m, generator=source, device="cpu", dtype=torch.float64)
    if law == "blocks":
        block = torch.randperm(d, generator=source, device="cpu") % m
        return (block[:, None] == torch.arange(m, device="cpu")).double()
    if law == "uneven":
        ends = [d * k * (k + 1) // (m * (m + 1)) for k in range(1, m + 1)]
        block = torch.bucketize(
            torch.randperm(d, generator=source, device="cpu"), torch.tensor(ends, device="cpu"), right=True
        )
        return (block[:, None] == torch.arange(m, device="cpu")).double()
    if law == "random":
        return conditioned(g / g.norm(dim=0), kappa)
    q = torch.linalg.qr(g)[0]
    if law == "mild":
        q = q + MILD * torch.randn(d, m, generator=source, device="cpu", dtype=torch.float64) / math.sqrt(d)
    return q / q.norm(dim=0)


def conditioned(w: Tensor, kappa: float) -> Tensor:
    """Unit columns with small singular values raised until their condition is at most `kappa`."""
    for _ in range(1000):
        u, s, v = torch.linalg.svd(w, full_matrices=False)
        if float(s[0]) <= kappa * float(s[-1]):
            break
        w = (u * s.clamp(min=1.01 * float(s[0]) / kappa)) @ v
        w = w / w.norm(dim=0)
    return w


def polynomial(name: str, c: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The terms of (2): scales, constants and slopes."""
    m, one = len(c), torch.ones_like(c[:1])
    if name in ("or", "intersection"):
        constants = torch.ones(2, m, dtype=c.dtype, device=c.device)
        slopes = torch.stack([torch.zeros_like(c), -torch.ones_like(c)])
        scales = torch.cat([one, -one]) if name == "or" else torch.cat([0 * one, one])
        return scales, constants, slopes
    alone, two = subsets(m, range(1, 2), c), subsets(m, range(2, 3), c)
    if name == "no-linear":
        return torch.ones_like(pairs), *monomials(two)
    if name == "linear":
        return c, *monomials(alone)
    return torch.cat([c, pairs]), *monomials(torch.cat([alone, two]))
