"""All that lines have shown: kinks with their planes, and the pieces between them with values and gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise import line_kinks, planes
from paramid.methods.piecewise.depth import stack
from paramid.methods.piecewise.depth.stack import Rows, Stack
from paramid.methods.piecewise.line_kinks import Array, Flags, Lines, Places, Precision, Values
from paramid.methods.piecewise.planes import Gradients, Planes

SURE, FAR = 1e-4, 50.0  # a plane that is known worse, or a point that is farther away, says nothing about deeper layers


class Evidence(NamedTuple):
    """Kinks and pieces of all lines."""

    kinks: Planes
    line: Places  # of every kink
    far: Flags  # whether that line was drawn at random
    before: Places  # kink k lies between the pieces before[k] and before[k] + 1
    pieces: Gradients
    lines: int
    precision: Precision

    def joined(self, other: Evidence) -> Evidence:
        """Both."""
        return Evidence(
            self.kinks.joined(other.kinks),
            np.concatenate([self.line, other.line + self.lines]),
            np.concatenate([self.far, other.far]),
            np.concatenate([self.before, other.before + len(self.pieces.x)]),
            self.pieces.joined(other.pieces),
            self.lines + other.lines,
            self.precision,
        )

    def telling(self) -> Flags:
        """The kinks whose planes can be worked with."""
        return self.kinks.good & (self.kinks.unsure < SURE) & (stack.size(self.kinks.x) < FAR)


def gather(
    f: Values,
    lines: Lines,
    *,
    known: tuple[Stack, Rows | None] | None,
    reach: float,
    start: int,
    source: np.random.Generator,
    precision: Precision | None,
    aimed: bool = False,
) -> Evidence:
    """Walk along lines; pieces that are linked by planes known already are asked for one gradient."""
    walk = line_kinks.walk(f, lines, reach=reach, start=start, source=source, precision=precision)
    normals = None if known is None else stack.normals(*known, walk.points)
    along = planes.gradients(f, walk, normals)
    found = planes.planes(walk, along)
    far = np.full(len(found.b), not aimed)
    return Evidence(found, walk.pieces.line[walk.after], far, walk.after, along, len(lines.origin), walk.precision)


def through(count: int, inputs: int, source: np.random.Generator) -> Lines:
    """Lines at random."""
    return Lines(*source.standard_normal((2, count, inputs)))


def near(x: Array, along: Array, half: float) -> Lines:
    """Short lines through points."""
    return Lines(x, along / np.linalg.norm(along, axis=1, keepdims=True) * half)
