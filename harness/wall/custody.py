"""The warden's hold on a method's process, through its keeper: stop, go on, end."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from paramid.wall.messages import receive

PATIENCE = 10.0  # seconds for a keeper to answer


@dataclass(frozen=True)
class Left:
    """What a method's process and all that came of it have used, and its exit; no code where we killed it."""

    code: int | None = None
    peak_mb: float = 0.0
    cpu_seconds: float = 0.0
    out_of_memory: bool = False
    awoke: bool = False  # it worked while it was to stand still
    walls: str = "none"
    lost: bool = False  # its keeper was gone: what it used is not known


class Custody:
    """One cell's method, held by its keeper."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel, self.left, self._pid, self._stopped = channel, Left(lost=True), 0, False
        self.ended = False

    def fileno(self) -> int:
        """For `poll`: readable when there is news."""
        return self.channel.fileno()

    def stop(self) -> bool:
        """Stop everything; whether it stands still when this returns, or has ended."""
        if not self.ended:
            self._order(b"s")
            self._stopped = True
            self._listen("stopped")
        return self.left.code is not None if self.ended else True

    def go_on(self) -> bool:
        """Let everything go on; whether it does: what has worked while it was to stand still is ended."""
        if not self.ended and self._stopped:
            self._stopped = False
            self._order(b"c")
            self._listen("going")
        return not self.ended

    def end(self) -> Left:
        """Kill everything; what it has used."""
        if not self.ended:
            self._order(b"k")
            self._listen("left")
        return self.left

    def news(self) -> None:
        """Read what the keeper says by itself."""
        self._listen("")

    def _order(self, order: bytes) -> None:
        with suppress(OSError):  # what nobody received ends as any other silence
            self.channel.sendall(order)

    def _listen(self, awaited: str) -> None:
        """Read messages until the one that is awaited, or one where none is, or the end."""
        until = time.monotonic() + PATIENCE
        while not self.ended:
            try:
                self.channel.settimeout(max(0.001, until - time.monotonic()))
                message, _ = receive(self.channel)
            except (OSError, EOFError, ValueError):
                self._kill()
                return
            self._take(message)
            if message["event"] == awaited or not awaited:
                return

    def _take(self, message: dict[str, Any]) -> None:
        event = message.pop("event")
        if event == "forked":
            self._pid = message["pid"]
        elif event == "walls":
            self.left = Left(walls=message["walls"], lost=True)
        elif event == "left":
            self.ended, self.left = True, Left(**message, walls=self.left.walls)
        elif event == "exit":
            self.ended = True
        message["event"] = event

    def _kill(self) -> None:
        """The keeper does not answer."""
        self.ended = True
        if self._pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
