"""The page beside the thesis, chapter 1: empirical risk minimisation by SGD, its phases, and its rate.

(1)  N = ⌈D^α⌉,   m = ⌈0.4 D^β⌉,   m (D + 1) parameters.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    IDENTIFIED,
    SECONDS,
    SEEDS,
    Records,
    by_task,
    grid,
    grouped,
    headed,
    middle,
    option,
    share,
)
from benchmarks.reproduce.shallow.items import verdict
from benchmarks.reproduce.source_items import Item
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure
from paramid.records.record import Record
from paramid.words.naming import Name

FITTED = 1e-4  # J of a student that fits its samples, where that of another is of the size of m
SMALL, POOR = 1e-2, 1e-1  # E∞ of a student that generalises, and of one that does not


PHASES = """\
N(0, 0.05) is read as a variance. N = ⌈D^α⌉, m = ⌈0.4 D^β⌉ at D = {dimension}, where the thesis has D = 25 and
ten minutes of a P100; ours ends at J < 1e-8, as the thesis', or after {limit:g} seconds of a core. Medians of
{seeds} seeds, where the thesis has means of 5. Each entry: identified, training loss J, E∞ over 10 000 inputs
(the thesis: 10⁶). Of its orders of samples α = 3.5 and 4.5 are left out."""
RATES = """\
The thesis: ten minutes a run at the rate 0.005 over D = 15 … 50 (Figure 1.3), and fifty minutes at several rates at
D = 50, whose values the text has lost (Figure 1.4). Ours are seconds of a core: what they find is found, what they
do not find is not decided. N = 5/2 m D², and 200 000 at D = 50, more than is read once in these seconds. Of its
dimensions D = 15, 25 and 50, of its orders of neurons 1, 1.5 and 2. Medians over the seeds, where the thesis has
means of 4 runs and of 3."""


def tuned(record: Record) -> bool:
    """Whether the rate is 0.5 / m and not the printed one."""
    return "auto" in record.method


def samples(record: Record) -> float:
    """N, the thesis' 5/2 m D² where a cell names none."""
    told = dict(Name.parse(record.method).options).get("N")
    return float(told) if told else 2.5 * neurons(record) * option(record.task, "D") ** 2


def neurons(record: Record) -> int:
    """The m of (1)."""
    told = dict(Name.parse(record.task).options)
    return int(told["m"]) if "m" in told else math.ceil(0.4 * float(told["D"]) ** float(told["beta"]))


def exponents(record: Record) -> tuple[float, float]:
    """The α and β of (1)."""
    d = option(record.task, "D")
    return round(2 * math.log(samples(record)) / math.log(d)) / 2, option(record.task, "beta")


def loss(record: Record) -> float:
    """J of the last claim."""
    return record.stats.get("training_loss", math.nan)


def uniform(record: Record) -> float:
    """E∞, infinite where nothing was claimed."""
    return record.metrics.get("output_error", math.inf)


def identified(record: Record) -> bool:
    """Whether weights and shifts were found."""
    return record.metrics.get("identified") == 1


def counted(records: Records) -> str:
    """How many of them are identified."""
    return f"{sum(map(identified, records))} of {len(records)}"


def phases(records: Records) -> Iterator[str]:
    """Figure 1.2."""
    seeds = len({r.seed for r in records})
    limits = sorted({r.budget.get("seconds") or math.inf for r in records})
    dimension = f"{option(records[0].task, 'D'):g}"
    yield from PHASES.format(dimension=dimension, limit=limits[-1], seeds=seeds).splitlines()
    for title, which in (("The printed rate 0.005", False), ("The rate 0.5 / m", True)):
        mine = [r for r in records if tuned(r) == which]
        yield from headed(title, phase_table(mine))


def phase_table(records: Records) -> Iterator[str]:
    """Rows over α, columns over β."""
    places = grouped(records, exponents)
    alphas, betas = sorted({a for a, _ in places}), sorted({b for _, b in places})
    body = ((f"{a:g}", *(entry(places.get((a, b), [])) for b in betas)) for a in alphas)
    yield from grid(("α", *(f"β = {b:g}" for b in betas)), body)


def entry(mine: Records) -> str:
    """Identified, J and E∞ of a place."""
    if not mine:
        return "-"
    return f"{share(identified)(mine)}, {median(map(loss, mine)):.0e}, {median(map(uniform, mine)):.0e}"


def over_samples(records: Records) -> Figure:
    """Median E∞ over α at the rate 0.5 / m, a line for every β."""
    series: dict[str, list[tuple[float, float]]] = {}
    places = grouped(filter(tuned, records), exponents)
    for a, b in sorted(places, key=lambda place: (place[1], place[0])):
        series.setdefault(f"β = {b:g}", []).append((a, median(map(uniform, places[a, b]))))
    return chart(series, title="SGD at the rate 0.5 / m", across="α, N = ⌈D^α⌉", up="E∞")


def rates(records: Records) -> Iterator[str]:
    """Figures 1.3 and 1.4."""
    yield from RATES.splitlines()
    yield ""
    output = ("E∞", middle("output_error", ".1e"))
    trained = ("J", lambda mine: f"{median(map(loss, mine)):.1e}")
    weights = ("weight error", middle("weight_error", ".2g"))
    yield from by_task(records, SEEDS, IDENTIFIED, trained, output, weights, SECONDS, ENDED)


def items(made: Mapping[str, Records]) -> Iterator[Item]:
    """What §1.3.1 says, and what the records say of it."""
    yield from zones([r for r in made.get("sgd-1.3", []) if "beta" in r.task])
    yield from growth(made.get("sgd-rate", []))


def zones(records: Records) -> Iterator[Item]:
    """Figure 1.2's statements."""
    if not records:
        return
    for which, name in ((False, "printed rate"), (True, "rate 0.5 / m")):
        mine = [r for r in records if tuned(r) == which]
        inside = [r for r in mine if exponents(r)[0] > 2 * exponents(r)[1]]
        few = [r for r in mine if exponents(r)[0] <= exponents(r)[1] + 1]
        fitted = [r for r in few if fits(r)]
        yield zone(f"Figure 1.2: α > 2β is identified ({name})", inside, identified, "identified", late=True)
        yield zone(f"Figure 1.2: α ≤ β + 1 fits perfectly ({name})", few, fits, f"below J = {FITTED:g}", late=True)
        yield zone(
            f"Figure 1.2: where α ≤ β + 1 fits, it does not generalise in any case ({name})",
            fitted,
            lambda r: uniform(r) > POOR,
            f"above E∞ = {POOR:g}",
        )
        yield widest(f"Figure 1.2: β = 15/8 is identified, β = 2 not consistently ({name})", inside)
    found, good = [r for r in records if identified(r)], [r for r in records if uniform(r) < SMALL]
    yield zone("§1.3.1: a small E∞ means identified", good, identified, f"of those with E∞ < {SMALL:g}")
    yield zone(
        "§1.3.1: identified only with more samples than the m + Dm parameters",
        found,
        lambda r: samples(r) > neurons(r) * (option(r.task, "D") + 1),
        "of those identified",
    )
    both = [r for r in records if 2 * exponents(r)[1] < exponents(r)[0] <= exponents(r)[1] + 1]
    yield verdict(
        "Figure 1.2: 2β < α ≤ β + 1, of which its rules say both",
        None,
        f"identified and overfitted exclude each other; {counted(both)} are identified.",
        where="sgd-1.3",
    )


def fits(record: Record) -> bool:
    """Whether a student fits its samples."""
    return loss(record) < FITTED


def zone(source: str, records: Records, test: Callable[[Record], bool], words: str, *, late: bool = False) -> Item:
    """A statement about every cell of a zone; where `late`, one that ran out of time does not speak against it."""
    if not records:
        return verdict(source, None, "no cell of ours is there.", where="sgd-1.3")
    wrong = [r for r in records if not test(r)]
    against = [r for r in wrong if not (late and r.status.key == "timed_out")]
    places = ", ".join(f"({a:g}, {b:g})" for a, b in sorted(set(map(exponents, against))))
    why = (
        f"{len(records) - len(wrong)} of {len(records)} {words}",
        f"; {len(wrong) - len(against)} of the others ran out of time" if late and wrong else "",
        f"; against it are {len(against)} at (α, β) = {places}, of D = {option(records[0].task, 'D'):g}"
        if places
        else "",
    )
    return verdict(source, False if against else None if wrong else True, "".join(why), where="sgd-1.3")


def widest(source: str, records: Records) -> Item:
    """β = 15/8 beside β = 2 where α > 2β: cells that ran out of time settle nothing."""
    near, wide = ([r for r in records if exponents(r)[1] == b] for b in (1.875, 2))
    lost = [r for r in wide if not identified(r)]
    ended = all(map(identified, near)) and any(r.status.key != "timed_out" for r in lost)
    held = False if wide and not lost else True if near and ended else None
    told = f"where α > 2β {counted(near)} identified at β = 15/8 and {counted(wide)} at β = 2"
    late = sum(r.status.key == "timed_out" for r in lost)
    why = f"{told}, {late} of the others out of time. The thesis' runs have D = 25, which it calls low itself."
    return verdict(source, held, why, where="sgd-1.3")


def growth(records: Records) -> Iterator[Item]:
    """Figures 1.3 and 1.4."""
    if not records:
        return
    few, many = ([r for r in records if (option(r.task, "beta") <= 1) == small] for small in (True, False))
    told = f"{counted(few)} identified at β ≤ 1; {counted(many)} identified at β > 1"
    yield verdict(
        "Figure 1.3: for growing D only relatively small networks are fitted",
        None,
        f"{told}: in seconds and not in ten minutes, which settles nothing of what a longer run would do.",
        where="sgd-rate",
    )
    wide = [r for r in records if option(r.task, "D") == 50 and option(r.task, "beta") == 2]
    yield verdict(
        "Figure 1.4: m = 1000 at D = 50 is not identified at any rate tried",
        False if any(map(identified, wide)) else None,
        f"{counted(wide)} runs identify it, in seconds.",
        where="sgd-rate",
    )
    by_rate = {rate(r): uniform(r) for r in records if option(r.task, "D") == 50 and option(r.task, "beta") == 1.5}
    best = min(by_rate, key=by_rate.__getitem__, default=math.nan)
    beside = f", {by_rate.get(best, math.inf):.1e} beside {by_rate.get(0.005, math.inf):.1e} at 0.005"
    yield verdict(
        "Figure 1.4: smaller rates and longer runs help",
        True if best < 0.005 else None,
        f"After our seconds at D = 50, β = 1.5 the rate {best:g} has the least E∞{'' if best == 0.005 else beside}.",
        where="sgd-rate",
    )


def rate(record: Record) -> float:
    """The rate of a cell."""
    told = dict(Name.parse(record.method).options).get("lr", "0.005")
    return 0.5 / neurons(record) if told == "auto" else float(told)
