"""How far one sum of ReLUs is from another, modulo what no sample can see.

Units are scaled to ‖w_i‖ = 1, b_i and a_i with them, and matched one to one. With σ(z) - σ(-z) = z:

    (1)  e_i = min(√2, ‖w_i - ŵ_j‖) + |b_i - b̂_j| + |a_i - â_j|, at most √2 + |b_i| + |a_i|: what silence costs,
    (2)  turning the units of S, (w, b) → -(w, b), takes Σ_S a_i (⟨w_i, x⟩ + b_i) away from f,
    (3)  |b_i| > 5.5: not one of 10^7 samples crosses the kink. Such a unit shows a_i (⟨w_i, x⟩ + b_i), or nothing,
    (4)  δ(S) = ‖v‖ + |c|, where ⟨v, x⟩ + c is what the units of (3) show, plus (2), minus what the claim has of it.

Signs of a claim that differ from the truth's are no error where δ(S) vanishes: below 1e-2 they cost δ(S) and nothing
else, so that a dependent set of units may be turned. Where the truth has units of (3), a claim may say their sum with
such units of its own, with pairs a σ(z) - a σ(-z), or with w = 0.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Theorem 3.4.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from paramid.judging import claim_scores
from paramid.judging.metrics import EXACT, SHIFT, Metrics
from paramid.words import hermite
from paramid.words import network as networks
from paramid.words.network import Network
from paramid.words.neuron_distances import CAP, CLOSE, assign, distances

HIDDEN = 5.5  # Φ(-5.5) = 2e-8
SAME = 1e-9  # two halves of one affine function
TAIL = 60  # the order at which the energy of a kink is cut: what is left is a few percent of it
EXCESS_NOISE = 3.0  # E ‖y He_k‖² over E y² E ‖He_k‖²: 2 to 4, for y is large where He_k is


class Units(NamedTuple):
    """Columns (w_i, b_i), (D + 1, n), and outer weights a_i, (n,)."""

    lifted: Tensor
    outer: Tensor

    @classmethod
    def of(cls, network: Network) -> Units:
        """The units of a shallow network with one output, scaled."""
        scaled = networks.normalise(network)
        return cls(torch.cat([scaled.weights[0], scaled.biases[0][None]]), scaled.weights[1][:, 0])

    def at(self, which: Tensor) -> Units:
        """Some of them."""
        return Units(self.lifted[:, which], self.outer[which])

    def network(self) -> Network:
        """Their sum."""
        return Network.shallow(self.lifted[:-1], self.lifted[-1], "relu", self.outer)

    @property
    def bias(self) -> Tensor:
        """The b_i."""
        return self.lifted[-1]

    @property
    def silence(self) -> Tensor:
        """What it costs not to find them."""
        return CAP + self.bias.abs() + self.outer.abs()

    @property
    def seen(self) -> Tensor:
        """Which are not hidden by (3); where all are, the most visible one."""
        size = self.bias.abs()
        return (size <= HIDDEN) | (size == size.min()) if len(size) and bool((size > HIDDEN).all()) else size <= HIDDEN


def score(truth: Network, claim: Network) -> Metrics:
    """The common metrics over the units that can be seen, and (1) and (4)."""
    true, mine = Units.of(truth), Units.of(claim.copy())
    seen = true.at(true.seen)
    shown = affine(true.at(~true.seen))
    said = torch.zeros_like(shown)
    said[-1] = claim.biases[-1][0]
    if not bool(true.seen.all()):
        aside, part = affine_part(mine)
        mine, said = mine.at(~aside), said + part
    unsigned, rows, columns, turned = matched(seen, mine, signs=False)
    unexplained = shown - said
    swapped = unexplained + affine_sum(seen.at(rows[turned]))
    if bool(turned.any()) and size(swapped) < CLOSE:
        mine, unexplained = turn(mine, columns[turned]), swapped
    errors = matched(seen, mine, signs=True)[0]
    metrics = claim_scores.score(seen.network(), mine.network())
    if len(mine.outer) > len(seen.outer):  # a unit in excess costs as much as the dearest that is missing
        errors = seen.silence
    return metrics | combined(metrics, errors, unsigned, size(unexplained), max(float(seen.silence.max()), size(shown)))


def combined(metrics: Metrics, errors: Tensor, unsigned: Tensor, affine_error: float, silence: float) -> Metrics:
    """The family's own metrics, and the common ones that say whether all is right."""
    worst = max(float(errors.max()), min(affine_error, silence))
    return {
        "parameter_error": worst,
        "parameter_error_unsigned": float(unsigned.max()),
        "affine_error": affine_error,
        "identified": float(bool(metrics["identified"]) and affine_error < SHIFT),
        "exact": float(bool(metrics["exact"]) and affine_error < EXACT),
        "bits": min(metrics["bits"], -math.log2(affine_error)) if affine_error else metrics["bits"],
    }


def matched(true: Units, mine: Units, *, signs: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(1) over the best matching: errors, its rows and columns, and which of them are turned, unless signs count."""
    straight, turned = gaps(true, mine), gaps(true, Units(-mine.lifted, mine.outer))
    cost = straight if signs else torch.minimum(straight, turned)
    cost = torch.minimum(cost, true.silence[:, None])
    rows, columns = assign(cost)
    errors = true.silence.clone()
    errors[rows] = cost[rows, columns]
    return errors, rows, columns, (turned < straight)[rows, columns] & (errors[rows] < true.silence[rows])


def gaps(true: Units, mine: Units) -> Tensor:
    """(1) over all pairs, without its bound."""
    weights = distances(true.lifted[:-1], mine.lifted[:-1]).clamp(max=CAP)
    total = weights + (true.bias[:, None] - mine.bias).abs() + (true.outer[:, None] - mine.outer).abs()
    return total.nan_to_num(nan=math.inf)


def turn(units: Units, which: Tensor) -> Units:
    """Some (w, b) turned to -(w, b)."""
    signs = torch.ones_like(units.outer).index_fill(0, which, -1.0)
    return Units(units.lifted * signs, units.outer)


def affine_sum(units: Units) -> Tensor:
    """Σ a_i (w_i, b_i)."""
    return units.lifted @ units.outer


def affine(units: Units) -> Tensor:
    """What units hidden by (3) show: (v, c) of ⟨v, x⟩ + c."""
    return affine_sum(units.at(units.bias > 0))


def affine_part(units: Units) -> tuple[Tensor, Tensor]:
    """Which units make up an affine function, and which function: hidden ones, constants, mirrored pairs."""
    flat = (units.bias.abs() > HIDDEN) | (units.lifted[:-1].norm(dim=0) == 0)
    whole = torch.cat([units.lifted, units.outer[None]])
    paired = (distances(whole, -whole) < SAME).any(dim=1) & ~flat
    return flat | paired, affine(units.at(flat)) + affine_sum(units.at(paired)) / 2


def size(function: Tensor) -> float:
    """‖v‖ + |c|."""
    length = float(function[:-1].norm() + function[-1].abs())
    return math.inf if math.isnan(length) else length


def visible(network: Network, *, samples: int, noise: float, order: int) -> int:
    """How many units stand out of the noise of N samples in T_{2l+1} or T_{2l+2}, by more than half of it.

    ‖T_k noise‖² ≈ ρ V D(D+1)…(D+k-1) / N, where V is what is left of f beyond degree 2, and of label noise.
    """
    units, d = Units.of(network), network.inputs
    c = hermite.coefficients("relu", TAIL, units.bias)
    cosines = units.lifted[:-1].T @ units.lifted[:-1]
    left = noise**2
    for k in range(3, TAIL + 1):
        left += float((units.outer * c[k]) @ cosines**k @ (units.outer * c[k])) / math.factorial(k)
    stands_out = torch.zeros_like(units.bias, dtype=torch.bool)
    for k in (2 * order + 1, 2 * order + 2):
        level = math.sqrt(EXCESS_NOISE * left * math.prod(range(d, d + k)) / samples)
        stands_out |= (units.outer * c[k]).abs() > level / 2
    return int(stands_out.sum())
