"""How far claimed threshold units are from the true ones, up to order and, for even units, sign."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from paramid.judging.metrics import Metrics
from paramid.judging.spans_and_directions import score_directions
from paramid.words import random_streams
from paramid.words.claims import Claim, Directions
from paramid.words.network import Network
from paramid.words.neuron_distances import CAP, match
from paramid.words.threshold_units import Thresholded, Units

PROBES = 512  # points at which two polynomials are compared


def units_of(claim: Claim) -> Units | None:
    """The units of a claim; of directions with zeros for what they do not say."""
    if isinstance(claim, Thresholded):
        return claim.units
    if isinstance(claim, Network):
        return Units(claim.weights[0], -claim.biases[0], claim.weights[1][:, 0])
    if isinstance(claim, Directions):
        nothing = claim.columns.new_zeros(claim.columns.shape[1])
        return Units(claim.columns, nothing, nothing)
    return claim if isinstance(claim, Units) else None


def score(teacher: Thresholded, claim: Units, *, even: bool, bare: bool) -> tuple[Metrics, float]:
    """Errors of units matched up to sign, and the largest of them; of directions alone with `bare`.

    Weights are compared at length 1 where the length of a unit's weights is free, as they are elsewhere.
    """
    truth, claim = teacher.units.at_unit_length(teacher.unit), claim.at_unit_length(teacher.unit)
    directions = score_directions(unit(truth.columns), unit(claim.columns))
    metrics = directions if bare else score_directions(truth.columns, claim.columns)
    metrics["angle_error"] = 2 * math.asin(min(directions["weight_error"] / 2, 1.0))
    if bare:
        return metrics, metrics["weight_error"]
    rows, cols, signs = match(truth.columns, claim.columns, None)
    missing = len(rows) < truth.columns.shape[1]
    metrics["threshold_error"] = largest(truth.thresholds[rows] - claim.thresholds[cols], missing)
    metrics["coefficient_error"] = largest(truth.coefficients[rows] - claim.coefficients[cols], missing)
    right = torch.ones_like(signs) if even else (signs > 0).to(signs)
    metrics["sign_accuracy"] = float(right.sum()) / truth.columns.shape[1]
    names = ("weight_error", "threshold_error", "coefficient_error")
    return metrics, max(metrics[name] for name in names)


def largest(gaps: Tensor, missing: bool) -> float:
    """The largest of the gaps, at least √2 where something is missing."""
    worst = float(gaps.abs().nan_to_num(math.inf).max()) if len(gaps) else 0.0  # what overflowed is as far as can be
    return max(worst, CAP if missing else 0.0)


def polynomial_error(truth: Thresholded, claim: Thresholded) -> float:
    """Max |P - P̂| over points of [0, 1]^m, with claimed units in the true ones' order and others at 0."""
    truth, claim = truth.at_unit_length(), claim.at_unit_length()
    rows, cols, _ = match(truth.columns, claim.columns, None)
    m = len(truth.thresholds)
    x = torch.rand(PROBES, m, generator=random_streams.generator(0, "polynomial"), device="cpu", dtype=torch.float64)
    y = x.new_zeros(PROBES, len(claim.thresholds)).index_copy(1, cols, x[:, rows])
    return float((truth.polynomial(x) - claim.polynomial(y)).abs().nan_to_num(math.inf).max())


def unit(columns: Tensor) -> Tensor:
    """Columns of length 1; zeros stay."""
    length = columns.norm(dim=0)
    return columns / torch.where(length > 0, length, torch.ones_like(length))
