"""A row to rounding, from fresh witnesses on the plane where it is nearly known to be.

    (1)  100 points ~ N(0, (1e3)²) are brought onto the predicted plane by Adam on Σ (w h(x) + b)², without queries;
    (2)  through each of them a random line is searched for |t| < r: no kink, r grows; several, r is halved; one, kept;
    (3)  of 100 random subsets of 2 n + 2 witnesses that together activate each of the n units below, the one whose
         w h + b = 0 has the least median residual over all witnesses.

The papers fit w h = 1, which has no answer where b = 0, and abort where a weight is 0; here ‖(w, b / size of h)‖ = 1,
and w has to be the one that was nearly known: where a unit is active at one witness alone, h_j = 0 is a plane as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.critical_points import line_search
from paramid.methods.critical_points.known_layers import Known, Layer
from paramid.methods.critical_points.matching import same
from paramid.methods.piecewise.line_kinks import Array, Flags, Lines, Places, Values

POINTS, SPREAD = 100, 1e3
RATE, STEPS, PERIOD, ARRIVED = 10.0, 5000, 1000, 1e-5
NEAR = 1e-4  # of a known unit: such points are dropped
RADIUS, NONE, SEVERAL, ONE = 0.1, 1.1, 0.5, 0.98
SUBSETS, GOOD = 100, 1e-10
BATCHES = 10  # of points, before a row is left as it is
UNUSUAL = 10.0  # times the median distance from the predicted plane: a kink of another neuron


class Fresh(NamedTuple):
    """Witnesses for every row of a layer: which row, and where."""

    row: Places
    x: Array


def refined(f: Values, known: Known, rough: Layer, held: Fresh, tau: float, source: np.random.Generator) -> Layer:
    """All rows by (1) to (3), with the witnesses held besides; one that does not get enough stays as it is."""
    wanted = 2 * known.units + 2
    fresh = held
    for _ in range(BATCHES):
        poor = np.flatnonzero(np.bincount(fresh.row, minlength=len(rough.b)) < wanted)
        if not len(poor):
            break
        more = batch(f, known, Layer(rough.w[poor], rough.b[poor]), tau, source)
        fresh = Fresh(np.concatenate([fresh.row, poor[more.row]]), np.concatenate([fresh.x, more.x]))
    seen = [known.hidden(fresh.x[fresh.row == row]) for row in range(len(rough.b))]
    rows = [fitted(h, w, b, source) for h, w, b in zip(seen, *rough, strict=True)]
    return Layer(np.array(rows)[:, :-1], np.array(rows)[:, -1])


def batch(f: Values, known: Known, rows: Layer, tau: float, source: np.random.Generator) -> Fresh:
    """(1) and (2): up to 100 witnesses for each of the rows. One line of each row at a time, for r goes on."""
    x, good = on_planes(known, rows, source)
    radius, found = np.full(len(rows.b), RADIUS), list[Fresh]()
    for place in range(POINTS):
        row = np.flatnonzero(good[:, place])
        lines = Lines(x[row, place], source.standard_normal((len(row), known.inputs)))
        kinks = line_search.search(f, lines, radius[row], tau)
        count = np.bincount(kinks.line, minlength=len(row))
        radius[row] *= np.select([count == 0, count == 1], [NONE, ONE], SEVERAL)
        one = (count == 1)[kinks.line]
        found.append(Fresh(row[kinks.line[one]], lines.at(kinks.t[one], kinks.line[one])))
    return predicted_ones(known, rows, Fresh(*(np.concatenate(part) for part in zip(*found, strict=True))))


def predicted_ones(known: Known, rows: Layer, fresh: Fresh) -> Fresh:
    """Those where the rows predict them, as well as they do on the whole; the others are kinks of other neurons."""
    off = np.abs(rows(known.hidden(fresh.x)))[np.arange(len(fresh.row)), fresh.row]
    usual = np.array([np.median(off[fresh.row == row]) if row in fresh.row else 0 for row in range(len(rows.b))])
    ours = off <= UNUSUAL * usual[fresh.row]
    return Fresh(fresh.row[ours], fresh.x[ours])


def on_planes(known: Known, rows: Layer, source: np.random.Generator) -> tuple[Array, Flags]:
    """(1): points (rows, 100, inputs), and which of them are of use."""
    x = SPREAD * source.standard_normal((len(rows.b), POINTS, known.inputs))
    mean, square, rate = np.zeros_like(x), np.zeros_like(x), RATE
    for step in range(STEPS):
        if step % PERIOD == 0:
            rate /= 2
        z, gradient = predicted(known, rows, x)
        if np.square(z).sum(1).max() < ARRIVED:
            break
        slope = 2 * z[:, :, None] * gradient
        mean += 0.1 * (slope - mean)
        square += 0.001 * (np.square(slope) - square)
        corrected = np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8
        x -= rate * mean / (1 - 0.9 ** (step + 1)) / corrected
    flat = x.reshape(-1, known.inputs)
    return x, (known.nearest(flat) > NEAR).reshape(x.shape[:2])


def predicted(known: Known, rows: Layer, x: Array) -> tuple[Array, Array]:
    """W h(x) + b of each row at its own points, and the gradients."""
    flat, w = x.reshape(-1, known.inputs), np.repeat(rows.w, x.shape[1], axis=0)
    z = np.einsum("pu,pu->p", known.hidden(flat), w).reshape(x.shape[:2]) + rows.b[:, None]
    return z, known.pulled(flat, w).reshape(x.shape)


def fitted(h: Array, w: Array, b: float, source: np.random.Generator) -> Array:
    """(3): [w, b] with ‖w‖ = 1 from what the layer sees at witnesses (witnesses, units)."""
    count, size = 2 * h.shape[1] + 2, float(np.abs(h).mean()) if h.size else 1.0
    best, least = np.append(w, b), np.inf
    for _ in range(SUBSETS if len(h) >= count else 0):
        some = h[source.choice(len(h), count, replace=False)]
        row = np.linalg.svd(np.hstack([some, np.full((count, 1), size)]))[2][-1]
        row = np.append(row[:-1], row[-1] * size) / max(float(np.linalg.norm(row[:-1])), 1e-300)
        off = float(np.median(np.abs(h @ row[:-1] + row[-1])))
        if off < least and (some != 0).any(0).all() and same(row[:-1], w):
            best, least = row, off
        if least < GOOD:
            break
    return best
