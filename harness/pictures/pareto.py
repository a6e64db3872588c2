"""Who buys how small an error at what cost.

A mark is the median of a method: over its seeds before one task, which stand pale around it, or over the tasks of a
family that it did not decline, whose medians do, unless a panel has more than `PARTS`. A seed without an error is
infinitely bad. Rows of a family are told for a parameter of the teacher, where all records do: below 1 is impossible
for one output. The broken line is the front of those that nobody beats in both,

    (1)  { s : no t with cost(t) ≤ cost(s), error(t) ≤ error(s) and one of the two smaller }.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from paramid.pictures.labels import Box, beside
from paramid.pictures.looks import INK, Look, look
from paramid.pictures.panels import lines
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import (
    BODY,
    MARK,
    SMALL,
    Axes,
    Figure,
    Point,
    clipped,
    end_words,
    high,
    line,
    logarithmic,
    mark,
    named,
    note,
    plain,
    sheet,
    wide,
)
from paramid.pictures.svg import titled
from paramid.records.number_format import shown
from paramid.records.quantities import UNITS, cost, endings, error, error_words, log_median
from paramid.records.record import Record
from paramid.records.selection import order
from paramid.words.naming import Name, UsageError
from paramid.words.status import Status

TALL, BELOW, PARTS = BODY + 50, 54.0, 400
EACH = "rows_per_parameter"
KINDS = ("family", "task")


class Place(NamedTuple):
    """A method in a panel."""

    point: Point  # cost and error, infinite where half have none
    parts: list[Point]
    told: str


def pareto(
    records: Sequence[Record], over: str = "queries", *, by: str = "family", links: Mapping[str, str] | None = None
) -> Figure:
    """Median errors over rows of the teacher or seconds: a panel for each family, or for each task.

    `links` are the addresses of methods, to which their marks lead.
    """
    if over not in UNITS or by not in KINDS:
        raise UsageError(f"pareto goes over {' or '.join(UNITS)} by {' or '.join(KINDS)}, not {over!r} by {by!r}")
    made = {}
    for title, ours in _grouped(records, by).items():
        told = (
            EACH if over == "queries" and by == "family" and all(EACH in r.metrics for r in ours if _ran(r)) else over
        )
        places = {name: place(name, group, told, by) for name, group in lines(ours).items() if any(map(_ran, group))}
        if sum(math.isfinite(p.point[1]) for p in places.values()) > 1:
            made[title] = (told, places)
    if not made:
        raise UsageError("no two methods have an error before the same tasks; one point is no front")
    about = ". ".join(f"{title}: {'; '.join(p.told for p in places.values())}" for title, (_, places) in made.items())
    figure, every = sheet([TALL] * len(made), f"Error over {over}", about, below=BELOW)
    for axes, (title, (told, places)) in zip(every, made.items(), strict=True):
        _panel(axes, title, told, places, "task" if by == "family" else "seed", links or {})
    return figure


def place(name: str, group: Sequence[Record], over: str, by: str) -> Place:
    """Where a method stands: its medians, and those that they are medians of."""
    ran = [r for r in group if _ran(r)]
    if by == "task":
        parts = [(_cost(r, over), error(r.metrics)) for r in ran]
        whole = endings(ran)
    else:
        tasks = _grouped(ran, "task")
        parts = [
            (median(_cost(r, over) for r in t), log_median(sorted(error(r.metrics) for r in t))) for t in tasks.values()
        ]
        whole = f"{len(tasks)} tasks, {endings(ran)}"
    point = (median(c for c, _ in parts), log_median(sorted(e for _, e in parts)))
    unit = {"seconds": " s", "queries": " rows", EACH: " rows a parameter"}[over]
    told = f"{name}: error {error_words(point[1])} for {shown(point[0])}{unit}; {whole}"
    return Place(point, parts, told)


def front(points: Iterable[Point]) -> list[Point]:
    """(1), cheapest first."""
    kept: list[Point] = []
    for c, e in sorted(points):
        if math.isfinite(e) and (not kept or e < kept[-1][1]):
            kept.append((c, e))
    return kept


def _panel(axes: Axes, title: str, over: str, places: Mapping[str, Place], part: str, links: Mapping[str, str]) -> None:
    there = {name: p for name, p in places.items() if math.isfinite(p.point[1])}
    parts = [(c, e) for p in there.values() for c, e in (*p.parts, p.point) if math.isfinite(e)]
    x = Scale.around([c for c, _ in parts] + ([1.0] if over == EACH else []))
    y = Scale.around([e for _, e in parts])
    across = "rows of the teacher a parameter" if over == EACH else plain(over)
    counts = {len(p.parts) for p in there.values()}
    some = f"; n/{max(counts)}: n of {max(counts)}" if len(counts) > 1 else ""
    named(axes, title=title, across=across, up=f"error, median over {part}s (pale: each {part}{some})")
    logarithmic(axes, x, y)
    if over == EACH:
        axes.axvline(1.0, color=INK, linewidth=1.2, alpha=0.6).set_gid(
            titled("1 row a parameter: fewer are impossible")
        )
    best = front(p.point for p in there.values())
    corners = [(best[0][0], y.high), *best, (x.high, best[-1][1])]
    broken = Look(INK, (5, 3), "")
    line(axes, [(x.held(c), e) for c, e in corners], broken, width=1.2, alpha=0.5, drawstyle="steps-post")
    for name, (c, e) in _pale(there):
        mark(axes, (x.held(c), y.held(e)), look(name), alpha=0.35, markersize=4.0)
    _names(axes, there, x, y, best, links)
    if absent := [name for name in places if name not in there]:
        words = f"no error at the median: {', '.join(absent)}"
        note(axes, (0.0, -44.0), clipped(words, 66)).set_gid(titled(words))


def _pale(there: Mapping[str, Place]) -> list[tuple[str, Point]]:
    """What the marks are medians of, by method, where there is any and not too many to see."""
    found = [
        (name, part) for name, p in there.items() for part in p.parts if len(p.parts) > 1 and math.isfinite(part[1])
    ]
    return found if len(found) <= PARTS else []


def _names(
    axes: Axes, there: Mapping[str, Place], x: Scale, y: Scale, best: Sequence[Point], links: Mapping[str, str]
) -> None:
    """The marks, and a name beside each, those on the front first; led there where it had to stand apart.

    A mark upon others is smaller than they are. A name says of how many tasks, where others had more.
    """
    ranked = sorted(there, key=lambda name: (there[name].point not in best, there[name].point, name))
    across, tall, most = wide(axes), high(axes), max(len(p.parts) for p in there.values())
    few = {n: f"{len(p.parts)}/{most}" if len(p.parts) < most else "" for n, p in there.items()}
    words = end_words(few)

    def inside(point: Point) -> Point:
        return x.share(point[0]) * across, y.share(point[1]) * tall

    points, stairs = [inside(there[name].point) for name in ranked], [inside(point) for point in best]
    avoided = [Box(a, b, (stairs[i + 1][0] if i + 1 < len(stairs) else across), b) for i, (a, b) in enumerate(stairs)]
    avoided += [Box(a, b, a, (stairs[i - 1][1] if i else tall)) for i, (a, b) in enumerate(stairs)]
    avoided += [Box(a - 2, b - 2, a + 2, b + 2) for a, b in (inside(part) for _, part in _pale(there))]
    boxes = beside(points, [words[n] for n in ranked], Box(0.0, 0.0, across + 8, tall + 4), SMALL, avoided)
    for i, (name, (a, b), box) in enumerate(zip(ranked, points, boxes, strict=True)):
        near = (min(max(a, box.left), box.right), min(max(b, box.bottom), box.top))
        if math.dist(near, (a, b)) > 11:
            led = [(a / across, b / tall), (near[0] / across, near[1] / tall)]
            line(axes, led, look(name)._replace(dash=()), width=0.7, transform=axes.transAxes)
        below = sum(math.dist((a, b), other) < MARK / 2 for other in points[:i])
        place = (x.held(there[name].point[0]), y.held(there[name].point[1]))
        made = mark(axes, place, look(name), label=name, told=there[name].told, markersize=8.0 * 0.65**below)
        made.set_url(links.get(name))
        text = note(axes, ((box.left + box.right) / 2, (box.bottom + box.top) / 2), words[name], alpha=1.0, ha="center")
        if not words[name].startswith(name):
            text.set_gid(titled(name))


def _grouped(records: Iterable[Record], by: str) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda r: order(r.task)):
        groups[record.task if by == "task" else Name.parse(record.task).base].append(record)
    return dict(groups)


def _cost(record: Record, over: str) -> float:
    return record.metrics[EACH] if over == EACH else cost(record, over)


def _ran(record: Record) -> bool:
    return record.status is not Status.DECLINED
