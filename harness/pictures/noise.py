"""How errors follow the noise: the median error over σ, beside what the Cramér-Rao bound allows.

Dotted, in a method's colour, is the median of `bound`: the deviation of the least certain parameter, at the rows that
this method was shown. `bound_placed`, the same at as many rows of the best spread, is what better questions would have
given; the least of all methods is the line in ink. Both: `limits.limits_of_a_cell`. The largest of many normal errors
is two to three times the largest deviation, so that lines run beside their limit, not upon it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from paramid.pictures.looks import INK, Look, look
from paramid.pictures.panels import Lines, Panel, along, by_place, draw_panels
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import Axes, End, Figure, line, logarithmic, mark, name_ends, named
from paramid.records.number_format import shown
from paramid.records.quantities import endings, error, error_words, log_median
from paramid.records.record import Record
from paramid.records.selection import options

LIMIT = "the limit"
Values = dict[float, float]  # by σ


def noise(records: Sequence[Record], over: str = "noise") -> Figure:
    """Errors over a task option that says σ: a panel for each group of tasks that differ in other options."""
    kept = [r for r in along(records, (over,)) if options(r.task)[over] > 0]
    lack = f"no method has an error at two positive values of {over}; one point is no curve"
    return draw_panels(kept, (over,), f"Error over {over}", lambda title, ours: _panel(title, ours, over), lack)


def errors(group: Sequence[Record], over: str) -> Values:
    """The median error by σ, where it is finite."""
    levels = {v: log_median(sorted(error(r.metrics) for r in here)) for v, here in _sorted(group, over)}
    return {value: level for value, level in levels.items() if math.isfinite(level)}


def bounds(group: Sequence[Record], over: str, name: str) -> Values:
    """The median of a bound by σ, where one was told."""
    told = {v: [b for r in here if 0 < (b := r.metrics.get(name, 0.0)) < math.inf] for v, here in _sorted(group, over)}
    return {value: median(each) for value, each in told.items() if each}


def _sorted(group: Sequence[Record], over: str) -> list[tuple[float, list[Record]]]:
    return [(value, here) for (value,), here in sorted(by_place(group, (over,)).items())]


def _panel(title: str, ours: Lines, over: str) -> Panel | None:
    found = {name: errors(group, over) for name, group in ours.items()}
    if max(map(len, found.values()), default=0) < 2:
        return None
    drawn = {name: each for name, each in found.items() if each}
    shown_rows = {name: bounds(ours[name], over, "bound") for name in drawn}
    placed = [bounds(group, over, "bound_placed") for group in ours.values()]
    least = {v: min(p[v] for p in placed if v in p) for v in sorted({v for p in placed for v in p})}
    about = {
        name: f"{name}: {_told(each, shown_rows.get(name, {}), over)}; {endings(ours[name])}"
        for name, each in found.items()
    }
    results = dict.fromkeys([*drawn, *([LIMIT] if least else [])], "")

    def draw(axes: Axes, words: Mapping[str, str]) -> None:
        every = [*drawn.values(), *shown_rows.values(), least]
        x = Scale.around([v for each in every for v in each])
        y = Scale.around([e for each in every for e in each.values()])
        dotted = "   (dotted: the limit at its rows)" if any(shown_rows.values()) else ""
        named(axes, title=title, across=f"{over}{dotted}", up="error")
        logarithmic(axes, x, y, sorted({v for each in every for v in each}))
        ends = []
        for name, each in drawn.items():
            style = look(name)
            if shown_rows[name]:
                line(axes, list(shown_rows[name].items()), Look(style.colour, (1, 2), style.marker), width=1.2)
            if len(each) > 1:
                line(axes, list(each.items()), style)
            for value, level in each.items():
                bound = f", limit {shown(shown_rows[name][value])}" if value in shown_rows[name] else ""
                told = f"{name}, {over}={shown(value)}: {error_words(level)}{bound}"
                mark(axes, (value, level), style, label=name, told=told)
            ends += [_end(name, words, each, x, y, style)]
        if least:
            ink = Look(INK, (), "_")
            told = f"{LIMIT} with the best inputs: {_pairs(least)}"
            line(axes, list(least.items()), ink, width=1.2, label=LIMIT, told=told)
            ends += [_end(LIMIT, words, least, x, y, ink)]
        name_ends(axes, ends)

    return Panel(results, about, draw)


def _end(name: str, words: Mapping[str, str], each: Values, x: Scale, y: Scale, style: Look) -> End:
    value, level = list(each.items())[-1]
    return End(name, words[name], (x.share(value), y.share(level)), style)


def _told(each: Values, limit: Values, over: str) -> str:
    return f"error over {over} {_pairs(each) or 'none'}" + (f", limit {_pairs(limit)}" if limit else "")


def _pairs(each: Values) -> str:
    return ", ".join(f"{shown(value)}: {shown(level)}" for value, level in each.items())
