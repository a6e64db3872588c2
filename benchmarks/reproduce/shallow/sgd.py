"""The page beside the thesis, chapter 1: empirical risk minimisation by SGD, its phases, and its rate.

(1)  N = ⌈D^α⌉,   m = ⌈0.4 D^β⌉,   m (D + 1) parameters.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import median

from benchmarks.reproduce.lines import chart
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
from paramid.records.record import Record
from paramid.words.naming import Name

FITTED = 1e-4  # J of a student that fits its samples, where that of another is of the size of m
SMALL, POOR = 1e-2, 1e-1  # E∞ of a student that generalises, and of one that does not
CONSISTENT = 0.9  # share of the cells of a zone


PHASES = """\
N(0, 0.05) is read as a variance. N = ⌈D^α⌉, m = ⌈0.4 D^β⌉ at D = {dimension}, where the thesis has D = 25 and
ten minutes of a P100; ours ends at J < 1e-8, as the thesis', or after {limit:g} seconds of a core. {seeds}
seeds. Each entry: identified, median training loss J, median E∞ over 10 000 inputs (the thesis: 10⁶). Of its
orders of samples α = 3.5 and 4.5 are left out."""
RATES = """\
The thesis: ten minutes a run at the rate 0.005 over D = 15 … 50 (Figure 1.3), and fifty minutes at several rates at
D = 50, whose values the text has lost (Figure 1.4). Ours are seconds of a core: what they find is found, what they
do not find is not decided. N = 5/2 m D², and 200 000 at D = 50, more than is read once in these seconds. Medians
over the seeds."""


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


def over_samples(records: Records) -> str:
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
        wide = [r for r in mine if exponents(r)[1] == 2]
        yield zone(f"Figure 1.2: α > 2β is identified ({name})", inside, identified, "identified")
        fitted = [r for r in few if loss(r) < FITTED]
        yield zone(f"Figure 1.2: α ≤ β + 1 fits perfectly ({name})", few, lambda r: loss(r) < FITTED, "below J = 1e-4")
        yield zone(
            f"Figure 1.2: where α ≤ β + 1 fits, it does not generalise ({name})",
            fitted,
            lambda r: uniform(r) > POOR,
            "above E∞ = 0.1",
        )
        yield never(f"Figure 1.2: β = 2 is not identified ({name})", wide)
    found, good = [r for r in records if identified(r)], [r for r in records if uniform(r) < SMALL]
    yield zone("§1.3.1: a small E∞ means identified", good, identified, "of those with E∞ < 0.01")
    yield zone(
        "§1.3.1: identified only with more samples than the m + Dm parameters",
        found,
        lambda r: samples(r) > neurons(r) * (option(r.task, "D") + 1),
        "of those identified",
        every=True,
    )
    both = [r for r in records if 2 * exponents(r)[1] < exponents(r)[0] <= exponents(r)[1] + 1]
    yield verdict(
        "Figure 1.2: 2β < α ≤ β + 1, of which its rules say both",
        None,
        f"identified and overfitted exclude each other; {counted(both)} are identified.",
        where="sgd-1.3",
    )
    most = max((exponents(r)[1] for r in found), default=0.0)
    yield verdict(
        "Figure 1.2: β = 15/8 is identified, β = 2 is not",
        None if most < 1.875 else most == 1.875,
        f"The largest β with a network identified is {most:g}, at a smaller D and in less time than the thesis'.",
        where="sgd-1.3",
    )


def zone(source: str, records: Records, test: Callable[[Record], bool], words: str, *, every: bool = False) -> Item:
    """A statement about all cells of a zone."""
    if not records:
        return verdict(source, None, "no cell of ours is there.", where="sgd-1.3")
    right = sum(map(test, records))
    enough = right == len(records) if every else right >= CONSISTENT * len(records)
    late = sum(r.status.key == "timed_out" for r in records if not test(r))
    why = f"{right} of {len(records)} {words}{f'; {late} of the others ran out of time' if late else ''}."
    return verdict(source, None if late and not enough and not every else enough, why, where="sgd-1.3")


def never(source: str, records: Records) -> Item:
    """A statement that no cell of a zone is identified, which cells that ran out of time cannot confirm."""
    found, late = sum(map(identified, records)), sum(r.status.key == "timed_out" for r in records)
    settled = bool(found) or late < len(records)
    why = f"{found} of {len(records)} identified, {late} ran out of time."
    return verdict(source, not found if settled else None, why, where="sgd-1.3")


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
    yield verdict(
        "Figure 1.4: smaller rates and longer runs help",
        True if best < 0.005 else None,
        f"After our seconds at D = 50, β = 1.5 the rate {best:g} has the least E∞, "
        f"{by_rate.get(best, math.inf):.1e} beside {by_rate.get(0.005, math.inf):.1e} at 0.005.",
        where="sgd-rate",
    )


def rate(record: Record) -> float:
    """The rate of a cell."""
    told = dict(Name.parse(record.method).options).get("lr", "0.005")
    return 0.5 / neurons(record) if told == "auto" else float(told)
