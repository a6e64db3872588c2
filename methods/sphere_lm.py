"""`sphere-lm`: every parameter of a shallow network, from lattices of values to the rounding of its oracle.

Its sturdy route goes over matrices:

    1. ⌈1.3 m⌉ + 3 elements of span{w_k w_kᵀ} at Gaussian points      (lattices)
    2. that span; where m is unknown, its dimension                    (gram_span)
    3. its rank-one directions                                         (sphere_search, sphere_descent)
    4. signs, shifts and, where they are free, norms and outer weights (ridge_profiles)
    5. all of them at once on matched gradient differences             (joint_refinement)
    6. within 5: signs that only the linear part of f shows           (linear_parts)
    7. several outputs by a random mix of them                        (mixed_outputs)
    8. under noise, all of them on every value spent and on more      (last_fit)

One-sided lattices cost D²/6 queries a neuron and leave directions right to 1e-3, which is all that stage 5 needs. Both
sides are taken where that is too crude: close to D(D-1)/2, under noise, with free outer weights or norms, and to find
m. Stage 5 believes what explains the gradients to their noise and nothing else, so that a wrong network is not claimed.

The other route, over tensors of higher order from a single lattice (few_rows), takes a third to a fifth of the values
and tells far more than D(D-1)/2 neurons apart. It knows that outer weights and norms are 1, and no noise. Where m is
not told and no span of matrices shows it, this route looks further.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Network, Oracle, Run, Spec, Subspace, activation
from paramid.methods.refinement import joint_refinement, last_fit, layered_acceptance
from paramid.methods.spans import (
    few_rows,
    gram_span,
    hessians,
    lattice_plans,
    lattices,
    linear_parts,
    mixed_outputs,
    ridge_profiles,
    sphere_search,
)
from paramid.methods.spans.gram_span import Spectrum
from paramid.words.activations import ACTIVATIONS
from paramid.words.options import among, positive

ROUTES = ("auto", "sturdy", "few-rows")
LATTICES = ("auto", "one-sided", "symmetric")
CONVINCING = 30.0  # both sides leave gaps of 100 and more
CROWDED = 0.88  # of D(D-1)/2: beyond, false rank-ones come within the error of one-sided lattices
DROWNED = 1.5  # below this gap nothing found was right
LOUDEST = 1e-3  # beyond, even ten neurons of ten inputs drown whatever the step


class NoSpan(GiveUp):
    """Matrices do not tell m."""


@dataclass(frozen=True)
class SphereLM:
    """Lattices, Levenberg-Marquardt on the sphere, ridge profiles and a joint refinement, to rounding."""

    route: str = (
        "auto"  # sturdy: over matrices; few-rows: over tensors of higher order; auto: the first as far as it goes
    )
    derivatives: str = "differences"  # rows of the span; differences: of queries; exact: Hessians asked of the oracle
    lattice: str = "auto"  # one-sided: steps +h; symmetric: mean over ±h; auto: symmetric where one side is too crude
    h: float | None = None  # step; default: 2e-4 √D, symmetric 6e-4 √D, of Hessians 3 noise^(1/4), from 1e-3 to 0.5
    rows: float = 1.3  # rows of the span for each neuron, more than 1
    batch: int = 250  # descents at once in the search for directions, at most
    steps: int = 25  # steps of a descent, at most
    points: int = 8  # points of ridge profiles, at 4m + 1 queries each
    refine: bool = True  # whether all parameters are refined on gradient differences in the end
    again: float = 1.0  # under noise: values of the last fit for each that was spent before
    target: float | None = None  # and the largest error of a parameter that further values are spent for

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        among(self, route=ROUTES, derivatives=("differences", "exact"), lattice=LATTICES)
        positive(self, "h", "batch", "steps", "points", "again", "target")
        if not self.rows > 1:
            raise ValueError(f"rows is {self.rows}; more than 1 was wanted")

    @property
    def access(self) -> frozenset[Access]:
        """Queries, and exact derivatives instead of lattices."""
        return frozenset({Access.QUERIES, *([Access.DERIVATIVES] if self.derivatives == "exact" else [])})

    def declines(self, spec: Spec) -> str | None:
        """Shallow, smooth, and no more neurons than rank-ones can be told apart."""
        if not spec.shallow:
            return "needs one hidden layer and linear outputs"
        if spec.outputs > 1 and (spec.outer, spec.output_bias) != ("free", "free"):
            return "needs free outer weights and output biases where there are several outputs"
        if spec.outputs > 1 and not self.refine:
            return "finds several outputs in the refinement"
        if spec.activation not in ACTIVATIONS:
            return f"knows no derivatives of {spec.activation}"
        g = activation(spec.activation)
        if not g.smooth or g.degree is not None:
            return f"needs a third derivative that varies, which {spec.activation} has not"
        if self.by_tensors(spec):
            return self.declines_tensors(spec)
        if crowded(spec):
            return too_many(spec)
        if spec.noise > LOUDEST and self.derivatives == "differences":
            return f"noise {spec.noise:g} drowns second differences of any step"
        return layered_acceptance.too_large(spec) if spec.outputs > 1 else None

    def by_tensors(self, spec: Spec) -> bool:
        """Whether the route is that of few rows."""
        return self.route == "few-rows" or (self.route == "auto" and crowded(spec))

    def declines_tensors(self, spec: Spec) -> str | None:
        """What few rows are not for, and which options are not for them."""
        reason = lattice_plans.declines(spec)
        if self.derivatives == "exact" or not self.refine:
            reason = "few rows are those of differences, and end in a refinement"
        return f"{too_many(spec)}; in higher orders: {reason}" if reason and crowded(spec) else reason

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 8."""
        if self.refine:
            yield from last_fit.ended(self.found, oracle, run, again=self.again, target=self.target)
        else:
            yield from self.found(oracle, run)

    def found(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 6, of several outputs by one; or the other route."""
        if self.by_tensors(oracle.spec):
            yield from few_rows.found(oracle, run, h=self.h, batch=self.batch, steps=self.steps)
            return
        if oracle.spec.outputs == 1:
            try:
                yield from self.of_one_output(oracle, run)
            except NoSpan as hidden:
                if self.route == "sturdy":
                    raise
                if reason := self.declines_tensors(oracle.spec):
                    raise GiveUp(f"{hidden}; in higher orders: {reason}") from hidden
                yield from few_rows.found(oracle, run, h=self.h, batch=self.batch, steps=self.steps)
            return
        one = None
        for claim in self.of_one_output(mixed_outputs.Mixed(oracle, run), run):
            if isinstance(claim, Network):
                one = claim
            else:
                yield claim
        assert one is not None
        yield mixed_outputs.completed(oracle, one, run)

    def of_one_output(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 6."""
        spectrum, m = self.spanned(oracle, run)
        d, gap, basis = oracle.spec.inputs, spectrum.gap(m), spectrum.basis(m)
        yield Subspace(basis, stats={"singular_gap": gap, "dimension": m})
        if gap < DROWNED:
            raise GiveUp(f"S_{m} is only {gap:.2f} times S_{m + 1}: the span drowns in the error of its rows")
        p = spectrum.projector(m, d)
        del spectrum
        found = sphere_search.search(p, basis, m, run, gap=gap, batch=self.batch, steps=self.steps)
        w = found.directions.T
        yield Directions(w, stats={"directions_found": w.shape[1], "starts": found.starts, "steps": found.steps})
        if w.shape[1] < m:
            raise GiveUp(f"found {w.shape[1]} of {m} directions")
        rough = ridge_profiles.first_network(oracle, w, run=run, points=self.points)
        if not (self.refine and linear_parts.hidden(activation(oracle.spec.activation))):
            yield linear_parts.settled(oracle, rough, run=run)  # hidden signs are told from refined networks alone
        if self.refine:
            yield from joint_refinement.refine(oracle, rough, run=run)

    def spanned(self, oracle: Oracle, run: Run) -> tuple[Spectrum, int]:
        """Stages 1 and 2: the spectrum of enough rows, and m."""
        m = oracle.spec.widths[0]
        if m is not None:
            return gram_span.spectrum(self.sampled(oracle, run, math.ceil(self.rows * m) + 3)), m
        most = max(1, matrices_tell(oracle.spec))
        rows = self.sampled(oracle, run, 8)
        while True:
            spectrum = gram_span.spectrum(rows)
            m = spectrum.first_gap(CONVINCING, self.rows)
            if m is not None and m <= most:
                return spectrum, m
            if m is not None or len(rows) > self.rows * most + gram_span.MARGIN:
                raise NoSpan(f"{len(rows)} rows show no span of at most D(D-1)/2 = {most} dimensions")
            rows = torch.cat([rows, self.sampled(oracle, run, math.ceil(len(rows) / 2))])

    def sampled(self, oracle: Oracle, run: Run, count: int) -> Tensor:
        """Stage 1: at least `count` rows."""
        if self.derivatives == "exact":  # a Hessian is a row, a difference of two would be one as well
            return hessians.exact_hessians(oracle, run.normal(count, oracle.spec.inputs))
        return lattices.sample_rows(oracle, run, count, both_sides=self.both_sides(oracle.spec), h=self.h)

    def both_sides(self, spec: Spec) -> bool:
        """Whether lattices are averaged over ±h."""
        m, limit = spec.widths[0], matrices_tell(spec)
        free = (spec.outer, spec.norms) != ("ones", "unit")
        careful = m is None or m > CROWDED * limit or spec.resolution > 0 or free
        return self.lattice == "symmetric" or (self.lattice == "auto" and careful)


def matrices_tell(spec: Spec) -> int:
    """The most neurons whose w_k w_kᵀ are the only rank-ones of their span."""
    return spec.inputs * (spec.inputs - 1) // 2


def crowded(spec: Spec) -> bool:
    """Whether matrices do not tell the neurons apart."""
    m = spec.widths[0]
    return m is not None and m > max(1, matrices_tell(spec))


def too_many(spec: Spec) -> str:
    """What is said then."""
    return f"{spec.widths[0]} neurons exceed D(D-1)/2 = {matrices_tell(spec)}: spans of Hessians do not tell them apart"
