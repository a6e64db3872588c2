"""The figures of the suite `bfc`."""

from statistics import median

from benchmarks.reproduce.hierarchy.records import DEPTH, GAP, KERNEL, PASSES, gap, kernel_lines, mean, metric, stage
from benchmarks.reproduce.pages import Records, option
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure
from paramid.words.naming import Name


def kernel_figure(records: Records) -> Figure:
    """Kernels and densenet-lm over samples."""
    series = dict(kernel_lines([r for r in records if r.method.startswith(KERNEL)]))
    mine = [r for r in records if r.method == "densenet-lm" and list(dict(Name.parse(r.task).options)) == ["N"]]
    counts = sorted({option(r.task, "N") for r in mine})
    errors = {n: [metric(r, "error") for r in mine if option(r.task, "N") == n] for n in counts}
    series["densenet-lm"] = [(n, median(e)) for n, e in errors.items()]
    return chart(series, title="Relative MSE over samples", across="samples N", up="relative MSE")


def gap_figure(records: Records) -> Figure:
    """Errors of S_2 over the gap, by pass."""
    mine = [r for r in records if r.method == GAP]
    values = sorted({gap(r) for r in mine})
    series = {
        name: [(a, mean([stage(r, "feature_error_2", at) for r in mine if gap(r) == a])) for a in values]
        for at, name in enumerate(PASSES)
        if at != 1
    }
    return chart(series, title="Error of S_2 over the gap", across="α_3", up="error of S_2")


def staircase_figure(records: Records) -> Figure:
    """Errors of S_2 over the number of layers trained."""
    series: dict[str, list[tuple[float, float]]] = {}
    for r in (r for r in records if r.method == DEPTH and r.claims):
        name = f"α = {dict(Name.parse(r.task).options)['alphas']}, seed {r.seed}"
        series[name] = [(at + 2.0, stage(r, "feature_error_2", at)) for at in range(3)]
    return chart(series, title="Error of S_2 by layers trained", across="layers trained", up="error of S_2")
