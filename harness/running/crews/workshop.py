"""A worker's end: a supervisor of its own performs the cells that are sent, behind the same walls as anywhere.

Dask calls these functions in a thread of the worker's, one for each of its slots. It cannot end a thread: every cell
looks for itself whether anybody still waits for it, which serves Ctrl-C, a caller that was killed and a worker that is
told to leave alike.
"""

from __future__ import annotations

import pickle
import platform
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import distributed
from distributed import Status as State
from distributed import Worker, get_worker

from paramid.records import machine, provenance
from paramid.records.keys import source_hash
from paramid.records.record import Outcome
from paramid.running.crews import orders
from paramid.running.crews.orders import Order
from paramid.running.supervisor import Supervisor
from paramid.wall import jail

IDLE = 60.0  # seconds after its last cell until a worker ends its servers
_benches: weakref.WeakKeyDictionary[Worker, Bench] = weakref.WeakKeyDictionary()
_beginning = threading.Lock()


def introduce(harness: str) -> dict[str, object] | str:
    """What a caller must know of this worker; or why it cannot perform the caller's cells."""
    if other := _other(harness):
        return other
    worker = get_worker()
    gpus = int(worker.state.total_resources.get("gpu", 0))
    links = worker.address, worker.scheduler.address  # over which cells come and outcomes go
    return {"address": worker.address, "links": links, "name": str(worker.name), "gpus": gpus}


def perform(harness: str, order: bytes) -> Outcome | str:
    """The outcome of one cell; or why this worker has none."""
    if other := _other(harness):
        return other
    worker = get_worker()
    with _beginning:
        if worker not in _benches:
            _benches[worker] = Bench(worker)
        bench = _benches[worker]
    try:
        return bench.perform(pickle.loads(order), str(worker.get_current_task()))
    except Exception as error:  # what a method does ends in its record: this is the worker's own trouble
        return f"{type(error).__name__}: {error}"


def _other(harness: str) -> str:
    return "" if harness == orders.harness() else f"has paramid {orders.harness()}, the caller {harness}"


class Bench:
    """Where a worker's cells are performed."""

    def __init__(self, worker: Worker) -> None:
        self._worker = weakref.ref(worker)
        self._slots = worker.state.nthreads
        memory = worker.memory_manager.memory_limit
        self._memory = 0.9 * (memory / 2**20 if memory else machine.ram_mb()) / self._slots
        self._folder = Path(worker.local_directory) / "paramid-plugins"
        self._name = str(worker.name)
        self._lock = threading.Lock()
        self._supervisors: dict[tuple[int, tuple[str, ...]], Supervisor] = {}
        self._facts: dict[int, Mapping[str, object]] = {}
        self._busy, self._rests = 0, threading.Timer(IDLE, self.rest)

    def perform(self, order: Order, task: str) -> Outcome | str:
        """The cell, if what this worker has of its source is what the caller has."""
        with self._at_work():
            return self._perform(order, task)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Servers stay for a while after the last cell: a caller may have another, and the machine is not ours."""
        with self._lock:
            self._busy += 1
            self._rests.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1
                if not self._busy:
                    self._rests = threading.Timer(IDLE, self.rest)
                    self._rests.daemon = True
                    self._rests.start()

    def rest(self) -> None:
        """End the servers if nothing is at work."""
        with self._lock:
            if not self._busy:
                for supervisor in self._supervisors.values():
                    supervisor.__exit__()
                self._supervisors.clear()

    def _perform(self, order: Order, task: str) -> Outcome | str:
        if other := self._differs(order):
            return other
        if order.cell.secret is not None:
            jail.hide_memory()
        with self._lock:
            cell = orders.unpacked(order, self._folder)
            supervisor = self._supervisor(order.threads, order.hidden)
            facts = self._told(order.threads)
        made = supervisor.run(cell, order.key, facts, seed=order.seed, stopped=lambda: self._unwanted(task))
        return self._differs(order) or made

    def _differs(self, order: Order) -> str:
        with self._lock:
            mine = {module: source_hash(module) for module in order.sources}
        other = [module for module, known in order.sources.items() if mine[module] != known]
        return f"has no {other[0]}, or another than the caller" if other else ""

    def _supervisor(self, threads: int, hidden: tuple[str, ...]) -> Supervisor:
        if (threads, hidden) not in self._supervisors:
            made = Supervisor(threads, self._memory, hidden=[Path(path) for path in hidden])
            weakref.finalize(self, made.__exit__)  # when this worker has gone
            self._supervisors[threads, hidden] = made
        return self._supervisors[threads, hidden]

    def _told(self, threads: int) -> Mapping[str, object]:
        """What a record says of this worker beside what it says of its caller."""
        if threads not in self._facts:
            here = provenance.collect(threads, self._slots)
            others = {name: value for name, value in here.items() if name not in ("commit", "dirty", "started")}
            place = {"host": platform.node(), "worker": self._name, "dask": distributed.__version__}
            self._facts[threads] = {**others, **place}
        return self._facts[threads]

    def _unwanted(self, task: str) -> bool:
        """Whether nobody waits for that task any more: it was cancelled, its caller is gone, or this worker leaves."""
        if (worker := self._worker()) is None:
            return True
        state = worker.state.tasks.get(task)
        leaving = worker.status in (State.closing, State.closed, State.failed)
        return leaving or state is None or state.state == "cancelled"
