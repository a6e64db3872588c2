"""The weights of the neuron that switches at a critical point x, up to a factor of either sign, by second differences.

With ε' = ε/3 and f = linear + c max(0, ⟨w, ·⟩) beside x,

    (1)  v(d) = [f(x + (ε - ε')d) - f(x + εd) + f(x - (ε - ε')d) - f(x - εd)] / ε = -(c/3) |⟨w, d⟩|,

one factor and sign for all d. The signs of ⟨w, d⟩ against that for d_0 are told by v' = v((d + d_0)/2):

    (2)  |v'| = |v(d_0) + v(d)| / 2 where they are equal, |v(d_0) - v(d)| / 2 where they are opposite.

Directions d are two more than the neuron sees active units below, of entries ±1; H, their images in the layer's input,
gives H w = v by least squares. Weights of inactive units stay unknown (NaN). 8 (n + 2) - 4 values a step size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from paramid.methods.critical_points.known_layers import Known
    from paramid.methods.piecewise.line_kinks import Array, Values

SMALLER = (1.0, 0.1, 0.01)  # times the step, where the one before does not hold
UNPAIRED = 1e-4  # of (2), at most
CUTOFF = 1e-5  # of singular values of H


def signature(f: Values, known: Known, x: Array, step: float, source: np.random.Generator) -> Array | None:
    """The row of the neuron that switches at `x`, (units,), or None where (2) holds with no step."""
    slope, active = known.slopes(x[None])[0], known.active(x[None])[0]
    for smaller in SMALLER:
        d = source.choice([-1.0, 1.0], (int(active.sum()) + 2, known.inputs))
        v = paired(bends(f, x, np.concatenate([d, (d[1:] + d[0]) / 2]), smaller * step))
        if v is not None:
            row = np.full(known.units, np.nan)
            row[active] = np.linalg.lstsq(d @ slope[active].T, v, rcond=CUTOFF)[0]
            return row
    return None


def bends(f: Values, x: Array, d: Array, step: float) -> Array:
    """(1) for directions (n, inputs)."""
    places = np.array([2 / 3, 1, -2 / 3, -1]) * step
    y = f((x + places[:, None, None] * d).reshape(-1, len(x)))[:, 0].reshape(4, len(d))
    return np.asarray((y[0] - y[1] + y[2] - y[3]) / step)


def paired(v: Array) -> Array | None:
    """Values of (1) at directions and then at those of (2), with their signs; None where neither fits."""
    count = len(v) // 2 + 1
    first, others, halves = v[0], v[1:count], np.abs(v[count:])
    equal = np.abs(np.abs(first + others) / 2 - halves)
    opposite = np.abs(np.abs(first - others) / 2 - halves)
    if np.any(np.minimum(equal, opposite) > UNPAIRED):
        return None
    return np.concatenate([[first], np.where(equal < opposite, others, -others)])
