"""How a cost grows: c ≈ C x^p over a task option x or the size of a task, p fitted to medians of identified seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import linear_regression, median

from paramid.pictures.looks import Look, look
from paramid.pictures.panels import Lines, Panel, along, by_place, draw_made, draw_panels, lines
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import Axes, End, Figure, cross, line, logarithmic, mark, name_ends, named, plain, wide
from paramid.records.number_format import shown
from paramid.records.quantities import cost, endings, identified
from paramid.records.record import Record
from paramid.records.selection import options
from paramid.statistics.sizes import weights
from paramid.words.naming import UsageError
from paramid.words.status import Status

Here = Mapping[float, Sequence[Record]]  # by the size
APART = 7.0  # methods that fail at one time limit


def scaling(records: Sequence[Record], over: str = "m") -> Figure:
    """Seconds over a task option: one panel, or one for each group of tasks that differ in other options too."""
    kept = along(records, (over,))
    if any(options(r.task)[over] <= 0 for r in kept):
        raise UsageError(f"{over!r} has values that are not positive; its axis is logarithmic")

    def prepare(title: str, ours: Lines) -> Panel | None:
        sizes = {
            name: {v: here for (v,), here in sorted(by_place(group, (over,)).items())} for name, group in ours.items()
        }
        return _panel(title, sizes, over, "seconds")

    lack = f"nobody identified tasks of two values of {over}; one point is no growth"
    return draw_panels(kept, (over,), f"Seconds over {over}", prepare, lack)


def growth(groups: Mapping[str, Sequence[Record]], up: str = "queries") -> Figure:
    """Rows of the teacher or seconds over the size of tasks (`statistics.sizes`): a panel for each group."""
    made = {title: panel for title, group in groups.items() if (panel := _panel(title, _by_size(group), "size", up))}
    return draw_made(made, f"{plain(up)} over size", "nobody identified tasks of two sizes; one point is no growth")


def _by_size(records: Sequence[Record]) -> dict[str, Here]:
    """Of the methods that solve any: the runs that were not declined, by the size of their tasks."""
    solving = {name: group for name, group in lines(records).items() if any(map(identified, group))}
    found: dict[str, dict[float, list[Record]]] = {name: {} for name in solving}
    for name, group in solving.items():
        for r in (r for r in group if r.status is not Status.DECLINED):
            found[name].setdefault(weights(r.task), []).append(r)
    return {name: dict(sorted(here.items())) for name, here in found.items()}


def exponent(points: Mapping[float, float]) -> float:
    """p, by least squares of the logarithms; NaN from fewer than two points."""
    positive = [(math.log(x), math.log(y)) for x, y in points.items() if y > 0]
    if len(positive) < 2:
        return math.nan
    return linear_regression(*zip(*positive, strict=True)).slope


def medians(here: Here, up: str = "seconds") -> dict[float, float]:
    """Of the costs of identified seeds, by size."""
    good = {size: [cost(r, up) for r in group if identified(r)] for size, group in here.items()}
    return {size: median(costs) for size, costs in good.items() if costs}


def _panel(title: str, sizes: Mapping[str, Here], over: str, up: str) -> Panel | None:
    grown = {name: medians(here, up) for name, here in sizes.items()}
    if max(map(len, grown.values()), default=0) < 2:
        return None
    ours = {name: [r for group in here.values() for r in group] for name, here in sizes.items()}
    power = {name: exponent(points) for name, points in grown.items()}
    results = {name: "" if math.isnan(p) else f"{over}^{p:.2f}" for name, p in power.items()}
    about = {name: f"{name}: {results[name] or 'no exponent'}, {endings(group)}" for name, group in ours.items()}

    def draw(axes: Axes, words: Mapping[str, str]) -> None:
        values = sorted({value for here in sizes.values() for value in here})
        x, y = Scale.around(values), Scale.around([cost(r, up) for group in ours.values() for r in group])
        named(axes, title=title, across=f"{over}   (×: seeds not identified)", up=plain(up))
        logarithmic(axes, x, y, values)
        ends = []
        for place, name in enumerate(ours):
            aside = (x.high / x.low) ** (APART * (place - (len(ours) - 1) / 2) / wide(axes))
            c, s = _line(axes, f"{name}, {over}", sizes[name], grown[name], aside, look(name), (x, y), up)
            ends += [End(name, words[name], (x.share(c), y.share(s)), look(name))]
        name_ends(axes, ends)

    return Panel(results, about, draw)


def _line(
    axes: Axes,
    name: str,
    sizes: Here,
    grown: Mapping[float, float],
    aside: float,
    style: Look,
    scales: tuple[Scale, Scale],
    up: str,
) -> tuple[float, float]:
    """Marks of the identified and of the others at every size, the line through the former; where it ends."""
    x, y = scales
    end = (math.nan, math.nan)
    for value, here in sizes.items():
        bad = [cost(r, up) for r in here if not identified(r)]
        label = f"{name}={shown(value)}: {endings(here)}"
        if value in grown:
            mark(axes, (value, y.held(grown[value])), style, label=name, told=f"{label}: {_costs(here, True, up)}")
        if bad:
            end = (x.held(value * aside), y.held(median(bad)))
            cross(axes, end, style, told=f"{label}; not identified: {_costs(here, False, up)}")
    if grown:
        points = [(value, y.held(seconds)) for value, seconds in grown.items()]
        line(axes, points, style)
        end = points[-1]
    return end


def _costs(here: Sequence[Record], good: bool, up: str) -> str:
    unit = "s" if up == "seconds" else "rows"
    return ", ".join(shown(c) for c in sorted(cost(r, up) for r in here if identified(r) is good)) + f" {unit}"
