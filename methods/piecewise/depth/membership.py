"""Is a row a neuron of this layer? A neuron bends f all over its plane, a piece of a deeper one only near where it was.

    (1)  hits: kinks on q = 0; misses: neighbouring pieces of a line between which q changes sign though the kink
         between them is elsewhere: at hand, without a value;
    (2)  |f(x + h n) - 2 f(x) + f(x - h n)| > 0 at points x of q = 0, in different patterns of the layers below:
         three values a point, remembered.

Without (2) pieces of the next layer but one pass as rows, and everything above them is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.depth import stack as stacks
from paramid.methods.piecewise.depth.evidence import Evidence
from paramid.methods.piecewise.depth.stack import FLAT, Rows, Stack
from paramid.methods.piecewise.line_kinks import Array, Flags, Places, Values

ON_PLANE = 1e-6  # of a point's size
POINTS, TRIES, STEPS = 8, 200, 20  # of (2); starts for them, and steps of Newton's
H, BENDS = 1e-3, 1e-12  # of (2), and of G
FAR = 20.0
ASKED = 4  # points of (2) that are enough to be remembered
SURELY, MANY = 6, 10  # hits of a row that needs no questions; neurons, times the inputs, where no width is told
SAME = 1e-9  # 1 - |cos| of rows that are one


class Support(NamedTuple):
    """(1) for every row: which kinks are on it, and how many are missed."""

    on: Flags  # (kinks, rows)
    misses: Places

    @property
    def hits(self) -> Places:
        """How many kinks are on it."""
        return np.asarray(self.on.sum(0))

    @property
    def share(self) -> Array:
        """Of its sign changes that are kinks."""
        return np.asarray(self.hits / np.maximum(self.hits + self.misses, 1), dtype=np.float64)


def support(stack: Stack, rows: Rows, seen: Evidence) -> Support:
    """(1)."""
    kinks, pieces, before = seen.kinks, seen.pieces, seen.before
    at, on = stack.rows(rows, kinks.x), stack.rows(rows, pieces.x)
    hit = at.distance() < ON_PLANE * stacks.size(kinks.x)[:, None]
    clear = ~(at.vague | on.vague[before] | on.vague[before + 1])
    changes = (on.q[before] > 0) != (on.q[before + 1] > 0)
    return Support(hit, (changes & clear & ~hit).sum(0))


class Membership:
    """(2) for one function, with what was asked before."""

    def __init__(self, f: Values, size: float, source: np.random.Generator) -> None:
        self.f, self.size, self.source = f, size, source
        self.told: list[tuple[int, Rows, int, int]] = []

    def __call__(self, stack: Stack, row: Rows) -> tuple[int, int]:
        """At how many points f bends, of how many: for one row."""
        for depth, other, hits, points in self.told:
            if (depth, points >= ASKED, other.w.shape) == (len(stack.layers), True, row.w.shape) and same(row, other):
                return hits, points
        x, n = self.places(stack, row)
        hits = int(bends(self.f, x, n, self.size).sum()) if len(x) else 0
        self.told.append((len(stack.layers), row, hits, len(x)))
        return hits, len(x)

    def places(self, stack: Stack, row: Rows) -> tuple[Array, Array]:
        """Points of q = 0 in different patterns, and unit normals there."""
        x = scattered(TRIES, stack.inputs, self.source)
        for step in range(STEPS):
            z = stack.rows(row, x)
            flat = z.length[:, 0] < FLAT
            if step + 1 < STEPS:
                move = -z.gradient[:, 0] * (z.q / np.maximum(z.length, FLAT) ** 2)
                move[flat] = self.source.standard_normal((int(flat.sum()), stack.inputs))
                x = x + shortened(move, 3 * np.sqrt(stack.inputs))
        good = np.flatnonzero((z.distance()[:, 0] < FLAT) & ~flat & (stacks.size(x) < FAR))
        if stack.layers:  # one for each pattern
            good = good[np.unique(stack.local(x[good]).active, axis=0, return_index=True)[1]]
        chosen = self.source.permutation(good)[:POINTS]
        return x[chosen], z.gradient[chosen, 0] / z.length[chosen]


def neurons(stack: Stack, rows: Rows, told: int | None, seen: Evidence, is_neuron: Membership, *, last: bool) -> Rows:
    """Those of the candidates that are neurons, at most as many as told, the most supported first."""
    width, of = MANY * stack.inputs if told is None else told, support(stack, rows, seen)
    may = np.flatnonzero((of.hits >= (1 if last else 2)) & (of.share >= 0.5))
    may = may[np.argsort(-(of.hits * of.share**2)[may], kind="stable")]
    few = told is not None and len(may) <= told
    kept: list[int] = []
    asked, free = 0, np.ones(len(of.on), bool)
    for row in may:
        if len(kept) == width or asked > 2 * width:
            break
        if not (of.on[:, row] & free).any():
            continue  # a part of a row that is kept
        hits, points = SURELY, SURELY
        if not few or of.hits[row] < SURELY or of.misses[row]:
            hits, points = is_neuron(stack, rows.at(np.array([row])))
            asked += 1
        if 2 * hits >= points and (points >= 2 or (last and few)):
            kept.append(int(row))
            free &= ~of.on[:, row]
    return rows.at(np.array(kept, dtype=np.intp))


def bends(f: Values, x: Array, n: Array, size: float) -> Flags:
    """(2) at points with unit normals."""
    values = f(np.concatenate([x - H * n, x, x + H * n])).reshape(3, len(x), -1)
    second = np.abs(values[0] - 2 * values[1] + values[2]).max(1)
    return np.asarray(second > BENDS * size * stacks.size(x))


def scattered(count: int, inputs: int, source: np.random.Generator) -> Array:
    """Gaussian points of half to four times the inputs' size."""
    sizes = np.exp(source.uniform(np.log(0.5), np.log(4), (count, 1)))
    return np.asarray(source.standard_normal((count, inputs)) * sizes, dtype=np.float64)


def shortened(move: Array, most: float) -> Array:
    """Moves of at most that length."""
    length = np.linalg.norm(move, axis=1, keepdims=True)
    return np.asarray(move * np.minimum(1, most / np.maximum(length, FLAT)), dtype=np.float64)


def same(row: Rows, other: Rows) -> bool:
    """Whether two rows are one, up to a factor, on the entries that both have."""
    both = np.append(row.seen[0] & other.seen[0], True)
    if both.sum() < 3:
        return False
    a, b = (np.append(r.w[0], r.b[0])[both] for r in (row, other))
    return bool(1 - abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-300) < SAME)
