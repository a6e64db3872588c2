"""Planes of neurons from bends: over a neuron's plane the boundary goes on as another, and the three are one span.

With F_± = λ_± G_± the affine function f on both sides of a bend, G_± = (g, c) its boundary as far as that shows f,

    (1)  F_+ - F_- = ± α (n, b),   so that (n, b) ∈ span(G_-, G_+), two dimensions of D + 1.

Two bends of one neuron have two such spans, which meet in (n, b) alone, and those of different neurons do not meet

    (2)  unless they share a piece, and then in its G.

A plane is believed where no straight piece of the boundary goes through it: there it would have to bend. Bends whose
spans hold no plane that is known show where to look for others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.decisions.polylines import Pieces
from paramid.methods.piecewise.line_kinks import Array, Flags, Places

MEET, NEAR = 1e-6, 1e-10  # of the angle at which spans part: one at which they meet; what is looked at, by its cosine
OWN, SAME = 1e-5, 1e-4  # angles: to a piece's own G, by (2); between two findings of one plane
HOLDS = 1e-8  # of the cosine of a known plane's angle with a span: it is in it
FAINT, APART = 1e-5, 1e-3  # sines between G_- and G_+, and at which spans part otherwise: less tells too little
THROUGH = 1e-4  # of a point's size: farther on both sides of a plane a piece goes through it


class Bends(NamedTuple):
    """Where they are, the two pieces, orthonormal spans (bends, D + 1, 2), and the two G that these are of."""

    x: Array
    pieces: Places
    span: Array
    before: Array
    after: Array

    def at(self, which: Places) -> Bends:
        """Some of them."""
        return Bends(self.x[which], self.pieces[which], self.span[which], self.before[which], self.after[which])


def bends(pieces: Pieces, planes: Array) -> Bends:
    """Those between the pieces of which a plane is known."""
    order = np.lexsort((pieces.step, pieces.walker))
    one, next_one = order[:-1], order[1:]
    known = np.isfinite(planes[:, 0])
    joined = (pieces.walker[one] == pieces.walker[next_one]) & known[one] & known[next_one]
    before, after = (units(planes[which[joined]]) for which in (one, next_one))
    sharp = np.flatnonzero(angle(before, after) > FAINT)
    before, after = before[sharp], after[sharp]
    which = np.stack([one, next_one], 1)[joined][sharp]
    return Bends(pieces.last[which[:, 0]], which, np.linalg.qr(np.stack([before, after], 2))[0], before, after)


def units(rows: Array) -> Array:
    """Rows of length 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def angle(a: Array, b: Array) -> Array:
    """Sines between lines along unit rows."""
    towards = np.where(np.einsum("ki,ki->k", a, b) < 0, -1.0, 1.0)
    return np.asarray(np.linalg.norm(a - towards[:, None] * b, axis=1))


def planes(pieces: Pieces, seen: Bends, kept: Array) -> Array:
    """The (n, b), ‖n‖ = 1, that two bends agree on and no piece contradicts: those known before, then the surest."""
    kept = kept[~pierced(kept, pieces)]
    found, gap = meetings(seen.at(np.flatnonzero(~over(seen, kept).any(1))))
    found = found[np.argsort(-gap)]
    found = found / np.linalg.norm(found[:, :-1], axis=1, keepdims=True)
    found = found[~pierced(found, pieces)]
    while len(found):
        kept = np.concatenate([kept, found[:1]])
        found = found[angle(units(found), np.broadcast_to(units(found[:1]), found.shape)) > SAME]
    return kept


def over(seen: Bends, known: Array) -> Flags:
    """Whether bends are over planes, which their spans hold then: (bends, planes)."""
    return np.asarray(np.linalg.norm(np.einsum("kdi,jd->kji", seen.span, units(known)), axis=2) > 1 - HOLDS)


def meetings(seen: Bends) -> tuple[Array, Array]:
    """Where spans meet by (2), and how far from meeting twice they are."""
    first, second = np.triu_indices(len(seen.span), 1)
    close = cosines(seen.span)[first, second] > 1 - NEAR
    first, second = first[close], second[close]
    both = np.concatenate([seen.span[first], -seen.span[second]], axis=2)
    _, sizes, v = np.linalg.svd(both, full_matrices=False)
    common = units(np.einsum("kdi,ki->kd", seen.span[first], v[:, -1, :2]))
    own = np.stack([angle(common, of[which]) for of in (seen.before, seen.after) for which in (first, second)])
    meet = (sizes[:, -1] < MEET * sizes[:, -2]) & (sizes[:, -2] > APART) & (own > OWN).all(0)
    return common[meet], sizes[meet, -2]


def cosines(span: Array) -> Array:
    """Of the smallest angles between all spans: of 2 x 2 products, the larger singular value."""
    flat = span.transpose(0, 2, 1).reshape(-1, span.shape[1])
    a, b, c, d = ((flat[i::2] @ flat[j::2].T) for i in (0, 1) for j in (0, 1))
    square, det = a**2 + b**2 + c**2 + d**2, a * d - b * c
    return np.asarray(np.sqrt((square + np.sqrt(np.maximum(square**2 - 4 * det**2, 0))) / 2))


def pierced(found: Array, pieces: Pieces) -> Flags:
    """Whether a straight piece goes through a plane."""
    margin = THROUGH * (1 + np.linalg.norm(pieces.last, axis=1))
    start, end = (at @ found[:, :-1].T + found[:, -1] for at in (pieces.first, pieces.last))
    return np.asarray(((start * end < 0) & (np.minimum(np.abs(start), np.abs(end)) > margin[:, None])).any(0))
