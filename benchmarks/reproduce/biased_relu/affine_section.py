"""Theorem 3.2 on docs/biased-relu.md: small biases beside large ones, the section of `relu-affine`."""

import math
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.reproduce.biased_relu.checks import large_biases
from benchmarks.reproduce.biased_relu.judges import function_error, regressions
from benchmarks.reproduce.biased_relu.records import LEARNT, Records, by_value, direction_error, falling, fitted
from benchmarks.reproduce.pages import ENDED, SECONDS, SEEDS, by_task, grid
from paramid.words.neuron_distances import CAP


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
    yield "Their biases and outer weights are not claimed by themselves; *What held* has them of other samples."
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
