"""Along the bent plane of one neuron, to where units below become active that none of its witnesses has seen active.

From a witness x,

    (1)  the normal n at x, by second differences in the input (signature, ε = 1e-5);
    (2)  of 1000 random tangents the one along which the wanted unit is highest where the next known unit switches;
    (3)  the neuron's kink is found again just before that, for |t| < 1e-3 along n;
    (4)  in the plane of n and the tangent across, boxes of half-side 1.5^(k - 10) around the crossing y are searched on
         all four sides. Two kinks are the known unit's, one is where the bent plane comes in, and one where it goes on;
         where that lies in one direction from y in two boxes in a row, the walk goes on from there;
    (5)  until the unit is above 1, or for 200 points.

The papers tell the known unit's two crossings by their being collinear; they are computed here, which costs nothing.
After a long step (3) looks farther, 1e-4 of it: normals are no more exact than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramid.methods.critical_points import line_search
from paramid.methods.critical_points.known_layers import Known
from paramid.methods.critical_points.signature import signature
from paramid.methods.piecewise.line_kinks import Array, Lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramid.methods.piecewise.line_kinks import Values

STEP, TANGENTS, MOST = 1e-5, 1000, 200
BEFORE, AGAIN = 1e-4, 1e-3  # how far before a crossing, and along the normal
LONG = 0.1  # times the length of the step: so much farther is looked
BOXES, GROWTH, FIRST = 20, 1.5, 10
ON_KNOWN, COLLINEAR, FAR, SEEN = 1e-7, 1e-4, 1e3, 1.0


class Crossing(NamedTuple):
    """Where the bent plane meets that of a known unit, and unit vectors along the normal and across."""

    y: Array
    normal: Array
    across: Array


def walked(f: Values, known: Known, x: Array, unit: int, tau: float, source: np.random.Generator) -> Array | None:
    """A point of the bent plane through `x` where that unit of the last known layer is above 1, or None."""
    for _ in range(MOST):
        normal = signature(f, Known(known.inputs), x, STEP, source)
        if normal is None or not normal.any():
            return None
        tangent, length = chosen(known, x, normal / np.linalg.norm(normal), unit, source)
        ahead = known.preactivations((x + 0.9 * length * tangent)[None])[-1][0, unit]
        if ahead > SEEN:
            return again(f, known, x + 0.9 * length * tangent, normal / np.linalg.norm(normal), tau, length)
        crossing = met(f, known, x, tangent, length, normal / np.linalg.norm(normal), tau)
        following = None if crossing is None else beyond(f, known, crossing, tau)
        if following is None:
            return None
        x = following
    return None


def chosen(known: Known, x: Array, normal: Array, unit: int, source: np.random.Generator) -> tuple[Array, float]:
    """(2), and how far it goes."""
    tangents = source.standard_normal((TANGENTS, known.inputs))
    tangents -= (tangents @ normal)[:, None] * normal
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    z, slope = every(known, x)
    rate = tangents @ slope.T
    with np.errstate(divide="ignore", invalid="ignore"):
        exits = np.where(rate * z < 0, -z / rate, np.inf)
    length = np.minimum(exits.min(1), FAR)
    wanted = len(z) - known.units + unit
    best = int((z[wanted] + length * rate[:, wanted]).argmax())
    return tangents[best], float(length[best])


def every(known: Known, x: Array) -> tuple[Array, Array]:
    """The pre-activations of all known units at one point, and their gradients."""
    parts, below = list[Array](), Known(known.inputs)
    for layer in known.layers:
        parts.append(layer.w @ below.slopes(x[None])[0])
        below = below.above(layer)
    return np.hstack(known.preactivations(x[None]))[0], np.concatenate(parts)


def met(f: Values, known: Known, x: Array, tangent: Array, length: float, normal: Array, tau: float) -> Crossing | None:
    """(3): where the tangent meets the next known plane, exactly on both, or None."""
    if length >= FAR:
        return None
    before = min(max(BEFORE, AGAIN * length), length / 2)
    near = again(f, known, x + (length - before) * tangent, normal, tau, length)
    if near is None:
        return None
    z, slope = every(known, near)
    unit = int(np.abs(z / np.maximum(np.linalg.norm(slope, axis=1), 1e-300)).argmin())
    across = slope[unit] - (slope[unit] @ normal) * normal
    size = float(np.linalg.norm(across))
    if size <= ON_KNOWN * np.linalg.norm(slope[unit]):
        return None
    across /= size
    ahead = -z[unit] / (slope[unit] @ across)
    return Crossing(near + ahead * across, normal, across * np.sign(ahead))


def again(f: Values, known: Known, x: Array, normal: Array, tau: float, length: float) -> Array | None:
    """The one kink of no known unit near by along the normal, or None."""
    lines = Lines(x[None], normal[None])
    kinks = line_search.search(f, lines, np.array([AGAIN * max(1.0, LONG * length)]), tau)
    found = lines.at(kinks.t, kinks.line)
    found = found[known.nearest(found) > ON_KNOWN]
    return found[0] if len(found) == 1 else None


def beyond(f: Values, known: Known, crossing: Crossing, tau: float) -> Array | None:
    """(4): a point of the bent plane beyond the crossing, or None."""
    before = None
    for out in boxes(f, known, crossing, tau):
        if out is not None and before is not None:
            a, b = (point - crossing.y for point in (before, out))
            a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
            if np.abs(a - b).max() < COLLINEAR:
                return out
        before = out
    return None


def boxes(f: Values, known: Known, crossing: Crossing, tau: float) -> Iterator[Array | None]:
    """Where the bent plane leaves each of the boxes, None where there are not four kinks."""
    y, normal, across = crossing
    behind = known.pattern((y - BEFORE * across)[None])
    for number in range(BOXES):
        size = GROWTH ** (number - FIRST)
        corners = size * np.array([across, -across, normal, -normal])
        lines = Lines(y + corners, np.array([normal, normal, across, across]))
        kinks = line_search.search(f, lines, np.full(4, size), tau)
        points = lines.at(kinks.t, kinks.line)
        others = points[known.nearest(points) > ON_KNOWN]
        far = others[(known.pattern(others) != behind).any(1)]
        yield far[0] if (len(points), len(others), len(far)) == (4, 2, 1) else None
