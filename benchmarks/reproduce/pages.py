"""What the pages share: suites played, tables over tasks or over two options, figures, fitted exponents."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TypeVar

from paramid.pictures.sheet import Figure
from paramid.pictures.svg import save
from paramid.records import provenance
from paramid.records.record import Record
from paramid.running import suites
from paramid.running.compare import Comparison
from paramid.running.progress import progress
from paramid.words.naming import Name, UsageError

K = TypeVar("K", bound=Hashable)
Cell = Callable[[list[Record]], str]
Column = tuple[str, Cell]
Records = list[Record]


@dataclass(frozen=True)
class Section:
    """What a page says of one suite."""

    title: str
    text: Callable[[Records], Iterator[str]]
    figures: Mapping[str, Callable[[Records], Figure]] = field(default_factory=dict)  # by caption


@dataclass(frozen=True)
class Page:
    """A page of docs/: `name`.md, its figures in `name`/."""

    name: str
    title: str
    sources: str  # hardware and reference of the numbers beside ours
    sections: Mapping[str, Section]  # by suite
    findings: Callable[[Mapping[str, Records]], Iterator[str]] | None = None  # what held of the paper's statements


def played(suite: str, store: Path, workers: int | None = None) -> Records:
    """The records of a suite; what the store holds is not run again."""
    comparison = Comparison.planned((), (), suite=suite, store=store, workers=workers)
    comparison.run_missing(progress())
    return comparison.results()


def write(page: Page, made: Mapping[str, Records], folder: Path) -> Iterator[Path]:
    """Write the page and its figures into `folder`; their paths."""
    for suite, records in made.items():
        for number, draw in enumerate(page.sections[suite].figures.values(), 1):
            (folder / page.name).mkdir(parents=True, exist_ok=True)
            if drawn := figure(draw, records):
                path = folder / page.name / f"{suite}-{number}.svg"
                save(drawn, path)
                yield path
    path = folder / f"{page.name}.md"
    path.write_text("\n".join(lines(page, made)) + "\n", encoding="utf-8")
    yield path


def figure(draw: Callable[[Records], Figure], records: Records) -> Figure | None:
    """The figure, or None where these records have nothing to draw."""
    try:
        return draw(records)
    except UsageError:
        return None


def lines(page: Page, made: Mapping[str, Records]) -> Iterator[str]:
    """The page, line by line."""
    yield f"# {page.title}"
    yield ""
    name = page.name.replace("-", "_")
    source = f"benchmarks/reproduce/{name}{'/' if Path(__file__).with_name(name).is_dir() else '.py'}"
    yield f"*Written by `make reproduce-{page.name}`; change `{source}`, not this page.*"
    yield ""
    yield f"Measured: {', '.join(provenance.made_on([r for records in made.values() for r in records]))}."
    yield from page.sources.splitlines()
    for suite, records in made.items():
        section = page.sections[suite]
        yield from ("", f"## {section.title}", "")
        yield f"`paramid compare --suite {suite}`: {suites.suite(suite).about}."
        yield ""
        yield from section.text(records)
        for number, (caption, draw) in enumerate(section.figures.items(), 1):
            if figure(draw, records):
                yield from ("", f"![{caption}]({page.name}/{suite}-{number}.svg)", "", f"*{caption}.*")
    if page.findings:
        yield from ("", "## What held of the statements, and what did not", "")
        yield from page.findings(made)


def headed(title: str, text: Iterable[str]) -> Iterator[str]:
    """A part of a section, with its title."""
    yield from ("", f"### {title}", "")
    yield from text


def grouped(records: Iterable[Record], key: Callable[[Record], K]) -> dict[K, Records]:
    """Records of one key each, in the order in which keys first come."""
    groups: dict[K, Records] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def by_setting(records: Records) -> dict[tuple[str, str], Records]:
    """Records of one task and method each."""
    return grouped(records, lambda r: (r.task, r.method))


def by_task(records: Records, *columns: Column) -> Iterator[str]:
    """A row for every task and method."""
    rows = ((*names, *(cell(mine) for _, cell in columns)) for names, mine in by_setting(records).items())
    yield from grid(("task", "method", *(name for name, _ in columns)), rows)


def by_options(
    corner: str, columns: Iterable[float], rows: Iterable[float], cell: Callable[[float, float], str], head: str
) -> Iterator[str]:
    """A table of two options."""
    columns = list(columns)
    body = ((f"{row:g}", *(cell(row, c) for c in columns)) for row in rows)
    yield from grid((corner, *(head.format(f"{c:g}") for c in columns)), body)


def grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table of Markdown."""
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def option(name: str, which: str) -> float:
    """A numeric option of a method or task as written."""
    return float(dict(Name.parse(name).options)[which])


def exact(record: Record) -> bool:
    """Whether every parameter is within 1e-8."""
    return record.metrics.get("exact") == 1


def largest(record: Record) -> float:
    """The largest error of a parameter."""
    return max(record.metrics.get(n, float("inf")) for n in ("weight_error", "bias_error_max", "outer_error"))


def share(test: Callable[[Record], bool]) -> Cell:
    """How many of the seeds pass."""
    return lambda mine: f"{sum(map(test, mine))}/{len(mine)}"


def middle(name: str, form: str) -> Cell:
    """The median of a field or metric."""

    def cell(mine: Records) -> str:
        values = [getattr(r, name) if hasattr(r, name) else r.metrics.get(name) for r in mine]
        known = [v for v in values if v is not None]
        return format(median(known), form) if known else "-"

    return cell


def statuses(mine: Records) -> str:
    """How the seeds ended."""
    ends = [r.status.key for r in mine]
    return ", ".join(f"{ends.count(e)} {e}" for e in sorted(set(ends)))


def duration(mine: Records) -> str:
    """The median seconds, to two figures and no exponent."""
    seconds = median(r.seconds for r in mine)
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


def slope(x: Iterable[float], y: Iterable[float]) -> float:
    """The least-squares exponent of y over x."""
    import numpy as np

    xs, ys = list(x), list(y)
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0]) if len(set(xs)) > 1 else float("nan")


SEEDS: Column = ("seeds", lambda mine: str(len(mine)))
IDENTIFIED: Column = ("identified", share(lambda r: r.metrics.get("identified") == 1))
EXACT: Column = ("exact", share(exact))
ENDED: Column = ("ended", statuses)
ERROR: Column = ("largest parameter error", lambda mine: f"{median(map(largest, mine)):.1e}")
SECONDS: Column = ("seconds", duration)
QUERIES: Column = ("queries", middle("queries", ",.0f"))
MEMORY: Column = ("peak MB", middle("peak_mb", ",.0f"))
