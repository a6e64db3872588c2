"""Where learners stop being trapped: shares over a size with their logistic fits, and losses over steps.

    (1)  P(x) = 1 / (1 + e^{-a(x - c)}),   a and c by maximum likelihood on the rising branch, c the crossing of 1/2,
    (2)  c is known to within log ℓ_max - log ℓ(c) ≤ χ²_1(0.95) / 2,   ℓ(c) the likelihood at its best a.

The rising branch starts at the last of the least shares: below it, where weights are few, learners find the teacher
again, which no logistic curve of a single step could follow.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from paramid.pictures.looks import Look, in_turn
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import (
    GAP,
    Axes,
    End,
    Figure,
    end_words,
    line,
    logarithmic,
    mark,
    name_ends,
    named,
    room_for,
    rule,
    sheet,
)  # fmt: skip
from paramid.records.number_format import shown

Points = Sequence[tuple[float, float]]
HEIGHT = 150.0  # of a panel
Values = NDArray[np.float64]
STEEPEST, GRID = 20.0, 801  # a of (1), and the candidates for c
WITHIN = NormalDist().inv_cdf(0.975) ** 2 / 2  # of (2)


def rising(points: Points) -> Points:
    """The points from the last of the least shares on."""
    least = min(p for _, p in points)
    first = max(i for i, (_, p) in enumerate(points) if p == least)
    return points[first:]


def crossing(points: Points, trials: int) -> tuple[float, float]:
    """The c and a of (1) for shares of `trials`; NaN where the shares do not rise past 1/2."""
    branch = rising(points)
    if not rises(branch):
        return math.nan, math.nan
    c, a, likelihood = _likelihood(branch, trials)
    best = np.unravel_index(int(likelihood.argmax()), likelihood.shape)
    flat = likelihood[:, best[1]] >= likelihood.max() - 1e-9  # where steps are sharp, c is anywhere in between
    return float(c[flat].mean()), float(a[best[1]])


def crossing_interval(points: Points, trials: int) -> tuple[float, float]:
    """The 95 % interval of c: where the likelihood, at its best a, is within (2) of the largest; NaN without a c."""
    branch = rising(points)
    if not rises(branch):
        return math.nan, math.nan
    c, _, likelihood = _likelihood(branch, trials)
    near = c[likelihood.max(1) >= likelihood.max() - WITHIN]
    return float(near.min()), float(near.max())


def rises(branch: Points) -> bool:
    """Whether a rising branch begins below 1/2 and passes it."""
    return len(branch) > 1 and branch[0][1] < 0.5 < max(p for _, p in branch)


def _likelihood(branch: Points, trials: int) -> tuple[Values, Values, Values]:
    """Candidates for c and for a, and the logarithmic likelihood of every pair."""
    x, p = (np.array(values) for values in zip(*branch, strict=True))
    c, a = np.linspace(x.min(), x.max(), GRID), np.geomspace(0.1, STEEPEST, 60)
    q = 1 / (1 + np.exp(-np.clip(a[None, :, None] * (x - c[:, None, None]), -40, 40)))
    q = np.clip(q, 1e-9, 1 - 1e-9)
    return c, a, (trials * (p * np.log(q) + (1 - p) * np.log(1 - q))).sum(2)


def shares(panels: Mapping[str, tuple[str, Mapping[str, Points]]], trials: int) -> Figure:
    """One panel for each title: the name of its axis, and of each line the shares."""
    looks = in_turn(dict.fromkeys(name for _, lines in panels.values() for name in lines))
    words = {
        title: end_words({n: _crossing(ps, trials) for n, ps in lines.items()}) for title, (_, lines) in panels.items()
    }
    right = max(room_for(told.values()) for told in words.values())
    about = ". ".join(f"{title}: {'; '.join(told.values())}" for title, told in words.items())
    bodies = [max(HEIGHT, GAP * len(lines)) for _, lines in panels.values()]
    figure, every = sheet(bodies, "Shares of teachers", about, right=right)
    for axes, (title, (across, lines)) in zip(every, panels.items(), strict=True):
        named(axes, title=title, across=across, up=f"share of {trials} teachers")
        _shares(axes, across, lines, looks, words[title], trials)
    return figure


def _crossing(points: Points, trials: int) -> str:
    c, _ = crossing(points, trials)
    return "" if math.isnan(c) else f"½ at {c:.2f}"


def _shares(
    axes: Axes,
    across: str,
    lines: Mapping[str, Points],
    looks: Mapping[str, Look],
    words: Mapping[str, str],
    trials: int,
) -> None:
    sizes = sorted({x for points in lines.values() for x, _ in points})
    low, high = sizes[0], max(sizes[-1], sizes[0] + 1)
    edge = 0.03 * (high - low)
    axes.set_xlim(low - edge, high + edge)
    axes.set_ylim(0.0, 1.0)
    rule(axes, "x", sizes, shown)
    axes.grid(False)
    rule(axes, "y", [0.0, 0.25, 0.5, 0.75, 1.0], lambda share: f"{share:g}")
    ends = []
    for name, points in lines.items():
        c, a = crossing(points, trials)
        if not math.isnan(c):
            fit = [(float(x), 1 / (1 + math.exp(-a * (x - c)))) for x in np.linspace(rising(points)[0][0], high, 80)]
            line(axes, fit, looks[name])
        for x, p in points:
            mark(axes, (x, p), looks[name], told=f"{name}, {across}={x:g}: {p:.2f}")
        x, p = points[-1]
        ends += [End(name, words[name], ((x - low + edge) / (high - low + 2 * edge), p), looks[name])]
    name_ends(axes, ends)


def losses(panels: Mapping[str, Mapping[str, Points]], up: str) -> Figure:
    """One panel for each title, of each line its values over steps, both logarithmic."""
    words = {title: end_words({n: shown(ps[-1][1]) for n, ps in lines.items()}) for title, lines in panels.items()}
    right = max(room_for(told.values()) for told in words.values())
    about = ". ".join(f"{title} ends at {'; '.join(told.values())}" for title, told in words.items())
    bodies = [max(HEIGHT, GAP * len(lines)) for lines in panels.values()]
    figure, every = sheet(bodies, f"{up} over steps", about, right=right)
    for axes, (title, lines) in zip(every, panels.items(), strict=True):
        looks, points = in_turn(lines), [point for ours in lines.values() for point in ours]
        x, y = (Scale.around([point[i] for point in points]) for i in (0, 1))
        named(axes, title=title, across="steps", up=up)
        logarithmic(axes, x, y)
        for name, ours in lines.items():
            line(axes, ours, looks[name])
            for a, b in ours:
                mark(axes, (a, b), looks[name], told=f"{name}, {a:g}: {b:.1e}", markersize=5.5)
        lasts = {name: (x.share(ours[-1][0]), y.share(ours[-1][1])) for name, ours in lines.items()}
        name_ends(axes, [End(name, words[title][name], last, looks[name]) for name, last in lasts.items()])
    return figure
