"""A crew of Dask workers: the caller's end.

Dask carries cells to workers and outcomes back, and says which workers there are. It decides nothing else: each cell is
sent to one worker, which `placement` chooses, and no more of them than it has slots. So the scheduler holds what runs
and not what waits, no cell waits behind a long one, and only what was on a worker is suspected of its death.

All that happens reaches the caller's thread through one queue; what runs in the client's loop only fills it.
"""

from __future__ import annotations

import asyncio
import pickle
import queue
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Self

from distributed import Future, KilledWorker
from distributed.scheduler import NoValidWorkerError

from paramid.records.record import Outcome
from paramid.running.cell import Cell
from paramid.running.crews import orders
from paramid.running.crews.connection import PATIENCE, SEALED, connected
from paramid.running.crews.crew import CrewError, Ended, drained
from paramid.running.crews.placement import Placement, Worker
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret
from paramid.words.status import Status

ANSWER = 10.0  # seconds for the workers that are there at first to introduce themselves
REACH = 3.0  # seconds to reach a worker directly
LOOK = 1.0  # seconds from one look at the workers to the next
CLOSING = ("closing", "closed", "failed")  # what a worker never comes back from, however long it takes
CANCELLED = (CancelledError, asyncio.CancelledError)  # here, or by a connection that was lost
KILLED = (KilledWorker, NoValidWorkerError)


def call(function: str, *given: object) -> object:
    """Call a function of a worker's paramid by name, so that a scheduler needs none."""
    from importlib import import_module

    return getattr(import_module("paramid.running.crews.workshop"), function)(*given)


call.__module__ = "__main__"  # by which it is sent by value


@dataclass(frozen=True)
class Survey:
    """The workers that there are, with their slots; those of them that take tasks; and who has died since the last."""

    slots: Mapping[str, int]
    taking: frozenset[str] = frozenset()
    died: frozenset[str] = frozenset()


NOBODY = Survey({})  # before the first look


@dataclass(frozen=True)
class Task:
    """Something that a worker was asked for: a cell, or to introduce itself where there is no cell."""

    address: str
    future: Future[object]
    key: str = ""
    cell: Cell | None = None


def _works(worker: Mapping[str, Any]) -> bool:
    """Whether what a worker was given comes to an end: not where it closes, nor where a pause came before it began."""
    if worker["status"] == "paused":
        return bool(worker["metrics"]["task_counts"].get("executing"))
    return worker["status"] not in CLOSING


class Cluster:
    """The workers of one scheduler."""

    def __init__(
        self,
        where: str,
        *,
        workers: int,  # of a cluster on this machine
        threads: int,  # of a cell
        facts: Mapping[str, object],
        say: Callable[[str], object],
        hidden: Iterable[Path] = (),
        secret: Secret | None = None,
    ) -> None:
        self._where, self._threads, self._facts, self._say, self._secret = where, threads, facts, say, secret
        self._hidden = tuple(map(str, (*hidden, *([secret.file] if secret and secret.file else []))))
        self._stack = ExitStack()
        self._client = self._stack.enter_context(connected(where, workers=workers, sealed=secret is not None))
        self._news: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()  # names of tasks and what came of them
        self._placement = Placement()
        self._tasks: dict[str, Task] = {}
        self._given_up: list[Ended] = []
        self._left_out: set[str] = set()
        self._seen, self._seen_at = NOBODY, time.monotonic()
        self._reached = True  # every worker that was met, directly
        self._names = count()
        self._mark = uuid.uuid4().hex[:8]
        self._device = "cpu"  # of the cell that was offered last
        self._awaited = ""  # what was said to be waited for
        self._closing = False

    def __enter__(self) -> Self:
        """Meet the workers. One of those that are there at first and cannot take part ends the command."""
        self._client.loop.add_callback(self._survey)
        until = time.monotonic() + ANSWER
        try:
            while time.monotonic() < until and (self._seen is NOBODY or self._tasks):
                for name, told in drained(self._news, 0.1):
                    list(self._take(name, told))
                if self._left_out:
                    raise UsageError("all workers that are there at first were wanted, with the source of the caller")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        with suppress(Exception):
            if self._client.status == "running":
                self._client.cancel([task.future for task in self._tasks.values()], force=True)
        with suppress(OSError):  # a timeout is one: nothing of it is ours any more
            self._stack.close()

    # -- in the client's loop

    async def _survey(self) -> None:
        """Look at the workers again and again."""
        before: set[str] = set()
        while not self._closing:
            with suppress(Exception):  # the connection, of which the client's status says the rest
                known = (await self._client.scheduler.identity(n_workers=-1))["workers"]
                died = {address for address in before - known.keys() if not await self._left(address)}
                there = {address: worker for address, worker in known.items() if _works(worker)}
                taking = {address for address, worker in there.items() if worker["status"] == "running"}
                slots = {address: worker["nthreads"] for address, worker in there.items()}
                self._news.put(("", Survey(slots, frozenset(taking), frozenset(died))))
                before = set(there)
            await asyncio.sleep(LOOK)

    async def _left(self, address: str) -> bool:
        """Whether a worker that is gone had been told to go, or said so itself."""
        for _, event in reversed(await self._client.scheduler.events(topic=address)):
            if isinstance(event, Mapping) and event.get("action") == "worker-status-change":
                return str(event["status"]).startswith("closing")
        return False

    async def _follow(self, name: str, future: Future[object]) -> None:
        try:
            made: object = await future
            if isinstance(made, Mapping):
                self._reached = self._reached and await self._reaches(made["address"])
                self._client.direct_to_workers = self._reached
        except (Exception, *CANCELLED) as error:
            made = error
        self._news.put((name, made))

    async def _reaches(self, address: str) -> bool:
        """Whether results can come from that worker without passing through the scheduler."""
        with suppress(Exception):
            await asyncio.wait_for(self._client.rpc(address).identity(), REACH)
            return True
        return False

    # -- what is given

    def takes(self, cell: Cell) -> bool:
        """Whether a worker has a free slot for it."""
        self._device = cell.device
        return self._client.status == "running" and self._placement.room(cell.device) > 0

    def start(self, key: str, cell: Cell) -> None:
        """On the worker with most room."""
        if why := self._placement.refused(cell):
            self._given_up.append((key, why))
        else:
            self._placement.waiting[key] = cell
            self._place()

    def _place(self) -> None:
        if self._client.status != "running":
            return
        for key, cell, address in self._placement.placed():
            self._ask(address, "perform", pickle.dumps(self._order(key, cell)), key=key, cell=cell)

    def _order(self, key: str, cell: Cell) -> orders.Order:
        packed, files = orders.packed(cell)
        return orders.Order(
            key=key,
            cell=packed,
            seed=cell.seed if self._secret is None else self._secret.drawn_seed(cell.task, cell.seed),
            threads=self._threads,
            hidden=self._hidden,
            sources=orders.sources(cell),
            files=files,
        )

    def _ask(self, address: str, function: str, *given: object, key: str = "", cell: Cell | None = None) -> None:
        """Ask one worker for something; what comes of it is news."""
        name = f"paramid-{self._mark}-{next(self._names)}"
        gpu = {"gpu": 1} if cell is not None and cell.device == "cuda" else None
        future = self._client.submit(
            call, function, orders.harness(), *given, key=name, pure=False, workers=[address], resources=gpu
        )
        self._tasks[name] = Task(address, future, key, cell)
        self._client.loop.add_callback(self._follow, name, future)

    # -- what comes back

    def ended(self, patience: float) -> Iterator[Ended]:
        """What the workers sent, and who is given up."""
        yield from self._given_up
        self._given_up.clear()
        for name, told in drained(self._news, patience):
            yield from self._take(name, told)
        if self._client.status in ("closing", "closed"):
            left = f"{self._placement.under_way()} cells were under way; the same command goes on from there"
            raise CrewError(f"the scheduler at {self._where} is gone; {left}")
        self._place()
        self._say_what_is_awaited()

    def _take(self, name: str, told: object) -> Iterator[Ended]:
        if isinstance(told, Survey):
            yield from self._look(told)
        elif (task := self._tasks.pop(name, None)) is not None:  # else its worker is gone already
            if task.cell is None:
                self._meet(task, told)
            else:
                yield from self._hear(task, task.cell, told)

    def _look(self, survey: Survey) -> Iterator[Ended]:
        """Greet who is new, and take away who is gone with what ran there."""
        self._seen, self._seen_at = survey, time.monotonic()
        asked = {task.address for task in self._tasks.values()}
        for address in survey.taking - self._placement.workers.keys() - self._left_out - asked:
            self._ask(address, "introduce")
        for address in self._placement.workers.keys() - survey.slots.keys():
            yield from self._lose(address, died=address in survey.died)
        for address, worker in self._placement.workers.items():
            worker.accepts, worker.slots = address in survey.taking, survey.slots[address]
        for name in [n for n, task in self._tasks.items() if task.address not in survey.slots]:
            del self._tasks[name]

    def _meet(self, task: Task, told: object) -> None:
        """A worker has introduced itself, or cannot."""
        if isinstance(told, Mapping):
            if self._secret is not None and not all(link.startswith(SEALED) for link in told["links"]):
                self._leave_out(task.address, f"teachers drawn from a secret are sent over {SEALED} alone")
            elif slots := self._seen.slots.get(task.address):
                self._placement.workers[task.address] = Worker(told["name"], slots, told["gpus"])
        elif not isinstance(told, (*CANCELLED, *KILLED)):
            self._leave_out(task.address, told)

    def _hear(self, task: Task, cell: Cell, told: object) -> Iterator[Ended]:
        """What became of a cell. It is placed again where its worker died, could not, or was told to leave."""
        if isinstance(told, KILLED):  # before the next look, as the scheduler is set up
            yield from self._lose(task.address, died=True)
        elif not isinstance(told, (Outcome, *CANCELLED)):
            self._leave_out(task.address, told)
            yield from self._lose(task.address, died=False)
        else:
            self._placement.ended(task.key, task.address)
            if isinstance(told, Outcome) and told.record.status is not Status.INTERRUPTED:
                record = replace(told.record, provenance={**self._facts, **told.record.provenance})
                yield task.key, replace(told, record=record)
            else:
                self._placement.waiting[task.key] = cell

    def _lose(self, address: str, *, died: bool) -> Iterator[Ended]:
        """A worker has nothing more for us: what ran there is placed again, or has no record."""
        lost = [name for name, task in self._tasks.items() if task.address == address]
        futures = [self._tasks.pop(name).future for name in lost]
        if futures and self._client.status == "running":
            self._client.cancel(futures, force=True)
        yield from self._placement.gone(address, died=died)

    def _leave_out(self, address: str, told: object) -> None:
        """Never ask a worker again; say why, once."""
        if address not in self._left_out:
            self._left_out.add(address)
            known = self._placement.workers.get(address)
            name = f"{known.name} at {address}" if known else address
            why = f"{type(told).__name__}: {told}" if isinstance(told, BaseException) else told
            self._say(f"worker {name} is left out: {why}")

    def _say_what_is_awaited(self) -> None:
        """Whoever is missing is waited for; where all who are there were left out, the command ends."""
        awaited = ""
        if time.monotonic() > self._seen_at + PATIENCE:
            awaited = f"the scheduler at {self._where}, which does not answer"
        elif not any(worker.able(self._device) for worker in self._placement.workers.values()):
            if self._seen.slots and self._seen.slots.keys() <= self._left_out:
                raise CrewError(f"every worker of {self._where} was left out")
            awaited = "workers" + (" with --resources gpu=1" if self._device == "cuda" else "")
        if awaited not in ("", self._awaited):
            self._say(f"waiting for {awaited}")
        self._awaited = awaited
