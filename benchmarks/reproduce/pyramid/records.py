"""Records of the thesis' pipeline for deep networks: which of them is which run, and what each stage of it left."""

from collections.abc import Iterable, Mapping
from statistics import mean

from benchmarks.reproduce.pages import Records
from paramid.records.record import Record, Stage
from paramid.words.naming import Name

OURS, PRINTED = 100.0, 1000.0  # radius of the far Hessians
FOUR_LAYERS = 0.002  # rate of the fits of four layers, where the printed 0.005 is not stable
LONG = "32"  # epochs of the fits that are run on until they end
NETWORKS = ("50-25-10", "50-25-50", "50-35-25-10")
OUTPUTS = ("tanh", "identity")


def options(name: str) -> Mapping[str, str]:
    """The options of a method or task as written."""
    return dict(Name.parse(name).options)


def pipeline(
    records: Records, widths: str, output: str, exact: bool, *, far: float = OURS, long: bool = False
) -> Records:
    """The runs of the whole pipeline on a network, at the page's rate for it; where `long`, of LONG epochs."""
    return [r for r in records if is_pipeline(r, exact, far, long) and is_network(r, widths, output)]


def is_pipeline(record: Record, exact: bool, far: float, long: bool) -> bool:
    """Whether this is `entangled` from first to last with that derivative and radius, and fits so long."""
    told = options(record.method)
    ours = Name.parse(record.method).base == "entangled" and not {"until", "refine", "points"} & set(told)
    ours = ours and (told.get("epochs") == LONG) == long
    ours = ours and float(told.get("lr", FOUR_LAYERS)) == FOUR_LAYERS
    return ours and (told.get("derivatives") == "exact") == exact and float(told.get("far", OURS)) == far


def is_network(record: Record, widths: str, output: str, shift: str | None = None) -> bool:
    """Whether its teacher is of that kind."""
    told = options(record.task)
    return (told.get("widths"), told.get("output", "tanh"), told.get("shift")) == (widths, output, shift)


def stage(record: Record, kind: str, metric: str, *, at: int = 0) -> Stage | None:
    """The first claim of a kind that has a metric, or with `at=-1` the last."""
    found = [c for c in record.claims if c.kind == kind and metric in c.metrics]
    return found[at] if found else None


def span(record: Record) -> Stage | None:
    """Ŵ of Algorithm 4.1."""
    return stage(record, "Subspace", "subspace_error_frobenius")


def directions(record: Record) -> Stage | None:
    """U_SPM of Algorithm 4.1."""
    return stage(record, "EntangledWeights", "entangled_error_1")


def labelled(record: Record) -> Stage | None:
    """Ṽ_1, …, Ṽ_L of Algorithm 4.2: directions with the layer that each was told to be in."""
    return stage(record, "EntangledWeights", "assigned_1", at=-1)


def network(record: Record) -> Stage | None:
    """The last network claimed."""
    return stage(record, "Network", "mean_distance", at=-1)


def depth(record: Record) -> int:
    """L of its teacher."""
    return len(options(record.task)["widths"].split("-"))


def drawn(records: Iterable[Record]) -> set[tuple[str, int]]:
    """The networks of these runs: their task and seed."""
    return {(r.task, r.seed) for r in records}


def value(of: Stage | None, metric: str) -> float | None:
    """A metric of a claim, None where either is missing."""
    return of.metrics.get(metric) if of else None


def detected(record: Record) -> bool:
    """Whether every direction was told its layer and is right there: full detection."""
    told = labelled(record)
    return told is not None and told.metrics.get("layers_right") == 1


def seconds(record: Record) -> tuple[float, ...]:
    """T_Ŵ, T_SPM and T_asgn of a run as far as it came."""
    ends = [s.seconds for s in (span(record), directions(record), labelled(record)) if s]
    return tuple(b - a for a, b in zip((0.0, *ends), ends, strict=False))


def known(values: Iterable[float | None]) -> list[float]:
    """Those that are there."""
    return [v for v in values if v is not None]


def average(values: Iterable[float | None]) -> float | None:
    """The mean of what is known."""
    found = known(values)
    return mean(found) if found else None


def word(value: float | None, form: str = ".2g") -> str:
    """A number as a cell of a table."""
    return "-" if value is None else format(value, form)


def beside(theirs: float | None, ours: float | None, form: str = ".2g", unit: str = "") -> str:
    """The source's number and ours."""
    if theirs is None:
        return "-"
    return f"{word(theirs, form)}{unit} → {word(ours, form)}{unit if ours is not None else ''}"
