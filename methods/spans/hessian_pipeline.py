"""The thesis' pipeline for shallow networks: Hessians, their span, its rank-one directions, signs and shifts.

    1. N_h = ⌈m ln D⌉ Hessians at Gaussian points                      (hessians)
    2. their m-dimensional span                                        (subspace)
    3. its rank-one directions                                         (power_ascent or spectral_ascent)
    4. signs and first shifts from directional derivatives             (signs_and_shifts)
    5. the shifts refined on samples                                   (shift_refinement)

Reference: Rauchensteiner 2023, Algorithm 3.1 with the settings of §3.6.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Network, Oracle, Run, Spec, Subspace, activation
from paramid.methods.spans import hessians, shift_refinement, signs_and_shifts, subspace
from paramid.words.options import among, positive

T = TypeVar("T")
MISSED = 1e-2  # a wrong direction or sign leaves far more, wrong shifts far less
REFINEMENTS = ("sgd", "gn", "none")


@dataclass(frozen=True)
class HessianPipeline:
    """Stages 1 to 5; the third is what a method adds to them."""

    derivatives: str = "differences"  # differences: of queries; exact: the oracle's Hessians (T_3 their difference)
    stencil: str = "thesis"  # differences of a Hessian; thesis: (4.77), 2D² + 1 queries; symmetric: D² + D + 1
    h: float = 1e-2  # step of the differences that make Hessians; unused where these are exact
    hessian_count: int | None = None  # number of Hessians, at Gaussian points; default: ⌈m ln D⌉, at least m
    h_dir: float = 1e-2  # step of the differences along directions, at 0, that tell signs and shifts
    shift_limit: float | None = None  # bound on first shifts; default: 0.6 for tanh, 1.3 for logistic, 0.7 for erf
    refine: str = "sgd"  # fit of the shifts to samples; sgd: stochastic gradients; gn: Gauss-Newton; none: no fit
    refine_samples: int | None = None  # samples, or what is granted; default: m D² for sgd, max(5 m, 20 D) for gn
    refine_lr: float = 1e-3  # constant rate of refine=sgd
    refine_batch: int = 64  # samples of a step of refine=sgd
    refine_epochs: int = 100  # passes of refine=sgd over the samples, at most (the thesis: 180 seconds)

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        among(self, derivatives=("differences", "exact"), stencil=hessians.STENCILS, refine=REFINEMENTS)
        positive(self)

    @property
    def access(self) -> frozenset[Access]:
        """Queries or exact derivatives, and samples to refine on."""
        asked = Access.DERIVATIVES if self.derivatives == "exact" else Access.QUERIES
        return frozenset({asked} if self.refine == "none" else {asked, Access.SAMPLES})

    def declines(self, spec: Spec) -> str | None:
        """Shallow, smooth, unit weights, and no more neurons than rank-ones can be told apart."""
        if not spec.shallow or spec.outputs != 1:
            return "needs one hidden layer and one linear output"
        if spec.activation not in signs_and_shifts.SHIFT_LIMITS:
            return f"cannot read shifts off the second derivative of {spec.activation}"
        if (spec.outer, spec.norms, spec.output_bias) != ("ones", "unit", "zero"):
            return "needs outer weights 1, unit weight vectors and no output bias"
        m, limit = spec.widths[0], spec.inputs * (spec.inputs - 1) // 2
        if m is None:
            return "needs to know the number of neurons"
        if m > max(1, limit):
            return f"{m} neurons exceed D(D-1)/2 = {limit}: spans of Hessians do not tell them apart"
        if self.hessian_count is not None and self.hessian_count < m:
            return f"{self.hessian_count} Hessians cannot span {m} dimensions"
        if self.shift_limit is not None and self.shift_limit > (reach := activation(spec.activation).monotone):
            return f"shift_limit {self.shift_limit:g} exceeds {reach:.4g}, where g'' stops being monotone"
        if spec.noise and self.derivatives == "differences" and spec.noise > 0.1 * self.h_dir**3:
            return f"noise {spec.noise:g} drowns third differences of step {self.h_dir:g}"
        if self.refine != "none" and (rows := self.refinement_rows(spec)) < m:
            return f"{rows} samples cannot refine {m} shifts"
        return None

    def refinement_rows(self, spec: Spec) -> int:
        """How many samples stage 5 asks for, never more than are granted."""
        d, m = spec.inputs, spec.widths[0] or 0
        wanted = self.refine_samples or (m * d * d if self.refine == "sgd" else max(5 * m, 20 * d))
        return wanted if spec.samples is None else min(wanted, spec.samples)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 5."""
        d, m = oracle.spec.inputs, oracle.spec.widths[0]
        assert m is not None  # declined otherwise
        span = subspace.leading_span(self.sampled(oracle, run, d, m), m, d)
        yield Subspace(span.basis, stats={"singular_gap": span.gap})
        found, told = self.directions(span, m, run)
        yield Directions(found.T, stats={"directions_found": len(found), **told})
        if len(found) < m:
            raise GiveUp(f"found {len(found)} of {m} directions")
        yield from self.completed(oracle, run, found.T)

    def sampled(self, oracle: Oracle, run: Run, d: int, m: int) -> Tensor:
        """Stage 1."""
        count = self.hessian_count or max(m, math.ceil(m * math.log(d)))
        x = run.normal(count, d)
        if self.derivatives == "exact":
            return hessians.exact_hessians(oracle, x)
        return hessians.sample_hessians(oracle, x, h=self.h, stencil=self.stencil)

    def directions(self, span: subspace.Span, m: int, run: Run) -> tuple[Tensor, dict[str, float]]:
        """Stage 3: at most m unit rows, and what there is to say of the search."""
        raise NotImplementedError

    def completed(self, oracle: Oracle, run: Run, w: Tensor) -> Iterator[Network]:
        """Stages 4 and 5 for the columns `w`."""
        name = oracle.spec.activation
        g = activation(name)
        differentiate = (
            signs_and_shifts.directional_derivatives
            if self.derivatives == "exact"
            else signs_and_shifts.directional_differences
        )
        second, third = differentiate(oracle, w, h=self.h_dir)
        limit = self.shift_limit or signs_and_shifts.SHIFT_LIMITS[name]
        signs, shifts = signs_and_shifts.signs_and_shifts(second, third, w, g, limit=limit)
        w = w * signs
        yield Network.shallow(w, shifts, name)
        for refined in self.refined(oracle, run, w, shifts):
            yield Network.shallow(w, refined, name)

    def refined(self, oracle: Oracle, run: Run, w: Tensor, shifts: Tensor) -> Iterator[Tensor]:
        """Stage 5: better shifts, one after the other."""
        g = activation(oracle.spec.activation)
        if self.refine == "none":
            return
        samples = oracle.sample(self.refinement_rows(oracle.spec))
        x, y = samples.tensors()
        if self.refine == "gn":
            yield (shifts := shift_refinement.gauss_newton(w, shifts, g, samples))
        else:
            every = shift_refinement.descend(
                w, shifts, g, x, y[:, 0], run, lr=self.refine_lr, batch=self.refine_batch, epochs=self.refine_epochs
            )
            for shifts in sparse(every):
                yield shifts
        missed = shift_refinement.misfit(w, shifts, g, x, y[:, 0])
        if missed > max(MISSED, 3 * oracle.spec.noise / float(y.square().mean().sqrt())):
            raise GiveUp(f"the network found misses {missed:.1%} of its own samples' values")


def sparse(items: Iterator[T]) -> Iterator[T]:
    """The items number 1, 2, 4, 8, … and the last."""
    last, told = None, True
    for number, last in enumerate(items, 1):
        told = number & (number - 1) == 0
        if told:
            yield last
    if last is not None and not told:
        yield last
