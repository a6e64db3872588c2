"""The layers that are known so far, and what they say of inputs without any query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.line_kinks import Array, Flags


class Layer(NamedTuple):
    """Rows h ↦ w h + b, of any sign until those are found."""

    w: Array  # (width, units below)
    b: Array

    def __call__(self, h: Array) -> Array:
        """Pre-activations."""
        return h @ self.w.T + self.b


@dataclass(frozen=True)
class Known:
    """h_l = max(0, w_l h_{l-1} + b_l) over `inputs` inputs."""

    inputs: int
    layers: tuple[Layer, ...] = ()

    @property
    def units(self) -> int:
        """Those of the last known layer, or the inputs."""
        return len(self.layers[-1].b) if self.layers else self.inputs

    def above(self, layer: Layer) -> Known:
        """With one more."""
        return Known(self.inputs, (*self.layers, layer))

    def preactivations(self, x: Array) -> list[Array]:
        """Of every known layer."""
        h, every = x, list[Array]()
        for layer in self.layers:
            every.append(layer(h))
            h = np.maximum(every[-1], 0)
        return every

    def hidden(self, x: Array) -> Array:
        """What the next layer sees, (points, units)."""
        return np.maximum(self.preactivations(x)[-1], 0) if self.layers else x

    def nearest(self, x: Array) -> Array:
        """The least |pre-activation| of a known unit, (points,)."""
        return np.abs(np.hstack([np.full((len(x), 1), np.inf), *self.preactivations(x)])).min(1)

    def pattern(self, x: Array) -> Flags:
        """Which known units are active, (points, all units)."""
        return np.hstack([np.zeros((len(x), 0)), *self.preactivations(x)]) > 0

    def slopes(self, x: Array) -> Array:
        """∂h/∂x, (points, units, inputs)."""
        slope = np.broadcast_to(np.eye(self.inputs), (len(x), self.inputs, self.inputs))
        for layer, z in zip(self.layers, self.preactivations(x), strict=True):
            slope = (z > 0)[:, :, None] * (layer.w @ slope)
        return slope

    def pulled(self, x: Array, v: Array) -> Array:
        """∇⟨v, h⟩ at points, with a `v` for each."""
        for layer, z in zip(self.layers[::-1], self.preactivations(x)[::-1], strict=True):
            v = (v * (z > 0)) @ layer.w
        return v

    def active(self, x: Array) -> Flags:
        """Which units of the last known layer are active; inputs always are."""
        return np.asarray(self.preactivations(x)[-1] > 0 if self.layers else np.ones(x.shape), dtype=bool)
