"""docs/shallow.md: our numbers beside those of the thesis' chapters 1 and 3 (about an hour on two cores)."""

from collections.abc import Iterator, Mapping
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    ERROR,
    EXACT,
    IDENTIFIED,
    MEMORY,
    QUERIES,
    SECONDS,
    Page,
    Records,
    Section,
    by_options,
    by_task,
    duration,
    exact,
    largest,
    middle,
    option,
    slope,
)
from paramid.pictures.curves import curves
from paramid.pictures.phase_map import phase_map
from paramid.pictures.scaling import scaling
from paramid.records.record import Record

# Rauchensteiner 2023, Table 3.2: seconds to weights and first shifts on a Tesla P100.
BETAS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 1.875, 1.9375, 2.0)
TABLE_3_2 = {
    20: (4.58, 4.53, 4.75, 4.76, 5.25, 5.89, 6.33, 6.6, 7.63),
    25: (5.7, 5.67, 5.75, 6.19, 7.02, 8.38, 9.52, 10.3, 11.4),
    30: (6.77, 6.87, 6.93, 7.44, 8.53, 10.6, 12.6, 14.7, 17.4),
    35: (8.35, 8.41, 8.49, 9.3, 10.6, 13.8, 18.3, 22.1, 27.5),
    40: (9.89, 9.95, 10.3, 11.1, 12.8, 18.2, 26.5, 33.0, 43.1),
    45: (12.3, 12.4, 12.9, 13.6, 16.0, 25.1, 38.4, 50.7, 70.8),
    50: (15.0, 15.2, 15.7, 16.7, 19.9, 34.1, 57.2, 79.8, 113.0),
}


def of_the_thesis(records: Records) -> Iterator[str]:
    """Table 3.2."""
    errors = [largest(r) for r in records]
    yield f"{sum(map(exact, records))} of {len(records)} cells exact, {sum(e <= 1e-11 for e in errors)} with every"
    signs = "all" if all(r.metrics.get("sign_accuracy") == 1 for r in records) else "not all"
    yield f"parameter within 1e-11, the largest error of all {max(errors):.1e}, {signs} signs right."
    yield "One thread a cell. Each entry: the thesis' seconds"
    yield "to weights and first shifts → our median seconds to every parameter at rounding level."
    yield ""
    yield from by_options("D", BETAS, TABLE_3_2, lambda d, beta: entry(records, d, beta), head="m = ⌈0.4 D^{}⌉")


def entry(records: Records, d: float, beta: float) -> str:
    """One network's seconds, then and now."""
    mine = [r for r in records if option(r.task, "D") == d and option(r.task, "beta") == beta]
    return f"{TABLE_3_2[int(d)][BETAS.index(beta)]:g} → {duration(mine)}" if mine else "-"


def beyond(records: Records) -> Iterator[str]:
    """Other activations, shifts, outer weights, unknown m."""
    yield from by_task(records, EXACT, ERROR, QUERIES, SECONDS, ENDED)


def limit(records: Records) -> Iterator[str]:
    """Success over m."""
    yield "Spans of matrices end at m = D(D-1)/2, where rank-one directions stop being unique; past it `sphere-lm`"
    yield "goes over to tensors of higher order."
    yield ""
    yield from by_task(records, IDENTIFIED, EXACT, SECONDS, ENDED)


def noise(records: Records) -> Iterator[str]:
    """Errors against noise, and what was vouched for."""
    vouched = ("vouched for", lambda mine: f"{median(r.stats.get('error_bound', float('nan')) for r in mine):.1e}")
    yield "`vouched for` is the method's own bound, from a draw of the noise it measured: it should be above the error."
    yield ""
    yield from by_task(records, IDENTIFIED, ERROR, vouched, QUERIES, ENDED)


def scale(records: Records) -> Iterator[str]:
    """Growth over D."""
    yield from by_task(records, EXACT, ERROR, SECONDS, QUERIES, MEMORY)
    yield ""
    done = [r for r in records if exact(r)]
    for name in ("seconds", "queries", "peak_mb"):
        grows = slope((option(r.task, "D") for r in done), (float(getattr(r, name)) for r in done))
        yield f"- {name} grows like D^{grows:.1f}"


def large(records: Records) -> Iterator[str]:
    """One network of 404 000 parameters."""
    yield from by_task(records, EXACT, ERROR, SECONDS, QUERIES, MEMORY, ENDED)


def sgd(records: Records) -> Iterator[str]:
    """The phase diagram."""
    yield "Shifts have variance 0.05, as printed. Each entry: weight error at the thesis' rate 0.005 → at 0.5 / m."
    yield ""
    records = [r for r in records if "beta" in r.task]
    betas = sorted({option(r.task, "beta") for r in records})

    def cell(n: float, beta: float) -> str:
        mine = [r for r in records if option(r.method, "N") == n and option(r.task, "beta") == beta]
        told = {"auto" in r.method: r.metrics.get("weight_error") for r in mine}
        return " → ".join("-" if told.get(k) is None else f"{told[k]:.1e}" for k in (False, True))

    samples = sorted({option(r.method, "N") for r in records})
    yield from by_options("N", betas, samples, cell, head="m = ⌈0.4 D^{}⌉")


def trap(records: Records) -> Iterator[str]:
    """The thesis' rate against one of order 1 / m."""
    yield "The thesis' rate 0.005 lies above what keeps SGD stable from about D = 35, m = 490 on: its error at large D"
    yield "is then the rate's, and not SGD's."
    yield ""
    output = ("relative output error", middle("output_error_relative", ".1e"))
    yield from by_task(records, output, ("weight error", middle("weight_error", ".2g")), SECONDS, ENDED)


def findings(made: Mapping[str, Records]) -> Iterator[str]:
    """Statements of the thesis that the records can settle."""
    if made.get("noise"):
        pairs = [pair for r in made["noise"] if (pair := subspace_and_directions(r))]
        power = slope((p[0] for p in pairs), (p[1] for p in pairs))
        yield "- *The error of the directions is bounded by the square root of the subspace's* (Theorems 2.8 and 2.10):"
        yield f"  true, and far from what happens. Over the noise it goes like the subspace's to the power {power:.2f}."
    if made.get("shallow-3.6"):
        right = sum(r.metrics.get("sign_accuracy") == 1 for r in made["shallow-3.6"])
        yield "- *Signs and shifts follow from one more Hessian for every neuron, for m up to 0.4 D²*: held in"
        yield f"  {right} of {len(made['shallow-3.6'])} networks."
    if made.get("limit"):
        past = [r for r in made["limit"] if option(r.task, "m") > (d := option(r.task, "D")) * (d - 1) / 2]
        declined = sum(r.status.key == "declined" for r in past)
        solved = sum(map(exact, past))
        yield "- *m = o(D²), in practice 0.4 D²*: it goes on almost to D(D-1)/2; past it directions are not unique in"
        yield f"  spans of matrices: {declined} of {len(past)} cells there were declined at once, {solved} solved"
        yield "  over tensors of higher order."
    if made.get("sgd-1.3"):
        yield from where_sgd_does(made["sgd-1.3"])


def where_sgd_does(records: Records) -> Iterator[str]:
    """How far SGD goes in the phase diagram."""
    found = [r for r in records if r.metrics.get("identified") == 1]
    yield f"- *SGD does not find the weights*: it does in {len(found)} of {len(records)} cells of the diagram, where"
    most = max((option(r.task, "beta") for r in found), default=0.0)
    best = min((r.metrics["weight_error"] for r in found), default=2.0)
    yield f"  neurons are few (m ≤ ⌈0.4 D^{most:g}⌉), its best weight error is {best:.1e}."


def subspace_and_directions(record: Record) -> tuple[float, float] | None:
    """The errors of the first subspace and of the first directions that a record's method claimed."""
    span = next((s.metrics["subspace_error"] for s in record.claims if "subspace_error" in s.metrics), None)
    found = next((s.metrics["weight_error"] for s in record.claims if s.metrics.get("weight_error", 2) < 0.1), None)
    return (span, found) if span and found else None


PAGE = Page(
    name="shallow",
    title="Shallow networks, beside the thesis",
    sources="""The thesis used a Tesla P100.
Reference: Rauchensteiner, *Finite sample identification of artificial neural networks*, TUM 2023.""",
    sections={
        "shallow-3.6": Section("Every network of §3.6, to rounding", of_the_thesis),
        "shallow-free": Section("Beyond the thesis' setting", beyond),
        "limit": Section(
            "Up to the limit and past it",
            limit,
            {"Success over D and m: the limit is 45 at D = 10, 190 at D = 20, 435 at D = 30": phase_map},
        ),
        "noise": Section("Noise and rounding", noise),
        "scale": Section("Growth", scale, {"Seconds over D at m = 0.4 D²": lambda rs: scaling(rs, "D")}),
        "large": Section("404 000 parameters", large, {"Error over time": curves}),
        "sgd-1.3": Section("SGD, the thesis' baseline", sgd),
        "sgd-rate": Section("The trap in its step size", trap),
    },
    findings=findings,
)
