"""The page beside the thesis, chapters 2 and 3: its own pipeline on its own grid, after its text, and Algorithm 2.1."""

import math
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.reproduce.pages import (
    ENDED,
    IDENTIFIED,
    SECONDS,
    SEEDS,
    Column,
    Records,
    by_task,
    grid,
    grouped,
    largest,
    middle,
    option,
)
from benchmarks.reproduce.shallow.sgd import identified, neurons, uniform
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure
from paramid.records.record import Record, Stage

# Rauchensteiner 2023, Table 3.2: seconds to weights and first shifts on a Tesla P100.
BETAS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 1.875, 1.9375, 2.0)
TABLE_3_2 = {
    20: (4.58, 4.53, 4.75, 4.76, 5.25, 5.89, 6.33, 6.6, 7.63),
    25: (5.7, 5.67, 5.75, 6.19, 7.02, 8.38, 9.52, 10.3, 11.4),
    30: (6.77, 6.87, 6.93, 7.44, 8.53, 10.6, 12.6, 14.7, 17.4),
    35: (8.35, 8.41, 8.49, 9.3, 10.6, 13.8, 18.3, 22.1, 27.5),
    40: (9.89, 9.95, 10.3, 11.1, 12.8, 18.2, 26.5, 33.0, 43.1),
    45: (12.3, 12.4, 12.9, 13.6, 16.0, 25.1, 38.4, 50.7, 70.8),
    50: (15.0, 15.2, 15.7, 16.7, 19.9, 34.1, 57.2, 79.8, 113.0),
}
HELD: Column = ("directions held", lambda mine: f"{median(r.stats.get('directions_found', 0) for r in mine):.0f}")
STARTS: Column = ("starts", lambda mine: f"{median(r.stats.get('starts', 0) for r in mine):,.0f}")
WEIGHTS: Column = ("weight error", middle("weight_error", ".1e"))

PRINTED = """\
`spm` with its defaults follows the text of §3.6: Hessians and directional derivatives by differences of step 0.01, ⌈5
m ln D⌉ starts of 1000 steps with γ = 2 (§2.7 has 5 m log m), Φ > 0.9 or 0.99, SGD on the shifts. Ours in it, where
the thesis is silent or cannot be followed: the stencil (4.77) of its chapter 4; of a heap of equal directions the
one with the largest Φ; starts that move by less than 1e-12 in a step end before the 1000th; no more than 100 passes
of SGD where it stops after 180 seconds; a network that misses its own samples by a hundredth is given up. With
`derivatives=exact` Hessians are the oracle's, and third derivatives along a direction are differences of step 0.01
of them. Logarithms are natural, m is rounded up, all is float64, of which the thesis says nothing. Medians over 1 to
5 seeds, where the thesis has means of 10 runs; weights one to one, where the thesis takes the nearest; shifts in ℓ₂;
E∞ over 100 000 inputs, where it has 10⁶. Seconds are to weights and first shifts, as in Table 3.2; those of
`sphere-lm` are to the end."""
SPECTRAL = """\
The thesis prints no experiment with Algorithm 2.1, and neither step, iterations, starts nor threshold: γ = 10, at
most 500 iterations, ⌈5 m ln D⌉ starts as for SPM and λ₁ > 0.9 are ours. `starts=until` goes on to ten times as many.
Exact Hessians, no refinement; beside it SPM on the same spans. Medians over the seeds."""


def networks(record: Record) -> list[Stage]:
    """The claims that are networks: the first is that of Algorithm 3.3, the last is refined."""
    return [c for c in record.claims if c.kind == "Network"]


def first(record: Record, metric: str) -> float:
    """A metric of the network before its refinement."""
    return next((c.metrics.get(metric, math.inf) for c in networks(record)), math.inf)


def last(record: Record, metric: str) -> float:
    """A metric of the last network."""
    return next((c.metrics.get(metric, math.inf) for c in reversed(networks(record))), math.inf)


def until_first(record: Record) -> float:
    """Seconds to weights and first shifts, as in Table 3.2."""
    return next((c.seconds for c in networks(record)), math.inf)


def middle_of(test: Callable[[Record], float], mine: Records, form: str = ".1e") -> str:
    """The median of a number of every record."""
    return format(median(map(test, mine)), form) if mine else "-"


def place(record: Record) -> tuple[float, float]:
    """D and β."""
    return option(record.task, "D"), option(record.task, "beta")


def of_grid(records: Records) -> tuple[Records, Records, Records]:
    """On the grid of §3.6: the pipeline as printed, the same on exact Hessians without its last stage, and ours."""
    told = [r for r in records if "beta" in r.task]
    return (
        [r for r in told if r.method == "spm"],
        [r for r in told if "derivatives=exact" in r.method],
        [r for r in told if r.method.startswith("sphere-lm")],
    )


def printed(records: Records) -> Iterator[str]:
    """Figures 3.3 and 3.4, Table 3.2, by the pipeline itself."""
    spm, exact, ours = of_grid(records)
    yield from PRINTED.splitlines()
    yield ""
    head = (
        *("D", "β", "m", "seeds", "weights", "shifts, first → refined", "E∞", "exact: weights", "exact: first shifts"),
        *("exact: E∞", "signs right", "seconds: thesis → ours", "`sphere-lm`: largest error, seconds"),
    )
    yield from grid(head, (row(at, spm, exact, ours) for at in dict.fromkeys(map(place, spm))))
    yield ""
    yield from failures([r for r in records if r.method.startswith("spm")])
    yield ""
    yield from finer(records)
    yield "Algorithm 2.2 starts until all m directions are held, without a limit. `starts=until` does so up to ten"
    yield "times ⌈5 m ln D⌉ starts, here on a network that is none of the grid's seeds and was chosen by hand:"
    yield ""
    seeds = ("seeds", lambda mine: ", ".join(str(r.seed) for r in mine))
    yield from by_task([r for r in records if "beta" not in r.task], seeds, HELD, STARTS, WEIGHTS, SECONDS, ENDED)


def finer(records: Records) -> Iterator[str]:
    """First shifts from differences of a tenth of the step, beside those of the pipeline."""
    sharp = [r for r in records if "h_dir=0.001" in r.method]
    if not sharp:
        return
    pairs = refined_and_finer(of_grid(records)[0], sharp)
    yield "First shifts from directional differences of step 0.001, as many queries, beside those of 0.01; the former"
    yield f"are below the refined ones of the latter in {sum(a > b for a, b in pairs)} of {len(pairs)} networks:"
    yield ""
    body = []
    for at, mine in grouped(sharp, place).items():
        coarse = [r for r in of_grid(records)[0] if place(r) == at]
        told = (middle_of(lambda r: first(r, "bias_error"), coarse), middle_of(lambda r: last(r, "bias_error"), coarse))
        body.append(
            (f"{at[0]:g}", f"{at[1]:g}", f"{len(mine)}", *told, middle_of(lambda r: first(r, "bias_error"), mine))
        )
    yield from grid(("D", "β", "seeds", "0.01: first shifts", "refined", "0.001: first shifts"), body)
    yield ""


def refined_and_finer(spm: Records, fine: Records) -> list[tuple[float, float]]:
    """Errors of refined shifts of step 0.01 and of first ones of step 0.001 on the same networks."""
    known = {(r.task, r.seed): first(r, "bias_error") for r in fine if networks(r)}
    done = [r for r in spm if len(networks(r)) > 1 and (r.task, r.seed) in known]
    return [(last(r, "bias_error"), known[r.task, r.seed]) for r in done]


def row(at: tuple[float, float], spm: Records, exact: Records, ours: Records) -> tuple[str, ...]:
    """A network of the grid."""
    mine, sharp, best = ([r for r in every if place(r) == at] for every in (spm, exact, ours))
    d, beta = at
    signs = [first(r, "sign_accuracy") == 1 for r in (*mine, *sharp)]
    theirs = TABLE_3_2[int(d)][BETAS.index(beta)]
    return (
        *(f"{d:g}", f"{beta:g}", f"{neurons(mine[0])}", f"{len(mine)}"),
        middle_of(lambda r: last(r, "weight_error"), mine),
        f"{middle_of(lambda r: first(r, 'bias_error'), mine)} → {middle_of(lambda r: last(r, 'bias_error'), mine)}",
        middle_of(uniform, mine),
        middle_of(lambda r: last(r, "weight_error"), sharp),
        middle_of(lambda r: first(r, "bias_error"), sharp),
        middle_of(uniform, sharp),
        f"{sum(signs)}/{len(signs)}",
        f"{theirs:g} → {middle_of(until_first, mine, '.3g')}",
        f"{middle_of(largest, best)}, {middle_of(lambda r: r.seconds, best, '.2g')}",
    )


def over_dimensions(records: Records) -> Figure:
    """Median errors of the pipeline over D at β = 2."""
    errors = {"weights": lambda r: last(r, "weight_error"), "shifts": lambda r: last(r, "bias_error"), "E∞": uniform}
    groups = grouped((r for r in of_grid(records)[0] if place(r)[1] == 2 and identified(r)), lambda r: place(r)[0])
    series = {n: [(d, median(map(test, mine))) for d, mine in sorted(groups.items())] for n, test in errors.items()}
    return chart(series, title="m = 0.4 D²", across="D", up="error")


def failures(records: Records) -> Iterator[str]:
    """Every cell without a network identified, with its reason."""
    lost = [r for r in records if not identified(r)]
    yield f"Not identified: {len(lost)} of {len(records)} cells{':' if lost else '.'}"
    if lost:
        yield ""
    for r in lost:
        why = r.reason or "the network it ended with is wrong"
        yield f"- {r.task}, seed {r.seed}, {r.method}: {r.status.key}, {why}"


def spectral(records: Records) -> Iterator[str]:
    """Algorithm 2.1."""
    yield from SPECTRAL.splitlines()
    yield ""
    yield from by_task(records, SEEDS, IDENTIFIED, HELD, STARTS, WEIGHTS, SECONDS, ENDED)
    yield ""
    yield from failures(records)
