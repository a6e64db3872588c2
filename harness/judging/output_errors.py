"""How far the values of a claimed function are from the teacher's."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from paramid.judging.metrics import Metrics, Unjudgeable
from paramid.words.network import Teacher

ROWS = 500  # of labelled inputs at a time


def score_outputs(teacher: Teacher, claim: Teacher, inputs: Iterable[Tensor]) -> Metrics:
    """Max |f - g| over fresh inputs given in chunks, the same over max |f|, and the root mean square of f - g."""
    worst = largest = squares = 0.0
    count = 0
    for x in inputs:
        with torch.no_grad():
            y, z = teacher(x), values_of(claim, x)
        if not isinstance(z, Tensor) or z.shape != y.shape:
            came = f"a tensor {tuple(z.shape)}" if isinstance(z, Tensor) else f"a {type(z).__name__}"
            raise Unjudgeable(f"the claimed function gave {came} for {len(x)} rows; {tuple(y.shape)} was wanted")
        if not z.is_floating_point() or z.layout is not torch.strided:
            raise Unjudgeable(f"the claimed function gave {z.dtype} values, {z.layout}; real numbers were wanted")
        if not bool(torch.isfinite(z).all()):
            raise Unjudgeable("the claimed function gave non-finite values")
        worst = max(worst, float((y - z).abs().max()))
        largest = max(largest, float(y.abs().max()))
        squares, count = squares + float((y - z).square().sum()), count + y.numel()
    relative = worst / largest if largest else (0.0 if worst == 0 else math.inf)
    rmse = math.sqrt(squares / max(1, count))
    return {"output_error": worst, "output_error_relative": relative, "output_rmse": rmse}


def score_labels(claim: Teacher, x: Tensor, y: Tensor) -> Metrics:
    """The share of rows whose largest value is not that of y, and whether there are none.

    Nothing where the claim gives no such values: what is wrong with them is said elsewhere.
    """
    with torch.no_grad():
        values = [values_of(claim, rows) for rows in x.split(ROWS)]
    if not all(isinstance(z, Tensor) and z.shape == rows.shape for z, rows in zip(values, y.split(ROWS), strict=True)):
        return {}
    classes = torch.cat([z.to(y).argmax(dim=1) for z in values])
    wrong = float((classes != y.argmax(dim=1)).to(y).mean())
    return {"held_out_error": wrong, "accuracy": 1 - wrong, **dict.fromkeys(("identified", "exact"), float(wrong == 0))}


def score_lengths(truth: Teacher, claim: Teacher, inputs: Iterable[Tensor]) -> Metrics:
    """The mean of ‖f - g‖₂ over inputs given in chunks, and max ‖f - g‖₂ / max ‖f‖₂, each over all outputs together."""
    total = worst = largest = 0.0
    count = 0
    for x in inputs:
        y = truth(x)
        gaps = (y - values_of(claim, x)).norm(dim=1)
        total, worst, count = total + float(gaps.sum()), max(worst, float(gaps.max())), count + len(x)
        largest = max(largest, float(y.norm(dim=1).max()))
    relative = worst / largest if largest else (0.0 if worst == 0 else math.inf)
    return {"mean_distance": total / max(1, count), "uniform_distance": relative}


def values_of(claim: Teacher, x: Tensor) -> Tensor:
    """What a claim gives for x; whatever it raises is its own fault."""
    try:
        return claim(x)
    except Exception as error:
        raise Unjudgeable(f"the claimed function raised {type(error).__name__}: {error}") from error
