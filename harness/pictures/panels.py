"""Panels: which records share one, and a line for each method in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from paramid.pictures.sheet import Axes, Figure, body_for, end_words, room_for, sheet
from paramid.records.record import Record
from paramid.records.selection import entrant, is_control, options, order
from paramid.words.naming import Name, UsageError, suggestion

Lines = dict[str, list[Record]]


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


def two_axes(records: Sequence[Record], rows: str | None, columns: str | None) -> tuple[str, str]:
    """The two options of a map: those that vary most, for each that is not told."""
    known = varying(records)
    if rows is not None and rows == columns:
        raise UsageError(f"rows and columns are both {rows!r}; two options were wanted")
    free = iter([option for option in known if option not in (rows, columns)])
    rows, columns = rows or next(free, None), columns or next(free, None)
    if rows is None or columns is None or rows == columns:
        raise UsageError(f"a phase map wants two task options that vary; here vary: {', '.join(known) or 'none'}")
    return rows, columns


def lines(records: Sequence[Record]) -> Lines:
    """Records by method, and by device where it is not the CPU; controls last, seeds in order."""
    groups: Lines = defaultdict(list)
    for record in sorted(records, key=lambda r: (is_control(r.method), r.method, r.device, r.seed, r.key)):
        groups[entrant(record)].append(record)
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


class Panel(NamedTuple):
    """What is drawn of some tasks: of each line its result in a word and in full, and how its axes are filled."""

    results: Mapping[str, str]
    about: Mapping[str, str]
    draw: Callable[[Axes, Mapping[str, str]], None]  # the axes, and what is written at the end of each line


def draw_panels(
    records: Sequence[Record], by: Collection[str], label: str, prepare: Callable[[str, Lines], Panel | None], lack: str
) -> Figure:
    """A panel for each group of tasks that has anything to draw; a UsageError with the `lack` if none has."""
    groups = panels(records, by).items()
    made = {title: panel for title, group in groups if (panel := prepare(title, lines(group))) is not None}
    return draw_made(made, label, lack)


def draw_made(made: Mapping[str, Panel], label: str, lack: str) -> Figure:
    """The panels by their titles; a UsageError with the `lack` if there is none."""
    if not made:
        raise UsageError(lack)
    words = {title: end_words(panel.results) for title, panel in made.items()}
    about = ". ".join(f"{title}: " + "; ".join(panel.about.values()) for title, panel in made.items())
    bodies = [body_for(len(panel.results)) for panel in made.values()]
    right = max(map(room_for, (told.values() for told in words.values())))
    figure, every = sheet(bodies, label, about, right=right)
    for axes, (title, panel) in zip(every, made.items(), strict=True):
        panel.draw(axes, words[title])
    return figure
