"""The seam between a comparison and those who perform its cells.

A crew decides where a cell runs and no more: the comparison keeps the store, its locks and the order. It asks whether a
crew takes another cell before it gives it, so that none waits inside the crew.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self, TypeVar

from paramid.records.record import Outcome
from paramid.running.cell import Cell

T = TypeVar("T")
Ended = tuple[str, Outcome | str]  # a key and what became of its cell, or why there is nothing


class CrewError(RuntimeError):
    """A crew that is gone. What the store holds is safe."""


class Crew(Protocol):
    """Performs cells. When its block is left, those that still run are ended and not heard of again."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        ...

    def takes(self, cell: Cell) -> bool:
        """Whether there is room for it now."""
        ...

    def start(self, key: str, cell: Cell) -> None:
        """Perform it."""
        ...

    def ended(self, patience: float) -> Iterator[Ended]:
        """The cells that have ended meanwhile; waits so many seconds for the first."""
        ...


def drained(source: queue.SimpleQueue[T], patience: float) -> Iterator[T]:
    """All that is in a queue, after a wait for the first."""
    try:
        yield source.get(timeout=patience)
        while True:
            yield source.get_nowait()
    except queue.Empty:
        return
