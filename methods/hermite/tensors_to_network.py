"""From Hermite coefficients to a ReLU network: the common course of the methods that decompose tensors.

    1. T_0 … T_{2l+2}, from the oracle or from samples                (moment_estimates)
    2. directions up to sign: what a method adds                      (hermite_jennrich, cp_als)
    3. biases and outer weights; for at most D units signs            (relu_scalars; sign_rules)
    4. a network, a function or nothing, by what took no part         (function_check)

The paper leaves signs open for more than D units; signs=midpoint decides them by the affine rest of T_0 and T_1.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Algorithms 1, 4 and 6.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.hermite import moment_estimates, relu_scalars, sign_rules
from paramid.methods.hermite.function_check import MISSED, ROUNDED, affine_rest, missed, settled, unexplained
from paramid.methods.hermite.moment_estimates import PRINTED, Moments, Pairs
from paramid.words.options import among, at_least

SOURCES = ("samples", "exact")
ROWS = 1_000_000  # where the task sets no limit
HELD = 10  # one row in so many takes no part


@dataclass(frozen=True)
class HermitePipeline:
    """Stages 1 to 4; the second is what a method adds to them."""

    order: int = 1  # l for which W^{⊙l} has full rank, up to 3; enough for C(D+l-1, l) units
    moments: str = "samples"  # source of Hermite coefficients; samples: means over them; exact: asked of the oracle
    control: int = PRINTED  # degree of the regression taken off values before their moments; -1: none
    signs: str = "printed"  # printed: as z_i in T_1 = Σ z_i a_i w_i; midpoint: as z_i - Φ(b_i) + 1/2, also for m > D
    N: int | None = None  # samples, a tenth of them held out; default: what is granted, or a million

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        among(self, moments=SOURCES, signs=relu_scalars.RULES, order=(1, 2, 3))
        at_least(self, control=PRINTED, N=HELD)

    @property
    def access(self) -> frozenset[Access]:
        """Samples, or moments instead."""
        return frozenset({Access.MOMENTS if self.moments == "exact" else Access.SAMPLES})

    @property
    def orders(self) -> tuple[int, ...]:
        """The coefficients it takes."""
        return tuple(sorted({0, 1, 2, *relu_scalars.needed(self.order), 2 * self.order + 1, 2 * self.order + 2}))

    def declines(self, spec: Spec) -> str | None:
        """One hidden layer of ReLU under Gaussian inputs, and no more units than W^{⊙l} can hold apart."""
        if not spec.shallow or spec.outputs != 1:
            return "needs one hidden layer and one linear output"
        if spec.activation != "relu":
            return f"reads scalars off the Hermite coefficients of relu, not of {spec.activation}"
        if spec.input_law != "normal":
            return f"needs standard normal inputs, not {spec.input_law}"
        m, limit = spec.widths[0], math.comb(spec.inputs + self.order - 1, self.order)
        if m is not None and m > limit:
            return f"{m} units exceed C(D+l-1, l) = {limit}: tensors of order {self.order} are dependent"
        if self.moments == "samples" and (rows := self.rows(spec)) < HELD:
            return f"{rows} samples are too few: {HELD} were wanted"
        return moment_estimates.refusal(spec.inputs, 2 * self.order + 2, self.control)

    def rows(self, spec: Spec) -> int:
        """How many samples are asked for."""
        wanted = self.N or spec.samples or ROWS
        return wanted if spec.samples is None else min(wanted, spec.samples)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 4."""
        spec = oracle.spec
        held: Pairs | None = None
        if self.moments == "exact":
            moments = moment_estimates.exact(oracle, self.orders)
        else:
            apart = self.rows(spec) // HELD
            moments, held = self.estimated(oracle.sample(self.rows(spec) - apart)), oracle.sample(apart)
        w = self.directions(moments, spec, run)
        yield Directions(w, stats={"directions_found": w.shape[1], "rows": moments.rows})
        if not w.shape[1]:
            raise GiveUp("no direction stands out of the noise")
        network = self.network(moments, w, spec, run)

        def misses(v: Tensor, c: Tensor) -> float:
            return unexplained(moments, network, v, c) if held is None else missed(held, network, v, c, spec.noise)

        yield from settled(network, affine_rest(moments, network), misses, ROUNDED if held is None else MISSED, run)

    def estimated(self, samples: Pairs) -> Moments:
        """Stage 1 from samples."""
        return moment_estimates.estimate(samples, self.orders, control=self.control, left=self.order)

    def directions(self, moments: Moments, spec: Spec, run: Run) -> Tensor:
        """Stage 2: unit columns (D, at most m)."""
        raise NotImplementedError

    def network(self, moments: Moments, columns: Tensor, spec: Spec, run: Run) -> Network:
        """Stage 3; a free output bias is what T_0 leaves."""
        b, a = relu_scalars.recover_scalars(moments, columns, self.order)
        signs, free = torch.ones_like(b), spec.output_bias != "zero"
        if columns.shape[1] <= spec.inputs:
            signs = relu_scalars.fix_signs(moments.tensors[1], columns, b, a, rule=self.signs)
        elif self.signs == "midpoint":
            v, c = affine_rest(moments, relu_scalars.turned(columns, b, a, signs))
            equations = a * (columns if free else torch.cat([columns, b[None]]))
            signs = 1 - 2 * sign_rules.decide(equations, v if free else torch.cat([v, c]), run).chosen.to(b)
        network = relu_scalars.turned(columns, b, a, signs)
        if not free:
            return network
        return network.with_layers(network.weights, (network.biases[0], affine_rest(moments, network)[1]))
