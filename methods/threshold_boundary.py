"""`threshold-boundary`: thresholded units by the places at which they begin to fire, and the polynomial above them.

By queries:                                            By samples:
    1. planes at which f leaves its constant              1. correlations and their minima  (correlations,
       (boundary_planes)                                     quartic_minima)
    2. P at chosen vertices (polynomial_fit),             2. each plane where the others are silent (unit_fits)
       or outer weights of ReLUs (outer_fit)              3. P by regression on products   (polynomial_fit)

By queries all is exact to rounding and nothing about P is assumed; what was found is compared with f at further points,
and given up where it differs. A sum of ReLUs may have a threshold for each unit, if all are silent at the origin, and
more units than inputs, if no plane is hidden behind others. By samples steps are found to D / (N φ(t)), ReLUs exactly,
from what stage 1 leaves.

Ours; beside `threshold-correlation`, which is the paper's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

import torch

from paramid import Access, Claim, Directions, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.threshold_correlation import settled
from paramid.methods.thresholds import (
    angle_search,
    boundary_planes,
    correlations,
    outer_fit,
    polynomial_fit,
    quartic_minima,
    unit_fits,
)
from paramid.words.options import among, positive
from paramid.words.spec import ThresholdSpec
from paramid.words.threshold_units import Thresholded, Units

SOURCES = ("queries", "samples")
MOVED = 0.5  # from its rough direction a unit does not go farther


@dataclass(frozen=True)
class ThresholdBoundary:
    """Units and their polynomial from the boundary of what is constant, exact by queries (ours)."""

    source: str = "queries"  # queries: planes where f leaves its constant; samples: correlations, then fits
    N: int | None = None  # samples of source=samples; default: what is granted, or a million
    margin: float = 4.0  # weight Λ of the quartics of source=samples, more than 1 / min c_i
    rays: int = 200  # rays of source=queries for each unit, at most
    batch: int = 4  # rays of source=queries at once, for each unit

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        among(self, source=SOURCES)
        positive(self, "N", "margin", "rays", "batch")

    @property
    def access(self) -> frozenset[Access]:
        """Queries or samples."""
        return frozenset({Access.SAMPLES if self.source == "samples" else Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        """Units that are silent below a positive threshold and independent, or ReLUs that are silent at the origin."""
        if spec.noise or spec.precision != "float64":
            return "needs exact values"
        if not isinstance(spec, ThresholdSpec) and self.source == "queries":
            return outer_fit.unfit(spec)
        if not isinstance(spec, ThresholdSpec) or spec.outputs != 1 or spec.widths[0] is None:
            return "needs units of one known threshold below one output"
        if spec.widths[0] > spec.inputs:
            return f"{spec.widths[0]} directions in {spec.inputs} dimensions are dependent"
        return angle_search.unfit(spec) or (correlations.unfit(spec) if self.source == "samples" else None)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Units first, then the function."""
        return self.by_queries(oracle, run) if self.source == "queries" else self.by_samples(oracle, run)

    def by_queries(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Planes, then P at vertices or outer weights."""
        spec, m = oracle.spec, oracle.spec.widths[0]
        assert m is not None  # declined otherwise
        limits = (spec.threshold, spec.threshold) if isinstance(spec, ThresholdSpec) else outer_fit.thresholds(spec)
        found = boundary_planes.planes(
            angle_search.firing(oracle, run), run,
            d=spec.inputs, m=m, thresholds=limits, batch=self.batch * m, most=self.rays * m,
        )  # fmt: skip
        yield Directions(found.columns, stats={"rays": found.rays})
        if not isinstance(spec, ThresholdSpec):
            yield outer_fit.fit(oracle, found, run)
            return
        units = Units(found.columns, found.thresholds, torch.ones_like(found.thresholds))
        whole = polynomial_fit.fit_queries(oracle, units, run, unit=spec.unit)
        yield whole
        if spec.shallow:
            yield network(whole, spec)

    def by_samples(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Correlations, their minima, each plane by itself, P by regression."""
        spec = cast("ThresholdSpec", oracle.spec)
        m = spec.widths[0]
        assert m is not None  # declined otherwise
        samples = oracle.sample(correlations.granted(spec, self.N))
        moments, base = correlations.of_samples(samples)
        known = correlations.normalised(moments, spec)
        found = quartic_minima.one_by_one(
            quartic_minima.whitened(known.second, known.fourth, m), run, margin=self.margin
        )
        w = found.columns * settled(quartic_minima.signs(found, known.sign * known.first))
        rough = Units(w, torch.full_like(found.coefficients, spec.threshold), known.sign * found.coefficients)
        yield rough
        units = unit_fits.sharpened(samples, rough, base, unit=spec.unit)
        moved = float((units.columns - rough.columns).norm(dim=0).max())
        if not moved < MOVED:
            raise GiveUp(f"a unit moved by {moved:.2f} where it alone should decide")
        yield units
        whole = polynomial_fit.fit_samples(samples, units, unit=spec.unit)
        yield whole
        if spec.shallow and whole.linear:  # ReLUs, which are found exactly
            yield network(whole, spec)


def network(whole: Thresholded, spec: ThresholdSpec) -> Network:
    """The network that a linear P over activations is."""
    units = whole.units
    return Network.shallow(units.columns, -units.thresholds, spec.activation, units.coefficients)
