"""What exact coefficients and samples tell: the section of `relu-samples` on docs/biased-relu.md."""

from collections.abc import Callable, Iterator

from benchmarks.reproduce.biased_relu.checks import column_powers, single_starts
from benchmarks.reproduce.biased_relu.judges import printed
from benchmarks.reproduce.biased_relu.records import (
    LEARNT,
    LOOSE,
    STEEP,
    Records,
    but_for_signs,
    by_value,
    error,
    exact,
    falling,
    fitted,
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
from benchmarks.reproduce.pages import ENDED, SEEDS, by_task, grid, grouped, headed, option, share
from paramid.judging.metrics import SHIFT
from paramid.records.record import Record
from paramid.words.neuron_distances import CLOSE


def measured(records: Records) -> Iterator[str]:
    """Exact coefficients, errors against N, a bias and a perturbation, and what was claimed wrongly."""
    yield "Errors are medians over seeds of max_i ‖w − ŵ‖ + |a − â| + |b − b̂|, of the last network claimed, whether it"
    yield "was given up afterwards or not; in brackets of how many seeds that network is identified, of how many. It is"
    yield f"identified where ‖w − ŵ‖ < {CLOSE:g} for every unit, every sign is right, biases and outer weights are"
    yield f"within {SHIFT:g}, and no unit is left over. `s_min` is the least s_m(W^⊙l) of a draw, 0.25 unless said."
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
    yield from identified_by(records, shown)
    yield ""
    yield from against(records, "N", falling)
    yield ""
    yield fitted()
    yield ""
    yield from wanted(records, signs=True)


def overcomplete_part(records: Records) -> Iterator[str]:
    """The same for tensors of order two to six."""
    yield "The paper leaves signs open here: errors, brackets and the list of N are those but for signs. Records hold"
    yield "the error of a direction but for its sign, and otherwise the sum of all three: a network counts that is"
    yield f"identified, or has all directions within {CLOSE:g} and that sum below {LOOSE:g}, what the cuts above"
    yield "add up to. `signs=midpoint` and `hermite-fused` tell signs by T_0 and T_1, which is ours."
    yield ""
    yield from identified_by(records, but_for_signs)
    yield ""
    yield from against(records, "N", falling, "parameter_error_unsigned", but_for_signs)
    yield ""
    yield fitted()
    yield ""
    yield from wanted(records, signs=False)


def identified_by(records: Records, right: Callable[[Record], bool]) -> Iterator[str]:
    """How many networks the paper's method identifies at every N, with its moments and with ours."""
    for method in dict.fromkeys(r.method for r in printed(records)):
        cells = grouped((r for r in records if r.method == method), lambda r: option(r.task, "N"))
        told = (f"{share(right)(mine)} at N = {n:.0e}" for n, mine in sorted(cells.items()))
        yield f"`{method}` identifies {', '.join(told)}."


def wanted(records: Records, *, signs: bool) -> Iterator[str]:
    """From which N every method identifies most seeds: measured, or extrapolated and called so."""
    yield "N from which a method identifies most networks; where it did not, the N at which the median of the largest"
    what = "weight vector, sign included," if signs else "direction"
    yield f"error of a {what} would reach {CLOSE:g}, by the law of"
    yield f"its medians where three are below {LEARNT:g}, each below the one before, and fall faster than N^{STEEP:g},"
    yield "by that of Lemma 5.2 otherwise: an extrapolation:"
    yield ""
    for (task, method), cells in by_value(records, "N"):
        yield f"- {task}, `{method}`: {needed(cells, signs=signs)}"


def bias_part(records: Records) -> Iterator[str]:
    """One bias listed, the others drawn."""
    yield "One unit has the bias that is listed, the others |b| ≤ 1.5; the error is the largest of any unit. T_3 loses"
    yield "a unit with b = 0 and T_4 one with b = 1, roots of He_1 and He_2: the other tensor has to show it."
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


def against(
    records: Records,
    name: str,
    last: Callable[[list[float], list[float]], str] | None = None,
    metric: str = "parameter_error",
    right: Callable[[Record], bool] = shown,
) -> Iterator[str]:
    """A row for every method and all else of the task, a column for every value of an option."""
    values = sorted({value for _, cells in by_value(records, name) for value in cells})
    heads = [*(f"{name} = {v:g}" for v in values), *(["exponent of N"] if last else [])]
    rows = []
    for (task, method), cells in by_value(records, name):
        row = [f"{error(metric)(cells[v])} ({share(right)(cells[v])})" if v in cells else "-" for v in values]
        row += [last(list(cells), [middle_of(mine, metric) for mine in cells.values()])] if last else []
        rows.append((task, method, *row))
    yield from grid(("task", "method", *heads), rows)
