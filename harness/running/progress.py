"""What a person sees while cells run: what is done, what each worker does, what is left and how long it may take."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, deque
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, TextIO

from paramid.records.escaping import for_terminal
from paramid.running.terminal import cropped, live, on_terminal, show_line
from paramid.words.status import Status

if TYPE_CHECKING:
    from rich.console import RenderableType

    from paramid.records.record import Record
    from paramid.running.cell import Cell

FAILURES = 3  # the last ones stay in sight
NAMED, LONGEST = 4, 30  # workers of a cluster whose cells are told, and cells that are shown while they run
ELSEWHERE = "made by another command"
NO_FAILURES = (Status.FINISHED.key, Status.DECLINED.key, ELSEWHERE)


class Progress:
    """Told of every step of a comparison; shows nothing."""

    def begin(self, total: int, known: int, workers: int) -> None:
        """`total` cells, of which the store already holds `known`."""

    def started(self, cell: Cell) -> None:
        """A cell was given to those who run it."""

    def ended(self, cell: Cell, record: Record | str) -> None:
        """A cell has its record, or why it has none of this command's."""

    def say(self, line: str) -> None:
        """Something happened that is of no cell."""

    def close(self) -> None:
        """The comparison is over, one way or another."""


class Tally(Progress):
    """Keeps what a display needs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Cell, float] = {}  # and when they were started
        self._spent, self._ended = 0.0, 0  # seconds of the cells that ended here, and how many
        self._shares: Counter[str] = Counter()  # cells that ended on each worker of a cluster
        self.total = self.done = self.workers = 0
        self.ahead = ""

    def begin(self, total: int, known: int, workers: int) -> None:
        """What lies ahead."""
        self.total, self.done, self.workers = total, known, workers
        self.ahead = f"{total} cells{f', {known} already in the store' if known else ''}"

    def started(self, cell: Cell) -> None:
        """Take the time."""
        with self._lock:
            self._running[cell] = time.monotonic()

    def ended(self, cell: Cell, record: Record | str) -> None:
        """Count it."""
        with self._lock:
            since = self._running.pop(cell, None)
            self.done += 1
            if not isinstance(record, str) and since is not None:
                self._spent, self._ended = self._spent + time.monotonic() - since, self._ended + 1
                self._shares.update({str(record.provenance["worker"])} if "worker" in record.provenance else ())

    def running(self) -> list[tuple[Cell, float]]:
        """The cells at work, and for how many seconds."""
        now = time.monotonic()
        with self._lock:
            return [(cell, now - since) for cell, since in self._running.items()]

    def state(self) -> str:
        """How many run and are left, and the time that it may take."""
        elapsed, left = [seconds for _, seconds in self.running()], self.total - self.done
        seconds = remaining(self._spent + sum(elapsed), self._ended, left, max(self.workers, len(elapsed)))
        eta = "-" if seconds is None else clock(seconds)
        return f"{len(elapsed)} running, {left - len(elapsed)} left, ETA {eta}{self.shares()}"

    def shares(self) -> str:
        """How many cells ended on each worker of a cluster; of many workers, the fewest and the most."""
        counts = self._shares.values()
        if len(counts) > NAMED:
            return f", {len(counts)} workers: {min(counts)} to {max(counts)} cells each"
        return "".join(f", {name}: {count}" for name, count in sorted(self._shares.items()))


class LineProgress(Tally):
    """One line for every finished cell."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self._stream = stream or sys.stderr

    def begin(self, total: int, known: int, workers: int) -> None:
        """Say what lies ahead."""
        super().begin(total, known, workers)
        self._write(self.ahead)

    def ended(self, cell: Cell, record: Record | str) -> None:
        """One line for the cell."""
        super().ended(cell, record)
        ended = record if isinstance(record, str) else record.ended
        self._write(f"[{self.done}/{self.total}] {cell_line(cell)}: {ended}  ({self.state()})")

    def say(self, line: str) -> None:
        """A line of its own."""
        self._write(f"paramid: {line}")

    def _write(self, line: str) -> None:
        """Nobody may be reading any more: that is no reason to stop."""
        if self._stream is not None:
            with suppress(OSError):
                self._stream.write(f"{for_terminal(line)}\n")
                self._stream.flush()


class LiveProgress(Tally):
    """A display in place on standard error's terminal, of which one line stays."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = time.monotonic()
        self._shown = ExitStack()
        self._endings: Counter[str] = Counter()
        self._failures: deque[str] = deque(maxlen=FAILURES)
        self._said: list[str] = []

    def begin(self, total: int, known: int, workers: int) -> None:
        """Open the display if anything is to be done."""
        super().begin(total, known, workers)
        if known < total:
            self._shown.enter_context(live(self.display))

    def ended(self, cell: Cell, record: Record | str) -> None:
        """Count how it ended; a failure is shown with its reason."""
        super().ended(cell, record)
        ending, why = (record, "") if isinstance(record, str) else (record.status.key, record.reason)
        self._endings[ending] += 1
        if ending not in NO_FAILURES:
            told = f": {why}" if why else ""
            self._failures.append(f"{cell.method} {ending}{told}  ({cell.task}  seed {cell.seed})")

    def say(self, line: str) -> None:
        """Among the failures; it stays when the display has gone."""
        self._failures.append(line)
        self._said.append(line)

    def close(self) -> None:
        """Leave one line, and what was said."""
        self._shown.close()
        for line in self._said:
            show_line(f"paramid: {line}")
        ended = ", ".join(f"{n} {ending}" for ending, n in self._endings.most_common())
        left = f"{self.total - self.done} left" if self.done < self.total else ""
        took = f"in {clock(time.monotonic() - self._begun)}" if ended or left else ""
        show_line(", ".join(filter(None, (self.ahead, ended, left, took))))

    def display(self) -> RenderableType:
        """How far it is, what failed last, and what each worker does."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        failed = sum(n for ending, n in list(self._endings.items()) if ending not in NO_FAILURES)
        state = f"{f'{failed} failed, ' if failed else ''}{self.state()}"
        head = Table.grid(padding=(0, 1))
        head.add_row(
            cropped(f"[{self.done}/{self.total}]"), ProgressBar(self.total, self.done, width=20), cropped(state)
        )
        shown = sorted(self.running(), key=lambda one: -one[1])[:LONGEST]
        failures = [cropped(f"  {failure}", "red") for failure in list(self._failures)]
        return Group(head, *failures, *(cropped(worker_line(*running)) for running in shown))


def progress() -> Progress:
    """What suits standard error: a live display on a terminal, lines elsewhere."""
    return LiveProgress() if on_terminal() else LineProgress()


def remaining(spent: float, ended: int, left: int, workers: int) -> float | None:
    """Seconds until all have ended, where cells that ended took `spent` with those that run; None where nobody knows.

    What runs and has not ended tells as much of the pace as what has: a cell that hangs must not look like nothing.
    """
    return spent / ended * left / max(1, min(workers, left)) if ended else None


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def cell_line(cell: Cell) -> str:
    """A cell in a few words."""
    return f"{cell.method}  {cell.task}  seed {cell.seed}"


def worker_line(cell: Cell, elapsed: float) -> str:
    """What a worker does, and since when."""
    limit = f" of {cell.time_limit:g}" if cell.time_limit else ""
    return f"{elapsed:5.0f}{limit} s  {cell_line(cell)}"
