"""`hermite-fused`: a shallow network from passive Gaussian samples, to the rounding or the noise of their values.

    1. Hermite coefficients T_0 … T_{2l+2} of the samples, less their regression      (moment_estimates)
    2. directions from one pencil over T_2l, T_2l+1 and T_2l+2                       (fused_pencil)
    3. shifts, outer weights and signs                                               (unit_scalars, sign_rules)
    4. all of them fitted to the coefficients                                        (coefficient_fit)
    5. rounds: the coefficients of the network found, in closed form, and those of what it leaves of the samples, by
       1; then 3's signs and 4 again                                                 (moment_estimates)
    6. everything refined on the samples themselves, once rounds are near             (sample_refinement)

The noise of 1 is that of y, in 5 that of what the network leaves: it shrinks with the error, so that rounds converge
geometrically, at a rate that falls as 1/√N. A round that leaves more of samples held out is not believed. Order l = 1
is for m ≤ D units, l = 2 for m ≤ D(D+1)/2. Where m is unknown, it is the number of singular values of T_2 above 1.5
times its noise. Smooth activations are identified by the same formulas with c_k(b) = E[g^(k)(z + b)] (Stein).

A network is the answer when what it leaves of samples held out is noise, when no parameter is uncertain by more than
0.01, and when every kink has samples on both sides. Otherwise, at order 1, the units of a ReLU network that stand out
of the noise are taken alone, of any sign, beside an affine part ⟨v, x⟩ + c (affine_part): units of large |b| are affine
or zero on all samples, and a fit of as many units as are told bends those that are seen. Where both explain every
sample the function is the answer: it says nothing of units that are not seen. Otherwise the method gives up.

References: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209; its control variates, pivot and rounds are ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from paramid import Access, Claim, Directions, Function, GiveUp, Oracle, Run, Samples, Spec, activation
from paramid.methods.hermite import affine_part, coefficient_fit, held_out_check, moment_estimates
from paramid.methods.hermite.moment_estimates import Moments
from paramid.methods.hermite.residual_rounds import Found, Problem, counted, decomposed, round_of, weighed
from paramid.methods.refinement import sample_refinement
from paramid.methods.refinement.unit_descent import uncertainty
from paramid.words import hermite
from paramid.words.activations import ACTIVATIONS
from paramid.words.options import among, at_least

SOURCES = ("samples", "exact")
LARGEST = 2**24  # entries of T_{2l+2}
ASKED = 100_000  # samples, where any number is granted
HELD_OUT, MOST_HELD = 10, 20_000  # every tenth sample, and no more
FED = 4  # rows a feature of the regression or a parameter, at least
ENOUGH = 200  # rows a parameter, of noise-free samples
SURE = 2.0  # standard deviations
NEAR = 1e-3  # of the values' size: from there, a refinement needs no more rounds
KURTOSIS = 3.0  # of the mean of r He over that of r: 3 to 4 for what a regression leaves
ROUNDED = 1e-9  # of exact coefficients


@dataclass(frozen=True)
class HermiteFused:
    """Fused pencil of Hermite tensors, closed-form fit, model control variates, refinement on samples."""

    order: int = 1  # l of the tensors T_2l to T_{2l+2}; 1: up to D units; 2: up to D(D+1)/2
    moments: str = "samples"  # source of Hermite coefficients; samples: means over them; exact: asked of the oracle
    control: int = 2  # degree of the regression taken off values before their moments, up to 2; -1: none
    rounds: int = 8  # times that coefficients are estimated anew beside the network found, at most
    refine: bool = True  # whether all parameters are fitted to the samples in the end
    tries: int = 30  # random draws of a pencil, of which the best is kept
    N: int | None = None  # samples, a tenth held out, at most 20,000; default: what is granted, or 100,000

    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        among(self, moments=SOURCES, order=(1, 2), control=(-1, 0, 1, 2))
        at_least(self, rounds=0, tries=1, N=1)

    @property
    def access(self) -> frozenset[Access]:
        """Samples, or exact coefficients instead."""
        return frozenset({Access.MOMENTS if self.moments == "exact" else Access.SAMPLES})

    def declines(self, spec: Spec) -> str | None:
        """One hidden layer, everything pinned but what ReLU needs, no more units than tensors can tell apart."""
        if not spec.shallow or spec.outputs != 1:
            return "needs one hidden layer and one linear output"
        if spec.activation not in ACTIVATIONS or (spec.activation != "relu" and activation(spec.activation).degree):
            return f"cannot tell units of {spec.activation} apart by Hermite coefficients"
        if (spec.norms, spec.output_bias, spec.input_law) != ("unit", "zero", "normal"):
            return "needs unit weight vectors, no output bias and Gaussian inputs"
        if spec.outer != "ones" and spec.activation != "relu":
            return f"needs outer weights 1 with {spec.activation}"
        return self.too_large(spec) or (None if self.moments == "exact" else self.too_few(spec))

    def too_large(self, spec: Spec) -> str | None:
        """What no tensor of that order can tell apart, or no memory hold."""
        m, d, top = spec.widths[0], spec.inputs, 2 * self.order + 2
        if m is None and self.order == 2:
            return "needs to know the number of units at order 2"
        if m is not None and m > (limit := hermite.entries(d, self.order)):
            return f"{m} units exceed {limit}, all that order {self.order} can tell apart in {d} dimensions"
        if d**top > LARGEST:
            return f"T_{top} in {d} dimensions has {d**top:,} entries; {LARGEST:,} at most were wanted"
        return moment_estimates.refusal(d, top, self.control)

    def too_few(self, spec: Spec) -> str | None:
        """Samples that cannot even be regressed on."""
        fitted = sum(hermite.entries(spec.inputs, k) for k in range(max(self.control, 0) + 1))
        wanted = FED * max(fitted, (spec.inputs + 2) * (spec.widths[0] or 1))
        rows = self.rows(spec)
        return f"{rows} samples are too few; {wanted} were wanted" if rows - rows // HELD_OUT < wanted else None

    def rows(self, spec: Spec) -> int:
        """How many samples are asked for."""
        wanted = self.N or spec.samples or ASKED
        return wanted if spec.samples is None else min(wanted, spec.samples)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 6."""
        problem = Problem(oracle.spec, self.order, self.tries)
        if self.moments == "exact":
            yield from self.from_coefficients(oracle, problem, run)
            return
        rows = self.rows(oracle.spec)
        apart = max(1, min(rows // HELD_OUT, MOST_HELD))
        samples, held = oracle.sample(rows - apart), oracle.sample(apart)
        moments = moment_estimates.estimate(samples, problem.orders, control=self.control, left=self.order)
        m = oracle.spec.widths[0] or counted(moments, problem)
        try:
            yield from self.network(samples, held, moments, m, problem, run)
        except GiveUp as reason:
            found = self.beside_affine(samples, held, moments, m, replace(problem, affine=True), run)
            if found is None:
                raise reason from None
            whole = problem.network(found)
            if oracle.spec.widths[0] is None or whole.widths[0] <= m:
                yield replace(whole, stats={"residual": found.left})
            yield Function(whole, stats={"residual": found.left, "units": found.theta.shape[1]})

    def network(
        self, samples: Samples, held: Samples, moments: Moments, m: int, problem: Problem, run: Run
    ) -> Iterator[Claim]:
        """Stages 2 to 6 for m units."""
        found = weighed(decomposed(moments, m, problem, run), held, problem)
        yield Directions(found.theta[:-2], stats={"units": m})
        yield problem.network(found, residual=found.left, round=0)
        spread = left_by_regression(samples, moments, self.control)
        for number, better in enumerate(self.better(samples, held, found, problem, run), 1):
            found, spread = better, found.left
            yield problem.network(found, residual=found.left, round=number)
        yield from self.completed(samples, held, found, spread, problem, run)

    def better(self, samples: Samples, held: Samples, found: Found, problem: Problem, run: Run) -> Iterator[Found]:
        """Stage 5, until a refinement needs no more of it or it no longer helps."""
        size = sample_refinement.weighed(held, None)[1] ** 0.5
        for _ in range(self.rounds):
            if self.refine and found.left <= NEAR * size:
                return
            after = round_of(samples, held, found, problem, run, self.control)
            if after is None:
                return
            found = after
            yield found

    def beside_affine(
        self, samples: Samples, held: Samples, moments: Moments, most: int, problem: Problem, run: Run
    ) -> Found | None:
        """The units that stand out of the noise of T_2 and an affine part, where they explain every sample."""
        if not self.refine or self.order != 1 or problem.name != "relu":
            return None
        try:
            found = weighed(decomposed(moments, min(most, counted(moments, problem)), problem, run), held, problem)
        except GiveUp:
            return None
        found = [found, *self.better(samples, held, found, problem, run)][-1]
        assert found.rest is not None
        noise = problem.spec.resolution
        rows = None if noise else ENOUGH * found.theta.numel()
        theta, rest = affine_part.refined(samples, found.theta, found.rest, most=rows)
        found = weighed(replace(found, theta=theta, rest=rest), held, problem)
        network = problem.network(found)
        return found if all(held_out_check.explains(network, seen, noise) for seen in (held, samples)) else None

    def completed(
        self, samples: Samples, held: Samples, found: Found, spread: float, problem: Problem, run: Run
    ) -> Iterator[Claim]:
        """Stage 6, and whether its network is believed."""
        network, spec = problem.network(found), problem.spec
        if self.refine:
            most = None if spec.resolution else ENOUGH * found.theta.numel()
            refined = sample_refinement.refine(samples, network, pinned=problem.pinned, most=most)
            network, error = refined.network, SURE * refined.error
            yield network
        else:
            variance = KURTOSIS * spread**2 / len(samples)
            error = SURE * uncertainty(found.theta, found.normal, problem.pinned, variance=variance)
        held_out_check.require(network, samples, held, run, error=error, noise=spec.resolution)

    def from_coefficients(self, oracle: Oracle, problem: Problem, run: Run) -> Iterator[Claim]:
        """Stages 2 to 4 on exact coefficients, which the network must reproduce."""
        moments = moment_estimates.exact(oracle, problem.orders)
        m = oracle.spec.widths[0] or counted(moments, problem)
        found = decomposed(moments, m, problem, run)
        size = coefficient_fit.energy(moments.tensors, moments.inputs)
        network = problem.network(found, residual=found.normal.loss**0.5)
        yield network
        if not found.normal.loss <= ROUNDED**2 * size:
            raise GiveUp(f"{found.normal.loss**0.5:.1e} is left of coefficients of {size**0.5:.1e}")
        held_out_check.certain(
            network, run, uncertainty(found.theta, found.normal, problem.pinned, variance=ROUNDED**2 * size)
        )


def left_by_regression(samples: Samples, moments: Moments, degree: int) -> float:
    """The root mean square of what a regression of that degree leaves of the values."""
    _, square = sample_refinement.weighed(samples, None)
    known = {k: t for k, t in moments.tensors.items() if k <= degree}
    return max(square - coefficient_fit.energy(known, moments.inputs), 0.0) ** 0.5
