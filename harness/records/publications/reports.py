"""What a submitter reports beside what the maintainers found, as distributions: their teachers are not the same.

Over the tasks that both ran, a method's report holds where

    (1)  shares identified differ by no more than chance: Fisher's exact test of the pooled counts, p from 1 %,
    (2)  medians of errors are within a factor of ten of each other, all below 1e-12 being equal, and
    (3)  medians of rows of the teacher within a factor of two: the median over tasks of the ratio of both.

Seconds belong to machines. A report is shown and never ranked, whatever comes of it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from paramid.records.agreement import ROUNDING
from paramid.records.quantities import cost, error, identified
from paramid.records.record import Record

CHANCE, ERRORS, ROWS = 0.01, 10.0, 2.0
BOUNDS = (
    f"shares identified by Fisher's exact test at {CHANCE:.0%}; median errors within {ERRORS:g}, rows within {ROWS:g}"
)


@dataclass(frozen=True)
class Report:
    """A method as reported and as found, over the tasks that both ran."""

    method: str
    reported: tuple[int, int]  # identified, of
    found: tuple[int, int]
    chance: float  # of such a difference
    errors: float  # the median over tasks of the ratio, found over reported
    rows: float

    @property
    def differs(self) -> str:
        """Where the report does not hold; empty where it does."""
        told = []
        if self.chance < CHANCE:
            told.append(f"shares identified (by chance in {self.chance:.1e} of cases)")
        if abs(math.log(self.errors)) > math.log(ERRORS):
            told.append(f"errors {self.errors:.1e} times those reported")
        if abs(math.log(self.rows)) > math.log(ROWS):
            told.append(f"rows {self.rows:.2g} times those reported")
        return ", ".join(told)

    def __str__(self) -> str:
        shares = " ".join(f"{word} {n}/{of}" for word, (n, of) in (("reported", self.reported), ("found", self.found)))
        return f"{self.method}: identified as {shares}; " + (f"differs: {self.differs}" if self.differs else "agrees")


def compared(reported: Iterable[Record], found: Iterable[Record]) -> list[Report]:
    """The reports of all methods that were found before a task that they report."""
    from scipy.stats import fisher_exact

    theirs, ours = _grouped(reported), _grouped(found)
    made = []
    for method in sorted({m for m, _ in theirs.keys() & ours.keys()}):
        pairs = [(theirs[cell], ours[cell]) for cell in sorted(theirs.keys() & ours.keys()) if cell[0] == method]
        sides = [[r for records in side for r in records] for side in zip(*pairs, strict=True)]
        counts = [(sum(map(identified, side)), len(side)) for side in sides]
        chance = float(fisher_exact([[n, of - n] for n, of in counts]).pvalue)
        errors = [_median(b, _error) / _median(a, _error) for a, b in pairs]
        rows = [_median(b, _rows) / _median(a, _rows) for a, b in pairs]
        made.append(Report(method, counts[0], counts[1], chance, median(errors), median(rows)))
    return made


def _grouped(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.method, record.task].append(record)
    return groups


def _median(records: list[Record], of: Callable[[Record], float]) -> float:
    return median(map(of, records))


def _error(record: Record) -> float:
    return min(max(error(record.metrics), ROUNDING), 1e6)  # none is as bad as can be


def _rows(record: Record) -> float:
    return 1.0 + cost(record, "queries")
