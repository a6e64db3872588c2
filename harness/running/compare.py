"""`compare`: many methods before many teachers; what the store holds is not run again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramid.records import machine, provenance
from paramid.records.frames import DEFAULT_STORE, cell_row
from paramid.records.record import Record
from paramid.records.store import Store
from paramid.running import suites, surveyor
from paramid.running import threads as openmp
from paramid.running.cell import Cell, identity_of, resolve_device
from paramid.running.crews.crew import Crew, Ended
from paramid.running.crews.local import Local
from paramid.running.progress import ELSEWHERE, Progress
from paramid.running.supervisor import Supervisor
from paramid.words.naming import UsageError, whole
from paramid.words.secrets import Secret
from paramid.words.status import Status

if TYPE_CHECKING:
    import pandas as pd

BETWEEN = 0.2  # seconds from look to look
CHANGED = "its source has changed since it was planned: the same command runs it again"
WRITERS = 4  # threads that write records, each of which waits for the disk twice
LEAST = 500  # MB of a worker, of which torch takes half


def compare(
    methods: object = (),
    tasks: object = (),
    seeds: int | Iterable[int] | None = None,
    *,
    suite: str | None = None,
    store: str | Path = DEFAULT_STORE,
    workers: int | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Run every method before every task for every seed; what the store already holds is not run again.

    Methods and tasks are names such as `spm:step=1.5`, or classes, as they are or configured; one, or several. Gives
    one row a cell, metrics as columns, as `paramid.load` does.
    """
    import pandas as pd

    seeds = seeds if seeds is None or isinstance(seeds, Iterable) else range(whole("seeds", seeds, 1))
    comparison = Comparison.planned(
        _several(methods), _several(tasks), seeds, suite=suite, store=store, workers=workers, **options
    )
    comparison.run_missing(Progress())
    return pd.DataFrame([cell_row(r) for r in comparison.results()])


def _several(given: object) -> list[object]:
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | type) else [given]


@dataclass
class Comparison:
    """One comparison: its cells by key, in order, and the store they go to."""

    cells: dict[str, Cell]
    store: Store
    workers: int
    threads: int
    retry: frozenset[Status] = frozenset()
    fresh: bool = False
    secret: Secret | None = None
    notes: list[str] = field(default_factory=list)
    cluster: str | None = None
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of the cells, when they were planned

    def __post_init__(self) -> None:
        known: dict[tuple[str, str], tuple[str, ...]] = {}
        for key, cell in self.cells.items():
            if (pair := (cell.method, cell.task)) not in known:
                known[pair] = cell.sources()
            self.sources[key] = known[pair]

    @classmethod
    def planned(
        cls,
        methods: Sequence[object],
        tasks: Sequence[object],
        seeds: Iterable[int] | None = None,
        *,
        suite: str | suites.Suite | None = None,
        store: str | Path = DEFAULT_STORE,
        workers: int | None = None,
        threads: int | None = None,
        retry: Iterable[Status | str] = (),
        fresh: bool = False,
        secret: str | Path | bytes | Secret | None = None,
        cluster: str | Path | None = None,
        part: str | None = None,
        **options: Any,
    ) -> Comparison:
        """Plan a suite, or a grid of methods, tasks and seeds."""
        options = {k: v for k, v in options.items() if v is not None}
        if cluster is None:
            options["device"] = resolve_device(options.get("device", "cpu"))
        elif options.get("device") == "auto":
            raise UsageError("device auto is what a machine has; on a cluster cpu or cuda was wanted")
        hidden = None if secret is None else Secret.given(secret)
        if hidden is not None:
            options["secret"] = hidden.fingerprint
        threads = openmp.chosen(threads) if cluster is None or threads is None else whole("threads", threads, 1)
        workers = max(1, machine.cores() // threads) if workers is None else whole("workers", workers, 1)
        if suite is not None:
            if tasks or seeds is not None:
                raise UsageError("a suite brings its own tasks and seeds; methods were all that can be added to it")
            cells = suites.suite(suite).cells(*methods, **options)
        elif methods and tasks:
            cells = suites.grid(methods, tasks, (0,) if seeds is None else seeds, **options)
        else:
            raise UsageError("a suite, or methods and tasks, were wanted")
        cells = cells if part is None else _part(part, cells)
        workers = max(1, min(workers, len(cells)))
        if cluster in (None, "local") and (share := machine.ram_mb() / workers) < LEAST:
            raise UsageError(f"{workers} workers have {share:.0f} MB each; {LEAST} and more were wanted")
        notes: list[str] = []
        identity = cache(identity_of)
        return cls(
            {c.key(identity): c for c in cells},
            Store(store, notes.append),
            workers,
            threads,
            frozenset(map(_status, [retry] if isinstance(retry, str | Status) else retry)),
            fresh,
            hidden,
            notes,
            None if cluster is None else str(cluster),
        )

    def run_missing(self, progress: Progress) -> None:
        """Run what is missing. Ctrl-C ends running cells and leaves a store that resumes."""
        self.store.open()
        surveyor.rest()
        waiting = deque(filter(self.wanted, self.cells))
        with ExitStack() as stack:
            stack.callback(progress.close)  # last out: nothing runs any more
            workers = self.workers if self.cluster in (None, "local") else 1  # of another as many as are seen to run
            progress.begin(len(self.cells), len(self.cells) - len(waiting), workers)
            if not waiting:
                return
            facts = provenance.collect(self.threads, self.workers)
            facts["run"] = self.store.start_run(facts)
            locks: dict[str, ExitStack] = {}  # of the cells under way
            stack.callback(release, locks)
            crew = stack.enter_context(
                self._crew(facts, progress)
            )  # first out: what runs ends while it is still locked
            writers = stack.enter_context(ThreadPoolExecutor(WRITERS))
            ended: list[Ended] = []
            while waiting or locks:
                self._give(crew, waiting, locks, progress)
                for key, record in writers.map(self._kept, ended):  # while those that were just given run
                    locks.pop(key).close()
                    progress.ended(self.cells[key], record)
                ended = list(crew.ended(BETWEEN)) if waiting or locks else []

    def _crew(self, facts: dict[str, object], progress: Progress) -> Crew:
        if self.cluster is not None:
            try:
                from paramid.running.crews.cluster import Cluster
            except ImportError as error:
                raise UsageError("--cluster needs Dask: pip install 'paramid[cluster]'") from error
            return Cluster(
                self.cluster,
                workers=self.workers,
                threads=self.threads,
                facts=facts,
                say=progress.say,
                hidden=self.store.private,
                secret=self.secret,
            )
        memory = 0.9 * machine.ram_mb() / self.workers
        supervisor = Supervisor(self.threads, memory, secret=self.secret, hidden=self.store.private)
        return Local(supervisor, self.workers, facts)

    def _give(self, crew: Crew, waiting: deque[str], locks: dict[str, ExitStack], progress: Progress) -> None:
        """Give the crew as many cells as it takes; one that another command works on waits behind the others."""
        for _ in range(len(waiting)):
            if not crew.takes(cell := self.cells[key := waiting[0]]):
                return
            waiting.popleft()
            lock = ExitStack()
            if not lock.enter_context(self.store.alone(key)):
                waiting.append(key)
            elif not self.wanted(key):
                lock.close()
                progress.ended(cell, ELSEWHERE)
            else:
                locks[key] = lock
                progress.started(cell)
                crew.start(key, cell)

    def _kept(self, ended: Ended) -> tuple[str, Record | str]:
        """Keep what became of a cell; its record, or why it has none."""
        key, made = ended
        if isinstance(made, str):
            self.notes.append(made)
            return key, made
        if self.cells[key].sources() != self.sources[key]:  # the key is that of other code
            return key, replace(made.record, status=Status.INTERRUPTED, reason=CHANGED)
        if made.record.status is not Status.INTERRUPTED:
            self.store.add(made)
        return key, made.record

    def wanted(self, key: str) -> bool:
        """Whether the cell is to be run."""
        if self.fresh:
            return True
        known = self.store.find(key)
        return known is None or known.status in {*self.retry, Status.INTERRUPTED}  # which `run` keeps

    def results(self) -> list[Record]:
        """The newest record of every planned cell."""
        return [r for key in self.cells if (r := self.store.find(key)) is not None]


def release(locks: dict[str, ExitStack]) -> None:
    """Let other commands have these cells."""
    for lock in locks.values():
        lock.close()


def _part(part: str, cells: list[Cell]) -> list[Cell]:
    """The i-th of n parts: every n-th cell, so that all take about as long."""
    place, _, parts = part.partition("/")
    if not (place.isdecimal() and parts.isdecimal() and 1 <= int(place) <= int(parts)):
        raise UsageError(f"part is {part!r}; I/N with I from 1 to N was wanted")
    return cells[int(place) - 1 :: int(parts)]


def _status(word: Status | str) -> Status:
    try:
        return word if isinstance(word, Status) else Status.named(word.replace("-", "_"))
    except ValueError as error:
        raise UsageError(str(error)) from error
