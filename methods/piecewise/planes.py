"""Gradients of the pieces along lines, and with them the plane that every kink lies on.

    (1)  g = ((f(x_c + h e_i) - f(x_c)) / h)_i,   h = η times the length of the piece, x_c its middle,

is exact but for rounding as long as no plane lies between: it has to be the slope along the line,

    (2)  |⟨g, d⟩ - slope| ≤ 20 ε ‖d‖ + 20 ν / length,   ν = 4 ulp G (1 + |t|),   ε = ν / h,

or η goes down. Over a kink the gradient changes by α n, n the unit normal of its plane and α what its neuron sends on:

    (3)  v = g_after - g_before = α nᵀ,   n oriented by ⟨n, d⟩ > 0,   b = -⟨n, x⟩,

for one output by length and sign of v, for more by its first singular vectors. How sure a plane is is told by

    (4)  s = (ε_before + ε_after) √D / ‖v‖.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.line_kinks import EPS, Array, Flags, Places, Values, Walk

STEP, LEAST_STEP, SHRINK = 0.03, 1e-5, 8.0  # η
ULPS, AGREES, ON_LINE = 4.0, 20.0, 40.0


class Gradients(NamedTuple):
    """Of every piece: its middle, value and gradient (pieces, outputs, inputs), how exact that is, whether (2) held."""

    x: Array
    f: Array
    g: Array
    error: Array
    good: Flags


class Planes(NamedTuple):
    """Of every kink: unit normal, offset and α (kinks, outputs) of (3), the point itself, (4), and whether (2) held."""

    n: Array
    b: Array
    alpha: Array
    x: Array
    unsure: Array
    good: Flags

    def at(self, which: Places | Flags) -> Planes:
        """Some of them."""
        unsure, good = self.unsure[which], self.good[which]
        return Planes(self.n[which], self.b[which], self.alpha[which], self.x[which], unsure, good)


def middles(walk: Walk) -> tuple[Array, Array]:
    """The middle of every piece and its length; one without an end counts as long as its kink is far away."""
    pieces, seen = walk.pieces, walk.seen
    low, high = np.full(len(pieces.line), -np.inf), np.full(len(pieces.line), np.inf)
    high[walk.after], low[walk.after + 1] = walk.t, walk.t
    first, last = seen.t[pieces.first], seen.t[pieces.last]
    a, b = np.where(np.isfinite(low), low, first), np.where(np.isfinite(high), high, last)
    most = np.minimum(b - a, 1 + np.abs(np.where(np.isfinite(low), a, b)))
    a = np.where(~np.isfinite(low) & np.isfinite(high), b - most, a)
    b = np.where(np.isfinite(low) & ~np.isfinite(high), a + most, b)
    return (a + b) / 2, b - a


def gradients(f: Values, walk: Walk) -> Gradients:
    """(1) for every piece, D + 1 values each; steps shrink until (2) holds."""
    pieces, seen, lines = walk.pieces, walk.seen, walk.lines
    t, length = middles(walk)
    x, d = lines.at(t, pieces.line), lines.direction[pieces.line]
    value = f(x)
    nearer = np.where(t - seen.t[pieces.first] < seen.t[pieces.last] - t, pieces.first, pieces.last)
    expected = seen.f[nearer] + pieces.slope * (t - seen.t[nearer])[:, None]
    straight = np.abs(value - expected).max(1) <= ON_LINE * walk.precision(t)
    noise = ULPS * EPS * walk.precision.size * (1 + np.abs(t)) + walk.precision.noise
    run = seen.t[pieces.last] - seen.t[pieces.first]
    g, error = np.full((*value.shape, x.shape[1]), np.nan), np.full(len(t), np.inf)
    good, todo, step = np.zeros(len(t), dtype=bool), np.arange(len(t)), STEP
    while len(todo) and step >= LEAST_STEP:
        h = step * length[todo]
        found = differences(f, x[todo], value[todo], h)
        inexact = noise[todo] / h
        off = np.abs(np.einsum("poi,pi->po", found, d[todo]) - pieces.slope[todo]).max(1)
        holds = off <= AGREES * (inexact * np.linalg.norm(d[todo], axis=1) + noise[todo] / run[todo])
        better = holds | ~np.isfinite(error[todo])
        g[todo[better]], error[todo[better]] = found[better], inexact[better]
        good[todo[holds]] = straight[todo[holds]]
        todo, step = todo[~holds], step / SHRINK
    return Gradients(x, value, g, error, good)


def differences(f: Values, x: Array, value: Array, h: Array) -> Array:
    """(1) at points with their own steps, as these are represented: (points, outputs, inputs)."""
    count, inputs = x.shape
    near = x[:, None] + h[:, None, None] * np.eye(inputs)
    steps = np.einsum("pii->pi", near - x[:, None])
    values = f(near.reshape(-1, inputs)).reshape(count, inputs, -1)
    return ((values - value[:, None]) / steps[..., None]).transpose(0, 2, 1)


def planes(walk: Walk, along: Gradients) -> Planes:
    """(3) and (4) for every kink."""
    before, after = walk.after, walk.after + 1
    v = along.g[after] - along.g[before]
    n, alpha = factors(v)
    towards = np.sign(np.einsum("ki,ki->k", n, walk.lines.direction[walk.pieces.line[before]]))
    n, alpha, x = n * towards[:, None], alpha * towards[:, None], walk.points
    unsure = (along.error[before] + along.error[after]) * np.sqrt(n.shape[1]) / np.linalg.norm(alpha, axis=1)
    return Planes(n, -np.einsum("ki,ki->k", n, x), alpha, x, unsure, along.good[before] & along.good[after])


def factors(v: Array) -> tuple[Array, Array]:
    """Unit n and α with v ≈ α nᵀ: (kinks, inputs) and (kinks, outputs)."""
    if v.shape[1] == 1:
        length = np.linalg.norm(v[:, 0], axis=1)
        return v[:, 0] / np.where(length > 0, length, 1)[:, None], length[:, None]
    n = np.linalg.svd(v, full_matrices=False)[2][:, 0]
    return n, np.einsum("koi,ki->ko", v, n)
