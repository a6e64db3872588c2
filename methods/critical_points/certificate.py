"""Fresh values must be those of the network that was found. The papers have no such check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramid import GiveUp

if TYPE_CHECKING:
    from paramid.methods.critical_points.known_layers import Known
    from paramid.methods.piecewise.line_kinks import Values

POINTS, SIZES = 100, (1.0, 10.0)
AGREES = 1e-6  # of the largest value


def certain(f: Values, found: Known, source: np.random.Generator) -> None:
    """Give up where values of a network, its output layer included, are not those of f."""
    for size in SIZES:
        x = size * source.standard_normal((POINTS, found.inputs))
        y = f(x)[:, 0]
        off = np.abs(found.preactivations(x)[-1][:, 0] - y).max() / max(float(np.abs(y).max()), 1e-300)
        if not off < AGREES:
            raise GiveUp(f"fresh values differ by {off:.1e} of the largest from those of the network that was found")
