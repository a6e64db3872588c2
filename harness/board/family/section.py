"""What the first page says of a family: one picture of who buys what error at what cost, and its standings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from paramid.board.family.formulas import plain
from paramid.board.family.tables import standings
from paramid.board.inline_drawings import drawn
from paramid.board.markup import escaped, link, tag
from paramid.board.summary import Summary
from paramid.pictures.pareto import pareto
from paramid.records.record import Record
from paramid.statistics.sizes import family as family_of

OVER = {"queries": "rows of the teacher", "seconds": "seconds"}


def section(summary: Summary, name: str, methods: Mapping[str, str], anchor: str, page: str) -> str:
    """The section of the first page, by its anchor."""
    about = tag(
        "p", link("Every task and failure, growth, the frontier", page), _unsolved(summary, name), class_="note"
    )
    both = tag("div", picture(summary, name, methods, anchor), standings(summary, name, methods), class_="duo")
    return tag(
        "section",
        tag("h2", escaped(name), " ", tag("small", escaped(plain(name)))),
        about,
        both,
        id=anchor,
        class_="family",
    )


def _unsolved(summary: Summary, name: str) -> str:
    """The tasks that nobody solves by any access."""
    by_kind = summary.tables.get(name, {})
    solved = {task for table in by_kind.values() for row in table.rows for task in row.solved}
    left = sorted({task for table in by_kind.values() for task in table.tasks} - solved)
    names = "; ".join(task.partition(":")[2] or "its defaults" for task in left)
    return f". Solved by nobody: {escaped(names)}" if left else ""


def picture(summary: Summary, name: str, methods: Mapping[str, str], anchor: str) -> str:
    """Error over rows, and over seconds on a switch; nothing where fewer than two methods have an error."""
    ours = records(summary, name)
    made = {over: words for over in OVER if (words := drawn(partial(pareto, ours, over, links=methods)))}
    if not made:
        return ""
    radios = "".join(
        tag("label", tag("input", type="radio", name=f"cost-{anchor}", value=over, checked=not i), f" {words}")
        for i, (over, words) in enumerate(OVER.items())
        if over in made
    )
    switch = tag("fieldset", tag("legend", "Error over"), radios, class_="switch")
    parts = [tag("div", words, class_=f"over-{over}") for over, words in made.items()]
    said = tag(
        "p", "A mark is a method: its medians over the tasks that it accepts.", class_="said", aria_live="polite"
    )
    return tag("figure", switch, *parts, tag("figcaption", said), class_="pareto")


def records(summary: Summary, name: str) -> list[Record]:
    """The records of a family that rank."""
    return [r for n, ours in summary.entrants.items() if n not in summary.disputed for r in ours
            if family_of(r.task) == name]  # fmt: skip
