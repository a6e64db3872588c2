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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from paramid.records import agreement, machine, provenance
from paramid.records.published import DISPUTED, UNVERIFIED, VERIFIED, Verdict, line
from paramid.records.record import Record
from paramid.records.selection import entrants
from paramid.running import surveyor
from paramid.running.cell import Cell, plan_cell, resolve_device
from paramid.running.supervisor import Supervisor
from paramid.words.naming import UsageError
from paramid.words.status import Status

AUDITED, SAMPLED = 0.03, 0.1  # shares of the cells: of our own, of a bundle
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
        return [line("verdict", {"record": v.record, "verdict": v.verdict, "reason": v.reason,
                                 "provenance": dict(v.provenance)}) for v in self.verdicts]  # fmt: skip

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
    rerun: Rerun | None = None,
) -> Verification:
    """Run a sample of the records again, each told as it begins; `strict` disputes what this code cannot have made."""
    facts = provenance.collect(machine.cores(), 1)
    verdicts, left = [], {}
    with nullcontext(rerun) if rerun else reruns(facts) as run:
        drawn = sample(records, share, salt)
        for number, digest in enumerate(drawn, 1):
            record = records[digest]
            tell(f"[{number}/{len(drawn)}] {record.method} before {record.task}, seed {record.seed}")
            verdict, reason = rerun_verdict(record, run, strict=strict)
            if verdict == UNVERIFIED:
                left[digest] = reason
            else:
                verdicts.append(Verdict(digest, verdict, reason, facts))
    return Verification(tuple(verdicts), left, records)


def audit(records: Mapping[str, Record], *, tell: Tell, rerun: Rerun | None = None) -> Verification:
    """`verify` over a small share of our own records, another one every day; what came of it is told too."""
    day = str(provenance.collect(1, 1)["started"])[:10]
    found = verify(records, AUDITED, tell=tell, salt=day, strict=False, rerun=rerun)
    for row in found.rows([*(v.record for v in found.verdicts), *found.open]):
        tell(row)
    return found


def rerun_verdict(record: Record, rerun: Rerun, *, strict: bool) -> tuple[str, str]:
    """What a record's cell comes to when it is run again, and why."""
    if record.secret is not None:
        return UNVERIFIED, "its teacher was drawn from a secret"
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
def reruns(facts: dict[str, object]) -> Iterator[Rerun]:
    """Runs cells in processes of their own, with as many threads as their records say."""
    supervisors: dict[int, Supervisor] = {}
    with ExitStack() as stack:

        def run(cell: Cell, threads: int) -> Record:
            threads = max(1, min(threads, machine.cores()))
            if threads not in supervisors:
                supervisors[threads] = stack.enter_context(Supervisor(threads))
            key = cell.key()
            surveyor.rest()
            record = supervisors[threads].run(cell, key, facts).record
            if record.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            return record

        yield run
