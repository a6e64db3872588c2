"""Named lists of cells, from TOML. Nothing here loads torch by itself."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from paramid.contracts import registry
from paramid.contracts.plugins import name_of
from paramid.running.cell import Cell, plan_cell
from paramid.words import naming
from paramid.words.naming import UsageError

MOST_CELLS = 100_000
TIME_LIMIT = 60.0  # of a cell in an ad-hoc grid, where nobody says otherwise


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Every method before every task for every seed, under one budget."""

    methods: tuple[object, ...]  # names, or classes
    tasks: tuple[object, ...]
    seeds: tuple[int, ...] = (0,)
    time_limit: float | None = None
    query_limit: int | None = None
    judge_inputs: int = 10_000

    def cells(self, **options: Any) -> list[Cell]:
        """The grid's cells, tasks outermost."""
        count = len(self.methods) * len(self.tasks) * len(self.seeds)
        if count > MOST_CELLS:
            raise UsageError(
                f"{len(self.methods)} methods x {len(self.tasks)} tasks x {len(self.seeds)} seeds = {count} cells; "
                f"at most {MOST_CELLS} were wanted"
            )
        shared = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("methods", "tasks", "seeds")}
        pairs = [plan_cell(m, t, seed=0, **{**shared, **options}) for t in self.tasks for m in self.methods]
        return [replace(pair, seed=s) for pair in pairs for s in self.seeds]


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A named, versioned list of grids."""

    name: str
    version: int
    about: str
    grids: tuple[Grid, ...]

    def cells(self, *guests: object, **options: Any) -> list[Cell]:
        """The cells of all grids, each once; `guests` are methods that run beside the suite's own."""
        grids = (replace(grid, methods=(*grid.methods, *guests)) for grid in self.grids)
        return list(dict.fromkeys(c for grid in grids for c in grid.cells(**options)))

    def of(self, methods: Sequence[str], seeds: int | None = None) -> Suite:
        """The same for some methods alone, those that are not its own before all its tasks; and other seeds."""
        own = {
            name: registry.described("methods", name_of("methods", name)).canonical
            for grid in self.grids
            for name in grid.methods
        }
        guests = [name for name in methods if name not in own.values()]
        kept = (replace(g, methods=(*(m for m in g.methods if own[m] in methods), *guests)) for g in self.grids)
        fresh = (replace(g, seeds=tuple(range(seeds))) if seeds else g for g in kept)
        return replace(self, grids=tuple(g for g in fresh if g.methods))


def suites() -> dict[str, Suite]:
    """The suites that come with the package."""
    found = [f for f in files("paramid").joinpath("suites").iterdir() if f.name.endswith(".toml")]
    return {s.name: s for s in (read_suite(f.name[:-5], f.read_text()) for f in sorted(found, key=lambda f: f.name))}


def suite(name: str | Path | Suite) -> Suite:
    """The suite of that name, or the one in a TOML file of one's own."""
    if isinstance(name, Suite):
        return name
    if str(name).endswith(".toml"):
        try:
            return read_suite(Path(name).stem, Path(name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"suite {name} cannot be read: {getattr(error, 'strerror', error)}") from error
    known = suites()
    if name not in known:
        elsewhere = "`paramid list suites` names all, and a path to a file.toml is one too"
        raise UsageError(f"unknown suite {name!r}; {naming.suggestion(str(name), known, elsewhere)}")
    return known[str(name)]


def read_suite(name: str, text: str) -> Suite:
    """A suite from its TOML text; unknown keys are refused.

    A grid without methods takes the suite's. Where these are a table of lists, a grid names lists of it as it names
    methods.
    """
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"suite {name}: {error}") from error
    _only(plain, {"version", "about", "methods", "grid"}, f"suite {name}")
    told = plain.get("methods", [])
    lists = told if isinstance(told, dict) else {}
    groups = {group: _texts(names, f"suite {name}: methods.{group}") for group, names in lists.items()}
    shared = [] if groups else _texts(told, f"suite {name}: methods")
    tables = plain.get("grid")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"suite {name} has no [[grid]]; one with tasks was wanted")
    grids = [_grid(table, shared, groups, f"suite {name}, grid {place}") for place, table in enumerate(tables, 1)]
    version = naming.whole(f"suite {name}: version", plain.get("version", 1), 1)
    return Suite(name=name, version=version, about=str(plain.get("about", "")), grids=tuple(grids))


def _grid(table: dict[str, Any], shared: list[str], groups: dict[str, list[str]], label: str) -> Grid:
    _only(table, {"over", *(f.name for f in fields(Grid))}, label)
    over = table.get("over", {})
    if not isinstance(over, dict) or not all(isinstance(values, list) for values in over.values()):
        raise UsageError(f"{label}: over is {over!r}; options with lists of values were wanted")
    values = {name: value for name, value in table.items() if name != "over"}
    for part, given in (("methods", table.get("methods", shared)), ("tasks", table.get("tasks", []))):
        if not (names := _texts(given, f"{label}: {part}")):
            raise UsageError(f"{label} has no {part}; a list of names was wanted")
        named = [n for name in names for n in groups.get(name, [name])] if part == "methods" else names
        values[part] = tuple(spread(named, over))
    seeds = table.get("seeds", 1)
    seeds = seeds if isinstance(seeds, list) else range(naming.whole(f"{label}: seeds", seeds, 1))
    return Grid(**{**values, "seeds": tuple(naming.whole(f"{label}: a seed", seed) for seed in seeds)})


def _texts(given: object, label: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise UsageError(f"{label} are {given!r}; a list of names was wanted")
    return given


def spread(names: Sequence[str], over: dict[str, list[object]]) -> list[str]:
    """Names such as `shallow:D={D},m={m}` for every combination of the values of D and m."""
    made = []
    for name in names:
        mentioned = [option for option in over if f"{{{option}}}" in name]
        for values in product(*(over[option] for option in mentioned)):
            try:
                made.append(name.format(**dict(zip(mentioned, values, strict=True))))
            except (KeyError, IndexError, ValueError) as error:
                raise UsageError(f"{name!r}: `over` gives no values of {str(error).strip(chr(39))}") from error
    return made


def _only(table: dict[str, object], known: set[str], label: str) -> None:
    if unknown := set(table) - known:
        raise UsageError(f"{label}: unknown key {', '.join(sorted(unknown))}; {naming.suggestion(min(unknown), known)}")


def grid(methods: Sequence[object], tasks: Sequence[object], seeds: Iterable[int], **options: Any) -> list[Cell]:
    """The cells of an ad-hoc grid, of which each has `TIME_LIMIT` unless `options` say otherwise."""
    names = {f.name for f in fields(Grid)}
    own = {"time_limit": TIME_LIMIT} | {k: v for k, v in options.items() if k in names}
    rest = {k: v for k, v in options.items() if k not in names}
    return Grid(methods=tuple(methods), tasks=tuple(tasks), seeds=tuple(seeds), **own).cells(**rest)
