"""Points of the boundary {f = 0} to the last bit, and the plane it lies on near them, from decisions alone.

Between inputs of opposite decisions the boundary is halved in until its place is a rounding. Near a point x of it where
no neuron switches it is a plane: with N across it and e_1, …, e_{D-1} orthogonal to N,

    (1)  x + h e_i + s_i N on the boundary,   g ∝ N - Σ_i (s_i / h) e_i,   c = -⟨g, x⟩,   ‖g‖ = 1,

is known but for rounding over h. That no neuron switches between those points is told by their images,

    (2)  x - h e_i - s_i N on the boundary,

which are asked for on either side of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paramid.methods.piecewise.line_kinks import EPS, Array, Flags

Decide = Callable[[Array], Flags]  # (rows, inputs) -> whether f > 0
WIDEST, WIDER = 4, 4.0  # how often a bracket is widened, and by how much
BESIDE = 1e-6  # of h: how far on either side of (2) is asked


def halved(decide: Decide, low: Array, high: Array) -> Array:
    """The points of the boundary between those where f ≤ 0 and those where f > 0."""
    size = float(np.abs(np.stack([low, high])).max(initial=1.0))
    for _ in range(int(np.ceil(np.log2(max(2.0, float(np.abs(high - low).max(initial=0)) / (EPS * size))))) + 1):
        middle = (low + high) / 2
        positive = decide(middle)[:, None]
        low, high = np.where(positive, low, middle), np.where(positive, middle, high)
    return np.asarray((low + high) / 2)


def tangent_planes(decide: Decide, x: Array, across: Array, h: Array, source: np.random.Generator) -> Array:
    """(g, c) of (1) at points of the boundary, (points, inputs + 1), g towards f > 0; nan where (2) does not hold."""
    count, d = x.shape
    frame = np.linalg.qr(np.concatenate([across[:, :, None], source.standard_normal((count, d, d - 1))], axis=2))[0]
    aside = frame.transpose(0, 2, 1)[:, 1:]  # (points, d - 1, d)
    start = (x[:, None] + h[:, None, None] * aside).reshape(-1, d)
    normal, width = np.repeat(across, d - 1, 0), np.repeat(h, d - 1)
    good = np.zeros(len(start), bool)
    for _ in range(WIDEST):
        todo = np.flatnonzero(~good)
        good[todo] = crosses(decide, start[todo], normal[todo], width[todo])
        width[~good] *= WIDER
    width = np.where(good, width, 0.0)[:, None]
    found = halved(decide, start - width * normal, start + width * normal)
    image = np.repeat(2 * x, d - 1, 0) - found
    good &= crosses(decide, image, normal, BESIDE * np.repeat(h, d - 1))
    s = np.einsum("kd,kd->k", found - start, normal).reshape(count, d - 1)
    g = across - np.einsum("ki,kid->kd", s / h[:, None], aside)
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    planes = np.hstack([g, -np.einsum("kd,kd->k", g, x)[:, None]])
    planes[~good.reshape(count, d - 1).all(1)] = np.nan
    return planes


def crosses(decide: Decide, x: Array, across: Array, width: Array) -> Flags:
    """Whether f ≤ 0 on one side and f > 0 on the other."""
    off = width[:, None] * across
    positive = decide(np.concatenate([x + off, x - off]))
    return np.asarray(positive[: len(x)] & ~positive[len(x) :])
