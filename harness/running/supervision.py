"""The supervision of one warden: what it says and what its cell prints, until it has ended or says nothing any more."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

from paramid.contracts.error_statuses import killed_by
from paramid.running.transcript import Transcript
from paramid.wall.messages import receive
from paramid.words.status import Status

OUTSIDE_LIMIT = (
    600.0  # seconds granted to what is not the method, all in all: drawing, judging; and as many as it takes
)
GRACE = 5.0  # seconds for a warden to say what was spent before an interruption
LOOK = 0.2  # seconds from look to look
KEPT = 16_384  # last bytes kept of what a method prints


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
        stopped: Callable[[], bool],
        wake: Callable[[], None],
        slack: float,
    ) -> None:
        self._channel, self._output, self._transcript = channel, output, transcript
        self._stopped, self._wake, self._slack = stopped, wake, slack
        self._pid = 0
        self._exit: int | None = None
        self._killed: tuple[Status, str] | None = None
        self._asked: float | None = None  # when the warden was told to end
        self._working = False
        self._worked, self._outside = 0.0, 0.0  # seconds of the method, and of what is not
        self._since = time.monotonic()  # when one of them began

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
        if self._stopped():
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
            if self._working:
                self._worked += now - self._since
            else:
                self._outside += now - self._since
            self._working, self._since = kind == "working", now
        self._transcript.add(event, body)

    def _patience(self) -> float:
        """Seconds until the warden should have said something."""
        now = time.monotonic()
        if self._asked is not None:
            return GRACE - (now - self._asked)
        if not self._working:
            return OUTSIDE_LIMIT + self._worked - self._outside - (now - self._since)
        limit = self._transcript.cell.time_limit
        return float("inf") if limit is None else limit + self._slack - self._worked - (now - self._since)

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
            late = silent if self._working else outside
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
