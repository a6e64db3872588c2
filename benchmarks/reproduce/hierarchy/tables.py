"""The tables of the suite `bfc`: who corrects, the gap, depth, samples, kernels, noise, other structures."""

import math
from collections.abc import Iterator

from benchmarks.reproduce.hierarchy.records import (
    ALTERNATING,
    DEPTH,
    GAP,
    KERNEL,
    PASSES,
    SOLVED,
    floors,
    gain,
    gap,
    kernel_lines,
    mean,
    metric,
    middle,
    mse,
    rows_of,
    seeds,
    stage,
)
from benchmarks.reproduce.pages import ENDED, IDENTIFIED, SECONDS, SEEDS, Records, by_task, grid, headed, option, slope
from paramid import Run
from paramid.methods.hierarchy import densenet
from paramid.records.record import Record
from paramid.tasks.hierarchy import Hierarchy
from paramid.words.naming import Name


def text(records: Records) -> Iterator[str]:
    """All of the suite `bfc`."""
    parts = {
        "Who corrects": learners,
        "The gap": gaps,
        "Kernels first, correction after": alternating,
        "The staircase over depth": staircase,
        "How many samples": samples,
        "Kernels": kernels,
        "Label noise": noise,
        "The wrong structure": structures,
    }
    for title, part in parts.items():
        yield from headed(title, part(records))


def learners(records: Records) -> Iterator[str]:
    """The gain of the lower features."""
    yield "`before`: the relative error of S_2 when layer 2 alone was trained, or when first there; `after`: at last."
    yield "What `densenet-layerwise` has is all that layer 2 alone can have, by least squares: verdicts compare so."
    yield "The others train layer 3 together with it; Algorithm 1 has a part of its own."
    yield ""
    mine = [r for r in records if r.task in ("hierarchy", "hierarchy:N=560") and not r.method.startswith(KERNEL)]
    told = [(n, lambda rs, i=i: middle([gain(r)[i] for r in rs])) for i, n in enumerate(("before", "after", "gain"))]
    top = ("S_3", lambda rs: middle([metric(r, "feature_error_3") for r in rs]))
    row = ("rows of W_2", lambda rs: middle([metric(r, "row_error_2") for r in rs]))
    yield from by_task(mine, SEEDS, ("relative MSE", mse), *told, top, row, SECONDS, ENDED)


def gaps(records: Records) -> Iterator[str]:
    """Slopes over α_3."""
    mine = [r for r in records if r.method == GAP]
    yield f"Geometric means over {seeds(mine)} seeds; the exponent is that of α_3."
    yield ""
    values = sorted({gap(r) for r in mine}, reverse=True)
    head = ("", *(f"α_3 = {a:g}" for a in values), "exponent")
    rows = []
    for name, of, at in measured():
        errors = [mean([stage(r, of, at) for r in mine if gap(r) == a]) for a in values]
        rows.append((name, *(f"{e:.1e}" for e in errors), f"{slope(values, errors):.2f}"))
    yield from grid(head, rows)


def measured() -> Iterator[tuple[str, str, int]]:
    """What the table over the gap shows: a name, a metric and the claim that it is of."""
    for at, name in enumerate(PASSES):
        yield f"S_2, {name}", "feature_error_2", at
        yield f"f, {name}", "error", at


def alternating(records: Records) -> Iterator[str]:
    """Refit and distil over more than two layers."""
    yield 'The paper says that kernels in sequence together with backward correction "may not work". `densenet-als` is'
    yield "that: regressions of products, layer by layer and all heads again, with features taken out of the heads in"
    yield "between. From L = 4 on two layers see the inputs, and their products of inputs are told apart by the rest."
    yield ""
    mine = [r for r in records if r.method == ALTERNATING]
    features = ((f"S_{n}", lambda rs, n=n: middle([metric(r, f"feature_error_{n}") for r in rs])) for n in (2, 3, 4))
    yield from by_task(mine, SEEDS, IDENTIFIED, ("relative MSE", mse), *features, SECONDS, ENDED)


def staircase(records: Records) -> Iterator[str]:
    """Layer by layer at L = 4."""
    yield f"Error of S_2 when all layers up to l are trained, D = 15, k = 4-3-2; solved: below {SOLVED:g} at the end."
    yield ""
    mine = [r for r in records if r.method == DEPTH]
    rows = []
    for alphas in sorted({dict(Name.parse(r.task).options)["alphas"] for r in mine}):
        ours = [r for r in mine if dict(Name.parse(r.task).options)["alphas"] == alphas]
        steps = [[stage(r, "feature_error_2", at) for r in ours] for at in range(3)]
        drop = min(min(a, b) for a, b in (falls(r) for r in ours))
        solved = sum(metric(r, "feature_error_2") <= SOLVED for r in ours)
        ends = (f"{drop:.1f}", f"{solved}/{len(ours)}", ENDED[1](ours))
        rows.append((alphas, str(len(ours)), *(middle(s) for s in steps), *ends))
    yield from grid(("α", "seeds", "l = 2", "l = 3", "l = 4", "least fall of a step", "solved", "ended"), rows)


def falls(record: Record) -> tuple[float, float]:
    """How many times each added layer lowered the error of S_2."""
    two, three, four = (stage(record, "feature_error_2", at) for at in range(3))
    return two / three if three else math.inf, three / four if four else math.inf


def samples(records: Records) -> Iterator[str]:
    """N from below the number of weights on."""
    task = Hierarchy()
    count = sum(k.numel() for k in densenet.student(task.spec, Run.seeded(0), drawn=True).weights)
    yield f"The student has {count} weights and fits nine tenths of N; where these are fewer it may interpolate."
    yield ""
    mine = [r for r in records if r.method == "densenet-lm" and "N=" in r.task and "noise" not in r.task]
    left = ("left on its own samples", lambda rs: middle([r.stats.get("loss", math.inf) for r in rs]))
    yield from by_task(mine, SEEDS, IDENTIFIED, left, ("relative MSE", mse), ("rows of W_2", rows_of), SECONDS, ENDED)


def kernels(records: Records) -> Iterator[str]:
    """Ridge regressions."""
    yield "The relative MSE of each kernel, one seed. On the same teacher layer 2 alone leaves"
    yield f"{mse(floors(records))}, by least squares over x² - 1; kernels of (x, x² - 1) have products with x besides,"
    yield "which are layer 3's."
    yield ""
    mine = [r for r in records if r.method.startswith(KERNEL)]
    counts = sorted({option(r.method, "N") for r in mine})
    rows = []
    for name, points in kernel_lines(mine).items():
        at = dict(points)
        rows.append((name, *(f"{at[n]:.2g}" if n in at else "-" for n in counts)))
    yield from grid(("kernel", *(f"N = {n:g}" for n in counts)), rows)


def noise(records: Records) -> Iterator[str]:
    """The quadratic law."""
    mine = [r for r in records if "noise=" in r.task]
    two = ("S_2", lambda rs: middle([metric(r, "feature_error_2") for r in rs]))
    three = ("S_3", lambda rs: middle([metric(r, "feature_error_3") for r in rs]))
    yield from by_task(mine, SEEDS, two, three, IDENTIFIED, ENDED)
    values = [(option(r.task, "noise"), metric(r, "feature_error_2")) for r in mine]
    good = [(n, e) for n, e in values if math.isfinite(e)]
    yield ""
    yield f"The error of S_2 goes like noise^{slope((n for n, _ in good), (e for _, e in good)):.2f}."


def structures(records: Records) -> Iterator[str]:
    """Students of other widths and links."""
    yield "Too narrow (3-2), too wide (6-4), seeing more layers than the teacher's, or without its skip from x."
    yield "`identified` asks for f and every feature, which a net that is too wide may have; where these are no"
    yield "coordinates that a next layer could square the method gives up."
    yield ""
    mine = [r for r in records if r.method.startswith(("densenet-lm:ks", "densenet-lm:skips"))]
    two = ("S_2", lambda rs: middle([metric(r, "feature_error_2") for r in rs]))
    yield from by_task(mine, SEEDS, ("relative MSE", mse), two, IDENTIFIED, ENDED)
