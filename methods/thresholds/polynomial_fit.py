"""P of f(x) = P(X_1, …, X_m) once the units are known, by regression on products of their values.

Up to ten units every vertex of [0, 1]^m is asked at a chosen x, and with μ the Möbius function of sets

    (1)  P(X) = Σ_S c_S Π_{i in S} X_i,   c_S = Σ_{T ⊂ S} (-1)^{|S| - |T|} P(1_T).

Beyond, and from samples, which show few products, it is fitted on

    (2)  1, X_i, X_i X_j and Π_i (1 - X_i).

A point with ⟨w_i, x⟩ = t_i + 1 for i in S and t_i - 1 else is x = W (WᵀW)⁻¹ (t ± 1). What was fitted is compared with
f at as many further points, units half on and between, and given up where it differs: P is no such polynomial.
"""

from collections.abc import Iterable
from itertools import islice

import torch
from torch import Tensor

from paramid import GiveUp, Oracle, Run
from paramid.words.threshold_units import UNITS, Thresholded, Units, monomials, subsets

FULL = 10  # units, all of whose products are fitted
CHECKS = 200
AGREES = 1e-9  # of the largest value
ROWS = 2**17  # of samples in a regression
NEARLY, RARE = 1e-3, 0.05  # a value is missed; the share of samples that may be: larger products, wrong sides
CLEAR = 0.05  # from every plane: rows nearer may be on its other side
SLIGHT = 1e-12  # of the largest coefficient: rounding


def fit_queries(oracle: Oracle, units: Units, run: Run, *, unit: str) -> Thresholded:
    """(1) or (2) at chosen points; a GiveUp where f is no such function."""
    m = len(units.thresholds)
    corners = subsets(m, range(m + 1) if m <= FULL else range(4), units.columns)
    values = oracle.query(points(units, 2 * corners - 1))[:, 0]
    found = moebius(units, corners, values, unit) if m <= FULL else regressed(units, corners, values, unit)
    heights = 3 * torch.rand(CHECKS, m, generator=run.generator, device="cpu", dtype=run.dtype).to(run.device) - 1.5
    x = points(units, heights)
    y = oracle.query(x)
    missed, size = float((found(x) - y).abs().max()), float(torch.cat([values, y[:, 0]]).abs().max())
    if missed > AGREES * max(size, 1.0):
        raise GiveUp(f"the fitted polynomial misses the function by {missed:.1e}")
    return found


def fit_samples(samples: Iterable[tuple[Tensor, Tensor]], units: Units, *, unit: str) -> Thresholded:
    """(2) on rows at which a unit fires and none is near its plane; products that no row shows are taken for 0."""
    kept, count = list[Tensor](), 0
    for x, y in islice(samples, 1000):
        height = x @ units.columns - units.thresholds
        clear = (height.abs() > CLEAR).all(dim=1)
        silent = torch.arange(len(x), device=x.device) < 100
        rows = (clear & ((height > 0).any(dim=1) | silent)).nonzero()[: ROWS - count, 0]
        kept.append(torch.cat([height[rows], y[rows]], dim=1))
        count += len(rows)
    table = torch.cat(kept)
    activated, values = UNITS[unit](table[:, :-1], 1.0), table[:, -1]
    found = regressed(units, activated, values, unit)
    missed = float(((found.polynomial(activated) - values).abs() > NEARLY * values.abs().max()).double().mean())
    if missed > RARE:
        raise GiveUp(f"the fitted polynomial misses {missed:.1%} of the samples away from every plane")
    return found


def points(units: Units, heights: Tensor) -> Tensor:
    """The x with ⟨w_i, x⟩ - t_i = `heights` (rows, m), by the least norm."""
    return (heights + units.thresholds) @ torch.linalg.pinv(units.columns)


def moebius(units: Units, corners: Tensor, values: Tensor, unit: str) -> Thresholded:
    """(1) from the values at all corners."""
    inside = corners @ corners.T == corners.sum(dim=1)  # [T, S]: S is in T
    c = torch.linalg.solve_triangular(inside.to(values), values[:, None], upper=False)[:, 0]
    keep = c.abs() > SLIGHT * c.abs().max()
    constants, slopes = monomials(corners[keep])
    return assembled(units, c[keep], constants, slopes, unit)


def regressed(units: Units, activated: Tensor, values: Tensor, unit: str) -> Thresholded:
    """(2) by least squares, with as few kinds of products as fit."""
    m = activated.shape[1]
    for degree, whole in ((1, False), (2, False), (2, True)):
        base, slope = monomials(subsets(m, range(degree + 1), activated))
        if whole:
            base, slope = torch.cat([base, torch.ones_like(base[:1])]), torch.cat([slope, -torch.ones_like(base[:1])])
        plain = assembled(units, torch.ones_like(base[:, 0]), base, slope, unit).products(activated)
        c = torch.linalg.pinv(plain) @ values  # lstsq differs from run to run
        keep = c.abs() > SLIGHT * c.abs().max()
        found = assembled(units, c[keep], base[keep], slope[keep], unit)
        if float((found.polynomial(activated) - values).abs().max()) <= AGREES * float(values.abs().max()):
            break
    return found


def assembled(units: Units, scales: Tensor, constants: Tensor, slopes: Tensor, unit: str) -> Thresholded:
    """The function of these terms."""
    return Thresholded(units.columns, units.thresholds, scales, constants, slopes, unit)
