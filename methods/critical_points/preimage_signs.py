"""Which way each neuron of a layer looks, where any pre-activations can be had: by preimages.

With x_0 a preimage of (0, …, 0) and x_k^± of ±10 in coordinate k,

    (1)  the side that leaves f as it is at x_0 is the inactive one: + if |f(x_k^-) - f(x_0)| < |f(x_k^+) - f(x_0)|.

1 + 2 m values. Preimages are found backwards by least squares, non-negative at hidden layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramid.methods.critical_points.known_layers import Known, Layer
    from paramid.methods.piecewise.line_kinks import Array, Values

ASIDE, OFF = 10.0, 1e-5


def applies(inputs: int, widths: Sequence[int], layer: int) -> bool:
    """Whether the layer with that place among the hidden ones is contractive, with all below it."""
    if layer == 0:
        return widths[0] <= inputs
    below = (inputs, *widths)
    return widths[0] <= inputs and all(2 * below[j + 1] <= below[j] for j in range(1, len(widths)))


def signs(f: Values, known: Known, rows: Layer) -> Array | None:
    """±1 for each row by (1), or None where 0 has no preimage."""
    m = len(rows.b)
    wanted = np.concatenate([np.zeros((1, m)), ASIDE * np.eye(m), -ASIDE * np.eye(m)])
    x = np.array([preimage(known, rows, z) for z in wanted])
    if np.abs(rows(known.hidden(x[:1]))).max() > OFF:
        return None
    y = f(x)[:, 0]
    up, down = np.abs(y[1 : m + 1] - y[0]), np.abs(y[m + 1 :] - y[0])
    return np.where(down < up, 1.0, -1.0)


def preimage(known: Known, rows: Layer, z: Array) -> Array:
    """An input with those pre-activations, or near them."""
    for layer, below in zip((rows, *known.layers[::-1]), range(len(known.layers), -1, -1), strict=True):
        wanted = z - layer.b
        z = np.asarray(nnls(layer.w, wanted)[0] if below else np.linalg.lstsq(layer.w, wanted, rcond=None)[0])
    return z
