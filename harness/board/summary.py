"""What the board says of records, before it is written: cells, standings, tasks, pairs of devices."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from paramid.contracts import descriptions
from paramid.records import agreement
from paramid.records.number_format import shown
from paramid.records.publications.lines import DISPUTED, UNVERIFIED, VERIFIED, Verdict, fingerprint
from paramid.records.quantities import cost, endings, error, identified
from paramid.records.record import Record
from paramid.records.selection import Entrants, entrants, order
from paramid.statistics.family_standings import tables
from paramid.statistics.intervals import Interval, median, median_interval, wilson
from paramid.statistics.sizes import family
from paramid.statistics.target_costs import KINDS
from paramid.words.status import BROKEN, Status

MARKS = {
    "identified": "✓", "partly identified": "◐", "not identified": "✗", "timed out": "◷", "declined": "∅",
    "gave up": "↩", "failed": "!",
}  # fmt: skip
WORDS = {Status.TIMED_OUT: "timed out", Status.BUDGET_SPENT: "timed out", Status.DECLINED: "declined"}


@dataclass(frozen=True)
class Result:
    """A method before a task: what its seeds came to."""

    entrant: str
    task: str
    records: tuple[Record, ...]
    verdicts: tuple[str, ...]  # of those that were run again

    @cached_property
    def error(self) -> float:
        """The median error, infinite where half of the seeds have none."""
        return median([error(r.metrics) for r in self.records])

    @cached_property
    def interval(self) -> Interval:
        """Of the median error."""
        return median_interval([error(r.metrics) for r in self.records])

    @cached_property
    def identified(self) -> int:
        """How many seeds."""
        return sum(map(identified, self.records))

    @cached_property
    def endings(self) -> str:
        """How its seeds ended, without how many were identified."""
        return endings(self.records).partition("; ")[2]

    @cached_property
    def share(self) -> Interval:
        """Of the seeds identified."""
        return wilson(self.identified, len(self.records))

    @cached_property
    def seconds(self) -> float:
        """The median."""
        return median([r.seconds for r in self.records])

    @cached_property
    def rows(self) -> float:
        """The median of all rows of the teacher."""
        return median([cost(r, "queries") for r in self.records])

    def limit(self, name: str) -> str:
        """The median of one of the limits, in words."""
        told = [r.metrics[name] for r in self.records if name in r.metrics]
        return shown(median(told)) if told else "–"

    @cached_property
    def state(self) -> str:
        """A key of `MARKS`: the judge's word, or the commonest ending where nothing was identified."""
        if self.identified:
            return "identified" if self.identified == len(self.records) else "partly identified"
        ending = Counter(r.status for r in self.records).most_common(1)[0][0]
        if ending in BROKEN or ending in (Status.OUT_OF_MEMORY, Status.MALFORMED_CLAIM, Status.INTERRUPTED):
            return "failed"
        if ending in (Status.GAVE_UP, Status.NO_ANSWER):
            return "gave up"
        return WORDS.get(ending, "not identified")

    @cached_property
    def reason(self) -> str:
        """The commonest one that its seeds gave; empty where none did."""
        told = Counter(r.reason for r in self.records if r.reason)
        return told.most_common(1)[0][0][:160] if told else ""

    @cached_property
    def level(self) -> int | None:
        """The colour: two orders of magnitude each, 0 above 1e-2 and 7 below 1e-14."""
        return None if math.isinf(self.error) else min(7, max(0, math.floor(-math.log10(self.error) / 2 + 1e-9)))


@dataclass(frozen=True)
class DevicePair:
    """A cell on the CPU and on a GPU."""

    method: str
    task: str
    errors: tuple[float, float]
    problem: str | None


class Summary:
    """Everything that the pages say."""

    def __init__(
        self,
        records: Iterable[Record] | Mapping[str, Record],  # by the hashes that verdicts name, or those they have here
        verdicts: Sequence[Verdict] = (),
        refused: Sequence[str] = (),
        epochs: Mapping[str, str] | None = None,  # of the methods that an epoch's teachers were shown to
        reported: Iterable[Record] = (),  # by their makers: shown, never ranked
    ):
        self.refused, self.epochs, self.reported = tuple(refused), epochs or {}, tuple(reported)
        some = records if isinstance(records, Mapping) else _by_print(records, wanted=bool(verdicts))
        self.entrants: Entrants = entrants(some.values())
        last = {v.record: v for v in verdicts}
        by_record = {id(r): last[digest] for digest, r in some.items() if digest in last}
        self.verdicts = {key: v.verdict for key, v in by_record.items()}
        self.reasons = {key: v.reason for key, v in by_record.items()}
        self.disputed = {n for n, ours in self.entrants.items() if any(self.verdict(r) == DISPUTED for r in ours)}
        grouped: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for name, ours in self.entrants.items():
            for r in ours:
                grouped[name, r.task].append(r)
        self.results = {
            key: Result(*key, tuple(ours), tuple(v for r in ours if (v := self.verdict(r))))
            for key, ours in grouped.items()
        }
        self.tasks = tuple(sorted({task for _, task in self.results}, key=order))
        made = tables({name: ours for name, ours in self.entrants.items() if name not in self.disputed})
        self.tables = {name: made[name] for name in self.families if name in made}

    @property
    def records(self) -> list[Record]:
        """All that stand in a cell."""
        return [r for ours in self.entrants.values() for r in ours]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The entrants, family after family and board after board, best first; those kept out of the ranking last."""
        ranked = [name for by_kind in self.tables.values() for table in by_kind.values() for name in table.methods]
        return tuple(dict.fromkeys((*ranked, *self.entrants)))

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families of the tasks, in the order of the registry, those that it does not know last."""
        there = {family(task) for task in self.tasks}
        known = [entry.name for entry in descriptions.entries("tasks")]
        return (*(name for name in known if name in there), *sorted(there - set(known)))

    @cached_property
    def kinds(self) -> Mapping[str, tuple[str, ...]]:
        """The boards that a method stands on, the weakest access first."""
        found: dict[str, set[str]] = defaultdict(set)
        for by_kind in self.tables.values():
            for kind, table in by_kind.items():
                for name in table.methods:
                    found[name].add(kind)
        return {name: tuple(kind for kind in KINDS if kind in kinds) for name, kinds in found.items()}

    def verdict(self, record: Record) -> str | None:
        """`verified`, `disputed`, or None where nobody ran it again."""
        return self.verdicts.get(id(record))

    def verdict_on(self, cells: Iterable[Result]) -> str:
        """What became of those that were run again, in a word."""
        found = [v for cell in cells for v in cell.verdicts]
        return DISPUTED if DISPUTED in found else VERIFIED if found else UNVERIFIED

    def of(self, entrant: str) -> list[Result]:
        """The cells of an entrant, tasks in order."""
        return [self.results[entrant, task] for task in self.tasks if (entrant, task) in self.results]

    def before(self, task: str) -> list[Result]:
        """The cells of a task, best first."""
        ours = [self.results[name, task] for name in self.columns if (name, task) in self.results]
        return sorted(ours, key=lambda c: (-c.identified / len(c.records), c.error, c.seconds))

    @cached_property
    def flagged(self) -> frozenset[tuple[str, str]]:
        """The cells whose devices disagree."""
        return frozenset(
            (name, p.task)
            for p in self.pairs
            if p.problem
            for name in self.entrants
            if name.split(" on ")[0] == p.method
        )

    @cached_property
    def pairs(self) -> list[DevicePair]:
        """Cells of one method and task on two devices."""
        found = []
        for (name, task), there in self.results.items():
            method, _, device = name.partition(" on ")
            if device and (here := self.results.get((method, task))):
                found.append(DevicePair(method, task, (here.error, there.error), _differ(here, there)))
        return found


def _by_print(records: Iterable[Record], *, wanted: bool) -> dict[str, Record]:
    """Records by their hashes, or by their places where no hash is asked for."""
    return {fingerprint(r) if wanted else str(place): r for place, r in enumerate(records)}


def _differ(here: Result, there: Result) -> str | None:
    """The first seed of two devices that does not agree."""
    seeds = {r.seed: r for r in there.records}
    for r in here.records:
        other = seeds.get(r.seed)
        if other and agreement.comparable(r, other) and (problem := agreement.disagreement(r, other)):
            return f"seed {r.seed}: {problem.replace('recorded', 'CPU', 1).replace('found', 'GPU', 1)}"
    return None
