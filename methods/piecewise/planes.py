"""Gradients of the pieces along lines, and with them the plane that every kink lies on.

    (1)  g = ((f(x_c + h e_i) - f(x_c)) / h)_i,   h = η times the length of the piece, x_c its middle,

is exact but for rounding as long as no plane lies between: it has to be the slope along the line,

    (2)  |⟨g, d⟩ - slope| ≤ 20 ε ‖d‖ + 20 ν / length,   ν = 4 ulp G (1 + |t|),   ε = ν / h,

or η goes down. Over a kink the gradient changes by α n, n the unit normal of its plane and α what its neuron sends on:

    (3)  v = g_after - g_before = α nᵀ,   n oriented by ⟨n, d⟩ > 0,   b = -⟨n, x⟩,

for one output by length and sign of v, for more by its first singular vectors. How sure a plane is is told by

    (4)  s = (ε_before + ε_after) √D / ‖v‖.

Where n is known already, the jump of the slope along the line is enough for the gradient behind the kink,

    (5)  g_after = g_before + (slope_after - slope_before) nᵀ / ⟨n, d⟩.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.line_kinks import Array, Flags, Places, Values, Walk

STEP, LEAST_STEP, SHRINK = 0.03, 1e-5, 8.0  # η
AGREES, ON_LINE = 20.0, 40.0
GRAZING = 1e-3  # of |⟨n, d⟩|: what is less does not tell a gradient


class Gradients(NamedTuple):
    """Of every piece: its middle, value and gradient (pieces, outputs, inputs), how exact that is, whether (2) held."""

    x: Array
    f: Array
    g: Array
    error: Array
    good: Flags

    def joined(self, other: Gradients) -> Gradients:
        """Both."""
        x, f, g, error = (np.concatenate(pair) for pair in zip(self[:4], other[:4], strict=True))
        return Gradients(x, f, g, error, np.concatenate([self.good, other.good]))


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

    def joined(self, other: Planes) -> Planes:
        """Both."""
        n, b, alpha, x, unsure = (np.concatenate(pair) for pair in zip(self[:5], other[:5], strict=True))
        return Planes(n, b, alpha, x, unsure, np.concatenate([self.good, other.good]))


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


def gradients(f: Values, walk: Walk, normals: Array | None = None) -> Gradients:
    """(1) for every piece, D + 1 values each; steps shrink until (2) holds.

    `normals` (kinks, inputs) are those of known planes, nan elsewhere: pieces that are linked by them are asked for
    one gradient, the others follow by (5).
    """
    t, length = middles(walk)
    linked, along = links(walk, normals)
    group = np.cumsum(np.concatenate([[True], ~linked])[: len(t)])
    order = np.lexsort((-length / (1 + np.abs(t)), group))
    asked = order[np.diff(group[order], prepend=0) > 0]
    x, value = walk.lines.at(t, walk.pieces.line), line_values(walk, t)
    found = asked_gradients(f, walk, asked, t[asked], length[asked])
    value[asked] = found.f
    if len(asked) == len(t):
        return Gradients(x, value, found.g, found.error, found.good)
    start = group - 1
    error = np.cumsum(np.concatenate([[0.0], walk.precision.ulps(t[1:]) * inexactness(walk, along, linked)]))
    g = np.cumsum(np.concatenate([np.zeros((1, *found.g.shape[1:])), carried(walk, along, linked)]), axis=0)
    return Gradients(
        x,
        value,
        found.g[start] + g - g[asked][start],
        found.error[start] + np.abs(error - error[asked][start]),
        found.good[start],
    )


def links(walk: Walk, normals: Array | None) -> tuple[Flags, Array]:
    """Which pieces are linked to the one before them by a known plane, and its n / ⟨n, d⟩ (pieces - 1, inputs)."""
    count, inputs = len(walk.pieces.line), walk.lines.direction.shape[1]
    linked, along = np.zeros(max(count - 1, 0), dtype=bool), np.zeros((max(count - 1, 0), inputs))
    if normals is not None and len(walk.after):
        d = walk.lines.direction[walk.pieces.line[walk.after]]
        towards = np.einsum("ki,ki->k", normals, d)
        known = np.abs(towards) > GRAZING * np.linalg.norm(d, axis=1) / np.sqrt(inputs)  # false for nan
        linked[walk.after[known]] = True
        along[walk.after[known]] = normals[known] / towards[known, None]
    return linked, along


def carried(walk: Walk, along: Array, linked: Flags) -> Array:
    """(5) from every piece to the next, 0 where they are not linked."""
    jumps = np.diff(walk.pieces.slope, axis=0) * linked[:, None]
    return np.asarray(jumps[:, :, None] * along[:, None], dtype=np.float64)


def inexactness(walk: Walk, along: Array, linked: Flags) -> Array:
    """By how much (5) adds to the error of a gradient, in that of a value."""
    run = walk.seen.t[walk.pieces.last] - walk.seen.t[walk.pieces.first]
    return np.linalg.norm(along, axis=1) * linked * (1 / run[1:] + 1 / run[:-1])


def line_values(walk: Walk, t: Array) -> Array:
    """The values on the lines of all pieces, from their nearer ends."""
    pieces, seen = walk.pieces, walk.seen
    nearer = np.where(t - seen.t[pieces.first] < seen.t[pieces.last] - t, pieces.first, pieces.last)
    return np.asarray(seen.f[nearer] + pieces.slope * (t - seen.t[nearer])[:, None], dtype=np.float64)


def asked_gradients(f: Values, walk: Walk, which: Places, t: Array, length: Array) -> Gradients:
    """(1) for some of the pieces."""
    pieces, seen = walk.pieces, walk.seen
    x, d = walk.lines.at(t, pieces.line[which]), walk.lines.direction[pieces.line[which]]
    value, slope = f(x), pieces.slope[which]
    middle = np.zeros(len(pieces.line))
    middle[which] = t
    straight = np.abs(value - line_values(walk, middle)[which]).max(1) <= ON_LINE * walk.precision(t)
    noise = walk.precision.ulps(t)
    run = (seen.t[pieces.last] - seen.t[pieces.first])[which]
    g, error = np.full((*value.shape, x.shape[1]), np.nan), np.full(len(t), np.inf)
    good, todo, step = np.zeros(len(t), dtype=bool), np.arange(len(t)), STEP
    while len(todo) and step >= LEAST_STEP:
        h = step * length[todo]
        found = differences(f, x[todo], value[todo], h)
        inexact = noise[todo] / h
        off = np.abs(np.einsum("poi,pi->po", found, d[todo]) - slope[todo]).max(1)
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
    size = np.maximum(np.linalg.norm(alpha, axis=1), np.finfo(np.float64).tiny)
    unsure = (along.error[before] + along.error[after]) * np.sqrt(n.shape[1]) / size
    return Planes(n, -np.einsum("ki,ki->k", n, x), alpha, x, unsure, along.good[before] & along.good[after])


def factors(v: Array) -> tuple[Array, Array]:
    """Unit n and α with v ≈ α nᵀ: (kinks, inputs) and (kinks, outputs)."""
    if v.shape[1] == 1:
        length = np.linalg.norm(v[:, 0], axis=1)
        return v[:, 0] / np.where(length > 0, length, 1)[:, None], length[:, None]
    n = np.linalg.svd(v, full_matrices=False)[2][:, 0]
    return n, np.einsum("koi,ki->ko", v, n)
