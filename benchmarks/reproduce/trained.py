"""docs/trained.md: networks that others' libraries trained on real data, identified from their values.

About half an hour on two cores, training included; it needs scikit-learn (`pip install 'paramid[data]'`).
"""

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
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
    grid,
    grouped,
    headed,
    largest,
    share,
)
from paramid.records.record import Record
from paramid.tasks.training.data import KINDS
from paramid.words.naming import Name

Options = Mapping[str, str]


def options(record: Record) -> dict[str, str]:
    """The options of a record's task."""
    return dict(Name.parse(record.task).options)


def shape(given: Options) -> str:
    """Inputs, widths and outputs."""
    kind = KINDS[given.get("data", "friedman")]
    outputs = str(kind.classes - 1) if given.get("targets") == "classes" else given.get("outputs", "1")
    return f"{kind.inputs}-{given['widths']}-{outputs}"


def errors(mine: Records) -> str:
    """The largest parameter error of those identified: median and most."""
    found = sorted(largest(r) for r in mine if r.metrics.get("identified") == 1)
    return f"{median(found):.0e} ({found[-1]:.0e})" if found else "-"


def bounds(mine: Records) -> str:
    """What the method said of its error: the median."""
    told = [r.stats["error_bound"] for r in mine if "error_bound" in r.stats and isfinite(r.stats["error_bound"])]
    return f"{median(told):.0e}" if told else "-"


def wrong(record: Record) -> bool:
    """Whether a method ended with a network that it stands for, and it is another one."""
    claimed = bool(record.claims) and record.claims[-1].kind == "Network"
    return record.status.key == "finished" and claimed and record.metrics.get("identified") != 1


COLUMNS: tuple[Column, ...] = (
    IDENTIFIED,
    ("exact", share(lambda r: r.metrics.get("exact") == 1)),
    ("error, median (most)", errors),
    ("error it tells", bounds),
    QUERIES,
    SECONDS,
    ENDED,
)
PARTS: Mapping[str, Callable[[Options], bool]] = {
    "Two hidden layers": lambda o: "-" in o["widths"],
    "Activation not told": lambda o: o.get("known_activation") == "false",
    "float32": lambda o: o.get("dtype") == "float32",
    "Classifiers by their log-odds": lambda o: o.get("targets") == "classes",
    "Targets as they are": lambda o: o.get("targets") == "raw",
    "Several outputs": lambda o: o.get("outputs", "1") != "1",
    "One hidden layer, scikit-learn": lambda o: o.get("by") == "sklearn",
    "One hidden layer, torch": bool,
}


def part(record: Record) -> str:
    """The table that a record stands in: the first that fits."""
    return next(name for name, fits in PARTS.items() if fits(options(record)))


def tables(records: Records) -> Iterator[str]:
    """A table a part, plain networks first."""
    yield from counted(records)
    parts = grouped(records, part)
    for name in reversed(PARTS):
        if name in parts:
            yield from headed(name, table(parts[name]))


def table(records: Records) -> Iterator[str]:
    """A row for every architecture, activation and method."""
    rows = ((*head, *(cell(mine) for _, cell in COLUMNS)) for head, mine in grouped(records, setting).items())
    yield from grid(("data", "network", "activation", "method", *(name for name, _ in COLUMNS)), rows)


def setting(record: Record) -> tuple[str, ...]:
    """Data, architecture, activation and method."""
    given = options(record)
    return given.get("data", "friedman"), shape(given), given.get("activation", "tanh"), record.method


def counted(records: Records) -> Iterator[str]:
    """How many networks somebody found, and whether anybody stood for a wrong one."""
    teachers = {(r.task, r.seed) for r in records}
    found = {(r.task, r.seed) for r in records if r.metrics.get("identified") == 1}
    yield f"{len(found)} of {len(teachers)} networks are identified by one method or another;"
    yield f"{sum(map(wrong, records))} of {len(records)} runs ended with a wrong network that their method stood for."


def findings(made: Mapping[str, Records]) -> Iterator[str]:
    """What was not found, and why not."""
    yield "Every network that nobody identified, with what was said of it:"
    yield ""
    records = [r for mine in made.values() for r in mine]
    found = {(r.task, r.seed) for r in records if r.metrics.get("identified") == 1}
    lost = [r for r in records if (r.task, r.seed) not in found]
    groups = grouped(lost, lambda r: (r.task, r.method, r.reason or r.status.key))
    for (task, method, reason), mine in groups.items():
        yield f"- `{task}`, seed{'s' * (len(mine) > 1)} {', '.join(str(r.seed) for r in mine)}, {method}: {reason}"
    if not lost:
        yield "- none"


PAGE = Page(
    name="trained",
    title="Trained networks, identified from their values",
    sources="""scikit-learn's MLPRegressor and MLPClassifier with their defaults and at most 500 epochs, torch with 2000
steps of Adam, inputs standardised. *error* is the largest of any weight, shift or outer weight. A seed trains the same
network again here; with other versions or on another machine rounding may lead training elsewhere.""",
    sections={"trained": Section("What was found", tables)},
    findings=findings,
)
