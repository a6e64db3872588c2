"""RefineEstimate: the angle between an estimate and a unit's direction, brought down by random perturbations.

With z at angle α from w_1, x = s z + g^⊥, g^⊥ Gaussian orthogonal to z, and other units silent,

    (1)  Pr[f(x) ≠ f(0)] = Pr[⟨w_1, x⟩ ≥ t] = Φ((s cos α - t) / sin α),
    (2)  the s at which it is p:   t_p = (t + Φ⁻¹(p) sin α) / cos α,
    (3)  tan α = (t_.6 - t_.4) / (Φ⁻¹(.6) - Φ⁻¹(.4)).

Every offset g^⊥ has one crossing s, found by bisection by queries; t_p are quantiles of crossings (the paper bisects p
itself, from samples: `slabs`). A perturbation is tried with the same offsets,

    (4)  z' = normalise(z + η sin(α / d) Δ),   Δ ~ N(0, I) orthogonal to z,
    (5)  accepted if α' ≤ (1 - 0.01 / d) α   (printed: α' ≤ 0.01 α / d, which accepts nothing).

Reference: Goel & Panigrahy, §2.2, Algorithms 1 and 2, Lemmas 3, 6, 7. Their t_.6 ≤ t / cos α is false by (2), so that
crossings are sought up to `reach` > t; their η = 0.1 leaves a tenth of the progress of η ≈ 1.1.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor

from paramid import Oracle, Run
from paramid.words.spec import ThresholdSpec

Fired = Callable[[Tensor], Tensor]  # rows -> whether f differs from f(0)
Tangent = Callable[[Tensor], float]  # z -> tan α
Round = Callable[[float], Tangent | None]  # α as last estimated -> what a round measures by; None: nothing is left
ACCEPTANCE: Mapping[str, Callable[[float, int], float]] = {
    "corrected": lambda alpha, d: (1 - 0.01 / d) * alpha,
    "printed": lambda alpha, d: 0.01 * alpha / d,
}
LOW, HIGH = 0.4, 0.6
SPREAD = NormalDist().inv_cdf(HIGH) - NormalDist().inv_cdf(LOW)
HALVINGS = 32  # resolves an angle of 1e-8
SILENT = ("step", "relu")  # exactly constant below the threshold


@dataclass(frozen=True, eq=False)
class Search:
    """The direction that was reached, its own estimate of the angle, and the work."""

    direction: Tensor
    angle: float
    iterations: int
    accepted: int


def unfit(spec: ThresholdSpec) -> str | None:
    """Why crossings cannot be seen, or None."""
    if spec.unit not in SILENT:
        return f"needs units that are silent below their threshold, {spec.unit} is not"
    if not spec.threshold > 0:
        return "needs a positive threshold: f(0) is the value at which every unit is silent"
    return None


def firing(oracle: Oracle, run: Run) -> Fired:
    """Whether f(x) ≠ f(0), by queries; f(0) is asked once."""
    silent = oracle.query(torch.zeros(1, oracle.spec.inputs, device=run.device, dtype=run.dtype))
    return lambda x: (oracle.query(x) != silent)[:, 0]


def crossings(fired: Fired, base: Tensor, z: Tensor, *, low: float, high: float, halvings: int = HALVINGS) -> Tensor:
    """The s in [low, high] at which f changes on every line base + s z, by bisection."""
    lower, upper = base.new_full((len(base),), low), base.new_full((len(base),), high)
    for _ in range(halvings):
        middle = (lower + upper) / 2
        on = fired(base + middle[:, None] * z)
        lower, upper = torch.where(on, lower, middle), torch.where(on, middle, upper)
    return (lower + upper) / 2


def estimate_tan_alpha(fired: Fired, z: Tensor, gaussians: Tensor, *, reach: float) -> float:
    """(3), from crossings at the given offsets."""
    base = gaussians - torch.outer(gaussians @ z, z)
    at = crossings(fired, base, z, low=0.0, high=reach)
    levels = torch.tensor([LOW, HIGH], device=at.device, dtype=at.dtype)
    low, high = at.quantile(levels).tolist()
    return float(high - low) / SPREAD


def crossing_tangents(fired: Fired, run: Run, *, d: int, offsets: int, reach: float) -> Round:
    """(3) by queries, at fresh offsets in every round."""

    def of(_: float) -> Tangent:
        gaussians = run.normal(offsets, d)
        return lambda z: estimate_tan_alpha(fired, z, gaussians, reach=reach)

    return of


def refine_estimate(
    tangents: Round,
    z: Tensor,
    run: Run,
    *,
    stride: float = 1.1,
    iterations: int = 300,
    tolerance: float = 1e-6,
    acceptance: str = "corrected",
) -> Search:
    """Perturbations (4) accepted by (5), until the estimated angle is below `tolerance` or nothing tells it."""
    d, accepted, tried, angle = len(z), 0, 0, math.inf
    while tried < iterations and angle > tolerance and (tan := tangents(angle)):
        tried += 1
        angle = math.atan(tan(z))
        other = perturbed(z, stride * math.sin(angle / d), run)
        after = math.atan(tan(other))
        if after <= ACCEPTANCE[acceptance](angle, d):
            z, angle, accepted = other, after, accepted + 1
    return Search(z, angle, tried, accepted)


def perturbed(z: Tensor, size: float, run: Run) -> Tensor:
    """(4)."""
    delta = run.normal(1, len(z))[0]
    moved = z + size * (delta - (delta @ z) * z)
    return moved / moved.norm()
