"""The first layer's planes among all kinks': straight ones, which are met again on nearly every line.

Kinks of deeper neurons bend where a neuron below switches, so that each of their pieces is met on few lines.
"""

from __future__ import annotations

import numpy as np

from paramid.methods.piecewise.depth.evidence import Evidence
from paramid.methods.piecewise.depth.membership import Membership
from paramid.methods.piecewise.depth.stack import Rows, Stack
from paramid.methods.piecewise.line_kinks import Array, Places

SAME, UNITS = 1e-5, 10.0  # sin of the angle of two planes that are one; in what the plane is known to
SPARE = 6  # planes looked at beyond as many as were told
OFTEN, ALWAYS = 0.6, 0.9  # of the lines
LEAST, CLEARLY = 3, 1.5  # lines that a plane is met on; times the next one's
SELDOM = 0.25  # of the lines: a plane that is met on fewer is none


def first_layer(width: int | None, seen: Evidence, lines: int, is_neuron: Membership) -> tuple[Rows, str]:
    """The planes met most often on so many lines at random; what is wrong with them, if anything is."""
    best, counts = planes_met(seen)
    order = np.argsort(-counts, kind="stable")
    best, counts = best[order], counts[order]
    rows = Rows(seen.kinks.n[best], seen.kinks.b[best], np.ones((len(best), seen.kinks.n.shape[1]), bool))
    kept = sure(width, rows, counts, lines, is_neuron)
    few = counts[kept] < max(2.0, SELDOM * lines)
    if width is not None and (len(kept) < width or few.any()):
        return rows.at(kept), f"{int((~few).sum())} planes of the first layer's {width} are met on enough lines"
    return rows.at(kept), ""


def sure(width: int | None, rows: Rows, counts: Places, lines: int, is_neuron: Membership) -> Places:
    """Which of the planes, in order of how often they are met, are neurons' of the first layer."""
    if width is not None and len(counts) <= width:
        return np.arange(len(counts))
    after = counts[width] if width is not None else 0
    if width is not None and counts[width - 1] >= max(LEAST, CLEARLY * after, OFTEN * lines):
        return np.arange(width)
    kept: list[int] = []
    for number in np.flatnonzero(counts >= 2):
        if width is not None and (len(kept) == width or number >= width + SPARE):
            break
        if counts[number] >= max(LEAST, ALWAYS * lines, 2 * after + 1):
            kept.append(int(number))
            continue
        hits, points = is_neuron(Stack(rows.w.shape[1]), rows.at(np.array([number])))
        if 2 * hits >= points:
            kept.append(int(number))
    return np.array(kept, dtype=np.intp)


def planes_met(seen: Evidence) -> tuple[Places, Places]:
    """The best kink of every plane, and the number of lines drawn at random that it is met on."""
    use = np.flatnonzero(seen.telling())
    use = use[np.argsort(seen.kinks.unsure[use], kind="stable")]
    lifted = np.hstack([seen.kinks.n, seen.kinks.b[:, None]])[use]
    lifted /= np.linalg.norm(lifted, axis=1, keepdims=True)
    within = np.maximum(SAME, UNITS * seen.kinks.unsure[use])
    free, best, counts = np.ones(len(use), bool), [], []
    for number in range(len(use)):
        if free[number]:
            met = free & (sine(lifted, lifted[number]) < within)
            free &= ~met
            best.append(use[number])
            counts.append(len(np.unique(seen.line[use[met & seen.far[use]]])))
    return np.array(best, dtype=np.intp), np.array(counts, dtype=np.intp)


def sine(lifted: Array, one: Array) -> Array:
    """Of the angles between rows of length 1 and one of them."""
    return np.asarray(np.linalg.norm(lifted - (lifted @ one)[:, None] * one, axis=1), dtype=np.float64)
