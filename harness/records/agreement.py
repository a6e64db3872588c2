"""Whether two records of one cell agree: of two machines, two devices, or a claim and its rerun.

    (1)  the ending: the same status; not compared where one of them ran out of time or memory, which machines decide,
    (2)  rows of the teacher, by kind: equal on one kind of device, where the method ended by itself,
    (3)  `identified`: the same,
    (4)  `error`: within a factor of ten, all below 1e-12 being equal.

Seconds and memory belong to machines and are never compared.
"""

from __future__ import annotations

import math

from paramid.records.quantities import error, error_words, identified
from paramid.records.record import COSTS, Record
from paramid.words.status import Status

ROUNDING, FACTOR = 1e-12, 10.0
MACHINES = frozenset({Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.INTERRUPTED})
TOLERANCES = (
    "the same status; rows of the teacher exactly equal; the same `identified`; `error` within a factor of "
    f"{FACTOR:g}, all below {ROUNDING:g} being equal; seconds and memory are not compared"
)


def comparable(a: Record, b: Record) -> bool:
    """Whether (1) to (4) can be asked: no machine's limit ended one of them."""
    return not {a.status, b.status} & MACHINES


def disagreement(a: Record, b: Record) -> str | None:
    """The first of (1) to (4) that does not hold, `a` as recorded and `b` as found; None where all do."""
    if a.status is not b.status:
        return f"recorded {a.status.key}, found {b.status.key}"
    if a.device == b.device:
        for name in COSTS:
            if getattr(a, name) != getattr(b, name):
                return f"recorded {getattr(a, name):,} {name}, found {getattr(b, name):,}"
    if identified(a) != identified(b):
        return "recorded identified, found not" if identified(a) else "recorded not identified, found identified"
    first, second = error(a.metrics), error(b.metrics)
    return None if near(first, second) else f"recorded error {error_words(first)}, found {error_words(second)}"


def near(a: float, b: float) -> bool:
    """Whether two errors are equal by (4)."""
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(math.log10(max(a, ROUNDING) / max(b, ROUNDING))) <= math.log10(FACTOR)
