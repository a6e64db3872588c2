"""The rows of one layer above known ones, up to sign and scale: witnesses on lines, signatures, matching, refinement.

(1)  lines x_0 + t d, x_0 ~ N(0, u² I) with u uniform in [s/10, s], d ~ N(0, I), |t| ≤ 1000 s, until there are 3 m
witnesses in layer 1, 3 m ln m above it, and m more after every round that fails;
(2)  above layer 1 a witness is dropped without a query where a known unit switches (1e-5), where at most one unit
below is active, or where it lies on a row of this layer that is found already (1e-4);
(3)  b = -⟨w, h⟩ at a neuron's first witness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paramid import GiveUp
from paramid.methods.critical_points import bent_plane, line_search, matching, refinement
from paramid.methods.critical_points.known_layers import Known, Layer
from paramid.methods.critical_points.matching import Group
from paramid.methods.critical_points.refinement import Fresh
from paramid.methods.critical_points.signature import signature
from paramid.methods.piecewise.line_kinks import Array, Flags, Lines, Values

REACH = 1000.0  # of a line, in s
SWITCHING, ON_ROW, EQUAL = 1e-5, 1e-4, 1e-10
STARTS = 3  # witnesses from which a walk is tried


@dataclass(frozen=True)
class Constants:
    """The numbers of the release, which go by depth."""

    scale: float  # s
    step: float  # ε
    tau: float  # τ
    factor: float  # F
    most: int = 1000  # witnesses of a layer
    lines: int = 1000  # lines for a layer


class Witnesses(NamedTuple):
    """Critical points with what they tell of a row, and whether they were found along a bent plane."""

    x: Array
    row: Array  # NaN where unknown
    walked: Flags

    def joined(self, x: Array, row: Array, *, walked: bool) -> Witnesses:
        """With more of them."""
        flags = np.append(self.walked, np.full(len(x), walked))
        return Witnesses(np.concatenate([self.x, x]), np.concatenate([self.row, row]), flags)


class Search(NamedTuple):
    """What the rows of a layer are looked for with."""

    f: Values
    known: Known
    constants: Constants
    source: np.random.Generator

    def signature(self, x: Array) -> Array | None:
        """The row that a critical point tells, or None."""
        return signature(self.f, self.known, x, self.constants.step, self.source)


def rows(f: Values, known: Known, width: int, constants: Constants, source: np.random.Generator) -> Layer:
    """All rows of the layer, to rounding."""
    held, found = gathered(Search(f, known, constants, source), width)
    walked = [(row, place) for row, group in enumerate(found) for place in group.members if held.walked[place]]
    row, place = np.array(walked, dtype=np.intp).reshape(-1, 2).T
    return refinement.refined(f, known, rough(known, held, found), Fresh(row, held.x[place]), constants.tau, source)


def gathered(search: Search, width: int) -> tuple[Witnesses, list[Group]]:
    """Witnesses until they make up `width` neurons with all their weights; given up where they do not."""
    known, constants = search.known, search.constants
    held = Witnesses(np.empty((0, known.inputs)), np.empty((0, known.units)), np.empty(0, dtype=bool))
    wanted, found = 3 * width * (math.log(max(width, 3)) if known.layers else 1), list[Group]()
    for _ in range(constants.lines):
        held = longer(search, held, usable(known, held, found, on_line(search)))
        if len(held.x) < wanted:
            continue
        found = matching.accepted(matching.groups(held.row, constants.factor, search.source), width)
        if len(found) == width:
            held, found = completed(search, held, found)
        if sum(whole(group) for group in found) == width:
            return held, found
        if len(held.x) >= constants.most:
            break
        wanted = len(held.x) + width
    count = sum(whole(group) for group in found)
    raise GiveUp(f"{count} of {width} neurons of layer {len(known.layers) + 1} show in {len(held.x)} witnesses")


def whole(group: Group) -> bool:
    """Whether all its weights are known."""
    return bool(np.isfinite(group.row).all())


def on_line(search: Search) -> Array:
    """The critical points on one line of (1)."""
    scale, inputs = search.constants.scale, search.known.inputs
    size = search.source.uniform(scale / 10, scale)
    lines = Lines(size * search.source.standard_normal((1, inputs)), search.source.standard_normal((1, inputs)))
    kinks = line_search.search(search.f, lines, np.array([REACH * scale]), search.constants.tau)
    return lines.at(kinks.t, kinks.line)


def longer(search: Search, held: Witnesses, x: Array) -> Witnesses:
    """With those of the points that tell a row."""
    told = [(point, row) for point in x if (row := search.signature(point)) is not None]
    return held.joined(*(np.array(part) for part in zip(*told, strict=True)), walked=False) if told else held


def completed(search: Search, held: Witnesses, found: list[Group]) -> tuple[Witnesses, list[Group]]:
    """The neurons with more of their weights by (3), until one of them gets no further."""
    done = list(found)
    for number in range(len(found)):
        for _ in range(search.known.units):
            more = None if whole(done[number]) else walked_on(search, held, done[number])
            if more is None:
                break
            held, done[number] = more
        if not whole(done[number]):
            break
    return held, done


def walked_on(search: Search, held: Witnesses, group: Group) -> tuple[Witnesses, Group] | None:
    """The neuron with one more weight, seen from one of its witnesses, if there is a way from three of them."""
    unit, (f, known, constants, source) = int(np.isnan(group.row).argmax()), search
    for start in source.permutation(group.members)[:STARTS]:
        x = bent_plane.walked(f, known, held.x[start], unit, constants.tau, source)
        row = None if x is None else search.signature(x)
        if x is not None and row is not None and matching.same(row, group.row):
            held = held.joined(x[None], row[None], walked=True)
            return held, matching.merged(held.row, np.append(group.members, len(held.x) - 1))
    return None


def usable(known: Known, held: Witnesses, found: list[Group], x: Array) -> Array:
    """Points that (2) does not drop, and that are no witnesses yet."""
    if len(held.x) and len(x):
        x = x[np.abs(x[:, None] - held.x).max(2).min(1) > EQUAL]
    if not known.layers:
        return x
    good: Flags = (known.nearest(x) > SWITCHING) & (known.active(x).sum(1) > 1)
    layer = rough(known, held, [group for group in found if whole(group)])
    return x[good & (np.abs(layer(known.hidden(x))).min(1, initial=np.inf) > ON_ROW)]


def rough(known: Known, held: Witnesses, found: list[Group]) -> Layer:
    """Rows of unit length as they were matched, with the offsets (4)."""
    w = np.array([group.row / np.linalg.norm(group.row) for group in found]).reshape(-1, known.units)
    h = [known.hidden(held.x[group.members]) for group in found]
    return Layer(w, -np.array([np.median(seen @ row) for seen, row in zip(h, w, strict=True)]))
