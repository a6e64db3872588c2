"""How fast the error falls.

    (1)  Over the cost c: error(c) of each seed's claims, and the median over seeds of min_{c' ≤ c} error(c').

The same records give the same bytes in whatever order they come. How errors are defined: docs/metrics.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from paramid.pictures import svg
from paramid.pictures.axes import LEFT, RIGHT, TOP, Scale, Style, axes
from paramid.pictures.panels import BOTTOM, Chart, Lines, Point, draw_panels
from paramid.records.number_format import shown
from paramid.records.quantities import UNITS, cost, endings, error, error_words, log_median
from paramid.records.record import Record, Stage
from paramid.words.naming import UsageError


def curves(records: Sequence[Record], over: str = "seconds", *, seeds: bool = True) -> str:
    """(1) over seconds, or over the rows of the teacher: one panel for each task; without `seeds` the medians alone."""
    if over not in UNITS:
        raise UsageError(f"curves go over {' or '.join(UNITS)}, not {over!r}")
    if all(math.isinf(error(s.metrics)) for r in records for s in r.claims):
        raise UsageError("no claim has an error to draw")

    def panel(title: str, ours: Lines, looks: Mapping[str, Style]) -> Chart:
        return _curves(title, ours, looks, over, seeds)

    return draw_panels(records, (), f"Error over {over}", panel, markers=seeds)


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
        reached = f"error {error_words(bold[-1][1])} at {shown(bold[-1][0])}" if bold else "no error at the median"
        words += [(name, reached, endings(group))]
    return drawn, words


def _claim(record: Record, stage: Stage, look: Style, x: Scale, y: Scale, over: str) -> str:
    value = error(stage.metrics)
    if math.isinf(value):
        return ""
    spent = f"{shown(stage.seconds)} s" if over == "seconds" else f"{cost(stage, over):,.0f} rows"
    words = f"{record.method}, seed {record.seed}: {stage.kind} after {spent}, error {error_words(value)}"
    return svg.titled(words, look.mark(x(cost(stage, over)), y(value), opacity=0.7))
