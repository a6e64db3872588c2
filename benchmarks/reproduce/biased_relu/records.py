"""Numbers of the records behind docs/biased-relu.md: errors, laws in N, and which records a question is about."""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from benchmarks.reproduce.pages import grouped, option, slope
from paramid.judging.metrics import SHIFT
from paramid.records.record import Record
from paramid.words.naming import Name
from paramid.words.neuron_distances import CLOSE

LEARNT = 0.3  # above, errors do not yet fall like a power of N
ROUNDING = 1e-9  # below, they fall no longer
STEEP = -0.25  # flatter exponents are those of medians that do not fall yet
LOOSE = CLOSE + 2 * SHIFT  # the sum of errors of w, b and a that `identified` amounts to

Records = list[Record]


def told(record: Record, name: str = "parameter_error") -> float:
    """A metric of the last claim that has it."""
    return next((c.metrics[name] for c in reversed(record.claims) if name in c.metrics), math.inf)


def middle_of(records: Records, name: str = "parameter_error") -> float:
    """Its median."""
    return median(told(r, name) for r in records)


def error(name: str = "parameter_error") -> Callable[[Records], str]:
    """Its median as text."""
    return lambda mine: f"{middle_of(mine, name):.1e}"


def right(record: Record) -> bool:
    """Whether the answer is the teacher."""
    return record.metrics.get("identified") == 1


def shown(record: Record) -> bool:
    """Whether the last network claimed is the teacher, though a function may be the answer."""
    return told(record, "identified") == 1


def but_for_signs(record: Record) -> bool:
    """Whether the last network claimed is the teacher but for signs of (w, b), as far as its metrics tell."""
    return shown(record) or (direction_error(record) < CLOSE and told(record, "parameter_error_unsigned") < LOOSE)


def direction_error(record: Record) -> float:
    """The largest error of a direction, up to sign, before biases and outer weights are told."""
    return next((c.metrics["weight_error"] for c in record.claims if c.kind == "Directions"), math.inf)


def wrong(record: Record) -> bool:
    """Whether another network stands as the answer."""
    networks = [claim.kind for claim in record.claims[-1:]] == ["Network"]
    return networks and record.status.key == "finished" and not right(record)


def options(name: str) -> dict[str, str]:
    """The options that a method or task is written with."""
    return dict(Name.parse(name).options)


def base(record: Record) -> str:
    """The method without its options."""
    return Name.parse(record.method).base


def given_exactly(record: Record) -> bool:
    """Whether coefficients were asked of the oracle."""
    return options(record.method).get("moments") == "exact"


def order(record: Record) -> int:
    """L of the method."""
    return int(options(record.method).get("order", "1"))


def without(name: str, which: str) -> str:
    """A task's name without one of its options."""
    parsed = Name.parse(name)
    return str(Name(parsed.base, tuple(pair for pair in parsed.options if pair[0] != which)))


def by_value(records: Records, name: str) -> Iterator[tuple[tuple[str, str], dict[float, Records]]]:
    """Records of every method and task but for one option, by the values of that option."""
    for key, mine in grouped(records, lambda r: (without(r.task, name), r.method)).items():
        yield key, dict(sorted(grouped(mine, lambda r: option(r.task, name)).items()))


class Law(NamedTuple):
    """error = constant N^exponent, fitted to so many medians."""

    constant: float
    exponent: float
    points: int

    def rows(self, goal: float) -> float:
        """N at which the error is `goal`."""
        return (goal / self.constant) ** (1 / self.exponent)


def law(samples: list[float], errors: list[float]) -> Law | None:
    """The law of the errors in the range where there is one; None of fewer than two."""
    kept = in_range(samples, errors)
    if len(kept) < 2:
        return None
    exponent = slope(*zip(*kept, strict=True))
    constant = math.exp(sum(math.log(e / n**exponent) for n, e in kept) / len(kept))
    return Law(constant, exponent, len(kept))


def in_range(samples: list[float], errors: list[float]) -> list[tuple[float, float]]:
    """What may fall like a power of N."""
    return [(n, e) for n, e in zip(samples, errors, strict=True) if ROUNDING < e < LEARNT]


def falling(samples: list[float], errors: list[float]) -> str:
    """The exponent of N, of errors in the range where there is one, and of how many."""
    found = law(samples, errors)
    return f"{found.exponent:.2f} ({found.points})" if found else "-"


def fitted() -> str:
    """What an exponent is of."""
    return f"Exponents are fitted to medians between {ROUNDING:g} and {LEARNT:g}, in brackets how many; two are no law."


def needed(cells: dict[float, Records], *, signs: bool = True) -> str:
    """From which N a method identifies: measured, or extrapolated from its largest weight errors."""
    right, off = (shown, weight_error) if signs else (but_for_signs, direction_error)
    for rows, mine in cells.items():
        if 2 * sum(map(right, mine)) > len(mine):
            return f"{rows:.0e}, measured"
    most, errors = max(cells), [median(map(off, mine)) for mine in cells.values()]
    kept, found = in_range(list(cells), errors), law(list(cells), errors)
    if not kept:
        return f"not even {most:.0e}, nor is there a law: no median weight error is below {LEARNT:g}"
    rows, last = kept[-1]
    by_lemma = max(rows * (last / CLOSE) ** 2, most)
    falls = all(after < before for (_, before), (_, after) in pairwise(kept))
    if found and falls and found.points > 2 and found.exponent < STEEP:
        told = f"N^{found.exponent:.2f} of {found.points} medians"
        return f"{max(found.rows(CLOSE), most):.1e}, extrapolated by {told}; {by_lemma:.1e} by N^-1/2"
    return f"{by_lemma:.1e}, extrapolated by N^-1/2 from the last median, {last:.1e}"


def weight_error(record: Record) -> float:
    """The largest error of a weight vector of the last network, sign included."""
    return told(record, "weight_error")


def undercomplete(records: Records) -> Records:
    """At most as many units as inputs, from samples, no bias listed."""
    return [r for r in records if not given_exactly(r) and order(r) == 1 and "biases" not in options(r.task)]


def overcomplete(records: Records) -> Records:
    """More units than inputs, from samples."""
    return [r for r in records if not given_exactly(r) and order(r) > 1]


def of_one_bias(records: Records) -> Records:
    """Samples of networks with one listed bias."""
    return [r for r in records if not given_exactly(r) and "biases" in options(r.task)]


def smoothed(records: Records) -> Records:
    """Perturbed equal columns."""
    return [r for r in records if options(r.task).get("weights") == "smoothed"]


def exact(records: Records) -> Records:
    """Exact coefficients of columns that are drawn."""
    return [r for r in records if given_exactly(r) and options(r.task).get("weights") != "smoothed"]
