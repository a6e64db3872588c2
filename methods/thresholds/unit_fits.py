"""Units from samples, each on the rows at which all others are silent; estimates in, sharper ones out.

Rows on which unit i alone decides are those with ⟨ŵ_j, x⟩ < t_j - 0.3 for all j ≠ i. Among them

    (1)  steps: f(x) ≠ f(0) iff ⟨w_i, x⟩ ≥ t_i. In a band |⟨ŵ, x⟩ - t̂| < δ its logistic regression on (x, -1) gives
         the plane, and the band is halved around it while 20 D rows are left: an error of D / (N φ(t)), not N^{-1/2};
    (2)  ReLUs: f(x) - f(0) = c_i (⟨w_i, x⟩ - t_i) wherever ⟨ŵ_i, x⟩ > t_i + 0.3: linear equations, exact to rounding;
         rows that do not fit are taken out, round by round.

Rows are kept for all units in one pass, at most `ROWS` of each. Both are ours; the paper's passive version of its
search, counting in a band, stays near an angle of 0.01 at a million samples.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from paramid import GiveUp
from paramid.words.threshold_units import Units

MARGIN = 0.3
BAND, ROUNDS, ENOUGH = 0.6, 10, 20  # δ at first, halvings, rows for each unknown
RIDGE = 1e-9
ROWS = 2**18
FITS = 1e-9  # of the values: a linear equation holds


@dataclass(frozen=True, eq=False)
class Lonely:
    """Rows on which one unit decides, and f - f(0) there."""

    x: Tensor
    y: Tensor


def sharpened(samples: Iterable[tuple[Tensor, Tensor]], rough: Units, base: float, *, unit: str) -> Units:
    """(1) for steps or (2) for ReLUs; f(0) is `base`."""
    fit = plane if unit == "step" else line
    rows = lonely(samples, rough, base, above=unit == "relu")
    found = [fit(rows[i], rough, i) for i in range(len(rows))]
    w, t, c = (torch.stack([f[k] for f in found]) for k in range(3))
    return Units(w.T.contiguous(), t, c)


def lonely(samples: Iterable[tuple[Tensor, Tensor]], rough: Units, base: float, *, above: bool) -> list[Lonely]:
    """For every unit the rows on which it alone decides: in its first band, or above it."""
    m = len(rough.thresholds)
    kept: list[list[Tensor]] = [[] for _ in range(m)]
    counts = [0] * m
    for x, y in samples:
        height = x @ rough.columns - rough.thresholds
        loud = height > -MARGIN
        alone = loud.sum(dim=1, keepdim=True) - loud.long() == 0
        near = height > MARGIN if above else height.abs() < BAND
        for i in range(m):
            rows = (alone[:, i] & near[:, i]).nonzero()[: ROWS - counts[i], 0]
            kept[i].append(torch.cat([x[rows], y[rows] - base], dim=1))
            counts[i] += len(rows)
    tables = [torch.cat(parts) for parts in kept]
    return [Lonely(table[:, :-1], table[:, -1]) for table in tables]


def plane(rows: Lonely, rough: Units, i: int) -> tuple[Tensor, Tensor, Tensor]:
    """(1): direction, threshold and the coefficient that the values have above it."""
    w, t, band = rough.columns[:, i], rough.thresholds[i], BAND
    for _ in range(ROUNDS):
        here = (rows.x @ w - t).abs() < band
        fired = rows.y[here] != 0
        if int(here.sum()) < ENOUGH * (len(w) + 1) or bool(fired.all()) or not bool(fired.any()):
            break
        theta = logistic(rows.x[here], fired, torch.cat([w, t[None]]), 4 / band)
        w, t = theta[:-1] / theta[:-1].norm(), theta[-1] / theta[:-1].norm()
        band /= 2
    values = rows.y[rows.x @ w > t]
    return w, t, values.median() if len(values) else rough.coefficients[i]


def logistic(x: Tensor, fired: Tensor, start: Tensor, scale: float) -> Tensor:
    """(w, t) of the least mean log(1 + exp(∓(⟨w, x⟩ - t))), from `scale` times the start."""
    a = torch.cat([x, -torch.ones_like(x[:, :1])], dim=1).numpy(force=True)
    side = np.where(fired.numpy(force=True), 1.0, -1.0)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        v = side * (a @ theta)
        slope = -(side * np.exp(-np.logaddexp(0, v))) @ a / len(a)
        return float(np.logaddexp(0, -v).mean() + RIDGE * theta @ theta), slope + 2 * RIDGE * theta

    end = minimize(loss, scale * start.numpy(force=True), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    return torch.as_tensor(end, dtype=x.dtype, device=x.device)


def line(rows: Lonely, rough: Units, i: int) -> tuple[Tensor, Tensor, Tensor]:
    """(2): direction, threshold and coefficient; a GiveUp where the equations do not hold."""
    a, y = torch.cat([rows.x, -torch.ones_like(rows.x[:, :1])], dim=1), rows.y
    for _ in range(ROUNDS):
        if len(a) < ENOUGH * a.shape[1]:
            raise GiveUp(f"{len(a)} rows show unit {i + 1} alone; {ENOUGH * a.shape[1]} were wanted")
        theta = torch.linalg.pinv(a) @ y  # lstsq differs from run to run
        missed = (a @ theta - y).abs()
        if float(missed.max()) < FITS * float(y.abs().max()):
            size = theta[:-1].norm() * torch.where(rough.columns[:, i] @ theta[:-1] < 0, -1.0, 1.0)
            return theta[:-1] / size, theta[-1] / size, size
        keep = missed <= missed.quantile(0.8)
        a, y = a[keep], y[keep]
    raise GiveUp(f"unit {i + 1} is not linear where it alone should fire: off by {float(missed.max()):.1e}")
