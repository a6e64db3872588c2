"""What a record says in numbers and words: its error, its cost, how it ended.

An error below 1e-17 counts as that; one that is missing or not finite is as bad as can be.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from statistics import median_high, median_low

from paramid.records.number_format import shown
from paramid.records.record import COSTS, Record, Stage

FLOOR = 1e-17  # of the errors drawn
LUCKY = 0.1  # of a bound
UNITS = {"seconds": "seconds", "queries": f"rows of the teacher ({', '.join(COSTS)})"}
_counted = attrgetter(*COSTS)


def error(metrics: Mapping[str, float]) -> float:
    """The error among metrics, from 1e-17 on; infinite where there is none."""
    value = metrics.get("error", math.inf)
    return max(value, FLOOR) if math.isfinite(value) else math.inf


def error_words(value: float) -> str:
    """An error in words."""
    return "none" if math.isinf(value) else "below 1e-17" if value <= FLOOR else shown(value)


def log_median(errors: Sequence[float]) -> float:
    """The median; of an even number, the geometric mean of the two in the middle, which is the median of log10."""
    return math.sqrt(median_low(errors) * median_high(errors))


def identified(record: Stage | Record) -> bool:
    """Whether the judge says so of a claim, or of the last one."""
    return record.metrics.get("identified") == 1


def beyond_its_limit(record: Record) -> bool:
    """Whether its largest error is below a tenth of its Cramér-Rao bound: nobody is that lucky."""
    worst, bound = record.metrics.get("bits", -math.inf), record.metrics.get("bound", 0.0)
    return math.isfinite(bound) and 2.0**-worst < LUCKY * bound


def endings(records: Sequence[Record]) -> str:
    """How many were identified, and how all ended: `2/3 identified; 2 finished, 1 timed_out`."""
    counts = Counter(r.status.key for r in records)
    told = ", ".join(f"{n} {key}" for key, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return f"{sum(map(identified, records))}/{len(records)} identified; {told}"


def budget_words(record: Record) -> str:
    """What a record's method was granted: `60 s, 1,000 rows`."""
    units = {"seconds": "s", "queries": "rows", "memory_mb": "MB"}
    granted = [f"{value:,.12g} {units[name]}" for name, value in record.budget.items() if name in units and value]
    return ", ".join(granted) or "none"


def cost(stage: Stage | Record, over: str) -> float:
    """What a claim had cost, or a whole run did: its seconds, or every row of the teacher."""
    return stage.seconds if over == "seconds" else float(sum(_counted(stage)))
