"""Cells in child processes: started, watched, killed at their deadline, turned into records whatever happens.

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
from dataclasses import asdict, dataclass, field
from typing import Any

from paramid.frames import receive, send
from paramid.plans import Cell
from paramid.record import COSTS, Record, Stage
from paramid.status import Status

AROUND = 600.0  # seconds granted to what is not the method: drawing, judging
PATIENT = 5.0  # seconds for the rest of a message, whatever is left
KEPT = 16_384  # last bytes kept of what a method prints


@dataclass(frozen=True)
class Outcome:
    """A record and, where there is one, the last claim as the bytes of an npz file."""

    record: Record
    claim: bytes = b""


@dataclass
class Transcript:
    """The events of one cell, as they come in."""

    cell: Cell
    threads: int
    stages: list[Stage] = field(default_factory=list)
    stats: dict[str, float] = field(default_factory=dict)
    final: dict[str, float] = field(default_factory=dict)
    obstacles: tuple[str, ...] = ()
    claim: bytes = b""
    ended: dict[str, Any] | None = None
    peak_mb: float = 0.0

    def hear(self, event: Mapping[str, Any], body: bytes = b"") -> None:
        """Take one event of `cells.perform`."""
        if event["event"] == "start":
            self.obstacles = tuple(event.get("obstacles", ()))
        elif event["event"] == "claim":
            costs = {name: event[name] for name in ("seconds", *COSTS)}
            self.stages.append(Stage(kind=event["kind"], metrics=event["metrics"], **costs))
            self.stats |= event["stats"]
            self.claim = body
        elif event["event"] == "end":
            self.ended = dict(event)
        elif event["event"] == "rejudged":
            self.final |= event["metrics"]
        self.peak_mb = max(self.peak_mb, event.get("peak_mb", 0.0))

    def outcome(
        self,
        key: str,
        provenance: Mapping[str, object],
        status: Status | None = None,
        reason: str = "",
        printed: str = "",
    ) -> Outcome:
        """The record; `status` overrides the end that was reported, if any was."""
        ended = self.ended or {}
        status = status or Status.named(ended["status"])
        last = self.stages[-1] if self.stages else None
        costs = {n: ended.get(n, getattr(last, n, 0)) for n in ("seconds", *COSTS)}
        if status is Status.TIMED_OUT:  # what was spent since the last claim is known of the clock alone
            costs["seconds"] = self.cell.time_limit
        metrics = {**(last.metrics if last else {}), **self.final, **ended.get("metrics", {})}
        record = Record(
            key=key,
            method=self.cell.method,
            task=self.cell.task,
            seed=self.cell.seed,
            device=self.cell.device,
            threads=self.threads,
            budget=self.cell.budget,
            status=status,
            reason=reason or ended.get("reason", ""),
            peak_mb=round(self.peak_mb, 1),
            metrics=metrics,
            claims=tuple(self.stages),
            obstacles=self.obstacles,
            stats=self.stats,
            provenance=provenance,
            traceback=ended.get("traceback", ""),
            printed=printed,
            judge_inputs=self.cell.judge_inputs,
            **costs,
        )
        return Outcome(record, self.claim)


class Forkserver:
    """The client's end of `paramid.forkserver`: a context manager; `run` may be called from several threads."""

    def __init__(self, threads: int, memory: float | None = None) -> None:
        self.threads, self.memory = threads, memory  # MB, for cells that have no limit of their own
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._start()

    def _start(self) -> None:
        self._used = False
        self._scratch = tempfile.mkdtemp(prefix="paramid-")
        ours, theirs = socket.socketpair()
        pins = {name: str(self.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        self._control = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "paramid.forkserver", str(theirs.fileno()), self._scratch],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is ours to handle; our death reaches it as a closed socket
            env={**os.environ, **pins},
        )
        theirs.close()

    def __enter__(self) -> Forkserver:
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

    def run(self, cell: Cell, key: str, provenance: Mapping[str, object]) -> Outcome:
        """One cell in a child of its own. Never raises for what a method does."""
        transcript = Transcript(cell, self.threads)
        watch = self.converse({"what": "perform"}, cell, transcript)
        status, reason = watch.verdict()
        claim_waits = transcript.ended is None and transcript.claim and status is not Status.INTERRUPTED
        if claim_waits and transcript.stages[-1].kind != "Function":
            again = {"what": "rejudge", "kind": transcript.stages[-1].kind}
            self.converse(again, cell, transcript, transcript.claim)
        return transcript.outcome(key, provenance, status, reason, watch.printed)

    def converse(self, what: dict[str, Any], cell: Cell, transcript: Transcript, body: bytes = b"") -> Watch:
        """A child that does `what`, heard until it has ended."""
        ours, theirs = socket.socketpair()
        ours.settimeout(AROUND)  # a child that stops in the middle of a message
        reading, writing = os.pipe()
        try:
            with self._lock:
                if self._process.poll() is not None:  # something ended it, and every cell of its time
                    self._end()
                    self._start()
                self._used = True
                with suppress(OSError):  # it is just dying: what nobody received ends as any other channel
                    socket.send_fds(self._control, [b"c"], [theirs.fileno(), writing])
            send(ours, {**what, "cell": asdict(cell), "threads": self.threads, "memory": self.memory}, body)
            watch = Watch(ours, reading, transcript, self._stopped)
            theirs.close()
            os.close(writing)
            writing = -1
            watch.follow()
            return watch
        finally:
            ours.close()
            theirs.close()
            os.close(reading)
            if writing >= 0:
                os.close(writing)


class Watch:
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

    def follow(self) -> None:
        """Listen until the exit has been reported."""
        while self._exit is None:
            try:
                self._step()
            except KeyboardInterrupt:  # reaches the main thread only: `run`, never `compare`
                self._kill(Status.INTERRUPTED)
                self._exit = -signal.SIGKILL
        while self._printing and select.select([self._output], [], [], 0)[0]:
            self._keep()

    def _step(self) -> None:
        sources: list[socket.socket | int] = [self._channel, *([self._output] if self._printing else [])]
        ready, _, _ = select.select(sources, [], [], self._patience())
        if self._output in ready:
            self._keep()
        if self._channel in ready:
            self._channel.settimeout(max(PATIENT, min(AROUND, self._remaining())))
            try:
                self._take(*receive(self._channel))
            except TimeoutError:
                self._kill(Status.EXITED, "stopped in the middle of a message")
                self._exit = -signal.SIGKILL
            except (EOFError, OSError):
                self._killed, self._why = Status.CRASHED, "the fork server died while it ran"
                self._exit = -signal.SIGKILL
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                self._kill(Status.EXITED, f"wrote into the harness' channel: {type(error).__name__}: {error}")
                self._exit = -signal.SIGKILL
        if self._killed is None:
            if self._stopped.is_set():
                self._kill(Status.INTERRUPTED)
            elif self._overdue():
                self._kill(Status.TIMED_OUT)

    def _keep(self) -> None:
        text = os.read(self._output, 65_536)
        self._tail, self._printing = (self._tail + text)[-KEPT:], bool(text)

    def verdict(self) -> tuple[Status | None, str]:
        """The status that supervision adds, or None where the child spoke for itself."""
        if self._transcript.ended is not None:
            return None, ""
        limit = self._transcript.cell.time_limit
        if self._killed is Status.TIMED_OUT:
            spent = self._left is not None and self._left <= 0
            return Status.TIMED_OUT, f"stopped after {limit:g} s" if spent else "drawing or judging took over 600 s"
        if self._killed is not None:
            return self._killed, self._why
        if self._exit is not None and self._exit < 0:
            name = signal_name(-self._exit)
            outside = ", from outside or for want of memory" if name == "SIGKILL" else ""
            return Status.CRASHED, f"killed by signal {-self._exit} ({name}{outside})"
        return Status.EXITED, f"the process left with code {self._exit}"

    def _take(self, event: dict[str, Any], body: bytes) -> None:
        kind = event["event"]
        now = time.monotonic()
        if kind == "born":
            self._pid = event["pid"]
        elif kind == "exit":
            self._exit = event["code"]
        if kind in ("start", "claim"):
            self._running_since = now
        elif kind == "judging":
            self._pause(now)
        self._phase_since = now
        self._transcript.hear(event, body)

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
            return AROUND - (now - self._phase_since)
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
        for end in (os.killpg, os.kill):  # a child that has just been born leads no group yet
            with suppress(ProcessLookupError):
                end(self._pid, signal.SIGKILL)


def signal_name(number: int) -> str:
    """SIGKILL and the like; real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "a real-time signal"
