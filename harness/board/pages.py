"""A page for each method, task and family: what it is, how it went, and every seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from paramid.board import result_tables
from paramid.board.inline_drawings import inlined
from paramid.board.markup import escaped, link, region, table, tag
from paramid.board.matrix import task_words
from paramid.board.standings import badges, bar, rank
from paramid.board.summary import Result, Summary, family
from paramid.contracts import descriptions
from paramid.pictures.curves import curves
from paramid.pictures.looks import in_turn, look
from paramid.pictures.panels import varying
from paramid.pictures.phase_map import phase_map
from paramid.pictures.scaling import scaling
from paramid.pictures.sheet import Figure
from paramid.records.publications import reports
from paramid.records.quantities import UNITS, budget_words, identified
from paramid.records.record import Record
from paramid.records.selection import entrant
from paramid.statistics.target_costs import KINDS, declared
from paramid.words.naming import UsageError

MOST_LINES = 7  # in a figure


def method(summary: Summary, name: str, tasks: dict[str, str], slugs: dict[str, str]) -> str:
    """A method's page."""
    cells = summary.of(name)
    base = name.partition(" on ")[0]
    records = [r for cell in cells for r in cell.records]
    kind = summary.kind.get(name)
    needs = ", ".join(KINDS[k] for k in declared(base)) or "unknown here"
    run = [words for k, words in KINDS.items() if any(getattr(r, k) for r in records)]
    facts = {
        "board": KINDS[kind] if kind else "none",
        "may use": needs,
        "used": ", ".join(run) or "nothing",
        "limits": "; ".join(sorted({budget_words(r) for r in records})[:4]),
    }
    return "".join(
        [
            tag("p", "Method", class_="kind"),
            tag("h1", escaped(name), badges(summary, name)),
            _description("methods", base),
            _facts(facts),
            _places(summary, name),
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
            _phases(records),
            tag("h2", "Every seed"),
            result_tables.seeds(summary, cells),
            _reported(summary, name, records),
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
            _description("tasks", family_name, at=home),
            tag("h2", "What can be identified"),
            _identifiable(obstacles),
        ]
    )


def of_family(summary: Summary, name: str, tasks: dict[str, str]) -> str:
    """A family's page."""
    ours = [t for t in summary.tasks if family(t) == name]
    records = [r for t in ours for c in summary.before(t)[:MOST_LINES] for r in c.records]
    rows = []
    for t in ours:
        cells = summary.before(t)
        found = [c.entrant for c in cells if c.identified]
        told = escaped(", ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else "")) or "nobody yet"
        rows.append((tag("a", task_words(t), href=tasks[t]), f"{len(found)} of {len(cells)}", told))
    return "".join(
        [
            tag("p", "Family of tasks", class_="kind"),
            tag("h1", escaped(name)),
            _description("tasks", name),
            tag("h2", "Its tasks"),
            table("Tasks and who identifies them", ("task", "methods that identify", "best first"), rows),
            _growth(records),
        ]
    )


def _description(group: str, name: str, at: str | None = None) -> str:
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


def _places(summary: Summary, name: str) -> str:
    kind = summary.kind.get(name)
    rows = []
    for over, placed in summary.standings.get(kind or "", {}).items():
        for s in placed:
            if s.method == name:
                rows.append((escaped(UNITS[over].split(" (")[0]), rank(s.rank, s.rank_interval),
                             f"{s.group}", bar(s.score, s.score_interval)))  # fmt: skip
    if not rows:
        return tag("p", "Not ranked.")
    return table(f"Place among {KINDS[str(kind)]}, with 95 % intervals", ("cost", "rank", "group", "score"), rows)


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
    drawn = [_drawn(lambda over=over: curves(records, over, seeds=False, looks=looks)) for over in UNITS]  # type: ignore[misc]
    if not any(drawn):
        return tag("p", "No claim has an error to draw.")
    note = f" {MOST_LINES} of {there} {what}, those with the smallest errors." if there > MOST_LINES else ""
    told = tag("p", f"The median over seeds of the least error so far; a seed without a claim is infinitely bad.{note}")
    return told + tag("div", *(tag("figure", d) for d in drawn if d), class_="figures")


def _phases(records: Sequence[Record]) -> str:
    """Where a method succeeds over two options of a family, where the tasks fill at least half of such a map."""
    made = []
    for name in sorted({family(r.task) for r in records}):
        ours = [r for r in records if family(r.task) == name]
        values = list(varying(ours).values())
        full = len(values) > 1 and 2 * len({r.task for r in ours}) > math.prod(values[:2])
        if full and any(map(identified, ours)) and (drawn := _drawn(lambda ours=ours: phase_map(ours))):  # type: ignore[misc]
            made += [tag("figure", drawn, tag("figcaption", f"{escaped(name)}: phase map"))]
    return tag("h2", "Where it works") + tag("div", *made, class_="figures") if made else ""


def _growth(records: Sequence[Record]) -> str:
    """How time grows over the option that varies most."""
    over = next(iter(varying(records)), "m")
    drawn = _drawn(lambda: scaling(records, over))
    return tag("h2", "How time grows") + tag("div", tag("figure", drawn), class_="figures") if drawn else ""


def _drawn(draw: Callable[[], Figure]) -> str:
    """The figure, or nothing where these records have nothing to draw."""
    try:
        return inlined(draw())
    except UsageError:
        return ""


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
