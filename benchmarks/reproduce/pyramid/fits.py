"""Figures 4.5 to 4.7 of the thesis: fits of scales and shifts to directions that have errors, and to true ones.

The true ones are no cell of a suite, as no oracle tells them: teachers of fixed seeds, their entangled weights in
another order, with other signs and of length 1, and the descent of `entangled` from them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

import torch
from torch import Tensor

from benchmarks.reproduce.pages import Records, grid
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid import tables
from benchmarks.reproduce.pyramid.printed import Kind
from benchmarks.reproduce.pyramid.records import NETWORKS, OUTPUTS, known, word
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Network, Run
from paramid.judging.aligned_networks import shift_errors
from paramid.judging.output_errors import score_lengths
from paramid.methods.entangled import FEW, RATE
from paramid.methods.layers import loss_free
from paramid.methods.layers.loss_free import LossFree
from paramid.methods.spans.hessian_pipeline import sparse
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure
from paramid.records.record import Record, Stage
from paramid.tasks.pyramid import JUDGED, Pyramid

TRUE_EPOCHS, TRUE_SEEDS, ROWS, BATCH = 16, (700,), 50_000, 64
ON = {"50-25-10": int(deep.LONG)}  # epochs where fits from true directions go on
FEW_ROWS = 2048
MEAN, LARGEST = "mean_distance", "uniform_distance"
PLATEAU = 10.0  # times the error of directions, within which an error of values is of their order
FIGURES = dict(zip(NETWORKS, ("Figure 4.5", "Figure 4.6", "Figure 4.7"), strict=True))
ALIKE = 1.5  # times apart, up to which two ends are the same
KEPT = 0.8  # share of the error after half the epochs, below which a fit still falls at its end
RATES = f"rates {RATE / FEW:g}, {RATE / 50:g} before fifty outputs, {deep.FOUR_LAYERS:g} before four layers"
SETTING = f"""MAE (4.81), the mean of ‖f - f̃‖₂; E∞ (4.82), max ‖f - f̃‖₂ / max ‖f‖₂; E(τ̃_l) (4.83), of shifts: all on
10 000 fresh inputs, where the thesis takes the training inputs for MAE and 10⁶ for E∞, and after epochs
of 50 000 samples instead of 20 minutes. From directions of the pipeline (runs with full detection; `on`: seeds 700 and
701 on to {deep.LONG} epochs), and from true ones (seed {TRUE_SEEDS[0]}); {RATES},
where 0.005 is printed for all. All are means over the runs. The thesis' curves are figures whose numbers are not in
its text."""
WAYS = (("differences", False, False), ("exact Hessians", True, False), ("exact Hessians, on", True, True))


@dataclass(frozen=True)
class Curve:
    """(4.81), (4.82) and (4.83) after so many epochs, each a mean over `runs`."""

    runs: int
    epochs: tuple[int, ...]
    metrics: tuple[Mapping[str, float], ...]

    def over(self, metric: str) -> list[tuple[float, float]]:
        """A metric over epochs from the first on."""
        return [(e, m[metric]) for e, m in zip(self.epochs, self.metrics, strict=True) if e and metric in m]


def told(last: int) -> tuple[int, ...]:
    """The epochs after which a network is claimed: none, 1, 2, 4, … and the last."""
    return (0, *sparse(iter(range(1, last + 1))))


@cache
def from_true_directions(widths: str, output: str) -> Curve:
    """The descent from true entangled weights."""
    task = Pyramid(widths=tuple(map(int, widths.split("-"))), output=output)
    epochs = ON.get(widths, TRUE_EPOCHS)
    runs = [list(descent(task, seed, epochs)) for seed in TRUE_SEEDS]
    return Curve(len(runs), told(epochs), tuple(means(stages) for stages in zip(*runs, strict=True)))


def descent(task: Pyramid, seed: int, epochs: int) -> Iterator[Mapping[str, float]]:
    """Errors of the first student and of those that are told."""
    teacher, run = task.draw(seed), Run.seeded(seed)
    x = run.normal(ROWS, task.D)
    student = LossFree.of(disguised(teacher, run), teacher.activations)
    rate = deep.FOUR_LAYERS if len(task.shape) > 3 else RATE / max(FEW, teacher.outputs)
    every = loss_free.descend(student, [(x, teacher(x))], run, rate=rate, batch=BATCH, epochs=epochs)
    for told_student in (student, *sparse(every)):
        network = told_student.network()
        yield score_lengths(teacher, network, task.inputs(JUDGED)) | shift_errors(teacher, network)


def disguised(teacher: Network, run: Run) -> list[Tensor]:
    """True entangled weights at 0 of length 1, those of hidden layers in a random order and with random signs."""
    *hidden, last = (v[0] / v[0].norm(dim=0) for v in teacher.slopes(torch.zeros_like(teacher.weights[0][:, 0])[None]))
    mixed = []
    for v in hidden:
        signs = run.normal(1, v.shape[1]).sign()
        mixed.append((v * signs)[:, run.normal(v.shape[1], 1)[:, 0].argsort()])
    return [*mixed, last]


@cache
def by_batches() -> tuple[float, float]:
    """Remark 4.5 on a small network whose directions are off by about 0.01: E∞ after SGD and after gradient descent."""
    task = Pyramid(D=12, widths=(10, 6, 4))
    teacher, run = task.draw(TRUE_SEEDS[0]), Run.seeded(1)
    near = [v + 0.01 * run.normal(*v.shape) / task.D**0.5 for v in disguised(teacher, run)]
    student, x, rate = LossFree.of(near, teacher.activations), run.normal(FEW_ROWS, task.D), RATE / FEW
    samples = [(x, teacher(x))]
    ends = []
    for batch, epochs in ((BATCH, 20), (FEW_ROWS, 20 * FEW_ROWS // BATCH)):
        fitted = loss_free.descend(student, samples, run, rate=rate * BATCH / batch, batch=batch, epochs=epochs)
        *_, end = fitted
        ends.append(score_lengths(teacher, end.network(), task.inputs(JUDGED))[LARGEST])
    return ends[0], ends[1]


def means(stages: tuple[Mapping[str, float], ...]) -> Mapping[str, float]:
    """The mean of every metric that all have."""
    names = set.intersection(*(set(s) for s in stages))
    return {name: sum(s[name] for s in stages) / len(stages) for name in sorted(names)}


def falls(curve: Curve, metric: str) -> bool:
    """Whether a metric still falls in the second half of the epochs."""
    told_later = curve.over(metric)
    return len(told_later) > 1 and told_later[-1][1] < KEPT * told_later[-2][1]


def shifts(curve: Curve) -> list[str]:
    """The names of (4.83) of its layers."""
    return [n for n in curve.metrics[-1] if n.startswith("shift_error_")]


def from_records(records: Records, widths: str, output: str, derivatives: bool, *, long: bool = False) -> Curve | None:
    """The fits of the pipeline's runs with full detection."""
    mine = [r for r in deep.pipeline(records, widths, output, derivatives, long=long) if deep.detected(r)]
    fits = [networks(r) for r in mine]
    if not fits or not min(map(len, fits)):
        return None
    epochs = told(int(deep.options(mine[0].method).get("epochs", 10)))
    stages = zip(*fits, strict=False)
    return Curve(len(fits), epochs[: min(map(len, fits))], tuple(means(tuple(s.metrics for s in at)) for at in stages))


def networks(record: Record) -> list[Stage]:
    """The networks claimed, the first before the descent."""
    return [c for c in record.claims if c.kind == "Network" and LARGEST in c.metrics]


def curves(records: Records, widths: str) -> Mapping[str, Curve]:
    """All fits of a figure of the thesis, by output and directions."""
    made: dict[str, Curve] = {}
    for output in OUTPUTS:
        for name, derivatives, long in WAYS:
            if curve := from_records(records, widths, output, derivatives, long=long):
                made[f"{output}, {name}"] = curve
        made[f"{output}, true directions"] = from_true_directions(widths, output)
    return made


def text(records: Records) -> Iterator[str]:
    """Figures 4.5 to 4.7."""
    yield from SETTING.splitlines()
    yield ""
    rows = []
    for widths in NETWORKS:
        for name, curve in curves(records, widths).items():
            first, end = curve.metrics[min(1, len(curve.metrics) - 1)], curve.metrics[-1]
            by_layer = ", ".join(word(end[n]) for n in shifts(curve))
            told_errors = (f"{word(first.get(n), '.1e')} → {word(end.get(n), '.1e')}" for n in (MEAN, LARGEST))
            rows.append(
                (
                    f"[{widths.replace('-', ', ')}], {name}",
                    str(curve.runs),
                    f"{curve.epochs[-1]}",
                    *told_errors,
                    by_layer,
                )
            )
    head = (
        "network and directions",
        "runs",
        "epochs",
        "MAE, epoch 1 → last",
        "E∞, epoch 1 → last",
        "E(τ̃_1), E(τ̃_2), … at last",
    )
    yield from grid(head, rows)


def figure(widths: str) -> Callable[[Records], str]:
    """E∞ over epochs of one network."""

    def draw(records: Records) -> Figure:
        series = {name: curve.over(LARGEST) for name, curve in curves(records, widths).items()}
        return chart(series, title=f"[{widths}]", across="epochs of 50 000 samples", up="max ‖f - f̃‖ / max ‖f‖")

    return draw


# Verdicts


def pipelines(made: Made, *, long: bool = False) -> Iterator[tuple[Kind, Curve]]:
    """Every fit from directions of the pipeline."""
    for kind in tables.KINDS:
        if curve := from_records(made[tables.SUITE], *kind, long=long):
            yield kind, curve


def plateaus(made: Made) -> Judged:
    """Whether fits end at the order of their directions' errors; undecided while they still fall."""
    ratios, falling = [], 0
    for kind, curve in pipelines(made, long=True):
        mine = [r for r in deep.pipeline(made[tables.SUITE], *kind, long=True) if deep.detected(r)]
        worst = max(known(tables.made_of(mine, n) for n in range(1, 5)))
        ratios.append(curve.metrics[-1][LARGEST] / worst)
        falling += falls(curve, LARGEST)
    held = all(1 / PLATEAU <= r <= PLATEAU for r in ratios)
    told = f"after {deep.LONG} epochs E∞ is {spread(ratios)} times the largest E(Ṽ_l) (its order: up to {PLATEAU:g})"
    told += f"; {falling} of {len(ratios)} mean curves still fall, below {KEPT:g} of half the epochs before"
    return None if not ratios or (held and falling) else held, told


def true_ones_go_on(_: Made) -> Judged:
    """Whether all errors of fits from true directions fall to the end."""
    told_fits, held = [], []
    for widths, output in product(NETWORKS, OUTPUTS):
        curve = from_true_directions(widths, output)
        (_, before), (_, end) = curve.over(LARGEST)[-2:]
        held.append(all(falls(curve, n) for n in (MEAN, LARGEST, *shifts(curve))))
        told_fits.append(f"[{widths}], {output}: {before:.1e}, {end:.1e}")
    lead = f"MAE, E∞ and E(τ̃_l) still fall in {sum(held)} of {len(held)}, below {KEPT:g} of half the epochs before"
    return all(held), f"{lead}; E∞ after half the epochs and at last: {'; '.join(told_fits)}"


def ordered(made: Made, better: tuple[str, str], worse: tuple[str, str]) -> list[float]:
    """E∞ of one network over that of another after as many epochs, for every kind of directions."""
    a, b = (curves(made[tables.SUITE], w) for w, _ in (better, worse))
    names = (*(name for name, *_ in WAYS), "true directions")
    pairs = [(a.get(f"{better[1]}, {n}"), b.get(f"{worse[1]}, {n}")) for n in names]
    ends = [(x, y, min(len(x.epochs), len(y.epochs)) - 1) for x, y in pairs if x and y]
    return [x.metrics[n][LARGEST] / y.metrics[n][LARGEST] for x, y, n in ends if y.metrics[n][LARGEST]]


def share_below(ratios: list[float], told_of: str) -> Judged:
    """Whether all ratios are below 1."""
    below = sum(r < 1 for r in ratios)
    held = below == len(ratios) if ratios else None
    told = f"E∞ is smaller {told_of} in {below} of {len(ratios)} pairs, {spread(ratios, '.2g')} times"
    return held, f"{told}, after equal epochs at {RATES}"


def linear_fits_better(made: Made) -> Judged:
    """Linear outputs before bent ones."""
    ratios = [r for w in NETWORKS for r in ordered(made, (w, "identity"), (w, "tanh"))]
    return share_below(ratios, "with linear outputs")


def most_outputs_fit_best(made: Made) -> Judged:
    """[50, 25, 50] before the others."""
    others = [w for w in NETWORKS if w != "50-25-50"]
    ratios = [r for w, o in product(others, OUTPUTS) for r in ordered(made, ("50-25-50", o), (w, o))]
    return share_below(ratios, "for [50, 25, 50]")


def depth_fits_worse(made: Made) -> Judged:
    """[50, 25, 10] before [50, 35, 25, 10]."""
    ratios = [r for o in OUTPUTS for r in ordered(made, ("50-25-10", o), ("50-35-25-10", o))]
    return share_below(ratios, "for [50, 25, 10]")


def all_fall_at_first(made: Made) -> Judged:
    """Whether MAE, E∞ and errors of shifts fall from one network told to the next."""
    told = {"MAE": (0, 0), "E∞": (0, 0), "E(τ̃_l)": (0, 0)}
    for _, curve in pipelines(made):
        for name, metrics in zip(told, ((MEAN,), (LARGEST,), shifts(curve)), strict=True):
            lines = [[m[n] for m in curve.metrics] for n in metrics]
            fall = sum(all(b < a for a, b in pairwise(line)) for line in lines)
            told[name] = told[name][0] + fall, told[name][1] + len(lines)
    numbers = ", ".join(f"{name} in {fall} of {of}" for name, (fall, of) in told.items())
    held = all(fall == of for fall, of in told.values()) if all(of for _, of in told.values()) else None
    return held, f"mean curves that fall at every epoch told, up to the fourth: {numbers}"


def shifts_level_off(made: Made) -> Judged:
    """Whether errors of shifts come down to a level; undecided while they still fall."""
    curves_on = [curve for _, curve in pipelines(made, long=True)]
    lines = [(c, n) for c in curves_on for n in shifts(c)]
    falling = sum(falls(c, n) for c, n in lines)
    ends = [c.metrics[-1][n] for c, n in lines]
    told = f"of 1 at the start {spread(ends, '.2g')} is left after {deep.LONG} epochs"
    told += f"; {falling} of {len(lines)} still fall"
    return None if falling or not lines else max(ends) < 1, f"{told}, below {KEPT:g} of half the epochs before"


def batches_hardly_matter(_: Made) -> Judged:
    """Whether gradient descent on all samples ends like SGD."""
    stochastic, whole = by_batches()
    told = f"E∞ ends at {stochastic:.1e} with batches of {BATCH}, at {whole:.1e} with all {FEW_ROWS} samples in a step"
    numbers = f"one network, D = 12, [10, 6, 4], directions off by 0.01: {told}"
    return 1 / ALIKE <= whole / stochastic <= ALIKE, f"{numbers} (alike: up to {ALIKE:g} times)"
