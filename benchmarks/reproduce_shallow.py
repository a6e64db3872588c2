"""Write docs/shallow.md: our numbers beside those of the thesis' chapters 1 and 3, by suites anybody can run again.

Run as `make reproduce-shallow` (about an hour on two cores; what the store holds is not run again).
"""

from collections.abc import Callable, Iterator
from statistics import median

from pages import by_task, exact, middle, option, reproduce, sections, share, slope, statuses, table

from paramid.naming import Name
from paramid.record import Record

REFERENCE = "Reference: Rauchensteiner, *Finite sample identification of artificial neural networks*, TUM 2023."
# Table 3.2: seconds to weights and first shifts on a Tesla P100.
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


def main() -> None:
    """Run the suites and write the page."""
    reproduce("shallow", page, SECTIONS, __doc__)


def page(made: dict[str, list[Record]]) -> Iterator[str]:
    """The page, line by line."""
    yield from sections(
        "Shallow networks, beside the thesis",
        "shallow",
        ["The thesis used a", "Tesla P100.", REFERENCE],
        made,
        SECTIONS,
    )


def shallow(records: list[Record]) -> Iterator[str]:
    """Table 3.2."""
    errors = [largest(r) for r in records]
    yield "## Every network of §3.6, to the last bit"
    yield ""
    yield f"{sum(map(exact, records))} of {len(records)} cells exact, {sum(e <= 1e-11 for e in errors)} with every"
    signs = "all" if all(r.metrics.get("sign_accuracy") == 1 for r in records) else "not all"
    yield f"parameter within 1e-11, the largest error of all {max(errors):.1e}, {signs} signs right."
    yield "One thread a cell. Each entry: the thesis' seconds"
    yield "to weights and first shifts → our median seconds to every parameter at rounding level."
    yield ""
    yield from table("D", BETAS, TABLE_3_2, lambda d, beta: entry(records, d, beta), head="m = ⌈0.4 D^{}⌉")


def entry(records: list[Record], d: int, beta: float) -> str:
    """One network's seconds, then and now."""
    mine = [r for r in records if option(r, "D") == d and option(r, "beta") == beta]
    return f"{TABLE_3_2[d][BETAS.index(beta)]:g} → {median(r.seconds for r in mine):.2g}" if mine else "-"


def largest(record: Record) -> float:
    """The largest error of a parameter."""
    return max(record.metrics.get(n, float("inf")) for n in ("weight_error", "bias_error_max", "outer_error"))


IDENTIFIED = ("identified", share(lambda r: r.metrics.get("identified") == 1))
EXACT, ENDED = ("exact", share(exact)), ("ended", statuses)
ERROR = ("largest parameter error", lambda mine: f"{median(map(largest, mine)):.1e}")
SECONDS, QUERIES = ("seconds", middle("seconds", ".2g")), ("queries", middle("queries", ",.0f"))


def beyond(records: list[Record]) -> Iterator[str]:
    """Other activations, shifts, outer weights, unknown m."""
    yield "## Beyond the thesis' setting"
    yield ""
    yield from by_task(records, EXACT, ERROR, QUERIES, SECONDS, ENDED)


def limit(records: list[Record]) -> Iterator[str]:
    """Success over m."""
    yield "## Up to the limit and past it"
    yield ""
    yield "Span methods end at m = D(D-1)/2, where rank-one directions stop being unique."
    yield ""
    yield from by_task(records, IDENTIFIED, EXACT, SECONDS, ENDED)


def noise(records: list[Record]) -> Iterator[str]:
    """Errors against noise, and what was vouched for."""
    vouched = ("vouched for", lambda mine: f"{median(r.stats.get('error_bound', float('nan')) for r in mine):.1e}")
    yield "## Noise and rounding"
    yield ""
    yield "`vouched for` is the method's own bound, from a draw of the noise it measured: it should be above the error."
    yield ""
    yield from by_task(records, IDENTIFIED, ERROR, vouched, QUERIES, ENDED)


def scale(records: list[Record]) -> Iterator[str]:
    """Growth over D."""
    yield "## Growth"
    yield ""
    yield from by_task(records, EXACT, ERROR, SECONDS, QUERIES, ("peak MB", middle("peak_mb", ",.0f")))
    yield ""
    sizes = [option(r, "D") for r in records if exact(r)]
    for name in ("seconds", "queries", "peak_mb"):
        values = [float(getattr(r, name)) for r in records if exact(r)]
        yield f"- {name} grows like D^{slope(sizes, values):.1f}"


def sgd(records: list[Record]) -> Iterator[str]:
    """The phase diagram."""
    yield "## SGD, the thesis' baseline"
    yield ""
    yield "Shifts have variance 0.05, as printed. Each entry: weight error at the thesis' rate 0.005 → at 0.5 / m."
    yield ""
    betas = sorted({option(r, "beta") for r in records})
    samples = sorted({samples_of(r) for r in records})

    def cell(n: int, beta: float) -> str:
        mine = [r for r in records if samples_of(r) == n and option(r, "beta") == beta]
        told = {("auto" in r.method): r.metrics.get("weight_error") for r in mine}
        return " → ".join("-" if told.get(k) is None else f"{told[k]:.1e}" for k in (False, True))

    yield from table("N", betas, samples, cell, head="m = ⌈0.4 D^{}⌉")


def samples_of(record: Record) -> int:
    """The samples that a configured SGD asks for."""
    return int(dict(Name.parse(record.method).options)["N"])


SECTIONS: dict[str, Callable[[list[Record]], Iterator[str]]] = {
    "shallow-3.6": shallow,
    "shallow-free": beyond,
    "limit": limit,
    "noise": noise,
    "scale": scale,
    "sgd-1.3": sgd,
}

if __name__ == "__main__":
    main()
