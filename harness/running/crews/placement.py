"""Which cell goes to which worker, and whom to blame when a worker dies. Nothing here knows of Dask.

A worker is given no more cells than it has slots. When it dies, every cell that was on it, and no other, may have been
why. Those cells are given again, and

    with `ALONE` deaths behind it  a cell runs where nothing runs beside it,
    with `MOST` it                 is named and not run again: some of them died of nothing else, or of their machine.

After `PROVEN` cells of one method nothing of that method is run any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from paramid.running.cell import Cell

ALONE, MOST, PROVEN = 2, 4, 3


@dataclass
class Worker:
    """A worker as the caller knows it."""

    name: str
    slots: int
    gpus: int = 0  # cells at once on its GPU
    accepts: bool = True  # False once it is told to leave, or has no memory to spare
    cells: dict[str, Cell] = field(default_factory=dict)
    kept_for: str = ""  # the cell that is to be alone here

    def able(self, device: str) -> bool:
        """Whether it takes cells of a device when it has nothing else to do."""
        return self.accepts and bool(self.gpus if device == "cuda" else self.slots)

    def room(self, device: str) -> int:
        """How many more cells of a device it takes."""
        if not self.accepts or self.kept_for:
            return 0
        free = self.slots - len(self.cells)
        if device != "cuda":
            return max(0, free)
        return max(0, min(free, self.gpus - sum(cell.device == "cuda" for cell in self.cells.values())))


class Placement:
    """The workers by address, what runs on them, and the cells that wait for a place."""

    def __init__(self) -> None:
        self.workers: dict[str, Worker] = {}
        self.waiting: dict[str, Cell] = {}
        self.deaths: Counter[str] = Counter()  # of workers, by the keys of the cells that were on them
        self.killers: Counter[str] = Counter()  # cells that were named, by method

    def room(self, device: str) -> int:
        """How many more cells find a place at once."""
        return sum(worker.room(device) for worker in self.workers.values()) - len(self.waiting)

    def under_way(self) -> int:
        """How many cells run or wait."""
        return len(self.waiting) + sum(len(worker.cells) for worker in self.workers.values())

    def refused(self, cell: Cell) -> str:
        """Why a cell is not run, or nothing."""
        if self.killers[cell.method] < PROVEN:
            return ""
        return f"no more cells of {cell.method} are run: {PROVEN} of them ended their workers"

    def placed(self) -> Iterator[tuple[str, Cell, str]]:
        """Waiting cells that have found a place, and its address."""
        for key, cell in list(self.waiting.items()):
            alone = self.deaths[key] >= ALONE
            address = self._place_alone(key, cell) if alone else self._place(cell)
            if address is not None:
                self.workers[address].cells[key] = self.waiting.pop(key)
                yield key, cell, address

    def _place(self, cell: Cell) -> str | None:
        """The worker with the most room."""
        best = max(self.workers, key=lambda address: self.workers[address].room(cell.device), default=None)
        return best if best is not None and self.workers[best].room(cell.device) else None

    def _place_alone(self, key: str, cell: Cell) -> str | None:
        """A worker that is kept for this cell, once it has nothing else to do."""
        kept = next((a for a, worker in self.workers.items() if worker.kept_for == key and worker.accepts), None)
        if kept is None:
            able = [a for a, worker in self.workers.items() if worker.able(cell.device) and not worker.kept_for]
            if not able:
                return None
            kept = min(able, key=lambda address: len(self.workers[address].cells))
            self.workers[kept].kept_for = key
        return None if self.workers[kept].cells else kept

    def ended(self, key: str, address: str) -> None:
        """A cell is over, or is to be placed again."""
        if (worker := self.workers.get(address)) is not None:
            worker.cells.pop(key, None)
        self._let_go()

    def _let_go(self) -> None:
        """Keep no worker for a cell that is over or went elsewhere."""
        for worker in self.workers.values():
            if worker.kept_for and worker.kept_for not in worker.cells and worker.kept_for not in self.waiting:
                worker.kept_for = ""

    def gone(self, address: str, *, died: bool) -> list[tuple[str, str]]:
        """Take a worker away. Its cells wait again, but for those that are not run any more: these, and why."""
        over: list[tuple[str, str]] = []
        lost = self.workers.pop(address).cells if address in self.workers else {}
        for key, cell in lost.items():
            self.deaths[key] += died
            if self.deaths[key] >= MOST:
                self.killers[cell.method] += 1
                why = f"the {MOST} workers that ran it died, the last with nothing beside it"
                over.append((key, f"{cell.method} before {cell.task}, seed {cell.seed}, has no record: {why}"))
            else:
                self.waiting[key] = cell
        for key, cell in list(self.waiting.items()):
            if why := self.refused(cell):
                del self.waiting[key]
                over.append((key, why))
        self._let_go()
        return over
