"""What workers of a Dask cluster are asked for, and what comes of it: news, through one queue.

All here but `ask` and `forget` runs in the client's loop, which only fills the queue.
"""

from __future__ import annotations

import asyncio
import queue
import uuid
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from itertools import count
from typing import Any

from distributed import Client, Future, KilledWorker
from distributed.scheduler import NoValidWorkerError

from paramid.running.crews import orders

REACH = 3.0  # seconds to reach a worker directly
LOOK = 1.0  # seconds from one look at the workers to the next
CLOSING = ("closing", "closed", "failed")  # what a worker never comes back from, however long it takes


class Gone(Enum):
    """Why there is no answer."""

    DIED = auto()  # the worker, before the next look at it, as the scheduler is set up
    CANCELLED = auto()  # here, or with a connection that was lost


@dataclass(frozen=True)
class Survey:
    """The workers that there are, with their slots; those of them that take tasks; and who has died since the last."""

    slots: Mapping[str, int]
    taking: frozenset[str] = frozenset()
    died: frozenset[str] = frozenset()


def call(function: str, *given: object) -> object:
    """Call a function of a worker's paramid by name, so that a scheduler needs none."""
    from importlib import import_module

    return getattr(import_module("paramid.running.crews.workshop"), function)(*given)


call.__module__ = "__main__"  # by which it is sent by value


class Dispatch:
    """One client's questions. `news` are their names with the answers, and surveys without a name."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.news: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
        self._futures: dict[str, Future[object]] = {}
        self._direct = True  # every worker that was met can be reached
        self._mark, self._numbers = uuid.uuid4().hex[:8], count()
        client.loop.add_callback(self._survey)

    def connected(self) -> bool:
        """Whether the scheduler is there now."""
        return bool(self._client.status == "running")

    def over(self) -> bool:
        """Whether it is there no more."""
        return self._client.status in ("closing", "closed")

    def ask(self, address: str, function: str, *given: object, device: str = "cpu") -> str:
        """Ask one worker for something; the name of the question."""
        name = f"paramid-{self._mark}-{next(self._numbers)}"
        gpu = {"gpu": 1} if device == "cuda" else None
        self._futures[name] = future = self._client.submit(
            call, function, orders.harness(), *given, key=name, pure=False, workers=[address], resources=gpu
        )
        self._client.loop.add_callback(self._follow, name, future)
        return name

    def forget(self, names: Iterable[str]) -> None:
        """No answers are wanted any more: whatever works on them is to end."""
        futures = [future for name in names if (future := self._futures.pop(name, None)) is not None]
        if futures and self.connected():
            self._client.cancel(futures, force=True)

    async def _follow(self, name: str, future: Future[object]) -> None:
        made: object
        try:
            made = await future
            if isinstance(made, Mapping):
                self._direct = self._direct and await self._reaches(made["address"])
                self._client.direct_to_workers = self._direct
        except (CancelledError, asyncio.CancelledError):
            made = Gone.CANCELLED
        except (KilledWorker, NoValidWorkerError):
            made = Gone.DIED
        except Exception as error:
            made = error
        self._futures.pop(name, None)
        self.news.put((name, made))

    async def _reaches(self, address: str) -> bool:
        """Whether results can come from that worker without passing through the scheduler."""
        with suppress(Exception):
            await asyncio.wait_for(self._client.rpc(address).identity(), REACH)
            return True
        return False

    async def _survey(self) -> None:
        """Look at the workers again and again."""
        before: set[str] = set()
        while not self.over():
            with suppress(Exception):  # the connection, of which the client's status says the rest
                known = (await self._client.scheduler.identity(n_workers=-1))["workers"]
                died = {address for address in before - known.keys() if not await self._left(address)}
                there = {address: worker for address, worker in known.items() if _works(worker)}
                taking = {address for address, worker in there.items() if worker["status"] == "running"}
                slots = {address: worker["nthreads"] for address, worker in there.items()}
                self.news.put(("", Survey(slots, frozenset(taking), frozenset(died))))
                before = set(there)
            await asyncio.sleep(LOOK)

    async def _left(self, address: str) -> bool:
        return left([event for _, event in await self._client.scheduler.events(topic=address)])


def left(events: Sequence[object]) -> bool:
    """Whether a worker that is gone had been told to go, or said so itself, by what its scheduler noted of it."""
    for event in reversed(events):
        match event:
            case {"action": "worker-status-change", "status": str(status)}:
                return status.startswith("closing")
            case {"action": "add-worker"}:  # what was before is of another at its address
                return False
    return False


def _works(worker: Mapping[str, Any]) -> bool:
    """Whether what a worker was given comes to an end: not where it closes, nor where a pause came before it began."""
    if worker["status"] == "paused":
        return bool(worker["metrics"]["task_counts"].get("executing"))
    return worker["status"] not in CLOSING
