"""The first screen: a card for each family, who leads it by what access, at what cost, how far from the limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median

from paramid.board.family.formulas import formula, plain
from paramid.board.family.numbers import error_words, rows_words, seconds_words, short, times
from paramid.board.inline_drawings import drawn
from paramid.board.markup import broken, escaped, link, tag
from paramid.board.summary import Summary
from paramid.pictures.lines import small
from paramid.pictures.looks import look
from paramid.records.quantities import cost, identified
from paramid.statistics.family_standings import Row, Table, leader
from paramid.statistics.sizes import weights

UNITS = {"queries": "rows", "seconds": "seconds"}


def cards(summary: Summary, methods: Mapping[str, str], anchors: Mapping[str, str]) -> str:
    """All of them; `anchors` are the ids of the families' sections."""
    made = (_card(summary, name, methods, anchors[name]) for name in anchors)
    return tag("ul", *made, class_="cards")


def _card(summary: Summary, name: str, methods: Mapping[str, str], anchor: str) -> str:
    by_kind = summary.tables.get(name, {})
    head = tag("h2", link(name, f"#{anchor}"), " ", tag("small", escaped(plain(name))))
    lines = "".join(_leader(table, methods) for table in by_kind.values())
    told = tag("dl", lines) if lines else tag("p", "Nothing ranked.")
    return tag("li", head, _curve(summary, by_kind), tag("p", formula(name), class_="formula"), told, class_="card")


def _leader(table: Table, methods: Mapping[str, str]) -> str:
    row, kind = leader(table), tag("dt", escaped(table.kind))
    if row is None:
        return kind + tag("dd", f"nobody, of {len(table.methods)}", class_="nobody")
    who = tag("a", broken(short(row.method)), href=methods[row.method])
    solved = tag("b", f"{len(row.solved)}/{row.accepted}") + " " + tag("small", f"{row.runs[0]}/{row.runs[1]} runs")
    each = "" if math.isnan(row.rows_per_parameter) else f" ({times(row.rows_per_parameter)})"
    facts = [
        error_words(row.error),
        f"{rows_words(row.cost['queries'])} rows{each}",
        seconds_words(row.cost["seconds"]),
    ]
    facts += [] if math.isnan(row.times_bound) else [f"noise ({times(row.times_bound)})"]
    level = [
        short(other.method) for other in table.rows if other is not row and other.standing.group == row.standing.group
    ]
    alike = tag("dd", escaped(f"not told apart: {', '.join(level)}"), class_="terms") if level else ""
    return kind + tag("dd", who, " ", solved) + tag("dd", escaped(" · ".join(facts)), class_="terms") + alike


def _curve(summary: Summary, by_kind: Mapping[str, Table]) -> str:
    """What the leader who solves most takes over the size of the task: rows, or seconds where rows are given."""
    rows = [(row, table.kind) for table in by_kind.values() if (row := leader(table))]
    if not rows:
        return ""
    row, kind = max(rows, key=lambda found: len(found[0].solved))
    over = "seconds" if kind == "samples" else "queries"
    points = growth(summary, row, over)
    words = f"{UNITS[over]} of {row.method} over the size of the task"
    curve = drawn(lambda: small(points, look(row.method), words))
    return tag("figure", curve, class_="word", title=words) if curve else ""


def growth(summary: Summary, row: Row, over: str) -> list[tuple[float, float]]:
    """(weights, median cost of the solved runs) over the tasks that a method solved."""
    found: dict[float, list[float]] = {}
    for task in row.solved:
        runs = filter(identified, summary.results[row.method, task].records)
        found.setdefault(weights(task), []).extend(cost(r, over) for r in runs)
    return [(size, median(costs)) for size, costs in sorted(found.items()) if median(costs) > 0]
