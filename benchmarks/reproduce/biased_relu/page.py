"""docs/biased-relu.md: what Hermite coefficients tell of sums of biased ReLUs, beside what is proved of them.

The suites' tables are here, the verdict on every line of the paper in items, its numbers in checks.
"""

import math
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.reproduce.biased_relu.checks import column_powers, hermite_polynomials, large_biases, single_starts
from benchmarks.reproduce.biased_relu.items import (
    CHANGES,
    GROWN,
    ITEMS,
    MISPRINTS,
    function_error,
    printed,
    regressions,
)
from benchmarks.reproduce.biased_relu.records import (
    LEARNT,
    ROUNDING,
    STEEP,
    Records,
    by_value,
    direction_error,
    error,
    exact,
    falling,
    middle_of,
    needed,
    of_one_bias,
    overcomplete,
    right,
    shown,
    smoothed,
    undercomplete,
    wrong,
)
from benchmarks.reproduce.pages import (
    ENDED,
    SECONDS,
    SEEDS,
    Page,
    Section,
    by_task,
    grid,
    grouped,
    headed,
    option,
    share,
)
from benchmarks.reproduce.source_items import Made, failures, verdicts, whole
from paramid.judging.metrics import SHIFT
from paramid.words.neuron_distances import CAP, CLOSE


def measured(records: Records) -> Iterator[str]:
    """Exact coefficients, errors against N, a bias and a perturbation, and what was claimed wrongly."""
    yield "Errors are medians over seeds of max_i ‖w − ŵ‖ + |a − â| + |b − b̂|, of the last network claimed, whether it"
    yield "was given up afterwards or not; in brackets of how many seeds that network is identified, of how many. It is"
    yield f"identified where ‖w − ŵ‖ < {CLOSE:g} for every unit, every sign is right, biases and outer weights are"
    yield f"within {SHIFT:g}, and no unit is left over."
    yield from headed("Exact coefficients", exact_part(exact(records)))
    yield from headed("Errors against the number of samples", sample_part(undercomplete(records)))
    yield from headed("More units than inputs, from samples", overcomplete_part(overcomplete(records)))
    yield from headed("Errors against the bias of one unit", bias_part(of_one_bias(records)))
    yield from headed("Perturbed equal columns", smoothed_part(smoothed(records)))
    yield from headed("Claimed and wrong", wrong_part(records))


def exact_part(records: Records) -> Iterator[str]:
    """Networks from exact coefficients, and why alternating least squares ends where it does."""
    yield "The second error leaves the joint sign of (w, b) free, which T_2, T_3, … do not show for more than D units:"
    yield "without `signs=midpoint`, which is ours, `hermite-jennrich` ends with a function where l ≥ 2."
    yield ""
    yield from by_task(records, ("error", error()), ("but for signs", error("parameter_error_unsigned")), SEEDS, ENDED)
    yield ""
    starts = single_starts.alternating_starts()
    few, many = starts.ended
    solved, later = (starts.of - starts.ended[rounds] for rounds in (few, many))
    yield "`cp-als` fails where none of its random starts decomposes a tensor. Of single starts at D = m = 5"
    yield f"{solved} of {starts.of} do after {few} rounds and {later} after {many}: {decisive(starts)}."
    yield more_starts(records)


def decisive(starts: single_starts.Starts) -> str:
    """Whether alternating least squares wants more rounds of a start or more starts."""
    few, many = starts.ended.values()
    if few - many < few / 2:
        return "most that fail do so however long they run, which is the method"
    return "most that fail want more rounds, which is our use of it"


def more_starts(records: Records) -> str:
    """How many runs of alternating least squares end with a network, by starts."""
    methods = dict.fromkeys(r.method for r in records if r.method.startswith("cp-als"))
    told = (f"`{name}` {share(right)([r for r in records if r.method == name])}" for name in methods)
    return f"Networks identified: {', '.join(told)}."


def sample_part(records: Records) -> Iterator[str]:
    """Errors against N, and where the paper's method identifies, or would."""
    yield from identified_by(records)
    yield ""
    yield from against(records, "N", falling)
    yield ""
    yield fitted()
    yield ""
    yield from wanted(records)


def overcomplete_part(records: Records) -> Iterator[str]:
    """The same for tensors of order two to six."""
    yield "The paper leaves signs open here, and errors are those but for signs. In brackets stand the seeds identified"
    yield "with signs, which `signs=midpoint` and `hermite-fused` tell by T_0 and T_1; that is ours."
    yield from identified_by(records)
    yield ""
    yield from against(records, "N", falling, "parameter_error_unsigned")
    yield ""
    yield fitted()
    yield ""
    yield from wanted(records)


def fitted() -> str:
    """What an exponent is of."""
    return f"Exponents are fitted to medians between {ROUNDING:g} and {LEARNT:g}, in brackets how many; two are no law."


def identified_by(records: Records) -> Iterator[str]:
    """How many networks the paper's method identifies at every N, with its moments and with ours."""
    for method in dict.fromkeys(r.method for r in printed(records)):
        cells = grouped((r for r in records if r.method == method), lambda r: option(r.task, "N"))
        told = (f"{share(shown)(mine)} at N = {n:.0e}" for n, mine in sorted(cells.items()))
        yield f"`{method}` identifies {', '.join(told)}."


def wanted(records: Records) -> Iterator[str]:
    """From which N every method identifies most seeds: measured, or extrapolated and called so."""
    yield "N from which a method identifies most networks; where it did not, the N at which the median of the largest"
    yield f"error of a weight vector, sign included, would reach {CLOSE:g}, by the law of its medians where three"
    yield f"are below {LEARNT:g} and fall faster than N^{STEEP:g}, by that of Lemma 5.2 otherwise: an extrapolation:"
    yield ""
    for (task, method), cells in by_value(records, "N"):
        yield f"- {task}, `{method}`: {needed(cells)}"


def bias_part(records: Records) -> Iterator[str]:
    """One bias listed, the others drawn."""
    yield "One unit has the bias that is listed, the others |b| ≤ 1.5; the error is the largest of any unit."
    yield ""
    yield from against(records, "biases")


def smoothed_part(records: Records) -> Iterator[str]:
    """Exact coefficients of columns that are nearly equal."""
    yield "Every column is the same unit vector but for N(0, τ²/D) on each entry; coefficients are exact."
    yield ""
    yield from against(records, "tau")
    yield ""
    yield f"s_m(Ŵ^⊙l) of such columns, not yet scaled to unit length, medians of {column_powers.DRAWS} draws:"
    yield ""
    told = {k: column_powers.smoothed(k) for k in column_powers.CASES}
    heads = ("l, D, m", *(f"τ = {tau:g}" for tau in column_powers.TAUS), "exponent of τ", "s_m / τ^l")
    rows = (
        (
            f"{k}, {column_powers.CASES[k][0]}, {column_powers.CASES[k][1]}",
            *(f"{size:.1e}" for size in s.sizes.values()),
            f"{s.exponent:.2f}",
            " … ".join(f"{size / tau**k:.2g}" for tau, size in s.sizes.items()),
        )
        for k, s in told.items()
    )
    yield from grid(heads, rows)


def wrong_part(records: Records) -> Iterator[str]:
    """Confident wrong networks of every method."""
    yield "Networks that a method let stand as its answer and that are not the teacher's:"
    yield ""
    for method in dict.fromkeys(r.method for r in records):
        yield f"- {method}: {share(wrong)([r for r in records if r.method == method])}"


def affine(records: Records) -> Iterator[str]:
    """Theorem 3.2: the function's error against N, and what is told of the units that bend."""
    seeds = sorted({r.seed for r in records}) or [0]
    bent = median(large_biases.energy_beyond(seed, 1) for seed in seeds) ** 0.5
    louder = median(large_biases.energy_beyond(seed, -1) / large_biases.energy_beyond(seed, 2) for seed in seeds)
    yield "Biases 6 and 7 make units affine on every sample, −6 silent; only their sum can be told, and signs of the"
    yield "four that bend cannot. The error is the root mean square of f − g on fresh inputs, the median over seeds; in"
    yield f"brackets how many seeds ended with a function, of how many. The best affine function misses {bent:.2f}, the"
    yield f"median of {len(seeds)}."
    yield ""
    rows = []
    values = sorted({n for _, cells in by_value(records, "N") for n in cells})
    for (task, method), cells in by_value(records, "N"):
        errors = {n: function_error(mine) for n, mine in cells.items()}
        known = {n: e for n, e in errors.items() if e is not None}
        body = [in_brackets(errors.get(n), cells.get(n, [])) for n in values]
        rows.append((task, method, *body, falling(list(known), list(known.values()))))
    yield from grid(("task", "method", *(f"N = {n:g}" for n in values), "exponent of N"), rows)
    yield ""
    yield "`control=-1` is the printed estimator: its means are as noisy as y, whose mean square is"
    yield f"{louder:,.0f} times what the regression of `control=2` leaves (the median), so that it wants about as many"
    yield "times the samples, which is an extrapolation. Without a check (`within=1`) Algorithm 5 answers whatever it"
    yield "misses."
    yield ""
    yield "Algorithm 4 inside it: the largest error of the directions of the four units that bend, up to sign, the"
    yield f"median over seeds; {CAP:.1e} where one was not found, in brackets of how many seeds it is below {LEARNT:g}."
    yield "Biases and outer weights of these units are not claimed by themselves."
    yield ""
    yield from bent_directions(regressions(records), values)
    yield ""
    yield fitted()
    yield ""
    yield "`hermite-fused` fits seven units first. A refinement on the samples has only units that bend to put the"
    yield "affine part into. Then it takes the units that stand out of the noise, of any sign, beside ⟨v, x⟩ + c."
    yield "Errors of the four units but for their signs, medians over seeds, after each step:"
    yield ""
    fused = [r for r in records if r.method == "hermite-fused"]
    steps = (("seven units, first fit", 0), ("refined", -2), ("beside ⟨v, x⟩ + c", -1))
    yield from by_task(fused, *((name, of_network(place)) for name, place in steps), SEEDS, ENDED, SECONDS)


def bent_directions(records: Records, values: list[float]) -> Iterator[str]:
    """Errors of the directions of units with small biases, against N."""
    rows = []
    for (task, method), cells in by_value(records, "N"):
        errors = {n: [direction_error(r) for r in mine] for n, mine in cells.items()}
        body = [f"{median(es):.1e} ({sum(e < LEARNT for e in es)}/{len(es)})" for es in errors.values()]
        rows.append((task, method, *body, falling(list(errors), [median(es) for es in errors.values()])))
    yield from grid(("task", "method", *(f"N = {n:g}" for n in values), "exponent of N"), rows)


def of_network(place: int) -> Callable[[Records], str]:
    """The median error but for signs of one of the networks that a run claimed, first to last."""

    def cell(mine: Records) -> str:
        networks = [[c.metrics for c in r.claims if c.kind == "Network"] for r in mine]
        known = [m[place].get("parameter_error_unsigned", math.inf) for m in networks if len(m) > 2]
        return f"{median(known):.1e}" if known else "-"

    return cell


def in_brackets(missed: float | None, mine: Records) -> str:
    """An error and how many runs ended with a function."""
    if not mine:
        return "-"
    functions = sum(r.status.key == "finished" for r in mine)
    return f"{'-' if missed is None else format(missed, '.1e')} ({functions}/{len(mine)})"


def side_by_side(records: Records) -> Iterator[str]:
    """The same samples before every learner, and who is ahead where."""
    yield "None of the three is the paper's method, which stands above at fewer and at more samples. `N` of `sgd` is"
    yield "cut to what the task grants."
    yield ""
    columns = (("error", error()), ("identified", share(right)), ("wrong", share(wrong)), SECONDS)
    yield from by_task(records, *columns)
    for about, best in (("Most exact", middle_of), ("Quickest of those right most often", quickness)):
        ahead: dict[str, list[str]] = {}
        for task in dict.fromkeys(r.task for r in records):
            mine = [r for r in records if r.task == task]
            methods = dict.fromkeys(r.method for r in mine)
            winner = min(methods, key=lambda name: best([r for r in mine if r.method == name]))
            ahead.setdefault(winner.partition(":")[0], []).append(task.partition(":")[2].partition(",s_min")[0])
        yield ""
        told = (f"`{name}` at {', '.join(sizes)}" for name, sizes in ahead.items())
        yield f"{about}: {'; '.join(told)}."


def quickness(records: Records) -> tuple[int, float]:
    """Fewest misses first, then seconds."""
    return sum(not right(r) for r in records), median(r.seconds for r in records)


def against(
    records: Records,
    name: str,
    last: Callable[[list[float], list[float]], str] | None = None,
    metric: str = "parameter_error",
) -> Iterator[str]:
    """A row for every method and all else of the task, a column for every value of an option."""
    values = sorted({value for _, cells in by_value(records, name) for value in cells})
    heads = [*(f"{name} = {v:g}" for v in values), *(["exponent of N"] if last else [])]
    rows = []
    for (task, method), cells in by_value(records, name):
        row = [f"{error(metric)(cells[v])} ({share(shown)(cells[v])})" if v in cells else "-" for v in values]
        row += [last(list(cells), [middle_of(mine, metric) for mine in cells.values()])] if last else []
        rows.append((task, method, *row))
    yield from grid(("task", "method", *heads), rows)


def findings(made: Made) -> Iterator[str]:
    """What every statement came to, what is ours, what failed, and where each line of the paper stands."""
    yield "f(x) = Σ a_i σ(⟨w_i, x⟩ + b_i), ‖w_i‖ = 1, T_k = E[f He_k]. What has no suite is a computation with a fixed"
    yield "seed (`benchmarks/reproduce/biased_relu/checks/`)."
    yield ""
    yield "A theorem on polynomially many samples is refuted by no N: it holds here where the printed estimator does"
    yield "what it says, and is not decided otherwise. Cuts of ours: from exact coefficients an error below"
    yield f"{ROUNDING:g} is none; an error falls by a law where its exponent is below {STEEP:g}; it grows with a bias"
    yield f"where it is {GROWN} times that at 0, by both estimators; an exponent −½ of N may be off by 0.1, one of η by"
    yield f"0.2, one of τ by {column_powers.STEEPER:g}; |x| ≥ {hermite_polynomials.AWAY:g} is away from 0, and a"
    yield f"polynomial above {hermite_polynomials.LARGE:g} is large; O(·) holds where a constant below 1 does."
    yield ""
    yield from verdicts(ITEMS, made)
    for title, text in (("Misprints without a number", MISPRINTS), ("Changes of ours", CHANGES)):
        yield from ("", f"## {title}", "", *text.splitlines())
    yield from whole(ITEMS, made)
    yield from failures(made)


PAGE = Page(
    name="biased-relu",
    title="Sums of biased ReLUs, beside the paper",
    sources="""Reference: Awasthi, Tang & Vijayaraghavan, *Efficient algorithms for learning depth-2 neural networks
with general ReLU activations*, arXiv:2107.10209. It proves polynomial bounds and prints no numbers.""",
    sections={
        "relu-samples": Section("Measured", measured),
        "relu-affine": Section("Small and large biases", affine),
        "relu-sizes": Section("Three learners at equal samples", side_by_side),
    },
    findings=findings,
)
