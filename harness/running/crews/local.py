"""A crew on this machine: threads, each of which supervises one cell at a time."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from paramid.records.record import Outcome
from paramid.running.cell import Cell
from paramid.running.crews.crew import Ended, drained
from paramid.running.supervisor import Supervisor


class Local:
    """So many cells at once, in children of one supervisor's servers."""

    def __init__(self, supervisor: Supervisor, workers: int, facts: Mapping[str, object]) -> None:
        self._supervisor, self._free, self._facts = supervisor, workers, facts
        self._pool = ThreadPoolExecutor(workers)
        self._ended: queue.SimpleQueue[tuple[str, Outcome | BaseException]] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._supervisor.stop()  # running cells end
        self._pool.shutdown(cancel_futures=True)
        self._supervisor.__exit__(*error)

    def takes(self, cell: Cell) -> bool:  # noqa: ARG002 -- any cell is taken here
        """Whether a thread is free."""
        return self._free > 0

    def start(self, key: str, cell: Cell) -> None:
        """Have a thread supervise it."""
        self._free -= 1
        self._pool.submit(self._perform, key, cell)

    def _perform(self, key: str, cell: Cell) -> None:
        try:
            self._ended.put((key, self._supervisor.run(cell, key, self._facts)))
        except BaseException as error:  # the harness' own: raised where the cells are awaited
            self._ended.put((key, error))

    def ended(self, patience: float) -> Iterator[Ended]:
        """What the threads have."""
        for key, made in drained(self._ended, patience):
            self._free += 1
            if isinstance(made, BaseException):
                raise made
            yield key, made
