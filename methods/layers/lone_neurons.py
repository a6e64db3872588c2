"""The direction of a neuron that is at work alone, from exact values and about as many of them as it has weights.

Where all others stand still f(x) = F(⟨w, x⟩) of unit w, whatever F is. With c the common direction of the outputs'
differences, φ = ⟨c, F⟩ and u the normalised differences themselves, at a place x

    (1)  d_i = ⟨c, f(x + h e_i) - f(x)⟩ = h φ' w_i + h²/2 φ'' w_i²,   φ', φ'' from f(x ± h u),

is solved for w_i, to order h². That the neuron is alone is seen aside of it, more sharply than from any rank:

    (2)  impurity = max |f(x + δ) - f(x)| / (|δ| |F'|),   δ ⟂ w.
"""

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans.output_differences import Values, asked

STEP = 3e-4  # h of (1)
PROBES = 2  # δ of (2), of length 1
TINY = 1e-300


def lone(f: Values, x: Tensor, run: Run, *, pure: float) -> tuple[Tensor, Tensor]:
    """Unit w and impurity at the rows of `x` where that is below `pure`, (found, D) and (found,)."""
    if not len(x):
        return x, x[:, 0]
    w, slope, here = ridges(f, x)
    impurity = aside(f, x, w, here, run) / slope
    return w[impurity < pure], impurity[impurity < pure]


def ridges(f: Values, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Unit w by (1), (rows, D), |F'|, (rows,), and f at every row of `x`, by D + 3 queries each."""
    e = STEP * torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
    here, moved = asked(f, x, torch.cat([0 * e[:1], e])).split([1, len(e)], dim=1)
    u, s, vt = torch.linalg.svd(moved - here, full_matrices=False)
    d, c = s[:, :1] * u[:, :, 0], vt[:, 0, :, None]
    up, down = (f(x + side * u[:, :, 0])[:, None] for side in (STEP, -STEP))
    first, second = ((up - down) @ c)[:, 0] / 2, ((up + down - 2 * here) @ c)[:, 0]
    w = unit(2 * d / (first + first.sign() * (first.square() + 2 * second * d).clamp(min=0).sqrt() + TINY))
    return w, ((up - down)[:, 0].norm(dim=1) / (2 * STEP)).clamp(min=TINY), here[:, 0]


def aside(f: Values, x: Tensor, w: Tensor, here: Tensor, run: Run) -> Tensor:
    """How much f changes from `here` (rows, outputs) at the rows of `x` to some places across those of `w`, (rows,)."""
    delta = run.normal(len(x) * PROBES, x.shape[1]).view(len(x), PROBES, -1)
    delta = unit(delta - (delta @ w[:, :, None]) * w[:, None])
    there = f((x[:, None] + delta).flatten(0, 1)).unflatten(0, (len(x), PROBES))
    return (there - here[:, None]).norm(dim=2).amax(1)


def unit(v: Tensor) -> Tensor:
    """`v` over its length, along the last dimension."""
    return v / v.norm(dim=-1, keepdim=True).clamp(min=TINY)
