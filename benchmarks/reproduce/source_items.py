"""What a source says, item by item: where a page takes it up, the verdict, and why.

A verdict is chosen by code from the numbers beside it. An item without a row is not reproduced, for a reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from benchmarks.reproduce.pages import grid

HERE = ""  # an item of a check stands under the check's own title
HOLDS, FAILS, OPEN, MISSING = "holds", "does not hold", "not decided", "not reproduced"


@dataclass(frozen=True)
class Item:
    """A theorem, table, figure, algorithm, remark or sentence of a source."""

    source: str
    where: str  # a section of the page, or a test
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Check:
    """A numerical check beside the suites: its title, its lines, and the items that it settles."""

    title: str
    lines: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def placed(self) -> tuple[Item, ...]:
        """The items, with the title as where they are."""
        return tuple(replace(item, where=self.title.partition(" (")[0]) for item in self.items)


def judged(holds: bool | None) -> str:
    """The word for what was decided, or was not."""
    return OPEN if holds is None else HOLDS if holds else FAILS


def statements(items: Iterable[Item]) -> Iterator[str]:
    """A line for every item that says why."""
    yield from (f"- {i.source}: **{i.verdict}**. {i.why}" for i in items if i.why and i.verdict != MISSING)


def table(items: Iterable[Item]) -> Iterator[str]:
    """Every item, where it is and its verdict."""
    yield from grid(("source", "where", "verdict"), ((i.source, i.where, i.verdict) for i in items))


def missing(items: Iterable[Item]) -> Iterator[str]:
    """The items without a row, with the reason."""
    yield from (f"- {i.source}: {i.why}" for i in items if i.verdict == MISSING)
