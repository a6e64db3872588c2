"""`threshold-plane`: units under any polynomial, at any threshold, by a search for planes at which f jumps or bends.

Points within an angle ε of a unit alone see C_2, or for ReLUs C_3, of `plane_jumps`; P needs no linear terms. The paper
searches a net of the sphere. Here a (1+1) evolution strategy climbs while ε is halved from 0.5. A start is orthogonal
to what was found; it has arrived where, on evidence it did not climb by, halving ε once more leaves the correlation as
it is: elsewhere it is halved too.

    source=queries    means over planes, by queries: ours, as the paper measures correlations exactly "for ease"
    source=samples    means over slabs of training samples, ε halved while they hold enough: half of the samples to
                      climb by, half for the check

Reference: Goel & Panigrahy, §3, Theorem 7, Appendix C.1. The search is ours, and like theirs it is for few inputs.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Oracle, Run, Spec
from paramid.methods.thresholds import correlations
from paramid.methods.thresholds.plane_jumps import WEIGHTS, Jump, Jumps, by_queries, by_samples, widths
from paramid.words.options import among, positive
from paramid.words.spec import ThresholdSpec

SOURCES = ("queries", "samples")
Climb = Callable[[Tensor, Tensor], Tensor | None]  # from a start, beside directions that are known, to a new one
WIDEST, SCALES = 0.5, 6  # ε at first, and how many of them
STAYS = 0.75  # of the correlation, when ε is halved
SURE = 3.0  # standard errors above what halving would leave
SAME = 0.1
KNOWN = 2  # scales after which a climb ends that is near a direction that is known
WIDER, NARROWER = 1.3, 0.92  # steps after a success and a failure
MOST = 15  # inputs at which the search is begun


@dataclass(frozen=True)
class ThresholdPlane:
    """Units under a polynomial without linear terms, by a search for the planes of its jumps (section 3)."""

    source: str = "queries"  # of means on planes; queries: on planes; samples: over slabs of samples
    N: int | None = None  # samples of source=samples; default: what is granted, or a million
    starts: int = 12  # climbs for each unit, at most
    steps: int = 80  # steps of a climb at each of six ε
    gaussians: int = 8000  # queries for a mean of f over a plane

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        among(self, source=SOURCES)
        positive(self, "N", "starts", "steps", "gaussians")

    @property
    def access(self) -> frozenset[Access]:
        """Queries or samples."""
        return frozenset({Access.SAMPLES if self.source == "samples" else Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        """Steps or ReLUs of one threshold, few inputs."""
        if not isinstance(spec, ThresholdSpec) or spec.outputs != 1 or spec.widths[0] is None:
            return "needs units of one known threshold below one output"
        if spec.unit not in WEIGHTS:
            return f"looks for jumps and bends, {spec.unit} has none"
        if spec.inputs > MOST:
            return f"a search on the sphere of {spec.inputs} inputs takes time exponential in them"
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Claim the directions found, whenever there is a new one."""
        spec = cast("ThresholdSpec", oracle.spec)
        m, d = spec.widths[0], spec.inputs
        assert m is not None  # declined otherwise
        climb = self.passive(oracle, run) if self.source == "samples" else self.active(oracle, run)
        found, starts, arrived = torch.empty(d, 0, device=run.device, dtype=run.dtype), 0, 0
        while found.shape[1] < m and starts < self.starts * m:
            end, starts = climb(start(found, run), found), starts + 1
            if end is not None:
                found, arrived = torch.cat([found, end[:, None]], dim=1), arrived + 1
            yield Directions(found, stats={"starts": starts, "arrived": arrived})
        if found.shape[1] < m:
            raise GiveUp(f"{starts} starts found {found.shape[1]} of {m} planes")

    def active(self, oracle: Oracle, run: Run) -> Climb:
        """Climbs by queries, with new Gaussians for every ε."""
        spec = cast("ThresholdSpec", oracle.spec)

        def evidence() -> Jumps:
            return by_queries(oracle, run.normal(self.gaussians, spec.inputs), spec.threshold, spec.unit)

        sizes = widths(SCALES, WIDEST, None, spec.threshold, spec.unit)
        return lambda z, found: climbed(z, found, sizes, evidence, evidence, run, self.steps)

    def passive(self, oracle: Oracle, run: Run) -> Climb:
        """Climbs by one half of the samples, checked by the other."""
        spec = cast("ThresholdSpec", oracle.spec)
        x, y = oracle.sample(correlations.granted(spec, self.N)).tensors()
        half = len(x) // 2
        sizes = widths(SCALES, WIDEST, half, spec.threshold, spec.unit)
        if not sizes:
            raise GiveUp(f"{len(x)} samples leave slabs of width {WIDEST:g} too few")
        seen, held = (
            by_samples(a, b[:, 0], spec.threshold, spec.unit) for a, b in ((x[:half], y[:half]), (x[half:], y[half:]))
        )
        return lambda z, found: climbed(z, found, sizes, lambda: seen, lambda: held, run, self.steps)


def start(found: Tensor, run: Run) -> Tensor:
    """A random unit vector, orthogonal to what was found while that leaves room."""
    z = run.sphere(1, len(found))[0]
    if 0 < found.shape[1] < len(found):
        basis = torch.linalg.qr(found)[0]
        z = z - basis @ (basis.T @ z)
    return z / z.norm()


def climbed(
    z: Tensor,
    found: Tensor,
    sizes: list[float],
    evidence: Callable[[], Jumps],
    fresh: Callable[[], Jumps],
    run: Run,
    steps: int,
) -> Tensor | None:
    """A direction that is not known and at which f jumps by fresh evidence, or None."""
    size, same = WIDEST, max(SAME, 2 * sizes[-1])  # as far as the last ε tells directions apart
    for scale, width in enumerate(sizes):
        z, size = ascend(evidence()(width), z, run, size=max(size, width / 2), steps=steps)
        if scale == KNOWN and near(z, found, max(same, width)):
            return None
    if near(z, found, same):
        return None
    jumps = fresh()
    (wide, _), (narrow, error) = jumps(sizes[-1])(z), jumps(sizes[-1] / 2)(z)
    stays = narrow > STAYS * wide > 0 and narrow - wide / 2 > SURE * error
    return z if stays else None


def near(z: Tensor, found: Tensor, distance: float) -> bool:
    """Whether a direction is known."""
    return bool(((found - z[:, None]).norm(dim=0) < distance).any())


def ascend(jump: Jump, z: Tensor, run: Run, *, size: float, steps: int) -> tuple[Tensor, float]:
    """A (1+1) evolution strategy on the sphere."""
    best = jump(z)[0]
    for _ in range(steps):
        other = z + size * run.normal(1, len(z))[0] / math.sqrt(len(z))
        other = other / other.norm()
        reached = jump(other)[0]
        z, best, size = (other, reached, WIDER * size) if reached > best else (z, best, NARROWER * size)
    return z, size
