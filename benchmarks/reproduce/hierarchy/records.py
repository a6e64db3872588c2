"""Numbers of records of quadratic DenseNets: errors of features by stage, gains, kernels by name."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import geometric_mean, median

from benchmarks.reproduce.pages import Records, grouped, option, slope
from paramid.records.record import Record
from paramid.words.naming import Name

GAP, DEPTH, KERNEL = "densenet-als:N=8000,passes=3", "densenet-lm:N=5000", "kernel"
PASSES = ("layer 2 alone", "refitted, features uncorrected", "distilled once", "twice", "three times")
LEARNERS = ("densenet-joint", "densenet-joint:schedule=scratch", "densenet-als")  # of all layers
GAPS = ("1.0-0.2-0.04", "1.0-1.0-1.0")
SOLVED, SMALL = 1e-12, 1e-4  # errors that are zero but for rounding, and small ones
ALTERNATING = "densenet-als:passes=30"


def seeds(records: Records) -> int:
    """How many different seeds there are."""
    return len({r.seed for r in records})


def metric(record: Record, name: str) -> float:
    """A metric, infinite where there is none."""
    return record.metrics.get(name, math.inf)


def stage(record: Record, name: str, at: int) -> float:
    """A metric of the claim number `at`, infinite where there is none."""
    return record.claims[at].metrics.get(name, math.inf) if at < len(record.claims) else math.inf


def gain(record: Record) -> tuple[float, float, float]:
    """The error of S_2 before other layers join, at the end, and their ratio."""
    told = [c.metrics for c in record.claims if c.metrics.get("feature_error_2", 1.0) < 0.9]
    alone = [m["feature_error_2"] for m in told if "feature_error_3" not in m]
    first = alone[-1] if alone else next((m["feature_error_2"] for m in told), math.inf)
    after = metric(record, "feature_error_2")
    return first, after, first / after if after and math.isfinite(first + after) else math.nan


def corrections(records: Records, wanted: Records) -> list[float]:
    """How many times smaller the error of S_2 became than layer 2 alone has it by least squares, on the same seed."""
    alone = {(r.task, r.seed): metric(r, "feature_error_2") for r in records if r.method == "densenet-layerwise"}
    pairs = [(alone.get((r.task, r.seed), math.inf), metric(r, "feature_error_2")) for r in wanted]
    return sorted(before / after for before, after in pairs if after and math.isfinite(before + after))


def gap(record: Record) -> float:
    """α_3."""
    return float(dict(Name.parse(record.task).options)["alphas"].split("-", 1)[1])


def option_of(name: str, which: str, default: str) -> str:
    """An option as written, where it is."""
    return str(dict(Name.parse(name).options).get(which, default))


def power(pairs: Iterable[tuple[float, float]]) -> float:
    """The exponent of y over x; nan where a y is not known."""
    xs, ys = zip(*pairs, strict=True)
    return slope(xs, ys) if min(ys) > 0 and max(ys) < math.inf else math.nan


def mean(errors: Sequence[float]) -> float:
    """The geometric mean."""
    return geometric_mean(errors) if errors and min(errors) > 0 and max(errors) < math.inf else math.nan


def known(values: Iterable[float]) -> list[float]:
    """Those that are finite."""
    return [v for v in values if math.isfinite(v)]


def middle(values: Iterable[float]) -> str:
    """The median of those that are finite, in words."""
    found = known(values)
    return f"{median(found):.2g}" if found else "-"


def mse(records: Records) -> str:
    """The median error."""
    return middle([metric(r, "error") for r in records])


def rows_of(records: Records) -> str:
    """The median error of the rows of W_2."""
    return middle([metric(r, "row_error_2") for r in records])


def kernel_lines(records: Records) -> dict[str, list[tuple[float, float]]]:
    """(N, error) by kernel."""
    return {
        name: sorted((option(r.method, "N"), metric(r, "error")) for r in mine)
        for name, mine in grouped(records, kernel_of).items()
    }


def kernel_of(record: Record) -> str:
    """The kernel, and what of."""
    options = dict(Name.parse(record.method).options)
    kind = options.get("kernel", f"poly of degree {options.get('degree', '4')}")
    return "ntk of a DenseNet" if kind == "ntk" else f"{kind} on {'(x, x² - 1)' if 'features' in options else 'x'}"


def floors(records: Records) -> Records:
    """Records of layer 2 alone, on the kernels' teachers: the first claims of the strict learner."""
    seeds = {r.seed for r in records if r.method.startswith(KERNEL)}
    strict = [r for r in records if r.method == "densenet-layerwise" and r.seed in seeds]
    return [replace(r, metrics=dict(r.claims[0].metrics)) for r in strict if r.claims]
