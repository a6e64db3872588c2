"""A family's page: its standings, how far its methods get, every method before every task, what it is."""

from __future__ import annotations

from collections.abc import Mapping

from paramid.board.family import growth, matrix
from paramid.board.family.formulas import formula
from paramid.board.family.tables import standings
from paramid.board.markup import escaped, link, tag
from paramid.board.pages import description
from paramid.board.summary import Summary
from paramid.statistics.family_standings import leader


def body(summary: Summary, name: str, up: Mapping[str, str], anchor: str) -> str:
    """The page but for its frame; `anchor` is the family's on the first page."""
    by_kind = summary.tables.get(name, {})
    leaders = [row.method for table in by_kind.values() if (row := leader(table))]
    led = [r for method in dict.fromkeys(leaders) for r in summary.entrants[method] if r.task.partition(":")[0] == name]
    parts = {
        "Standings": standings(summary, name, up),
        "How far they get": growth.frontier(summary, by_kind, up) + growth.curves(summary, by_kind),
        "Every method before every task": matrix.matrix(summary, name, up, up) + matrix.legend(),
        "How often a method is nearly the cheapest": growth.profile_pictures(by_kind),
    }
    sections = [tag("h2", words) + inside for words, inside in parts.items() if inside]
    head = [
        tag(
            "p", "Family of tasks: ", link("who buys what error at what cost", f"../index.html#{anchor}"), class_="kind"
        ),
        tag("h1", escaped(name)),
        tag("p", formula(name), class_="formula"),
    ]
    return "".join([*head, *sections, growth.phases(led), tag("h2", "What it is"), description("tasks", name)])
