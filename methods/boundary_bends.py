"""`boundary-bends`: every weight of one hidden layer of ReLUs from the sign of its output alone, up to one factor.

    1. points of the boundary {f = 0}, to the last bit, and its plane near each   (boundary)
    2. walks along it in random planes of two dimensions, from bend to bend       (polylines)
    3. planes of neurons, each from two bends over it                             (bends)
    4. all of it by one homogeneous least-squares problem                         (vanishing)
    5. which way each neuron looks                                                (piecewise.facing)
    6. fresh decisions, also close by the boundary, must be those of the network, or it is given up

A neuron is seen where its plane meets the boundary, at two pairs of pieces at least: decisions tell nothing of others.
Ours; that the boundary's bends tell the weights is from the papers below, which try all groups of bends.

References: Chen, Dong, Guo, Shen, Wang & Wang, Hard-label cryptanalytic extraction of neural network models,
ASIACRYPT 2024; Carlini, Chávez-Saab, Hambitzer, Rodríguez-Henríquez & Shamir, Polynomial time cryptanalytic extraction
of deep neural networks in the hard-label setting, EUROCRYPT 2025.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from paramid import Access, Claim, Directions, GiveUp, Oracle, Run, Spec
from paramid.methods.decisions import bends, boundary, polylines, vanishing
from paramid.methods.decisions.boundary import Decide
from paramid.methods.decisions.polylines import Pieces
from paramid.methods.decisions.vanishing import Vanishing
from paramid.methods.kinks import network
from paramid.methods.piecewise import facing
from paramid.methods.piecewise.arrays import generator, tensor
from paramid.methods.piecewise.facing import Layer
from paramid.methods.piecewise.line_kinks import Array, Flags, Places
from paramid.methods.piecewise.planes import Planes
from paramid.methods.piecewise.sign_regression import sides
from paramid.words.options import at_least

STEP, SHARE = 1e-2, 0.05  # between points of one piece, and of its length at most
ROUGH, SURE = 1e-7, 1e-11  # of a point's size: what the network is known to before and after the last regression
AGAIN = 3
NEAR, FAR, POINTS = 0.05, 1.0, 16  # from a bend that puzzles: where is looked for further ones, and at how many points
ON_PLANE = 1e-6  # of a point's size: a bend there is over the plane
EACH = 6  # bends over every plane that the network is told from at first
FRESH, CLOSE = 1000, 4  # decisions at random, and beside every plane


class Seen(NamedTuple):
    """Inputs at random with their decisions, pieces of the boundary, planes of neurons, and which bends tell what."""

    inputs: Array
    positive: Flags
    pieces: Pieces
    tangent: Array  # (g, c) of pieces
    planes: Array
    telling: Places  # pieces beside some bends over every known plane
    counted: Places  # how many bends over each
    puzzling: Array  # bends over none


@dataclass(frozen=True)
class BoundaryBends:
    """One hidden layer of ReLUs by decisions alone: bends of the boundary, planes, one regression (ours)."""

    walks: int = 1  # random planes that are walked in at first, in both directions; in later rounds as many more
    rounds: int = 9  # of walks before it gives up
    inputs: int = 200  # at random, to look for both decisions among

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.DECISIONS})

    def __post_init__(self) -> None:
        at_least(self, walks=1, rounds=1, inputs=2)

    def declines(self, spec: Spec) -> str | None:
        """One hidden layer of ReLUs, one output, exact decisions."""
        if not spec.shallow or spec.activation != "relu":
            return f"needs one hidden layer of ReLUs below a linear output; this is {', '.join(spec.activations)}"
        if spec.outputs > 1:
            return f"needs one output; this has {spec.outputs}"
        if spec.inputs < 3:
            return f"needs 3 inputs: on {spec.inputs} the spans of two bends always meet"
        if spec.widths[0] is not None and spec.widths[0] < 3:
            return f"needs 3 neurons: {spec.widths[0]} leave the boundary too few pieces to determine them"
        if spec.widths[0] is None:
            return "needs the width: decisions do not tell of neurons that do not bend the boundary"
        if spec.resolution:
            return "needs decisions on float64 values without noise"
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """The planes, then the network."""
        source, decide = generator(run), decisions(oracle, run)
        x = source.standard_normal((self.inputs, d := oracle.spec.inputs))
        nothing, none = np.zeros((0, d + 1)), np.zeros(0, np.intp)
        why = ""
        seen = Seen(x, decide(x), polylines.nothing(d), nothing, nothing, none, none, x[:0])
        if seen.positive.all() or not seen.positive.any():
            raise GiveUp(f"all of {self.inputs} decisions are the same: no boundary to be seen")
        for number in range(1, self.rounds + 1):
            seen = further(decide, seen, number * self.walks, 3 * (width(oracle.spec) + 1), source)
            try:
                found = rough(seen, width(oracle.spec), source)
                yield Directions(tensor(found.planes.n.T, run))
                layer = exact(decide, found, seen, source)
            except GiveUp as error:
                why = str(error)
                continue
            yield network(layer, oracle.spec, run)
            return
        raise GiveUp(why)


def decisions(oracle: Oracle, run: Run) -> Decide:
    """The oracle for arrays."""

    def decide(x: Array) -> Flags:
        return np.asarray(oracle.decide(tensor(x, run)).numpy(force=True)[:, 0] > 0)

    return decide


def width(spec: Spec) -> int:
    """What was told."""
    assert spec.widths[0] is not None
    return spec.widths[0]


def further(decide: Decide, seen: Seen, walks: int, steps: int, source: np.random.Generator) -> Seen:
    """More walks, from points between inputs of opposite decisions: anywhere, and about bends that puzzle."""
    below, above = (source.choice(seen.inputs[which], walks) for which in (~seen.positive, seen.positive))
    if len(seen.puzzling):
        x = about(source.choice(seen.puzzling, (walks, 1)), source)
        positive = decide(x.reshape(-1, x.shape[2])).reshape(x.shape[:2])
        both = positive.any(1) & ~positive.all(1)
        first = [x[both, which[both].argmax(1)] for which in (~positive, positive)]
        below, above = (np.concatenate(pair) for pair in zip((below, above), first, strict=True))
    towards = (above - below) / np.linalg.norm(above - below, axis=1, keepdims=True)
    pieces = polylines.walks(decide, boundary.halved(decide, below, above), towards, steps, source)
    tangent, use = np.full((len(pieces.x), len(seen.planes.T)), np.nan), wanted(pieces, seen)
    h = np.minimum(STEP, SHARE * pieces.length[use])
    tangent[use] = boundary.tangent_planes(decide, pieces.x[use], pieces.across[use], h, source)
    pieces, tangent = seen.pieces.joined(pieces), np.concatenate([seen.tangent, tangent])
    bent = bends.bends(pieces, tangent)
    planes = bends.planes(pieces, bent, seen.planes)
    over = bends.over(bent, planes)
    telling = [bent.pieces[source.permutation(np.flatnonzero(of_one))[:EACH]].ravel() for of_one in over.T]
    which = np.unique(np.concatenate([np.zeros(0, np.intp), *telling]))
    return Seen(seen.inputs, seen.positive, pieces, tangent, planes, which, over.sum(0), bent.x[~over.any(1)])


def wanted(pieces: Pieces, seen: Seen) -> Places:
    """The pieces beside bends, but not over planes that enough is known of."""
    enough = seen.planes[seen.counted >= EACH]
    off = np.abs(pieces.last @ enough[:, :-1].T + enough[:, -1]).min(1, initial=np.inf)
    bend = np.flatnonzero(pieces.ended & (off > ON_PLANE * (1 + np.linalg.norm(pieces.last, axis=1))))
    behind = (pieces.walker[:, None] == pieces.walker[bend]) & (pieces.step[:, None] == pieces.step[bend] + 1)
    return np.union1d(bend, np.flatnonzero(behind.any(1)))


def about(x: Array, source: np.random.Generator) -> Array:
    """Points about others, (points, 1, inputs), near and far."""
    count, _, d = x.shape
    size = np.exp(source.uniform(np.log(NEAR), np.log(FAR), (count, 1, 1)))
    return np.asarray(x + size * source.standard_normal((count, POINTS, d)))


def rough(seen: Seen, told: int, source: np.random.Generator) -> Vanishing:
    """The network as far as pieces tell it."""
    found = seen.planes
    if len(found) != told:
        raise GiveUp(f"the boundary bends at {len(found)} planes that are known by two bends; {told} neurons were told")
    unknown = np.zeros(told)
    planes = Planes(found[:, :-1], found[:, -1], unknown[:, None], 0 * found[:, :-1], unknown, unknown == 0)
    x, like = vanishing.of_pieces(seen.pieces.x[seen.telling], seen.tangent[seen.telling], source)
    return vanishing.vanishing(x, like, planes, seen.inputs, seen.positive)


def exact(decide: Decide, found: Vanishing, seen: Seen, source: np.random.Generator) -> Layer:
    """To rounding, from points beside all bends; given up where fresh decisions differ."""
    x = vanishing.beside_bends(decide, found, seen.pieces, ROUGH, source)
    for _ in range(AGAIN):
        before, found = found.planes, vanishing.vanishing(x, x, found.planes, seen.inputs, seen.positive)
        if np.array_equal(sides(before, x), sides(found.planes, x)):
            break
    layer = facing.faced(found.planes, found.affine, found.residual)
    certain(decide, layer, found.planes, seen.pieces, source)
    return layer


def certain(decide: Decide, layer: Layer, planes: Planes, pieces: Pieces, source: np.random.Generator) -> None:
    """Give up where decisions at random, beside planes, or on either side of the boundary are not the layer's."""

    def f(x: Array) -> Array:
        return np.asarray(layer(x)[:, 0])

    x, across = vanishing.zeros(f, planes, pieces, CLOSE, source)
    off = SURE * (1 + np.linalg.norm(x, axis=1, keepdims=True)) * across
    fresh = source.standard_normal((FRESH, planes.n.shape[1]))
    at = np.concatenate([fresh, facing.felt(layer, source), x + off, x - off])
    if wrong := int(np.sum(decide(at) != (f(at) > 0))):
        raise GiveUp(f"{wrong} of {len(at)} fresh decisions are not those of the network found")
