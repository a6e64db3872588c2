"""Polynomials over threshold units: the teachers of high thresholds, what is claimed of them, and their coefficients.

    (1)  f(x) = P(X_1, …, X_m),   X_i = u(⟨w_i, x⟩ - t_i),
    (2)  P(X) = Σ_τ c_τ Π_i (a_τi + b_τi X_i),

u a 0/1 step, ReLU, sigmoid, exponential e^{ρa}, or one of the even |a|, cosh(ρa). With x ~ N(0, I_D), orthonormal w_i
and u_n = E[u(z - t) He_n(z)], the coefficient of Π_i He_{n_i}(⟨w_i, x⟩) in (2) is

    (3)  Σ_τ c_τ Π_i (a_τi [n_i = 0] + b_τi u_{n_i}),

and where P is linear that of He_k is Σ_i c_i u_k w_i^{⊗k}, whatever the unit vectors w_i. The coefficients of u are

    (4)  step: u_0 = Φ(-t), u_n = He_{n-1}(t) φ(t);   exponential: u_n = ρ^n e^{ρ²/2 - ρt};   cosh: even n of it, t = 0,

those of ReLU, sigmoid and |a| = max(0, a) + max(0, -a) stand in `hermite`.

Reference: Goel & Panigrahy, Recovering the lowest layer of deep networks with high threshold activations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Self, cast

import torch
from torch import Tensor

from paramid.words import hermite
from paramid.words.claims import Claim

if TYPE_CHECKING:
    from paramid.words.spec import Spec, ThresholdSpec

UNITS: Mapping[str, Callable[[Tensor, float], Tensor]] = {
    "step": lambda a, _: (a >= 0).to(a.dtype),
    "relu": lambda a, _: torch.relu(a),
    "sigmoid": lambda a, _: torch.sigmoid(a),
    "exponential": lambda a, rate: torch.exp(rate * a),
    "abs": lambda a, _: a.abs(),
    "cosh": lambda a, rate: torch.cosh(rate * a),
}
EVEN = ("abs", "cosh")
DEGREES = {
    "step": 0,
    "relu": 1,
    "abs": 1,
}  # k of u(λa) = λ^k u(a), λ > 0: the length of w_i is free there and nowhere else
BLOCK = 2**20  # doubles of one factor of (2)


@dataclass(frozen=True, eq=False, repr=False)
class Units(Claim):
    """Directions, thresholds and linear coefficients of P: all that correlations tell; not the rest of P."""

    columns: Tensor  # (inputs, k)
    thresholds: Tensor  # (k,)
    coefficients: Tensor  # (k,)

    def misfit(self, spec: Spec) -> str | None:
        """One of each for at most as many units as there are."""
        k, most = len(self.thresholds), spec.widths[0] if spec.widths else None
        if self.columns.shape != (spec.inputs, k) or self.coefficients.shape != (k,):
            came = f"columns {tuple(self.columns.shape)}, coefficients {tuple(self.coefficients.shape)}"
            return f"{came} beside {k} thresholds; ({spec.inputs}, {k}) and ({k},) were wanted"
        return f"{k} units claimed, the teacher has {most}" if most is not None and k > most else None

    def at_unit_length(self, unit: str) -> Units:
        """The same units over weights of length 1, where their length is free."""
        length, gain = lengths(self.columns, unit)
        return Units(self.columns / length, self.thresholds / length, self.coefficients * gain)


@dataclass(frozen=True, eq=False, repr=False)
class Thresholded(Claim):
    """The whole function (1) over (2)."""

    columns: Tensor  # w_i, (inputs, m)
    thresholds: Tensor  # t_i, (m,)
    scales: Tensor  # c_τ, (terms,)
    constants: Tensor  # a_τi, (terms, m)
    slopes: Tensor  # b_τi, (terms, m)
    unit: str
    rate: float = 1.0

    @classmethod
    def restore(cls, arrays: Mapping[str, Tensor], spec: Spec) -> Self:
        """The function of stored tensors, with the units of the spec."""
        known = cast("ThresholdSpec", spec)
        return cls(**arrays, unit=known.unit, rate=known.rate)  # type: ignore[arg-type]  # tensors by their own names

    def misfit(self, spec: Spec) -> str | None:
        """Units that fit, and a factor of every term for every one of them."""
        shape = (len(self.scales), len(self.thresholds))
        if self.constants.shape != shape or self.slopes.shape != shape:
            return f"factors {tuple(self.constants.shape)} and {tuple(self.slopes.shape)}; {shape} were wanted"
        unit, rate = getattr(spec, "unit", self.unit), getattr(spec, "rate", self.rate)
        if (self.unit, self.rate) != (unit, rate):
            return f"units are {self.unit!r} of rate {self.rate:g}; {unit!r} of rate {rate:g} were wanted"
        return self.units.misfit(spec)

    def at_unit_length(self) -> Self:
        """The same function over weights of length 1, where their length is free."""
        length, gain = lengths(self.columns, self.unit)
        return replace(
            self, columns=self.columns / length, thresholds=self.thresholds / length, slopes=self.slopes * gain
        )

    def to(self, device: torch.device | str) -> Self:
        """The same function elsewhere."""
        return replace(self, **{name: value.to(device) for name, value in self.arrays().items()})  # type: ignore[arg-type]  # as above

    def __call__(self, x: Tensor) -> Tensor:
        """The values (1), (rows, 1)."""
        rows = max(1, BLOCK // max(1, len(self.scales)))
        return torch.cat([self.polynomial(self.activated(part)) for part in x.split(rows)])[:, None]

    def activated(self, x: Tensor) -> Tensor:
        """X_i, (rows, m)."""
        return UNITS[self.unit](x @ self.columns - self.thresholds, self.rate)

    def polynomial(self, values: Tensor) -> Tensor:
        """(2) at (rows, m)."""
        return self.products(values) @ self.scales

    def products(self, values: Tensor) -> Tensor:
        """The products of (2), (rows, terms)."""
        product = values.new_ones(len(values), len(self.scales))
        for i in range(values.shape[1]):
            product = product * (self.constants[:, i] + values[:, i, None] * self.slopes[:, i])
        return product

    @property
    def units(self) -> Units:
        """The units with ∂P/∂X_i at X = 0 as their coefficients."""
        others = torch.stack([_without(self.constants, i).prod(dim=1) for i in range(len(self.thresholds))])
        return Units(self.columns, self.thresholds, (others * self.slopes.T) @ self.scales)

    def moments(self, order: int) -> Tensor:
        """The distinct entries of E[f He_k] by (3), of equal thresholds."""
        m, u = len(self.thresholds), coefficients(self.unit, float(self.thresholds[0]), order, self.rate)
        if self.linear:
            here = hermite.powers(self.columns, order) @ (self.units.coefficients * u[order])
            return here + self.scales[~self.slopes.any(dim=1)].sum() if order == 0 else here
        index = hermite.multi_indices(m, order)
        counts = (index[:, :, None] == torch.arange(m, device=index.device)).sum(dim=1)  # n_i
        table = torch.stack([self.constants * (n == 0) + self.slopes * u[n] for n in range(order + 1)])
        value = self.scales.expand(len(counts), -1)
        for i in range(m):
            value = value * table[counts[:, i], :, i]
        full = hermite.unfold(value.sum(dim=1), m, order)
        for _ in range(order):  # each turn moves the next index to the inputs
            full = torch.tensordot(full, self.columns, dims=([0], [1]))
        return hermite.fold(full) if order else full.reshape(1)

    @property
    def linear(self) -> bool:
        """Whether no term has two variables."""
        return bool(((self.slopes != 0).sum(dim=1) <= 1).all())


def lengths(columns: Tensor, unit: str) -> tuple[Tensor, Tensor]:
    """The lengths of columns, and the factors that u gains by them; ones where lengths are not free, and for zeros."""
    length = columns.norm(dim=0)
    length = torch.where((length > 0) & (unit in DEGREES), length, 1.0)
    return length, length ** DEGREES.get(unit, 0)


def monomials(members: Tensor) -> tuple[Tensor, Tensor]:
    """Factors (a, b) of Π_{i in S} X_i for every row S of `members` (terms, m), 0 or 1."""
    return 1 - members, members


def subsets(m: int, sizes: range, like: Tensor) -> Tensor:
    """All sets of so many of m variables, as rows of 0 and 1."""
    sets = [members for k in sizes for members in combinations(range(m), k)]
    rows = torch.zeros(len(sets), m, device="cpu", dtype=like.dtype)
    for row, members in zip(rows, sets, strict=True):
        row[list(members)] = 1.0
    return rows.to(like.device)


def coefficients(name: str, t: float, order: int, rate: float = 1.0) -> list[float]:
    """u_0 … u_order of a unit of unit weight."""
    z = torch.tensor([t], dtype=torch.float64, device="cpu")
    if name == "step":
        density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        higher = [float(h) * density for h in hermite.polynomials(z, max(order - 1, 0))]
        return [math.erfc(t / math.sqrt(2)) / 2, *higher][: order + 1]
    if name in ("exponential", "cosh"):
        even = name == "cosh"
        return [0.0 if even and n % 2 else rate**n * math.exp(rate * rate / 2 - rate * t) for n in range(order + 1)]
    if name == "abs":
        return [0.0 if n % 2 else 2 * float(c) for n, c in enumerate(hermite.coefficients("relu", order, -z))]
    return [float(c) for c in hermite.coefficients({"sigmoid": "logistic"}.get(name, name), order, -z)]


def _without(columns: Tensor, i: int) -> Tensor:
    return torch.cat([columns[:, :i], columns[:, i + 1 :]], dim=1)
