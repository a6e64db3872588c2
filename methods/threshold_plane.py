"""`threshold-plane`: steps under any polynomial, at any threshold, by a search for planes at which f jumps.

For x ~ N(0, I) let E[f | z, s] be the mean of f on the plane ⟨z, x⟩ = s. Across it,

    (1)  C_2(z) = φ(t+ε) E[f | z, t+ε] - φ(t-ε) E[f | z, t-ε],
    (2)  C_2(w_i) = φ(t) E[∂P/∂X_i | ⟨w_i, x⟩ = t] + O(ε),   C_2(z) = O(ε) at an angle from every w_i,

so that P needs no linear terms, but only points within an angle ε of a unit see it. The paper searches a net of the
sphere. Here a (1+1) evolution strategy climbs (1) while ε is halved from 0.5; a mean is over the same Gaussians for
every z. A start has arrived where halving ε once more leaves (1) as it is: elsewhere (2) is halved with it.

Reference: Goel & Panigrahy, §3, Theorem 7. The search is ours, and like theirs it is for few inputs.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Oracle, Run, Spec
from paramid.words.options import positive
from paramid.words.spec import ThresholdSpec

WIDEST, SCALES = 0.5, 6  # ε at first, and how many of them
STAYS = 0.75  # of (1), when ε is halved
SAME = 0.1
WIDER, NARROWER = 1.3, 0.92  # steps after a success and a failure
MOST = 15  # inputs at which the search is begun


@dataclass(frozen=True)
class ThresholdPlane:
    """Steps under a polynomial without linear terms, by a search for the planes of its jumps (section 3)."""

    starts: int = 4  # climbs for each unit, at most
    steps: int = 80  # steps of a climb at each of six ε
    gaussians: int = 8000  # queries for a mean of f over a plane

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def __post_init__(self) -> None:
        positive(self, "starts", "steps", "gaussians")

    def declines(self, spec: Spec) -> str | None:
        """Steps of one threshold, few inputs."""
        if not isinstance(spec, ThresholdSpec) or spec.outputs != 1 or spec.widths[0] is None:
            return "needs units of one known threshold below one output"
        if spec.unit != "step":
            return f"looks for jumps, {spec.unit} has none"
        if spec.inputs > MOST:
            return f"a search on the sphere of {spec.inputs} inputs takes time exponential in them"
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Claim the directions found, whenever there is a new one."""
        spec = cast("ThresholdSpec", oracle.spec)
        m, d = spec.widths[0], spec.inputs
        assert m is not None  # declined otherwise
        found, starts, arrived = torch.empty(d, 0, device=run.device, dtype=run.dtype), 0, 0
        while found.shape[1] < m and starts < self.starts * m:
            z, here = climb(oracle, run, t=spec.threshold, steps=self.steps, gaussians=self.gaussians)
            starts, arrived = starts + 1, arrived + here
            if here and not bool(((found - z[:, None]).norm(dim=0) < SAME).any()):
                found = torch.cat([found, z[:, None]], dim=1)
            yield Directions(found, stats={"starts": starts, "arrived": arrived})
        if found.shape[1] < m:
            raise GiveUp(f"{starts} starts found {found.shape[1]} of {m} planes")


def climb(oracle: Oracle, run: Run, *, t: float, steps: int, gaussians: int) -> tuple[Tensor, bool]:
    """A unit vector at which (1) is large for small ε, and whether it stays so."""
    d = oracle.spec.inputs
    z, size, width = run.sphere(1, d)[0], WIDEST, WIDEST
    for scale in range(SCALES):
        width = WIDEST / 2**scale
        jump = correlation(oracle, run.normal(gaussians, d), t, width)
        z, size = ascend(jump, z, run, size=max(size, width / 2), steps=steps)
    fresh = run.normal(gaussians, d)
    wide, narrow = (correlation(oracle, fresh, t, w)(z) for w in (width, width / 2))
    return z, narrow > STAYS * wide > 0


def ascend(value: Callable[[Tensor], float], z: Tensor, run: Run, *, size: float, steps: int) -> tuple[Tensor, float]:
    """A (1+1) evolution strategy on the sphere."""
    best = value(z)
    for _ in range(steps):
        other = z + size * run.normal(1, len(z))[0] / math.sqrt(len(z))
        other = other / other.norm()
        reached = value(other)
        z, best, size = (other, reached, WIDER * size) if reached > best else (z, best, NARROWER * size)
    return z, size


def correlation(oracle: Oracle, gaussians: Tensor, t: float, width: float) -> Callable[[Tensor], float]:
    """(1) as a function of z, over the same Gaussians for every z."""

    def mean(z: Tensor, s: float) -> float:
        on_plane = gaussians + torch.outer(s - gaussians @ z, z)
        return math.exp(-s * s / 2) / math.sqrt(2 * math.pi) * float(oracle.query(on_plane).mean())

    return lambda z: mean(z, t + width) - mean(z, t - width)
