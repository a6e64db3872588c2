"""Walks along the boundary {f = 0} in random planes of two dimensions, where it is made of straight pieces.

A walker is at y, heads for d, has the positive side on its left, along n, and goes on as long as

    (1)  f > 0 at y + τ d + δ n and f ≤ 0 at y + τ d - δ n,   δ = 1e-9 (η + τ):

that holds up to where a neuron switches and the boundary bends, and is found by doubling τ and by halving. Around a
bend the boundary leaves a small circle of radius η where it came in and at one other angle, which is halved in,

    (2)  f(y + η (cos φ d + sin φ n)) > 0 for φ above it, ≤ 0 below,

and once more at 2 η; through the two points it goes on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.decisions import boundary
from paramid.methods.decisions.boundary import Decide
from paramid.methods.piecewise.line_kinks import Array, Flags, Places

RADIUS, FINE = 1e-4, 1e-9  # η, δ
DOUBLINGS, HALVINGS, TURNS = 24, 34, 48
GAP, AIM = 1e-3, 0.02  # angles: from where the boundary came in; around where the circle was left
LEAST = 1e-6  # a turn that is less is none
AHEAD = 1.0  # where a piece without an end is looked at


class Slices(NamedTuple):
    """Planes x = origin + y_0 u + y_1 v."""

    origin: Array
    u: Array
    v: Array

    def at(self, y: Array) -> Array:
        """Points of them, a row each."""
        return np.asarray(self.origin + self.lifted(y))

    def lifted(self, y: Array) -> Array:
        """Directions in them."""
        return np.asarray(y[:, :1] * self.u + y[:, 1:] * self.v)

    def some(self, which: Places | Flags) -> Slices:
        """Some of them."""
        return Slices(self.origin[which], self.u[which], self.v[which])


class Pieces(NamedTuple):
    """Straight pieces: whose and which of its, ends, a point and a direction across, length; whether an end was met."""

    walker: Places
    step: Places
    first: Array
    last: Array
    x: Array
    across: Array
    length: Array
    ended: Flags

    def joined(self, other: Pieces) -> Pieces:
        """With those of further walkers."""
        other = other._replace(walker=other.walker + 1 + self.walker.max(initial=-1))
        return Pieces(*(np.concatenate(parts) for parts in zip(self, other, strict=True)))


def walks(decide: Decide, x: Array, towards: Array, steps: int, source: np.random.Generator) -> Pieces:
    """Two walkers from every point of the boundary, in opposite directions of one random plane."""
    v = source.standard_normal(x.shape)
    v -= np.einsum("kd,kd->k", v, towards)[:, None] * towards
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    slices = Slices(np.vstack([x, x]), np.vstack([towards, towards]), np.vstack([v, -v]))
    walker, found = np.arange(len(slices.u)), [nothing(x.shape[1])]
    y, d = np.zeros((len(walker), 2)), np.tile([1.0, 0.0], (len(walker), 1))
    low, high = -np.pi, 0.0
    for step in range(steps):
        y, d, going = left(decide, slices, y, d, low, high)
        y, d, slices, walker = y[going], d[going], slices.some(going), walker[going]
        if not len(walker):
            break
        tau, ended = straight(decide, slices, y, d)
        found.append(piece(decide, slices, y, d, tau, ended, walker, step))
        y, d, slices, walker = (y + tau[:, None] * d)[ended], d[ended], slices.some(ended), walker[ended]
        low, high = GAP - np.pi, np.pi - GAP
    return Pieces(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def nothing(d: int) -> Pieces:
    """No pieces."""
    none, points = np.zeros(0, np.intp), np.zeros((0, d))
    return Pieces(none, none, points, points, points, points, np.zeros(0), np.zeros(0, bool))


def rotated(d: Array, angle: Array) -> Array:
    """Directions turned to the left."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * d[:, 0] - s * d[:, 1], s * d[:, 0] + c * d[:, 1]], 1)


def leftwards(d: Array) -> Array:
    """The n of (1)."""
    return np.stack([-d[:, 1], d[:, 0]], 1)


def left(decide: Decide, slices: Slices, y: Array, d: Array, low: float, high: float) -> tuple[Array, Array, Flags]:
    """(2): a point beyond each bend, the direction there, and whether there is any."""
    ends = np.full(len(y), low), np.full(len(y), high)
    angle, good = circled(decide, slices, y, d, RADIUS, *ends)
    again, still = circled(decide, slices, y, d, 2 * RADIUS, angle - AIM, angle + AIM)
    near, far = (y + r * rotated(d, at) * RADIUS for r, at in ((1, angle), (2, again)))
    ahead = far - near
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    turned = np.abs(ahead[:, 0] * d[:, 1] - ahead[:, 1] * d[:, 0]) > LEAST
    return near, ahead, good & still & turned


def circled(
    decide: Decide, slices: Slices, y: Array, d: Array, radius: float, low: Array, high: Array
) -> tuple[Array, Flags]:
    """The angles at which the boundary leaves circles, and whether it does between these."""

    def positive(angle: Array) -> Flags:
        return decide(slices.at(y + radius * rotated(d, angle)))

    good = positive(high) & ~positive(low)
    for _ in range(TURNS):
        middle = (low + high) / 2
        above = positive(middle)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2, good


def straight(decide: Decide, slices: Slices, y: Array, d: Array) -> tuple[Array, Flags]:
    """How far (1) holds, and whether that is not as far as was looked."""
    low, high = np.zeros(len(y)), np.full(len(y), RADIUS)
    going = np.ones(len(y), bool)
    for _ in range(DOUBLINGS):
        which = np.flatnonzero(going)
        holds = follows(decide, slices.some(which), y[which], d[which], high[which])
        going[which] = holds
        low[which[holds]], high[which[holds]] = high[which[holds]], 2 * high[which[holds]]
    which = np.flatnonzero(~going)
    for _ in range(HALVINGS):
        middle = (low[which] + high[which]) / 2
        holds = follows(decide, slices.some(which), y[which], d[which], middle)
        low[which], high[which] = np.where(holds, middle, low[which]), np.where(holds, high[which], middle)
    return low, ~going & (low > RADIUS)


def follows(decide: Decide, slices: Slices, y: Array, d: Array, tau: Array) -> Flags:
    """(1)."""
    x = slices.at(y + tau[:, None] * d)
    return boundary.crosses(decide, x, slices.lifted(leftwards(d)), FINE * (RADIUS + tau))


def piece(
    decide: Decide, slices: Slices, y: Array, d: Array, tau: Array, ended: Flags, walker: Places, step: int
) -> Pieces:
    """What is kept of a step: the point is half-way, and on the boundary to the last bit."""
    across = slices.lifted(leftwards(d))
    half = np.where(ended, tau / 2, np.minimum(tau / 2, AHEAD))
    x, off = slices.at(y + half[:, None] * d), (FINE * (RADIUS + half))[:, None] * across
    x = boundary.halved(decide, x - off, x + off)
    last = slices.at(y + tau[:, None] * d)
    return Pieces(walker, np.full(len(y), step), slices.at(y), last, x, across, 2 * half, ended)
