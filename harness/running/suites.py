"""Named lists of cells, from TOML. Nothing here loads torch by itself."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from itertools import product
from typing import Any

from paramid.running.cell import Cell, plan_cell
from paramid.words import naming
from paramid.words.naming import UsageError

MOST_CELLS = 100_000
TIME_LIMIT = 60.0  # of a cell in an ad-hoc grid, where nobody says otherwise


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Every method before every task for every seed, under one budget."""

    methods: tuple[str, ...]
    tasks: tuple[str, ...]
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

    def cells(self, *guests: str, **options: Any) -> list[Cell]:
        """The cells of all grids, each once; `guests` are methods that run beside the suite's own."""
        grids = (replace(grid, methods=(*grid.methods, *guests)) for grid in self.grids)
        return list(dict.fromkeys(c for grid in grids for c in grid.cells(**options)))


def suites() -> dict[str, Suite]:
    """The suites that come with the package."""
    found = [f for f in files("paramid").joinpath("suites").iterdir() if f.name.endswith(".toml")]
    return {s.name: s for s in (read_suite(f.name[:-5], f.read_text()) for f in sorted(found, key=lambda f: f.name))}


def suite(name: str) -> Suite:
    """The suite of that name."""
    known = suites()
    if name not in known:
        raise UsageError(f"unknown suite {name!r}; {naming.suggestion(name, known)}")
    return known[name]


def read_suite(name: str, text: str) -> Suite:
    """A suite from its TOML text; unknown keys are refused. A grid without methods takes the suite's."""
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"suite {name}: {error}") from error
    _only(plain, {"version", "about", "methods", "grid"}, f"suite {name}")
    grids = []
    for table in plain["grid"]:
        _only(table, {"over", *(f.name for f in fields(Grid))}, f"suite {name}, grid")
        table.setdefault("methods", plain.get("methods", []))
        for part in ("methods", "tasks"):
            table[part] = spread(table[part], table.get("over", {}))
        table.pop("over", None)
        seeds = table.get("seeds", 1)
        table["seeds"] = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
        grids.append(Grid(**values))
    return Suite(name=name, version=plain["version"], about=plain["about"], grids=tuple(grids))


def spread(names: Sequence[str], over: dict[str, list[object]]) -> list[str]:
    """Names such as `shallow:D={D},m={m}` for every combination of the values of D and m."""
    made = []
    for name in names:
        mentioned = [option for option in over if f"{{{option}}}" in name]
        for values in product(*(over[option] for option in mentioned)):
            made.append(name.format(**dict(zip(mentioned, values, strict=True))))
    return made


def _only(table: dict[str, object], known: set[str], label: str) -> None:
    if unknown := set(table) - known:
        raise UsageError(f"{label}: unknown key {', '.join(sorted(unknown))}; {naming.suggestion(min(unknown), known)}")


def grid(methods: Sequence[str], tasks: Sequence[str], seeds: Iterable[int], **options: Any) -> list[Cell]:
    """The cells of an ad-hoc grid, of which each has `TIME_LIMIT` unless `options` say otherwise."""
    names = {f.name for f in fields(Grid)}
    own = {"time_limit": TIME_LIMIT} | {k: v for k, v in options.items() if k in names}
    rest = {k: v for k, v in options.items() if k not in names}
    return Grid(methods=tuple(methods), tasks=tuple(tasks), seeds=tuple(seeds), **own).cells(**rest)
