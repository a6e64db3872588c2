"""docs/pyramid.md: deep networks beside chapter 4 and §1.3.2 of the thesis (an hour on two cores)."""

from collections.abc import Iterator

from benchmarks.reproduce.pages import (
    ENDED,
    ERROR,
    EXACT,
    IDENTIFIED,
    QUERIES,
    SECONDS,
    SEEDS,
    Page,
    Records,
    Section,
    by_task,
    headed,
)
from benchmarks.reproduce.pyramid import fits, sgd, spans, tables, theorem_of_spans
from benchmarks.reproduce.pyramid.items import ITEMS
from benchmarks.reproduce.pyramid.records import LONG, NETWORKS
from benchmarks.reproduce.source_items import Made, failures, verdicts, whole
from paramid.pictures.curves import curves
from paramid.pictures.sheet import Figure


def pipeline(records: Records) -> Iterator[str]:
    """Tables 4.2 to 4.7, and Figures 4.5 to 4.7 from the same runs."""
    yield from tables.text(records)
    yield from headed("Figures 4.5 to 4.7: scales and shifts", fits.text(records))


def over_time(records: Records) -> Figure:
    """The error of the pipeline at its defaults and of our routes."""
    return curves(
        [r for r in records if not any(name in r.method for name in ("far", "lr=0.005", "until", f"epochs={LONG}"))]
    )


def depth(records: Records) -> Iterator[str]:
    """Both routes on awkward networks."""
    yield "Medians over seeds; `inf`: most seeds claimed no network."
    yield ""
    yield from by_task(records, SEEDS, EXACT, IDENTIFIED, ERROR, QUERIES, SECONDS, ENDED)


def findings(made: Made) -> Iterator[str]:
    """What held, theorems in numbers, and the whole source."""
    yield from verdicts(ITEMS, made)
    yield from ("", "## Theorem 4.1 in numbers", "")
    yield from theorem_of_spans.text()
    yield from whole(ITEMS, made)
    yield from failures(made)


PAGE = Page(
    name="pyramid",
    title="Deep networks, beside the thesis",
    sources="""The thesis used a Tesla P100 and 20 minutes for every fit; ours takes four epochs of 50 000
samples, 32 for two seeds of each network.
Why layers can be told from third derivatives, and shifts from a rank: [deep-argument.md](deep-argument.md).
Reference: Rauchensteiner, *Finite sample identification of artificial neural networks*, TUM 2023,
chapter 4 and §1.3.2.""",
    sections={
        "deep-4.4": Section(
            "§4.4: the pipeline, table by table",
            pipeline,
            {
                "Error over time": over_time,
                **{f"{fits.FIGURES[w]}: fits of scales and shifts, [{w}]": fits.figure(w) for w in NETWORKS},
            },
        ),
        "deep-4.2": Section(
            "§4.2.3: spans over sizes",
            spans.text,
            {
                "Figure 4.4: Δ / √m over m / (D m_L)": spans.over_shares,
                "Δ / √m* over m* / T where widths grow": spans.over_thresholds,
            },
        ),
        "depth": Section("How deep, how wide, which shifts, which noise", depth),
        "deep-sgd": Section("§1.3.2: SGD", sgd.text, {"Figure 1.5: E∞ over seconds at D = 50": sgd.over_time}),
    },
    findings=findings,
)
