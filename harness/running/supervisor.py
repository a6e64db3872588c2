"""Cells behind the wall: started, supervised, ended at their deadline, turned into records whatever happens.

Two servers fork the two processes of a cell: the wardens' has the judge in it, the methods' has torch and the public
words and nothing else. The warden keeps the time; what is here only waits for what it says.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path

from paramid.contracts import registry
from paramid.records import machine
from paramid.records.record import Outcome
from paramid.running import threads as openmp
from paramid.running.cell import Cell
from paramid.running.servers import Server, disk_of, told
from paramid.running.supervision import Output, Supervision
from paramid.running.transcript import Observe, Transcript
from paramid.wall import jail
from paramid.wall.messages import send
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret, kept

METHODS, WARDENS = "paramid.wall.keeper:keep", "paramid.running.warden:work"  # what a server's children do
SLACK = 60.0  # seconds beyond its time limit in which a warden must have ended a method


class Supervisor:
    """Runs cells: a context manager; `run` may be called from several threads. No method sees what is `hidden`."""

    def __init__(
        self, threads: int, memory: float | None = None, *, secret: Secret | None = None, hidden: Sequence[Path] = ()
    ) -> None:
        self.threads, self.memory = threads, memory  # MB, for cells that have no limit of their own
        self._secret = secret
        self._hidden = [str(path) for path in (*hidden, kept(), *([secret.file] if secret and secret.file else []))]
        if secret is not None:
            jail.hide_memory()
        self._lock, self._stopped, self._used = threading.Lock(), threading.Event(), False
        self._environment = told(openmp.pinned(threads))
        self.methods, self.wardens = Server(METHODS), Server(WARDENS)
        self._processes = [Server.start(self._environment, self.methods, self.wardens)]

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if not self._used:  # they may still be importing
            self._processes[0].kill()
        for server in (self.wardens, self.methods):
            server.end()
        for process in self._processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _fork(self, name: str, descriptors: Sequence[int]) -> None:
        """Have a child forked by one of the servers, which is made anew where something has ended it."""
        with self._lock:
            self._used = True
            server: Server = getattr(self, name)
            if server.gone():
                server.end()
                server = Server(METHODS if name == "methods" else WARDENS)
                setattr(self, name, server)
                self._processes.append(Server.start(self._environment, server))
            server.fork(descriptors)

    def stop(self) -> None:
        """End every running cell as interrupted."""
        self._stopped.set()

    def stopped(self, patience: float) -> bool:
        """Whether `stop` was called, now or within so many seconds."""
        return self._stopped.wait(patience)

    def run(
        self,
        cell: Cell,
        key: str,
        provenance: Mapping[str, object],
        observe: Observe | None = None,
        *,
        seed: int | None = None,
        stopped: Callable[[], bool] = bool,
    ) -> Outcome:
        """One cell, its method behind the wall, ended once it is `stopped`. Never raises for what a method does.

        A `seed` is that of a teacher whose secret is held elsewhere.
        """
        seed = self.seed(cell) if seed is None else seed
        transcript = Transcript(cell, self.threads, observe=observe)
        with ExitStack() as stack:
            output = Output(stack)
            own = [] if registry.is_control(cell.method) else self._method(cell, output, stack)
            call = "behind the wall" if own else "paramid.running.inside_cell:execute"
            child = self._supervised(call, cell, transcript, output, own, stopped, seed=seed)
        status, reason = child.status_and_reason()
        return transcript.outcome(key, provenance, status, reason, output.printed)

    def seed(self, cell: Cell) -> int:
        """The seed of a cell's teacher, drawn from the secret where there is one."""
        return cell.seed if self._secret is None else self._secret.drawn_seed(cell.task, cell.seed)

    def run_child(self, call: str, cell: Cell, transcript: Transcript, **given: object) -> Supervision:
        """A warden that calls `module:function` with the cell, without a wall, until it has ended."""
        with ExitStack() as stack:
            return self._supervised(call, cell, transcript, Output(stack), [], bool, **given)

    def _method(self, cell: Cell, output: Output, stack: ExitStack) -> list[socket.socket]:
        """Have the method's process made; the warden's ends of its keeper's channel and of the link."""
        channels = [socket.socketpair() for _ in range(2)]
        for ours, _ in channels:
            stack.callback(ours.close)
        self._fork("methods", [channels[0][1].fileno(), output.writing, channels[1][1].fileno()])
        for _, theirs in channels:
            theirs.close()
        plan = {
            "hidden": [*self._hidden, *private(cell), self.wardens.scratch],
            "needs": cell.needs,
            "folder": str(disk_of(cell.method)) if "disk" in cell.needs else "",
            "threads": self.threads,
            "memory_mb": cell.memory_limit or self.memory,
            "seconds": cell.time_limit,
            "addresses": cell.device == "cpu",
        }
        with suppress(OSError):
            send(channels[0][0], plan)
        return [ours for ours, _ in channels]

    def _supervised(
        self,
        call: str,
        cell: Cell,
        transcript: Transcript,
        output: Output,
        own: Sequence[socket.socket],
        stopped: Callable[[], bool],
        **given: object,
    ) -> Supervision:
        with ExitStack() as stack:
            ours, theirs = socket.socketpair()
            stack.callback(ours.close)
            with theirs:
                self._fork("wardens", [theirs.fileno(), output.writing, *(end.fileno() for end in own)])
            most = self.memory or 0.9 * machine.ram_mb()
            memory = most if own else cell.memory_limit or most
            request = {"call": call, "given": given, "cell": asdict(cell), "threads": self.threads}
            with suppress(OSError):
                send(ours, {**request, "memory": memory})
            for end in own:
                end.close()
            output.handed_over()
            slack = SLACK if own else 0.0  # without a wall nobody else looks at the time
            ends = lambda: self._stopped.is_set() or stopped()  # noqa: E731
            child = Supervision(ours, output, transcript, ends, self._wake, slack)
            child.wait()
            return child

    def _wake(self) -> None:
        """A method without a wall around its signals may have stopped a server."""
        for process in self._processes:
            for pid in (process.pid, *jail.children(process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


def private(cell: Cell) -> tuple[str, ...]:
    """Files of the task's that its method is not to see; where they cannot be read any more, the warden will say so."""
    if cell.plugins:
        return ()
    try:
        return registry.described("tasks", cell.task).private
    except UsageError:
        return ()
