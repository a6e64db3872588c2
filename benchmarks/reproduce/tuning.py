"""docs/tuning.md: which options of a published method suit a family, chosen by one budget for all.

About fifteen minutes on two cores.
"""

import re
from collections.abc import Iterator
from math import log2
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    IDENTIFIED,
    SECONDS,
    Column,
    Page,
    Records,
    Section,
    by_task,
    grid,
    grouped,
)
from paramid.records.quantities import error, error_words, identified, log_median
from paramid.records.record import Record
from paramid.statistics.target_costs import STANDING, TARGETS
from paramid.words.naming import Name

Merit = tuple[float, ...]


def chosen(records: Records) -> dict[tuple[str, str], str]:
    """The best configuration by `merit`, the first listed of equals, by family and method."""
    rivals = grouped(records, lambda r: (Name.parse(r.task).base, Name.parse(r.method).base))
    return {place: best(mine) for place, mine in rivals.items()}


def chosen_by(page: str) -> dict[tuple[str, str], str]:
    """The same from the text of the page."""
    rows = re.findall(r"^\| ([\w-]+) \| `([\w-]+)` \| (?:its default|`([^`|]+)`) \|$", page, flags=re.MULTILINE)
    return {(family, method): choice or method for family, method, choice in rows}


def best(records: Records) -> str:
    """The configuration of the least merit among those of one method."""
    of = grouped(records, lambda r: r.method)
    return min(of, key=lambda name: merit(of[name]))


def merit(mine: Records) -> Merit:
    """Less is better: most teachers identified, most targets reached, fewest seconds; or else the least errors.

    Seconds count to a factor of two: what a machine does beside them decides nothing.
    """
    solved, targets = sum(map(identified, mine)), sum(map(reached, mine))
    if solved:
        return -solved, -targets, round(log2(median(r.seconds for r in mine)))
    outputs = [r.metrics.get("output_error_relative", float("inf")) for r in mine]
    return 0, -targets, middle_error(mine), median(outputs)


def reached(record: Record) -> int:
    """How many of the board's targets; none where the claim does not stand."""
    return sum(error(record.metrics) <= target for target in TARGETS) if record.status in STANDING else 0


def middle_error(mine: Records) -> float:
    """The median."""
    return log_median(sorted(error(r.metrics) for r in mine))


def text(records: Records) -> Iterator[str]:
    """The choices, and what they were made from."""
    targets = ", ".join(f"{t:.0e}".replace("e-0", "e-") for t in TARGETS)
    yield "Whatever others published and has options to choose (README's column *paper* says who) gets one budget"
    yield "in every family that it accepts: six configurations, its default first, before the teachers of two seeds"
    yield "of no other suite, ten seconds each. The best identifies most of them, reaches most of the board's"
    yield f"targets ({targets}) and is the quickest of those, to a factor of two; where none identifies anything, it"
    yield "has the least error, then the least output error; of equals it is the first. The suite `standard` runs"
    yield "it beside the default: the options in its name say which row is the tuned one. Our own methods run with"
    yield "their defaults."
    yield ""
    choices = sorted(chosen(records).items())
    yield from grid(("family", "method", "tuned"), ([f, f"`{m}`", tuned_words(m, c)] for (f, m), c in choices))
    yield ""
    yield from by_task(records, IDENTIFIED, REACHED, ERROR, SECONDS, ENDED)


def tuned_words(method: str, choice: str) -> str:
    """A choice in the table."""
    return "its default" if choice == method else f"`{choice}`"


REACHED: Column = ("targets reached", lambda mine: f"{sum(map(reached, mine))}/{len(TARGETS) * len(mine)}")
ERROR: Column = ("error", lambda mine: error_words(middle_error(mine)))


PAGE = Page(
    name="tuning",
    title="Options of published methods, chosen by one budget",
    sources="",
    sections={"tuning": Section("Six configurations, two teachers, ten seconds", text)},
)
