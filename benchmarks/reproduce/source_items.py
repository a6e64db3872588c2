"""What a source says, piece by piece: where a page answers it, and what became of it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.reproduce.pages import Records, grid, grouped

Made = Mapping[str, Records]
Judged = tuple[bool | None, str]  # whether it holds, None where that is not decided; and the numbers that say so
NUMBER = re.compile(r"[0-9][0-9.]*(e[-+]?[0-9]+)?")
LISTED = 3
WORDS = {True: "holds", False: "**does not hold**", None: "not decided"}


@dataclass(frozen=True)
class Item:
    """An algorithm, theorem, table, figure, remark or sentence of the source.

    `judge` is None where there is nothing to judge: `word` then says what was done with it. `where` is empty where the
    page has no row for it, and `word` says why.
    """

    source: str
    says: str
    where: str = ""
    judge: Callable[[Made], Judged] | None = None
    word: str = ""
    needs: tuple[str, ...] = ()  # suites whose records it is judged by


def left_out(items: Mapping[str, str]) -> tuple[Item, ...]:
    """Items without a row, and why: of each the source and, after a colon, what it says."""
    return tuple(without_a_judge(source, "", why) for source, why in items.items())


def without_a_judge(source: str, where: str, word: str) -> Item:
    """`source` is the item and, after a colon, what it says; `word` what was done with it."""
    name, _, says = source.partition(": ")
    return Item(name, says, where, word=word)


def spread(values: Iterable[float], form: str = ".3g") -> str:
    """The least and the largest of them."""
    found = list(values)
    return f"{min(found):{form}} to {max(found):{form}}"


def every(held: Sequence[bool | None]) -> bool | None:
    """Whether all hold; one that does not is enough to say so."""
    return False if False in held else None if None in held else True


def judged(item: Item, made: Made) -> Judged:
    """The verdict on an item; undecided where its records are missing or say nothing."""
    if item.judge is None:
        raise ValueError(f"{item.source} has no judge")
    if missing := [name for name in item.needs if not made.get(name)]:
        return None, f"no records of {', '.join(missing)}"
    try:
        held, numbers = item.judge(made)
    except ValueError:  # the least or largest of nothing
        held, numbers = None, ""
    return held, numbers or "too few runs say anything of it"


def verdicts(items: Sequence[Item], made: Made) -> Iterator[str]:
    """Line by line: what the source says, whether it holds, and the numbers."""
    for item in items:
        if item.judge is not None:
            held, numbers = judged(item, made)
            yield f"- {item.source}, *{item.says}*: {WORDS[held]}; {numbers}."


def whole(items: Sequence[Item], made: Made) -> Iterator[str]:
    """Source item, where it stands, verdict; then what has no row, with the reason."""
    yield from ("", "## The source, item by item", "")
    told = [item for item in items if item.where]
    rows = (
        (cell(item.source), cell(item.says), item.where, WORDS[judged(item, made)[0]] if item.judge else item.word)
        for item in told
    )
    yield from grid(("source", "what it is or says", "where", "verdict"), rows)
    yield from ("", "## Not reproduced", "")
    for item in items:
        if not item.where:
            yield f"- {item.source}, {item.says}: {item.word}."


def cell(text: str) -> str:
    """Text whose bars end no cell of a table."""
    return text.replace("|", "\\|")


def failures(made: Made) -> Iterator[str]:
    """Cells that ended otherwise than finished, by suite, method and reason with its numbers left out."""
    yield from ("", "## Cells that did not finish", "")
    rows = []
    for suite, records in sorted(made.items()):
        lost = [r for r in records if r.status.key != "finished"]
        groups = grouped(lost, lambda r: (r.method, r.status.key, NUMBER.sub("…", r.reason)))
        rows += [(suite, *told, str(len(mine)), tasks_of(mine)) for told, mine in sorted(groups.items())]
    yield from grid(("suite", "method", "ended", "reason", "cells", "tasks"), rows)


def tasks_of(records: Records) -> str:
    """Up to `LISTED` of their tasks, and how many more there are."""
    tasks = list(dict.fromkeys(r.task for r in records))
    more = f" and {len(tasks) - LISTED} more" if len(tasks) > LISTED else ""
    return ", ".join(tasks[:LISTED]) + more
