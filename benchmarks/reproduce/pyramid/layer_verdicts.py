"""What §4.4 of the thesis says of its Tables 4.4 to 4.7, and what our other routes do, judged by runs of both."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from statistics import mean

import torch

from benchmarks.reproduce.pages import Records, exact, grouped
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid.printed import ASSIGNED, MATRICES
from benchmarks.reproduce.pyramid.records import PRINTED, average, known, value, word
from benchmarks.reproduce.pyramid.table_verdicts import ALIKE
from benchmarks.reproduce.pyramid.tables import KINDS, SUITE, assigned, detections, errors, made_of, named, runs
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid.judging.spans_and_directions import score_directions
from paramid.records.record import Record
from paramid.tasks.pyramid import Pyramid

FEW = 0.1  # of the share of full detections, by which ten runs may be short of it
STEP = 5e-3  # ε of (4.76)
SEEDS = tuple(range(700, 710))
FAR_ABOVE = 10.0  # times, from where on a score is far above another; not up to `ALIKE`
CRITICAL = 10.0  # times larger, from where on an error of values is another one
MILD = 0.1  # deviation of shifts up to which our routes are claimed for
OURS = ("peel", "entangled-gauge")


def at_printed_radius(made: Made, *widths: str) -> Records:
    """Runs of Algorithm 4.2 at R = 1000 from exact Hessians, one for every network."""
    return [r for k in ASSIGNED if k[0] in widths and k[2] for r in deep.pipeline(made[SUITE], *k, far=PRINTED)]


def printed_radius(made: Made) -> Judged:
    """Whether R = 1000 tells the layers of [50, 25, 10] as often as printed."""
    told, held = [], []
    for kind, theirs in ASSIGNED.items():
        mine = deep.pipeline(made[SUITE], *kind, far=PRINTED)
        if kind[0] == "50-25-10" and (ours := assigned(mine, 1)) is not None:
            full, after = detections(mine), average(value(deep.network(r), "layers_right") for r in mine)
            held.append(full is not None and full >= theirs[3] - FEW)
            numbers = f"r_1 printed {theirs[0]:g}, ours {ours:.3g} (after SGD {word(after, '.3g')} of all neurons)"
            told.append(
                f"{' from '.join(named(kind))}: {numbers}, full detection printed {theirs[3]:g}, ours {word(full)}"
            )
    return all(held) if held else None, f"{'; '.join(told)} (short of it by up to {FEW:g} is as printed)"


def many_outputs_are_told(made: Made) -> Judged:
    """Whether [50, 25, 50] is told perfectly at R = 1000."""
    mine = at_printed_radius(made, "50-25-50")
    full = sum(map(deep.detected, mine))
    return full == len(mine) if mine else None, f"{full} of {len(mine)} networks at R = 1000 have full detection"


def one_is_misjudged(made: Made) -> Judged:
    """Whether a run of [50, 25, 10] that errs at R = 1000 takes one direction of the second layer for the first's."""
    shares = known(
        value(deep.labelled(r), "assigned_1") for r in at_printed_radius(made, "50-25-10") if not deep.detected(r)
    )
    wrong = [round((1 - share) * 50) for share in shares]
    told = ", ".join(f"{wrong.count(n)} misjudge {n}" for n in sorted(set(wrong)))
    return set(wrong) == {1} if wrong else None, f"of {len(wrong)} networks that err, {told or 'none'}"


def smaller_radius(made: Made) -> Judged:
    """Whether R = 100 tells all layers."""
    mine = [r for kind in ASSIGNED for r in runs(made[SUITE], kind)]
    full, networks = sum(map(deep.detected, mine)), len(deep.drawn(mine))
    told = f"{full} of {len(mine)} runs at R = 100 have full detection: {networks} networks, both kinds of Hessians"
    return full == len(mine) if mine else None, told


def scores(records: Records) -> Iterator[tuple[float, float]]:
    """The m_1-th and the next score ‖P₁(v vᵀ)‖_F of runs."""
    for r in records:
        if "score_first" in r.stats and "score_next" in r.stats:
            yield float(r.stats["score_first"]), float(r.stats["score_next"])


def scores_are_apart(made: Made) -> Judged:
    """(4.60), where the layers told are right."""
    told, ratios = [], []
    for far in (PRINTED, deep.OURS):
        kinds = (k for k in ASSIGNED if k[2])
        mine = [r for k in kinds for r in deep.pipeline(made[SUITE], *k, far=far) if deep.detected(r)]
        if pairs := list(scores(mine)):
            ratios += [a / b for a, b in pairs]
            least, most = min(a for a, _ in pairs), max(b for _, b in pairs)
            told.append(f"R = {far:g}: at least {least:.3f} in the first layer, at most {most:.3f} in the second")
    held = True if min(ratios) >= FAR_ABOVE else False if min(ratios) <= ALIKE else None
    numbers = f"networks with full detection, {'; '.join(told)}: {spread(ratios)} times"
    return held, f"{numbers} (far above: from {FAR_ABOVE:g} on, not up to {ALIKE:g})"


def mistakes_have_their_cause(made: Made) -> Judged:
    """Whether far spans of runs that err lack a first-layer weight: their m_1-th score is none of a weight inside."""
    mine = at_printed_radius(made, "50-25-10", "50-25-50")
    erring, right = ([a for a, _ in scores([r for r in mine if deep.detected(r) == side])] for side in (False, True))
    told = f"the m_1-th score, 1 of a weight inside, is {spread(erring, '.2f')} in {len(erring)} networks that err"
    return max(erring) < min(
        right
    ), f"{told} and {spread(right, '.2f')} in {len(right)} that do not: a count inside tells them apart"


def mistakes_are_critical(made: Made) -> Judged:
    """Whether a mistake in the layers leaves an error of values that no run without one has."""
    mine = at_printed_radius(made, "50-25-10", "50-25-50")
    fitted = [r for r in mine if len(networks(r)) > 1]
    erring, right = ([networks(r)[-1] for r in fitted if deep.detected(r) == side] for side in (False, True))
    told = f"E∞ after one pass is {spread(erring, '.2g')} in {len(erring)} networks with a mistake whose fit went on"
    return min(erring) > CRITICAL * max(
        right
    ), f"{told} and {spread(right, '.2g')} in {len(right)} without (critical: {CRITICAL:g} times)"


def networks(record: Record) -> list[float]:
    """E∞ of the networks claimed."""
    return [c.metrics["uniform_distance"] for c in record.claims if "uniform_distance" in c.metrics]


def matrices_follow(made: Made) -> Judged:
    """Whether E(Ṽ_l) of hidden layers is E_l."""
    ratios = []
    for kind in KINDS:
        mine = [r for r in runs(made[SUITE], kind) if deep.detected(r)]
        hidden = range(1, len(kind[0].split("-")))
        for n, before in zip(hidden, errors(mine)[1:], strict=False):
            after = made_of(mine, n)
            ratios += [after / before] if before and after is not None else []
    told = f"E(Ṽ_l) is {spread(ratios, '.3f')} times E_l of the same runs"
    return min(ratios) >= 1 / ALIKE and max(ratios) <= ALIKE, told


def matrices_agree(made: Made) -> Judged:
    """Whether E(Ṽ_l) of hidden layers is what is printed."""
    ratios = [
        ours / theirs
        for kind, row in MATRICES.items()
        for n, theirs in enumerate(row[:-1], 1)
        if (ours := made_of([r for r in runs(made[SUITE], kind) if deep.detected(r)], n)) is not None
    ]
    alike = sum(1 / ALIKE <= r <= ALIKE for r in ratios)
    told = f"{alike} of {len(ratios)} means of hidden layers are within {ALIKE:g} times the printed ones"
    return alike == len(ratios) if ratios else None, f"{told}: {spread(ratios, '.2f')} times"


def gradients_are_better(made: Made) -> Judged:
    """Whether the last layer's directions are better by gradients."""
    told, held = [], []
    for derivatives in (False, True):
        kind = ("50-25-10", "tanh", derivatives)
        mine = [r for r in runs(made[SUITE], kind) if deep.detected(r)]
        ours, spm = made_of(mine, 3), errors(mine)[3]
        if ours is not None and spm is not None:
            held.append(ours < 1e-3 * spm)
            told.append(f"{named(kind)[1]}: {spm:.1e} by SPM, {ours:.1e} by gradients, printed {MATRICES[kind][2]:.1e}")
    return all(held) if held else None, "; ".join(told)


@cache
def by_step(widths: str, output: str, step: float) -> float:
    """The largest error of an output's direction by (4.76) of that step at 0, mean of ten networks."""
    task = Pyramid(widths=tuple(map(int, widths.split("-"))), output=output)
    return mean(gradient_error(task, seed, step) for seed in SEEDS)


def gradient_error(task: Pyramid, seed: int, step: float) -> float:
    """The same of one network."""
    teacher, e = task.draw(seed), step * torch.eye(task.D, dtype=torch.float64)
    truth, found = teacher.slopes(0 * e[:1])[-1][0], (teacher(e) - teacher(-e)) / (2 * step)
    return score_directions(truth / truth.norm(dim=0), found / found.norm(dim=0))["weight_error"]


def last_layer_agrees(_: Made) -> Judged:
    """Whether (4.76) with the step printed leaves the error printed for the last layer; with half of it, too."""
    told, held = [], []
    for step in (STEP, STEP / 2):
        ratios = [by_step(w, o, step) / row[-1] for (w, o, told_exact), row in MATRICES.items() if not told_exact]
        held.append(all(1 / ALIKE <= r <= ALIKE for r in ratios))
        told.append(f"{spread(ratios, '.2f')} times with ε = {step:g}")
    numbers = f"means of ten networks from (4.76) in double precision are, against Table 4.6, {' and '.join(told)}"
    return held[0], f"{numbers} (alike: up to {ALIKE:g})"


def mild(record: Record) -> bool:
    """Whether a network is of the kind that our routes are claimed for: tanh, small shifts that are there, no noise."""
    told = deep.options(record.task)
    small = 0 < float(told.get("shift", "0.05")) <= MILD
    return small and told.get("activation", "tanh") == "tanh" and float(told.get("noise", "0")) == 0


def of_ours(made: Made) -> Records:
    """Runs of our routes on more than three layers."""
    both = [*made[SUITE], *made["depth"]]
    return [r for r in both if r.method in OURS and deep.depth(r) > 3]


def three_layers_are_no_limit(made: Made) -> Judged:
    """Whether our routes find all networks of four and five layers of that kind; what else there is, is told too."""
    mine = of_ours(made)
    kept = [r for r in mine if mild(r) and deep.depth(r) < 6]
    told = [
        f"{what}: {', '.join(f'`{route}` {sum(map(exact, rs))}/{len(rs)}' for route, rs in by_route(some).items())}"
        for what, some in grouped([r for r in mine if r not in kept], what_is_awkward).items()
    ]
    numbers = f"{sum(map(exact, kept))} of {len(kept)} runs without an oracle are exact to 1e-8"
    return all(map(exact, kept)) if kept else None, f"{numbers}; of the others {'; '.join(told)}"


def by_route(records: Records) -> dict[str, Records]:
    """Runs by method."""
    return grouped(records, lambda r: r.method)


def what_is_awkward(record: Record) -> str:
    """Why a network is not of that kind."""
    told = deep.options(record.task)
    names = ("shift", "activation", "noise")
    return ", ".join(f"{n} {told[n]}" for n in names if n in told) or f"{deep.depth(record)} layers"


def fifty_outputs(made: Made) -> Judged:
    """Whether our route finds [50, 25, 50]."""
    mine = [r for r in made[SUITE] if r.method in OURS and deep.is_network(r, "50-25-50", "identity")]
    told = f"`peel` finds {sum(map(exact, mine))} of {len(mine)} exactly (the others: {reasons(mine)})"
    return all(map(exact, mine)) if mine else None, told


def reasons(records: Records) -> str:
    """How runs that are not exact ended."""
    return ", ".join(sorted({r.status.key for r in records if not exact(r)})) or "nothing else"


def growing_layers(made: Made) -> Judged:
    """Whether our routes identify networks with a hidden layer wider than what feeds it."""
    wide = [r for r in made["depth"] if r.method in OURS and widens(r, inputs=True)]
    inner = [r for r in wide if widens(r, inputs=False)]
    told = f"{sum(map(exact, wide))} of {len(wide)} runs of `peel` and `entangled-gauge` are exact to 1e-8"
    told += f", {sum(map(exact, inner))} of {len(inner)} where a hidden layer is wider than the one below it"
    return all(map(exact, wide)) if wide else None, told


def widens(record: Record, *, inputs: bool) -> bool:
    """Whether a hidden layer is wider than what feeds it: another hidden layer or, where `inputs`, the inputs."""
    told = deep.options(record.task)
    *hidden, _ = map(int, told["widths"].split("-"))
    fed = [int(told["D"]), *hidden] if inputs else hidden
    return any(b > a for a, b in pairwise(fed))
