"""Figure 4: labels drawn without regard to inputs, fitted by nets of growing width."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from statistics import median

from benchmarks.reproduce.pages import Records, grid, option
from benchmarks.reproduce.quadratic.printed import ENOUGH, RANDOM, SAMPLES
from benchmarks.reproduce.quadratic.shares import given
from benchmarks.reproduce.source_items import Judged, Made
from benchmarks.reproduce.transitions import losses
from paramid.pictures.sheet import Figure
from paramid.records.record import Record
from paramid.statistics.intervals import wilson
from paramid.tasks.quadratic import LEVELS, Quadratic
from paramid.words.naming import UsageError

ALONE, FLIPPED, ONES, POLISHED = (
    "v = ±1, frozen",
    "v = ±1, trained",
    "v = 1, frozen: as printed",
    "v = ±1, frozen, then Levenberg-Marquardt",
)
MODES: Mapping[str, tuple[str, str, str]] = {  # v0, train, polish
    ALONE: ("rademacher", "weights", ""),
    FLIPPED: ("rademacher", "both", ""),
    ONES: ("ones", "weights", ""),
    POLISHED: ("rademacher", "weights", "lm"),
}
STARTS = 5
ALMOST = 0.9  # of all starts, where the source says almost always
STEPS = (1, 10, 100, 1000)  # that are claimed on the way
ZERO = math.sqrt(LEVELS["fitted"] / 2)  # the RMSE at which L is so much of that of f̂ = 0, 1/2 in the mean


def is_random(record: Record, panel: str, mode: str) -> bool:
    """Whether a record is of random labels, of that panel and mode."""
    told = given(record.task)
    rest = {name: text for name, text in told.items() if name not in ("k", "N", "labels")}
    return "labels" in told and "instances" not in told and rest == RANDOM[panel] and of_mode(record, mode)


def of_mode(record: Record, mode: str) -> bool:
    """Whether a record's method is that of the mode."""
    method = given(record.method)
    return (method.get("v0", "ones"), method.get("train", ""), method.get("polish", "")) == MODES[mode]


def ratio(panel: str, k: float) -> float:
    """Weights over samples."""
    return k * float(RANDOM[panel]["D"]) / SAMPLES


def ends(records: Records, panel: str, mode: str) -> dict[float, list[float]]:
    """By width the RMSE of every start of every seed, at its end."""
    found: dict[float, list[float]] = {}
    for r in records:
        if is_random(r, panel, mode) and len(r.claims) >= STARTS:
            last = [c.metrics["training_rmse"] for c in r.claims[-STARTS:] if "training_rmse" in c.metrics]
            found.setdefault(option(r.task, "k"), []).extend(last)
    return dict(sorted((k, values) for k, values in found.items() if values))


def seeds(records: Records, panel: str) -> list[int]:
    """Of the panel."""
    return sorted({r.seed for r in records if any(is_random(r, panel, mode) for mode in MODES)})


@cache
def floor(panel: str, seed: int) -> float:
    """√(Σ_{y<0} y² / 2N) of that seed's labels: what no output without negative values falls below."""
    told = RANDOM[panel]
    family = Quadratic(D=int(told["D"]), k=1, N=SAMPLES, activation=told.get("activation", "square"), labels="random")
    teacher = family.draw(seed)
    below = sum(float((y.clamp(max=0) ** 2).sum()) for _, y in family.samples(teacher))
    return math.sqrt(below / (2 * SAMPLES))


def text(records: Records) -> Iterator[str]:
    """Figure 4 in numbers."""
    yield "### Figure 4: random labels"
    yield ""
    counts = {
        m: next((given(r.method)["iterations"] for r in records if of_mode(r, m)), "-") for m in (ALONE, POLISHED)
    }
    yield f"RMSE = √L after {counts[ALONE]} steps of the bold driver ({counts[POLISHED]} before Levenberg-Marquardt),"
    yield f"{STARTS} starts of every seed: the best, the median and the worst of all. The paper's text is v = 1 with W"
    yield "alone trained, its figure says no more. Starts of one seed share inputs and labels; intervals of shares take"
    yield "them for independent."
    yield ""
    rows = []
    for panel in RANDOM:
        told = {mode: ends(records, panel, mode) for mode in MODES}
        for k in sorted({k for found in told.values() for k in found}):
            entries = (three(told[mode].get(k, [])) for mode in MODES)
            rows.append((panel, f"{k:g}", f"{ratio(panel, k):g}", str(len(seeds(records, panel))), *entries))
    yield from grid(("panel", "k", "kD/N", "seeds", *MODES), rows)
    yield ""
    for panel in RANDOM:
        if mine := seeds(records, panel):
            low = [floor(panel, seed) for seed in mine]
            yield f"- {panel}: with v = 1 no output is negative, so that no width gets below √(Σ_{{y<0}} y² / 2N) ="
            yield f"  {min(low):.2f} to {max(low):.2f} on these labels."


def three(values: Sequence[float]) -> str:
    """The best, the median and the worst."""
    return f"{min(values):.1e}, {median(values):.1e}, {max(values):.1e}" if values else "-"


def trajectories(records: Records) -> Figure:
    """Figure 4 as curves, the best start of one seed."""
    panels = {}
    for panel in RANDOM:
        mine = [r for r in records if is_random(r, panel, ALONE) and r.claims]
        first = min((r.seed for r in mine), default=None)
        lines = {}
        for r in sorted((r for r in mine if r.seed == first), key=lambda r: option(r.task, "k")):
            values = [c.metrics["training_rmse"] for c in r.claims][: len(STEPS)]
            k = option(r.task, "k")
            lines[f"k = {k:g}, kD/N = {ratio(panel, k):g}"] = [
                *zip((*STEPS, int(option(r.method, "iterations"))), [*values, r.metrics["training_rmse"]], strict=True)
            ]
        panels[panel] = lines
    if not all(panels.values()):
        raise UsageError("no steps to draw")
    return losses(panels, "RMSE, best of 5 starts of one seed")


# Verdicts


def by_seed(records: Records, panel: str, mode: str) -> dict[float, list[list[float]]]:
    """By width past kD = 1.5 N, and seed by seed, the RMSE of every start."""
    told = {seed: ends([r for r in records if r.seed == seed], panel, mode) for seed in seeds(records, panel)}
    widths = sorted({k for found in told.values() for k in found if ratio(panel, k) > ENOUGH})
    return {k: [found[k] for found in told.values() if k in found] for k in widths}


def at_zero(found: Mapping[float, list[list[float]]]) -> tuple[int, int]:
    """Starts that end at zero, and starts."""
    every = [rmse for groups in found.values() for group in groups for rmse in group]
    return sum(rmse < ZERO for rmse in every), len(every)


def counted(panel: str, made: Made) -> str:
    """Starts at zero by width, settled, and by descent alone."""
    told = []
    for mode in (POLISHED, ALONE, FLIPPED):
        found = by_seed(made["landscape-3"], panel, mode)
        each = (f"{good} of {of} at kD/N = {ratio(panel, k):g}" for k in found for good, of in [at_zero({k: found[k]})])
        told.append(f"{mode}: {', '.join(each)}")
    return "; ".join(told)


def able(panel: str, made: Made) -> Judged:
    """Whether at every width with kD > 1.5 N some start of every seed ends at zero, once its basin is settled."""
    found = by_seed(made["landscape-3"], panel, POLISHED)
    if not found:
        return None, ""
    held = all(min(group) < ZERO for groups in found.values() for group in groups)
    return held, f"starts at zero (RMSE below {ZERO:.0e}), {counted(panel, made)}"


def almost_always(panel: str, made: Made) -> Judged:
    """Whether `ALMOST` of those starts end at zero: the interval of their share lies above, or below."""
    good, of = at_zero(by_seed(made["landscape-3"], panel, POLISHED))
    if not of:
        return None, ""
    low, high = wilson(good, of)
    told = f"{good} of {of} starts, {good / of:.2f} [{low:.2f}, {high:.2f}], at all widths with kD > {ENOUGH:g} N"
    return (True if low >= ALMOST else False if high < ALMOST else None), f"{POLISHED}: {told}"


def ones_have_a_floor(made: Made) -> Judged:
    """Whether the text's 1ᵀφ(Wx) reaches zero."""
    told, held = [], []
    for panel in RANDOM:
        found = ends(made["landscape-3"], panel, ONES)
        if found:
            least, low = (
                min(min(v) for v in found.values()),
                min(floor(panel, s) for s in seeds(made["landscape-3"], panel)),
            )
            held.append(least < ZERO)
            told.append(f"{panel}: at least {least:.2f} at every width, floor {low:.2f}")
    return (any(held) if held else None), "; ".join(told)


def wider_is_better(panel: str, made: Made) -> Judged:
    """Whether the median RMSE falls with the width."""
    found = ends(made["landscape-3"], panel, ALONE)
    medians = [median(v) for v in found.values()]
    told = ", ".join(f"{m:.1e} at k = {k:g}" for k, m in zip(found, medians, strict=True))
    falls = all(b < a or b < ZERO for a, b in pairwise(medians))
    return (falls if len(medians) > 1 else None), f"{ALONE}: medians {told}"
