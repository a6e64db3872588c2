"""Who beats whom on the same teachers: runs in pairs, a sign test, and its correction for all pairs of a matrix.

Two runs are a pair where task, seed, secret and budget are the same: what ran again under another budget is no further
seed. Where one of the two declined there is no pair. Of a pair

    (1)  a beats b where a was identified and b was not, or both were and a cost less; else it is a draw.

Rows are compared as they are, seconds at four digits and on one machine with equal threads and device alone: elsewhere
two that were identified draw. With w pairs won and l lost, of two methods that beat each other equally often

    (2)  p = min(1, 2 P(X ≥ max(w, l))),   X ~ Binomial(w + l, 1/2)   (the sign test, exact; draws say nothing),
    (3)  with p_(1) ≤ … ≤ p_(K) for the K pairs of methods that met in a matrix, the first ones are significant for as
         long as p_(k) ≤ α / (K - k + 1), α = 5 %   (Holm): one false word a matrix, in one matrix of twenty at most.

The tasks are fixed and the seeds are drawn: what is said holds of these tasks.

References: Dixon & Mood, JASA 41 (1946); Holm, Scand. J. Statist. 6 (1979).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from paramid.records.quantities import cost, identified
from paramid.records.record import Record
from paramid.statistics.intervals import Array
from paramid.words.status import Status

LEVEL = 0.05  # α
DIGITS = 4  # of seconds
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Wins:
    """Of every method (a row) against every other (a column): pairs won, all pairs, (2), and who is ahead by (3)."""

    methods: tuple[str, ...]
    won: Counts
    met: Counts
    p: Array
    ahead: NDArray[np.bool_]


def wins(groups: Mapping[str, Sequence[Record]], over: str) -> Wins:
    """The matrix of these methods, whose cost is `over` seconds or rows (`queries`)."""
    names = tuple(groups)
    runs = [(m, r) for m, name in enumerate(names) for r in groups[name] if r.status is not Status.DECLINED]
    places: dict[Hashable, int] = {}
    for _, r in runs:
        places.setdefault(teacher(r), len(places))
    machines: dict[Hashable, int] = {}
    spent, made_on = np.full((len(names), len(places)), np.nan), np.zeros((len(names), len(places)), np.int64)
    for m, r in runs:
        at = m, places[teacher(r)]
        spent[at] = compared(r, over) if identified(r) else math.inf
        made_on[at] = machines.setdefault(machine(r), len(machines)) if over == "seconds" else 0
    won, met = np.zeros((2, len(names), len(names)), np.int64)
    for m, ours in enumerate(spent):  # a row at a time: memory stays that of the runs
        alike = (made_on == made_on[m]) | np.isinf(spent)
        won[m] = ((ours < spent) & alike).sum(axis=1)
        met[m] = (~np.isnan(ours) & ~np.isnan(spent)).sum(axis=1)
    np.fill_diagonal(met, 0)
    p = sign_test(won, won.T)
    return Wins(names, won, met, p, holm(p, met > 0) & (won > won.T))


def teacher(r: Record) -> tuple[Hashable, ...]:
    """What two runs share that are a pair."""
    return r.task, r.seed, conditions(r)


def conditions(r: Record) -> tuple[Hashable, ...]:
    """The secret from which a teacher was drawn, and what its method was granted."""
    return r.secret, tuple(sorted(r.budget.items()))


def machine(r: Record) -> tuple[Hashable, ...]:
    """Where seconds compare."""
    return str(r.provenance.get("cpu")), r.threads, r.device


def compared(r: Record, over: str) -> float:
    """The cost of a run as it is compared."""
    value = cost(r, over)
    return float(f"{value:.{DIGITS}g}") if over == "seconds" else value


def sign_test(won: Counts, lost: Counts) -> Array:
    """(2), exact."""
    p: Array = np.minimum(1.0, 2 * binom.sf(np.maximum(won, lost) - 1, won + lost, 0.5))
    return p


def holm(p: Array, met: NDArray[np.bool_], level: float = LEVEL) -> NDArray[np.bool_]:
    """(3) over the pairs above the diagonal of a symmetric matrix that met."""
    rows, columns = np.nonzero(np.triu(met, 1))
    significant = np.zeros(p.shape, bool)
    for k, i in enumerate(np.argsort(p[rows, columns], kind="stable")):
        if p[rows[i], columns[i]] > level / (len(rows) - k):
            break
        significant[rows[i], columns[i]] = significant[columns[i], rows[i]] = True
    return significant
