"""A crew of Dask workers: the caller's end.

Dask carries cells to workers and outcomes back, and says which workers there are. It decides nothing else: each cell is
sent to one worker, which `placement` chooses, and no more of them than it has slots. So the scheduler holds what runs
and not what waits, no cell waits behind a long one, and only what was on a worker is suspected of its death.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from paramid.records.record import Outcome
from paramid.running.cell import Cell
from paramid.running.crews import orders
from paramid.running.crews.connection import PATIENCE, SEALED, connected
from paramid.running.crews.crew import CrewError, Ended, drained
from paramid.running.crews.dispatch import Dispatch, Gone, Survey
from paramid.running.crews.placement import Placement, Worker
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret
from paramid.words.status import Status

ANSWER = 10.0  # seconds for the workers that are there at first to introduce themselves
NOBODY = Survey({})  # before the first look


@dataclass(frozen=True)
class Task:
    """Something that a worker was asked for: a cell, or to introduce itself where there is no cell."""

    address: str
    key: str = ""
    cell: Cell | None = None


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
        self._dispatch = Dispatch(
            self._stack.enter_context(connected(where, workers=workers, sealed=secret is not None))
        )
        self._placement = Placement()
        self._tasks: dict[str, Task] = {}  # by the names of questions
        self._given_up: list[Ended] = []
        self._left_out: set[str] = set()
        self._seen, self._seen_at = NOBODY, time.monotonic()
        self._device = "cpu"  # of the cell that was offered last
        self._awaited = ""  # what was said to be waited for

    def __enter__(self) -> Self:
        """Meet the workers. One of those that are there at first and cannot take part ends the command."""
        until = time.monotonic() + ANSWER
        try:
            while time.monotonic() < until and (self._seen is NOBODY or self._tasks):
                for name, told in drained(self._dispatch.news, 0.1):
                    list(self._take(name, told))
                if self._left_out:
                    raise UsageError("all workers that are there at first were wanted, with the source of the caller")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self._dispatch.forget(self._tasks)
        with suppress(OSError):  # a timeout is one: nothing of it is ours any more
            self._stack.close()

    # -- what is given

    def takes(self, cell: Cell) -> bool:
        """Whether a worker has a free slot for it."""
        self._device = cell.device
        return self._dispatch.connected() and self._placement.room(cell.device) > 0

    def start(self, key: str, cell: Cell) -> None:
        """On the worker with most room."""
        if why := self._placement.refused(cell):
            self._given_up.append((key, why))
        else:
            self._placement.waiting[key] = cell
            self._place()

    def _place(self) -> None:
        if self._dispatch.connected():
            for key, cell, address in self._placement.placed():
                order = pickle.dumps(self._order(key, cell))
                name = self._dispatch.ask(address, "perform", order, device=cell.device)
                self._tasks[name] = Task(address, key, cell)

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

    # -- what comes back

    def ended(self, patience: float) -> Iterator[Ended]:
        """What the workers sent, and who is given up."""
        yield from self._given_up
        self._given_up.clear()
        for name, told in drained(self._dispatch.news, patience):
            yield from self._take(name, told)
        if self._dispatch.over():
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
            self._tasks[self._dispatch.ask(address, "introduce")] = Task(address)
        for address in (self._placement.workers.keys() | asked) - survey.slots.keys():
            yield from self._lose(address, died=address in survey.died)
        for address, worker in self._placement.workers.items():
            worker.accepts, worker.slots = address in survey.taking, survey.slots[address]

    def _meet(self, task: Task, told: object) -> None:
        """A worker has introduced itself, or cannot."""
        if isinstance(told, Mapping):
            if self._secret is not None and not all(link.startswith(SEALED) for link in told["links"]):
                self._leave_out(task.address, f"teachers drawn from a secret are sent over {SEALED} alone")
            elif slots := self._seen.slots.get(task.address):
                self._placement.workers[task.address] = Worker(told["name"], slots, told["gpus"])
        elif not isinstance(told, Gone):  # else it is asked again, if it is there
            self._leave_out(task.address, told)

    def _hear(self, task: Task, cell: Cell, told: object) -> Iterator[Ended]:
        """What became of a cell. It is placed again where its worker died, could not, or was told to leave."""
        if told is Gone.DIED:
            yield from self._lose(task.address, died=True)
        elif not isinstance(told, (Outcome, Gone)):
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
        self._dispatch.forget(lost)
        for name in lost:
            del self._tasks[name]
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
