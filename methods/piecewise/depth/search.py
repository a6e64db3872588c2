"""A ReLU network of any depth, layer by layer, from kinks along lines that belong to no layer in particular.

    1. the planes that are met on nearly every line are the first layer's           (first_layer)
    2. a layer that is not the last is oriented by gradients that are at hand       (orientation)
    3. a kink that the layers below do not explain shows part of a row above them   (partial_rows)
    4. such a row is a neuron of this layer if f bends all over its plane           (membership)
    5. weights that were never seen get lines of their own                          (aimed_lines), or a fit (unseen)
    6. above the last hidden layer everything is linear                             (last_layer)
    7. all of it again from values, and a certificate on fresh ones                 (polish), (close_look)

1 to 6 are tried again after every batch of lines, and once all of them hold, 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from paramid import GiveUp
from paramid.methods.piecewise.depth import (
    aimed_lines,
    close_look,
    evidence,
    last_layer,
    membership,
    orientation,
    partial_rows,
    polish,
)
from paramid.methods.piecewise.depth import stack as stacks
from paramid.methods.piecewise.depth import unseen as unseen_weights
from paramid.methods.piecewise.depth.evidence import Evidence
from paramid.methods.piecewise.depth.first_layer import first_layer
from paramid.methods.piecewise.depth.membership import Membership
from paramid.methods.piecewise.depth.polish import Weights
from paramid.methods.piecewise.depth.stack import Rows, Stack
from paramid.methods.piecewise.line_kinks import EPS, Array, Flags, Lines, Values

BATCH, START = 3, 8  # lines at once; values a line to begin with, and two more a neuron
AIMED_START, AIMED_REACH, AIMED = 6, 1.0, 6  # of short lines, and how many batches of them
EXPLAINED = 1e-5  # of a point's size: a kink so near to a known plane is of it
TELLING, MISORIENTED = 2, 0.05  # pieces for each neuron; share of them
AIM, UNSEEN, LATE, LATE_UNSEEN = 0.3, 0.12, 24, 0.3  # share of unseen weights that lines are aimed at; that may remain
SETTLED = 12  # lines after which a neuron without a kink has none
EXACT = 1e5 * EPS  # of G: what the certificate allows
ROUGHLY = 1e-4  # of G: a network that is farther off before its polish is wrong there
PATIENCE = 15  # lines at random in which what is read has to grow
SPARE, GROUPS = 20, 10  # points; groups of kinks
DISPROOFS = 2  # batches of lines to where a network was wrong, for every batch at random


@dataclass(frozen=True)
class Sizes:
    """What was told of a network; a width that was not is read off."""

    inputs: int
    widths: tuple[int | None, ...]
    outputs: int

    @property
    def neurons(self) -> int:
        """In all, or a guess."""
        return sum(width or self.inputs for width in self.widths)


class Reading(NamedTuple):
    """How far the lines so far go: oriented layers, the rows above them, and the network, or why there is none."""

    stack: Stack
    rows: Rows | None = None
    why: str = ""
    guess: Stack | None = None  # with a layer that few gradients tell the orientation of
    net: Weights | None = None
    unseen: Flags | None = None  # which parameters were never seen

    @property
    def known(self) -> tuple[int, int, int]:
        """Oriented layers, rows above them, and weights seen of these."""
        rows = self.rows
        return len(self.stack.layers), 0 if rows is None else len(rows.b), 0 if rows is None else int(rows.seen.sum())


@dataclass
class Search:
    """One function, what lines have shown of it, and what that is read as."""

    f: Values
    sizes: Sizes
    reach: float
    source: np.random.Generator
    reading: Reading = field(init=False)
    seen: Evidence = field(init=False)
    is_neuron: Membership = field(init=False)
    random: int = 0  # lines at random so far
    aimed: int = 0  # batches of lines at weights that were not seen
    beside: int = 0  # and near kinks that puzzle
    sparse: int = 0  # lines where few neurons are active
    known: tuple[int, int, int] = (0, 0, 0)  # the most that was read
    grown: int = 0  # lines at random when that last grew
    disproofs: Lines | None = None  # lines from inputs where a network that was found is wrong
    disproved: int = 0  # how often such lines were walked
    looked_at: tuple[Array, Array] | None = None  # inputs at which networks were looked at closely, with values
    asked: tuple[Array, Array] | None = None  # points and values of polishes so far

    def __post_init__(self) -> None:
        self.reading = Reading(Stack(self.sizes.inputs))
        self.seen = self.walked(self.at_random(), None)
        self.is_neuron = Membership(self.f, self.seen.precision.size, self.source)
        self.reading = self.read()

    def at_random(self) -> Lines:
        """The next batch."""
        self.random += BATCH
        return evidence.through(BATCH, self.sizes.inputs, self.source)

    def more(self, most: int) -> bool:
        """Another batch of lines, aimed ones where they help, until there were `most` at random or nothing grows."""
        lines = self.aims()
        if lines is None and self.random >= most:
            return False
        aimed = lines is not None
        if not aimed and self.reading.net is None and self.random - self.grown >= PATIENCE:
            return False
        self.seen = self.seen.joined(self.walked(self.at_random() if lines is None else lines, self.seen, aimed=aimed))
        self.reading = self.read()
        if (now := self.reading.known) > self.known:
            self.known, self.grown = now, self.random
        return True

    def aims(self) -> Lines | None:
        """Aimed lines, if there are any: from disproofs, at weights not seen, near puzzling kinks."""
        lines, self.disproofs = self.disproofs, None
        if lines is not None and self.disproved < DISPROOFS * self.random // BATCH:
            self.disproved += 1
            return lines
        lines = None
        if (stack := self.wide()) is not None and self.sparse < self.random:
            lines = aimed_lines.sparse(stack, 2 * BATCH, self.source)
            self.sparse += BATCH
        elif self.aimed < AIMED and (lines := self.at_unseen()) is not None:
            self.aimed += 1
        elif self.beside < self.random // BATCH - 2 and (lines := self.at_puzzling()) is not None:
            self.beside += 1
        return lines

    def walked(self, lines: Lines, seen: Evidence | None, *, aimed: bool = False) -> Evidence:
        """What lines show."""
        return evidence.gather(
            self.f,
            lines,
            known=(self.reading.stack, self.reading.rows),
            reach=AIMED_REACH if aimed else self.reach,
            start=AIMED_START if aimed else START + 2 * self.sizes.neurons,
            source=self.source,
            precision=None if seen is None else seen.precision,
            aimed=aimed,
        )

    def wide(self) -> Stack | None:
        """The layers up to one that is wider than the inputs, where something above it is lacking."""
        stack = self.reading.guess or self.reading.stack
        return stack if self.reading.why and stack.layers and stack.width > stack.inputs else None

    def at_unseen(self) -> Lines | None:
        """Lines aimed at weights that were not seen, of the first layer that has some."""
        stack, rows = self.reading.stack, self.reading.rows
        layers = (*stack.layers, *(() if rows is None else (rows,)))
        for depth, layer in enumerate(layers):
            share = float((~layer.seen).mean()) if len(layer.b) else 0.0
            whole = self.sizes.widths[depth] in (None, len(layer.b)) or self.random >= SETTLED
            if share and whole:
                below = Stack(stack.inputs, stack.layers[:depth])
                return None if share > AIM else aimed_lines.unseen(below, layer, self.seen.kinks, self.source)
        return None

    def at_puzzling(self) -> Lines | None:
        """Lines near kinks that no row explains, or one of which much is not seen."""
        stack, rows, kinks = self.reading.stack, self.reading.rows, self.seen.kinks
        if rows is None or not stack.layers or not self.reading.why:
            return None
        known = rows.at(rows.seen.mean(1) > 1 - AIM)
        explained = np.isfinite(stacks.normals(stack, known, kinks.x)[:, 0])
        which = np.flatnonzero(self.seen.telling() & ~explained)
        if not len(which):
            return None
        return aimed_lines.beside(kinks.at(self.source.permutation(which)[: 2 * BATCH]), self.source)

    def read(self) -> Reading:
        """Everything but the last polish, from what is at hand."""
        stack, seen, last = Stack(self.sizes.inputs), self.seen, len(self.sizes.widths) - 1
        left = np.ones(len(seen.kinks.b), bool)
        for depth, width in enumerate(self.sizes.widths):
            if depth:
                rows, why = self.next_layer(stack, width, left, last=depth == last)
            else:
                rows, why = first_layer(width, seen, self.random, self.is_neuron)
            if why:
                return Reading(stack, rows, why)
            near = stack.rows(rows, seen.kinks.x)
            left &= (np.abs(near.q) > EXPLAINED * stacks.size(seen.kinks.x)[:, None] * near.length).all(1)
            if depth < last:
                found = orientation.oriented(stack, rows, seen.pieces, self.source)
                if found.telling < TELLING * len(rows.b):
                    guess = stack.with_layer(rows.turned(found.signs))
                    return Reading(
                        stack, rows, f"{found.telling} gradients tell which way layer {depth + 1} looks", guess
                    )
                if found.misfit > MISORIENTED:
                    return Reading(
                        stack, rows, f"which way layer {depth + 1} looks misfits {found.misfit:.0%} of gradients"
                    )
                stack = stack.with_layer(rows.turned(found.signs))
        try:
            return self.finished(stack, rows)
        except GiveUp as error:
            return Reading(stack, rows, str(error))

    def finished(self, stack: Stack, rows: Rows) -> Reading:
        """With the output layer."""
        told = self.sizes.widths[-1]
        missing = self.sizes.outputs if told is None else told - len(rows.b)
        top = last_layer.top(self.f, stack, rows, self.seen, missing, self.source)
        layers = (*stack.layers, top.rows)
        net = Weights((*(layer.w for layer in layers), top.w), (*(layer.b for layer in layers), top.b))
        never = [np.concatenate([(~layer.seen).ravel(), np.zeros(len(layer.b), bool)]) for layer in layers]
        unseen = np.concatenate([*never, np.zeros(top.w.size + top.b.size, bool)])
        return Reading(stack, rows, net=net, unseen=unseen)

    def next_layer(self, stack: Stack, width: int | None, left: Flags, *, last: bool) -> tuple[Rows, str]:
        """The rows of the layer above, and what is wrong with them."""
        seen, layer = self.seen, len(stack.layers) + 1
        use = np.flatnonzero(left & seen.telling() & ~stack.local(seen.kinks.x).vague)
        kinks = seen.kinks.at(use)
        found = partial_rows.groups(partial_rows.partial_rows(stack, kinks))[: GROUPS + 4 * (width or stack.inputs)]
        if (stack.local(kinks.x).active.sum(1) > self.sizes.inputs).any():
            found = partial_rows.completed(stack, found, kinks)
        candidates = partial_rows.as_rows(found, stack.width)
        rows = membership.neurons(stack, candidates, width, seen, self.is_neuron, last=last)
        if len(rows.b) < (width or 1) and not (last and self.nothing_left(stack, rows, left)):
            return rows, f"{len(rows.b)} of layer {layer}'s {width or ''} neurons are found"
        if width is None and last and not self.nothing_left(stack, rows, left):
            return rows, f"{len(rows.b)} neurons of layer {layer} do not explain all kinks"
        share = float((~rows.seen).mean()) if rows.seen.size else 0.0
        if share > (LATE_UNSEEN if last and self.random >= LATE else UNSEEN):
            return rows, f"{(~rows.seen).sum()} weights of layer {layer} are not seen"
        return rows, ""

    def nothing_left(self, stack: Stack, rows: Rows, left: Flags) -> bool:
        """Whether, after enough lines, the rows explain every kink: then neurons are missing that have none."""
        if self.random < SETTLED or not len(rows.b):
            return False
        z = stack.rows(rows, self.seen.kinks.x)
        near = (np.abs(z.q) < EXPLAINED * stacks.size(self.seen.kinks.x)[:, None] * z.length).any(1)
        left = left & self.seen.kinks.good
        clear = ~np.any(z.vague, axis=1)
        return not (left & clear & ~near).any() and 2 * int((left & near).sum()) > int(left.sum())

    def network(self) -> Weights | None:
        """What was read, to rounding, if a fresh look certifies it."""
        guess, unseen, size = self.reading.net, self.reading.unseen, self.seen.precision.size
        if guess is None or unseen is None:
            return None
        bound = EXACT * size
        if unseen.any():
            guess = unseen_weights.filled(self.f, guess, unseen, self.told(), size, self.source)
        if self.asked is not None and self.differs(guess, *self.asked, ROUGHLY * size):
            return None
        self.asked = self.with_values(
            polish.telling(guess, self.source, 0 if self.asked else len(guess.vector()) + SPARE)[0]
        )
        x, values = self.told()
        if self.differs(guess, x, values, ROUGHLY * size):
            return None
        found = polish.certified(self.f, guess, x, values, bound, self.source)
        if found.net is not None and None in self.sizes.widths:
            found = polish.certified(self.f, polish.needed(found.net), found.x, found.values, bound, self.source)
        self.asked = found.x[len(self.seen.pieces.x) :], found.values[len(self.seen.pieces.x) :]
        if found.net is None:
            self.reading = self.reading._replace(why="what was read does not fit all values")
        elif self.reading.rows is None or len(self.reading.rows.b) != self.sizes.widths[-1]:
            return found.net if self.survives(found.net, bound) else None
        return found.net

    def survives(self, net: Weights, bound: float) -> bool:
        """Whether a network of fewer kinks than were told is right wherever it might well be wrong."""
        if self.looked_at is not None and self.refuted(net, *self.looked_at, bound):
            return False
        found = 0 if self.reading.rows is None else len(self.reading.rows.b)
        for x in close_look.suspicious(net, found, self.source):
            self.looked_at = x, self.f(x)
            if self.refuted(net, *self.looked_at, bound):
                return False
        return True

    def refuted(self, net: Weights, x: Array, values: Array, bound: float) -> bool:
        """Whether it is wrong anywhere there, and if so, lines from there to where it is right."""
        known, told = self.told()
        differs = self.differs(net, np.concatenate([x, known]), np.concatenate([values, told]), bound)
        return differs or polish.off(net, x, values) > bound

    def told(self) -> tuple[Array, Array]:
        """All points whose values are known, but those of lines, with them."""
        x, values = self.seen.pieces[:2]
        if self.asked is None:
            return x, values
        return np.concatenate([x, self.asked[0]]), np.concatenate([values, self.asked[1]])

    def with_values(self, x: Array) -> tuple[Array, Array]:
        """Points with values, and those of earlier polishes."""
        values = self.f(x)
        if self.asked is None:
            return x, values
        return np.concatenate([self.asked[0], x]), np.concatenate([self.asked[1], values])

    def differs(self, net: Weights, x: Array, values: Array, bound: float) -> bool:
        """Whether a network is wrong at a few points; then the next lines go from there to where it is right."""
        wrong = np.abs(net(x) - values).max(1) > bound * stacks.size(x)
        if not 0 < wrong.sum() < len(x) / 2:
            return False
        here, right = self.source.permutation(x[wrong])[:BATCH], x[~wrong]
        nearest = np.linalg.norm(here[:, None] - right, axis=2).argmin(1)
        self.disproofs = Lines(here, right[nearest] - here)
        self.reading = self.reading._replace(why="what was read is wrong at some inputs")
        return True
