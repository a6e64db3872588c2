"""The output layer by least squares on inputs that were asked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramid.methods.critical_points.known_layers import Layer
from paramid.methods.piecewise.line_kinks import Array

if TYPE_CHECKING:
    from paramid.methods.critical_points.known_layers import Known
    from paramid.methods.piecewise.line_kinks import Values

MANY = 500  # calls, before their rows are put together


class Asked:
    """The oracle, and a random choice of the rows that it was asked."""

    def __init__(self, f: Values, kept: int, source: np.random.Generator) -> None:
        self.f, self.kept, self.source = f, kept, source
        self._rows = list[Array]()

    def __call__(self, x: Array) -> Array:
        """The values, (points, outputs)."""
        y = self.f(x)
        self._rows.append(np.hstack([self.source.random((len(x), 1)), x, y[:, :1]]))
        if len(self._rows) > MANY:
            self._rows = [self.lowest(self.kept)]
        return y

    def lowest(self, count: int) -> Array:
        """At most that many rows of the lowest ranks, which were drawn when they came."""
        every = np.concatenate(self._rows)
        return every[np.argsort(every[:, 0])[:count]]

    def stored(self, count: int) -> Array:
        """At most that many rows [x, f(x)]."""
        return self.lowest(count)[:, 1:]


def output_layer(f: Values, known: Known, x: Array) -> Layer:
    """The weights u and c of f = u h + c, every row weighted by how well its value is known."""
    columns = np.hstack([known.hidden(x), np.ones((len(x), 1))])
    weight = 1 / (1 + np.linalg.norm(x, axis=1))
    columns *= weight[:, None]
    scale = np.maximum(np.abs(columns).max(0), 1e-300)
    found = np.linalg.lstsq(columns / scale, f(x)[:, 0] * weight, rcond=None)[0] / scale
    return Layer(found[None, :-1], found[-1:])
