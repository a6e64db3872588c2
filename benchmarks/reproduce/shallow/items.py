"""Items of the page beside the thesis whose verdicts are computed where they are written, and checks of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.reproduce.source_items import Item, without_a_judge

FLAT = 0.1  # exponent of D up to which what is measured counts as free of it
MODERATE = 10  # what a constant that the thesis leaves open may be
NEAR = 0.2  # how far an exponent may be from that of a law


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


def verdict(source: str, held: bool | None, why: str, *, where: str = "") -> Item:
    """`source` is the item and, after a colon, what it says; None where that is not decided; a check places its own."""
    name, _, says = source.partition(": ")
    return Item(name, says, where, lambda _: (held, why.rstrip(".")))


def upward(value: float) -> str:
    """What suffices, rounded up to two digits."""
    if not 0 < value < math.inf:
        return f"{value:.2g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / unit - 1e-9) * unit:.2g}"


def by_tests(items: Mapping[str, str]) -> tuple[Item, ...]:
    """Items, and the tests that check them."""
    return tuple(without_a_judge(source, where, "holds") for source, where in items.items())
