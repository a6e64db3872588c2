"""Squares: who finds their matrix, Theorem 2.1's optimum, and the descents that the paper names."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    EXACT,
    IDENTIFIED,
    SECONDS,
    Column,
    Records,
    by_task,
    duration,
    grid,
    grouped,
    middle,
    option,
)
from benchmarks.reproduce.quadratic.shares import given
from benchmarks.reproduce.source_items import Judged, Made, every
from paramid.methods.squares.overparam_descent import FLAT, KICK, KICKS
from paramid.records.record import Record
from paramid.words.naming import Name

SEEDS: Column = ("seeds", lambda mine: str(len(mine)))
ROUNDING, REACHED = 1e-20, 1e-10  # of L: zero, and apart from the optimum
DESCENTS = {  # options of the method: how the paper calls it
    ("curvature", "0", "", ""): "gradient descent, one constant step",
    ("curvature", "", "", ""): "perturbed gradient descent, one constant step",
    ("", "0", "", ""): "gradient descent, bold driver",
    ("", "", "trust", ""): "trust region",
    ("", "", "cubic", ""): "cubic regularisation",
    ("", "", "", "lm"): "500 steps of descent, then Levenberg-Marquardt",
}
FIRST_ORDER, NAMED = tuple(DESCENTS.values())[:3], tuple(DESCENTS.values())[:2] + tuple(DESCENTS.values())[3:5]
BY_CURVATURE = tuple(DESCENTS.values())[3:]
LEVELS = ("fitted_nearly", "fitted")


def matrices(records: Records) -> Iterator[str]:
    """Who finds the matrix."""
    error: Column = ("gram_error", middle("gram_error", ".1e"))
    rmse: Column = ("training RMSE", middle("training_rmse", ".1e"))
    planted = [r for r in records if "labels" not in given(r.task)]
    yield "A squares net shows M = Σ v w wᵀ and nothing more, D(D+1)/2 numbers. A fit with a large"
    yield "`gram_error` is a fit and no identification, and ends as `gave_up`; so does a matrix that is right but"
    yield "cannot be vouched for, as samples do not outnumber what the learner can show. Medians over seeds; of several"
    yield "instances of one seed the median, and the share found is told."
    yield ""
    found: Column = ("share exact", middle("exact", ".2f"))
    yield from by_task(planted, SEEDS, rmse, error, found, IDENTIFIED, EXACT, SECONDS, ENDED)
    yield ""
    yield "Theorem 2.1, k = 2D with both signs frozen and random labels: descent and polish beside the optimum of the"
    yield "convex problem over all matrices. L is the median of the instances; *zero* the share of them that is below"
    yield "1e-8 of what f̂ = 0 leaves."
    yield ""
    rows = (
        (f"{o.samples:g}", str(o.instances), f"{o.net:.3e}", f"{o.convex:.3e}", f"{abs(o.net - o.convex):.1e}",
         f"{o.fitted:.2f}", f"{o.possible:.2f}")
        for o in optima(records)
    )  # fmt: skip
    head = ("N", "instances", "L, descent and polish", "L, least squares", "gap", "zero: descent", "least squares")
    yield from grid(head, rows)


def random_ones(records: Records) -> list[Record]:
    """Of random labels."""
    return [r for r in records if "labels" in given(r.task) and "training_rmse" in r.metrics]


@dataclass(frozen=True)
class Optimum:
    """Of one N: the median L of the net and of the convex problem, and the share of instances at zero."""

    samples: float
    instances: int
    net: float
    convex: float
    fitted: float
    possible: float


def optima(records: Records) -> list[Optimum]:
    """By N."""
    rows = []
    for n, mine in sorted(grouped(random_ones(records), lambda r: option(r.task, "N")).items()):
        by = grouped(mine, lambda r: Name.parse(r.method).base)
        if len(by) == 2:
            net, convex = by["overparam-gd"], by["gram-least-squares"]
            losses = [median(r.metrics["training_rmse"] ** 2 for r in ours) for ours in (net, convex)]
            zero = [min(r.metrics["fitted"] for r in ours) for ours in (net, convex)]
            rows.append(Optimum(n, sum(int(option(r.task, "instances")) for r in net), *losses, *zero))
    return rows


def numbers(record: Record) -> int:
    """D(D+1)/2."""
    d = int(option(record.task, "D"))
    return d * (d + 1) // 2


def descents(records: Records) -> Iterator[str]:
    """The table of descents."""
    yield "Theorem 2.1: k = 2D, v = ±1 in turn, random labels. Theorem 2.2: planted of one sign, k > D, v = 1. v is"
    yield "frozen in both, as in the theorems; one start of every instance. Perturbed: noise of"
    yield f"{KICK:g} where the slope is below {FLAT:g} and L is not small, {KICKS} times at most; the others never."
    yield "Trust regions and cubic regularisation take exact steps by the whole Hessian; approximate cubic schemes and"
    yield "stochastic gradients, which the paper names too, are not built."
    yield ""
    rows = []
    for task in dict.fromkeys(r.task for r in records):
        for name in DESCENTS.values():
            if mine := [r for r in records if r.task == task and called(r) == name]:
                rows.append((setting(task), name, str(len(mine)), *measured(mine)))
    head = ("setting", "descent", "seeds", "instances", "L < 1e-4", "L < 1e-8", "median √L", "seconds")
    yield from grid(head, rows)
    if records and untouched(records):
        yield ""
        yield "No perturbed run came so near a saddle that noise was added: its rows are those without."


def untouched(records: Records) -> bool:
    """Whether every perturbed run ends as the same run without noise."""
    plain, perturbed = (
        {(r.task, r.seed): r.metrics.get("training_rmse") for r in records if called(r) == name}
        for name in FIRST_ORDER[:2]
    )
    return plain == perturbed


def called(record: Record) -> str:
    """A descent by the paper's name."""
    told = given(record.method)
    return DESCENTS.get(tuple(told.get(n, "") for n in ("step", "kicks", "descent", "polish")), record.method)


def setting(task: str) -> str:
    """Which theorem's."""
    told = given(task)
    theorem = "Theorem 2.1" if "labels" in told else "Theorem 2.2"
    return f"{theorem}: D = {told['D']}, k = {told['k']}, N = {told['N']}"


def measured(mine: Records) -> tuple[str, str, str, str, str]:
    """Instances, shares and medians."""
    count = sum(int(option(r.task, "instances")) for r in mine)
    told = (middle(name, form)(mine) for name, form in (("fitted_nearly", ".2f"), ("fitted", ".2f")))
    return (str(count), *told, middle("training_rmse", ".1e")(mine), duration(mine))


# Verdicts


def weights_are_enough(made: Made) -> Judged:
    """§2.1, below Theorem 2.1: Gaussian inputs and kD > N are enough for zero."""
    weights = min(int(option(r.task, "D")) * int(option(r.task, "k")) for r in random_ones(made["gram"]))
    inside = [o for o in optima(made["gram"]) if o.samples < weights]
    above = [f"{o.convex:.1e} at N = {o.samples:g}" for o in inside if o.convex > ROUNDING]
    told = f"kD = {weights} and N = {inside[0].samples:g} to {inside[-1].samples:g}: the median of the least L over all"
    return not above, (
        f"{told} matrices is {', '.join(above) or 'zero'}; squares show D(D+1)/2 numbers, however many weights they "
        "have, and the theorem itself asks for N ≤ c D²"
    )


def optimum_is_reached(made: Made) -> Judged:
    """Theorem 2.1: ends are the convex optimum's; not decided where some instance of a zero optimum is above it."""
    rows = optima(made["gram"])
    gap = max(abs(o.net - o.convex) for o in rows)
    late = [f"{o.fitted:.0%} at N = {o.samples:g}" for o in rows if o.fitted < o.possible]
    told = (
        f"the median L of {rows[0].instances} instances at each of {len(rows)} N is the convex optimum's to {gap:.1e}"
    )
    there = f"of those whose optimum is zero there are {', '.join(late)}, the others slow or trapped"
    return (
        False if gap >= REACHED else None if late else True
    ), f"{told}; {there if late else 'all zeros are reached'}"


def optimum_is_zero(made: Made) -> Judged:
    """Theorem 2.1, last claim, with its constant by Lemma 5.6: the least L is zero as long as N ≤ D(D+1)/2."""
    limit = max(numbers(r) for r in random_ones(made["gram"]))
    inside = [o for o in optima(made["gram"]) if o.samples <= limit]
    past = ", ".join(f"{o.convex:.1e} at N = {o.samples:g}" for o in optima(made["gram"]) if o.samples > limit)
    held = all(o.convex < ROUNDING and o.possible == 1 for o in inside)
    told = f"the least L over all matrices: median {max(o.convex for o in inside):.1e} or less, all instances at zero"
    return held, f"{told if held else 'not zero'} up to N = D(D+1)/2 = {limit}; {past or 'nothing'} past it"


def planted_is_zero(made: Made) -> Judged:
    """Theorem 2.2: the global optimum is zero, and is reached from every start."""
    ended = [r for r in made["landscape-descents"] if "training_rmse" in r.metrics]
    mine = [r for r in ended if "labels" not in given(r.task) and called(r) in BY_CURVATURE]
    worst, least = max(r.metrics["training_rmse"] for r in mine), min(r.metrics["fitted"] for r in mine)
    count = sum(int(option(r.task, "instances")) for r in mine)
    share = "all" if least == 1 else f"in some run {least:.0%}"
    return worst**2 < ROUNDING and least == 1, (
        f"the median L of {len(mine)} runs by {', '.join(BY_CURVATURE)} is {worst**2:.1e} or less, and of the {count} "
        f"instances {share} are below 1e-8 of what f̂ = 0 leaves"
    )


def arrives(theorem: str, names: tuple[str, ...], made: Made) -> Judged:
    """Whether descents find a small loss in a theorem's settings.

    Not decided where L falls by half from a tenth of its steps on; where it does not, descent has come to rest.
    """
    ended = [r for r in made["landscape-descents"] if called(r) in names and "fitted_nearly" in r.metrics]
    told = grouped((r for r in ended if setting(r.task).startswith(theorem)), lambda r: (setting(r.task), called(r)))
    held = [True if small(r) else None if falls(r) else False for mine in told.values() for r in mine]
    shares = {at: [min(r.metrics[m] for r in mine) for m in LEVELS] for at, mine in told.items()}
    by_setting = grouped(shares, lambda at: at[0])
    words = (
        f"{at}: {', '.join(f'{name} {shares[at, name][0]:.0%}, {shares[at, name][1]:.0%}' for _, name in ours)}"
        for at, ours in by_setting.items()
    )
    steps = {given(r.method)["iterations"] for mine in told.values() for r in mine}
    return (every(held) if held else None), (
        "the least share over seeds of instances with L < 1e-4, and 1e-8, of what f̂ = 0 leaves, after at most "
        f"{' or '.join(sorted(steps))} steps: {'; '.join(words)}"
    )


def small(record: Record) -> bool:
    """Whether every instance has L < 1e-4 of what f̂ = 0 leaves."""
    return record.metrics["fitted_nearly"] == 1


def falls(record: Record) -> bool:
    """Whether the median L fell by half from a tenth of the steps on: nets are claimed after 1, 10, 100, … of them."""
    tenth = int(math.log10(option(record.method, "iterations") / 10))
    before = record.claims[min(tenth, len(record.claims) - 1)].metrics["training_rmse"]
    return record.metrics["training_rmse"] ** 2 < before**2 / 2


def fits_are_no_identification(made: Made) -> Judged:
    """The introduction's aim is the training loss: what of the planted matrix it tells."""
    full = [
        r
        for r in made["gram"]
        if "gram_error" in r.metrics and "rank" not in given(r.task) and given(r.task).get("k") == "20"
    ]
    net = [r for r in full if "polish" in r.method and option(r.task, "N") < numbers(r) and "labels" not in r.task]
    worst = min(r.metrics["gram_error"] for r in net)
    fit = max(r.metrics["training_rmse"] for r in net)
    return worst < 1e-6, f"N < D(D+1)/2: RMSE ≤ {fit:.1e}, and M is off by {worst:.2f} of its norm or more"
