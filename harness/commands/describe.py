"""A method, task, suite or metric in full: what it is, its options, its needs, its paper, its published results."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator

from paramid.commands import DONE, Add
from paramid.commands.arguments import width, wrapped
from paramid.contracts import descriptions, option_docs, plugins, registry
from paramid.records import text_tables
from paramid.running import suites
from paramid.words import naming
from paramid.words.naming import Name, UsageError

EXAMPLE = """paramid describe spm
paramid describe shallow
paramid describe quick
paramid describe weight_error"""
MOST, WIDEST = 12, 120  # rows of published results; columns of a line
METRIC = re.compile(r"_\d+$")


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("name", metavar="NAME", help="of a method, a task, a suite (or its file.toml) or a metric")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    name = options.name
    known: dict[str, tuple[set[str], Callable[[str], Iterator[str]]]] = {
        "method": (set(registry.names("methods")), of_method),
        "task": (set(registry.names("tasks")), of_task),
        "suite": (set(suites.suites()) | ({name} if name.endswith(".toml") else set()), of_suite),
        "metric": (set(descriptions.meanings()), of_metric),
    }
    plain = name if name.endswith(".toml") else Name.parse(name).base
    for group in ("methods", "tasks"):
        if plain in registry.names(group):
            registry.canonical(group, name)  # its options are there, and can be
    numberless = METRIC.sub("", plain)
    found = [told for names, told in known.values() if {plain, numberless} & names]
    if not found:
        near = naming.suggestion(
            plain, set().union(*(n for n, _ in known.values())), "`paramid list` names what there is"
        )
        raise UsageError(f"{name!r} is no method, task, suite or metric; {near}")
    print("\n\n".join("\n".join(told(plain)) for told in found))
    return DONE


def of_method(name: str) -> Iterator[str]:
    """A method in full."""
    yield from _registered("methods", name, "needs", f"list --pairs --method {name}")


def of_task(name: str) -> Iterator[str]:
    """A task in full."""
    yield from _registered("tasks", name, "grants", f"run truth {name}")


def _limits(name: str) -> str:
    """What the harness tells of the limits before these teachers."""
    try:
        family = registry.task(name)
    except UsageError:  # an option has no default
        return "as far as its teachers are layered networks"
    if not family.layered:
        return "none are told: its teachers are no layered networks, or their parameters nobody's to find"
    return "parameters and rows for each; Cramér-Rao bounds where values are noisy or float32 (docs/metrics.md)"


def _registered(group: str, name: str, verb: str, otherwise: str) -> Iterator[str]:
    """A method or task in full; the example is its best published row, `otherwise` where there is none."""
    yield from _head(group, name)
    source = descriptions.read(group, name)
    if source and source.access:
        yield _told(f"{verb}: {', '.join(source.access)}")
    yield from _options(group, name)
    if group == "tasks":
        yield _told(f"limits: {_limits(name)}")
    if own := dict(descriptions.metrics(name)) if group == "tasks" else {}:
        yield "\nmetrics of its own"
        yield from (_told(f"{metric}: {told}", "  ") for metric, told in own.items())
    rows = _published(group, name)
    yield from _results(rows)
    yield _example(group, name, f"run {rows[0]['method']} {rows[0]['task']}" if rows else otherwise)


def of_suite(name: str) -> Iterator[str]:
    """A suite in full."""
    suite = suites.suite(name)
    yield _told(f"suite {suite.name}, version {suite.version}: {suite.about}")
    for place, grid in enumerate(suite.grids, 1):
        limit = "no time limit" if grid.time_limit is None else f"{grid.time_limit:g} s each"
        count = len(grid.methods) * len(grid.tasks) * len(grid.seeds)
        yield f"\ngrid {place}: {count} cells, seeds {_seeds(grid.seeds)}, {limit}"
        yield _told(f"methods: {', '.join(map(str, grid.methods))}", "  ")
        yield _told(f"tasks: {', '.join(map(str, grid.tasks))}", "  ")
    yield f"\nexample: paramid compare --suite {name}"


def of_metric(name: str) -> Iterator[str]:
    """What a metric means, and for whom."""
    plain = METRIC.sub("", name)
    for place, meaning in descriptions.meanings()[plain if plain in descriptions.meanings() else name].items():
        yield _told(f"{name}{f' ({place})' if place else ''}: {meaning}")
    if plain != name:
        yield f"of layer {name.rpartition('_')[2]} alone"
    yield "formulas and what is compared modulo which symmetries: docs/metrics.md"
    yield f"\nexample: paramid table --columns task method {name} --sort {name}"


def _example(group: str, name: str, words: str) -> str:
    """A command that can be copied; a plug-in's says where it is."""
    files = [file for file in plugins.joined((group, name)) if isinstance(file, str)]
    return f"\nexample: paramid {shlex.join([*words.split(), *(w for f in files for w in ('--plugin', f))])}"


def _head(group: str, name: str) -> Iterator[str]:
    source = descriptions.read(group, name)
    yield _told(f"{group[:-1]} {name}{f': {source.line}' if source and source.line else ''}")
    if source and source.words:
        yield ""
        yield from _flowed(source.words)
    if source and source.reference:
        yield ""
        yield _told(f"paper: {source.reference}")
    yield ""


def _options(group: str, name: str) -> Iterator[str]:
    told = option_docs.options(group, name)
    yield "\noptions" if told else "\nno options"
    for option in told:
        allowed = f"; {option.allowed}" if option.allowed else ""
        yield _told(f"{option.name}={option.default}  ({option.kind}{allowed})", "  ")
        yield _told(option.meaning, "      ")


def _published(group: str, name: str) -> list[text_tables.Row]:
    """Rows of the published records of a method or task, whatever its options; the best first."""
    from paramid.records.publications import epochs, published
    from paramid.records.selection import is_control, newest

    place = published.whereabouts(published.OWN)
    records = newest(epochs.shown(place, lambda _: None).ranked.values()) if place.exists() else []
    told = ((r, r.method if group == "methods" else r.task) for r in records if not is_control(r.method))
    ours = [r for r, text in told if Name.parse(text).base == name]
    return [row for row in text_tables.rows(ours) if row["status"] != "declined"]


def _results(rows: list[text_tables.Row]) -> Iterator[str]:
    if not rows:
        yield "\nno published results"
        return
    yield ""
    yield _told("published results, medians over seeds (`paramid table --records published` has all)")
    cells = text_tables.fitting(text_tables.grid(rows[:MOST]), width(WIDEST) - 2)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield ("  " + "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True))).rstrip()
    if len(rows) > MOST:
        yield f"  … and {len(rows) - MOST} further rows"


def _seeds(seeds: tuple[int, ...]) -> str:
    whole = seeds == tuple(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if whole and len(seeds) > 1 else ", ".join(map(str, seeds))


def _flowed(words: str) -> Iterator[str]:
    """Paragraphs in the terminal's width; lines that were set apart, formulas, keep to themselves."""
    for place, paragraph in enumerate(words.split("\n\n")):
        if place:
            yield ""
        lines = paragraph.splitlines()
        if not any(line.startswith(" ") for line in lines):
            lines = [" ".join(lines)]
        for line in lines:
            bare = line.lstrip()
            indent = line[: len(line) - len(bare)]
            yield wrapped(bare, WIDEST, indent, f"{indent}     " if indent else "")


def _told(text: str, indent: str = "") -> str:
    return wrapped(text, WIDEST, indent, f"{indent}  ")
