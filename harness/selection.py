"""Which records a figure shows, in which panels and lines, and what it says of them, in whatever order they came."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from statistics import median_high, median_low

from paramid.charts import shown
from paramid.naming import Name, UsageError, suggestion
from paramid.record import Record
from paramid.tables import is_control

Lines = dict[str, list[Record]]
FLOOR = 1e-17  # of the errors drawn


def number(text: str) -> float:
    """The number an option's text means; NaN for words, lists and whatever is not finite."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


@lru_cache(4096)
def options(task: str) -> Mapping[str, float]:
    """The numeric options that a task's name gives."""
    given = {option: number(text) for option, text in Name.parse(task).options}
    return {option: value for option, value in given.items() if not math.isnan(value)}


def fits(name: str, pattern: str) -> bool:
    """Whether `name` is `pattern` or the same with further options."""
    ours, theirs = Name.parse(name), Name.parse(pattern)
    texts = dict(ours.options)
    same = (o in texts and (texts[o] == t or number(texts[o]) == number(t)) for o, t in theirs.options)
    return ours.base == theirs.base and all(same)


def chosen(records: Sequence[Record], methods: Sequence[str] = (), tasks: Sequence[str] = ()) -> list[Record]:
    """The records asked for: methods by name (the exact one, else any options), tasks by what they begin with.

    Without methods the controls stay out. A UsageError where a name fits nothing, or nothing is left.
    """
    exact, before = {r.method for r in records}, {r.task for r in records}
    wanted = {m: {m} if m in exact else {name for name in exact if fits(name, m)} for m in methods}
    places = {t: {name for name in before if fits(name, t)} for t in tasks}
    for kind, found, known in (("method", wanted, exact), ("task", places, before)):
        for pattern, names in found.items():
            if not names:
                raise UsageError(f"no record of {kind} {pattern!r}; {suggestion(pattern, known)}")
    which = set().union(*wanted.values()) if methods else {m for m in exact if not is_control(m)}
    where = set().union(*places.values()) if tasks else before
    if not (kept := [r for r in records if r.method in which and r.task in where]):
        raise UsageError(
            "no record was found" if methods else "no record of a method other than the controls was found"
        )
    return kept


def varying(records: Sequence[Record]) -> dict[str, int]:
    """The numeric task options with more than one value, and how many; most values first."""
    values: dict[str, set[float]] = defaultdict(set)
    for task in sorted({r.task for r in records}):
        for option, value in options(task).items():
            values[option].add(value)
    counts = {option: len(seen) for option, seen in values.items() if len(seen) > 1}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def along(records: Sequence[Record], axes: Collection[str]) -> list[Record]:
    """The records whose tasks give every option in `axes`; a UsageError if one of them does not vary."""
    known = varying(records)
    for axis in axes:
        if axis not in known:
            raise UsageError(f"no two tasks differ in the number {axis!r}; {suggestion(axis, known)}")
    if not (kept := [r for r in records if set(axes) <= set(options(r.task))]):
        raise UsageError(f"no task gives {' and '.join(axes)} together")
    return kept


def two(records: Sequence[Record], rows: str | None, columns: str | None) -> tuple[str, str]:
    """The two options of a map: those that vary most, for each that is not told."""
    known = varying(records)
    free = iter([option for option in known if option not in (rows, columns)])
    rows, columns = rows or next(free, None), columns or next(free, None)
    if rows is None or columns is None or rows == columns:
        raise UsageError(f"a phase map wants two task options that vary; here vary: {', '.join(known) or 'none'}")
    return rows, columns


def lines(records: Sequence[Record]) -> Lines:
    """Records by method, and by device where it is not the CPU; controls last, seeds in order."""
    groups: Lines = defaultdict(list)
    for record in sorted(records, key=lambda r: (is_control(r.method), r.method, r.device, r.seed, r.key)):
        groups[record.method if record.device == "cpu" else f"{record.method} on {record.device}"].append(record)
    return dict(groups)


def by_place(records: Sequence[Record], axes: Sequence[str]) -> dict[tuple[float, ...], list[Record]]:
    """Records by the values that their tasks give the options `axes`."""
    groups: dict[tuple[float, ...], list[Record]] = defaultdict(list)
    for record in records:
        given = options(record.task)
        groups[tuple(given[axis] for axis in axes)].append(record)
    return groups


def panels(records: Sequence[Record], axes: Collection[str] = ()) -> Lines:
    """Records by what their tasks are beside `axes`; one panel where `axes` alone tell the tasks apart."""
    groups: dict[Name, list[Record]] = defaultdict(list)
    tasks: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for record in sorted(records, key=lambda r: (order(r.task), r.key)):
        name, given = Name.parse(record.task), options(record.task)
        groups[Name(name.base, tuple(o for o in name.options if o[0] not in axes))].append(record)
        tasks[name.base, *(given.get(axis) for axis in axes)].add(record.task)
    if len({name.base for name in groups}) > 1 or len(groups) == 1 or any(len(same) > 1 for same in tasks.values()):
        return {str(name): group for name, group in groups.items()}
    return {_together(list(groups)): [r for group in groups.values() for r in group]}


def _together(names: Sequence[Name]) -> str:
    """The options that all share, and which ones differ."""
    shared = tuple(o for o in names[0].options if all(o in name.options for name in names))
    differing = dict.fromkeys(o for name in names for o, text in name.options if (o, text) not in shared)
    return f"{Name(names[0].base, shared)}, {' and '.join(differing)} varying"


def error(metrics: Mapping[str, float]) -> float:
    """The error among metrics, from 1e-17 on; infinite where there is none."""
    value = metrics.get("error", math.inf)
    return max(value, FLOOR) if math.isfinite(value) else math.inf


def said(value: float) -> str:
    """An error in words."""
    return "none" if math.isinf(value) else "below 1e-17" if value <= FLOOR else shown(value)


def middle(errors: Sequence[float]) -> float:
    """The median; of an even number, the geometric mean of the two in the middle, which is the median of log10."""
    return math.sqrt(median_low(errors) * median_high(errors))


def identified(record: Record) -> bool:
    """Whether the judge says so."""
    return record.metrics.get("identified") == 1


def endings(records: Sequence[Record]) -> str:
    """How many were identified, and how all ended: `2/3 identified; 2 finished, 1 timed_out`."""
    counts = Counter(r.status.key for r in records)
    told = ", ".join(f"{n} {key}" for key, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return f"{sum(map(identified, records))}/{len(records)} identified; {told}"


@lru_cache(4096)
def order(task: str) -> tuple[object, ...]:
    """The place of a task among others: by its family, then by its options as numbers."""
    name = Name.parse(task)
    values = [(option, number(text)) for option, text in name.options]
    return name.base, tuple((option, math.inf if math.isnan(v) else v) for option, v in values), task
