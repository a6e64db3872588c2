"""docs/passive.md: who identifies a network from passive samples, and how many it takes.

About forty minutes on one core.
"""

from collections.abc import Callable, Iterator, Mapping

from benchmarks.reproduce.pages import Column, Page, Records, Section, duration, grid, grouped, headed, statuses
from benchmarks.reproduce.trained import options, wrong
from paramid.pictures.phase_map import phase_map
from paramid.records.record import Record

MANY = 400  # samples: of the small cases, which have more
PUBLISHED = {  # what the published code of Expand-and-Cluster was measured at, by task
    "logistic": "1 - cos 1.7e-05 to 1.5e-03",
    "tanh": "1 - cos 3.6e-08 in the median, 3.6e-02 at worst",
    "relu": "1 of 4; 0 of 4 neurons",
}
LEAST_NORM = 0.5  # of a weight vector of `shallow` with outer=free


def parameters(record: Record) -> int:
    """P: the numbers of the network that are not told."""
    given = options(record)
    inputs = int(given["D"])
    if small(record) and "widths" in given:
        return int(given["widths"]) * (inputs + 2) + 1
    m = int(given["m"])
    return m * (inputs + 2) + 1 if "outer" in given else m * (inputs + 1)


def rows(record: Record) -> int:
    """N."""
    return int(options(record)["N"])


def small(record: Record) -> bool:
    """Whether this is one of the small cases of the published code."""
    return rows(record) > MANY and ("outer" in options(record) or "widths" in options(record))


def pinned(record: Record) -> bool:
    """Whether outer weights and norms are told."""
    return not small(record) and "outer" not in options(record)


def identified(record: Record) -> bool:
    """Whether a method found the network and stands for it."""
    return record.metrics.get("identified") == 1 and record.status.key == "finished"


def neurons(record: Record) -> str:
    """The activation and the width."""
    given = options(record)
    return given.get("activation", "tanh" if "m" in given else "relu")


def against_samples(records: Records) -> Iterator[str]:
    """How many seeds are identified, a row for every activation, width and method, a column for every N."""
    columns = sorted({rows(r) for r in records})
    groups = grouped(records, lambda r: (neurons(r), options(r)["m"], str(parameters(r)), r.method))
    body = ((*head, least(mine), *(share(mine, n) for n in columns)) for head, mine in sorted(groups.items()))
    yield from grid(("activation", "m", "P", "method", "N/P", *(f"N={n}" for n in columns)), body)


def share(mine: Records, n: int) -> str:
    """The seeds of one N that are identified."""
    here = [r for r in mine if rows(r) == n]
    return f"{sum(map(identified, here))}/{len(here)}" if here else ""


def least(mine: Records) -> str:
    """The least N/P from which on every seed is identified."""
    found = ""
    for n in sorted({rows(r) for r in mine}, reverse=True):
        if not all(identified(r) for r in mine if rows(r) == n):
            break
        found = f"{n / parameters(mine[0]):.3g}"
    return found or "-"


def recovered(mine: Records) -> str:
    """Neurons found within 1e-2, seed by seed."""
    told = [r.metrics.get("recovered") for r in mine]
    count = int(options(mine[0]).get("widths", options(mine[0]).get("m", "0")))
    return "; ".join("-" if share is None else f"{round(share * count)} of {count}" for share in told)


def angle(record: Record) -> float:
    """The largest 1 - cos of a neuron's (w, b), at most: the square of its error over its length."""
    size = 1.0 if "widths" in options(record) else LEAST_NORM
    error = record.metrics.get("weight_error", 1.0) ** 2 + record.metrics.get("bias_error_max", 1.0) ** 2
    return float(min(error / size**2, 1.0))


def angles(mine: Records) -> str:
    """The least and the largest of the seeds."""
    found = sorted(map(angle, mine))
    return f"{found[0]:.1e} to {found[-1]:.1e}"


def excess(mine: Records) -> str:
    """Neurons that are none of the teacher's, seed by seed."""
    return "; ".join(f"{r.metrics.get('excess', float('nan')):.0f}" for r in mine)


SMALL: tuple[Column, ...] = (
    ("neurons within 1e-2", recovered),
    ("too many", excess),
    ("1 - cos, at most", angles),
    ("seconds", duration),
    ("ended", statuses),
)


def small_cases(records: Records) -> Iterator[str]:
    """Beside what was measured of the published code."""
    groups = grouped(records, lambda r: (neurons(r), r.method))
    body = ((*head, *(cell(mine) for _, cell in SMALL), PUBLISHED[head[0]]) for head, mine in groups.items())
    yield from grid(("activation", "method", *(name for name, _ in SMALL), "published code"), body)


def tables(records: Records) -> Iterator[str]:
    """Three parts."""
    false = sum(map(wrong, records))
    yield f"{false} of {len(records)} runs ended with a wrong network that their method stood for."
    for method, mine in grouped(records, lambda r: r.method).items():
        if any(map(wrong, mine)):
            yield f"- `{method}`: {sum(map(wrong, mine))} of {len(mine)}."
    parts: Mapping[str, tuple[Callable[[Record], bool], Callable[[Records], Iterator[str]]]] = {
        "Unit weight vectors, outer weights 1: D = 4, P = m (D + 1)": (pinned, against_samples),
        "Norms, outer weights and an output bias besides: D = 5, P = m (D + 2) + 1": (
            lambda r: not pinned(r) and not small(r),
            against_samples,
        ),
        "The small cases that the published code was run on": (small, small_cases),
    }
    for title, (fits, text) in parts.items():
        if mine := [r for r in records if fits(r)]:
            yield from headed(title, text(mine))


def findings(made: Mapping[str, Records]) -> Iterator[str]:
    """Who needs fewest."""
    records = [r for mine in made.values() for r in mine if pinned(r)]
    yield "The least N/P from which on every seed was identified, over all widths and activations of the first table:"
    yield ""
    for method, ours in grouped(records, lambda r: r.method).items():
        told = [least(mine) for mine in grouped(ours, lambda r: (neurons(r), options(r)["m"])).values()]
        known = sorted((t for t in told if t != "-"), key=float)
        span = f"{known[0]} to {known[-1]}" if known else "none"
        yield f"- `{method}`: {span}, in {len(known)} of {len(told)} rows"
    yield ""
    yield from STATEMENTS.splitlines()


STATEMENTS = """`student` and `expand-cluster` stand for a network only where it explains samples that it has not seen;
`sgd` stands for whatever it ends with. Starts of `student` train P numbers, its end P - m where norms are told, so that
hardly more samples than P can be enough; from fewer, every start fits them and none is believed. `hermite-fused` is
run at its order 1, which takes no more neurons than inputs.

Students trained as published, `expand-cluster:width=4`, keep some loss, and what they share is known to that: more
clusters than neurons are counted, or fewer, and all three cases are given up. With students at rounding the neurons
they share agree to rounding too, and the tree says by itself how many there are. The published training takes minutes,
and is run for one seed and 500 samples, of which 450 are one batch; the others have 2000."""

PAGE = Page(
    name="passive",
    title="Networks from passive samples",
    sources="""Inputs are standard normal, values exact, a tenth of the samples is held back by `student` and
`expand-cluster`. *N/P* is the least number of samples over parameters from which on every seed is identified. Numbers
beside the small cases are those of the published code, run on networks of its own of that size.""",
    sections={
        "passive": Section(
            "Who needs how many",
            tables,
            {
                "Largest parameter error over the width and the number of samples, with norms and outer weights told": (
                    lambda records: phase_map([r for r in records if pinned(r)], rows="m", columns="N")
                )
            },
        )
    },
    findings=findings,
)
