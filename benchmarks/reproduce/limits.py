"""docs/limits.md: how many values a parameter takes, how many neurons can be told, how exact errors are under noise.

About forty minutes on two cores.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    ERROR,
    EXACT,
    IDENTIFIED,
    MEMORY,
    QUERIES,
    SECONDS,
    Cell,
    Column,
    Page,
    Records,
    Section,
    by_task,
    exact,
    grid,
    grouped,
    middle,
    option,
    slope,
)
from paramid.judging.obstacles import told_apart
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


def rows(records: Records) -> Iterator[str]:
    """Rows beside what the function determines."""
    yield "*parameters* are those that the function determines: no method can do with fewer exact values."
    yield ""
    parameters = ("parameters", middle("parameters", ",.0f"))
    each = ("rows a parameter", middle("rows_per_parameter", ",.1f"))
    yield from by_task(records, parameters, IDENTIFIED, WORST, QUERIES, each, SECONDS, ENDED)


WORST: Column = ("largest error", lambda mine: f"{median(map(worst, mine)):.1e}")
COLUMNS: tuple[Column, ...] = (
    IDENTIFIED,
    WORST,
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


def rows_each(mine: Records) -> str:
    """The median rows for each of the m(D+1) parameters."""
    each = (r.queries / (option(r.task, "m") * (option(r.task, "D") + 1)) for r in mine)
    return f"{median(each):.2f}"


ROWS_EACH = ("rows over m(D+1)", rows_each)


def few_rows(records: Records) -> Iterator[str]:
    """Rows beside parameters, by either route."""
    yield "Counted over m(D+1), the norms that are told among them."
    yield ""
    yield from by_task(records, EXACT, ERROR, QUERIES, ROWS_EACH, SECONDS, MEMORY, ENDED)


def many_neurons(records: Records) -> Iterator[str]:
    """Bounds of uniqueness beside the largest m that was solved."""
    yield "Rank-ones of order s are the only ones in their span up to m = C(D+s-1, s) - D. Beside it, of the m that"
    yield "were tried, the largest that was solved to rounding from every seed."
    yield ""
    yield from grid(("D", "order 2", "order 3", "order 4", "largest m solved"), map(list, bounds(records)))
    yield ""
    yield from by_task(records, EXACT, ERROR, QUERIES, ROWS_EACH, SECONDS, ENDED)


def bounds(records: Records) -> Iterator[tuple[str, ...]]:
    """A row for every D."""
    for d, of_size in sorted(grouped(records, lambda r: int(option(r.task, "D"))).items()):
        tried = grouped(of_size, lambda r: int(option(r.task, "m")))
        solved = [m for m, mine in tried.items() if all(map(exact, mine))]
        told = (f"{told_apart(d, s):,}" for s in (2, 3, 4))
        yield f"{d}", *told, f"{max(solved):,}" if solved else "-"


def findings(made: Mapping[str, Records]) -> Iterator[str]:
    """Whether the bound is attained, and whether errors fall as the root of the rows."""
    records = made.get("precision", [])
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
    sections={
        "rows": Section("Rows a parameter", rows),
        "few-rows": Section("Wide networks from few rows", few_rows),
        "many-neurons": Section("Many more neurons than D(D-1)/2", many_neurons),
        "precision": Section("Under noise", noisy),
    },
    findings=findings,
)
