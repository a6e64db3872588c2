"""How many neurons a shallow network has: the dimension of the span of its second derivatives.

    (1)  ∂²f/∂x² = Σ_k a_k g''(z_k) w_k w_kᵀ,

so that m matrices span them all as long as there are fewer than D(D+1)/2, and a gap of singular values tells m.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from paramid.identifying.examined import Examined

MOST = 300_000  # rows
CONVINCING = 30.0  # a gap of singular values
RIVAL = 100.0  # the most by which a later ratio of singular values may exceed the gap
SPARE, MARGIN = 1.3, 4  # Hessians beyond the dimension that they span, in proportion and in number


def neurons(at: Examined) -> str | None:
    """The dimension of the span of second derivatives, Σ_k a_k g''(z_k) w_k w_kᵀ, is that many neurons."""
    spec, d = at.spec, at.spec.inputs
    if not spec.shallow or (at.told and at.told.degree is not None):
        return None
    step = 3 * max(at.roughness, 1e-16 * at.size) ** 0.25
    m = spanned(at, step)
    if m is None or m == spec.widths[0] or spanned(at, step / 1.5) != m:  # the next order goes with the step
        return None
    if m > max(1, limit := d * (d - 1) // 2):
        return (
            f"the second derivatives of f span {m} of {d * (d + 1) // 2} dimensions, and at most {limit} neurons of "
            "one hidden layer can be told apart there: f has more neurons, or is no sum of neurons"
        )
    if spec.widths[0] is None:
        return None
    above = "" if spec.precision == "float64" else " above the rounding of its values"
    span = f"the second derivatives of f span {m} dimensions{above}"
    return f"wrong number of neurons: {span}, {spec.widths[0]} neurons were told; try neurons={m}"


def spanned(at: Examined, step: float) -> int | None:
    """The dimension that Hessians of differences over `step` span, from ever more of them."""
    d = at.spec.inputs
    whole, each = d * (d + 1) // 2, d * (d + 1) + 1
    count, m, rows = (at.spec.widths[0] or 0) + 8, None, torch.empty(0, whole, dtype=torch.float64)
    while m is None and len(rows) < SPARE * whole + MARGIN and count * each <= MOST:
        rows = torch.cat([rows, hessians(at.f, at.normal(count - len(rows), d), step)])
        m, count = dimension(rows, 3 * hessian_error(at, rows, step)), math.ceil(1.5 * count)
    return m


def hessian_error(at: Examined, rows: Tensor, step: float) -> float:
    """What rounding, 4σ/h² an entry, and the next order, h² of the whole, leave beyond the span of the rows."""
    sigma = max(at.roughness, 1e-16 * at.size)
    return 4 * sigma / step**2 * math.sqrt(len(rows)) + step**2 * float(torch.linalg.matrix_norm(rows, 2))


def hessians(f: Callable[[Tensor], Tensor], x: Tensor, step: float) -> Tensor:
    """∂²f/∂x² at every row by symmetric differences of `step`, packed, (rows, D(D+1)/2); 2D² + 1 queries a row at most.

    (1)  H_ij = (f(x + he_i + he_j) + f(x - he_i - he_j) - 2f(x)) / 2h² - (H_ii + H_jj) / 2,
    (2)  H_ii = (f(x + he_i) + f(x - he_i) - 2 f(x)) / h².
    """
    d = x.shape[1]
    i, j = torch.triu_indices(d, d)
    e = torch.eye(d, dtype=x.dtype)
    moves = torch.cat([e, (e[i] + e[j])[i != j]]) * step
    found = []
    for at in x:
        y = f(torch.cat([at[None], at + moves, at - moves]))
        second = (y[1 : len(moves) + 1] + y[len(moves) + 1 :] - 2 * y[0]) / step**2
        packed = second.new_empty(len(i))
        packed[i == j] = second[:d]
        packed[i != j] = (second[d:] - second[i[i != j]] - second[j[i != j]]) / 2
        found.append(packed)
    return torch.stack(found)


def dimension(rows: Tensor, tail: float) -> int | None:
    """The dimension that rows span: the first m whose S_m / S_{m+1} is convincing and S_{m+1} as low as the `tail`.

    A convincing ratio is not far below the largest. All dimensions where the last S is high above the tail; None where
    nothing convinces.
    """
    s = torch.linalg.svdvals(rows)
    ratios = s[:-1] / s[1:].clamp(min=float(s[0]) * 1e-10 + 1e-300)
    least = max(CONVINCING, float(ratios.max()) / RIVAL) if len(ratios) else CONVINCING
    gaps = ((ratios >= least) & (s[1:] <= tail)).nonzero()
    m = int(gaps[0]) + 1 if len(gaps) else rows.shape[1]
    if not len(gaps) and not float(s[-1]) > CONVINCING * tail:
        return None
    return m if len(rows) >= SPARE * m + MARGIN else None
