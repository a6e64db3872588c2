"""Which records are meant: the newest ones, those of a method or task by its name, those that stand on a board."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from paramid.records.record import Record
from paramid.words.naming import Name, UsageError, suggestion

CONTROLS = ("truth", "random")
Entrants = dict[str, list[Record]]


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


def newest(records: Iterable[Record], *, each_budget: bool = False) -> list[Record]:
    """One record for each method, task, seed and device, and for `each_budget` of theirs: the one that was made last.

    Two budgets of one seed are never two seeds.
    """
    latest: dict[tuple[object, ...], Record] = {}
    for record in sorted(records, key=lambda r: str(r.provenance.get("finished", ""))):
        budget = tuple(sorted(record.budget.items(), key=str)) if each_budget else ()
        latest[record.method, record.task, record.seed, record.device, budget] = record
    return list(latest.values())


def entrants(records: Iterable[Record]) -> Entrants:
    """The newest record of every seed of every task, by method and by device where it is not the CPU; no controls."""
    latest: dict[tuple[str, str, int], Record] = {}
    for record in sorted(records, key=lambda r: (str(r.provenance.get("finished", "")), r.key)):
        if not is_control(record.method):
            latest[entrant(record), record.task, record.seed] = record
    groups: Entrants = defaultdict(list)
    for (name, _, _), record in sorted(latest.items()):
        groups[name].append(record)
    return dict(groups)


def entrant(record: Record) -> str:
    """What stands on a board: a method, and its device where that is not the CPU."""
    return record.method if record.device == "cpu" else f"{record.method} on {record.device}"


def chosen(records: Sequence[Record], methods: Sequence[str] = (), tasks: Sequence[str] = ()) -> list[Record]:
    """The records asked for: methods by name (the exact one, else any options), tasks by what they begin with.

    Without methods the controls stay out. A UsageError where a name fits nothing, or nothing is left.
    """
    if not records:
        raise UsageError("no record was found")
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
        told = "no record of these methods before these tasks was found"
        raise UsageError(told if methods else "no record of a method other than the controls was found")
    return kept


@lru_cache(4096)
def order(task: str) -> tuple[object, ...]:
    """The place of a task among others: by its family, then by its options as numbers."""
    name = Name.parse(task)
    values = [(option, number(text)) for option, text in name.options]
    return name.base, tuple((option, math.inf if math.isnan(v) else v) for option, v in values), task


def is_control(method: str) -> bool:
    """Whether a method is one of the two that never rank."""
    return Name.parse(method).base in CONTROLS


def assisted(method: str) -> bool:
    """Whether a method's name says that it is helped."""
    return ("assisted", "true") in Name.parse(method).options
