"""What every number in a record means. Errors and costs: lower is better; shares and flags say so."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

Metrics = dict[str, float]
EXACT, SHIFT, BITS = 1e-8, 1e-1, 53  # what is exact; how far shifts and outer weights may be off; of a double
METRICS: Mapping[str, str] = {
    "error": "the family's headline error",
    "identified": "flag: weight_error < 1e-2, every sign right, bias_error and outer_error < 1e-1, nothing in excess",
    "exact": "flag: every free parameter within 1e-8",
    "bits": "higher is better: -log2 of the largest aligned parameter error, at most 53",
    "output_error": "max |f - g| over fresh inputs of the task's law",
    "output_error_relative": "output_error over max |f|",
    "output_rmse": "root mean square of f - g over the same inputs",
    "weight_error": "max over true neurons of ||w - w^||, at most sqrt 2; a neuron that was not found counts sqrt 2",
    "weight_error_median": "the median of the same",
    "recovered": "higher is better: share of true neurons within 1e-2",
    "excess": "neurons claimed beyond those matched",
    "bias_error": "l2 norm of the aligned shifts' errors; a neuron that was not found counts sqrt 2",
    "bias_error_max": "the largest of the same",
    "outer_error": "largest error of an outer weight or output bias",
    "sign_accuracy": "higher is better: share of true neurons whose sign is right",
    "subspace_error": "sine of the largest principal angle",
    "subspace_error_frobenius": "Frobenius norm of the difference of the projectors",
    "gram_error": "relative Frobenius distance of the Gram matrices",
    "parameters": "of the teacher: how many numbers its function is, by the rank of its Jacobian over the law",
    "rows_per_parameter": "rows of the teacher for each of its parameters; with one output at least 1 for anybody",
    "bound": "Cramér-Rao bound of the least certain parameter at the rows shown; the largest error is 2 to 3 times it",
    "bound_placed": "the same at as many rows where they say most: Gaussian ones of the best spread",
}
LIMITS = ("parameters", "rows_per_parameter", "bound", "bound_placed")  # of the teacher and the rows, not of a claim


class Unjudgeable(ValueError):
    """A claim that has no error because it is not of the kind or shape that can have one."""


def documented(name: str, family: Mapping[str, str]) -> bool:
    """Whether a metric is a common one, one of the family's own, or one of these by layer (`weight_error_2`)."""
    base = re.sub(r"_\d+$", "", name)
    return any(n in known for n in (name, base) for known in (METRICS, family))


def rises(meaning: str) -> bool:
    """Whether a metric of that meaning is better where it is higher; errors and costs are not."""
    return meaning.startswith(("flag", "higher is better"))


def bits(worst: float) -> float:
    """-log2 of an error, as far as a double can tell."""
    if math.isnan(worst):
        return -math.inf
    return min(float(BITS), -math.log2(worst)) if worst else float(BITS)
