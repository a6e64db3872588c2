"""docs/relu.md: ReLU networks by queries, beside the published attack.

About half an hour on two cores.
"""

from collections.abc import Callable, Iterator, Mapping
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    IDENTIFIED,
    QUERIES,
    SECONDS,
    Column,
    Page,
    Records,
    Section,
    by_task,
    duration,
    grid,
    middle,
    share,
)
from paramid.pictures.phase_map import phase_map
from paramid.records.record import Record

# The release of CRYPTO 2020 as it ran on a machine of this kind: bits, queries, seconds.
PUBLISHED = {
    "D=10,widths=4": ("38 to 42", "6,000", "6 to 9"),
    "D=20,widths=10": ("39.9", "15,000", "8 to 14"),
    "D=40,widths=20": ("37.8", "38,000", "46"),
    "D=100,widths=50": ("36.0", "372,000", "692"),
    "D=10,widths=5-5": ("-", "-", "118"),
    "D=10,widths=15-15": ("38.1", "96,000", "225"),
    "D=20,widths=10-10": ("-", "-", "not done in 240"),
}


def right(record: Record) -> bool:
    """Whether the function is exact, be all parameters found or not."""
    return record.metrics.get("function_exact") == 1


def wrong(record: Record) -> bool:
    """Whether a network was claimed that is another function, and not by noise alone."""
    return record.metrics.get("function_exact") == 0 and record.metrics.get("identified") == 0


def bits(mine: Records) -> str:
    """The least and the median of networks that were identified."""
    found = sorted(r.metrics["bits"] for r in mine if r.metrics.get("identified") == 1 and "bits" in r.metrics)
    return f"{found[0]:.1f}, {median(found):.1f}" if found else "-"


def span(name: str) -> Callable[[Records], str]:
    """The median of a count and its largest."""

    def cell(mine: Records) -> str:
        counts = [getattr(r, name) for r in mine]
        return f"{median(counts):,.0f} ({max(counts):,})"

    return cell


BITS: Column = ("bits, least and median", bits)
EXACT: Column = ("function exact", share(right))
ASKED: Column = ("queries, median (most)", span("queries"))
OUTPUT: Column = ("relative output error", middle("output_error_relative", ".0e"))
COLUMNS = (IDENTIFIED, EXACT, BITS, ASKED, SECONDS, ENDED)


def sizes(records: Records) -> Iterator[str]:
    """Ours before all sizes, beside what the release of the published attack needed."""
    yield "*release*: what the code that came with the attack needed on a machine of this kind, where it was run:"
    yield "bits, queries and seconds. *bits* are -log2 of the largest parameter error at unit norms."
    yield ""
    tasks = dict.fromkeys(r.task for r in records)
    head = ("network", *(name for name, _ in COLUMNS[:-1]), "release: bits", "queries", "seconds")
    groups = ([r for r in records if r.task == task] for task in tasks)
    yield from grid(head, (compared(mine) for mine in groups))
    yield ""
    yield from counted(records)


def compared(mine: Records) -> tuple[str, ...]:
    """One size."""
    name = mine[0].task.removeprefix("relu:")
    return (name, *(cell(mine) for _, cell in COLUMNS[:-1]), *PUBLISHED.get(name, ("-", "-", "-")))


def counted(records: Records) -> Iterator[str]:
    """How many were found, and whether any was wrong."""
    found = sum(r.metrics.get("identified") == 1 for r in records)
    yield f"{found} of {len(records)} networks are identified; {sum(map(wrong, records))} claims are another function."


def table(about: str) -> Callable[[Records], Iterator[str]]:
    """A table of every task."""

    def text(records: Records) -> Iterator[str]:
        yield from about.splitlines()
        yield ""
        yield from by_task(records, *COLUMNS)
        yield ""
        yield from counted(records)

    return text


def awkward(records: Records) -> Iterator[str]:
    """What ends how."""
    yield "What is no parameter of the function is not scored: a silent neuron may be there or not."
    yield ""
    yield from by_task(records, *COLUMNS[:4], OUTPUT, SECONDS, ENDED)
    yield ""
    yield from counted(records)


def rivals(records: Records) -> Iterator[str]:
    """Both methods, and how many times more one of them takes."""
    yield "`cryptanalytic` is the attack of its papers with its own costs; where it leaves them its source says."
    yield "`python benchmarks/side_by_side/kinks_against_cryptanalytic.py` runs both in turns in one process."
    yield ""
    yield from by_task(records, *COLUMNS)
    yield ""
    yield from grid(("network", "queries", "seconds", "bits"), ratios(records))


def ratios(records: Records) -> Iterator[tuple[str, ...]]:
    """Medians over seeds that both identified: how many times more the attack takes, and what ours gains."""
    for task in dict.fromkeys(r.task for r in records):
        found = [r for r in records if r.task == task and r.metrics.get("identified") == 1 and "bits" in r.metrics]
        ours, theirs = ({r.seed: r for r in found if r.method.startswith(name)} for name in ("kinks", "cryptanalytic"))
        both = ours.keys() & theirs.keys()
        if not both:
            continue
        times = (median(getattr(theirs[s], n) / getattr(ours[s], n) for s in both) for n in ("queries", "seconds"))
        gain = median(ours[s].metrics["bits"] - theirs[s].metrics["bits"] for s in both)
        yield (task.removeprefix("relu:"), *(f"{t:.1f} times" for t in times), f"{gain:+.1f}")


def decisions(records: Records) -> Iterator[str]:
    """The frontier."""
    yield "The sign of f and nothing else, one hidden layer, up to one positive factor of the output. A neuron whose"
    yield "plane does not meet the boundary f = 0 cannot be told, which is what fails at three neurons."
    yield ""
    yield from by_task(records, IDENTIFIED, BITS, QUERIES, ("seconds", duration), ENDED)


def findings(made: Mapping[str, Records]) -> Iterator[str]:
    """What is not solved."""
    yield from UNSOLVED.splitlines()
    yield ""
    gone = [r for suite in ("relu", "relu-large", "relu-trained") for r in made.get(suite, []) if not right(r)]
    for record in gone:
        yield f"- {record.task}, seed {record.seed}: {record.reason or record.status.key}"


UNSOLVED = """Published and shown here:

- *Critical points along lines tell all weights* (CRYPTO 2020): `cryptanalytic` finds them at the sizes of the paper.
- *Deeper layers need the layers below to be contractive, or 2^m trials* (CRYPTO 2020), or signs one by one
  (EUROCRYPT 2024): not from gradients. [relu-argument.md](relu-argument.md) says why.

Not solved by ours:

- An inner layer's neuron that never switches on the lines: the layers above see a linear part that is looked for only
  in the last hidden layer. It is given up.
- Noise and float32 with more than one hidden layer; with one hidden layer noise above 1e-7.
- Decisions with several outputs or several hidden layers, and planes that the boundary does not meet.
- Outer weights of 1e-10 of the others' and less, planes 1e-9 apart: two neurons come out as one, the function right.

Not exact in the tables above but the awkward:
"""
PAGE = Page(
    name="relu",
    title="ReLU networks by queries, beside the published attack",
    sources="""References: Carlini, Jagielski & Mironov, *Cryptanalytic extraction of neural network models*,
CRYPTO 2020; Canales-Martínez, Chávez-Saab, Hambitzer, Rodríguez-Henríquez, Satpute & Shamir, *Polynomial time
cryptanalytic extraction of neural network models*, EUROCRYPT 2024.
Why it works: [relu-argument.md](relu-argument.md).""",
    sections={
        "relu": Section("Sizes", sizes),
        "relu-rivals": Section("The published attack, written anew", rivals),
        "relu-trained": Section("Trained networks", table("Adam from torch's initial weights on a made-up target.")),
        "relu-large": Section("Beyond", table("Wider than the inputs, deeper, larger, and of widths nobody told.")),
        "relu-awkward": Section("Awkward networks, noise and float32", awkward),
        "decisions": Section(
            "Decisions", decisions, {"One hidden layer from decisions alone, over D and the width": phase_map}
        ),
    },
    findings=findings,
)
