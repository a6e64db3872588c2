"""Lines through points over two logarithmic axes: a chart of what is no method, and one line as small as a word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from paramid.pictures.looks import Look, in_turn
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import (
    BODY,
    GAP,
    End,
    Figure,
    Point,
    end_words,
    line,
    logarithmic,
    mark,
    name_ends,
    named,
    room_for,
    sheet,
)  # fmt: skip
from paramid.pictures.svg import clean
from paramid.records.number_format import shown
from paramid.words.naming import UsageError

Series = Mapping[str, Sequence[Point]]
WORD = (140.0, 40.0)  # the size of a small line


def chart(series: Series, *, title: str, across: str, up: str) -> Figure:
    """A line for every name, in the look of its place; what is not positive and finite is left out."""
    finite = {n: [p for p in points if math.isfinite(p[1]) and p[1] > 0] for n, points in series.items()}
    drawn = {n: points for n, points in finite.items() if points}
    if not drawn:
        raise UsageError("no record has the numbers of this figure")
    if max(map(len, drawn.values())) < 2:
        raise UsageError("each line of this figure has a single point")
    about = "; ".join(f"{n}: " + ", ".join(f"{shown(a)} {shown(b)}" for a, b in ps) for n, ps in drawn.items())
    words, looks, every = end_words(dict.fromkeys(drawn, "")), in_turn(drawn), [p for ps in drawn.values() for p in ps]
    body = max(BODY + 40, GAP * len(drawn))
    figure, (axes,) = sheet([body], title, about, right=room_for(words.values()))
    x, y = Scale.around([p[0] for p in every]), Scale.around([p[1] for p in every])
    named(axes, title=title, across=across, up=up)
    logarithmic(axes, x, y, sorted({p[0] for p in every}))
    for name, points in drawn.items():
        line(axes, points, looks[name], label=name)
        for a, b in points:
            mark(axes, (a, b), looks[name], told=f"{name}, {shown(a)}: {shown(b)}", markersize=5.5)
    name_ends(axes, [End(n, words[n], (x.share(ps[-1][0]), y.share(ps[-1][1])), looks[n]) for n, ps in drawn.items()])
    return figure


def small(points: Sequence[Point], style: Look, label: str) -> Figure:
    """A line without axes, for a card or a table; `label` says in words what it shows."""
    if len(points) < 2:
        raise UsageError("one point is no curve")
    figure = Figure(figsize=(WORD[0] / 72, WORD[1] / 72), dpi=72, facecolor="none")
    figure.set_label(clean(label))
    axes = figure.add_axes((0.04, 0.12, 0.92, 0.76), frameon=False)
    x, y = (Scale.around([p[i] for p in points]) for i in (0, 1))
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xticks=[], yticks=[])
    places = [(x.share(a), y.share(b)) for a, b in points]
    line(axes, places, style)
    for place in places[:-1]:
        mark(axes, place, style, markersize=4.0)
    mark(axes, places[-1], style, markersize=6.0)
    return figure
