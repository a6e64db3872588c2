"""From names to cells: suites, grids, and the key of every cell. Nothing here loads torch by itself."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from itertools import product
from typing import Any, TypedDict, Unpack

from paramid import keys, naming, registry, sizes
from paramid.naming import Name, UsageError

MOST_CELLS = 100_000


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Method x task x seed x device x budget, in plain values that cross process borders."""

    method: str
    task: str
    seed: int
    device: str = "cpu"
    time_limit: float | None = None
    query_limit: int | None = None
    memory_limit: float | None = None  # MB
    judge_inputs: int = 10_000
    plugins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", naming.whole("seed", self.seed))  # numpy's integers become Python's

    @property
    def budget(self) -> dict[str, float | None]:
        """What the method may spend; 60 seconds are 60.0 seconds."""
        limits = {"seconds": self.time_limit, "queries": self.query_limit, "memory_mb": self.memory_limit}
        return {name: None if limit is None else float(limit) for name, limit in limits.items()}

    def key(self) -> str:
        """The content key (see `keys`)."""
        return keys.digest(
            {
                "method": _identity("methods", self.method),
                "task": _identity("tasks", self.task),
                "seed": self.seed,
                "device": self.device,
                "budget": self.budget,
                "judge_inputs": self.judge_inputs,
            }
        )


def _identity(group: str, text: str) -> dict[str, object]:
    base = Name.parse(text).base
    configured = registry.method(text) if group == "methods" else registry.task(text)
    return {
        "name": base,
        "options": dict(naming.settings(configured)),
        "version": configured.version,
        "source": keys.source_hash(type(configured).__module__),
    }


class Limits(TypedDict, total=False):
    """What may be granted to a cell."""

    time_limit: float | None
    query_limit: int | None
    memory_limit: float | None
    judge_inputs: int


def cell(method: str, task: str, *, seed: int = 0, device: str = "cpu", **limits: Unpack[Limits]) -> Cell:
    """A cell with canonical names; a UsageError says what is wrong with them."""
    for name in limits:
        if name not in Limits.__annotations__:
            raise UsageError(f"unknown limit {name!r}; {naming.suggestion(name, Limits.__annotations__)}")
    made = Cell(
        method=registry.canonical("methods", method),
        task=registry.canonical("tasks", task),
        seed=seed,
        device=device,
        plugins=registry.plugin_files(),
        **limits,
    )
    for name in Limits.__annotations__:
        value = getattr(made, name)
        if value is not None and not (isinstance(value, int | float) and 0 < value < math.inf):
            raise UsageError(f"{name} is {value!r}; a positive number was wanted")
    allowed = min(sizes.room(), 2**20 * (made.memory_limit or math.inf))
    if reason := sizes.refusal(sizes.least(registry.task(task).spec), allowed):
        raise UsageError(f"{made.task} cannot fit in memory: {reason}")
    return made


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
        pairs = [cell(m, t, seed=0, **{**shared, **options}) for t in self.tasks for m in self.methods]
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
    """The cells of an ad-hoc grid."""
    names = {f.name for f in fields(Grid)}
    own = {k: v for k, v in options.items() if k in names}
    rest = {k: v for k, v in options.items() if k not in names}
    return Grid(methods=tuple(methods), tasks=tuple(tasks), seeds=tuple(seeds), **own).cells(**rest)
