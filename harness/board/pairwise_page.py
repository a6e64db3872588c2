"""Two methods side by side, and the matrix of wins of every family and kind of access: `statistics.pairwise` as a page.

The page's script compares any two methods from `data`; what a cell came to is told in Python's words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from paramid.board.family.numbers import error_words
from paramid.board.markup import broken, escaped, region, tag
from paramid.board.summary import Result, Summary
from paramid.records.number_format import shown
from paramid.records.quantities import identified
from paramid.records.record import Record
from paramid.statistics import pairwise
from paramid.statistics.pairwise import Wins, wins
from paramid.statistics.sizes import family
from paramid.statistics.target_costs import KINDS
from paramid.words.status import Status

TITLE = "Two methods side by side"
LEAD = (
    "On the same teachers, run by run: who is identified beats who is not; of two that are, the cheaper one wins; "
    "everything else is a draw."
)
NOTE = (
    "Runs that the method of the row won and lost against that of the column: task, seed and budget are the same, and "
    "neither declined. Bold where it is ahead or behind by a sign test, at 5 % for the whole matrix (Holm); pale is "
    "chance as well. A pair opens above, with every task."
)
OVER = {"seconds": "seconds", "queries": "rows of the teacher"}
Groups = dict[tuple[str, str], dict[str, list[Record]]]


def body(summary: Summary) -> str:
    """The page but for its frame."""
    matrices = "".join(_section(*which, ours) for which, ours in groups(summary).items())
    return "".join(
        [
            tag("h1", TITLE),
            tag("p", LEAD, class_="lead"),
            _form(summary),
            tag("div", id="versus", aria_live="polite"),
            tag("h2", "Who beats whom", id="wins"),
            tag("p", NOTE, class_="note") + matrices if matrices else tag("p", "No two methods met before a task."),
        ]
    )


def groups(summary: Summary) -> Groups:
    """The runs of every family and kind of access in which at least two methods ran; disputed ones are left out."""
    found: Groups = {}
    for each, by_kind in summary.tables.items():
        for kind, table in by_kind.items():
            runs = {name: _runs(summary, name, each) for name in table.methods}
            found[each, kind] = {name: ours for name, ours in runs.items() if ours}
    return {which: ours for which, ours in found.items() if len(ours) > 1}


def _runs(summary: Summary, name: str, each: str) -> list[Record]:
    """All of a method before a family that it did not decline."""
    cells = (cell for cell in summary.of(name) if family(cell.task) == each)
    return [r for cell in cells for r in cell.records if r.status is not Status.DECLINED]


def data(summary: Summary) -> dict[str, object]:
    """Of every cell its method, its task, what it came to in words, and its runs; of every method what it declined.

    A run is [seed, conditions, machine], and where it was identified its seconds and rows as they are compared.
    """
    place = {name: i for i, name in enumerate(summary.columns)}
    where = {task: i for i, task in enumerate(summary.tasks)}
    conditions: dict[Hashable, int] = {}
    machines: dict[Hashable, int] = {}

    def run(r: Record) -> list[float]:
        told = [float(r.seed), conditions.setdefault(pairwise.conditions(r), len(conditions)),
                machines.setdefault(pairwise.machine(r), len(machines))]  # fmt: skip
        spent = [pairwise.compared(r, over) for over in OVER] if identified(r) else []
        return [int(v) if v.is_integer() else v for v in map(float, (*told, *spent))]

    cells = [
        [place[c.entrant], where[c.task], said(c), [run(r) for r in c.records if r.status is not Status.DECLINED]]
        for c in summary.results.values()
        if c.state != "declined"
    ]
    declined = [[where[c.task] for c in summary.of(n) if c.state == "declined"] for n in summary.columns]
    return {"cells": cells, "declined": declined}


def said(cell: Result) -> list[str]:
    """What a cell came to: solved, median error, rows and seconds."""
    solved = f"{cell.identified}/{len(cell.records)}"
    return [solved, error_words(cell.error), f"{cell.rows:,.0f}", shown(cell.seconds)]


def _form(summary: Summary) -> str:
    by_kind: dict[str, list[str]] = defaultdict(list)
    for name in summary.columns:
        by_kind[summary.kinds.get(name, ("",))[-1]].append(name)
    methods = "".join(
        tag("optgroup", *(tag("option", escaped(n), value=n) for n in ours), label=KINDS.get(kind, "not ranked"))
        for kind, ours in by_kind.items()
    )
    families = {"": "all", **{f: f for f in sorted(map(family, summary.tasks))}}
    return tag(
        "form",
        tag("label", tag("span", "Method"), tag("select", methods, name="a")),
        tag("button", "⇄", type="button", id="swap", aria_label="Swap the two methods"),
        tag("label", tag("span", "against"), tag("select", methods, name="b")),
        _select("Family", "family", families),
        _select("Cheaper in", "over", OVER),
        tag("label", '<input type="checkbox" name="differ">', " only tasks where they differ", class_="check"),
        id="choice",
        class_="bar-form",
        hidden=True,
        aria_label="Which two",
    )


def _select(words: str, name: str, values: dict[str, str]) -> str:
    options = (tag("option", escaped(told), value=value) for value, told in values.items())
    return tag("label", tag("span", words), tag("select", *options, name=name))


def _section(name: str, kind: str, ours: dict[str, list[Record]]) -> str:
    made = "".join(_matrix(wins(ours, over), f"{name}, {KINDS[kind]}: cheaper in {words}", over)
                   for over, words in OVER.items())  # fmt: skip
    head = tag("h3", escaped(name), " ", tag("small", escaped(KINDS[kind])))
    return tag("section", head, made, class_="wins", data_family=name)


def _matrix(found: Wins, caption: str, over: str) -> str:
    """Rows and columns with the most wins first."""
    net = (found.won - found.won.T).sum(axis=1)
    order = sorted(range(len(net)), key=lambda m: (-net[m], found.methods[m]))
    head = "".join(tag("th", tag("div", broken(found.methods[m])), scope="col") for m in order)
    rows = "".join(tag("tr", _who(found.methods[m]), *(_cell(found, m, other) for other in order)) for m in order)
    words = tag("caption", f"Cheaper in {OVER[over]}")
    whole = tag("table", words, tag("thead", tag("tr", tag("td"), head)), tag("tbody", rows), class_="duels")
    return region(caption, whole, data_over=over)


def _who(name: str) -> str:
    return tag("th", broken(name), scope="row", data_m=name)


def _cell(found: Wins, m: int, other: int) -> str:
    if not found.met[m, other]:
        return tag("td", "" if m == other else "–")
    won, lost = found.won[m, other], found.won[other, m]
    word = "ahead" if found.ahead[m, other] else "behind" if found.ahead[other, m] else None
    return tag("td", f"{won}:{lost}", class_=word or ("more" if won > lost else "less" if won < lost else "even"))
