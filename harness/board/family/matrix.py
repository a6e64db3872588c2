"""The matrix of a family: a row for each task, a column for each method that accepts any; colour and number: the error.

Marks are for exceptions: a cell of which every seed was identified has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from paramid.board.family.numbers import error_words, short
from paramid.board.marks import badges
from paramid.board.markup import broken, escaped, region, tag
from paramid.board.summary import MARKS, Result, Summary
from paramid.records.agreement import near
from paramid.records.number_format import shown
from paramid.records.quantities import identified
from paramid.statistics.sizes import family, weights
from paramid.words.naming import Name

SEEN, UNSEEN = "●", "○"
UNMARKED = ("identified", "partly identified", "declined")


def matrix(summary: Summary, name: str, methods: Mapping[str, str], tasks: Mapping[str, str]) -> str:
    """The table; `methods` and `tasks` are the addresses of their pages."""
    groups = columns(summary, name)
    every = [method for ours in groups.values() for method in ours]
    names = "".join(tag("th", tag("div", _head(summary, m, methods[m])), scope="col") for m in every)
    kinds = "".join(
        tag("th", tag("span", escaped(kind or "not ranked")), colspan=len(ours), scope="colgroup")
        for kind, ours in groups.items()
    )
    corner = tag("th", "task", scope="col", rowspan=2, class_="corner")
    rows = sorted((t for t in summary.tasks if family(t) == name), key=lambda t: (weights(t), t))
    body = "".join(_row(summary, task, every, methods, tasks) for task in rows)
    caption = tag("caption", "Median error of each method before each task; a link to its seeds")
    head = tag("thead", tag("tr", corner, names, class_="names"), tag("tr", kinds, class_="boards"))
    whole = tag("table", caption, head, tag("tbody", body), class_="matrix", style=f"--n:{len(every)}")
    return region(f"Methods before the tasks of {name}", whole, class_="plane")


def columns(summary: Summary, name: str) -> dict[str, Sequence[str]]:
    """The methods that accept any task of a family by their access, best first; under "" those that do not rank."""
    found: dict[str, Sequence[str]] = {
        kind: table.methods for kind, table in summary.tables.get(name, {}).items() if table.methods
    }
    others = [
        m for m in summary.columns
        if m in summary.disputed and any(family(c.task) == name and c.state != "declined" for c in summary.of(m))
    ]  # fmt: skip
    return {**found, "": others} if others else found


def legend() -> str:
    """Colours and marks, in words."""
    bounds = ["> 1e-2", *(f"≤ 1e-{2 * i}" for i in range(1, 8))]
    steps = "".join(tag("li", words, class_=f"e{i}") for i, words in enumerate(bounds))
    marks = {
        f"{SEEN}{UNSEEN}{SEEN}": "seed by seed, where some were identified and some were not",
        **{mark: words for words, mark in MARKS.items() if words not in UNMARKED},
        "·": "declined",
        "blank": "not run",
        "framed": "within ten times the row's best",
        "†": "CPU and GPU disagree",
    }  # fmt: skip
    told = "".join(tag("li", tag("b", mark), f" {words}") for mark, words in marks.items())
    return tag("ul", steps, class_="scale", aria_label="Colours: median error") + tag(
        "ul", told, class_="marks", aria_label="Marks: exceptions"
    )


def task_words(task: str) -> str:
    """A task's name: its family, and its options with air between them."""
    name = Name.parse(task)
    told = " ".join(tag("span", f"{escaped(option)}={escaped(value)}") for option, value in name.options)
    return f"<b>{escaped(name.base)}</b> {told}"


def _head(summary: Summary, name: str, url: str) -> str:
    disputed = "disputed" if name in summary.disputed else None
    return tag("a", broken(short(name.partition(" on ")[0])), href=url, class_=disputed) + badges(summary, name)


def _row(
    summary: Summary, task: str, every: Sequence[str], methods: Mapping[str, str], tasks: Mapping[str, str]
) -> str:
    cells = [summary.results.get((name, task)) for name in every]
    best = min((c.error for c in cells if c and c.identified), default=math.inf)
    drawn = (
        _cell(cell, methods, tasks[task], best, (name, task) in summary.flagged)
        for name, cell in zip(every, cells, strict=True)
    )
    head = tag("th", tag("a", task_words(task), href=tasks[task]), scope="row")
    return tag("tr", head, *drawn)


def _cell(cell: Result | None, methods: Mapping[str, str], task_url: str, best: float, flagged: bool) -> str:
    if cell is None:
        return "<td></td>"
    if cell.state == "declined":
        return tag("td", tag("i", "declined"), class_="no", title=words(cell))
    anchor = f"{methods[cell.entrant]}#{task_url.rpartition('/')[2].removesuffix('.html')}"
    mark = {"identified": "", "partly identified": seeds(cell)}.get(cell.state, MARKS[cell.state])
    part = f"{cell.identified} of {len(cell.records)} seeds" if cell.state == "partly identified" else ""
    seen = "" if cell.level is None else error_words(cell.error)
    label = " ".join(filter(None, (seen, part or cell.state, "CPU and GPU disagree" if flagged else "")))
    inside = tag(
        "a", f"{seen}{'†' if flagged else ''}", tag("small", mark) if mark else "", href=anchor, aria_label=label
    )
    top = " best" if cell.identified and near(cell.error, best) else ""
    kind = "bare" if cell.level is None else f"e{cell.level}{top}"
    return tag("td", inside, class_=kind, title=words(cell), data_v=None if cell.level is None else f"{cell.error:.3g}")


def seeds(cell: Result) -> str:
    """Success seed by seed; how many of them, where there are more than ten."""
    if len(cell.records) > 10:
        return f"{cell.identified}/{len(cell.records)}"
    return "".join(SEEN if identified(r) else UNSEEN for r in cell.records)


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
