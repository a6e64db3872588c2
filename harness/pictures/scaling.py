"""How time grows: seconds ≈ C x^p over a task option x, p fitted to the medians of the identified seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import linear_regression, median

from paramid.pictures import svg
from paramid.pictures.axes import LEFT, RIGHT, TOP, Scale, Style, axes
from paramid.pictures.panels import BOTTOM, Chart, Lines, along, by_place, draw_panels
from paramid.records.number_format import shown
from paramid.records.quantities import endings, identified
from paramid.records.record import Record
from paramid.records.selection import options
from paramid.words.naming import UsageError


def scaling(records: Sequence[Record], over: str = "m") -> str:
    """Seconds over a task option: one panel, or one for each group of tasks that differ in other options too."""
    kept = along(records, (over,))
    if any(options(r.task)[over] <= 0 for r in kept):
        raise UsageError(f"{over!r} has values that are not positive; its axis is logarithmic")
    return draw_panels(
        kept, (over,), f"Seconds over {over}", lambda title, ours, looks: _scaling(title, ours, looks, over)
    )


def exponent(points: Mapping[float, float]) -> float:
    """p, by least squares of the logarithms; NaN from fewer than two points."""
    positive = [(math.log(x), math.log(y)) for x, y in points.items() if y > 0]
    if len(positive) < 2:
        return math.nan
    return linear_regression(*zip(*positive, strict=True)).slope


def _scaling(title: str, ours: Lines, looks: Mapping[str, Style], over: str) -> Chart:
    records = [r for group in ours.values() for r in group]
    values = sorted(value for (value,) in by_place(records, (over,)))
    x = Scale.around(values, LEFT, RIGHT)
    y = Scale.around([r.seconds for r in records], BOTTOM, TOP)
    drawn, words = (
        [axes(x, y, title=title, across=f"{over}   (×: seeds not identified)", up="seconds", ticks=values)],
        [],
    )
    for place, (name, group) in enumerate(ours.items()):
        medians: dict[float, float] = {}
        aside = 8.0 * (place - (len(ours) - 1) / 2)  # methods that fail at one time limit stay apart
        for (value,), here in sorted(by_place(group, (over,)).items()):
            good, bad = [r for r in here if identified(r)], [r for r in here if not identified(r)]
            medians |= {value: median(r.seconds for r in good)} if good else {}
            label = f"{name}, {over}={shown(value)}: {endings(here)}"
            drawn += [_spent(label, good, looks[name].mark, x(value), y)] if good else []
            drawn += [_spent(f"{label}; not identified", bad, looks[name].cross, x(value) + aside, y)] if bad else []
        drawn += [looks[name].line([(x(v), y(s)) for v, s in medians.items()], width=2)] if medians else []
        power = exponent(medians)
        words += [(name, "no exponent" if math.isnan(power) else f"{over}^{power:.2f}", endings(group))]
    return drawn, words


def _spent(label: str, records: Sequence[Record], mark: Callable[[float, float], str], x: float, y: Scale) -> str:
    seconds = sorted(r.seconds for r in records)
    words = f"{label}: {', '.join(map(shown, seconds))} s"
    return svg.titled(words, mark(x, y(median(seconds))))
