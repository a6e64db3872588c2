"""Records as a table: one row for each method and task, medians over seeds, failures shown."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from paramid.records.number_format import table_number
from paramid.records.record import Record, dump
from paramid.records.selection import is_control

COLUMNS = (
    "task", "method", "identified", "error", "bias_error", "output_error", "seconds", "queries", "samples", "status",
)  # fmt: skip
Row = dict[str, object]


def rows(records: Iterable[Record]) -> list[Row]:
    """Aggregated rows: by task, controls last, then by identified share, error and seconds."""
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.task, record.method, record.device].append(record)
    order = {task: place for place, task in enumerate(dict.fromkeys(task for task, _, _ in groups))}
    made = [_row(group) for group in groups.values()]
    return sorted(made, key=lambda r: (order[str(r["task"])], is_control(str(r["method"])), *_rank(r)))


def best(made: Iterable[Row], most: int) -> list[Row]:
    """Of each task the first `most` rows whose method identified a teacher; no controls."""
    kept: dict[object, list[Row]] = defaultdict(list)
    for row in made:
        if float(str(row["identified"])) > 0 and not is_control(str(row["method"])):
            kept[row["task"]].append(row)
    return [row for ours in kept.values() for row in ours[:most]]


def _row(group: Sequence[Record]) -> Row:
    flags = [r.metrics.get("identified", 0.0) for r in group]
    row: Row = {
        "task": group[0].task,
        "method": group[0].method,
        "device": group[0].device,
        "cells": len(group),
        "identified": sum(flags) / len(flags),
    }
    for name in ("error", "bias_error", "output_error"):
        row[name] = _median([r.metrics.get(name, math.nan) for r in group])
    for name in ("seconds", "queries", "samples", "derivatives", "moments", "peak_mb"):
        row[name] = median(getattr(r, name) for r in group)
    counts = Counter(r.status.key for r in group)
    ended = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    row["status"] = ", ".join(f"{n} {key}" if len(counts) > 1 else key for key, n in ended)
    return row


def _median(values: Sequence[float]) -> float:
    """A cell without the metric is as bad as can be; a metric that no cell has is missing."""
    if all(math.isnan(v) for v in values):
        return math.nan
    return median(math.inf if math.isnan(v) else v for v in values)


def _rank(row: Row) -> tuple[float, ...]:
    error = float(str(row["error"]))
    return (-float(str(row["identified"])), math.inf if math.isnan(error) else error, float(str(row["seconds"])))


def render(made: Sequence[Row], form: str) -> str:
    """The rows as text, markdown, csv or json."""
    if form == "json":
        return dump(list(made), indent=1) + "\n"
    if form == "csv":
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, list(made[0]) if made else COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)
        return buffer.getvalue()
    cells = [list(COLUMNS), *([_shown(row, c) for c in COLUMNS] for row in made)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    if form == "markdown":
        cells.insert(1, ["-" * w for w in widths])
        return "".join(
            "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |\n" for line in cells
        )
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() + "\n" for line in cells]
    lines.insert(1, "  ".join("-" * w for w in widths) + "\n")
    return "".join(lines)


def _shown(row: Row, column: str) -> str:
    value = row[column]
    if column == "identified":
        return f"{round(float(str(value)) * int(str(row['cells'])))}/{row['cells']}"
    if column == "method" and is_control(str(value)):
        return f"({value})"
    if isinstance(value, int | float):
        return table_number(float(value), whole=column in ("queries", "samples"))
    return str(value)
