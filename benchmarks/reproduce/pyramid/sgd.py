"""§1.3.2 of the thesis: SGD from random starts before deep teachers, beside its Figure 1.5."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import mean

from benchmarks.reproduce.pages import SECONDS, Records, by_setting, grid
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid.records import word
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure
from paramid.records.record import Record

SUITE = "deep-sgd"
SETTING = """(1.12) with batches of 32 from a student drawn like the teacher, as printed, and no stop but the clock:
the thesis' two hours on a P100 are minutes on one thread here. E∞ = max ‖f - f̂‖₂ / max ‖f‖₂ on 10 000 fresh inputs
(10⁶ in the thesis), of the last student claimed, after at least two thirds of the steps. (1.12) sums the squares of
the outputs, and so do we; software that averages them over ten outputs means a tenth of the rate, so that the
largest, 1/2, is shown as 0.05 too. The thesis does not say how the outputs of these networks are activated; here
tanh, as in its §4.2.3, which says that it takes the setting of this experiment, and prints N(0, 0.05) for the
N(0, 0.005) of this one.

Figure 1.5 has no numbers in the thesis' text, which says: 1e-6 for [50, 25, 10] after 45 minutes, at the largest
rate; stagnation around 0.1 for [50, 35, 25, 10]."""
ERROR = "uniform_distance"
THREE, FOUR = 1e-6, 0.1  # E∞ printed for three layers after 45 minutes, and where four layers stagnate
NEAR = 10.0  # times a printed error
FALLING = 0.8  # of the error before, where it is still falling
FULL = 50  # inputs of the thesis' networks


def layers(record: Record) -> int:
    """L of its teacher."""
    return len(deep.options(record.task)["widths"].split("-"))


def inputs(record: Record) -> int:
    """D of its teacher."""
    return int(deep.options(record.task).get("D", FULL))


def rate(record: Record) -> float:
    """γ."""
    return float(deep.options(record.method)["lr"])


def samples(record: Record) -> int:
    """N, as D² m or D³ m: the power of D."""
    m = sum(map(int, deep.options(record.task)["widths"].split("-")))
    return 2 if int(deep.options(record.method)["N"]) == m * inputs(record) ** 2 else 3


def shift(record: Record) -> str:
    """The deviation of shifts as written."""
    return deep.options(record.task).get("shift", "0.05")


def at_last(record: Record) -> float | None:
    """E∞ of the last network claimed."""
    return deep.value(deep.network(record), ERROR)


def errors(mine: Records) -> list[float]:
    """E∞ at the end of the runs."""
    return deep.known(at_last(r) for r in mine)


def best(mine: Records) -> tuple[float, list[float]]:
    """The rate of the least mean error, and its errors."""
    ends = {g: errors([r for r in mine if rate(r) == g]) for g in sorted({rate(r) for r in mine})}
    return min(((g, e) for g, e in ends.items() if e), key=lambda told: mean(told[1]))


def text(records: Records) -> Iterator[str]:
    """Figure 1.5 at full size, its grid scaled down, and both readings of the law of shifts."""
    yield from SETTING.splitlines()
    yield ""
    head = ("teacher", "shifts", "N", "rate", "seeds", "E∞: least, mean, largest", "weight error", "seconds")
    yield from grid(head, map(row, by_setting(records).values()))


def row(mine: Records) -> tuple[str, ...]:
    """One setting."""
    one, found = mine[0], errors(mine)
    told = "-" if not found else ", ".join(f"{e:.1e}" for e in (min(found), mean(found), max(found)))
    weights = deep.average(deep.value(deep.network(r), "weight_error") for r in mine)
    name = f"[{deep.options(one.task)['widths'].replace('-', ', ')}], D = {inputs(one)}"
    return (
        name,
        f"deviation {shift(one)}",
        f"D^{samples(one)} m",
        f"{rate(one):g}",
        str(len(mine)),
        told,
        word(weights),
        SECONDS[1](mine),
    )


def over_time(records: Records) -> Figure:
    """E∞ over seconds, a line for every run of full size."""
    series = {}
    for r in records:
        if inputs(r) == FULL:
            points = [(c.seconds, c.metrics[ERROR]) for c in r.claims if ERROR in c.metrics and c.seconds > 0]
            series[f"[{deep.options(r.task)['widths']}], rate {rate(r):g}, seed {r.seed}"] = points
    return chart(series, title="SGD at D = 50", across="seconds", up="max ‖f - f̂‖ / max ‖f‖")


# Verdicts


def chosen(made: Made, depth: int, *, full: bool | None = None) -> Records:
    """The runs of a depth."""
    mine = [r for r in made[SUITE] if layers(r) == depth]
    return mine if full is None else [r for r in mine if (inputs(r) == FULL) == full]


def three_layers_are_found(made: Made) -> Judged:
    """Whether the best setting comes to 1e-6 before three layers, in the mean of its runs."""
    mine = chosen(made, 3, full=True)
    _, ends = best(mine)
    by_rate = {g: errors([r for r in mine if rate(r) == g]) for g in sorted({rate(r) for r in mine})}
    told = ", ".join(f"{mean(e):.1e} at rate {g:g} (mean of {len(e)})" for g, e in by_rate.items() if e)
    told = f"E∞ is {told}; 0.05 here is 1/2 for squares averaged over ten outputs"
    if mean(ends) > THREE and any(map(falls, mine)):
        return None, f"{told}; still falling when the clock ended them"
    return mean(ends) <= THREE, told


def falls(record: Record) -> bool:
    """Whether its error was still falling at the last claim."""
    told = [c.metrics[ERROR] for c in record.claims if ERROR in c.metrics]
    return len(told) > 1 and told[-1] < FALLING * told[-2]


def four_layers_stagnate(made: Made) -> Judged:
    """Whether E∞ stays at the order of 0.1 before four layers at D = 50; undecided where runs disagree."""
    mine, small = chosen(made, 4, full=True), errors(chosen(made, 4, full=False))
    left = [e < FOUR / NEAR for e in errors(mine)]
    ends = ", ".join(f"{e:.1e}" for e in errors(mine)) or "-"
    told = f"at D = 50 E∞ ends at {ends}, still falling in {sum(map(falls, mine))} of {len(mine)} runs"
    told += f"; at D = 15, all rates, at {spread(small, '.1e')}" if small else ""
    return not any(left) if left and any(left) == all(
        left
    ) else None, f"{told} (of the order of 0.1: from {FOUR / NEAR:g} on)"


def larger_rates_are_better(made: Made) -> Judged:
    """Whether mean errors rise as rates fall at D = 15; undecided where the two rates at D = 50 say the contrary."""
    told, held, contrary = [], [], False
    for depth in (3, 4):
        mine = [r for r in chosen(made, depth, full=False) if samples(r) == 2]
        by_rate = {g: errors([r for r in mine if rate(r) == g]) for g in sorted({rate(r) for r in mine}, reverse=True)}
        line = [(g, mean(e)) for g, e in by_rate.items() if e]
        held += [b >= a for (_, a), (_, b) in pairwise(line)]
        told.append(f"{depth} layers, D = 15: " + ", ".join(f"{e:.1e} at {g:g}" for g, e in line))
        large = chosen(made, depth, full=True)
        rates = {g: errors([r for r in large if rate(r) == g]) for g in sorted({rate(r) for r in large}, reverse=True)}
        line = [(g, mean(e)) for g, e in rates.items() if e]
        contrary |= any(b < a for (_, a), (_, b) in pairwise(line))
        told.append("D = 50: " + ", ".join(f"{e:.1e} at {g:g}" for g, e in line))
    told.append("where squares are averaged over outputs, 0.5 for sums is beyond the thesis' rates")
    return None if not held or (all(held) and contrary) else all(held), "; ".join(told)


def more_samples_do_not_help(made: Made) -> Judged:
    """Whether D³ m samples are no better than D² m."""
    told, ratios = [], []
    for depth in (3, 4):
        mine = [r for r in chosen(made, depth, full=False) if rate(r) == 0.5]
        few, many = (errors([r for r in mine if samples(r) == p and shift(r) != "0.005"]) for p in (2, 3))
        if few and many:
            ratios.append(mean(many) >= min(few))
            told.append(
                f"{depth} layers: {mean(few):.1e} ({spread(few, '.1e')}) from D² m, "
                f"{mean(many):.1e} ({spread(many, '.1e')}) from D³ m"
            )
    return all(ratios) if ratios else None, f"means at D = 15, rate 0.5: {'; '.join(told)}"


def readings_agree(made: Made) -> Judged:
    """Whether it matters how N(0, 0.005) is read."""
    told, ratios = [], []
    for depth in (3, 4):
        mine = [r for r in chosen(made, depth, full=False) if rate(r) == 0.5 and samples(r) == 2]
        narrow, wide = (errors([r for r in mine if (shift(r) == "0.005") == n]) for n in (True, False))
        if narrow and wide:
            ratios.append(mean(narrow) / mean(wide))
            told.append(
                f"{depth} layers: {mean(narrow):.1e} with deviation 0.005, {mean(wide):.1e} with variance 0.005"
            )
    held = all(1 / NEAR <= r <= NEAR for r in ratios) if ratios else None
    return held, f"means at D = 15: {'; '.join(told)} (to an order: up to {NEAR:g} times)"


def harder_than_shallow(made: Made) -> Judged:
    """Whether four layers end worse than three."""
    told = [(d, *(mean(best(chosen(made, n, full=d == FULL))[1]) for n in (3, 4))) for d in (FULL, 15)]
    numbers = "; ".join(f"D = {d}: {a:.1e} before three layers, {b:.1e} before four" for d, a, b in told)
    return all(b > a for _, a, b in told), f"mean E∞ at the best rate, {numbers}"
