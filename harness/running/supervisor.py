"""Cells behind the wall: started, supervised, ended at their deadline, turned into records whatever happens.

Two servers fork the two processes of a cell: the wardens' has the judge in it, the methods' has torch and the public
words and nothing else. The warden keeps the time; what is here only waits for what it says, and ends a warden that says
nothing any more.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from paramid.contracts import registry
from paramid.contracts.error_statuses import killed_by
from paramid.records.record import Outcome
from paramid.running import threads as openmp
from paramid.running.cell import Cell
from paramid.running.transcript import Observe, Transcript
from paramid.wall import jail
from paramid.wall.messages import receive, send
from paramid.words.naming import Name
from paramid.words.secrets import Secret
from paramid.words.status import Status

METHODS, WARDENS = "paramid.wall.keeper:keep", "paramid.running.warden:work"  # what a server's children do
OUTSIDE_LIMIT = 600.0  # seconds granted to what is not the method: drawing, judging
SLACK = 60.0  # seconds beyond its time limit in which a warden must have ended a method
GRACE = 5.0  # seconds for a warden to say what was spent before an interruption
LOOK = 0.2  # seconds from look to look
KEPT = 16_384  # last bytes kept of what a method prints
TOLD = (  # what a method's process sees of the environment: nothing that could be a secret
    *("PATH", "HOME", "USER", "TZ", "VIRTUAL_ENV", "LANG", "LC_", "LD_LIBRARY_PATH", "DYLD_", "CONDA_", "PYTHON"),
    "PARAMID_WALLS",
    *("OMP_", "MKL_", "OPENBLAS_", "GOMP_", "KMP_", "CUDA_", "NVIDIA_", "TORCH", "PYTORCH_"),
)


def told(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a process that runs somebody's method."""
    return {name: value for name, value in environment.items() if name.startswith(TOLD)}


def disk_of(method: str) -> Path:
    """The folder of a method that needs a disk; it stays."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "paramid" / re.sub(r"[^\w-]", "_", Name.parse(method).base)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Server:
    """Our end of a fork server, which is started again when something has ended it."""

    def __init__(self, work: str) -> None:
        self._work, self.scratch = work, tempfile.mkdtemp(prefix="paramid-")
        self._control, self._theirs = socket.socketpair()

    def words(self) -> list[str]:
        """What a fork server's command line says of it."""
        return [str(self._theirs.fileno()), self.scratch, self._work]

    @staticmethod
    def start(environment: Mapping[str, str], *servers: Server) -> subprocess.Popen[bytes]:
        """A process that becomes the last of these servers, and forks the one before on the way."""
        process = subprocess.Popen(
            [sys.executable, "-m", "paramid.wall.fork_server", *(word for s in servers for word in s.words())],
            pass_fds=tuple(s._theirs.fileno() for s in servers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is ours to handle; our death reaches it as a closed socket
            env=environment,
        )
        for server in servers:
            server._theirs.close()
        return process

    def gone(self) -> bool:
        """Whether nobody listens any more."""
        return bool(select.select([self._control], [], [], 0)[0])  # a server never writes: this is the end

    def fork(self, descriptors: Sequence[int]) -> None:
        """Have a child forked that gets these descriptors."""
        with suppress(OSError):  # it may be dying: what nobody received ends as any other channel
            socket.send_fds(self._control, [b"c"], list(descriptors))

    def end(self) -> None:
        """End it and all its children; it has ended when this returns, or will not within ten seconds."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
            self._control.settimeout(10)
            self._control.recv(1)
        self._control.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class Supervisor:
    """Runs cells: a context manager; `run` may be called from several threads. No method sees what is `hidden`."""

    def __init__(
        self, threads: int, memory: float | None = None, *, secret: Secret | None = None, hidden: Sequence[Path] = ()
    ) -> None:
        self.threads, self.memory = threads, memory  # MB, for cells that have no limit of their own
        self._secret = secret
        self._hidden = [str(path) for path in (*hidden, *([secret.file] if secret and secret.file else []))]
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

    def run(self, cell: Cell, key: str, provenance: Mapping[str, object], observe: Observe | None = None) -> Outcome:
        """One cell, its method behind the wall. Never raises for what a method does."""
        seed = cell.seed if self._secret is None else self._secret.drawn_seed(cell.task, cell.seed)
        transcript = Transcript(cell, self.threads, observe=observe)
        with ExitStack() as stack:
            output = Output(stack)
            own = [] if registry.is_control(cell.method) else self._method(cell, output, stack)
            call = "behind the wall" if own else "paramid.running.inside_cell:execute"
            child = self._supervised(call, cell, transcript, output, own, seed=seed)
        status, reason = child.status_and_reason()
        return transcript.outcome(key, provenance, status, reason, output.printed)

    def run_child(self, call: str, cell: Cell, transcript: Transcript, **given: object) -> Supervision:
        """A warden that calls `module:function` with the cell, without a wall, until it has ended."""
        with ExitStack() as stack:
            return self._supervised(call, cell, transcript, Output(stack), [], **given)

    def _method(self, cell: Cell, output: Output, stack: ExitStack) -> list[socket.socket]:
        """Have the method's process made; the warden's ends of its keeper's channel and of the link."""
        channels = [socket.socketpair() for _ in range(2)]
        for ours, _ in channels:
            stack.callback(ours.close)
        self._fork("methods", [channels[0][1].fileno(), output.writing, channels[1][1].fileno()])
        for _, theirs in channels:
            theirs.close()
        plan = {
            "hidden": [*self._hidden, self.wardens.scratch],
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
        **given: object,
    ) -> Supervision:
        with ExitStack() as stack:
            ours, theirs = socket.socketpair()
            stack.callback(ours.close)
            with theirs:
                self._fork("wardens", [theirs.fileno(), output.writing, *(end.fileno() for end in own)])
            request = {"call": call, "given": given, "cell": asdict(cell), "threads": self.threads}
            with suppress(OSError):
                send(ours, {**request, "memory": self.memory if own else cell.memory_limit or self.memory})
            for end in own:
                end.close()
            output.handed_over()
            slack = SLACK if own else 0.0  # without a wall nobody else looks at the time
            child = Supervision(ours, output, transcript, self._stopped, self._wake, slack)
            child.wait()
            return child

    def _wake(self) -> None:
        """A method without a wall around its signals may have stopped a server."""
        for process in self._processes:
            for pid in (process.pid, *jail.children(process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


class Output:
    """The pipe for what a cell prints, of which the end is kept."""

    def __init__(self, stack: ExitStack) -> None:
        self.reading, self.writing = os.pipe()
        stack.callback(os.close, self.reading)
        stack.callback(self.handed_over)
        self.open, self._tail = True, b""

    def fileno(self) -> int:
        """For `select`."""
        return self.reading

    def handed_over(self) -> None:
        """Our copy of the writing end is not needed any more."""
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1

    def read(self) -> None:
        """Take what is there."""
        text = os.read(self.reading, 65_536)
        self._tail, self.open = (self._tail + text)[-KEPT:], bool(text)

    @property
    def printed(self) -> str:
        """The last lines."""
        return self._tail.decode(errors="replace")


class Supervision:
    """The supervision of one warden until it has ended."""

    def __init__(
        self,
        channel: socket.socket,
        output: Output,
        transcript: Transcript,
        stopped: threading.Event,
        wake: Callable[[], None],
        slack: float,
    ) -> None:
        self._channel, self._output, self._transcript = channel, output, transcript
        self._stopped, self._wake, self._slack = stopped, wake, slack
        self._pid = 0
        self._exit: int | None = None
        self._killed: tuple[Status, str] | None = None
        self._asked: float | None = None  # when the warden was told to end
        self._left = transcript.cell.time_limit  # seconds of method time
        self._working_since: float | None = None
        self._heard = time.monotonic()

    def wait(self) -> None:
        """Listen until the exit has been reported."""
        while self._exit is None:
            try:
                self._step()
            except KeyboardInterrupt:  # reaches the main thread only: `run`, never `compare`
                self._ask_to_end()
        while self._output.open and select.select([self._output], [], [], 0)[0]:
            self._output.read()

    def _step(self) -> None:
        sources: list[socket.socket | Output] = [self._channel, *([self._output] if self._output.open else [])]
        ready, _, _ = select.select(sources, [], [], max(0.0, min(LOOK, self._patience())))
        if self._output in ready:
            self._output.read()
        if self._channel in ready:
            self._listen()
            self._transcript.show()  # out here: what an observer raises is no fault of the child
        elif not ready:
            self._wake()
        if self._stopped.is_set():
            self._ask_to_end()
        if self._patience() <= 0:
            self._kill()

    def _listen(self) -> None:
        try:
            event, body = receive(self._channel)
        except (EOFError, OSError):
            self._killed, self._exit = (Status.CRASHED, "the wardens' server died while it ran"), -signal.SIGKILL
        else:
            self._take_event(event, body)

    def _take_event(self, event: dict[str, Any], body: bytes) -> None:
        kind, now = event["event"], time.monotonic()
        if kind == "forked":
            self._pid = event["pid"]
        elif kind == "exit":
            self._exit = event["code"]
        if kind != "spent":
            if self._working_since is not None and self._left is not None:
                self._left -= now - self._working_since
            self._working_since = now if kind == "working" else None
        self._heard = now
        self._transcript.add(event, body)

    def _patience(self) -> float:
        """Seconds until the warden should have said something."""
        now = time.monotonic()
        if self._asked is not None:
            return GRACE - (now - self._asked)
        if self._working_since is None:
            return OUTSIDE_LIMIT - (now - self._heard)
        return float("inf") if self._left is None else self._left + self._slack - (now - self._working_since)

    def _ask_to_end(self) -> None:
        if self._asked is None and self._killed is None:
            self._asked = time.monotonic()
            with suppress(OSError):
                self._channel.sendall(b"e")

    def _kill(self) -> None:
        """End a warden that has nothing to say; its server reports the exit, or does not."""
        if self._killed is not None or not self._pid:
            self._exit = -signal.SIGKILL
        if self._killed is None:
            outside = f"drawing or judging took over {OUTSIDE_LIMIT:g} s"
            silent = f"stopped after {self._transcript.cell.time_limit} s"
            late = outside if self._working_since is None else silent
            self._killed = (Status.INTERRUPTED, "") if self._asked is not None else (Status.TIMED_OUT, late)
            self._asked = time.monotonic()
            for end in (os.killpg, os.kill):  # a child that was forked a moment ago leads no group yet
                with suppress(ProcessLookupError):
                    if self._pid:
                        end(self._pid, signal.SIGKILL)

    def status_and_reason(self) -> tuple[Status | None, str]:
        """The status that supervision adds, or None where the warden spoke for itself."""
        if self._transcript.ended is not None:
            return None, ""
        if self._killed is not None:
            return self._killed
        if self._exit is not None and self._exit < 0:
            return Status.CRASHED, killed_by(-self._exit)
        return Status.EXITED, f"the process left with code {self._exit}"
