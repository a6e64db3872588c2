"""The matrix: a row for each task, a column for each method; colour and power for the error, a mark for the ending."""

from __future__ import annotations

import math
from itertools import groupby

from paramid.board.markup import broken, escaped, region, tag
from paramid.board.standings import badges
from paramid.board.summary import MARKS, Result, Summary, family
from paramid.records.agreement import near
from paramid.records.number_format import shown
from paramid.records.quantities import error_words
from paramid.statistics.target_costs import KINDS
from paramid.words.naming import Name


def matrix(summary: Summary, methods: dict[str, str], tasks: dict[str, str]) -> str:
    """The table; `methods` and `tasks` are the addresses of their pages."""
    columns = summary.columns
    corner = tag("th", "task", scope="col", rowspan=2, class_="corner")
    grouped = [(kind, len(list(ours))) for kind, ours in groupby(columns, key=lambda name: _board(summary, name))]
    kinds = "".join(
        tag("th", tag("span", escaped(KINDS.get(kind, "not ranked"))), colspan=count, scope="colgroup")
        for kind, count in grouped
    )
    names = "".join(_head(summary, name, methods[name]) for name in columns)
    families = [family(task) for task in summary.tasks]
    body = "".join(
        _row(summary, place, methods, tasks, first=not place or families[place - 1] != families[place])
        for place in range(len(summary.tasks))
    )
    whole = tag(
        "table",
        tag("caption", "Median error of each method before each task, as its power of ten"),
        tag("thead", tag("tr", corner, kinds, class_="boards"), tag("tr", names, class_="names")),
        tag("tbody", body),
        class_="matrix",
        id="matrix",
        style=f"--n:{len(columns)}",
    )
    return region("Matrix of methods and tasks", whole, id="plane")


def legend() -> str:
    """The colours and marks, in words."""
    bounds = ["> 1e-2", *(f"≤ 1e-{2 * i}" for i in range(1, 8))]
    steps = "".join(tag("li", words, class_=f"e{i}") for i, words in enumerate(bounds))
    marks = {
        **{mark: words for words, mark in MARKS.items() if words not in ("declined", "partly identified")},
        "2/3": "so many of its seeds",
        "·": "declined: the method said beforehand that the task is not for it",
        "blank": "not in the suite",
        "=": "no error at all",
        "framed": "within a factor of ten of the row's best",
        "†": "CPU and GPU disagree",
    }
    told = "".join(tag("li", tag("b", mark), f" {words}") for mark, words in marks.items())
    return tag("ul", steps, class_="scale", aria_label="Colours: median error") + tag(
        "ul", told, class_="marks", aria_label="Marks: how the seeds ended"
    )


def _board(summary: Summary, name: str) -> str:
    return "" if name in summary.disputed else summary.kind.get(name) or ""


def _head(summary: Summary, name: str, url: str) -> str:
    kind, device = summary.kind.get(name), (name.partition(" on ")[2] or "cpu")
    disputed = True if name in summary.disputed else None
    label = tag("div", tag("a", broken(name.partition(" on ")[0]), href=url) + badges(summary, name))
    return tag("th", label, scope="col", data_kind=kind or "", data_device=device, data_disputed=disputed)


def _row(summary: Summary, place: int, methods: dict[str, str], tasks: dict[str, str], *, first: bool) -> str:
    task = summary.tasks[place]
    cells = [summary.results.get((name, task)) for name in summary.columns]
    best = min((c.error for c in cells if c and c.identified), default=math.inf)
    drawn = (
        _cell(cell, methods, tasks[task], best, (name, task) in summary.flagged)
        for name, cell in zip(summary.columns, cells, strict=True)
    )
    head = tag("th", tag("a", task_words(task), href=tasks[task], title=task), scope="row")
    return tag("tr", head, *drawn, data_task=place, class_="first" if first else None)


def task_words(task: str) -> str:
    """A task's name in two lines: its family, and its options with air between them."""
    name = Name.parse(task)
    told = " ".join(tag("span", f"{escaped(option)}={escaped(value)}") for option, value in name.options)
    return f"<b>{escaped(name.base)}</b> {told}"


def _cell(cell: Result | None, methods: dict[str, str], task_url: str, best: float, flagged: bool) -> str:
    if cell is None:
        return "<td></td>"
    if cell.state == "declined":
        return tag("td", tag("i", "declined"), class_="no", title=words(cell))
    anchor = f"{methods[cell.entrant]}#{task_url.rpartition('/')[2].removesuffix('.html')}"
    part = f"{cell.identified}/{len(cell.records)}" if cell.state == "partly identified" else ""
    mark = part or MARKS[cell.state]
    if cell.level is None:
        inside = tag("a", mark, href=anchor, aria_label=cell.state)
        return tag("td", inside, class_="bare", title=words(cell))
    seen = power(cell.error)
    heard = (f"1e{seen}" if cell.error > 0 else "no error", part, cell.state, "CPU and GPU disagree" if flagged else "")
    label = " ".join(filter(None, heard))
    inside = tag("a", f"{seen}\n{mark}{'†' if flagged else ''}", href=anchor, aria_label=label)
    top = " best" if cell.identified and near(cell.error, best) else ""
    return tag("td", inside, class_=f"e{cell.level}{top}", title=words(cell), data_v=f"{cell.error:.3g}")


def power(value: float) -> str:
    """The power of ten next to an error, `=` for none at all."""
    return f"{round(math.log10(value)) + 0}" if value > 0 else "="


def shown_error(value: float) -> str:
    """A median error as short as can be."""
    return (
        "–"
        if math.isinf(value)
        else "0"
        if value <= 0
        else f"{value:.0e}".replace("e-0", "e-")
        if value < 0.01
        else shown(value)
    )


def words(cell: Result) -> str:
    """A cell in one sentence."""
    if cell.state == "declined":
        return f"declined: {cell.reason}"
    who = f"{cell.entrant} before {cell.task}"
    low, high = (error_words(v) for v in cell.interval)
    found = f"{cell.identified}/{len(cell.records)} identified; {cell.endings}"
    share = " to ".join(f"{100 * v:.0f}" for v in cell.share)
    middle = (
        "no median error" if math.isinf(cell.error) else f"median error {error_words(cell.error)} ({low} to {high})"
    )
    cost = f"{shown(cell.seconds)} s, {cell.rows:,.0f} rows"
    why = f"; {cell.reason}" if cell.reason else ""
    return f"{who}: {middle}; {found} (95 %: {share} %); {cost}{why}"
