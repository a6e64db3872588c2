"""What the pages have in common that put our records beside a paper: how they are made, their tables, their numbers."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from paramid import plans, provenance
from paramid.naming import Name
from paramid.progress import Lines
from paramid.record import Record
from paramid.runner import Session

Made = dict[str, list[Record]]
Section = Callable[[list[Record]], Iterator[str]]
Cell = Callable[[list[Record]], str]


def reproduce(
    name: str, page: Callable[[Made], Iterator[str]], sections: Mapping[str, object], about: str | None
) -> None:
    """Run suites, or those asked for, and write docs/`name`.md."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--store", type=Path, default=Path("paramid-store"))
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / f"{name}.md")
    parser.add_argument(
        "--suites", nargs="+", choices=sections, default=list(sections), metavar="NAME", help="only these"
    )
    parser.add_argument("--workers", type=int, help="cells at once (default: one a core)")
    options = parser.parse_args()
    made = {suite: played(suite, options.store, options.workers) for suite in options.suites}
    options.out.write_text("\n".join(page(made)) + "\n", encoding="utf-8")
    print(f"wrote {options.out}")


def played(suite: str, store: Path, workers: int | None) -> list[Record]:
    """The records of a suite."""
    session = Session.planned((), (), (), suite=suite, store=store, workers=workers)
    session.play(Lines())
    return session.results()


def sections(
    title: str, name: str, context: Sequence[str], made: Made, written: Mapping[str, Section]
) -> Iterator[str]:
    """A page: where and when it was made, then a section for every suite."""
    facts = provenance.collect(0, 0)
    yield f"# {title}"
    yield ""
    yield f"*Written by `make reproduce-{name}`; change `benchmarks/reproduce_{name}.py`, not this page.*"
    yield ""
    yield f"{datetime.now(UTC):%Y-%m-%d}, commit {str(facts['commit'])[:10]}, {facts['cores']} cores of {facts['cpu']},"
    first, *rest = context
    yield f"shared with other work: seconds are upper bounds, errors and counts are not touched by it. {first}".rstrip()
    yield from rest
    for suite in made:
        yield ""
        yield f"`paramid compare --suite {suite}`: {plans.suite(suite).about}."
        yield ""
        yield from written[suite](made[suite])


def by_task(records: list[Record], *columns: tuple[str, Cell]) -> Iterator[str]:
    """A row for every task and method."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.task, record.method), []).append(record)
    yield f"| task | method | {' | '.join(name for name, _ in columns)} |"
    yield f"|---|---|{'---|' * len(columns)}"
    for (task, method), mine in groups.items():
        yield f"| {task} | {method} | {' | '.join(cell(mine) for _, cell in columns)} |"


def table(
    corner: str, columns: Iterable[float], rows: Iterable[int], cell: Callable[[int, float], str], head: str
) -> Iterator[str]:
    """A table of two options."""
    columns = list(columns)
    yield f"| {corner} | {' | '.join(head.format(f'{c:g}') for c in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {row} | {' | '.join(cell(row, c) for c in columns)} |"


def option(record: Record, name: str) -> float:
    """A numeric option of the task."""
    return float(dict(Name.parse(record.task).options)[name])


def exact(record: Record) -> bool:
    """Whether every parameter is within 1e-8."""
    return record.metrics.get("exact") == 1


def share(test: Callable[[Record], bool]) -> Cell:
    """How many of the seeds pass."""
    return lambda mine: f"{sum(map(test, mine))}/{len(mine)}"


def middle(name: str, form: str) -> Cell:
    """The median of a field or metric."""

    def cell(mine: list[Record]) -> str:
        values = [getattr(r, name) if hasattr(r, name) else r.metrics.get(name) for r in mine]
        known = [v for v in values if v is not None]
        return format(median(known), form) if known else "-"

    return cell


def statuses(mine: list[Record]) -> str:
    """How the seeds ended."""
    ends = [r.status.key for r in mine]
    return ", ".join(f"{ends.count(e)} {e}" for e in sorted(set(ends)))


def slope(x: list[float], y: list[float]) -> float:
    """The least-squares exponent of y over x."""
    import numpy as np

    return float(np.polyfit(np.log(x), np.log(y), 1)[0]) if len(x) > 1 else float("nan")
