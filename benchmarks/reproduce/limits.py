"""docs/limits.md: how far errors are from what the values say at best, and what more rows buy.

About twenty minutes on two cores.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    IDENTIFIED,
    SECONDS,
    Cell,
    Column,
    Page,
    Records,
    Section,
    by_task,
    middle,
    slope,
)
from paramid.records.record import Record
from paramid.words.naming import Name


def worst(record: Record) -> float:
    """The largest error of a parameter."""
    return 2.0 ** -record.metrics.get("bits", float("-inf"))


def over(name: str) -> Cell:
    """The error as a multiple of a bound: the median, of failures infinite."""

    def cell(mine: Records) -> str:
        return f"{median(multiple(r, name) for r in mine):.2g}"

    return cell


def multiple(record: Record, name: str) -> float:
    """The error over a bound; infinite where nothing was identified."""
    bound = record.metrics.get(name)
    return worst(record) / bound if bound and record.metrics.get("identified") == 1 else float("inf")


COLUMNS: tuple[Column, ...] = (
    IDENTIFIED,
    ("largest error", lambda mine: f"{median(map(worst, mine)):.1e}"),
    ("over its bound", over("bound")),
    ("over that of as many well-placed rows", over("bound_placed")),
    ("rows a parameter", middle("rows_per_parameter", ",.0f")),
    SECONDS,
    ENDED,
)


def target(record: Record) -> str:
    """The precision that a method was asked for, or nothing."""
    return dict(Name.parse(record.method).options).get("target", "")


def noisy(records: Records) -> Iterator[str]:
    """Errors beside bounds."""
    yield from by_task([r for r in records if not target(r)], *COLUMNS)
    yield from (
        "",
        "The same methods told how exact it is to be (`target`): they spend until three bounds are below it.",
    )
    yield ""
    yield from by_task([r for r in records if target(r)], *COLUMNS)


def findings(made: Mapping[str, Records]) -> Iterator[str]:
    """Whether the bound is attained, and whether errors fall as the root of the rows."""
    records = made["precision"]
    plain = [r for r in records if not target(r)]
    for method, ours in groupby(plain, key=lambda r: r.method):
        kept = list(ours)
        far = [(median(multiple(r, name) for r in kept)) for name in ("bound", "bound_placed")]
        yield f"- `{method}`: the median error over all noise levels is {far[0]:.2g} times the bound of the rows shown,"
        yield f"  {far[1]:.2g} times that of as many well-placed ones."
    asked = [r for r in records if target(r) and r.metrics.get("identified") == 1]
    for task, ours in groupby(sorted(asked, key=lambda r: r.task), key=lambda r: r.task):
        kept = list(ours)
        rows = [r.queries for r in kept]
        met = sum(worst(r) <= float(target(r)) for r in kept)
        yield f"- `{task}`: the error falls as rows^{slope(rows, map(worst, kept)):.2f} (noise allows −1/2);"
        yield f"  the target is met in {met} of {len(kept)} runs."


PAGE = Page(
    name="limits",
    title="How far from the limit",
    sources="""A value is one equation, and under noise no estimate without bias is better than the Cramér-Rao bound
([metrics.md](metrics.md)). *largest error* is that of any parameter, of its largest 2 to 3 bounds are what chance
leaves; medians over seeds, a network that was not found counts as infinitely wrong.""",
    sections={"precision": Section("Under noise", noisy)},
    findings=findings,
)
