"""Squares: who finds their matrix, Theorem 2.1's optimum, and the descents that the paper names."""

from collections.abc import Iterator
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
from benchmarks.reproduce.source_items import Judged, Made
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
ALONE, BY_CURVATURE = tuple(DESCENTS.values())[:5], tuple(DESCENTS.values())[3:]


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
    yield "Theorem 2.1, k = 2D with both signs frozen and random labels: descent and polish reach the optimum of the"
    yield "convex problem over all matrices. L is the median of the instances."
    yield ""
    rows = (
        (f"{n:g}", seeds, f"{net:.3e}", f"{convex:.3e}", f"{abs(net - convex):.1e}")
        for n, seeds, net, convex in optima(records)
    )
    yield from grid(("N", "instances", "L, descent and polish", "L, least squares", "gap"), rows)


def random_ones(records: Records) -> list[Record]:
    """Of random labels."""
    return [r for r in records if "labels" in given(r.task) and "training_rmse" in r.metrics]


def optima(records: Records) -> list[tuple[float, str, float, float]]:
    """By N: instances, and L of the net and of the convex problem."""
    rows = []
    for n, mine in sorted(grouped(random_ones(records), lambda r: option(r.task, "N")).items()):
        by = grouped(mine, lambda r: Name.parse(r.method).base)
        if len(by) == 2:
            net, convex = (
                median(r.metrics["training_rmse"] ** 2 for r in by[name])
                for name in ("overparam-gd", "gram-least-squares")
            )
            rows.append((n, str(sum(int(option(r.task, "instances")) for r in mine) // 2), net, convex))
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
    inside = [(n, net) for n, _, net, _ in optima(made["gram"]) if n < weights]
    above = [f"{net:.1e} at N = {n:g}" for n, net in inside if net > ROUNDING]
    told = f"kD = {weights} and N = {min(inside)[0]:g} to {max(inside)[0]:g}: L is {', '.join(above) or 'zero'}"
    return not above, f"{told}; squares show D(D+1)/2 numbers, however many weights they have"


def optimum_is_reached(made: Made) -> Judged:
    """Theorem 2.1: every local minimum is global."""
    rows = optima(made["gram"])
    gap = max(abs(net - convex) for _, _, net, convex in rows)
    return gap < REACHED, f"L of {rows[0][1]} instances at each of {len(rows)} N is the convex optimum's to {gap:.1e}"


def optimum_is_zero(made: Made) -> Judged:
    """Theorem 2.1, second half, with its constant by Lemma 5.6: zero as long as N ≤ D(D+1)/2."""
    limit = max(numbers(r) for r in random_ones(made["gram"]))
    inside = [net for n, _, net, _ in optima(made["gram"]) if n <= limit]
    outside = [net for n, _, net, _ in optima(made["gram"]) if n > limit]
    told = f"L ≤ {max(inside):.1e} up to N = D(D+1)/2 = {limit}, ≥ {min(outside):.1e} past it"
    return max(inside) < ROUNDING < min(outside), told


def planted_is_zero(made: Made) -> Judged:
    """Theorem 2.2, first half: the global optimum is zero, and is reached."""
    ended = [r for r in made["landscape-descents"] if "training_rmse" in r.metrics]
    mine = [r for r in ended if "labels" not in given(r.task) and called(r) in BY_CURVATURE]
    worst = max(r.metrics["training_rmse"] for r in mine)
    return worst**2 < ROUNDING, f"L ≤ {worst**2:.1e} in {len(mine)} runs by {', '.join(BY_CURVATURE)}"


def arrives(name: str, made: Made) -> Judged:
    """Whether one of the named descents finds a small loss in every setting; not decided where it is on its way."""
    ended = (r for r in made["landscape-descents"] if called(r) == name and "fitted_nearly" in r.metrics)
    told = grouped(ended, lambda r: setting(r.task))
    shares = {at: [min(r.metrics[m] for r in mine) for m in ("fitted_nearly", "fitted")] for at, mine in told.items()}
    words = "; ".join(f"{at}: {near:.0%} and {whole:.0%}" for at, (near, whole) in shares.items())
    held = True if shares and all(near == 1 for near, _ in shares.values()) else None
    steps = {given(r.method)["iterations"] for mine in told.values() for r in mine}
    return held, (
        "at least this share of the instances of a seed has L < 1e-4, and 1e-8, of what f̂ = 0 leaves after at most "
        f"{' or '.join(sorted(steps))} steps: {words}"
    )


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
