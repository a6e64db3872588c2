"""A page for each method and task: what it is, how it went, and every seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from paramid.board import result_tables
from paramid.board.family.growth import phases
from paramid.board.family.matrix import task_words
from paramid.board.family.numbers import error_words
from paramid.board.family.origins import origin
from paramid.board.inline_drawings import drawn
from paramid.board.marks import badges, bar
from paramid.board.markup import escaped, link, region, table, tag
from paramid.board.summary import Result, Summary
from paramid.contracts import descriptions
from paramid.pictures.curves import curves
from paramid.pictures.looks import in_turn, look
from paramid.records.publications import reports
from paramid.records.quantities import UNITS, budget_words
from paramid.records.record import Record
from paramid.records.selection import entrant
from paramid.statistics.sizes import family
from paramid.statistics.target_costs import KINDS, declared

MOST_LINES = 7  # in a figure


def method(
    summary: Summary, name: str, tasks: Mapping[str, str], slugs: Mapping[str, str], families: Mapping[str, str]
) -> str:
    """A method's page."""
    cells = summary.of(name)
    base = name.partition(" on ")[0]
    records = [r for cell in cells for r in cell.records]
    needs = ", ".join(KINDS[k] for k in declared(base)) or "unknown here"
    run = [words for k, words in KINDS.items() if any(getattr(r, k, 0) for r in records)]
    facts = {
        "from": origin(base) or "unknown here",
        "may use": needs,
        "used": ", ".join(run) or "nothing",
        "limits": "; ".join(sorted({budget_words(r) for r in records})[:4]),
    }
    return "".join(
        [
            tag("p", "Method", class_="kind"),
            tag("h1", escaped(name), badges(summary, name)),
            _facts(facts),
            _places(summary, name, families),
            tag("h2", "Before each task"),
            result_tables.cells(
                cells,
                lambda c: tag("a", task_words(c.task), href=tasks[c.task], id=slugs[c.task]),
                lambda c: c.task,
                "task",
            ),
            tag("h2", "Error over cost"),
            _curves(
                [replace(r, method=r.task, task=r.method) for c in _solved(cells) for r in c.records],
                _drawable(cells),
                "tasks",
            ),
            phases(records),
            tag("h2", "Every seed"),
            result_tables.seeds(summary, cells),
            _reported(summary, name, records),
            tag("h2", "What it is"),
            description("methods", base),
        ]
    )


def _reported(summary: Summary, name: str, found: Sequence[Record]) -> str:
    """What its makers say of a method, beside what was found where an epoch ran it; nothing where they say nothing."""
    told = [r for r in summary.reported if r.method == name]
    if not told or name not in summary.epochs:
        return ""
    lines = [str(report).partition(": ")[2] for report in reports.compared(told, found)] or ["no task in common"]
    about = (
        f"{len(told)} records that were not made in epoch {summary.epochs[name]}. They are shown here and never ranked"
    )
    return "".join(
        [tag("h2", "Self-reported"), tag("p", escaped(f"{about}: {reports.BOUNDS}."))]
        + [tag("p", escaped(line)) for line in lines]
    )


def task(summary: Summary, name: str, methods: dict[str, str], home: str) -> str:
    """A task's page."""
    cells = summary.before(name)
    records = [r for cell in cells for r in cell.records]
    obstacles = sorted({told for r in records for told in r.obstacles})
    best = [c.entrant for c in cells if c.identified]
    solved = ", ".join(best) if best else "nobody yet"
    family_name = family(name)
    return "".join(
        [
            tag("p", "Task of the family ", link(family_name, home), class_="kind"),
            tag("h1", escaped(name)),
            tag("p", f"Identified by: <b>{escaped(solved)}</b>.", class_="lead"),
            tag("h2", "Who solves it"),
            result_tables.cells(
                cells,
                lambda c: link(c.entrant, methods[c.entrant]),
                lambda c: c.entrant,
                "method",
            ),
            tag("h2", "Error over cost"),
            _curves([r for c in _solved(cells) for r in c.records], _drawable(cells), "methods"),
            tag("h2", "Definition"),
            description("tasks", family_name, at=home),
            tag("h2", "What can be identified"),
            _identifiable(obstacles),
        ]
    )


def description(group: str, name: str, at: str | None = None) -> str:
    """What the code says of itself: the first line of the class, its reference, the words of the module or where."""
    source = descriptions.of(group, name)
    if source is None:
        return tag("p", "Not in the registry of this version: what it is cannot be said here.")
    cited = tag("p", "<b>Reference</b> ", escaped(source.reference), class_="cite") if source.reference else ""
    words = region(f"About {name}", tag("pre", escaped(source.words)))
    there = tag("p", "In formulas, with its laws and options: ", link(f"the family {name}", at or ""), ".")
    return tag("p", escaped(source.line), class_="lead") + cited + (there if at else words)


def _facts(facts: dict[str, str]) -> str:
    return tag(
        "dl", *(tag("div", tag("dt", escaped(k)), tag("dd", escaped(v))) for k, v in facts.items()), class_="keys"
    )


def _places(summary: Summary, name: str, families: Mapping[str, str]) -> str:
    """A row for each family where a method stands."""
    rows = []
    for board in (board for by_kind in summary.tables.values() for board in by_kind.values()):
        where = link(board.family, families[board.family]), escaped(KINDS[board.kind])
        for row in (row for row in board.rows if row.method == name):
            place, solved = row.standing, f"{len(row.solved)}/{row.accepted}"
            score = bar(place.score, place.score_interval)
            rows.append((*where, str(place.group), solved, error_words(row.error), score))
        if name in board.nothing:
            rows.append((*where, *("–",) * 4))
    if not rows:
        return tag("p", "Not ranked.")
    return table("Where it stands", ("family", "by", "group", "tasks solved", "error", "score"), rows)


def _solved(cells: Sequence[Result]) -> list[Result]:
    """As many cells as a figure holds: those with the smallest errors, in order."""
    kept = sorted((c for c in cells if _has_claims(c)), key=lambda c: c.error)[:MOST_LINES]
    return [c for c in cells if c in kept]


def _drawable(cells: Sequence[Result]) -> int:
    return sum(map(_has_claims, cells))


def _has_claims(cell: Result) -> bool:
    return any(r.claims for r in cell.records)


def _curves(records: Sequence[Record], there: int, what: str) -> str:
    """Medians over seconds and over rows: a line for each method before a task, or for each task of a method."""
    looks = in_turn(dict.fromkeys(map(entrant, records))).__getitem__ if what == "tasks" else look
    made = [drawn(lambda over=over: curves(records, over, seeds=False, looks=looks)) for over in UNITS]  # type: ignore[misc]
    if not any(made):
        return tag("p", "No claim has an error to draw.")
    note = f" {MOST_LINES} of {there} {what}, those with the smallest errors." if there > MOST_LINES else ""
    told = tag("p", f"The median over seeds of the least error so far; a seed without a claim is infinitely bad.{note}")
    return told + tag("div", *(tag("figure", d) for d in made if d), class_="figures")


def _identifiable(obstacles: Sequence[str]) -> str:
    if not obstacles:
        return tag(
            "p",
            "The harness found no obstacle in the teachers of these seeds (dead, equal, mirrored or parallel neurons, "
            "too many of them). Which symmetries no oracle can see is said in the definition.",
        )
    return tag("p", "Named by the harness in some of these teachers:") + tag(
        "ul", *(tag("li", escaped(told)) for told in obstacles[:20])
    )
