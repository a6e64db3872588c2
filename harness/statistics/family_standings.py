"""Who solves what of a family of tasks by a kind of access, at what cost, and how far from the limit.

A run is solved where the judge calls its last claim identified, a task where more than half of a method's runs before
it are, and a task is accepted unless every run of it was declined; who declines a family does not stand in it. What a
method is said to do is said of its solved runs:

    (1)  error, seconds, rows: the median over them,
    (2)  times the best: exp mean_p log (c_sp / min_t c_tp) over the tasks p of these runs, c_sp their median cost
         before p, t of the same table,
    (3)  times the limit: the median of the rows for a parameter of the teacher, and that of error / `bound` where there
         is a bound (docs/metrics.md); rows that hold no values have no such limit.

Places are those of `ranking`, by rows of the teacher: who is equal there is placed by tasks solved, then by (2) of
seconds. Who solved no run is named and nothing more.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from paramid.records.quantities import cost, error, identified
from paramid.records.record import Record
from paramid.statistics.intervals import median
from paramid.statistics.ranking import Standing, standings
from paramid.statistics.sizes import family, weights
from paramid.statistics.target_costs import COST_KINDS, TargetCosts, boards, target_costs
from paramid.words.status import Status

Before = Mapping[str, Sequence[Record]]  # by the task
EACH = "rows_per_parameter"
PLACED_BY = "queries"  # rows of the teacher
VALUES = ("samples", "decisions", "queries")  # a row is at most one equation for each output


@dataclass(frozen=True)
class Row:
    """A method's line in a table."""

    method: str
    solved: tuple[str, ...]  # tasks, smallest first
    accepted: int
    runs: tuple[int, int]  # solved, of tasks accepted
    error: float
    cost: Mapping[str, float]  # (1), by the kind of cost
    times_best: Mapping[str, float]  # (2)
    rows_per_parameter: float  # (3), NaN where it is not known
    times_bound: float
    standing: Standing


@dataclass(frozen=True)
class Table:
    """A family by a kind of access."""

    family: str
    kind: str
    tasks: tuple[str, ...]  # that anybody here accepts
    rows: tuple[Row, ...]  # best first
    nothing: tuple[str, ...]  # solved no run
    costs: TargetCosts  # in rows of the teacher

    @property
    def methods(self) -> tuple[str, ...]:
        """All that stand here."""
        return (*(row.method for row in self.rows), *self.nothing)


def tables(entrants: Mapping[str, Sequence[Record]]) -> dict[str, dict[str, Table]]:
    """Every table that has anybody in it, by family and by access, the weakest access first."""
    parts: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for name, records in entrants.items():
        for record in records:
            parts[family(record.task)][name].append(record)
    return {
        name: {kind: _table(name, kind, ours) for kind, ours in boards(_not_declined(groups)).items()}
        for name, groups in sorted(parts.items())
    }


def leader(table: Table) -> Row | None:
    """The first row of those that solved a task; none where nobody did."""
    return next((row for row in table.rows if row.solved and row.standing.score > 0), None)


def _not_declined(groups: Mapping[str, list[Record]]) -> dict[str, Sequence[Record]]:
    return {n: ours for n, ours in groups.items() if any(r.status is not Status.DECLINED for r in ours)}


def _table(name: str, kind: str, groups: Mapping[str, Sequence[Record]]) -> Table:
    accepted = {method: _accepted(records) for method, records in groups.items()}
    good = {method: {t: g for t, ours in tasks.items() if (g := list(filter(identified, ours)))}
            for method, tasks in accepted.items()}  # fmt: skip
    costs = target_costs(groups, PLACED_BY)
    best = {over: _least(good.values(), over) for over in COST_KINDS}
    rows = [_row(place, accepted[place.method], good[place.method], best, kind) for place in standings(costs)]
    kept = sorted((r for r in rows if r.runs[0]), key=_place)
    return Table(name, kind, costs.tasks, tuple(kept), tuple(r.method for r in rows if not r.runs[0]), costs)


def _place(row: Row) -> tuple[float, int, float, str]:
    return -row.standing.score, -len(row.solved), row.times_best["seconds"], row.method


def _accepted(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The runs before every task that was not declined by all of them."""
    tasks: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        tasks[record.task].append(record)
    return {t: ours for t, ours in tasks.items() if any(r.status is not Status.DECLINED for r in ours)}


def _row(place: Standing, accepted: Before, good: Before, best: Mapping[str, Mapping[str, float]], kind: str) -> Row:
    runs = [r for ours in good.values() for r in ours]
    solved = [t for t, ours in good.items() if 2 * len(ours) > len(accepted[t])]
    return Row(
        place.method,
        tuple(sorted(solved, key=lambda t: (weights(t), t))),
        len(accepted),
        (len(runs), sum(map(len, accepted.values()))),
        _middle([error(r.metrics) for r in runs]),
        {over: _middle([cost(r, over) for r in runs]) for over in COST_KINDS},
        {over: _times(good, best[over], over) for over in COST_KINDS},
        _middle([r.metrics[EACH] for r in runs if EACH in r.metrics and kind in VALUES]),
        _middle([error(r.metrics) / b for r in runs if 0 < (b := r.metrics.get("bound", 0.0)) < math.inf]),
        place,
    )


def _middle(values: Sequence[float]) -> float:
    return median(values) if values else math.nan


def _least(methods: Iterable[Before], over: str) -> dict[str, float]:
    """The denominator of (2) for every task."""
    least: dict[str, float] = {}
    for tasks in methods:
        for task, ours in tasks.items():
            least[task] = min(least.get(task, math.inf), median([cost(r, over) for r in ours]))
    return least


def _times(good: Before, best: Mapping[str, float], over: str) -> float:
    """(2); what costs nothing is once the best, NaN where something costs more than nothing."""
    ratios = [(median([cost(r, over) for r in ours]), best[task]) for task, ours in good.items()]
    logs = [0.0 if mine == least else math.log(mine / least) if least > 0 else math.nan for mine, least in ratios]
    return math.exp(fmean(logs)) if logs else math.nan
