"""Which way each neuron of a hidden layer looks, from gradients that are at hand: no value is asked for.

In any piece the gradient of f is a combination of the local gradients Q_l of *active* neurons only,

    (1)  g ∈ span {Q_l : s_l q_l(x) > 0},

for the right signs s, which says something where that is not the whole space: there the piece *tells*. To begin with,
signs are read from the minimum-norm coefficients ψ = Q⁺ g,

    (2)  s_l = + if the mean of |ψ_l| over q_l > 0 is larger than that over q_l < 0,

which is exact for independent gradients; then single signs are turned while

    (3)  the number of telling pieces that have (1)

grows: each wrong sign halves it. (The number of pieces without (1) is no measure: signs that make more neurons active
leave fewer pieces that tell.) The climb begins where (2) says at first, where it says weighted by what it said, and at
the opposite of either; restarts turn doubtful signs.

Reference: (2) is the start of the neuron wiggle of Canales-Martínez et al., EUROCRYPT 2024.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.depth.stack import Rows, Stack
from paramid.methods.piecewise.line_kinks import Array, Flags
from paramid.methods.piecewise.planes import Gradients

MOST = 300  # telling pieces looked at
MISFIT, EXACT = 1e-5, 1e-6  # of a gradient's length: what (1) may leave; what a gradient is to be known to
RANK = 1e-9
READINGS, PLAIN, SETTLED = 50, 1e-6, 1e-3  # of (2): how often, what counts as dependent, and when it is settled
RESTARTS, SWEEPS, DOUBTFUL = 12, 8, 0.1
ENOUGH = 0.98  # of the telling pieces have (1): good enough to stop


class Oriented(NamedTuple):
    """The signs, how many pieces tell, and the share of them without (1)."""

    signs: Array
    telling: int
    misfit: float


class Pieces(NamedTuple):
    """Local gradients of the rows (pieces, rows, rank), the signs of q, gradients of f (pieces, outputs, rank)."""

    local: Array
    side: Array
    g: Array
    outside: Array  # of g, of no row at all


def oriented(stack: Stack, rows: Rows, pieces: Gradients, source: np.random.Generator) -> Oriented:
    """The signs s."""
    seen = looked_at(stack, rows, pieces, source)
    readings = read_off(seen)
    starts = [np.where(likely >= 0.5, 1.0, -1.0) for likely in readings]
    starts += [-start for start in starts]
    best = Oriented(starts[0], 0, 1.0)
    for restart in range(RESTARTS):
        trial = starts[restart % len(starts)]
        if restart >= len(starts):
            likely = readings[restart % len(readings)]
            turning = np.maximum(np.minimum(likely, 1 - likely), DOUBTFUL)
            trial = np.where(source.random(len(trial)) < turning, -trial, trial)
        found = climbed(seen, trial, source)
        if having(found) > having(best):
            best = found
        if best.telling and best.misfit <= 1 - ENOUGH:
            break
    return best


def having(found: Oriented) -> float:
    """(3)."""
    return found.telling * (1 - found.misfit)


def looked_at(stack: Stack, rows: Rows, pieces: Gradients, source: np.random.Generator) -> Pieces:
    """Pieces with an exact gradient where no unseen entry matters, in coordinates of the rows' span."""
    largest = np.abs(pieces.g).max((1, 2))
    z = stack.rows(rows, pieces.x)
    use = source.permutation(np.flatnonzero(pieces.good & (pieces.error < EXACT * largest) & ~z.vague.any(1)))
    local, g = z.gradient[use], pieces.g[use]
    length = np.linalg.norm(g, axis=2).max(1, initial=0)
    g = g / np.where(length > 0, length, 1)[:, None, None]
    if local.shape[1] < local.shape[2]:
        basis = np.linalg.qr(local.transpose(0, 2, 1))[0]  # (pieces, inputs, rows)
        inside = g @ basis
        outside = np.linalg.norm(g - inside @ basis.transpose(0, 2, 1), axis=2).max(1)
        return Pieces(local @ basis, np.sign(z.q[use]), inside, outside)
    return Pieces(local, np.sign(z.q[use]), g, np.zeros(len(use)))


def read_off(seen: Pieces) -> tuple[Array, Array]:
    """How likely + is by (2): after rereading, and at first sight."""
    likely, first = np.full(seen.side.shape[1], 0.5), None
    for _ in range(READINGS):
        weight = np.where(seen.side > 0, likely, 1 - likely) + RANK
        scaled = seen.local * np.sqrt(weight)[:, :, None]
        psi = np.square(seen.g @ np.linalg.pinv(scaled, rcond=PLAIN)).sum(1) * weight
        psi /= np.maximum(psi.sum(1, keepdims=True), np.finfo(np.float64).tiny)
        on, off = ((psi * side).sum(0) / np.maximum(side.sum(0), 1) for side in (seen.side > 0, seen.side < 0))
        before, likely = likely, on / np.maximum(on + off, np.finfo(np.float64).tiny)
        first = likely if first is None else first
        if np.abs(likely - before).max() < SETTLED:
            break
    return likely, likely if first is None else first


def climbed(seen: Pieces, signs: Array, source: np.random.Generator) -> Oriented:
    """Turn single signs while (3) grows."""
    best = scored(seen, signs)
    for _ in range(SWEEPS):
        before = best
        for neuron in source.permutation(len(signs)):
            trial = best.signs.copy()
            trial[neuron] = -trial[neuron]
            found = scored(seen, trial)
            if having(found) > having(best):
                best = found
        if best is before or not best.misfit:
            break
    return best


def scored(seen: Pieces, signs: Array) -> Oriented:
    """(3) for some signs, from `MOST` pieces that tell."""
    active = seen.side * signs > 0
    telling = np.flatnonzero(active.sum(1) < min(seen.local.shape[1:]))
    chosen = telling[:MOST]
    wrong = misfits(seen.local[chosen] * active[chosen, :, None], seen.g[chosen], seen.outside[chosen])
    return Oriented(signs, len(telling), float(wrong.mean()) if len(chosen) else 1.0)


def misfits(active: Array, g: Array, outside: Array) -> Flags:
    """The pieces without (1): gradients (pieces, outputs, rank) and those of active rows (pieces, rows, rank)."""
    _, sizes, v = np.linalg.svd(active, full_matrices=False)
    kept = sizes > RANK * np.maximum(sizes[:, :1], np.finfo(np.float64).tiny)
    inside = g @ v.transpose(0, 2, 1) * kept[:, None]
    left = np.linalg.norm(g - inside @ v, axis=2).max(1)
    return np.asarray(np.hypot(left, outside) > MISFIT)
