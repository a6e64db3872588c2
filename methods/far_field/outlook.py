"""How far out lines may go, how large values are, and what rounding leaves of them near and far.

Rounding is measured, not assumed: sixth differences of step h of a function that is smooth on the scale of h leave

    (1)  Σ_k (-1)^k C(6, k) f(x + k h u) = σ √924 ξ,   ξ of deviation 1,

whatever computes f. Log-odds have rounding of their own, ε / p(1 - p), where probabilities come close to 0 or 1.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import GiveUp, Run, Spec
from paramid.methods.spans.output_differences import Values

BINOMIAL = (1.0, -6.0, 15.0, -20.0, 15.0, -6.0, 1.0)
STEP = 1e-4
PROBES, AROUND = 32, 3.0  # points that tell the size of f, and their spread
RADII = (3e4, 1e4, 3e3, 1e3, 300.0, 100.0, 30.0)
SINGLE_RADII = (1e3, 300.0, 100.0)  # float32 rounds inputs of 1000 to 1e-4
UNEVEN = 30.0  # times the median: rounding is not the same everywhere
NOISY = 1e-10  # of the size of f
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24}
FINITE = 0.9  # of the values far out


@dataclass(frozen=True)
class Outlook:
    """What is known before lines are looked at."""

    radius: float  # of lines
    size: float  # of f around 0
    near: float  # deviation of a value around 0, by rounding or noise
    far: float  # and at the radius
    uneven: bool = False  # whether rounding differs much from point to point
    unit: float = 2.0**-53  # by which inputs are rounded, relatively

    @property
    def noisy(self) -> bool:
        """Whether directions are too rough for shifts to be read off far away."""
        return self.near > NOISY * self.size


def outlook(f: Values, spec: Spec, run: Run, radius: float | None) -> Outlook:
    """What a few hundred queries tell before lines are looked at."""
    probes = f(AROUND * run.normal(PROBES, spec.inputs))
    size = float((probes - probes.mean(0)).abs().max())
    if not (math.isfinite(size) and size > 0):
        raise GiveUp("f has no finite values around 0, or is constant there")
    x, u = run.normal(PROBES, spec.inputs), run.sphere(PROBES, spec.inputs)
    around = rounding(f, 1.5 * x, u)
    middle = float(around.median())
    uneven = float(around.amax()) > UNEVEN * max(spec.noise, middle) > 0
    near = max(spec.noise, middle if uneven else float(around.square().mean().sqrt()))
    outward = run.sphere(PROBES, spec.inputs)
    radii = (radius,) if radius is not None else SINGLE_RADII if spec.resolution else RADII
    for r in radii:
        left = rounding(f, r * outward, u)
        finite = left[left.isfinite()]
        if len(finite) >= FINITE * PROBES:
            return Outlook(r, size, near, max(near, float(finite.median())), uneven, UNITS[spec.precision])
    raise GiveUp("f has no finite values far away from 0")


def rounding(f: Values, x: Tensor, u: Tensor) -> Tensor:
    """σ of (1) at every row, along unit rows `u`, (rows,)."""
    weights = torch.tensor(BINOMIAL, dtype=x.dtype, device=x.device)
    steps = STEP * torch.arange(7, dtype=x.dtype, device=x.device)
    y = f((x[:, None] + steps[:, None] * u[:, None]).flatten(0, 1)).view(len(x), 7, -1)
    return (weights[:, None] * y).sum(1).square().mean(1).sqrt() / math.sqrt(924)
