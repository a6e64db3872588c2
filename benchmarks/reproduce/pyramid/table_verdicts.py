"""What §4.4 of the thesis says of its Tables 4.2 to 4.7, judged by our runs of the same pipeline."""

from itertools import product

from benchmarks.reproduce.pages import Records, exact
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid.printed import ASSIGNED, ERRORS, MATRICES
from benchmarks.reproduce.pyramid.records import NETWORKS, OUTPUTS, PRINTED, average, known, value, word
from benchmarks.reproduce.pyramid.tables import (
    KINDS,
    SUITE,
    VARIANCE,
    assigned,
    detections,
    errors,
    made_of,
    named,
    readings_of,
    runs,
    spent,
)
from benchmarks.reproduce.source_items import Judged, Made, spread

DEVIANT = 2.0  # times the mean, from where on a run is far from it
ALIKE = 1.5  # times apart, up to which a mean of ours is taken for the thesis'


def tables_agree(made: Made) -> Judged:
    """Whether Δ and every E_l is within `ALIKE` of the thesis' mean."""
    ratios = {}
    for kind, theirs in ERRORS.items():
        for name, a, b in zip(("Δ", "E_1", "E_2", "E_3", "E_4"), theirs, errors(runs(made[SUITE], kind)), strict=False):
            if b is not None:
                ratios[f"{name} of {' from '.join(named(kind))}"] = b / a
    far = {name: r for name, r in ratios.items() if not 1 / ALIKE <= r <= ALIKE}
    told = f"{len(ratios) - len(far)} of {len(ratios)} means are within a factor {ALIKE:g} of the printed ones"
    listed = ", ".join(f"{name} ({r:.2g} times)" for name, r in far.items())
    return not far if ratios else None, f"{told}; not {listed}" if far else told


def upper_layers_agree(made: Made) -> Judged:
    """Whether E_3 and E_4 of four layers are the thesis', from differences."""
    kind = ("50-35-25-10", "tanh", False)
    pairs = [
        (a, b) for a, b in zip(ERRORS[kind][3:], errors(runs(made[SUITE], kind))[3:], strict=True) if b is not None
    ]
    told = ", ".join(f"E_{n} is {b / a:.2g} times the printed mean" for n, (a, b) in enumerate(pairs, 3))
    return all(b / a <= ALIKE for a, b in pairs) if pairs else None, f"{told}, in {len(runs(made[SUITE], kind))} runs"


def differences_hardly_matter(made: Made) -> Judged:
    """Whether Δ is nearly as small from differences."""
    ratios = []
    for widths, output in product(NETWORKS, OUTPUTS):
        pair = [errors(paired(made[SUITE], widths, output, e))[0] for e in (False, True)]
        if None not in pair:
            ratios.append(known(pair)[0] / known(pair)[1])
    if not ratios:
        return None, "no pair of runs"
    told = f"on the same networks Δ from differences is {spread(ratios)} times that from exact Hessians"
    return max(ratios) <= ALIKE, told


def paired(records: Records, widths: str, output: str, derivatives: bool) -> Records:
    """Runs on the seeds that were played with both derivatives."""
    both = [{r.seed for r in deep.pipeline(records, widths, output, e)} for e in (False, True)]
    return [r for r in deep.pipeline(records, widths, output, derivatives) if r.seed in both[0] & both[1]]


def no_strays(made: Made) -> Judged:
    """Whether every direction is a neuron's."""
    mine = [r for kind in KINDS for r in runs(made[SUITE], kind)]
    found = known(value(deep.directions(r), "false_positives") for r in mine)
    return not any(found) if found else None, f"{sum(f > 0 for f in found)} of {len(found)} runs have any"


def all_found(made: Made) -> Judged:
    """Whether the worst mean error is what is printed."""
    means = {named(k)[0]: e for k in KINDS for e in errors(runs(made[SUITE], k))[1 : len(ERRORS[k])] if e is not None}
    worst = max(means.values())
    return worst <= ALIKE * 3.1e-2, f"the largest of our means is {worst:.1e}, of {max(means, key=lambda n: means[n])}"


def compared(made: Made, better: tuple[str, str], worse: tuple[str, str]) -> tuple[int, int, str]:
    """How often Δ of one network is below that of another, over derivatives, and the ratios."""
    ratios = []
    for derivatives in (False, True):
        a, b = (errors(runs(made[SUITE], (*network, derivatives)))[0] for network in (better, worse))
        if a is not None and b is not None:
            ratios.append(a / b)
    return sum(r < 1 for r in ratios), len(ratios), ", ".join(f"{r:.2g}" for r in ratios)


def linear_is_better(made: Made) -> Judged:
    """Whether linear outputs have smaller Δ."""
    told = [compared(made, (w, "identity"), (w, "tanh")) for w in NETWORKS]
    below, of = sum(t[0] for t in told), sum(t[1] for t in told)
    return below == of if of else None, f"Δ is smaller in {below} of {of} pairs"


def depth_costs(made: Made) -> Judged:
    """Whether four layers have larger Δ than three."""
    told = [compared(made, ("50-25-10", o), ("50-35-25-10", o)) for o in OUTPUTS]
    below, of = sum(t[0] for t in told), sum(t[1] for t in told)
    ratios = ", ".join(t[2] for t in told)
    return below == of if of else None, f"Δ of [50, 25, 10] is {ratios} times that of [50, 35, 25, 10]"


def printed_radius(made: Made) -> Judged:
    """Whether R = 1000 tells the layers of [50, 25, 10] as often as printed."""
    told, held = [], []
    for kind, theirs in ASSIGNED.items():
        mine = deep.pipeline(made[SUITE], *kind, far=PRINTED)
        if kind[0] == "50-25-10" and (ours := assigned(mine, 1)) is not None:
            full, after = detections(mine), average(value(deep.network(r), "layers_right") for r in mine)
            held.append(full is not None and full >= theirs[3] - 0.1)
            numbers = f"r_1 printed {theirs[0]:g}, ours {ours:.3g} (after SGD {word(after, '.3g')} of all neurons)"
            told.append(
                f"{' from '.join(named(kind))}: {numbers}, full detection printed {theirs[3]:g}, ours {word(full)}"
            )
    return all(held) if held else None, "; ".join(told)


def smaller_radius(made: Made) -> Judged:
    """Whether R = 100 tells all layers."""
    mine = [r for kind in ASSIGNED for r in runs(made[SUITE], kind)]
    full = sum(map(deep.detected, mine))
    return full == len(mine) if mine else None, f"{full} of {len(mine)} runs at R = 100 have full detection"


def many_outputs_are_told(made: Made) -> Judged:
    """Whether [50, 25, 50] is told perfectly at R = 1000."""
    mine = [r for kind in ASSIGNED if kind[0] == "50-25-50" for r in deep.pipeline(made[SUITE], *kind, far=PRINTED)]
    full = sum(map(deep.detected, mine))
    return full == len(mine) if mine else None, f"{full} of {len(mine)} runs at R = 1000 have full detection"


def matrices_follow(made: Made) -> Judged:
    """Whether E(Ṽ_l) of hidden layers is E_l."""
    ratios = []
    for kind in KINDS:
        mine = [r for r in runs(made[SUITE], kind) if deep.detected(r)]
        hidden = range(1, len(kind[0].split("-")))
        for n, before in zip(hidden, errors(mine)[1:], strict=False):
            after = made_of(mine, n)
            ratios += [after / before] if before and after is not None else []
    if not ratios:
        return None, "no run with full detection"
    return max(ratios) <= ALIKE, f"E(Ṽ_l) is {spread(ratios)} times E_l of the same runs"


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


def deviation_is_meant(made: Made) -> Judged:
    """Whether the deviation is what the tables were made with."""
    told = {}
    for name, shift in (("deviation", None), ("variance", VARIANCE)):
        mine = [readings_of(made[SUITE], w, o, shift) for w, o in product(NETWORKS, OUTPUTS)]
        theirs = [ERRORS[w, o, True][0] for w, o in product(NETWORKS, OUTPUTS)]
        told[name] = [b / a for a, rs in zip(theirs, mine, strict=True) if (b := errors(rs)[0]) is not None]
    if not all(told.values()):
        return None, "one of the two readings has no runs"
    ours = (f"{spread(told[name])} times with {name} 0.05" for name in told)
    numbers = f"against the printed means Δ is {', '.join(ours)}"
    return max(told["variance"]) <= 2, numbers


def three_layers_are_no_limit(made: Made) -> Judged:
    """Whether L ≤ 3 stands."""
    deeper = [r for r in made[SUITE] if r.task.count("-") >= 3 and r.method in ("peel", "entangled-gauge")]
    right = sum(map(exact, deeper))
    told = f"`peel` and `entangled-gauge` find {right} of {len(deeper)} of four and five layers exactly"
    return right == 0 if deeper else None, f"without an oracle {told}"


def seconds_agree(made: Made) -> Judged:
    """Whether all entangled weights are there within a minute."""
    mine = [r for kind in KINDS for r in runs(made[SUITE], kind)]
    totals = [sum(times[:2]) for r in mine if len(times := deep.seconds(r)) > 1]
    return max(totals) < 60, f"ours take {spread(totals)} s on one thread of a CPU, over {len(totals)} runs"


def runs_are_alike(made: Made) -> Judged:
    """Whether no run is far from the mean of its kind."""
    ratios = []
    for kind in KINDS:
        found = known(value(deep.span(r), "subspace_error_frobenius") for r in runs(made[SUITE], kind))
        ratios += [max(found) * len(found) / sum(found)] if len(found) > 1 else []
    return max(ratios) <= DEVIANT, f"the largest Δ of a kind is {spread(ratios)} times its mean"


def ascents_take_the_same(made: Made) -> Judged:
    """Whether SPM takes the same time for every network."""
    times = known(spent(runs(made[SUITE], kind), 1) for kind in KINDS)
    return max(times) <= ALIKE * min(times), f"our means of T_SPM are {spread(times)} s"


def queries_of_spans(made: Made) -> Judged:
    """Whether the span takes no more than 4m · 2D(D + 1) values."""
    told, held = [], []
    for widths, d in ((w, 50) for w in NETWORKS):
        mine = [stage for r in runs(made[SUITE], (widths, "tanh", False)) if (stage := deep.span(r))]
        printed = 4 * sum(map(int, widths.split("-"))) * 2 * d * (d + 1)
        if mine:
            held.append(mine[0].queries <= printed)
            told.append(f"[{widths}]: {mine[0].queries:,}, printed {printed:,}")
    return all(held) if held else None, "; ".join(told)


def sgd_fits_three_layers_better(made: Made) -> Judged:
    """Whether SGD ends below the pipeline before [50, 25, 10]."""
    ours, theirs, told = side_by_side(made, "50-25-10")
    return theirs < ours, told


def pipeline_fits_four_layers_better(made: Made) -> Judged:
    """Whether the pipeline ends below SGD before [50, 35, 25, 10]."""
    ours, theirs, told = side_by_side(made, "50-35-25-10")
    return ours < theirs, told


def side_by_side(made: Made, widths: str) -> tuple[float, float, str]:
    """Mean E∞ of the pipeline from exact Hessians, the least of SGD, before tanh outputs."""
    mine = [r for r in deep.pipeline(made[SUITE], widths, "tanh", True) if deep.detected(r)]
    ours = known([average(value(deep.network(r), "uniform_distance") for r in mine)])
    trained = [r for r in made["deep-sgd"] if f"widths={widths}," in r.task]
    theirs = known(value(deep.network(r), "uniform_distance") for r in trained)
    told = f"E∞ {min(ours):.1e} of the pipeline, mean of {len(mine)}, {min(theirs):.1e} of SGD, least of {len(trained)}"
    return min(ours), min(theirs), told
