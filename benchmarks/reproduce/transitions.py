"""Where learners stop being trapped: shares over a size with their logistic fits, and losses over steps, as SVG.

    (1)  P(x) = 1 / (1 + e^{-a(x - c)}),   a and c by maximum likelihood on the rising branch, c the crossing of 1/2,
    (2)  c is known to within log ℓ_max - log ℓ(c) ≤ χ²_1(0.95) / 2,   ℓ(c) the likelihood at its best a.

The rising branch starts at the last of the least shares: below it, where weights are few, learners find the teacher
again, which no logistic curve of a single step could follow.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from paramid.pictures import svg
from paramid.pictures.axes import LEFT, RIGHT, TOP, WIDTH, Scale, Style, axes, heading, legend, stacked, styles
from paramid.records.number_format import shown

Points = Sequence[tuple[float, float]]
BOTTOM = TOP + 150
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


def shares(panels: Mapping[str, tuple[str, Mapping[str, Points]]], trials: int) -> str:
    """One panel for each title: the name of its axis, and of each line the shares."""
    looks = styles(list(dict.fromkeys(name for _, lines in panels.values() for name in lines)))
    drawn = [_panel(title, across, lines, looks, trials) for title, (across, lines) in panels.items()]
    marks, height = stacked(drawn)
    return svg.document(WIDTH, height, *marks, label="Shares of teachers", about="; ".join(panels))


def _panel(
    title: str, across: str, lines: Mapping[str, Points], looks: Mapping[str, Style], trials: int
) -> tuple[str, float]:
    sizes = sorted({x for points in lines.values() for x, _ in points})
    low, high = sizes[0], max(sizes[-1], sizes[0] + 1)

    def place(x: float, p: float) -> tuple[float, float]:
        return LEFT + 12 + (RIGHT - LEFT - 24) * (x - low) / (high - low), BOTTOM - (BOTTOM - TOP) * p

    drawn, rows = [heading(title), _frame(sizes, across, place)], []
    for name, points in lines.items():
        c, a = crossing(points, trials)
        drawn += [svg.titled(f"{name}, {across}={x:g}: {p:.2f}", looks[name].mark(*place(x, p))) for x, p in points]
        if not math.isnan(c):
            fit = [(x, 1 / (1 + math.exp(-a * (x - c)))) for x in np.linspace(rising(points)[0][0], high, 80)]
            drawn += [looks[name].line((place(x, p) for x, p in fit), width=2)]
        rows += [
            (looks[name], name, "no crossing" if math.isnan(c) else f"1/2 at {c:.2f}", f"{trials} teachers a point")
        ]
    words, height = legend(rows)
    return "".join(drawn) + svg.shifted(0, BOTTOM + 36, words), BOTTOM + 44 + height


def _frame(sizes: Sequence[float], across: str, place: Callable[[float, float], tuple[float, float]]) -> str:
    grid = {"stroke": "currentColor", "stroke_opacity": 0.18}
    drawn = []
    for p in (0.0, 0.5, 1.0):
        y = place(sizes[0], p)[1]
        drawn += [svg.path([(LEFT, y), (RIGHT, y)], **grid)]
        drawn += [svg.text(f"{p:g}", LEFT - 5, y + 4, text_anchor="end")]
    for x in sizes:
        drawn += [svg.text(shown(x), place(x, 0)[0], BOTTOM + 14, text_anchor="middle")]
    return "".join(drawn) + svg.text(across, (LEFT + RIGHT) / 2, BOTTOM + 29, text_anchor="middle")


def losses(panels: Mapping[str, Mapping[str, Points]], up: str) -> str:
    """One panel for each title, of each line its values over steps, both logarithmic."""
    drawn = []
    for title, lines in panels.items():
        looks = styles(list(lines))
        x = Scale.around(_values(lines, 0), LEFT, RIGHT)
        y = Scale.around(_values(lines, 1), BOTTOM, TOP)
        marks = [axes(x, y, title=title, across="steps", up=up)]
        for name, points in lines.items():
            marks += [looks[name].line([(x(a), y(b)) for a, b in points], width=2)]
            marks += [svg.titled(f"{name}, {a:g}: {b:.1e}", looks[name].mark(x(a), y(b))) for a, b in points]
        ends = [(looks[name], name, f"ends at {shown(points[-1][1])}", "best start") for name, points in lines.items()]
        rows, height = legend(ends)
        drawn += [("".join(marks) + svg.shifted(0, BOTTOM + 36, rows), BOTTOM + 44 + height)]
    marks, height = stacked(drawn)
    return svg.document(WIDTH, height, *marks, label=f"{up} over steps", about="; ".join(panels))


def _values(lines: Mapping[str, Points], which: int) -> Iterable[float]:
    return [point[which] for points in lines.values() for point in points]
