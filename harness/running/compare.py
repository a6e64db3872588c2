"""`compare`: many methods before many teachers; what the store holds is not run again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramid.records import machine, provenance
from paramid.records.frames import DEFAULT_STORE, cell_row
from paramid.records.record import Outcome, Record
from paramid.records.store import Store
from paramid.running import suites, surveyor
from paramid.running import threads as openmp
from paramid.running.cell import Cell, resolve_device
from paramid.running.progress import Progress
from paramid.running.supervisor import Supervisor
from paramid.words.naming import UsageError, whole
from paramid.words.secrets import Secret
from paramid.words.status import Status

if TYPE_CHECKING:
    import pandas as pd

BETWEEN = 0.2  # seconds from look to look
CHANGED = "its source has changed since it was planned: the same command runs it again"
BUSY = "another command works on it"
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
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of the cells, when they were planned

    def __post_init__(self) -> None:
        self.sources = {key: cell.sources() for key, cell in self.cells.items()}

    @classmethod
    def planned(
        cls,
        methods: Sequence[object],
        tasks: Sequence[object],
        seeds: Iterable[int] | None = None,
        *,
        suite: str | None = None,
        store: str | Path = DEFAULT_STORE,
        workers: int | None = None,
        threads: int | None = None,
        retry: Iterable[Status | str] = (),
        fresh: bool = False,
        secret: str | Path | bytes | None = None,
        **options: Any,
    ) -> Comparison:
        """Plan a suite, or a grid of methods, tasks and seeds."""
        options = {k: v for k, v in options.items() if v is not None}
        options["device"] = resolve_device(options.get("device", "cpu"))
        hidden = None if secret is None else Secret.given(secret)
        if hidden is not None:
            options["secret"] = hidden.fingerprint
        threads = openmp.chosen(threads)
        workers = max(1, machine.cores() // threads) if workers is None else whole("workers", workers, 1)
        if suite is not None:
            if tasks or seeds is not None:
                raise UsageError("a suite brings its own tasks and seeds; methods were all that can be added to it")
            cells = suites.suite(suite).cells(*methods, **options)
        elif methods and tasks:
            cells = suites.grid(methods, tasks, (0,) if seeds is None else seeds, **options)
        else:
            raise UsageError("a suite, or methods and tasks, were wanted")
        workers = max(1, min(workers, len(cells)))
        if (share := machine.ram_mb() / workers) < LEAST:
            raise UsageError(f"{workers} workers have {share:.0f} MB each; {LEAST} and more were wanted")
        notes: list[str] = []
        return cls(
            {c.key(): c for c in cells},
            Store(store, notes.append),
            workers,
            threads,
            frozenset(map(_status, [retry] if isinstance(retry, str | Status) else retry)),
            fresh,
            hidden,
            notes,
        )

    def run_missing(self, progress: Progress) -> None:
        """Run what is missing. Ctrl-C ends running cells and leaves a store that resumes."""
        self.store.open()
        surveyor.rest()
        todo = sum(map(self.wanted, self.cells))
        with ExitStack() as stack:
            stack.callback(progress.close)  # last out: nothing runs any more
            progress.begin(len(self.cells), len(self.cells) - todo, self.workers)
            if not todo:
                return
            facts = provenance.collect(self.threads, self.workers)
            facts["run"] = self.store.start_run(facts)
            memory = 0.9 * machine.ram_mb() / self.workers
            supervisor = stack.enter_context(
                Supervisor(self.threads, memory, secret=self.secret, hidden=self.store.private)
            )
            pool = stack.enter_context(ThreadPoolExecutor(self.workers))
            stack.callback(pool.shutdown, cancel_futures=True)
            stack.callback(supervisor.stop)  # first out: running cells end, waiting ones never start
            self._collect(lambda key: pool.submit(self._run_unless_busy, supervisor, key, facts, progress), progress)

    def wanted(self, key: str) -> bool:
        """Whether the cell is to be run."""
        if self.fresh:
            return True
        known = self.store.find(key)
        return known is None or known.status in {*self.retry, Status.INTERRUPTED}  # which `run` keeps

    def results(self) -> list[Record]:
        """The newest record of every planned cell."""
        return [r for key in self.cells if (r := self.store.find(key)) is not None]

    def _run_unless_busy(
        self, supervisor: Supervisor, key: str, facts: dict[str, object], progress: Progress
    ) -> Outcome | str | None:
        """Run one cell; None when another command made its record, BUSY while another command works on it."""
        with self.store.alone(key) as alone:
            if alone:
                return self._run_cell(supervisor, key, facts, progress)
        return None if supervisor.stopped(BETWEEN) else BUSY

    def _run_cell(
        self, supervisor: Supervisor, key: str, facts: dict[str, object], progress: Progress
    ) -> Outcome | None:
        if not self.wanted(key):
            return None
        progress.started(self.cells[key])
        made = supervisor.run(self.cells[key], key, facts)
        if self.cells[key].sources() != self.sources[key]:  # the key is that of other code
            changed = replace(made.record, status=Status.INTERRUPTED, reason=CHANGED)
            return replace(made, record=changed)
        if made.record.status is not Status.INTERRUPTED:
            self.store.add(made)
        return made

    def _collect(self, submit: Callable[[str], Future[Outcome | str | None]], progress: Progress) -> None:
        running = {submit(key): key for key in self.cells if self.wanted(key)}
        while running:
            for future in wait(running, timeout=BETWEEN, return_when=FIRST_COMPLETED).done:
                key, made = running.pop(future), future.result()
                if isinstance(made, str):
                    running[submit(key)] = key  # behind the others
                else:
                    progress.ended(self.cells[key], made.record if made else None)


def _status(word: Status | str) -> Status:
    try:
        return word if isinstance(word, Status) else Status.named(word.replace("-", "_"))
    except ValueError as error:
        raise UsageError(str(error)) from error
