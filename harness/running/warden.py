"""The warden of one cell: it draws the teacher, holds books, clock and judge, and answers a method behind the wall."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import select
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from paramid.contracts import plugins
from paramid.contracts.error_statuses import ending
from paramid.oracle.counting import CountingOracle
from paramid.running import inside_cell
from paramid.running.cell import Cell
from paramid.wall import jail
from paramid.wall.custody import Left
from paramid.wall.messages import receive, send
from paramid.wall.method_process import Job
from paramid.wall.serving import BehindTheWall, Ended
from paramid.words.claims import Claim
from paramid.words.status import Status

if TYPE_CHECKING:
    from paramid.contracts.task import Task
    from paramid.words.spec import Access


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, KEPT_BYTES = -1, -3, 2**26  # of glibc's malloc


def work(channel: socket.socket, descriptors: list[int], _: Path) -> None:
    """The life of a child of the wardens' server: read the request, call what it names, report events."""
    jail.hide_memory()
    output, *own = descriptors
    for stream in (1, 2):
        os.dup2(output, stream)
    request = receive(channel)[0]
    cell, given = Cell.from_json(request["cell"]), request["given"]

    def emit(event: dict[str, Any], body: bytes = b"") -> None:
        if event["event"] != "spent" or select.select([], [channel], [], 0)[1]:  # where nobody reads it may be missed
            send(channel, event, body)

    try:
        torch.set_num_threads(request["threads"])
        keep_memory()
        limit_memory(request["memory"])
        if request["call"] == "behind the wall":
            keeper, link = (socket.socket(fileno=descriptor) for descriptor in own)
            return behind_the_wall(cell, emit, Orders(channel), keeper, link, **given)
        module, _, function = request["call"].partition(":")
        getattr(import_module(module), function)(cell, emit, **given)
    except Exception as error:  # the method's own errors end inside; this is the task, the judge or the set-up
        status, reason = ending(error)
        told = {"event": "end", "status": status.key, "reason": f"outside the method: {reason}", "metrics": {}}
        emit({**told, "traceback": traceback.format_exc(), "peak_mb": inside_cell.peak_mb()})


def behind_the_wall(
    cell: Cell, emit: inside_cell.Emit, orders: Orders, keeper: socket.socket, link: socket.socket, *, seed: int
) -> None:
    """Run one cell whose method is in a process of its own; `seed` is the drawn one where there is a secret."""
    plugins.join(cell.plugins)
    execution = inside_cell.Execution(cell, emit, Wall(link, keeper, orders), seed)
    try:
        execution.run()
    except Exception:
        emit({"event": "spent", **execution.costs(), "walls": execution.seat.close().walls}, b"")
        raise


class Wall:
    """A seat in another process."""

    throws = False

    def __init__(self, link: socket.socket, keeper: socket.socket, orders: Orders) -> None:
        self._behind = BehindTheWall(link, keeper, orders)

    @property
    def until(self) -> float:
        """When the method's time is up."""
        return self._behind.until

    @until.setter
    def until(self, moment: float) -> None:
        self._behind.until = moment

    @property
    def tell(self) -> Callable[[], object]:
        """Called now and then."""
        return self._behind.tell

    @tell.setter
    def tell(self, told: Callable[[], object]) -> None:
        self._behind.tell = told

    def ready(self) -> None:
        """Wait for the process."""
        self._behind.ready()

    def start(self, cell: Cell, task: Task, stream: int) -> frozenset[Access]:
        """Tell the method's process what it may know."""
        foreign = not type(task.spec).__module__.startswith("paramid.")
        job = Job(
            method=cell.method,
            plugins=(*cell.method_plugins, *(cell.plugins if foreign else ())),
            spec=task.spec,
            granted=tuple(sorted(kind.value for kind in task.access)),
            stream=stream,
            device=cell.device,
        )
        return self._behind.start(job)

    def claims(self, oracle: CountingOracle, task: Task) -> Iterator[Claim]:
        """Its claims."""
        return self._behind.claims(oracle, task.spec, task.kinds)

    def close(self) -> Left:
        """End it."""
        return self._behind.close()


@dataclass
class Orders:
    """What the supervisor may say while a cell runs: that it is to end."""

    channel: socket.socket

    def fileno(self) -> int:
        """For `poll`."""
        return self.channel.fileno()

    def read(self) -> None:
        """Whatever is said, or that nobody is there any more, ends the cell."""
        raise Ended(Status.INTERRUPTED)


def keep_memory() -> None:
    """Memory of one chunk serves the next: given back and taken again, it costs as much as the teacher does."""
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        for parameter in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD):
            libc.mallopt(parameter, KEPT_BYTES)


def limit_memory(megabytes: float | None) -> None:
    """What teacher, books and judge may take."""
    if megabytes is not None and sys.platform == "linux":
        limit = int(megabytes * 2**20)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
