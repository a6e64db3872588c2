"""Who stands on which board, and what each record spent until a claim of it met each target.

    (1)  a run reached ε with its first claim of error ≤ ε that the judge calls identified, at what that claim had cost;
         others spent all they did,
    (2)  claims stand where a run ended by itself or was cut off (`STANDING`); a run that failed, was declined, or whose
         method withdrew its answer reached nothing,
    (3)  a seed that others ran on the task counts as not reached, at the most that anybody spent on the task.

A method stands on the board of the strongest kind of access that was counted for it, in any of these records; one that
asks for nothing but decisions on a board of its own. Assisted runs see what no method should; they are marked. Controls
stand nowhere.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from paramid.contracts import descriptions
from paramid.records.quantities import UNITS, cost, error, identified
from paramid.records.record import Record
from paramid.statistics.intervals import Array
from paramid.words.naming import Name
from paramid.words.status import Status

DECISIONS = "decisions"  # counted as queries
TARGETS = (1e-2, 1e-4, 1e-8)
KINDS = {
    "samples": "passive samples",
    DECISIONS: "decisions",
    "queries": "queries",
    "derivatives": "exact derivatives",
    "moments": "exact moments",
}  # weakest first
COUNTED = tuple(kind for kind in KINDS if kind != DECISIONS)
COST_KINDS = tuple(UNITS)  # seconds, or rows of the teacher
STANDING = frozenset({Status.FINISHED, Status.TIMED_OUT, Status.BUDGET_SPENT})


@dataclass(frozen=True)
class TargetCosts:
    """What every method spent on every seed of every task: arrays (methods, tasks, seeds, targets).

    `spent` is the cost until the target, or the whole cost where it was not `hit`; NaN pads tasks with fewer seeds.
    """

    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    spent: Array
    hit: NDArray[np.bool_]


def board(records: Sequence[Record]) -> str | None:
    """The strongest kind of access counted for a method; the one it declares where nothing was counted, if known."""
    may = declared(records[0].method)
    counted = [kind for kind in COUNTED if any(getattr(r, kind) for r in records)]
    known = may if may == [DECISIONS] else counted or may
    return known[-1] if known else None


def declared(method: str) -> list[str]:
    """The kinds of access that a method says it will use, weakest first; none where it is not registered."""
    base = Name.parse(method).base
    return [kind for kind in KINDS if any(e.name == base and kind in e.access for e in _methods())]


@cache
def _methods() -> tuple[descriptions.Entry, ...]:
    return tuple(descriptions.entries("methods"))


def boards(groups: Mapping[str, Sequence[Record]]) -> dict[str, dict[str, Sequence[Record]]]:
    """The entrants of every board that has any."""
    standing: dict[str, dict[str, Sequence[Record]]] = {kind: {} for kind in KINDS}
    for name, records in groups.items():
        if (kind := board(records)) is not None:
            standing[kind][name] = records
    return {kind: ours for kind, ours in standing.items() if ours}


def spent(record: Record, over: str) -> tuple[float, tuple[float, ...]]:
    """The whole cost of a run, and by (1) that of each target it reached: of the first ones, for errors only fall."""
    if record.status not in STANDING:
        return cost(record, over), ()
    least = list(accumulate((error(s.metrics) if identified(s) else math.inf for s in record.claims), min))
    first = [sum(e > target for e in least) for target in TARGETS]
    return cost(record, over), tuple(cost(record.claims[i], over) for i in first if i < len(least))


def target_costs(groups: Mapping[str, Sequence[Record]], over: str) -> TargetCosts:
    """What a board's methods spent, before every task that one of them did not decline."""
    runs = {(name, r.task, r.seed): spent(r, over) for name, ours in groups.items() for r in ours}
    seeds: dict[str, set[int]] = defaultdict(set)
    for r in (r for ours in groups.values() for r in ours if r.status is not Status.DECLINED):
        seeds[r.task].add(r.seed)
    names, tasks = tuple(groups), tuple(sorted(seeds))
    shape = (len(names), len(tasks), max(map(len, seeds.values()), default=0), len(TARGETS))
    table, hit = np.full(shape, np.nan), np.zeros(shape, bool)
    worst: dict[str, float] = defaultdict(float)
    for (_, task, _), (whole, _) in runs.items():
        worst[task] = max(worst[task], whole)
    column = {name: m for m, name in enumerate(names)}
    where = {(task, seed): (t, i) for t, task in enumerate(tasks) for i, seed in enumerate(sorted(seeds[task]))}
    for (task, _), (t, i) in where.items():
        table[:, t, i] = worst[task]  # (3)
    for (name, task, seed), (whole, reached) in runs.items():
        if (task, seed) in where:
            at = (column[name], *where[task, seed])
            table[at] = [*reached, *[whole] * (len(TARGETS) - len(reached))]
            hit[at][: len(reached)] = True
    return TargetCosts(names, tasks, table, hit)
