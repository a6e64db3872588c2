"""Records of the suite `high-threshold`: which of them is which, their first and last angles, and exponents of both."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scipy.stats import linregress
from scipy.stats import t as student

from benchmarks.reproduce.pages import Records, grouped
from paramid.records.record import Record
from paramid.words.naming import Name

SUITE = "high-threshold"
STAGE_1, PASSIVE = "threshold-correlation", "threshold-correlation:stage=2,angles=samples"
ACTIVE = "threshold-correlation:stage=2,N=100000,iterations=150"
BOUNDARY = "threshold-boundary:source=samples"
MOMENTS = "threshold-correlation:source=moments"
PLANE, SLABS = "threshold-plane", "threshold-plane:source=samples"
DEFAULTS = {"polynomial": "or", "activation": "step", "N": "1000000"}  # of tasks, whether written or not


def options(name: str) -> Mapping[str, str]:
    """The options of a task or method as written."""
    return dict(Name.parse(name).options)


def setting(task: str) -> Mapping[str, str]:
    """The options of a task, with its polynomial, its unit and its N."""
    return DEFAULTS | dict(options(task))


def played(records: Records, method: str, **wanted: str | None) -> Records:
    """The runs of a method, spelled in whatever order, before tasks with these options; None: the option is not set."""
    name = Name.parse(method)

    def same(r: Record) -> bool:
        here = Name.parse(r.method)
        told = setting(r.task)
        return (here.base, dict(here.options)) == (name.base, dict(name.options)) and all(
            told.get(k) == v for k, v in wanted.items()
        )

    return distinct(r for r in records if r.task.startswith("threshold:") and same(r))


def teacher(record: Record) -> tuple[frozenset[tuple[str, str]], int]:
    """What was before the method, however its task is spelled."""
    return frozenset(setting(record.task).items()), record.seed


def distinct(records: Iterable[Record]) -> Records:
    """One run before each teacher, where a task is spelled in two ways."""
    return list({teacher(r): r for r in records}.values())


def angle(record: Record, *, at: int = -1) -> float | None:
    """The largest angle of a claim, of the last one unless told otherwise."""
    told = [c.metrics["angle_error"] for c in record.claims if "angle_error" in c.metrics]
    return told[at] if told else None


def angles(records: Iterable[Record], *, at: int = -1) -> list[float]:
    """Those of records that have one and finished."""
    return [a for r in records if r.status.key == "finished" and (a := angle(r, at=at)) is not None]


def by(records: Records, *which: str) -> dict[tuple[str, ...], Records]:
    """Records by options of their task."""
    return grouped(records, lambda r: tuple(setting(r.task).get(k, "") for k in which))


def by_threshold(records: Records) -> dict[float, list[float]]:
    """The last angles of those that finished, by rising t; thresholds at which none did are left out."""
    groups = {float(t): angles(mine) for (t,), mine in by(records, "t").items()}
    return {t: groups[t] for t in sorted(groups) if groups[t]}


@dataclass(frozen=True)
class Power:
    """An exponent of N, half its 95 % interval, and the runs that it is fitted to."""

    value: float
    reach: float
    runs: int

    def __str__(self) -> str:
        return f"N^{self.value:.2f} ± {self.reach:.2f} ({self.runs} runs)"

    def between(self, low: float, high: float) -> bool | None:
        """Whether it lies there, and below 0 with its whole interval; False where nothing of its interval does."""
        if self.value + self.reach < low or self.value - self.reach > high:
            return False
        return True if low <= self.value <= high and self.value + self.reach < 0 else None


def exponent(records: Records) -> Power | None:
    """How the last angle goes with N, by least squares over all runs that miss at all; None below two N."""
    found = [(int(n), a) for (n,), mine in by(distinct(records), "N").items() for a in angles(mine) if a]
    points = [(math.log(n), math.log(a)) for n, a in found]
    if len({n for n, _ in points}) < 2:
        return None
    fit = linregress(*zip(*points, strict=True))
    free = len(points) - 2
    reach = float(student.ppf(0.975, free) * fit.stderr) if free else math.inf
    return Power(float(fit.slope), reach, len(points))


def finished(records: Records) -> int:
    """How many ended with a claim of their own."""
    return sum(r.status.key == "finished" for r in records)
