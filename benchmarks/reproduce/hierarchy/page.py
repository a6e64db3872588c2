"""docs/hierarchy.md: backward feature correction, beside the statements of its paper (15 minutes on two cores)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import geometric_mean, median

from benchmarks.reproduce.hierarchy import images
from benchmarks.reproduce.lines import chart
from benchmarks.reproduce.pages import (
    ENDED,
    IDENTIFIED,
    SECONDS,
    Page,
    Records,
    Section,
    by_task,
    grid,
    option,
    slope,
)
from paramid.records.record import Record
from paramid.words.naming import Name

GAP, DEPTH, KERNEL = "densenet-als:N=8000,passes=3", "densenet-lm:N=5000", "kernel"
PASSES = ("layer 2 alone", "refitted, features uncorrected", "distilled once", "twice", "three times")
LEARNERS = ("densenet-layerwise", "densenet-joint", "densenet-algorithm1", "densenet-als")
GAPS = ("1.0-0.2-0.04", "1.0-1.0-1.0")
SOLVED = 1e-12


def text(records: Records) -> Iterator[str]:
    """All of the suite."""
    parts = (
        ("Who corrects", learners),
        ("The gap", gaps),
        ("The staircase over depth", staircase),
        ("How many samples", samples),
        ("Kernels", kernels),
        ("Label noise", noise),
        ("The wrong structure", structures),
    )
    for title, part in parts:
        yield from ("", f"### {title}", "")
        yield from part(records)


def learners(records: Records) -> Iterator[str]:
    """The gain of the lower features."""
    yield "`before`: the relative error of S_2 when layer 2 alone was trained, or when first there; `after`: at last."
    yield ""
    mine = [r for r in records if r.task in ("hierarchy", "hierarchy:N=560") and not r.method.startswith(KERNEL)]
    told = [(n, lambda rs, i=i: middle([gain(r)[i] for r in rs])) for i, n in enumerate(("before", "after", "gain"))]
    top = ("S_3", lambda rs: middle([metric(r, "feature_error_3") for r in rs]))
    row = ("rows of W_2", lambda rs: middle([metric(r, "row_error_2") for r in rs]))
    yield from by_task(mine, ("relative MSE", mse), *told, top, row, SECONDS, ENDED)


def gaps(records: Records) -> Iterator[str]:
    """Slopes over α_3."""
    yield "Geometric means over seeds; the exponent is that of α_3."
    yield ""
    mine = [r for r in records if r.method == GAP]
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
        rows.append((alphas, *(middle(s) for s in steps), *ends))
    yield from grid(("α", "l = 2", "l = 3", "l = 4", "least fall of a step", "solved", "ended"), rows)


def falls(record: Record) -> tuple[float, float]:
    """How many times each added layer lowered the error of S_2."""
    two, three, four = (stage(record, "feature_error_2", at) for at in range(3))
    return two / three if three else math.inf, three / four if four else math.inf


def samples(records: Records) -> Iterator[str]:
    """N from below the number of weights on."""
    yield "The student has 140 weights and fits nine tenths of N; below that it interpolates, and says so."
    yield ""
    mine = [r for r in records if r.method == "densenet-lm" and "N=" in r.task and "noise" not in r.task]
    left = ("left on its own samples", lambda rs: middle([r.stats.get("loss", math.inf) for r in rs]))
    yield from by_task(mine, IDENTIFIED, left, ("relative MSE", mse), ("rows of W_2", rows_of), SECONDS, ENDED)


def kernels(records: Records) -> Iterator[str]:
    """Ridge regressions."""
    yield f"The relative MSE of each kernel. On the same teacher layer 2 alone leaves {mse(floors(records))}, by least"
    yield "squares over x² - 1; kernels of (x, x² - 1) have products with x besides, which are layer 3's."
    yield ""
    mine = [r for r in records if r.method.startswith(KERNEL)]
    counts = sorted({float(dict(Name.parse(r.method).options)["N"]) for r in mine})
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
    yield from by_task(mine, two, three, IDENTIFIED, ENDED)
    values = [(float(dict(Name.parse(r.task).options)["noise"]), metric(r, "feature_error_2")) for r in mine]
    good = [(n, e) for n, e in values if math.isfinite(e)]
    yield ""
    yield f"The error of S_2 goes like noise^{slope((n for n, _ in good), (e for _, e in good)):.2f}."


def structures(records: Records) -> Iterator[str]:
    """Students of other widths and links."""
    yield "Too narrow (3-2), too wide (6-4), seeing more layers than the teacher's, or without its skip from x. The one"
    yield "too wide finds f and every feature, which is `identified`; that these are no coordinates which a next layer"
    yield "could square it notices itself, and gives up."
    yield ""
    mine = [r for r in records if r.method.startswith(("densenet-lm:ks", "densenet-lm:skips"))]
    two = ("S_2", lambda rs: middle([metric(r, "feature_error_2") for r in rs]))
    yield from by_task(mine, ("relative MSE", mse), two, IDENTIFIED, ENDED)


# Numbers of records


def metric(record: Record, name: str) -> float:
    """A metric, infinite where there is none."""
    return record.metrics.get(name, math.inf)


def stage(record: Record, name: str, at: int) -> float:
    """A metric of the claim number `at`, infinite where there is none."""
    return record.claims[at].metrics.get(name, math.inf) if at < len(record.claims) else math.inf


def gain(record: Record) -> tuple[float, float, float]:
    """The error of S_2 before other layers join, at the end, and their ratio."""
    told = [c.metrics for c in record.claims if c.metrics.get("feature_error_2", 1.0) < 0.9]
    alone = [m["feature_error_2"] for m in told if "feature_error_3" not in m]
    first = alone[-1] if alone else next((m["feature_error_2"] for m in told), math.inf)
    after = metric(record, "feature_error_2")
    return first, after, first / after if after and math.isfinite(first + after) else math.nan


def gap(record: Record) -> float:
    """α_3."""
    return float(dict(Name.parse(record.task).options)["alphas"].split("-", 1)[1])


def mean(errors: Sequence[float]) -> float:
    """The geometric mean."""
    return geometric_mean(errors) if errors and min(errors) > 0 and max(errors) < math.inf else math.nan


def middle(values: Sequence[float]) -> str:
    """The median in words."""
    known = [v for v in values if math.isfinite(v)]
    return f"{median(known):.2g}" if known else "-"


def mse(records: Records) -> str:
    """The median error."""
    return middle([metric(r, "error") for r in records])


def rows_of(records: Records) -> str:
    """The median error of the rows of W_2."""
    return middle([metric(r, "row_error_2") for r in records])


def kernel_lines(records: Records) -> dict[str, list[tuple[float, float]]]:
    """(N, error) by kernel."""
    made: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        options = dict(Name.parse(record.method).options)
        kind = options.get("kernel", f"poly of degree {options.get('degree', '4')}")
        name = kind if kind == "ntk" else f"{kind} on {'(x, x² - 1)' if 'features' in options else 'x'}"
        made.setdefault(name, []).append((float(options["N"]), metric(record, "error")))
    return {name: sorted(points) for name, points in made.items()}


def floors(records: Records) -> Records:
    """Records of layer 2 alone, on the kernels' teachers: the first claims of the strict learner."""
    seeds = {r.seed for r in records if r.method.startswith(KERNEL)}
    strict = [r for r in records if r.method == "densenet-layerwise" and r.seed in seeds]
    return [replace(r, metrics=dict(r.claims[0].metrics)) for r in strict if r.claims]


def findings(made: Mapping[str, Records]) -> Iterator[str]:
    """Statements of the paper that the records can settle."""
    records = made["bfc"]
    gains = {m: [gain(r)[2] for r in records if (r.method, r.task) == (m, "hierarchy")] for m in LEARNERS}
    yield "- *Training the upper layers corrects the lower ones* (the paper's main statement): the error of S_2 became"
    yield f"  smaller by {', '.join(f'{middle(g)} ({m})' for m, g in gains.items())}."
    mine = [r for r in records if r.method == GAP]
    values = sorted({gap(r) for r in mine})
    powers = [
        slope(values, [mean([stage(r, "feature_error_2", at) for r in mine if gap(r) == a]) for a in values])
        for at in (0, 2, 3, 4)
    ]
    yield "- *What layer l leaves wrong is of the size of the gap squared* (Theorem 2, forward part): exponents"
    yield f"  {', '.join(f'{p:.2f}' for p in powers)} before and after each pass of refit and distil."
    kernel = [r for r in records if r.method.startswith(KERNEL)]
    kinds = {"blind": "on x", "tangent": "ntk", "seeing": "on (x, x² - 1)"}
    points = {k: [e for n, ps in kernel_lines(kernel).items() if word in n for _, e in ps] for k, word in kinds.items()}
    least = {k: f"{min(errors, default=math.inf):.2g}" for k, errors in points.items()}
    yield "- *Kernels need more samples* (Theorem I.1, asymptotic): with 4000 samples and fewer the best polynomial or"
    yield f"  Gaussian kernel on x leaves {least['blind']}, the tangent kernel {least['tangent']}, the best kernel"
    yield f"  that is given x² - 1 {least['seeing']}, layer 2 alone {mse(floors(records))}. D = 20 settles no rate."
    deep = {a: [r for r in records if r.method == DEPTH and a in r.task] for a in GAPS}
    solved = {a: sum(metric(r, "feature_error_2") <= SOLVED for r in rs) for a, rs in deep.items()}
    told = ", ".join(f"{solved[a]} of {len(rs)} at α = {a}" for a, rs in deep.items())
    yield "- *The gap matters* (Theorem 1): at L = 3 `densenet-lm` needs none; at L = 4 it solves"
    yield f"  {told}."


# Figures


def kernel_figure(records: Records) -> str:
    """Kernels and densenet-lm over samples."""
    series = dict(kernel_lines([r for r in records if r.method.startswith(KERNEL)]))
    mine = [r for r in records if r.method == "densenet-lm" and list(dict(Name.parse(r.task).options)) == ["N"]]
    counts = sorted({option(r.task, "N") for r in mine})
    errors = {n: [metric(r, "error") for r in mine if option(r.task, "N") == n] for n in counts}
    series["densenet-lm"] = [(n, median(e)) for n, e in errors.items()]
    return chart(series, title="Relative MSE over samples", across="samples N", up="relative MSE")


def gap_figure(records: Records) -> str:
    """Errors of S_2 over the gap, by pass."""
    mine = [r for r in records if r.method == GAP]
    values = sorted({gap(r) for r in mine})
    series = {
        name: [(a, mean([stage(r, "feature_error_2", at) for r in mine if gap(r) == a])) for a in values]
        for at, name in enumerate(PASSES)
        if at != 1
    }
    return chart(series, title="Error of S_2 over the gap", across="α_3", up="error of S_2")


def staircase_figure(records: Records) -> str:
    """Errors of S_2 over the number of layers trained."""
    series: dict[str, list[tuple[float, float]]] = {}
    for r in (r for r in records if r.method == DEPTH and r.claims):
        name = f"α = {dict(Name.parse(r.task).options)['alphas']}, seed {r.seed}"
        series[name] = [(at + 2.0, stage(r, "feature_error_2", at)) for at in range(3)]
    return chart(series, title="Error of S_2 by layers trained", across="layers trained", up="error of S_2")


PAGE = Page(
    name="hierarchy",
    title="Backward feature correction",
    sources="""Shared with other work: seconds are upper bounds, errors and counts are not touched by it.
Teachers: quadratic DenseNets, x ~ N(0, I), D = 20, k = 4-2, α = (1, 0.2) unless a row says otherwise; S_l are the
features of layer l, compared up to a rotation, errors of features being squared and relative.
Reference: Allen-Zhu & Li, *Backward feature correction: how deep learning performs deep (hierarchical) learning*,
arXiv:2001.04413. Its experiments on images are not repeated here; it has no numbers for these teachers.""",
    sections={
        "bfc": Section(
            "Training the upper layers corrects the lower ones",
            text,
            {
                "Kernels and densenet-lm over the number of samples": kernel_figure,
                "Each pass of refit and distil makes the error two powers of the gap smaller": gap_figure,
                "Each layer that joins corrects the features below": staircase_figure,
            },
        ),
        images.SUITE: images.SECTION,
    },
    findings=findings,
)
