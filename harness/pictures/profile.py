"""Performance profiles: of how many tasks and targets a method is at most τ times as dear as the cheapest.

    (1)  ρ_s(τ) = share of the (p, ε) with r_sp(ε) ≤ τ,   r of `statistics.ranking` (2),

a staircase that rises at the ratios r themselves. Its height at τ = 1 is how often nobody is cheaper, the one at the
right end how much is solved at all within `CEILING` times the least cost; log τ has the area of the score below it.

Reference: Dolan & Moré, Math. Program. 91 (2002).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from paramid.pictures.looks import look
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import (
    Axes,
    End,
    Figure,
    Point,
    body_for,
    end_words,
    line,
    logarithmic,
    name_ends,
    named,
    plain,
    room_for,
    rule,
    sheet,
)  # fmt: skip
from paramid.records.record import Record
from paramid.records.selection import entrants
from paramid.statistics import ranking
from paramid.statistics.intervals import Array
from paramid.statistics.ranking import CEILING
from paramid.statistics.target_costs import KINDS, TargetCosts, boards, target_costs
from paramid.words.naming import UsageError


def profile(records: Sequence[Record], over: str = "seconds") -> Figure:
    """A panel for each kind of access, cost in seconds or in rows of the teacher."""
    made = {KINDS[kind]: target_costs(ours, over) for kind, ours in boards(entrants(records)).items()}
    return profiles(made, over)


def profiles(made: Mapping[str, TargetCosts], over: str = "seconds") -> Figure:
    """A panel for each title with anything to compare."""
    every = {title: stairs(each) for title, each in made.items()}
    kept = {title: lines for title, lines in every.items() if lines}
    if not kept:
        raise UsageError("no method meets targets of two tasks; one point is no profile")
    words = {title: end_words(dict.fromkeys(lines, "")) for title, lines in kept.items()}
    about = ". ".join(
        f"{title}: {'; '.join(_told(n, points) for n, points in ls.items())}" for title, ls in kept.items()
    )
    right = max(map(room_for, (told.values() for told in words.values())))
    figure, panels = sheet([body_for(len(lines)) for lines in kept.values()], "Performance profile", about, right=right)
    for axes, (title, lines) in zip(panels, kept.items(), strict=True):
        _panel(axes, title, lines, words[title], over)
    return figure


def stairs(made: TargetCosts) -> dict[str, list[Point]]:
    """The corners of (1) for every method that meets a target; none where fewer than two targets are met at all."""
    if not made.methods or not made.tasks:
        return {}
    ratios = ranking.ratios(ranking.expected_cost(made.spent, made.hit)).reshape(len(made.methods), -1)
    if (ratios == 1).any(axis=0).sum() < 2:
        return {}
    return {name: corners(row) for name, row in zip(made.methods, ratios, strict=True) if (row <= CEILING).any()}


def corners(ratios: Array) -> list[Point]:
    """(1) of one method: from τ = 1 a corner at every ratio, up to `CEILING`."""
    found, counts = np.unique(ratios[ratios <= CEILING], return_counts=True)
    heights = counts.cumsum() / ratios.size
    points = list(zip(found.tolist(), heights.tolist(), strict=True))
    first = [] if points and points[0][0] == 1.0 else [(1.0, 0.0)]
    return [*first, *points, (CEILING, points[-1][1] if points else 0.0)]


def _panel(axes: Axes, title: str, lines: Mapping[str, list[Point]], words: Mapping[str, str], over: str) -> None:
    named(
        axes,
        title=title,
        across="τ: at most so many times the cost of the cheapest",
        up=f"share of tasks and targets, cost in {plain(over)}",
    )
    x = Scale(1.0, CEILING)
    logarithmic(axes, x, None, [1.0, 10.0, 100.0, 1000.0])
    most = min(math.floor(4 * max(points[-1][1] for points in lines.values())) / 4 + 0.25, 1.0)
    axes.set_ylim(0.0, most)
    rule(axes, "y", [most * part / 5 for part in range(6)], lambda share: f"{share:.0%}")
    for name, points in lines.items():
        line(axes, points, look(name), told=_told(name, points), drawstyle="steps-post", label=name)
    name_ends(axes, [End(name, words[name], (1.0, points[-1][1] / most), look(name)) for name, points in lines.items()])


def _told(name: str, points: Sequence[Point]) -> str:
    return f"{name}: {points[0][1]:.0%} at τ = 1, {points[-1][1]:.0%} at {CEILING:g}"
