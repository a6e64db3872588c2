"""The last paragraph of §4.4 of the thesis, the pipeline beside SGD: judged by runs of both, and by fits.

E∞ of the pipeline from exact Hessians, of SGD at both readings of its largest rate, all before tanh outputs at D = 50.
"""

from collections.abc import Mapping
from statistics import mean

from benchmarks.reproduce.pyramid import fits, sgd
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid.records import OUTPUTS, known, value
from benchmarks.reproduce.pyramid.tables import SUITE
from benchmarks.reproduce.source_items import Judged, Made, every, spread

REACHED = 1e-6  # E∞ of SGD as printed
KIND = ("50-25-10", "tanh", True)
UNLIKE = "laws of shifts and clocks differ, as the tables say"


def of_pipeline(made: Made, widths: str) -> list[float]:
    """E∞ of the runs with full detection."""
    mine = [r for r in deep.pipeline(made[SUITE], widths, "tanh", True) if deep.detected(r)]
    return known(value(deep.network(r), fits.LARGEST) for r in mine)


def of_sgd(made: Made, widths: str) -> Mapping[float, list[float]]:
    """E∞ by rate."""
    mine = [r for r in sgd.deep_ones(made) if sgd.inputs(r) == sgd.FULL]
    return sgd.by_rate([r for r in mine if deep.options(r.task)["widths"] == widths])


def one_side(held: list[bool]) -> bool | None:
    """What both rates say; undecided where they do not agree."""
    return held[0] if len(set(held)) == 1 else None


def three_layers(made: Made) -> Judged:
    """Whether SGD ends below the pipeline before [50, 25, 10], at either rate."""
    ours, theirs = of_pipeline(made, "50-25-10"), of_sgd(made, "50-25-10")
    told = "; ".join(f"{mean(e):.1e} of SGD at rate {g:g} (mean of {len(e)})" for g, e in theirs.items())
    later = known(value(deep.network(r), fits.LARGEST) for r in deep.pipeline(made[SUITE], *KIND, long=True))
    on = f", {mean(later):.1e} after {deep.LONG} epochs (mean of {len(later)} of them)" if later else ""
    numbers = f"E∞ is {mean(ours):.1e} of the pipeline (mean of {len(ours)}){on}, {told}; {UNLIKE}"
    return one_side([mean(e) < mean(ours) for e in theirs.values()]), f"{numbers}; decided where both rates agree"


def four_layers(made: Made) -> Judged:
    """Whether the pipeline loses less than SGD from three layers to four, at either rate."""
    ours = mean(of_pipeline(made, "50-35-25-10")) / mean(of_pipeline(made, "50-25-10"))
    three, four = (of_sgd(made, w) for w in ("50-25-10", "50-35-25-10"))
    steps = {g: mean(four[g]) / mean(three[g]) for g in three if g in four}
    told = "; ".join(
        f"{s:.2g} times by SGD at rate {g:g} (means of {len(three[g])} and {len(four[g])}; "
        f"before four {', '.join(f'{e:.1e}' for e in four[g])})"
        for g, s in steps.items()
    )
    numbers = f"E∞ grows {ours:.2g} times by the pipeline, with an oracle and rate {deep.FOUR_LAYERS:g} before four"
    return one_side([s > ours for s in steps.values()]), f"{numbers}; {told}; {UNLIKE}; decided where both rates agree"


def true_ones_come_there(_: Made) -> Judged:
    """Whether [50, 25, 10] comes to 1e-6 from true entangled weights; undecided while it still falls."""
    held, told = [], []
    for output in OUTPUTS:
        curve = fits.from_true_directions("50-25-10", output)
        end = curve.metrics[-1][fits.LARGEST]
        held.append(True if end <= REACHED else None if fits.falls(curve, fits.LARGEST) else False)
        told.append(f"{end:.1e} with {output} outputs after {curve.epochs[-1]} epochs")
    return every(held), f"E∞ ends at {' and '.join(told)}, one network each"


def others_do_not(made: Made) -> Judged:
    """Whether the pipeline ends above 1e-6 after as many epochs; undecided while it falls."""
    curves = [curve for kind, curve in fits.pipelines(made, long=True) if kind[0] == "50-25-10"]
    ends = [c.metrics[-1][fits.LARGEST] for c in curves]
    falling = sum(fits.falls(c, fits.LARGEST) for c in curves)
    told = f"E∞ ends at {spread(ends, '.1e')} after {curves[0].epochs[-1] if curves else 0} epochs"
    held = False if min(ends) <= REACHED else None if falling else True
    return held, f"{told}, means of {curves[0].runs}; {falling} of {len(curves)} still fall"
