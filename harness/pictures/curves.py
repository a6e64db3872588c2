"""How fast the error falls.

    (1)  Over the cost c: error(c) of each seed's claims, and the median over seeds of min_{c' ≤ c} error(c').

The same records give the same bytes in whatever order they come. How errors are defined: docs/metrics.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from paramid.pictures.looks import Look, look
from paramid.pictures.panels import Lines, Panel, draw_panels
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import Axes, End, Figure, Point, line, logarithmic, mark, name_ends, named, plain
from paramid.records.number_format import shown
from paramid.records.quantities import UNITS, cost, endings, error, error_words, log_median
from paramid.records.record import Record, Stage
from paramid.words.naming import UsageError


def curves(
    records: Sequence[Record], over: str = "seconds", *, seeds: bool = True, looks: Callable[[str], Look] = look
) -> Figure:
    """(1) over seconds, or over the rows of the teacher: one panel for each task; without `seeds` the medians alone."""
    if over not in UNITS:
        raise UsageError(f"curves go over {' or '.join(UNITS)}, not {over!r}")
    if all(math.isinf(error(s.metrics)) for r in records for s in r.claims):
        raise UsageError("no claim has an error to draw")

    def prepare(title: str, ours: Lines) -> Panel | None:
        return _panel(title, ours, over, seeds, looks)

    return draw_panels(records, (), f"Error over {over}", prepare, "a single claim has an error; one point is no curve")


def trace(record: Record, over: str) -> list[Point]:
    """(cost, error) of the claims that have an error."""
    points = [(cost(stage, over), error(stage.metrics)) for stage in record.claims]
    return [(c, e) for c, e in points if math.isfinite(e)]


def best_so_far(traces: Sequence[Sequence[Point]]) -> list[Point]:
    """At each cost, the median over traces of the least error until then, as soon as it is finite."""
    least = [([c for c, _ in t], [math.inf, *accumulate((e for _, e in t), min)]) for t in traces]
    costs = sorted({c for spent, _ in least for c in spent})
    levels = [(c, log_median([errors[bisect_right(spent, c)] for spent, errors in least])) for c in costs]
    kept = [(c, level) for c, level in levels if math.isfinite(level)]
    return [p for i, p in enumerate(kept) if i in (0, len(kept) - 1) or p[1] != kept[i - 1][1]]


def _panel(title: str, ours: Lines, over: str, seeds: bool, looks: Callable[[str], Look]) -> Panel | None:
    traces = {name: [trace(r, over) for r in group] for name, group in ours.items()}
    if len({point for group in traces.values() for one in group for point in one}) < 2:
        return None
    bold = {name: best_so_far(each) for name, each in traces.items()}
    about = {name: f"{name}: {_reached(bold[name])}, {endings(group)}" for name, group in ours.items()}
    drawn = {name: points for name, points in bold.items() if points or (seeds and any(traces[name]))}

    def draw(axes: Axes, words: Mapping[str, str]) -> None:
        every = [point for group in traces.values() for one in group for point in one]
        x, y = Scale.around([c for c, _ in every]), Scale.around([e for _, e in every])
        named(axes, title=title, across=plain(over), up="error")
        logarithmic(axes, x, y)
        ends = []
        for name, points in drawn.items():
            style = looks(name)
            if seeds:
                _seeds(axes, ours[name], style, over, x, y)
            if not points:  # fewer than half of the seeds have an error
                points = sorted(p for one in traces[name] for p in one)[-1:]
            else:
                _median(axes, points, style, name, about[name], x, y)
            c, e = points[-1]
            ends += [End(name, words[name], (x.share(c), y.share(e)), style)]
        name_ends(axes, ends)

    return Panel(dict.fromkeys(drawn, ""), about, draw)


def _median(axes: Axes, points: Sequence[Point], style: Look, name: str, told: str, x: Scale, y: Scale) -> None:
    places = [(x.held(c), y.held(e)) for c, e in points]
    line(axes, places, style, width=2.4, told=told, ended=True, drawstyle="steps-post", label=name)


def _seeds(axes: Axes, group: Sequence[Record], style: Look, over: str, x: Scale, y: Scale) -> None:
    for record in group:
        points = [(x.held(c), y.held(e)) for c, e in trace(record, over)]
        if len(points) > 1:
            line(axes, points, style, width=1.0, alpha=0.45, drawstyle="steps-post")
        for stage in record.claims:
            value = error(stage.metrics)
            if math.isfinite(value):
                place = (x.held(cost(stage, over)), y.held(value))
                mark(axes, place, style, told=_claim(record, stage, over), alpha=0.6, markersize=4.5)


def _claim(record: Record, stage: Stage, over: str) -> str:
    spent = f"{shown(stage.seconds)} s" if over == "seconds" else f"{cost(stage, over):,.0f} rows"
    return f"{record.method}, seed {record.seed}: {stage.kind} after {spent}, error {error_words(error(stage.metrics))}"


def _reached(bold: Sequence[Point]) -> str:
    return f"error {error_words(bold[-1][1])} at {shown(bold[-1][0])}" if bold else "no error at the median"
