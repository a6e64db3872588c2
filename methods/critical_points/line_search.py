"""Critical points on lines by bisection with slopes from both sides.

An interval [lo, hi] of a line x(t) = x_0 + t d, with its values at the ends and in the middle, is dropped where it is

    (1)  straight,  |f(mid) - (f(lo) + f(hi)) / 2| < τ √(hi - lo),   or shorter than 1e-8: two kinks too close;

otherwise one kink is tried. With the slopes m_1 over the first quarter and m_2 over the last, the two lines meet at

    (2)  t* = lo + (f(hi) - f(lo) - m_2 (hi - lo)) / (m_1 - m_2),

which is accepted, as it is, where it lies in the middle half, f(t*) is on both lines to 100 τ and the slopes over 1e-4
beside it are m_1 and m_2 to 10 τ. Otherwise the interval is halved. No value is asked twice.

All intervals of all lines are worked on at once, which asks for the same values as one after the other would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from paramid import GiveUp
from paramid.methods.piecewise.line_kinks import Array, Flags, Lines, Places, Values

NARROWEST, BESIDE = 1e-8, 1e-4
MIDDLE = 0.25 - 1e-5  # t* is at most this far from the middle, in lengths of the interval
VALUE, SLOPE = 100.0, 10.0  # in τ
CROWDED = 2000  # intervals of a line that are worked on at once, where the papers know no limit

Along = Callable[[Array, Places], Array]  # places (intervals, k) on lines -> values


class Kinks(NamedTuple):
    """Where on which line."""

    t: Array
    line: Places


class Intervals(NamedTuple):
    """Places (intervals, 3) of ends and middle, or (intervals, 5) with the quarters, and their values."""

    line: Places
    t: Array
    f: Array

    def at(self, which: Flags) -> Intervals:
        """Some of them."""
        return Intervals(self.line[which], self.t[which], self.f[which])

    def halves(self) -> Intervals:
        """Both halves of those with quarters."""
        return Intervals(
            np.concatenate([self.line, self.line]),
            np.concatenate([self.t[:, :3], self.t[:, 2:]]),
            np.concatenate([self.f[:, :3], self.f[:, 2:]]),
        )


def search(f: Values, lines: Lines, reach: Array, tau: float) -> Kinks:
    """The kinks with |t| < `reach`, a number for each line, in order."""

    def along(t: Array, line: Places) -> Array:
        which = np.repeat(line, t.shape[1])
        return f(lines.at(t.ravel(), which))[:, 0].reshape(t.shape)

    every, found = np.arange(len(reach)), [Kinks(reach[:0], np.empty(0, dtype=np.intp))]
    ends = reach[:, None] * np.array([-1.0, 0.0, 1.0])
    open_ = Intervals(every, ends, along(ends, every))
    while len(open_.line):
        bent = open_.at(~dropped(open_, tau))
        if len(bent.line) > CROWDED * len(reach):
            raise GiveUp(f"f bends in {len(bent.line)} places of {len(reach)} lines: it is not piecewise linear")
        t = np.stack([bent.t[:, :2].mean(1), bent.t[:, 1:].mean(1)], 1)
        order = [0, 3, 1, 4, 2]
        bent = Intervals(
            bent.line, np.hstack([bent.t, t])[:, order], np.hstack([bent.f, along(t, bent.line)])[:, order]
        )
        meet, one = one_kink(along, bent, tau)
        found.append(Kinks(meet[one], bent.line[one]))
        open_ = bent.at(~one).halves()
    kinks = Kinks(*(np.concatenate(part) for part in zip(*found, strict=True)))
    order_ = np.lexsort((kinks.t, kinks.line))
    return Kinks(kinks.t[order_], kinks.line[order_])


def dropped(intervals: Intervals, tau: float) -> Flags:
    """Whether (1) holds."""
    width = intervals.t[:, 2] - intervals.t[:, 0]
    off = np.abs(intervals.f[:, 1] - (intervals.f[:, 0] + intervals.f[:, 2]) / 2)
    return (off < tau * np.sqrt(width)) | (width < NARROWEST)


def one_kink(along: Along, bent: Intervals, tau: float) -> tuple[Array, Flags]:
    """(2), and whether it is accepted."""
    t, y = bent.t, bent.f
    width = t[:, 4] - t[:, 0]
    m1, m2 = (y[:, 1] - y[:, 0]) / (t[:, 1] - t[:, 0]), (y[:, 4] - y[:, 3]) / (t[:, 4] - t[:, 3])
    change = m1 - m2
    share = np.divide(y[:, 4] - y[:, 0] - m2 * width, change * width, out=np.full(len(t), np.inf), where=change != 0)
    one = np.abs(share - 0.5) < MIDDLE
    meet = t[:, 0] + np.where(one, share, 0) * width
    value = np.full(len(t), np.nan)
    value[one] = along(meet[one, None], bent.line[one])[:, 0]
    one[one] = np.abs(value - y[:, 0] - m1 * (meet - t[:, 0]))[one] < VALUE * tau
    beside = along(meet[one, None] + [-BESIDE, BESIDE], bent.line[one])
    slopes = (beside - value[one, None]) / [-BESIDE, BESIDE]
    one[one] = (np.abs(slopes - np.stack([m1, m2], 1)[one]) < SLOPE * tau).all(1)
    return meet, one
