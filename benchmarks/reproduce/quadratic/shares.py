"""Figures 2 and 3: of how many teachers every start finds a global minimum, by panel, descent and start.

An entry is a share of teachers, with its 95 % interval by Wilson; a crossing of 1/2 is that of a logistic curve on the
rising branch, its interval by the likelihood (benchmarks.reproduce.transitions). The source prints neither its step nor
its tolerance: a verdict is taken where both levels of L give the same, from starts of which descent has come to an end.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy.stats import fisher_exact

from benchmarks.reproduce.pages import Records, grid, option
from benchmarks.reproduce.quadratic.printed import CAPTIONED, EXPERIMENTS, PANELS, SAMPLES, STARTS, Panel
from benchmarks.reproduce.source_items import Judged, Made, every
from benchmarks.reproduce.transitions import Points, crossing, crossing_interval, rising, shares
from paramid.methods.overparam_gd import OverparamGD
from paramid.methods.squares.overparam_descent import FLAT, GROW, KICK, KICKS
from paramid.pictures.sheet import Figure
from paramid.records.record import Record
from paramid.statistics.intervals import wilson
from paramid.tasks.quadratic import Quadratic
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
SETTLED_ONES = replace(SETTLED, v0="v = 1")
LEVEL_BY_LEVEL = (SETTLED, replace(SETTLED, level="fitted_nearly"))
PRINTED = Reading("descent alone, constant step", CONSTANT, "v = ±1", "fitted_nearly")
DRIVEN = Reading("descent alone, bold driver", BOLD, "v = ±1", "fitted_nearly")
READINGS = (
    *LEVEL_BY_LEVEL,
    SETTLED_ONES,
    replace(SETTLED_ONES, level="fitted_nearly"),
    PRINTED,
    DRIVEN,
    replace(DRIVEN, v0="v = 1"),
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


def unsettled(records: Records, panel: Panel, reading: Reading) -> str:
    """The share of all starts, from kD = N on, that end between the two levels."""
    between, starts = 0.0, 0
    for r in records:
        wide = on_panel(r, panel) and panel.weights(option(r.task, panel.axis)) >= SAMPLES
        if wide and len(r.claims) >= STARTS and read_by(r, reading):
            ends = [c.metrics for c in r.claims[-STARTS:]]
            between += sum(m.get("fitted_nearly", 0.0) - m.get("fitted", 0.0) for m in ends)
            starts += STARTS
    return f"{between / starts:.1%}" if starts else "-"


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


def numbers(seen: Counts) -> str:
    """How many there are, of all places."""
    most = max(of for _, of in seen.values())
    return f"{teachers(seen)}" if most == teachers(seen) else f"{teachers(seen)} to {most}"


def text(records: Records) -> Iterator[str]:
    """Both figures, panel by panel."""
    yield f"{STARTS} starts of every teacher. An entry is the share of teachers that *every* start fits, with its"
    yield "95 % interval (Wilson), to L below the told share of what f̂ = 0 leaves; a crossing of 1/2 is that of a"
    yield "logistic curve on the rising branch, with its 95 % interval by the likelihood. Intervals take teachers for"
    yield "independent, although those of one seed share their inputs. v_0 = ±1, as printed, or 1, which is ours; v and"
    yield f"W are trained. Softplus is log(1 + e^{{{Quadratic().b:g}z}})/{Quadratic().b:g}."
    yield ""
    alone, bold, before = (steps(records, r) for r in (PRINTED, DRIVEN, SETTLED))
    share = next((given(r.method).get("step_scale", "1") for r in records if read_by(r, PRINTED)), "-")
    yield "What the paper does not say is ours: the step, the number of steps, and when a minimum counts as global."
    yield f"*Constant step*: {share}/λ_max(JJᵀ/n) at the start, {alone} steps, no kicks."
    yield f"*Bold driver*: a step that grows by {GROW - 1:.0%} and halves where L would rise, {bold} steps; noise of"
    yield f"{KICK:g} kicks a run whose slope is below {FLAT:g}, {KICKS} times at most."
    yield f"*Settled*, ours too: {before} steps of the bold driver, then at most {OverparamGD().lm_steps} of"
    yield "Levenberg-Marquardt. Most starts are then at L = 0 to rounding, or above both levels; the last column says"
    yield "how many of those from kD = N on are between them: minima with a small loss, or starts that are still on"
    yield "their way. The lower level counts them as trapped, the higher as global."
    yield ""
    yield from grid(
        ("panel", "descent and start", "paper", "ours", "kD/N", "teachers", "starts between the levels"),
        (
            row
            for panel in (*PANELS, *CAPTIONED)
            for reading in READINGS
            if (row := crossing_row(records, panel, reading))
        ),
    )
    yield ""
    yield from seed_by_seed(records)
    for panel in (*PANELS, *CAPTIONED):
        if not any(counts(records, panel, reading) for reading in READINGS):
            continue
        yield from ("", f"### {panel.title}", "")
        yield from table(records, panel)
    yield ""
    yield from trapped(records)


def seed_by_seed(records: Records) -> Iterator[str]:
    """The settled crossing of every seed alone: teachers of one seed share their inputs."""
    for panel in PANELS:
        alone = {
            seed: seen
            for seed in sorted({r.seed for r in records})
            if len(seen := counts([r for r in records if r.seed == seed], panel, SETTLED)) > 1
        }
        if len(alone) > 1:
            told = ", ".join(f"{panel.axis} = {crossed(seen)} of seed {seed}" for seed, seen in alone.items())
            yield f"- {panel.name}, {SETTLED.said}, every seed alone: {told}."


def crossing_row(records: Records, panel: Panel, reading: Reading) -> tuple[str, ...] | None:
    """The crossing beside the paper's; None where no two places were run."""
    seen = counts(records, panel, reading)
    if len(seen) < 2:
        return None
    c = crossing(points(seen), teachers(seen))[0]
    ratio = "-" if math.isnan(c) else f"{panel.weights(c) / SAMPLES:.2f}"
    paper = f"{panel.axis} = {panel.crossing:g}"
    between = unsettled(records, panel, reading) if reading.options == POLISH else "-"
    return panel.title, reading.said, paper, crossed(seen), ratio, numbers(seen), between


def crossed(seen: Counts) -> str:
    """A crossing with its interval, or why there is none."""
    c = crossing(points(seen), teachers(seen))[0]
    if math.isnan(c):
        return f"past {max(seen):g}" if rising(points(seen))[0][1] < 0.5 else f"before {min(seen):g}"
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
    yield from grid((panel.axis, "kD/N", *(f"{r.said} ({numbers(seen)})" for r, seen in columns.items())), rows)


def entry(seen: tuple[int, int] | None) -> str:
    """A share with its interval."""
    if seen is None:
        return "-"
    low, high = wilson(*seen)
    return f"{seen[0] / seen[1]:.2f} [{low:.2f}, {high:.2f}]"


def hardest(records: Records, panel: Panel) -> tuple[float, float, float, float] | None:
    """With v = 1: the largest share before the rising branch, where that begins, the shares there and at the end."""
    line = points(counts(records, panel, SETTLED_ONES))
    if not line:
        return None
    x, bottom = rising(line)[0]
    return max((p for at, p in line if at < x), default=0.0), x, bottom, line[-1][1]


def trapped(records: Records) -> Iterator[str]:
    """The profile benign, hard, benign."""
    for panel in PANELS:
        if (found := hardest(records, panel)) and min(found[0], found[3]) > found[2]:
            before, x, bottom, end = found
            yield f"- {panel.title}, {SETTLED_ONES.said}: {before:.2f} of the teachers before {panel.axis} ="
            yield f"  {x:g}, {bottom:.2f} there (kD/N = {panel.weights(x) / SAMPLES:.2f}),"
            yield f"  {end:.2f} at the end: few weights find the teacher, many fit anything, and"
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


def agrees(panel: Panel, seen: Counts) -> bool | None:
    """Whether the printed crossing lies within the interval of ours; None up to what the paper's teachers can tell."""
    branch, (c, _) = rising(points(seen)), crossing(points(seen), teachers(seen))
    if math.isnan(c):
        beyond = panel.crossing <= max(seen) if branch[0][1] < 0.5 else panel.crossing >= min(seen)
        return False if beyond else None
    low, high = crossing_interval(points(seen), teachers(seen))
    if low <= panel.crossing <= high:
        return True
    wider = math.sqrt(1 + teachers(seen) / EXPERIMENTS)  # of the difference of two such crossings
    return None if c - wider * (c - low) <= panel.crossing <= c + wider * (high - c) else False


def same(held: Sequence[bool | None]) -> bool | None:
    """What both levels say."""
    return held[0] if len(set(held)) == 1 else None


def crossing_agrees(panel: Panel, made: Made) -> Judged:
    """Whether the paper's crossing is ours, at both levels; and of which readings it is."""
    records = made["landscape-3"]
    all_ = {reading: seen for reading in READINGS if (seen := counts(records, panel, reading))}
    found = {reading: seen for reading, seen in all_.items() if reading in LEVEL_BY_LEVEL}
    if not found:
        return None, ""
    told = "; ".join(f"{LEVELS[r.level]}: {crossed(seen)}, {numbers(seen)} teachers" for r, seen in found.items())
    near = [r.said for r, seen in all_.items() if agrees(panel, seen)]
    told = f"{told}; printed {panel.crossing:g}, {EXPERIMENTS} teachers, which is within the interval of"
    return same([agrees(panel, seen) for seen in found.values()]), f"{told} {'; '.join(near) or 'no reading of ours'}"


def one_reading(made: Made) -> Judged:
    """Whether one of our readings is at odds with none of the printed crossings."""
    found = {}
    for reading in READINGS:
        seen = {panel.name: counts(made["landscape-3"], panel, reading) for panel in PANELS}
        if all(len(places) > 1 for places in seen.values()):
            found[reading] = [panel.name for panel in PANELS if agrees(panel, seen[panel.name]) is False]
    told = "; ".join(f"{r.said}: {', '.join(odd) or 'none'}" for r, odd in found.items())
    return (any(not odd for odd in found.values()) if found else None), f"of each the panels at odds with it, {told}"


def always_from(panel: Panel, made: Made) -> Judged:
    """Whether from the printed place on no start of any teacher is trapped, at both levels."""
    found = [always_at(panel, reading, made) for reading in LEVEL_BY_LEVEL]
    return same([held for held, _ in found]), "; ".join(told for _, told in found if told)


def always_at(panel: Panel, reading: Reading, made: Made) -> Judged:
    """At one level.

    False where the paper's teachers, all of which were fitted, would be by chance in less than one case of twenty.
    """
    seen = {x: n for x, n in counts(made["landscape-3"], panel, reading).items() if x >= (panel.always or 0)}
    if not seen:
        return None, ""
    told = ", ".join(f"{good} of {of} at {x:g}" for x, (good, of) in seen.items())
    told = f"{LEVELS[reading.level]}: {told}, {EXPERIMENTS} of {EXPERIMENTS} printed"
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
    found = [
        f"{panel.name}: {told[0]:.2f} before {panel.axis} = {told[1]:g}, {told[2]:.2f} there"
        for panel in PANELS
        if (told := hardest(made["landscape-3"], panel)) and told[0] > told[2]
    ]
    return not found, f"{SETTLED_ONES.said}: {'; '.join(found) or 'no panel has a share that falls'}"


def caption_or_text(made: Made) -> Judged:
    """Whether Figure 3's caption can be meant: by kD at its crossings, and by our shares at its dimensions."""
    told, held = [], []
    for panel in CAPTIONED:
        found, said = crossing_agrees(panel, made)
        if said:
            held.append(found)
            at = panel.weights(panel.crossing) / SAMPLES
            told.append(f"{panel.title}: kD/N = {at:.2f} at the printed crossing, ours {said}")
    return (every(held) if held else None), "; ".join(told)
