"""Figures from records, as SVG text: how fast the error falls, how time grows; phase maps are in `phase_map`.

    (1)  curves: over the cost c, error(c) of each seed's claims, and the median over seeds of min_{c' ≤ c} error(c'),
    (2)  scaling: seconds ≈ C x^p over a task option x, p fitted to the medians of the identified seeds.

An error below 1e-17 is drawn there; one that is missing or not finite is as bad as can be. The same records give the
same bytes in whatever order they come. How errors are defined: docs/metrics.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from statistics import linear_regression, median

from paramid import svg
from paramid.charts import LEFT, RIGHT, TOP, WIDTH, Scale, Style, axes, legend, shown, stacked, styles
from paramid.naming import UsageError
from paramid.record import COSTS, Record, Stage
from paramid.selection import Lines, along, by_place, endings, error, identified, lines, middle, options, panels, said

BOTTOM = TOP + 190  # of a panel
UNITS = {"seconds": "seconds", "queries": f"rows of the teacher ({', '.join(COSTS)})"}
_counted = attrgetter(*COSTS)
Point = tuple[float, float]
Chart = tuple[list[str], list[tuple[str, str, str]]]  # marks; of each method its name, its result and its endings


def curves(records: Sequence[Record], over: str = "seconds", *, seeds: bool = True) -> str:
    """(1) over seconds, or over the rows of the teacher: one panel for each task; without `seeds` the medians alone."""
    if over not in UNITS:
        raise UsageError(f"curves go over {' or '.join(UNITS)}, not {over!r}")
    if all(math.isinf(error(s.metrics)) for r in records for s in r.claims):
        raise UsageError("no claim has an error to draw")

    def panel(title: str, ours: Lines, looks: Mapping[str, Style]) -> Chart:
        return _curves(title, ours, looks, over, seeds)

    return _drawn(records, (), f"Error over {over}", panel, markers=seeds)


def scaling(records: Sequence[Record], over: str = "m") -> str:
    """(2) over a task option: one panel, or one for each group of tasks that differ in other options too."""
    kept = along(records, (over,))
    if any(options(r.task)[over] <= 0 for r in kept):
        raise UsageError(f"{over!r} has values that are not positive; its axis is logarithmic")
    return _drawn(kept, (over,), f"Seconds over {over}", lambda title, ours, looks: _scaling(title, ours, looks, over))


def _drawn(
    records: Sequence[Record],
    by: tuple[str, ...],
    label: str,
    panel: Callable[[str, Lines, Mapping[str, Style]], Chart],
    *,
    markers: bool = True,
) -> str:
    """Panels with a legend each; a method looks the same in all."""
    looks = styles(list(lines(records)))
    made, about = [], []
    for title, ours in panels(records, by).items():
        drawn, words = panel(title, lines(ours), looks)
        rows, height = legend([(looks[name], name, told, ends) for name, told, ends in words], markers=markers)
        made += [("".join(drawn) + svg.shifted(0, BOTTOM + 36, rows), BOTTOM + 42 + height)]
        about += [f"{title}: " + "; ".join(": ".join(row if markers else row[:2]) for row in words)]
    marks, height = stacked(made)
    return svg.document(WIDTH, height, *marks, label=label, about=". ".join(about))


def cost(stage: Stage | Record, over: str) -> float:
    """What a claim had cost, or a whole run did: its seconds, or every row of the teacher."""
    return stage.seconds if over == "seconds" else float(sum(_counted(stage)))


def trace(record: Record, over: str) -> list[Point]:
    """(cost, error) of the claims that have an error."""
    points = [(cost(stage, over), error(stage.metrics)) for stage in record.claims]
    return [(c, e) for c, e in points if math.isfinite(e)]


def best_so_far(traces: Sequence[Sequence[Point]]) -> list[Point]:
    """At each cost, the median over traces of the least error until then, as soon as it is finite."""
    least = [([c for c, _ in t], [math.inf, *accumulate((e for _, e in t), min)]) for t in traces]
    costs = sorted({c for spent, _ in least for c in spent})
    levels = [(c, middle([errors[bisect_right(spent, c)] for spent, errors in least])) for c in costs]
    kept = [(c, level) for c, level in levels if math.isfinite(level)]
    return [p for i, p in enumerate(kept) if i in (0, len(kept) - 1) or p[1] != kept[i - 1][1]]


def steps(points: Sequence[Point]) -> list[Point]:
    """A staircase: a value holds until the next one."""
    return [*points[:1], *(corner for (_, a), (x, b) in pairwise(points) for corner in ((x, a), (x, b)))]


def _curves(title: str, ours: Lines, looks: Mapping[str, Style], over: str, seeds: bool) -> Chart:
    traces = {name: [trace(r, over) for r in group] for name, group in ours.items()}
    every = [point for group in traces.values() for one in group for point in one]
    x = Scale.around([c for c, _ in every], LEFT, RIGHT)
    y = Scale.around([e for _, e in every], BOTTOM, TOP)
    drawn, words = [axes(x, y, title=title, across=UNITS[over], up="error")], []
    for name, group in ours.items():
        look, bold = looks[name], best_so_far(traces[name])
        if seeds:
            drawn += [look.line([(x(c), y(e)) for c, e in steps(t)], width=1, opacity=0.45) for t in traces[name] if t]
            drawn += [_claim(record, stage, look, x, y, over) for record in group for stage in record.claims]
        drawn += [look.line([(x(c), y(e)) for c, e in steps(bold)], width=2.5)] if bold else []
        reached = f"error {said(bold[-1][1])} at {shown(bold[-1][0])}" if bold else "no error at the median"
        words += [(name, reached, endings(group))]
    return drawn, words


def _claim(record: Record, stage: Stage, look: Style, x: Scale, y: Scale, over: str) -> str:
    value = error(stage.metrics)
    if math.isinf(value):
        return ""
    spent = f"{shown(stage.seconds)} s" if over == "seconds" else f"{cost(stage, over):,.0f} rows"
    words = f"{record.method}, seed {record.seed}: {stage.kind} after {spent}, error {said(value)}"
    return svg.titled(words, look.mark(x(cost(stage, over)), y(value), opacity=0.7))


def exponent(points: Mapping[float, float]) -> float:
    """The p of (2) by least squares of the logarithms; NaN from fewer than two points."""
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
