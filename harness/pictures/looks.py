"""How a method looks wherever it is drawn: its colour, dash and marker, which other methods do not change.

The three together tell 280 methods apart; colours alone seven, those of Okabe & Ito, whose black is the page's text
colour and whose yellow is left out (invisible on white). A method has the place that `PLACES` gives it, which grows at
its end only; one that has none has the place that its name hashes to. What it is called with, options or a device,
keeps the colour of the method and changes dash and marker.

Reference: Okabe & Ito, Color universal design, 2008.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

INK = "#1a1a1a"  # of words and axes; within a page, the page's own
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
DASHES: tuple[tuple[float, ...], ...] = ((), (7, 3), (2, 2), (8, 3, 2, 3), (12, 3))
MARKERS = ("o", "s", "^", "D", "v", "P", "p", "X")
PLACES = (
    *("sphere-lm", "spm", "spectral-norm", "sgd", "student", "expand-cluster", "hermite-fused"),
    *("peel", "entangled", "entangled-gauge", "kinks", "cryptanalytic", "far-lines", "boundary-bends"),
    *("threshold-correlation", "threshold-boundary", "threshold-plane", "threshold-graph"),
    *("hermite-jennrich", "cp-als", "relu-regression"),
    *("overparam-gd", "gram-least-squares", "gram-moments", "gram-queries"),
    *("densenet-lm", "densenet-als", "densenet-joint", "densenet-algorithm1", "densenet-layerwise"),
    *("convnet", "kernel"),
)


class Look(NamedTuple):
    """How one line looks."""

    colour: str
    dash: tuple[float, ...]
    marker: str


def look(entrant: str) -> Look:
    """Of a method, with its options and its device."""
    base = entrant.partition(" on ")[0].partition(":")[0]
    first = PLACES.index(base) if base in PLACES else _hashed(base)
    if entrant == base:
        return nth(first)
    plain, further = nth(first), _hashed(entrant[len(base) :])
    dashes, markers = (len(kinds) for kinds in (DASHES, MARKERS))
    return Look(
        plain.colour,
        DASHES[(DASHES.index(plain.dash) + 1 + further % (dashes - 1)) % dashes],
        MARKERS[(MARKERS.index(plain.marker) + 1 + further // dashes % (markers - 1)) % markers],
    )


def nth(place: int) -> Look:
    """The look at a place: the first seven are plain lines, the next seven dashed ones."""
    dash = DASHES[place // len(COLOURS) % len(DASHES)]
    return Look(COLOURS[place % len(COLOURS)], dash, MARKERS[place % len(MARKERS)])


def in_turn(names: Iterable[str]) -> dict[str, Look]:
    """Looks of what is no method, in the order of their places."""
    return {name: nth(place) for place, name in enumerate(names)}


def _hashed(words: str) -> int:
    return int.from_bytes(hashlib.sha256(words.encode("utf-8", "replace")).digest()[:4], "big")
