"""Records of the suite `high-threshold`: which of them is which, their first and last angles, and exponents of both."""

from collections.abc import Iterable, Mapping
from statistics import median

from benchmarks.reproduce.pages import Records, slope
from paramid.records.record import Record
from paramid.words.naming import Name

SUITE = "high-threshold"
STAGE_1, PASSIVE = "threshold-correlation", "threshold-correlation:stage=2,angles=samples"
ACTIVE = "threshold-correlation:stage=2,N=100000,iterations=150"
BOUNDARY = "threshold-boundary:source=samples"
MOMENTS = "threshold-correlation:source=moments"
PLANE, SLABS = "threshold-plane", "threshold-plane:source=samples"


def options(name: str) -> Mapping[str, str]:
    """The options of a task or method as written."""
    return dict(Name.parse(name).options)


def played(records: Records, method: str, **wanted: str | None) -> Records:
    """The runs of a method, spelled in whatever order, before tasks with these options; None: the option is not set."""
    name = Name.parse(method)

    def same(r: Record) -> bool:
        here = Name.parse(r.method)
        told = options(r.task)
        return (here.base, dict(here.options)) == (name.base, dict(name.options)) and all(
            told.get(k) == v for k, v in wanted.items()
        )

    return [r for r in records if r.task.startswith("threshold:") and same(r)]


def angle(record: Record, *, at: int = -1) -> float | None:
    """The largest angle of a claim, of the last one unless told otherwise."""
    told = [c.metrics["angle_error"] for c in record.claims if "angle_error" in c.metrics]
    return told[at] if told else None


def angles(records: Iterable[Record], *, at: int = -1) -> list[float]:
    """Those of records that have one and finished."""
    return [a for r in records if r.status.key == "finished" and (a := angle(r, at=at)) is not None]


def by(records: Records, which: str) -> dict[str, Records]:
    """Records by an option of their task."""
    groups: dict[str, Records] = {}
    for r in records:
        groups.setdefault(options(r.task).get(which, ""), []).append(r)
    return groups


def exponent(records: Records) -> tuple[float, int] | None:
    """How the median last angle goes with N, and from how many runs; None below two N."""
    groups = {int(n): found for n, mine in by(records, "N").items() if n and (found := angles(mine))}
    if len(groups) < 2:
        return None
    sizes = sorted(groups)
    return slope(sizes, [median(groups[n]) for n in sizes]), sum(map(len, groups.values()))


def finished(records: Records) -> int:
    """How many ended with a claim of their own."""
    return sum(r.status.key == "finished" for r in records)
