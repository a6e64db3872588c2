"""docs/pyramid.md: deep networks beside the tables of the thesis' chapter 4 (hours on two cores)."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import mean

from benchmarks.reproduce.lines import chart
from benchmarks.reproduce.pages import (
    ENDED,
    ERROR,
    EXACT,
    IDENTIFIED,
    QUERIES,
    SECONDS,
    Page,
    Records,
    Section,
    by_task,
    grid,
    middle,
    option,
)
from paramid.pictures.curves import curves
from paramid.records.record import Record

# Rauchensteiner 2023, Tables 4.2 (numerical) and 4.3 (exact): Δ, then the largest error of a direction by layer.
Row = tuple[float, ...]
TABLES: Mapping[tuple[str, str], tuple[Row, Row]] = {
    ("50-25-10", "tanh"): ((0.31, 2.1e-2, 1.5e-2, 8.6e-3), (0.24, 1.7e-2, 1.4e-2, 7.7e-3)),
    ("50-25-10", "identity"): ((0.08, 9.3e-3, 3.1e-3), (0.08, 7.4e-3, 3.2e-3)),
    ("50-25-50", "tanh"): ((0.11, 7.8e-3, 3.9e-3, 3.3e-3), (0.09, 6.6e-3, 2.9e-3, 2.9e-3)),
    ("50-25-50", "identity"): ((0.04, 3.2e-3, 1.4e-3), (0.04, 3.4e-3, 1.4e-3)),
    ("50-35-25-10", "tanh"): ((1.00, 2.8e-2, 3.1e-2, 3.1e-2, 2.1e-2), (0.93, 2.6e-2, 3.2e-2, 2.8e-2, 1.8e-2)),
    ("50-35-25-10", "identity"): ((0.57, 1.9e-2, 1.9e-2, 1.5e-2), (0.31, 1.7e-2, 1.4e-2, 9.1e-3)),
}
SPAN, WEIGHTS = "subspace_error_frobenius", "entangled_error_1"


def first(record: Record, metric: str) -> Mapping[str, float]:
    """The metrics of the first claim that has this one."""
    return next((dict(c.metrics) for c in record.claims if metric in c.metrics), {})


def last(record: Record, metric: str) -> Mapping[str, float]:
    """The metrics of the last claim that has this one."""
    return next((dict(c.metrics) for c in reversed(record.claims) if metric in c.metrics), {})


def average(values: Iterable[float | None]) -> str:
    """The mean of what is known."""
    known = [v for v in values if v is not None]
    return f"{mean(known):.2g}" if known else "-"


def tables(records: Records) -> Iterator[str]:
    """Tables 4.2 to 4.7."""
    yield "Each entry: the thesis' mean of ten runs → our mean. Δ = ‖P - P̂‖_F of the span, E_l the largest error of a"
    yield "direction of layer l before layers are told; `layers` the share of neurons whose layer was told right, `Ẽ`"
    yield "the error of the directions the network is made of, `output` its relative error."
    yield ""
    rows = (line(w, out, exact, records) for (w, out) in TABLES for exact in (False, True))
    yield from grid(("network", "Hessians", "Δ", "E_1", "E_2", "E_3", "E_4", "false", "layers", "Ẽ_1", "output"), rows)
    yield ""
    yield "To the end, with the radius 1000 of the thesis (`far=1000`) beside 100, its rate 0.005 (`lr=0.005`) before"
    yield "fifty outputs, where ours is a fifth of it, and by our two routes:"
    yield ""
    right = ("layers right", lambda mine: average(last(r, "layers_right").get("layers_right") for r in mine))
    output = ("relative output error", middle("output_error_relative", ".1e"))
    yield from by_task(records, right, EXACT, output, ERROR, QUERIES, SECONDS, ENDED)


def line(widths: str, output: str, exact: bool, records: Records) -> tuple[str, ...]:
    """One row of the thesis' tables and ours."""
    mine = [r for r in records if ours(r, widths, output, exact)]
    theirs = TABLES[widths, output][exact]
    names = [SPAN, *(f"entangled_error_{n}" for n in range(1, 5))]
    cells = [average(first(r, SPAN if n == SPAN else WEIGHTS).get(n) for r in mine) for n in names]
    told = [f"{a:.2g} → {b}" for a, b in zip(theirs, cells, strict=False)] + ["-"] * (5 - len(theirs))
    strays = average(first(r, WEIGHTS).get("false_positives") for r in mine)
    ends = [average(last(r, "layers_right").get(n) for r in mine) for n in ("layers_right", WEIGHTS)]
    made = average(r.metrics.get("output_error_relative") for r in mine)
    return (f"[{widths}], {output}", "exact" if exact else "differences", *told, strays, *ends, made)


def ours(record: Record, widths: str, output: str, exact: bool) -> bool:
    """Whether this is the thesis' method on that network."""
    options = (f"widths={widths}," in record.task, f"output={output}" in record.task or output == "tanh")
    name, _, given = record.method.partition(":")
    other = output == "tanh" and "output=identity" in record.task
    changed = "far=" in given or "lr=" in given
    return (
        all(options)
        and name == "entangled"
        and not other
        and not changed
        and ("derivatives=exact" in record.method) == exact
    )


def transition(records: Records) -> Iterator[str]:
    """Figure 4.4."""
    yield "Each entry: Δ / √m, the mean of two seeds."
    yield ""
    lasts = sorted({option(r.task, "last") for r in records})
    shares = sorted({share(r) for r in records})

    def at(part: float, m_l: float) -> str:
        mine = [r for r in records if share(r) == part and option(r.task, "last") == m_l]
        errors = (first(r, SPAN).get(SPAN) for r in mine)
        return average(e / option(r.task, "m") ** 0.5 for r, e in zip(mine, errors, strict=True) if e is not None)

    yield from grid(
        ("m / (D m_L)", *(f"m_L = {m:g}" for m in lasts)), ((f"{s:g}", *(at(s, m) for m in lasts)) for s in shares)
    )


def over_shares(records: Records) -> str:
    """Δ / √m over m / (D m_L), a line for every m_L."""
    errors: dict[str, dict[float, list[float]]] = {}
    for r in records:
        if error := first(r, SPAN).get(SPAN):
            line = errors.setdefault(f"m_L = {option(r.task, 'last'):g}", {})
            line.setdefault(share(r), []).append(error / option(r.task, "m") ** 0.5)
    means = {name: [(s, mean(e)) for s, e in sorted(line.items())] for name, line in errors.items()}
    return chart(means, title="The span of Hessians", across="m / (D m_L)", up="Δ / √m")


def share(record: Record) -> float:
    """M over D m_L, to two digits."""
    return round(option(record.task, "m") / option(record.task, "D") / option(record.task, "last"), 2)


def depth(records: Records) -> Iterator[str]:
    """Both routes on awkward networks."""
    yield "Medians over seeds; `inf`: most seeds claimed no network."
    yield ""
    yield from by_task(records, EXACT, IDENTIFIED, ERROR, QUERIES, SECONDS, ENDED)


def sgd(records: Records) -> Iterator[str]:
    """§1.3.2."""
    yield "The thesis: 1e-6 for three layers after 45 minutes at its largest rate 0.5, 0.1 and no further for four."
    yield ""
    output = ("relative output error", middle("output_error_relative", ".1e"))
    yield from by_task(records, output, ("weight error", middle("weight_error", ".2g")), SECONDS, ENDED)


PAGE = Page(
    name="pyramid",
    title="Deep networks, beside the thesis",
    sources="""The thesis used a Tesla P100 and 20 minutes for every fit; ours takes two epochs of 50 000
samples.
Why layers can be told from third derivatives, and shifts from a rank: [deep-argument.md](deep-argument.md).
Reference: Rauchensteiner, *Finite sample identification of artificial neural networks*, TUM 2023, chapter 4.""",
    sections={
        "deep-4.4": Section("Tables 4.2 to 4.7", tables, {"Error over time": curves}),
        "deep-4.2": Section(
            "The transition at m = D m_L", transition, {"Δ / √m over m / (D m_L) at D = 30": over_shares}
        ),
        "depth": Section("How deep, how wide, which shifts, which noise", depth),
        "deep-sgd": Section("SGD on deep networks", sgd),
    },
)
