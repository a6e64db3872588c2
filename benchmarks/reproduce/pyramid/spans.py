"""§4.2.3 of the thesis: spans of Hessians and their rank-ones over sizes, and where they break down.

To first order in x near 0 the Hessians of an output are a constant and D slopes, and a linear output is a fixed mixture
of the m_{L-1} units below it. With r = min(m_L, m_{L-1}), at most

    (1)  T = (D + 1) r   dimensions are seen where outputs are linear,
    (2)  T = (D + 1) r, and m_L more where m_{L-1} < m_L,   where they bend: then each has a square of its own;

beyond T the next direction is of second order in ‖x‖, like the drift of entangled weights, and the gap closes.

Reference: Rauchensteiner 2023, §4.2.3, Figures 4.2 to 4.4.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import exp

from benchmarks.reproduce.pages import Records, grid, grouped, headed
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid.records import average, value, word
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure
from paramid.records.record import Record
from paramid.tasks.pyramid import Pyramid
from paramid.words.naming import Name, configure

SUITE = "deep-4.2"
REDUCED = """Points and their number as printed: uniform on the sphere of radius R, 20 ⌈m / m_L⌉ of them. Reduced: D
= 30 and m_L = 5 for the thesis' D = 100 and m_L = 10 (D m_L = 150 for 1000), one seed a cell, at most 600 ascents
of 500 steps for its 10 000 of 15 000, which end once they move by less than 1e-6. The thesis announces L = 2 to 5 and
c = 0.25, 0.5, 0.7, 1 and shows L = 2 to 4, c = 0.75; its curves are figures whose numbers are not in its text. Sizes
are left out at which the layer below the outputs would be narrower than they are, which does not happen at its D: see
the last table."""
LAW = """To first order in x the Hessians of an output are a constant and D slopes, so that m_L outputs show (D + 1) m_L
dimensions; and a linear output is a fixed mixture of the m_{L-1} units below it. With r = min(m_L, m_{L-1}) that makes
T = (D + 1) r, and m_L more where outputs bend and m_{L-1} < m_L: each has then a square of its own. Past T the next
direction is of second order in ‖x‖, no larger than what entangled weights drift by, and the gap closes. In the thesis'
networks m_{L-1} > m_L, and T is nearly its D m_L."""
Points = Sequence[tuple[float, float]]
BROKEN = 0.2  # Δ / √m beyond which a span is taken for lost
STARTS = 600  # ascents at most


def task_of(record: Record) -> Pyramid:
    """Its task."""
    return named(record.task)


@cache
def named(task: str) -> Pyramid:
    """The task of that name."""
    return configure(Pyramid, Name.parse(task))


def size(record: Record) -> int:
    """m*, the number of neurons that bend."""
    task = task_of(record)
    return sum(task.shape) - (task.shape[-1] if task.output == "identity" else 0)


def ratio(record: Record) -> float:
    """M* over D m_L, to two digits."""
    task = task_of(record)
    return round(size(record) / (task.D * task.shape[-1]), 2)


def threshold(task: Pyramid) -> int:
    """T of (1) and (2)."""
    below, outputs = task.shape[-2:]
    return (task.D + 1) * min(below, outputs) + (outputs if task.output == "tanh" and below < outputs else 0)


def error(mine: Records) -> float | None:
    """The mean of Δ / √m*."""
    return average(
        e / size(r) ** 0.5 for r in mine if (e := value(deep.span(r), "subspace_error_frobenius")) is not None
    )


def gap(mine: Records) -> float | None:
    """The mean of σ_{m*} / σ_{m*+1}."""
    return average(r.stats.get("singular_gap") for r in mine)


def radius(record: Record) -> float:
    """R of the points of Hessians."""
    return float(deep.options(record.method).get("radius", 0.1))


def swept(records: Records) -> Records:
    """Figures 4.2 and 4.3."""
    return [r for r in records if "until=directions" in r.method]


def squeezed(records: Records) -> Records:
    """Figure 4.4."""
    return [r for r in records if "until=subspace" in r.method and "layers=3" in r.task]


def growing(records: Records) -> Records:
    """Networks with more outputs than units below."""
    return [r for r in records if "until=subspace" in r.method and "widths=" in r.task]


def text(records: Records) -> Iterator[str]:
    """Figures 4.2 to 4.4 and the law."""
    yield from REDUCED.splitlines()
    yield from headed("Figure 4.2: the span", spans(records))
    yield from headed("Figure 4.3: the rank-ones", rank_ones(records))
    yield from headed("Figure 4.4: the transition", transition(records))
    yield from headed("What the transition is", law(records))


def lines_of(records: Records) -> Mapping[tuple[int, float, float], Records]:
    """The runs of Figures 4.2 and 4.3 by L, c and R."""

    def line(record: Record) -> tuple[int, float, float]:
        return task_of(record).layers or 0, task_of(record).contraction, radius(record)

    return grouped(sorted(swept(records), key=line), line)


def table(records: Records, cell: Callable[[Records], str]) -> Iterator[str]:
    """A row for every L, c and R over m / (D m_L)."""
    columns = sorted({ratio(r) for r in swept(records)})
    rows = []
    for (layers, c, r), mine in lines_of(records).items():
        cells = (cell([x for x in mine if ratio(x) == at]) for at in columns)
        rows.append((str(layers), "-" if layers == 2 else f"{c:g}", f"{r:g}", *cells))
    yield from grid(("L", "c", "R", *(f"{at:g}" for at in columns)), rows)


def spans(records: Records) -> Iterator[str]:
    """Figure 4.2."""
    yield "Δ / √m over m / (D m_L)."
    yield ""
    yield from table(records, lambda mine: word(error(mine)))


def rank_ones(records: Records) -> Iterator[str]:
    """Figure 4.3."""
    yield "Share of entangled weights within 0.05 of a direction found (4.54), and of directions found that are"
    yield "farther than that from every one. Of ends with ‖P(u uᵀ)‖² > 0.5 one is kept for a neuron found several"
    yield "times, and at most as many as the span has dimensions, best first, where the thesis counts all that pass its"
    yield f"check. Of m weights that attract alike, {STARTS} ascents leave a share e^(-{STARTS} / m) unfound:"
    yield f"{unfound()}."
    yield ""
    yield from table(records, lambda mine: f"{word(found(mine))}, {word(strays(mine))}")


def unfound() -> str:
    """Shares left by so few ascents."""
    return ", ".join(f"{exp(-STARTS / m):.1g} at m = {m}" for m in (75, 105, 150, 195))


def found(mine: Records) -> float | None:
    """The mean share of entangled weights found."""
    return average(value(deep.directions(r), "entangled_found") for r in mine)


def strays(mine: Records) -> float | None:
    """The mean share of false positives."""
    return average(value(deep.directions(r), "entangled_strays") for r in mine)


def transition(records: Records) -> Iterator[str]:
    """Figure 4.4."""
    mine = squeezed(records)
    kinds = sorted({(task_of(r).D, task_of(r).last) for r in mine})
    of_each = " or ".join(sorted({str(len(group)) for group in by_task(mine)}))
    yield f"Δ / √m at R = 0.01, L = 3, c = 0.5, means of {of_each} seeds. The thesis has D = 50 to 150, m_L = 4 to 10."
    yield ""
    shares = sorted({ratio(r) for r in mine})
    rows = []
    for at in shares:
        cells = ([r for r in mine if ratio(r) == at and (task_of(r).D, task_of(r).last) == k] for k in kinds)
        rows.append((f"{at:g}", *(word(error(c)) for c in cells)))
    yield from grid(("m / (D m_L)", *(f"D = {d}, m_L = {last}" for d, last in kinds)), rows)


def by_task(records: Records) -> list[Records]:
    """Records of one task each."""
    return list(grouped(records, lambda r: r.task).values())


def law(records: Records) -> Iterator[str]:
    """The transition where widths grow."""
    yield from LAW.splitlines()
    yield ""
    rows = []
    for name, mine in families(records).items():
        task = task_of(mine[0])
        at = tipping(curve(mine))
        told = ", ".join(f"{m:g}: {e:.2g} ({g})" for m, e, g in steps(mine))
        rows.append((name, str(seeds(mine)), told, word(at, ".0f"), str(threshold(task)), str(task.D * task.shape[-1])))
    head = ("network", "seeds", "m*: Δ / √m* (gap)", f"Δ / √m* = {BROKEN:g} at", "T", "D m_L")
    yield from grid(head, rows)


def seeds(mine: Records) -> int:
    """How many there are of each task."""
    return min(map(len, by_task(mine)))


def families(records: Records) -> Mapping[str, Records]:
    """Runs that differ in the first hidden layers alone."""
    return grouped([*growing(records), *squeezed(records)], family)


def family(record: Record) -> str:
    """All that is told of its network but the first hidden layers."""
    task = task_of(record)
    above = f"m_L = {task.last}, c = {task.contraction:g}"
    if "widths=" in record.task:
        above = f"m_1-{'-'.join(map(str, task.shape[1:]))}"
    return f"D = {task.D}, {above}, {task.output}"


def curve(mine: Records) -> Points:
    """Δ / √m* over m*."""
    return [
        (m, e) for m in sorted({size(r) for r in mine}) if (e := error([r for r in mine if size(r) == m])) is not None
    ]


def steps(mine: Records) -> Iterator[tuple[int, float, str]]:
    """The same with the gap."""
    for m, e in curve(mine):
        yield int(m), e, word(gap([r for r in mine if size(r) == m]))


def tipping(points: Points, level: float = BROKEN) -> float | None:
    """Where a curve last rises through a level, by straight lines; None where it does not."""
    through = [
        a + (level - before) / (after - before) * (b - a)
        for (a, before), (b, after) in pairwise(points)
        if before < level <= after
    ]
    return through[-1] if through else None


def over_shares(records: Records) -> Figure:
    """Δ / √m over m / (D m_L), a line for every D and m_L."""
    series = grouped(squeezed(records), lambda r: f"D = {task_of(r).D}, m_L = {task_of(r).last}")
    drawn = {
        n: [(s, error([r for r in mine if ratio(r) == s]) or 0.0) for s in sorted({ratio(r) for r in mine})]
        for n, mine in series.items()
    }
    return chart(drawn, title="The span of Hessians", across="m / (D m_L)", up="Δ / √m")


def over_thresholds(records: Records) -> Figure:
    """Δ / √m* over m* / T of networks whose widths grow."""
    drawn = {
        name: [(m / threshold(task_of(mine[0])), e) for m, e in curve(mine)]
        for name, mine in families(records).items()
        if "m_1-" in name
    }
    return chart(drawn, title="Widths that grow", across="m* / T", up="Δ / √m*")
