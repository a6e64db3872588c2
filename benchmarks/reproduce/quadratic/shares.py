"""Figures 2 and 3: of how many teachers every start finds a global minimum, by panel, descent and start.

An entry is a share of teachers, with its 95 % interval by Wilson; a crossing of 1/2 is that of a logistic curve on the
rising branch, its interval by the likelihood (benchmarks.reproduce.transitions).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scipy.stats import fisher_exact

from benchmarks.reproduce.pages import Records, grid, option
from benchmarks.reproduce.quadratic.printed import CAPTIONED, EXPERIMENTS, PANELS, SAMPLES, STARTS, Panel
from benchmarks.reproduce.source_items import Judged, Made
from benchmarks.reproduce.transitions import Points, crossing, crossing_interval, rising, shares
from paramid.methods.squares.overparam_descent import FLAT, GROW, KICK, KICKS
from paramid.pictures.sheet import Figure
from paramid.records.record import Record
from paramid.statistics.intervals import wilson
from paramid.words.naming import Name, UsageError

UNLIKELY = 0.05  # chance below which it is not
V0 = {"v = ±1": "rademacher", "v = 1": "ones"}
LEVELS = {"fitted": "L < 1e-8", "fitted_nearly": "L < 1e-4"}  # of what f̂ = 0 leaves


@dataclass(frozen=True)
class Reading:
    """A descent, a start, and when a minimum counts as global."""

    name: str
    options: tuple[tuple[str, str], ...]  # that its method's name has; an empty one it has not
    v0: str
    level: str = "fitted"

    @property
    def said(self) -> str:
        """In words."""
        return f"{self.name}, {self.v0}, {LEVELS[self.level]}"


POLISH = (("polish", "lm"),)
CONSTANT = (("step", "curvature"), ("kicks", "0"))
BOLD = (("polish", ""), ("step", ""))
SETTLED = Reading("descent, then Levenberg-Marquardt", POLISH, "v = ±1")
SETTLED_ONES = Reading("descent, then Levenberg-Marquardt", POLISH, "v = 1")
PRINTED = Reading("descent alone, constant step", CONSTANT, "v = ±1", "fitted_nearly")
DRIVEN = Reading("descent alone, bold driver", BOLD, "v = ±1", "fitted_nearly")
READINGS = (
    SETTLED,
    SETTLED_ONES,
    PRINTED,
    Reading("descent alone, constant step", CONSTANT, "v = ±1"),
    DRIVEN,
    Reading("descent alone, bold driver", BOLD, "v = ±1"),
    Reading("descent alone, bold driver", BOLD, "v = 1", "fitted_nearly"),
    Reading("descent alone, bold driver", BOLD, "v = 1"),
)
Counts = Mapping[float, tuple[int, int]]  # by place of the axis: teachers that every start fits, teachers


def given(name: str) -> dict[str, str]:
    """The options of a name."""
    return dict(Name.parse(name).options)


def on_panel(record: Record, panel: Panel) -> bool:
    """Whether a record's teachers are planted and belong to the panel."""
    told = given(record.task)
    rest = {name: text for name, text in told.items() if name not in (panel.axis, "N", "instances")}
    return rest == panel.others and "instances" in told


def read_by(record: Record, reading: Reading) -> bool:
    """Whether a record is of that descent and start."""
    told = given(record.method)
    right = all(told.get(name, "") == value for name, value in reading.options)
    return right and told.get("v0", "ones") == V0[reading.v0] and told.get("train") == "both"


def counts(records: Records, panel: Panel, reading: Reading) -> Counts:
    """Teachers that every start fits: the worst start of each is claimed first of the last ten."""
    found: dict[float, tuple[int, int]] = {}
    for r in records:
        if len(r.claims) >= STARTS and on_panel(r, panel) and read_by(r, reading):
            teachers = int(option(r.task, "instances"))
            share = r.claims[-STARTS].metrics.get(reading.level, 0.0)
            before = found.get(x := option(r.task, panel.axis), (0, 0))
            found[x] = (before[0] + round(share * teachers), before[1] + teachers)
    return dict(sorted(found.items()))


def steps(records: Records, reading: Reading) -> str:
    """Of its descent, as its method says."""
    found = {given(r.method)["iterations"] for r in records if read_by(r, reading)}
    return " or ".join(sorted(found)) or "-"


def points(seen: Counts) -> Points:
    """Shares."""
    return [(x, good / of) for x, (good, of) in seen.items()]


def teachers(seen: Counts) -> int:
    """How many at the place that has least."""
    return min((of for _, of in seen.values()), default=0)


def text(records: Records) -> Iterator[str]:
    """Both figures, panel by panel."""
    yield f"{STARTS} starts of every teacher; teachers of one seed share their inputs, two seeds do not. An entry is"
    yield "the share of teachers that *every* start fits, with its 95 % interval (Wilson), to L below the told share of"
    yield "what f̂ = 0 leaves; a crossing of 1/2 is that of a logistic curve on the rising branch, with its 95 %"
    yield "interval by the likelihood. v_0 = ±1, as printed, or 1, which is ours; v and W are trained."
    yield ""
    alone, bold, before = (steps(records, r) for r in (PRINTED, DRIVEN, SETTLED))
    share = next((given(r.method).get("step_scale", "1") for r in records if read_by(r, PRINTED)), "-")
    yield "What the paper does not say is ours: the step, the number of steps, and when a minimum counts as global."
    yield f"*Constant step*: {share}/λ_max(JJᵀ/n) at the start, {alone} steps, no kicks."
    yield f"*Bold driver*: a step that grows by {GROW - 1:.0%} and halves where L would rise, {bold} steps; noise of"
    yield f"{KICK:g} kicks a run whose slope is below {FLAT:g}, {KICKS} times at most."
    yield f"What settles whether a basin is global is ours too: {before} steps of the bold driver, then"
    yield "Levenberg-Marquardt, after which a start is at L = 0 to rounding or far from it."
    yield ""
    yield from grid(
        ("panel", "descent and start", "paper", "ours", "kD/N", "teachers"),
        (
            row
            for panel in (*PANELS, *CAPTIONED)
            for reading in READINGS
            if (row := crossing_row(records, panel, reading))
        ),
    )
    for panel in (*PANELS, *CAPTIONED):
        if not any(counts(records, panel, reading) for reading in READINGS):
            continue
        yield from ("", f"### {panel.title}", "")
        yield from table(records, panel)
    yield ""
    yield from trapped(records)


def crossing_row(records: Records, panel: Panel, reading: Reading) -> tuple[str, ...] | None:
    """The crossing beside the paper's; None where nothing was run."""
    seen = counts(records, panel, reading)
    if not seen:
        return None
    c = crossing(points(seen), teachers(seen))[0]
    ratio = "-" if math.isnan(c) else f"{panel.weights(c) / SAMPLES:.2f}"
    paper = f"{panel.axis} = {panel.crossing:g}"
    return panel.title, reading.said, paper, crossed(seen), ratio, str(teachers(seen))


def crossed(seen: Counts) -> str:
    """A crossing with its interval, or why there is none."""
    c = crossing(points(seen), teachers(seen))[0]
    if math.isnan(c):
        low, high = min(seen), max(seen)
        return f"none in {low:g} to {high:g}"
    low, high = crossing_interval(points(seen), teachers(seen))
    return f"{c:.2f} [{low:.2f}, {high:.2f}]"


def table(records: Records, panel: Panel) -> Iterator[str]:
    """Shares over the axis, a column for every reading that was run."""
    columns = {reading: seen for reading in READINGS if (seen := counts(records, panel, reading))}
    places = sorted({x for seen in columns.values() for x in seen})
    rows = (
        (f"{x:g}", f"{panel.weights(x) / SAMPLES:.2f}", *(entry(seen.get(x)) for seen in columns.values()))
        for x in places
    )
    yield from grid((panel.axis, "kD/N", *(f"{r.said} ({teachers(seen)})" for r, seen in columns.items())), rows)


def entry(seen: tuple[int, int] | None) -> str:
    """A share with its interval."""
    if seen is None:
        return "-"
    low, high = wilson(*seen)
    return f"{seen[0] / seen[1]:.2f} [{low:.2f}, {high:.2f}]"


def trapped(records: Records) -> Iterator[str]:
    """The profile benign, hard, benign."""
    for panel in PANELS:
        seen = counts(records, panel, SETTLED_ONES)
        line = points(seen)
        if line and (hard := rising(line)[0])[0] > line[0][0] and line[-1][1] > hard[1]:
            before = max(p for x, p in line if x < hard[0])
            if before > hard[1]:
                yield f"- {panel.title}, {SETTLED_ONES.said}: {before:.2f} of the teachers before {panel.axis} ="
                yield f"  {hard[0]:g}, {hard[1]:.2f} there (kD/N = {panel.weights(hard[0]) / SAMPLES:.2f}),"
                yield f"  {line[-1][1]:.2f} at the end: few weights find the teacher, many fit anything, and"
                yield "  between the two descent is trapped."


def transitions(records: Records) -> Figure:
    """Figures 2 and 3 as curves."""
    shown = (SETTLED, SETTLED_ONES, PRINTED)
    panels = {
        panel.title: (panel.axis, {r.said: points(seen) for r in shown if (seen := counts(records, panel, r))})
        for panel in PANELS
    }
    if not all(lines for _, lines in panels.values()):
        raise UsageError("no starts to count")
    least = min(teachers(seen) for p in PANELS for r in shown if (seen := counts(records, p, r)))
    return shares(panels, least)


# Verdicts


def crossing_agrees(panel: Panel, reading: Reading, made: Made) -> Judged:
    """Whether the paper's crossing lies within the interval of ours; not decided up to what its own teachers tell."""
    seen = counts(made["landscape-3"], panel, reading)
    if not seen:
        return None, ""
    low, high = crossing_interval(points(seen), teachers(seen))
    told = f"{reading.said}: {panel.axis} = {crossed(seen)} before {teachers(seen)} teachers"
    told = f"{told}, where {panel.crossing:g} is printed, of {EXPERIMENTS}"
    if low <= panel.crossing <= high:
        return True, told
    wider = math.sqrt(1 + teachers(seen) / EXPERIMENTS)  # of the difference of two such crossings
    c = crossing(points(seen), teachers(seen))[0]
    return (None if c - wider * (c - low) <= panel.crossing <= c + wider * (high - c) else False), told


def always_from(panel: Panel, reading: Reading, made: Made) -> Judged:
    """Whether from the printed place on no start of any teacher is trapped.

    False where the paper's teachers, all of which were fitted, would be by chance in less than one case of twenty.
    """
    seen = {x: n for x, n in counts(made["landscape-3"], panel, reading).items() if x >= (panel.always or 0)}
    if not seen:
        return None, ""
    told = ", ".join(f"{good} of {of} at {x:g}" for x, (good, of) in seen.items())
    told = f"{reading.said}: {told}, {EXPERIMENTS} of {EXPERIMENTS} printed"
    if all(good == of for good, of in seen.values()):
        return True, told
    chance = min(fisher_exact([[EXPERIMENTS, 0], [good, of - good]], "greater").pvalue for good, of in seen.values())
    return (False if chance < UNLIKELY else None), told


def rises(panel: Panel, made: Made) -> Judged:
    """Whether shares rise with kD beyond N: intervals of the first place past it and of the last do not meet."""
    seen = counts(made["landscape-3"], panel, SETTLED)
    past = [(x, n) for x, n in seen.items() if panel.weights(x) >= SAMPLES]
    if len(past) < 2:
        return None, ""
    (a, first), (b, last) = past[0], past[-1]
    told = f"{SETTLED.said}: {entry(first)} at {panel.axis} = {a:g}, {entry(last)} at {b:g}"
    if wilson(*last)[0] > wilson(*first)[1]:
        return True, told
    return (False if wilson(*last)[1] < wilson(*first)[0] else None), told


def falls_before(made: Made) -> Judged:
    """Whether more weights always help: Figure 3 with v = 1 has teachers found before kD = N that are lost at it."""
    found = []
    for panel in PANELS:
        line = points(counts(made["landscape-3"], panel, SETTLED_ONES))
        if line:
            bottom, x = min((p, x) for x, p in line)
            before = max((p for at, p in line if at < x), default=0.0)
            found += [f"{panel.name}: {before:.2f} before {panel.axis} = {x:g}, {bottom:.2f} there"] * (before > bottom)
    told = "; ".join(found) or "no panel has a share that falls"
    return not found, f"{SETTLED_ONES.said}: {told}"


def caption_or_text(made: Made) -> Judged:
    """Whether Figure 3's caption can be meant: by kD at its crossings, and by our shares at its dimensions."""
    told, held = [], []
    for panel in CAPTIONED:
        seen = counts(made["landscape-3"], panel, SETTLED)
        if seen:
            low, high = crossing_interval(points(seen), teachers(seen))
            held.append(low <= panel.crossing <= high)
            told.append(
                f"{panel.title}: kD/N = {panel.weights(panel.crossing) / SAMPLES:.2f} at the printed crossing, ours"
            )
            told[-1] += f" {crossed(seen)}"
    return (all(held) if held else None), "; ".join(told)
