"""The page beside the thesis, chapter 1: empirical risk minimisation by SGD, its phases, and its rate.

(1)  N = ⌈D^α⌉,   m = ⌈0.4 D^β⌉,   m (D + 1) parameters.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean, median

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
THEIRS = 25  # the D of Figure 1.2

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
    for title, which in (("The printed rate 0.005", False), ("A rate of ours, 0.5 / m", True)):
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
    larger = made.get("sgd-rate", [])
    yield from zones([r for r in made.get("sgd-1.3", []) if "beta" in r.task], larger)
    yield from growth(larger)


def zones(records: Records, larger: Records) -> Iterator[Item]:
    """Figure 1.2's statements."""
    if not records:
        return
    whole = (*records, *(r for r in larger if printed(r) and option(r.task, "D") == THEIRS))
    yield zone("Figure 1.2: α > 2β is identified", whole, lambda a, b: a > 2 * b, learnt)
    yield zone("Figure 1.2: α ≤ β + 1 fits perfectly", whole, few, fitted)
    closed = [r for mine in grouped(whole, place).values() if fitted(mine) for r in mine]
    yield zone("Figure 1.2: where α ≤ β + 1 fits, it does not generalise in any case", closed, few, poor)
    yield widest([r for r in records if exponents(r)[0] > 2 * exponents(r)[1]])
    yield from of_runs(records)


def printed(record: Record) -> bool:
    """Whether rate and number of samples are those of Figure 1.3."""
    return not dict(Name.parse(record.method).options)


def place(record: Record) -> tuple[float, bool, float, float]:
    """D, whether the rate is ours, α and β."""
    return (option(record.task, "D"), tuned(record), *exponents(record))


def few(a: float, b: float) -> bool:
    """Whether there are about as many samples as parameters, or less."""
    return a <= b + 1


def learnt(mine: Records) -> bool:
    """Whether every run of a place identifies its teacher."""
    return all(map(identified, mine))


def fitted(mine: Records) -> bool:
    """Whether the mean J is that of students that fit."""
    return mean(map(loss, mine)) < FITTED


def poor(mine: Records) -> bool:
    """Whether the mean E∞ is that of students that do not generalise."""
    return mean(map(uniform, mine)) > POOR


def zone(
    source: str, records: Sequence[Record], inside: Callable[[float, float], bool], test: Callable[[Records], bool]
) -> Item:
    """A statement about every place (α, β) of a zone; our rate and runs that are out of time do not speak against it.

    At another D than the thesis' a place against it leaves it undecided.
    """
    places = {at: mine for at, mine in grouped(records, place).items() if inside(*at[2:])}
    theirs = {at: mine for at, mine in places.items() if not at[1]}
    wrong = {at: mine for at, mine in theirs.items() if not test(mine)}
    against = [at for at, mine in wrong.items() if not any(r.status.key == "timed_out" for r in mine)]
    told = []
    for (d, ours), some in sorted(grouped(places, lambda at: at[:2]).items()):
        right = sum(test(places[at]) for at in some)
        told.append(f"{right} of {len(some)} at D = {d:g} and {'0.5 / m' if ours else '0.005'}")
    late = f"; {len(wrong) - len(against)} of those at 0.005 that are not have runs out of time" if wrong else ""
    here = ", ".join(f"({a:g}, {b:g}) of D = {d:g}" for d, _, a, b in against)
    refuted = any(at[0] == THEIRS for at in against)
    why = f"places (α, β): {', '.join(told)}{late}{f'; against it are {here}' if here else ''}"
    held = False if refuted else None if wrong or not theirs else True
    return verdict(source, held, why if places else "no place of ours is there", where="sgd-1.3")


def of_runs(records: Records) -> Iterator[Item]:
    """What §1.3.1 says of single runs, at either rate."""
    found, good = [r for r in records if identified(r)], [r for r in records if uniform(r) < SMALL]
    for source, some, test, words in (
        ("§1.3.1: a small E∞ means identified", good, identified, f"with E∞ < {SMALL:g} are"),
        (
            "§1.3.1: identified only with more samples than the m + Dm parameters",
            found,
            lambda r: samples(r) > neurons(r) * (option(r.task, "D") + 1),
            "identified have more",
        ),
    ):
        right = sum(map(test, some))
        why = f"{right} of {len(some)} runs {words}, at either rate"
        yield verdict(source, right == len(some) if some else None, why, where="sgd-1.3")
    yield verdict("§1.3.1: learning becomes harder as the neurons increase", *harder(records), where="sgd-1.3")
    both = [r for r in records if 2 * exponents(r)[1] < exponents(r)[0] <= exponents(r)[1] + 1]
    yield verdict(
        "Figure 1.2: 2β < α ≤ β + 1, of which its rules say both",
        None,
        f"identified and overfitted exclude each other; {counted(both)} runs are identified, at either rate",
        where="sgd-1.3",
    )


def harder(records: Records) -> tuple[bool, str]:
    """Whether no β has more identified runs than the one before, and the last less than the first, at either rate."""
    told, held = [], True
    for which, name in ((False, "0.005"), (True, "0.5 / m")):
        by_beta = grouped((r for r in records if tuned(r) == which), lambda r: exponents(r)[1])
        counts = [sum(map(identified, by_beta[b])) for b in sorted(by_beta)]
        held = held and counts == sorted(counts, reverse=True) and counts[-1] < counts[0]
        told.append(f"{', '.join(map(str, counts))} at {name}")
    of = len(by_beta[min(by_beta)])
    return held, f"of {of} runs for each β, in the same seconds, are identified {'; '.join(told)}"


def widest(records: Records) -> Item:
    """β = 15/8 beside β = 2 where α > 2β: cells that ran out of time, or are at our rate, settle nothing."""
    told, held = [], None
    for which, name in ((False, "0.005"), (True, "0.5 / m")):
        near, wide = ([r for r in records if exponents(r)[1] == b and tuned(r) == which] for b in (1.875, 2))
        lost = [r for r in wide if not identified(r)]
        ended = near and all(map(identified, near)) and any(r.status.key != "timed_out" for r in lost)
        held = True if ended and not which else held
        late = sum(r.status.key == "timed_out" for r in (*near, *wide))
        told.append(
            f"{counted(near)} runs at β = 15/8 and {counted(wide)} at β = 2 at the rate {name}, {late} out of time"
        )
    why = (
        f"where α > 2β are identified {'; '.join(told)}. The thesis' runs have D = {THEIRS}, which it calls low itself"
    )
    return verdict("Figure 1.2: β = 15/8 is identified, β = 2 not consistently", held, why, where="sgd-1.3")


def growth(records: Records) -> Iterator[Item]:
    """Figures 1.3 and 1.4."""
    if not records:
        return
    small, wide = ([r for r in records if printed(r) and (option(r.task, "beta") <= 1) == le] for le in (True, False))
    dimensions = " and ".join(f"{d:g}" for d in sorted({option(r.task, "D") for r in (*small, *wide)}))
    yield verdict(
        "Figure 1.3: for growing D only relatively small networks are fitted",
        None,
        f"at D = {dimensions} {counted(small)} are identified at β ≤ 1 and {counted(wide)} at β > 1, in seconds; "
        "none of a larger D has its N",
        where="sgd-rate",
    )
    at_fifty = [r for r in records if option(r.task, "D") == 50]
    middle, many = ([r for r in at_fifty if option(r.task, "beta") == b] for b in (1.5, 2))
    yield verdict(
        "Figure 1.4: SGD could be tuned to recover m that outgrows D, through very long computations alone",
        False if any(map(identified, middle)) else None,
        f"{counted(middle)} runs identify m = {most(middle)} at D = 50, in seconds, "
        f"and {counted(many)} m = {most(many)}",
        where="sgd-rate",
    )
    yield verdict(
        "Figure 1.4: m = 1000 at D = 50 is not identified at any rate tried",
        False if any(map(identified, many)) else None,
        f"{counted(many)} runs identify it, in seconds",
        where="sgd-rate",
    )
    by_rate = {rate(r): uniform(r) for r in middle}
    best = min(by_rate, key=by_rate.__getitem__, default=math.nan)
    beside = f", {by_rate.get(best, math.inf):.1e} beside {by_rate.get(0.005, math.inf):.1e} at 0.005"
    yield verdict(
        "Figure 1.4: smaller rates and longer runs help",
        True if best < 0.005 else None,
        f"after our seconds at D = 50, β = 1.5 the rate {best:g} has the least E∞{'' if best == 0.005 else beside}",
        where="sgd-rate",
    )


def most(records: Records) -> int:
    """The largest m."""
    return max(map(neurons, records), default=0)


def rate(record: Record) -> float:
    """The rate of a cell."""
    told = dict(Name.parse(record.method).options).get("lr", "0.005")
    return 0.5 / neurons(record) if told == "auto" else float(told)
