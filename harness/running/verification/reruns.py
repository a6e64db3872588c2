"""Whether records can be made again: a random sample of cells runs through the harness, and what comes is compared.

The sample is drawn from the hashes of the records, so that who submits cannot choose it and everybody draws the same;
every method gives at least one cell, and what was declined, or a machine's limit ended, comes last. What agrees within
the tolerances of `agreement` is verified, what does not is disputed, and what a machine's limit ended stays unverified.
A bundle made by other code is disputed. Of our own records, which outlive the code that made them, one that other code
made is verified where this code comes to the same, and stays unverified where it does not. One disputed cell makes its
method disputed.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache

from paramid.records import agreement, machine, provenance
from paramid.records.publications.lines import DISPUTED, UNVERIFIED, VERIFIED, Verdict, line
from paramid.records.record import Record
from paramid.records.selection import entrants
from paramid.running import surveyor
from paramid.running.cell import Cell, identity_of, plan_cell, resolve_device
from paramid.running.supervisor import Supervisor
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret
from paramid.words.status import Status

SAMPLED = 0.1  # of a bundle's cells
LONGEST = 1800.0  # seconds of a time limit, of what is run again
Rerun = Callable[[Cell, int], Record]  # a cell and its threads
Tell = Callable[[str], object]


@dataclass(frozen=True)
class Verification:
    """What a sample came to: verdicts on records, and why others were left open."""

    verdicts: tuple[Verdict, ...]
    open: Mapping[str, str]  # hashes of records, and why they stay unverified
    records: Mapping[str, Record]

    @property
    def disputed(self) -> set[str]:
        """The methods that did not reproduce."""
        return {self.records[v.record].method for v in self.verdicts if v.verdict == DISPUTED}

    def mark(self, digest: str) -> str:
        """`verified`, `disputed` or `unverified`: of a record, and a method's dispute goes for all of its records."""
        if self.records[digest].method in self.disputed:
            return DISPUTED
        return next((v.verdict for v in self.verdicts if v.record == digest), UNVERIFIED)

    def counts(self) -> dict[str, int]:
        """How many records have each mark."""
        marks = [self.mark(digest) for digest in self.records]
        return {mark: marks.count(mark) for mark in (VERIFIED, UNVERIFIED, DISPUTED)}

    def lines(self) -> list[str]:
        """The verdicts, as they are published."""
        return [line("verdict", v) for v in self.verdicts]

    def table(self) -> str:
        """A line for each record: its mark, what it is, and why."""
        return "".join(f"{row}\n" for row in self.rows(self.records))

    def rows(self, digests: Iterable[str]) -> list[str]:
        """The table's lines for some of the records."""
        reasons = {v.record: v.reason for v in self.verdicts} | dict(self.open)
        some = [(d, self.records[d]) for d in digests]
        return [
            f"{self.mark(d):<10}  {r.method}  {r.task}  seed {r.seed}{f'  -- {reasons[d]}' if reasons.get(d) else ''}"
            for d, r in sorted(some, key=lambda item: (item[1].method, item[1].task, item[1].seed))
        ]


def sample(records: Mapping[str, Record], share: float, salt: str = "") -> list[str]:
    """The hashes of the cells to run again: that share of every method's, at least one, in an order nobody chose."""
    newest = {id(r) for ours in entrants(records.values()).values() for r in ours}
    methods: dict[str, list[str]] = defaultdict(list)
    for digest, record in records.items():
        if id(record) in newest:
            methods[f"{record.method} {record.device}"].append(digest)

    def order(digest: str) -> tuple[bool, str]:
        idle = records[digest].status in agreement.MACHINES | {Status.DECLINED}
        return idle, hashlib.sha256(f"{salt}{digest}".encode()).hexdigest()

    return [d for ours in methods.values() for d in sorted(ours, key=order)[: math.ceil(share * len(ours))]]


def verify(
    records: Mapping[str, Record],
    share: float = SAMPLED,
    *,
    tell: Tell,
    salt: str = "",
    strict: bool = True,
    secrets: Mapping[str, Secret] | None = None,
    rerun: Rerun | None = None,
) -> Verification:
    """Run a sample of the records again, each told as it begins; `strict` disputes what this code cannot have made.

    Teachers that were drawn from a secret are drawn again from that of `secrets` whose hash the record holds.
    """
    facts = provenance.collect(machine.cores(), 1)
    verdicts, left = [], {}
    drawn = sample(records, share, salt)
    tell(announced([records[d] for d in drawn]))
    with nullcontext(rerun) if rerun else reruns(facts, secrets or {}) as run:
        for number, digest in enumerate(drawn, 1):
            record = records[digest]
            tell(f"[{number}/{len(drawn)}] {record.method} before {record.task}, seed {record.seed}")
            verdict, reason = rerun_verdict(record, run, strict=strict, secrets=secrets or {})
            if verdict == UNVERIFIED:
                left[digest] = reason
            else:
                verdicts.append(Verdict(digest, verdict, reason, facts))
    return Verification(tuple(verdicts), left, records)


def announced(records: Sequence[Record]) -> str:
    """How long reruns may take, before they begin: no limit of a record counts for more than `LONGEST`."""
    limits = sum(limit for r in records if (limit := seconds_of(r)) <= LONGEST)
    told = sum(min(r.seconds, LONGEST) for r in records)
    most = f"at most {clock(limits)} by their limits, judging excluded"
    return f"{len(records)} cells to run again: {clock(told)} by their records, {most}"


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    whole = math.ceil(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def seconds_of(record: Record) -> float:
    """The time limit of a record."""
    return record.budget.get("seconds") or math.inf


def rerun_verdict(record: Record, rerun: Rerun, *, strict: bool, secrets: Mapping[str, Secret]) -> tuple[str, str]:
    """What a record's cell comes to when it is run again, and why."""
    if record.secret is not None and record.secret not in secrets:
        return UNVERIFIED, "its teacher was drawn from a secret that is not shown here"
    if seconds_of(record) > LONGEST:
        return UNVERIFIED, f"its time limit is {seconds_of(record):g} s; at most {LONGEST:g} are run again"
    try:
        cell = cell_of(record)
        key = cell.key()
    except UsageError as error:
        return UNVERIFIED, str(error)
    ours = key == record.key
    if strict and not ours:
        return DISPUTED, "its key is not that of this code"
    if record.device == "cuda" and resolve_device("auto") != "cuda":
        return UNVERIFIED, "no CUDA device is here"
    found = rerun(cell, record.threads)
    if not agreement.comparable(record, found):
        return UNVERIFIED, f"recorded {record.status.key}, found {found.status.key}: machines decide that"
    problem = agreement.disagreement(record, found)
    if problem and not ours:
        return UNVERIFIED, f"other code made it: {problem}"
    return (DISPUTED, problem) if problem else (VERIFIED, "")


def unmade(records: Iterable[Record]) -> list[str]:
    """The records that the code here cannot have made: their keys are not those of their cells."""
    identity, found = cache(identity_of), []
    for record in records:
        try:
            problem = "" if cell_of(record).key(identity) == record.key else "its key is not that of its cell"
        except UsageError as error:
            problem = str(error)
        if problem:
            found.append(f"{record.method} before {record.task}, seed {record.seed}: {problem}")
    return found


def made_here(record: Record) -> bool:
    """Whether this code, with these options and limits, is what made a record."""
    try:
        return cell_of(record).key() == record.key
    except UsageError:
        return False


def cell_of(record: Record) -> Cell:
    """The cell that made a record."""
    budget, queries = record.budget, record.budget.get("queries")
    return plan_cell(
        record.method,
        record.task,
        seed=record.seed,
        device=record.device,
        time_limit=budget.get("seconds"),
        query_limit=None if queries is None else int(queries),
        memory_limit=budget.get("memory_mb"),
        judge_inputs=record.judge_inputs,
        secret=record.secret,
    )


@contextmanager
def reruns(facts: dict[str, object], secrets: Mapping[str, Secret]) -> Iterator[Rerun]:
    """Runs cells in processes of their own, with as many threads as their records say."""
    supervisors: dict[tuple[int, str | None], Supervisor] = {}
    with ExitStack() as stack:

        def run(cell: Cell, threads: int) -> Record:
            threads = max(1, min(threads, machine.cores()))
            if (kind := (threads, cell.secret)) not in supervisors:
                secret = None if cell.secret is None else secrets[cell.secret]
                supervisors[kind] = stack.enter_context(Supervisor(threads, 0.9 * machine.ram_mb(), secret=secret))
            key = cell.key()
            surveyor.rest()
            record = supervisors[kind].run(cell, key, facts).record
            if record.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            return record

        yield run
