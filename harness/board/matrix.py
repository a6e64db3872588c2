"""The matrix: a row for each task, a column for each method; colour for the error, a mark and words for the ending."""

from __future__ import annotations

import math

from paramid.agreement import near
from paramid.board.markup import broken, escaped, hidden, link, region, tag
from paramid.board.standings import badges
from paramid.board.summary import MARKS, SIZES, Cell, Summary, family, size
from paramid.charts import shown
from paramid.naming import Name
from paramid.selection import endings, said
from paramid.trials import KINDS


def matrix(summary: Summary, methods: dict[str, str], tasks: dict[str, str]) -> str:
    """The table; `methods` and `tasks` are the addresses of their pages."""
    columns = summary.columns
    head = tag("tr", tag("th", "task", scope="col"), *(_head(summary, name, methods[name]) for name in columns))
    body = "".join(_row(summary, place, task, methods, tasks) for place, task in enumerate(summary.tasks))
    caption = tag("caption", "Median error of each method before each task, seeds identified, and how they ended")
    whole = tag(
        "table",
        caption,
        tag("thead", head),
        tag("tbody", body),
        class_="matrix",
        id="matrix",
        style=f"--n:{len(columns)}",
    )
    return region("Matrix of methods and tasks", whole)


def legend() -> str:
    """The colours and marks, in words."""
    bounds = ["> 1e-2", *(f"≤ 1e-{2 * i}" for i in range(1, 8))]
    steps = "".join(tag("li", words, class_=f"e{i}") for i, words in enumerate(bounds))
    best = tag("li", "<b>framed</b> within a factor of ten of the row's best") + tag(
        "li", "<b>†</b> CPU and GPU disagree"
    )
    marks = "".join(tag("li", f"<b>{mark}</b> {words}") for words, mark in MARKS.items()) + best
    return tag("ul", steps, class_="scale", aria_label="Colours: median error") + tag(
        "ul", marks, class_="marks", aria_label="Marks: how the seeds ended"
    )


def controls(summary: Summary) -> str:
    """What can be filtered; shown where scripts run."""
    kinds = {kind: words for kind, words in KINDS.items() if kind in summary.boards}
    sizes = {words for task in summary.tasks for words in (size(task),)}
    chosen = {
        "access": ("Access", kinds),
        "family": ("Family", {f: f for f in sorted({family(t) for t in summary.tasks})}),
        "size": ("Inputs D", {w: w for w in (*SIZES, "unknown") if w in sizes}),
        "device": ("Device", {d: d for d in sorted({r.device for r in summary.records})}),
    }
    fields = [_select(name, label, {"": "all", **values}) for name, (label, values) in chosen.items()]
    cost = _select("cost", "Cost", {"seconds": "seconds", "queries": "rows of the teacher"})
    return tag(
        "form",
        *fields,
        cost,
        tag("button", "Reset", type="reset"),
        tag("output", id="state", aria_live="polite"),
        id="filters",
        hidden=True,
        aria_label="Filters",
    )


def _select(name: str, label: str, values: dict[str, str]) -> str:
    options = "".join(tag("option", escaped(words), value=value) for value, words in values.items())
    return tag("label", tag("span", label), tag("select", options, name=name))


def _head(summary: Summary, name: str, url: str) -> str:
    kind, device = summary.kind.get(name), (name.partition(" on ")[2] or "cpu")
    board = tag("small", escaped(KINDS[kind] if kind else "not ranked"))
    disputed = True if name in summary.disputed else None
    label = tag("a", broken(name.partition(" on ")[0]), href=url) + badges(summary, name) + board
    return tag("th", label, scope="col", data_kind=kind or "", data_device=device, data_disputed=disputed)


def _row(summary: Summary, place: int, task: str, methods: dict[str, str], tasks: dict[str, str]) -> str:
    cells = [summary.cells.get((name, task)) for name in summary.columns]
    odd = [(name, task) in summary.flagged for name in summary.columns]
    first = min((c.error for c in cells if c and c.identified), default=math.inf)
    return tag(
        "tr",
        tag("th", tag("a", task_words(task), href=tasks[task]), scope="row"),
        *(_cell(cell, methods, tasks[task], first, flagged) for cell, flagged in zip(cells, odd, strict=True)),
        data_task=place,
        data_family=family(task),
        data_size=size(task),
    )


def task_words(task: str) -> str:
    """A task's name in two lines: its family, and its options with air between them."""
    name = Name.parse(task)
    told = " ".join(tag("span", f"{escaped(option)}={escaped(value)}") for option, value in name.options)
    return f"<b>{escaped(name.base)}</b> {told}"


def _cell(cell: Cell | None, methods: dict[str, str], task_url: str, best: float, flagged: bool) -> str:
    if cell is None:
        return tag("td", hidden("not run"), class_="none")
    mark = tag("span", MARKS[cell.state], aria_hidden="true", class_="mark")
    count = f"{cell.identified}/{len(cell.records)}"
    anchor = f"{methods[cell.entrant]}#{task_url.rpartition('/')[2].removesuffix('.html')}"
    if cell.level is None:
        told = link(cell.state, anchor)
        return tag("td", mark, told, class_="bare", title=words(cell), data_v="inf")
    top = " best" if cell.identified and near(cell.error, best) else ""
    odd = tag("b", "†", aria_hidden="true") + hidden(" CPU and GPU disagree") if flagged else ""
    inside = link(shown_error(cell.error), anchor) + tag("small", mark, f"{count}", hidden(f" {cell.state}"), odd)
    return tag("td", inside, class_=f"e{cell.level}{top}", title=words(cell), data_v=f"{cell.error:.3g}")


def shown_error(value: float) -> str:
    """A median error as short as can be."""
    return (
        "–"
        if math.isinf(value)
        else "0"
        if value <= 1e-17
        else f"{value:.0e}".replace("e-0", "e-")
        if value < 0.01
        else shown(value)
    )


def words(cell: Cell) -> str:
    """A cell in one sentence."""
    low, high = (said(v) for v in cell.interval)
    share = " to ".join(f"{100 * v:.0f}" for v in cell.share)
    middle = "no median error" if math.isinf(cell.error) else f"median error {said(cell.error)} ({low} to {high})"
    cost = f"{shown(cell.seconds)} s, {cell.rows:,.0f} rows"
    return f"{cell.entrant} before {cell.task}: {middle}; {endings(cell.records)} (95 %: {share} %); {cost}"
