"""Words beside lines and marks: short, no two alike, none upon another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

MOST = 23  # letters of a name beside a line
REACH, RINGS, NEAR = 6.0, 24, 24  # points from a mark to its words; rings around it; free places that are compared
LETTER, LINE = 0.62, 1.2  # of the size of a font: the width of a letter on average, the height of a line


def shortened(names: Iterable[str], most: int = MOST) -> dict[str, str]:
    """A word for each name, at most so long unless two would be alike.

    What is longer loses the names of options that are words, `spm:derivatives=exact` becomes `spm:exact`, and if need
    be its middle.
    """
    made: dict[str, str] = {}
    every = sorted(set(names), key=lambda name: (len(name), name))
    for name in every:
        taken = set(made.values()) | {other for other in every if other != name}
        made[name] = next(word for word in _shorter(name, most) if word not in taken)
    return made


def _shorter(name: str, most: int) -> Iterator[str]:
    if len(name) > most:
        plain = re.sub(r"(?<=[:,])\w+=(?=[a-z])", "", name)
        if len(plain) <= most:
            yield plain
        for head in (*range(most // 2, most - 2), *range(most // 2 - 1, 1, -1)):
            yield f"{name[:head]}…{name[head + 1 - most :]}"
    yield name


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places nearest to these, in the sum of squares, that keep their order, a gap, and between `low` and `high`.

    With y_i = x_i + i gap ascending the gaps are pools of equal y (isotonic regression by pool adjacent violators).
    More than fit are spread evenly.
    """
    if not places:
        return []
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    order = sorted(range(len(places)), key=lambda i: (places[i], i))
    pools: list[tuple[float, int]] = []  # of x - i gap: mean and number
    for rank, i in enumerate(order):
        mean, count = places[i] - rank * gap, 1
        while pools and pools[-1][0] >= mean:
            before, more = pools.pop()
            mean, count = (mean * count + before * more) / (count + more), count + more
        pools.append((mean, count))
    flat = [mean for mean, count in pools for _ in range(count)]
    room = high - (len(places) - 1) * gap
    made = [0.0] * len(places)
    for rank, i in enumerate(order):
        made[i] = min(max(flat[rank], low), room) + rank * gap
    return made


class Box(NamedTuple):
    """A rectangle, by its edges."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """Whether the two share a point within."""
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top

    def within(self, other: Box) -> bool:
        """Whether all of it is in the other."""
        across = other.left <= self.left and self.right <= other.right
        return across and other.bottom <= self.bottom and self.top <= other.top


def beside(
    points: Sequence[tuple[float, float]], words: Sequence[str], room: Box, size: float, avoided: Sequence[Box] = ()
) -> list[Box]:
    """A box for the words of every point, near it and in the room: none meets another or the mark of a point.

    Each takes the first free place of rings around its point, nearest first, if it can one that meets nothing that is
    `avoided`; in a room without a free place, the last one tried.
    """
    marks = [Box(x - 4.5, y - 4.5, x + 4.5, y + 4.5) for x, y in points]
    placed: list[Box] = []
    for (x, y), word in zip(points, words, strict=True):
        wide, high = LETTER * size * len(word), LINE * size
        tried = [box for box in _around(x, y, wide, high) if box.within(room)]
        free = [box for box in tried if not any(map(box.meets, (*placed, *marks)))]
        clear = [box for box in free[:NEAR] if not any(map(box.meets, avoided))]
        placed.append(next(iter((*clear, *free, *reversed(tried), Box(x, y, x + wide, y + high)))))
    return placed


def _around(x: float, y: float, wide: float, high: float) -> Iterator[Box]:
    for ring in range(RINGS):
        far = REACH + ring * high / 2
        for left, bottom in (
            (x + far, y - high / 2), (x - far - wide, y - high / 2),
            (x - wide / 2, y + far), (x - wide / 2, y - far - high),
            (x + far * 0.7, y + far * 0.7), (x + far * 0.7, y - far * 0.7 - high),
            (x - far * 0.7 - wide, y + far * 0.7), (x - far * 0.7 - wide, y - far * 0.7 - high),
        ):  # fmt: skip
            yield Box(left, bottom, left + wide, bottom + high)
