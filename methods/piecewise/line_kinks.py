"""Every kink of a piecewise linear function along straight lines, each to rounding, for about eight values a kink.

Along x(t) = x_0 + t d the function is linear between kinks, so that no difference has a truncation error and every step
may be as long as its piece. Values are known to

    (1)  τ(t) = ρ G (1 + |t|) + σ,   G = max |f| / (1 + |t|) over the first values, ρ a hundred units of rounding,

and a value is *straight* where it lies on the chord of its neighbours to (1), each of the three with its own weight:
with one bound for all, a far neighbour would hide every near kink. Runs of straight values with their ends are pieces.
Between two pieces

    (2)  with a common end the kink is there;
    (3)  with no value between them it is proposed where their lines meet, t*, and asked for at t* and at either side:
         two kinks of opposite jumps have t* outside of both, where f does lie on both lines, and three of equal jumps
         have it between them;
    (4)  otherwise values are added in the widest gaps, at random and never at t*, which lies on both lines whatever
         there is; and where a line is not covered to its ends, there.

All lines and all gaps are worked on at once, with one call of f a round. t runs over tan θ, θ evenly spread and
jittered: a line of infinite length meets every plane, at places that are about Cauchy distributed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
Values = Callable[[Array], Array]  # (rows, inputs) -> (rows, outputs)

EPS = float(np.finfo(np.float64).eps)
ROUGH, ULPS = 100.0, 4.0  # units of rounding, for what is straight and for a difference
JITTER = 0.3  # of a step, either way
ROUNDS = 80
NARROWEST, END = 1e-11, 1e-10  # of 1 + |t|: a gap that is not split further; an end of a line that is not looked at
SHORT = 3.0  # times a piece's length is too far to trust its slope
NEAR, SURE, INSIDE = 1e-3, 1e3, 0.4  # of (3): how far aside is asked, in gaps, in rounding over the jump, and at most
AGREES, BESIDE, SPLIT = 2.0, 1e-6, 0.1


@dataclass(frozen=True)
class Precision:
    """What is known of a value: (1)."""

    size: float  # G
    rounding: float = ROUGH * EPS  # ρ
    noise: float = 0.0  # σ, times what it takes to be sure
    ulp: float = EPS

    def __call__(self, t: Array) -> Array:
        """τ(t)."""
        return self.rounding * self.size * (1 + np.abs(t)) + self.noise

    def ulps(self, t: Array) -> Array:
        """ν(t): what a difference of two values is known to."""
        return ULPS * self.ulp * self.size * (1 + np.abs(t)) + self.noise


@dataclass(frozen=True)
class Lines:
    """Straight lines x_0 + t d, a row each."""

    origin: Array
    direction: Array

    def at(self, t: Array, which: Places) -> Array:
        """Points of some of them."""
        return self.origin[which] + t[:, None] * self.direction[which]


class Seen(NamedTuple):
    """The values along all lines, in order; `kink` is that of a proposal accepted between a value and the next."""

    t: Array
    line: Places
    f: Array
    kink: Array

    def joined(self, t: Array, line: Places, f: Array) -> Seen:
        """With further values, in order."""
        every = Seen(
            np.concatenate([self.t, t]),
            np.concatenate([self.line, line]),
            np.concatenate([self.f, f]),
            np.concatenate([self.kink, np.full(len(t), np.nan)]),
        )
        order = np.lexsort((every.t, every.line))
        return Seen(every.t[order], every.line[order], every.f[order], every.kink[order])


class Pieces(NamedTuple):
    """Runs of straight values: where they begin and end among the values, their line and slope."""

    first: Places
    last: Places
    line: Places
    slope: Array


@dataclass(frozen=True)
class Walk:
    """What is known along lines: pieces in order, and after which of them there is a kink, and where."""

    lines: Lines
    seen: Seen
    pieces: Pieces
    after: Places  # kink k lies between the pieces after[k] and after[k] + 1
    t: Array
    precision: Precision
    unresolved: int  # kinks in gaps too narrow to split

    @property
    def points(self) -> Array:
        """The kinks."""
        return self.lines.at(self.t, self.pieces.line[self.after])

    @property
    def jumps(self) -> Array:
        """By how much the slope changes at every kink, (kinks, outputs)."""
        return self.pieces.slope[self.after + 1] - self.pieces.slope[self.after]


class Gaps(NamedTuple):
    """What is between pieces that are neighbours on a line: (2) to (4)."""

    left: Places  # the piece before
    low: Places  # its last value
    high: Places  # the first of the piece after
    meet: Array  # t*, where their lines meet
    jump: Array  # the length of the change of slope

    def at(self, which: Flags) -> Gaps:
        """Some of them."""
        return Gaps(self.left[which], self.low[which], self.high[which], self.meet[which], self.jump[which])


def walk(
    f: Values,
    lines: Lines,
    *,
    reach: float,
    start: int,
    source: np.random.Generator,
    precision: Precision | None = None,
    noise: float = 0.0,
    ulp: float = EPS,
    most: float = np.inf,
) -> Walk:
    """Every kink with |t| < `reach`, from `start` values a line on; left unfinished beyond `most` values."""
    t, which = grid(len(lines.origin), reach, start, source)
    values = f(lines.at(t, which))
    if precision is None:
        precision = Precision(float(np.max(np.abs(values) / (1 + np.abs(t))[:, None])), ROUGH * ulp, noise, ulp)
    seen = Seen(t[:0], which[:0], values[:0], t[:0]).joined(t, which, values)
    for _ in range(ROUNDS):
        pieces = straight_runs(seen, precision)
        gaps = gaps_between(seen, pieces)
        proposed, wanted = looked_at(seen, pieces, gaps, precision, source)
        if proposed.any():
            seen, refused = asked(f, lines, seen, pieces, gaps.at(proposed), precision)
            wanted = np.concatenate([wanted, split(seen, refused, source)])
        wanted = np.concatenate([wanted, uncovered(seen, pieces, len(lines.origin), source)])
        if len(seen.t) > most or (not len(wanted) and not proposed.any()):
            break
        if len(wanted):
            t, which = wanted[:, 0], wanted[:, 1].astype(np.intp)
            seen = seen.joined(t, which, f(lines.at(t, which)))
    return found(lines, seen, precision)


def grid(lines: int, reach: float, start: int, source: np.random.Generator) -> tuple[Array, Places]:
    """`start` places on each line, even in arctan t and jittered."""
    theta = np.linspace(-np.arctan(reach), np.arctan(reach), start)
    moved = np.tile(theta, (lines, 1))
    moved[:, 1:-1] += (theta[1] - theta[0]) * JITTER * source.uniform(-1, 1, (lines, start - 2))
    return np.tan(moved).ravel(), np.repeat(np.arange(lines), start)


def straight_runs(seen: Seen, precision: Precision) -> Pieces:
    """Maximal runs of straight values, with the neighbours at both ends."""
    t, line, f, _ = seen
    straight = np.zeros(len(t), dtype=bool)
    a, b, c = slice(0, -2), slice(1, -1), slice(2, None)
    same = line[a] == line[c]
    share = np.where(same, (t[b] - t[a]) / np.where(same, t[c] - t[a], 1), 0.5)
    off = np.abs(f[b] - (1 - share)[:, None] * f[a] - share[:, None] * f[c]).max(1)
    bound = ((1 - share) * precision(t[a]) + share * precision(t[c]) + precision(t[b])) / 2
    straight[1:-1] = same & (off <= bound)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], straight, [False]]).astype(np.int8)))
    first, last = edges[::2] - 1, edges[1::2]
    slope = (f[last] - f[first]) / (t[last] - t[first])[:, None]
    return Pieces(first, last, line[first], slope)


def gaps_between(seen: Seen, pieces: Pieces) -> Gaps:
    """Neighbouring pieces and where their lines meet, from the values nearest to the gap."""
    left = np.flatnonzero(pieces.line[1:] == pieces.line[:-1])
    low, high = pieces.last[left], pieces.first[left + 1]
    before, behind = pieces.slope[left], pieces.slope[left + 1]
    middle = (seen.t[low] + seen.t[high]) / 2
    change = before - behind
    apart = (
        seen.f[low]
        + before * (middle - seen.t[low])[:, None]
        - seen.f[high]
        - behind * (middle - seen.t[high])[:, None]
    )
    size = np.square(change).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = np.where(size > 0, middle - (apart * change).sum(1) / size, np.inf)
    return Gaps(left, low, high, meet, np.sqrt(size))


def looked_at(
    seen: Seen, pieces: Pieces, gaps: Gaps, precision: Precision, source: np.random.Generator
) -> tuple[Flags, Array]:
    """Which gaps have a kink to ask for, and (t, line) of the values to add for the others."""
    t = seen.t
    lo, hi = t[gaps.low], t[gaps.high]
    open_ = (gaps.high > gaps.low) & np.isnan(seen.kink[gaps.low]) & (hi - lo >= NARROWEST * (1 + np.abs(lo)))
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = np.where(gaps.jump > 0, 10 * precision(lo) / gaps.jump, 0)
    likely = open_ & (gaps.high == gaps.low + 1) & (gaps.meet >= lo - margin) & (gaps.meet <= hi + margin)
    length = t[pieces.last] - t[pieces.first]
    short_left = likely & (SHORT * length[gaps.left] < gaps.meet - lo)
    short_right = likely & (SHORT * length[gaps.left + 1] < hi - gaps.meet)
    line = pieces.line[gaps.left]
    wanted = [
        np.stack([(lo + gaps.meet)[short_left] / 2, line[short_left]], 1),
        np.stack([(hi + gaps.meet)[short_right] / 2, line[short_right]], 1),
        widest(seen, gaps.low[open_ & ~likely], gaps.high[open_ & ~likely], source),
    ]
    return likely & ~short_left & ~short_right, np.concatenate(wanted)


def widest(seen: Seen, low: Places, high: Places, source: np.random.Generator, *, angles: bool = False) -> Array:
    """(t, line) in all intervals between values `low` and `high` that are half as wide as the widest of theirs."""
    if not len(low):
        return np.empty((0, 2))
    count = high - low
    owner = np.repeat(np.arange(len(low)), count)
    at = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count) + low[owner]
    place = np.arctan(seen.t) if angles else seen.t
    width = place[at + 1] - place[at]
    most = np.maximum.reduceat(width, np.cumsum(count) - count)
    chosen = at[width >= 0.5 * most[owner]]
    share = source.uniform(0.4, 0.6, len(chosen))
    between = place[chosen] * (1 - share) + place[chosen + 1] * share
    return np.stack([np.tan(between) if angles else between, seen.line[chosen]], 1)


def asked(f: Values, lines: Lines, seen: Seen, pieces: Pieces, gaps: Gaps, precision: Precision) -> tuple[Seen, Gaps]:
    """Ask for the proposals of (3): those that hold are noted, the others come back."""
    lo, hi = seen.t[gaps.low], seen.t[gaps.high]
    meet = np.clip(gaps.meet, lo, hi)
    tau = precision(meet)
    sure = SURE * tau / gaps.jump
    aside = [np.minimum(np.maximum(NEAR * room, sure), INSIDE * room) for room in (meet - lo, hi - meet)]
    t = np.stack([meet - aside[0], meet, meet + aside[1]], 1)
    ask = np.stack([meet - lo, hi - lo, hi - meet], 1) >= BESIDE * (hi - lo)[:, None]
    before = seen.f[gaps.low][:, None] + pieces.slope[gaps.left][:, None] * (t - lo[:, None])[..., None]
    behind = seen.f[gaps.high][:, None] + pieces.slope[gaps.left + 1][:, None] * (t - hi[:, None])[..., None]
    expected = np.stack([before[:, 0], (before[:, 1] + behind[:, 1]) / 2, behind[:, 2]], 1)
    length = seen.t[pieces.last] - seen.t[pieces.first]
    far = 1 + np.maximum((meet - lo) / length[gaps.left], (hi - meet) / length[gaps.left + 1])
    line = np.broadcast_to(seen.line[gaps.low][:, None], t.shape)
    off = np.zeros(t.shape)
    off[ask] = np.abs(f(lines.at(t[ask], line[ask])) - expected[ask]).max(1)
    holds = (off <= AGREES * (tau * far)[:, None]).all(1)
    kink = seen.kink.copy()
    kink[gaps.low[holds]] = meet[holds]
    return seen._replace(kink=kink), gaps.at(~holds)


def split(seen: Seen, gaps: Gaps, source: np.random.Generator) -> Array:
    """(t, line) inside gaps, away from t*."""
    lo, hi = seen.t[gaps.low], seen.t[gaps.high]
    share = source.uniform(0.4, 0.6, len(lo))
    near = np.abs(share - (gaps.meet - lo) / (hi - lo)) < SPLIT / 2
    return np.stack([lo + (hi - lo) * (share + SPLIT * near), seen.line[gaps.low]], 1)


def uncovered(seen: Seen, pieces: Pieces, lines: int, source: np.random.Generator) -> Array:
    """(t, line) towards the ends of lines that no piece reaches."""
    every = np.arange(lines)
    first, last = np.searchsorted(seen.line, every), np.searchsorted(seen.line, every, side="right") - 1
    begin, end = np.searchsorted(pieces.line, every), np.searchsorted(pieces.line, every, side="right") - 1
    none = end < begin
    padded_first, padded_last = np.append(pieces.first, 0), np.append(pieces.last, 0)
    low = np.concatenate([first, np.where(none, last, padded_last[end])])
    high = np.concatenate([np.where(none, last, padded_first[begin]), last])
    wide = (high > low) & (seen.t[high] - seen.t[low] >= END * (1 + np.abs(seen.t[low])))
    return widest(seen, low[wide], high[wide], source, angles=True)


def found(lines: Lines, seen: Seen, precision: Precision) -> Walk:
    """The kinks of gaps that are settled: by (2), by (3), or too narrow to be split."""
    pieces = straight_runs(seen, precision)
    gaps = gaps_between(seen, pieces)
    touching = gaps.high <= gaps.low
    told = seen.kink[gaps.low]
    narrow = ~touching & np.isnan(told)
    middle = (seen.t[gaps.low] + seen.t[gaps.high]) / 2
    t = np.where(touching, gaps.meet, np.where(narrow, middle, told))
    return Walk(lines, seen, pieces, gaps.left, t, precision, int(narrow.sum()))
