"""What a person sees while cells run: done, running, left, and the time it may still take."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from paramid.records.record import Record
    from paramid.running.cell import Cell


class Progress(Protocol):
    """Told of every step of a comparison."""

    def begin(self, total: int, known: int) -> None:
        """`total` cells, of which the store already holds `known`."""
        ...

    def started(self, cell: Cell) -> None:
        """A child was started; called from worker threads."""
        ...

    def ended(self, cell: Cell, record: Record | None) -> None:
        """A cell has its record, or None when another command made it."""
        ...

    def tick(self) -> None:
        """Time passed."""
        ...


class SilentProgress:
    """No progress display."""

    def begin(self, total: int, known: int) -> None:
        """Show nothing."""

    def started(self, cell: Cell) -> None:
        """Show nothing."""

    def ended(self, cell: Cell, record: Record | None) -> None:
        """Show nothing."""

    def tick(self) -> None:
        """Show nothing."""


class LineProgress:
    """One line for every finished cell; on a terminal also a live line below."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream is not None and self._stream.isatty()
        self._lock = threading.Lock()
        self._total = self._known = self._done = self._running = 0
        self._begun = time.monotonic()

    def begin(self, total: int, known: int) -> None:
        """Say what lies ahead."""
        self._total, self._known, self._begun = total, known, time.monotonic()
        held = f", {known} already in the store" if known else ""
        self._write(f"{total} cells{held}\n")

    def started(self, cell: Cell) -> None:
        """Count it."""
        del cell
        with self._lock:
            self._running += 1

    def ended(self, cell: Cell, record: Record | None) -> None:
        """One line for the cell."""
        with self._lock:
            self._running -= record is not None
            self._done += 1
        self._clear()
        said = f"{record_line(record)}" if record else "made by another command"
        place = f"[{self._known + self._done}/{self._total}]"
        state = "" if self._live else f"  ({self._state()})"
        self._write(f"{place} {cell.method}  {cell.task}  seed {cell.seed}: {said}{state}\n")

    def tick(self) -> None:
        """Renew the live line."""
        if self._live:
            self._clear()
            self._write(f"{self._known + self._done} of {self._total} done, {self._state()}")

    def _state(self) -> str:
        left = self._total - self._known - self._done - self._running
        return f"{self._running} running, {left} left, ETA {self._eta()}"

    def _eta(self) -> str:
        if not self._done:
            return "?"
        pace = (time.monotonic() - self._begun) / self._done
        seconds = round(pace * (self._total - self._known - self._done))
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}" if seconds else "0:00:00"

    def _clear(self) -> None:
        if self._live:
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        """Nobody may be reading any more: that is no reason to stop."""
        if self._stream is not None:
            with suppress(OSError):
                self._stream.write(text)
                self._stream.flush()


def record_line(record: Record) -> str:
    """A record in a few words."""
    words = [record.status.key]
    if "identified" in record.metrics:
        words.append("identified" if record.metrics["identified"] else "not identified")
    if "error" in record.metrics:
        words.append(f"error {record.metrics['error']:.1e}")
    words.append(f"{record.seconds:.2f} s")
    if record.reason:
        words.append(f"-- {record.reason}")
    return ", ".join(words)
