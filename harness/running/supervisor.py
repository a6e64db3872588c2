"""Cells in child processes: started, supervised, killed at their deadline, turned into records whatever happens.

The clock of a time limit runs only while the method works: it stops at every `judging` and goes on at the next claim.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from paramid.records.record import Outcome
from paramid.running import threads as openmp
from paramid.running.cell import Cell
from paramid.running.messages import receive, send
from paramid.running.transcript import Observe, Transcript
from paramid.words.status import Status

OUTSIDE_LIMIT = 600.0  # seconds granted to what is not the method: drawing, judging
MESSAGE_LIMIT = 5.0  # seconds for the rest of a message, whatever is left
KEPT = 16_384  # last bytes kept of what a method prints


class Supervisor:
    """Runs cells through a `fork_server` of its own: a context manager; `run` may be called from several threads."""

    def __init__(self, threads: int, memory: float | None = None) -> None:
        self.threads, self.memory = threads, memory  # MB, for cells that have no limit of their own
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._start()

    def _start(self) -> None:
        self._used = False
        self._scratch = tempfile.mkdtemp(prefix="paramid-")
        ours, theirs = socket.socketpair()
        self._control = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "paramid.running.fork_server", str(theirs.fileno()), self._scratch],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is ours to handle; our death reaches it as a closed socket
            env=openmp.pinned(self.threads),
        )
        theirs.close()

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._end()

    def _end(self) -> None:
        self._control.close()
        if not self._used:  # it may still be importing
            self._process.kill()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def stop(self) -> None:
        """End every running cell as interrupted."""
        self._stopped.set()

    def stopped(self, patience: float) -> bool:
        """Whether `stop` was called, now or within so many seconds."""
        return self._stopped.wait(patience)

    def run(self, cell: Cell, key: str, provenance: Mapping[str, object], observe: Observe | None = None) -> Outcome:
        """One cell in a child of its own. Never raises for what a method does."""
        transcript = Transcript(cell, self.threads, observe=observe)
        child = self.run_child("paramid.running.inside_cell:execute", cell, transcript)
        status, reason = child.status_and_reason()
        claim_waits = transcript.ended is None and transcript.claim and status is not Status.INTERRUPTED
        if claim_waits and transcript.stages[-1].kind != "Function":
            kind, payload = transcript.stages[-1].kind, transcript.claim
            self.run_child("paramid.running.inside_cell:rejudge", cell, transcript, payload, kind=kind)
        return transcript.outcome(key, provenance, status, reason, child.printed)

    def run_child(
        self, call: str, cell: Cell, transcript: Transcript, payload: bytes = b"", **given: object
    ) -> Supervision:
        """A child that calls `module:function` with the cell, supervised until it has ended."""
        ours, theirs = socket.socketpair()
        ours.settimeout(OUTSIDE_LIMIT)  # a child that stops in the middle of a message
        reading, writing = os.pipe()
        try:
            with self._lock:
                if self._process.poll() is not None:  # something ended it, and every cell of its time
                    self._end()
                    self._start()
                self._used = True
                with suppress(OSError):  # it may be dying: what nobody received ends as any other channel
                    socket.send_fds(self._control, [b"c"], [theirs.fileno(), writing])
            request = {
                "call": call,
                "given": given,
                "cell": asdict(cell),
                "threads": self.threads,
                "memory": self.memory,
            }
            send(ours, request, payload)
            child = Supervision(ours, reading, transcript, self._stopped)
            theirs.close()
            os.close(writing)
            writing = -1
            child.wait()
            return child
        finally:
            ours.close()
            theirs.close()
            os.close(reading)
            if writing >= 0:
                os.close(writing)


class Supervision:
    """The supervision of one child until it has ended."""

    def __init__(self, channel: socket.socket, output: int, transcript: Transcript, stopped: threading.Event) -> None:
        self._channel, self._output, self._transcript, self._stopped = channel, output, transcript, stopped
        self._pid = 0
        self._exit: int | None = None
        self._killed: Status | None = None
        self._why = ""
        self._left = transcript.cell.time_limit  # seconds of method time
        self._running_since: float | None = None
        self._phase_since = time.monotonic()
        self._tail, self._printing = b"", True

    @property
    def printed(self) -> str:
        """The last lines that the child printed."""
        return self._tail.decode(errors="replace")

    def wait(self) -> None:
        """Listen until the exit has been reported."""
        while self._exit is None:
            try:
                self._step()
            except KeyboardInterrupt:  # reaches the main thread only: `run`, never `compare`
                self._kill(Status.INTERRUPTED)
                self._exit = -signal.SIGKILL
        while self._printing and select.select([self._output], [], [], 0)[0]:
            self._read_output()

    def _step(self) -> None:
        sources: list[socket.socket | int] = [self._channel, *([self._output] if self._printing else [])]
        ready, _, _ = select.select(sources, [], [], self._patience())
        if self._output in ready:
            self._read_output()
        if self._channel in ready:
            self._channel.settimeout(max(MESSAGE_LIMIT, min(OUTSIDE_LIMIT, self._remaining())))
            try:
                self._take_event(*receive(self._channel))
            except TimeoutError:
                self._kill(Status.EXITED, "stopped in the middle of a message")
                self._exit = -signal.SIGKILL
            except (EOFError, OSError):
                self._killed, self._why = Status.CRASHED, "the fork server died while it ran"
                self._exit = -signal.SIGKILL
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                self._kill(Status.EXITED, f"wrote into the harness' channel: {type(error).__name__}: {error}")
                self._exit = -signal.SIGKILL
            self._transcript.show()  # out here: what an observer raises is no fault of the child
        if self._killed is None:
            if self._stopped.is_set():
                self._kill(Status.INTERRUPTED)
            elif self._overdue():
                self._kill(Status.TIMED_OUT)

    def _read_output(self) -> None:
        text = os.read(self._output, 65_536)
        self._tail, self._printing = (self._tail + text)[-KEPT:], bool(text)

    def status_and_reason(self) -> tuple[Status | None, str]:
        """The status that supervision adds, or None where the child spoke for itself."""
        if self._transcript.ended is not None:
            return None, ""
        limit = self._transcript.cell.time_limit
        if self._killed is Status.TIMED_OUT:
            spent = self._left is not None and self._left <= 0
            outside = f"drawing or judging took over {OUTSIDE_LIMIT:g} s"
            return Status.TIMED_OUT, f"stopped after {limit:g} s" if spent else outside
        if self._killed is not None:
            return self._killed, self._why
        if self._exit is not None and self._exit < 0:
            name = signal_name(-self._exit)
            outside = ", from outside or for want of memory" if name == "SIGKILL" else ""
            return Status.CRASHED, f"killed by signal {-self._exit} ({name}{outside})"
        return Status.EXITED, f"the process left with code {self._exit}"

    def _take_event(self, event: dict[str, Any], body: bytes) -> None:
        kind = event["event"]
        now = time.monotonic()
        if kind == "forked":
            self._pid = event["pid"]
        elif kind == "exit":
            self._exit = event["code"]
        if kind in ("start", "claim"):
            self._running_since = now
        elif kind == "judging":
            self._pause(now)
        self._phase_since = now
        self._transcript.add(event, body)

    def _pause(self, now: float) -> None:
        if self._running_since is not None and self._left is not None:
            self._left -= now - self._running_since
        self._running_since = None

    def _patience(self) -> float:
        """Seconds until something could be overdue; short enough to notice a stop."""
        return max(0.0, min(0.2, self._remaining()))

    def _remaining(self) -> float:
        now = time.monotonic()
        if self._running_since is None:
            return OUTSIDE_LIMIT - (now - self._phase_since)
        return float("inf") if self._left is None else self._left - (now - self._running_since)

    def _overdue(self) -> bool:
        if self._remaining() > 0:
            return False
        self._pause(time.monotonic())
        return True

    def _kill(self, status: Status, why: str = "") -> None:
        self._killed, self._why = status, why
        if not self._pid:  # the server ends what nobody listens to
            self._exit = -signal.SIGKILL
            return
        for end in (os.killpg, os.kill):  # a child that was forked a moment ago leads no group yet
            with suppress(ProcessLookupError):
                end(self._pid, signal.SIGKILL)


def signal_name(number: int) -> str:
    """SIGKILL and the like; real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "a real-time signal"
