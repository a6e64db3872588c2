"""`threshold-correlation`: the lowest layer under high thresholds, by correlation and by a search for its angle.

    1. T_1, T_2, T_4 of f, from samples, queries or exactly           (correlations)
    2. directions and linear coefficients by minima of quartics       (quartic_minima)
    3. signs from T_1
    4. with stage=2: angles brought down one by one                   (angle_search; slabs, by samples)

Steps 1 to 3 are the paper's stage 1, step 4 is its stage 2. Stage 1 sees P through its linear part alone and claims
units, no function; where the teacher is a network and moments are exact, that network. Its error is 5 to 8 m / √N for
orthonormal weights and t from 2 to 3.

Reference: Goel & Panigrahy, arXiv:1903.09231, §2, Appendix B.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.hermite.moment_estimates import Moments
from paramid.methods.thresholds import angle_search, correlations, quartic_minima, slabs
from paramid.oracle.samples import Samples
from paramid.words.options import among, positive
from paramid.words.spec import ThresholdSpec
from paramid.words.threshold_units import EVEN, Units, coefficients

OBJECTIVES = ("one", "all", "sphere")
ANGLES = ("queries", "samples")
Climb = Callable[[int, Tensor], angle_search.Search]  # a unit and its direction -> where the search for it ends
SIGNLESS = 0.2  # of s_i c_i: below, a sign is a guess


@dataclass(frozen=True)
class ThresholdCorrelation:
    """Directions under high thresholds by Hermite correlations, then estimates of their angle (Goel & Panigrahy)."""

    source: str = "samples"  # of T_1, T_2, T_4; samples: means; queries: at Gaussian points; moments: exact
    stage: int = 1  # 1: correlations alone; 2: then angles brought down
    angles: str = "queries"  # of stage 2; queries: crossings on lines; samples: slabs of samples, as in the paper
    objective: str = "one"  # minima of quartics; one: one by one; all: at once; sphere: for orthonormal weights
    N: int | None = None  # samples, or queries instead; default: as many as samples are granted, or a million
    margin: float = 4.0  # weight Λ of the quartics of objectives one and all, more than 1 / min c_i
    gamma: float = 0.01  # weight γ of fourth powers in objective=all
    offsets: int = 200  # lines for an estimate of an angle in stage 2, each bisected
    stride: float = 1.1  # size η of a perturbation in stage 2; the paper's 0.1 takes ten times as many
    iterations: int = 300  # perturbations of each unit in stage 2, at most
    tolerance: float = 1e-6  # angle in radians at which stage 2 ends for a unit
    acceptance: str = "corrected"  # in stage 2; corrected: α' ≤ (1 - 0.01/D) α; printed: α' ≤ 0.01 α/D, which none is

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        among(
            self,
            source=correlations.SOURCES,
            objective=OBJECTIVES,
            acceptance=angle_search.ACCEPTANCE,
            stage=(1, 2),
            angles=ANGLES,
        )
        if self.angles == "samples" and self.source != "samples":
            raise ValueError(f"angles=samples are those of source=samples, not of source={self.source}")
        positive(self, "N", "margin", "gamma", "offsets", "stride", "iterations", "tolerance")

    @property
    def access(self) -> frozenset[Access]:
        """What correlations are taken from, and queries for stage 2."""
        asked = {"samples": Access.SAMPLES, "queries": Access.QUERIES, "moments": Access.MOMENTS}[self.source]
        later = Access.QUERIES if self.angles == "queries" else Access.SAMPLES
        return frozenset({asked, *([later] if self.stage == 2 else [])})

    def declines(self, spec: Spec) -> str | None:
        """Units whose Hermite coefficients are no zeros; for stage 2 such as are exactly constant below t."""
        if reason := correlations.unfit(spec, even=self.objective == "sphere"):
            return reason
        told = cast("ThresholdSpec", spec)
        if self.objective == "sphere" and told.weights != "orthonormal":
            return "the search on the sphere needs orthonormal weights"
        if self.stage == 2:
            return angle_search.unfit(told) or self.noise_between(told)
        return None

    def noise_between(self, spec: ThresholdSpec) -> str | None:
        """Why stage 2 cannot tell noise from a unit that fires, or None."""
        if spec.noise and (self.angles == "queries" or spec.unit != "step"):
            return "stage 2 takes noise for firing, but for steps by slabs of samples"
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Steps 1 to 4."""
        spec = cast("ThresholdSpec", oracle.spec)
        samples = correlations.drawn(oracle, run, source=self.source, rows=self.N)
        moments, base = correlations.of_samples(samples, spec.noise) if samples else (correlations.exact(oracle), 0.0)
        found, first, sign = self.minima(moments, spec, run)
        yield Directions(found.columns, stats={"starts": found.starts, "noise": moments.noise[2]})
        if first is None:
            return
        w, c = found.columns * settled(quartic_minima.signs(found, sign * first)), sign * found.coefficients
        yield self.units(w, c, spec)
        if self.stage == 2:
            search = (
                self.by_slabs(samples, base, w, c, spec, run)
                if samples and self.angles == "samples"
                else self.by_queries(oracle, run)
            )
            yield from self.refined(search, w, c, spec)

    def minima(
        self, moments: Moments, spec: ThresholdSpec, run: Run
    ) -> tuple[quartic_minima.Found, Tensor | None, float]:
        """Step 2, T_1 / u_1 if it tells signs, and the sign of all c_i."""
        m = spec.widths[0]
        assert m is not None  # declined otherwise
        if self.objective == "sphere":
            u = coefficients(spec.unit, spec.threshold, 5, spec.rate)
            even, sign = spec.unit in EVEN, 1.0 if float(moments.full(2).trace()) / u[2] >= 0 else -1.0
            found = quartic_minima.on_the_sphere(sign * moments.full(4) / u[4], m, run)
            return found, None if even else moments.full(1) / u[1], sign
        known = correlations.normalised(moments, spec)
        given = quartic_minima.whitened(known.second, known.fourth, m)
        if self.objective == "one":
            found = quartic_minima.one_by_one(given, run, margin=self.margin)
        else:
            found = quartic_minima.at_once(given, run, margin=self.margin, gamma=self.gamma)
        return found, known.first, known.sign

    def units(self, w: Tensor, c: Tensor, spec: ThresholdSpec) -> Claim:
        """What stage 1 believes: a network where nothing was estimated."""
        t = torch.full_like(c, spec.threshold)
        if spec.shallow and self.source == "moments":
            return Network.shallow(w, -t, spec.activation, c)
        return Units(w, t, c)

    def refined(self, search: Climb, w: Tensor, c: Tensor, spec: ThresholdSpec) -> Iterator[Claim]:
        """Step 4, a claim for every unit."""
        for i in range(w.shape[1]):
            end = search(i, w[:, i])
            w = torch.cat([w[:, :i], end.direction[:, None], w[:, i + 1 :]], dim=1)
            stats = {"iterations": end.iterations, "accepted": end.accepted}
            yield Units(w, torch.full_like(c, spec.threshold), c, stats=stats)

    def by_queries(self, oracle: Oracle, run: Run) -> Climb:
        """The search for a unit by crossings on lines."""
        reach = cast("ThresholdSpec", oracle.spec).threshold + 3
        tangents = angle_search.crossing_tangents(
            angle_search.firing(oracle, run), run, d=oracle.spec.inputs, offsets=self.offsets, reach=reach
        )
        return lambda _, z: self.search(tangents, z, run)

    def by_slabs(self, samples: Samples, base: float, w: Tensor, c: Tensor, spec: ThresholdSpec, run: Run) -> Climb:
        """The search for a unit by slabs of samples; it stays where samples kept from it see no progress."""
        t, cut = spec.threshold, float(c.abs().min()) / 2 if spec.noise else 0.0
        rows = [slabs.halves(mine) for mine in slabs.near(samples, w, t, base, cut)]

        def of(i: int, z: Tensor) -> angle_search.Search:
            seen, held = rows[i]
            end = self.search(slabs.tangents(seen, t), z, run)
            return end if slabs.closer(held, z, end.direction, t) else replace(end, direction=z, accepted=0)

        return of

    def search(self, tangents: angle_search.Round, z: Tensor, run: Run) -> angle_search.Search:
        """RefineEstimate as these options have it."""
        return angle_search.refine_estimate(
            tangents, z, run,
            stride=self.stride, iterations=self.iterations, tolerance=self.tolerance, acceptance=self.acceptance,
        )  # fmt: skip


def settled(found: Tensor) -> Tensor:
    """±1 for numbers that should be it."""
    if not float(found.abs().min()) > SIGNLESS:
        raise GiveUp(f"first correlations leave the sign of a unit open: {float(found.abs().min()):.2f} instead of 1")
    return found.sign()
