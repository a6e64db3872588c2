"""Hidden layers that are known, from the inputs up: an affine function of x wherever their pattern of activity is one.

    (1)  h_l = max(0, W_l h_{l-1} + b_l),   h_l = A(x) x + a(x) near x, with A's rows 0 for inactive neurons,

and the next layer's preactivations are q = W h_l + b there, with gradients W A. Each row of W is known up to a factor
until its layer is oriented (`orientation`), and some entries may never have been seen: a point where an active neuron
meets an unseen entry is *vague* for that row, and for everything above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.line_kinks import Array, Flags, Places

FLAT = 1e-9  # a gradient that is shorter is none


class Rows(NamedTuple):
    """The neurons of a layer: weights on the layer below (neurons, below), biases, and which weights were seen."""

    w: Array
    b: Array
    seen: Flags

    def at(self, which: Places | Flags) -> Rows:
        """Some of them."""
        return Rows(self.w[which], self.b[which], self.seen[which])

    def turned(self, signs: Array) -> Rows:
        """With a factor for each."""
        return Rows(self.w * signs[:, None], self.b * signs, self.seen)


class Local(NamedTuple):
    """(1) near points: A (points, neurons, inputs), a (points, neurons), who is active, and what is vague."""

    slope: Array
    offset: Array
    active: Flags
    vague: Flags  # (points,)


class Preactivations(NamedTuple):
    """Of rows at points: values and gradients' lengths (points, rows), gradients, and what is vague."""

    q: Array
    gradient: Array
    length: Array
    vague: Flags  # (points, rows)

    def distance(self) -> Array:
        """How far away q = 0 is, as far as this pattern goes: infinitely where it is vague."""
        far = np.abs(self.q) / np.maximum(self.length, FLAT)
        return np.where(self.vague | (self.length < FLAT), np.inf, far)


@dataclass(frozen=True)
class Stack:
    """The hidden layers that are known and oriented."""

    inputs: int
    layers: tuple[Rows, ...] = ()

    def with_layer(self, rows: Rows) -> Stack:
        """One more."""
        return Stack(self.inputs, (*self.layers, rows))

    @property
    def width(self) -> int:
        """Of the last of them."""
        return len(self.layers[-1].b) if self.layers else self.inputs

    def __call__(self, x: Array) -> Array:
        """The last layer's h."""
        for rows in self.layers:
            x = np.maximum(x @ rows.w.T + rows.b, 0)
        return x

    def local(self, x: Array) -> Local:
        """(1) near points."""
        count, inputs = x.shape
        slope = np.broadcast_to(np.eye(inputs), (count, inputs, inputs))
        here = Local(slope, np.zeros((count, inputs)), np.ones((count, inputs), bool), np.zeros(count, bool))
        for rows in self.layers:
            z = preactivations(here, rows, x)
            active = z.q > 0
            offset = (here.offset @ rows.w.T + rows.b) * active
            here = Local(z.gradient * active[:, :, None], offset, active, np.any(z.vague, axis=1))
        return here

    def rows(self, rows: Rows, x: Array) -> Preactivations:
        """Those of the next layer."""
        return preactivations(self.local(x), rows, x)


def preactivations(below: Local, rows: Rows, x: Array) -> Preactivations:
    """Of rows near points, from the layer below: q = W h + b."""
    gradient = np.matmul(rows.w, below.slope)
    q = np.einsum("krd,kd->kr", gradient, x) + below.offset @ rows.w.T + rows.b
    met = below.active.astype(np.float64) @ (~rows.seen.T).astype(np.float64) > 0
    return Preactivations(q, gradient, np.linalg.norm(gradient, axis=2), met | below.vague[:, None])


def size(x: Array) -> Array:
    """1 + ‖x‖ / √D: by what values' errors grow."""
    return np.asarray(1 + np.sqrt(np.square(x).mean(1)), dtype=np.float64)


def normals(stack: Stack, top: Rows | None, x: Array) -> Array:
    """The unit normals of known planes that go through the points, nan where none does; `top` is not oriented."""
    found = np.full(x.shape, np.nan)
    layers = stack.layers if top is None or not len(top.b) else (*stack.layers, top)
    for depth, rows in enumerate(layers):
        z = Stack(stack.inputs, layers[:depth]).rows(rows, x)
        off = z.distance() / size(x)[:, None]
        nearest = off.argmin(1)
        each = np.arange(len(x))
        hit = (off[each, nearest] < ON_PLANE) & np.isnan(found[:, 0])
        found[hit] = z.gradient[hit, nearest[hit]] / z.length[hit, nearest[hit], None]
    return found


ON_PLANE = 1e-7  # of a point's size
