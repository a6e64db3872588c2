"""Records as a table: one row for each method, task and budget, medians over seeds, failures shown."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from paramid.contracts import descriptions
from paramid.judging.metrics import LIMITS, rises
from paramid.records.escaping import for_csv, for_markdown, for_terminal
from paramid.records.number_format import table_number
from paramid.records.quantities import budget_words, identified
from paramid.records.record import COSTS, Record, dump
from paramid.records.selection import is_control
from paramid.words.naming import UsageError, suggestion
from paramid.words.status import Status

COLUMNS = (
    "task", "method", "identified", "error", "bias_error", "output_error", "seconds", "queries", "samples",
    "rows_per_parameter", "bound", "status",
)  # fmt: skip
IMPORTANCE = (
    "task", "method", "identified", "error", "seconds", "status", "device", "budget", "queries", "samples",
    "rows_per_parameter", "bound", "output_error", "bias_error",
)  # fmt: skip
# Who before what, whether, how exactly, how fast: a narrow terminal drops from the end, what is not named here first.
LAST, FEWEST, LEGIBLE = 5, 4, 16  # columns that stay where tasks can be cut to so many characters, or in any case
GAP = "  "
MEASURED = ("error", "bias_error", "output_error")
SPENT = ("seconds", *COSTS, "peak_mb")
TOLD_APART = ("device", "budget")  # shown where a method has several before one task
SHOWN = ("rows_per_parameter", "bound")  # of the limits, where any row has them
Row = dict[str, object]


def rows(records: Sequence[Record], columns: Iterable[str] = ()) -> list[Row]:
    """Aggregated rows: by task, controls last, then by identified share, error and seconds.

    `columns` may name further metrics; a UsageError says which are none.
    """
    groups: dict[tuple[str, str, str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.task, record.method, record.device, budget_words(record)].append(record)
    order = {task: place for place, task in enumerate(dict.fromkeys(task for task, *_ in groups))}
    further = _metrics(records, columns)
    made = [_row(group, further) for group in groups.values()]
    return sorted(made, key=lambda r: (order[str(r["task"])], is_control(str(r["method"])), *_rank(r)))


def _metrics(records: Sequence[Record], columns: Iterable[str]) -> list[str]:
    """Those of the columns that are metrics of the records."""
    known = {name for r in records for name in r.metrics} - {"identified", *MEASURED, *LIMITS}
    plain = {"task", "method", *TOLD_APART, "cells", "identified", *MEASURED, *SPENT, *LIMITS, "status"}
    for name in columns:
        if name not in plain | known:
            raise UsageError(f"no column {name!r}; {suggestion(name, plain | known)}")
    return [name for name in dict.fromkeys(columns) if name in known]


def ordered(made: Iterable[Row], by: Sequence[str]) -> list[Row]:
    """The rows with the best first by these columns; what is missing comes last."""

    def place(row: Row) -> tuple[tuple[bool, float, str], ...]:
        return tuple(_place(row[name], -1 if name in high else 1) for name in by)

    high = {name for name, told in descriptions.meanings().items() if rises(next(iter(told.values())))}
    return sorted(made, key=place)


def _place(value: object, sign: int) -> tuple[bool, float, str]:
    if not isinstance(value, int | float):
        return False, 0.0, str(value)
    return (True, 0.0, "") if math.isnan(value) else (False, sign * value, "")


def best(made: Iterable[Row], most: int) -> list[Row]:
    """Of each task the first `most` rows whose method identified a teacher; no controls."""
    kept: dict[object, list[Row]] = defaultdict(list)
    for row in made:
        if float(str(row["identified"])) > 0 and not is_control(str(row["method"])):
            kept[row["task"]].append(row)
    return [row for ours in kept.values() for row in ours[:most]]


def _row(group: Sequence[Record], further: Iterable[str]) -> Row:
    run = [r for r in group if r.status is not Status.DECLINED]
    row: Row = {
        "task": group[0].task,
        "method": group[0].method,
        "device": group[0].device,
        "budget": budget_words(group[0]),
        "cells": len(run or group),
        "identified": sum(map(identified, run)) / len(run) if run else math.nan,  # of a declined task nothing is known
    }
    for name in (*MEASURED, *further):
        row[name] = _median([r.metrics.get(name, math.nan) for r in group])
    for name in SPENT:
        row[name] = median(getattr(r, name) for r in run) if run else math.nan
    for name in LIMITS:
        row[name] = median([r.metrics[name] for r in group if name in r.metrics] or [math.nan])
    counts = Counter(r.status.key for r in group)
    ended = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    row["status"] = ", ".join(f"{n} {key}" if len(counts) > 1 else key for key, n in ended)
    return row


def _median(values: Sequence[float]) -> float:
    """A cell without the metric is as bad as can be; a metric that no cell has is missing."""
    if all(math.isnan(v) for v in values):
        return math.nan
    return median(math.inf if math.isnan(v) else v for v in values)


def _rank(row: Row) -> tuple[tuple[bool, float, str], ...]:
    return tuple(_place(row[name], -1 if name == "identified" else 1) for name in ("identified", "error", "seconds"))


def columns_of(made: Sequence[Row]) -> tuple[str, ...]:
    """The columns that a reader needs: those of every table, and what tells rows of one method and task apart."""
    pairs: dict[tuple[object, object], list[Row]] = defaultdict(list)
    for row in made:
        pairs[row["task"], row["method"]].append(row)
    apart = [name for name in TOLD_APART if any(len({r[name] for r in ours}) > 1 for ours in pairs.values())]
    empty = {name for name in SHOWN if all(math.isnan(float(str(row[name]))) for row in made)}
    return (*COLUMNS[:2], *apart, *(name for name in COLUMNS[2:] if name not in empty))


def render(made: Sequence[Row], form: str, columns: Sequence[str] = ()) -> str:
    """The rows as text, markdown, csv or json; without `columns`, those a reader needs, or all for csv and json."""
    if form in ("json", "csv") and columns:
        made = [{name: row[name] for name in columns} for row in made]
    if form == "json":
        return dump(list(made), indent=1) + "\n"
    if form == "csv":
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, list(made[0]) if made else columns or COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: for_csv(value) for name, value in row.items()} for row in made)
        return buffer.getvalue()
    cells = grid(made, columns)
    if form == "markdown":
        cells = [list(map(for_markdown, line)) for line in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if form == "markdown":
        cells.insert(1, ["-" * w for w in widths])
        return "".join(
            "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |\n" for line in cells
        )
    lines = [GAP.join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() + "\n" for line in cells]
    lines.insert(1, GAP.join("-" * w for w in widths) + "\n")
    return "".join(lines)


def grid(made: Sequence[Row], columns: Sequence[str] = ()) -> list[list[str]]:
    """The names of the columns, and every row as it is shown; without `columns`, those that a reader needs."""
    columns = columns or columns_of(made)
    return [list(columns), *([_shown(row, c) for c in columns] for row in made)]


def fitting(cells: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """A grid with as many of its columns as fit `width`; where the last ones do not, the middle of tasks is cut out."""
    columns = [list(column) for column in zip(*cells, strict=True)]
    rank = {name: place for place, name in enumerate(IMPORTANCE)}
    longest = next((_width(c) for c in columns if c[0] == "task"), 0)
    while (excess := sum(_width(c) + len(GAP) for c in columns) - len(GAP) - width) > 0:
        if len(columns) <= FEWEST or (len(columns) <= LAST and excess <= longest - LEGIBLE):
            break
        columns.remove(max(columns, key=lambda column: rank.get(column[0], len(rank))))
    for column in columns:
        if column[0] == "task" and excess > 0:
            column[1:] = [_cut(name, longest - excess) for name in column[1:]]
    return [list(row) for row in zip(*columns, strict=True)]


def _width(column: Sequence[str]) -> int:
    return max(map(len, column))


def _cut(name: str, width: int) -> str:
    """Both ends of a name: tasks often differ in their last option alone."""
    half = max(1, width // 2)
    return name if len(name) <= width else f"{name[: max(1, width - half - 1)]}…{name[-half:]}"


def _shown(row: Row, column: str) -> str:
    value = row[column]
    if column == "identified" and not math.isnan(float(str(value))):
        return f"{round(float(str(value)) * int(str(row['cells'])))}/{row['cells']}"
    if column == "method" and is_control(str(value)):
        return f"({value})"
    if isinstance(value, int | float):
        return table_number(float(value), whole=column in ("cells", "parameters", *COSTS))
    return for_terminal(str(value))
