"""What records of the suite say of the paper's statements: a judgement each, with its numbers."""

from collections.abc import Callable
from itertools import pairwise
from statistics import median

from benchmarks.reproduce.high_threshold import records as of
from benchmarks.reproduce.pages import Records
from benchmarks.reproduce.source_items import Judged, Made, every, spread

ROUNDING = 1e-6  # of directions from exact moments
ROOT, NEAR = -0.5, 0.25  # the exponent of a mean over N samples, and how near a fitted one is to it
POWERS = (-3.0, -0.2)  # exponents of N that poly(d / ε) samples allow
BENT = 0.02  # the angle of exact moments from which products bend so much that noise is not what is seen
SMALL, ROUGH = 0.05, 0.3  # angles to which units are found, and found from noisy correlations alone
SHARPER = 2.0  # times by which stage 2 has to bring an angle down
CONSTANT = 10.0  # up to which one angle is said to be of the order of another
LINEAR = {"polynomial": "linear"}


def mine(made: Made, method: str, **wanted: str | None) -> Records:
    """The runs of a method before such tasks."""
    return of.played(made[of.SUITE], method, **wanted)


def objective(name: str, source: str = "moments") -> str:
    """`threshold-correlation` with an objective."""
    told = [*(["source=moments"] if source == "moments" else []), *([] if name == "one" else [f"objective={name}"])]
    return ":".join(["threshold-correlation", *([",".join(told)] if told else [])])


def products_fade(made: Made) -> Judged:
    """Whether stage 1's bias falls with t, from exact moments."""
    told: list[str] = []
    held: list[bool | None] = []
    for m in ("5", "10"):
        runs = mine(made, of.MOMENTS, m=m, polynomial=None, activation=None)
        groups = {float(t): found for t, mine in of.by(runs, "t").items() if (found := of.angles(mine))}
        angles = [median(groups[t]) for t in sorted(groups)]
        held.append(all(b < a for a, b in pairwise(angles)) if len(angles) > 2 else None)
        ends = sorted(groups)[:: max(len(groups) - 1, 1)]
        shown = ", ".join(f"{median(groups[t]):.1e} at t = {t:g}" for t in ends)
        told.append(f"d = {m}: {shown}, {sum(map(len, groups.values()))} runs")
    return every(held), f"the angle of unions is, {'; '.join(told)}"


def low_thresholds(made: Made) -> Judged:
    """Whether anything is claimed below t = 2, where products are no longer small."""
    low = [r for t in ("1.0", "1.5") for r in mine(made, of.MOMENTS, t=t, polynomial=None, activation=None)]
    claimed = of.finished(low)
    return claimed == 0 if low else None, f"{claimed} of {len(low)} runs at t = 1 and 1.5 end with a claim"


def linear_is_exact(name: str) -> Callable[[Made], Judged]:
    """Whether an objective finds every unit of a linear P from exact moments."""

    def verdict(made: Made) -> Judged:
        runs = [r for r in mine(made, objective(name), **LINEAR) if r.status.key != "declined"]
        found = of.angles(runs)
        told = f"the largest angle is {max(found):.1e}, {len(found)} of {len(runs)} runs finished"
        return len(found) == len(runs) and max(found) < ROUNDING, told

    return verdict


def bias(made: Made, name: str, polynomial: str | None, source: str = "moments") -> list[float]:
    """Angles with an objective over those one by one, of the same teachers."""
    options = {"polynomial": polynomial, "activation": None, "noise": None}
    if source != "moments":
        options |= {"t": "2.5", "N": None, "weights": None}
    others = {(r.task, r.seed): of.angle(r) for r in mine(made, objective("one", source), **options)}
    pairs = [
        (of.angle(r), others.get((r.task, r.seed)))
        for r in mine(made, objective(name, source), **options)
        if r.status.key == "finished"
    ]
    return [a / b for a, b in pairs if a and b and b > ROUNDING]


def bends(name: str) -> Callable[[Made], Judged]:
    """Whether products bend an objective by a constant times what they bend one by one, and what times."""

    def verdict(made: Made) -> Judged:
        found = {p or "or": bias(made, name, p) for p in (None, "pairs", "monotone", "intersection")}
        told = [f"{median(v):.2g} for {p} ({spread(v, '.2g')}, {len(v)} runs)" for p, v in found.items() if v]
        ratios = [v for vs in found.values() for v in vs]
        return max(ratios) <= CONSTANT, f"its angle over that of one by one is, in the median, {'; '.join(told)}"

    return verdict


def samples_bend(name: str) -> Callable[[Made], Judged]:
    """The same before samples, where noise is larger than bias."""

    def verdict(made: Made) -> Judged:
        found = {p: bias(made, name, None if p == "or" else p, "samples") for p in ("linear", "or", "pairs")}
        told = [f"{median(v):.2g} for {p} ({len(v)} runs)" for p, v in found.items() if v]
        ratios = [v for vs in found.values() for v in vs]
        return max(ratios) <= CONSTANT, f"at a million samples the ratio of angles is {', '.join(told)}"

    return verdict


def falls_like(method: str, low: float, high: float, claim: str) -> Callable[[Made], Judged]:
    """Whether the last angle falls with N at an exponent between the two, where products hardly bend."""

    def verdict(made: Made) -> Judged:
        told, held = [], []
        for t, runs in sorted(of.by(mine(made, method, m="5", polynomial=None, noise=None), "t").items()):
            power = of.exponent([r for r in runs if "N" in of.options(r.task)])
            bent = of.angles(mine(made, of.MOMENTS, t=t, m="5", polynomial=None, activation=None))
            if power and bent:
                judged = median(bent) < BENT
                held += [power.between(low, high)] if judged else []
                beside = "" if judged else f", not judged, as products bend by {median(bent):.1g}"
                told.append(f"{power} at t = {float(t):g}{beside}")
        numbers = f"the angle goes like {', '.join(told)}; {claim}" if told else ""
        return every(held) if held else None, numbers

    return verdict


stage_1_rate = falls_like(of.STAGE_1, ROOT - NEAR, ROOT + NEAR, f"a mean has N^{ROOT:g}")
passive_rate = falls_like(of.PASSIVE, *POWERS, "poly(d/ε) allows any power, and Chernoff on slabs gives N^-1")


def slabs_sharpen(made: Made) -> Judged:
    """Whether stage 2 by training samples brings stage 1's angle down."""
    runs = [r for r in mine(made, of.PASSIVE) if r.status.key == "finished"]
    pairs = [(a, b, r.task) for r in runs if (a := of.angle(r, at=0)) and (b := of.angle(r))]
    big = [a / b for a, b, task in pairs if of.options(task).get("N", "1000000") != "100000"]
    worse = sum(b > a for a, b, _ in pairs)
    told = (
        f"stage 1's angle over stage 2's is {median(big):.2g} in the median of {len(big)} runs with more than 100 000"
    )
    return worse == 0 and median(big) > SHARPER, f"{told} samples; larger in {worse} of {len(pairs)} of all"


def lines_sharpen(made: Made) -> Judged:
    """The same by queries."""
    runs = [r for r in mine(made, of.ACTIVE) if r.status.key == "finished"]
    ratios = [a / b for r in runs if (a := of.angle(r, at=0)) and (b := of.angle(r))]
    asked = spread((r.queries for r in runs), ",.0f")
    return min(
        ratios
    ) > SHARPER, f"by {asked} queries the angle falls by {spread(ratios, '.2g')} times, {len(runs)} runs"


def intersections(made: Made) -> Judged:
    """Theorem 6, from training samples alone."""
    passive, ours = (mine(made, name, polynomial="intersection", N=None) for name in (of.PASSIVE, of.BOUNDARY))
    found = of.angles(passive)
    told = f"κ = 4, a million samples: {len(found)} of {len(passive)} runs of stage 2, to {spread(found, '.1e')}"
    told = f"{told}; {of.finished(ours)} of {len(ours)} of `{of.BOUNDARY}`, to {spread(of.angles(ours), '.1e')}"
    return len(found) == len(passive) and max(found) < SMALL, told


def planes(made: Made, unit: str | None, polynomial: str | None = None) -> Records:
    """Runs by queries of section 3 before such units."""
    runs = mine(made, of.PLANE, activation=unit)
    return [r for r in runs if polynomial in (None, of.options(r.task)["polynomial"])]


def all_planes(made: Made) -> Judged:
    """Theorem 7 by queries: all units, of every polynomial and dimension."""
    runs = planes(made, None)
    found = of.angles(runs)
    told = f"{len(found)} of {len(runs)} runs in 4 and 6 dimensions find all units, to {spread(found, '.1e')}"
    return len(found) == len(runs) and max(found) < SMALL, told


def bends_show(made: Made) -> Judged:
    """C.1 by queries and by samples."""
    runs, passive = planes(made, "relu"), mine(made, of.SLABS, activation="relu")
    found, slabs = of.angles(runs), of.angles(passive)
    told = f"by queries {len(found)} of {len(runs)} runs find all units, to {spread(found, '.1e')}"
    more = f"; by a million samples {len(slabs)} of {len(passive)}" + (f", to {spread(slabs, '.1e')}" if slabs else "")
    return len(found) == len(runs) and max(found) < SMALL, told + more


def plane_rate(made: Made) -> Judged:
    """Theorem 7's sample complexity, by slabs of training samples."""
    runs = [r for r in mine(made, of.SLABS, noise=None, activation=None) if of.options(r.task)["D"] == "3"]
    found = of.exponent(runs)
    if found is None:
        return None, ""
    ends = f"{of.finished(runs)} of {len(runs)} runs finished"
    return found.between(*POWERS), f"at d = 3 the angle goes like {found}, {ends}: ε like N^-1 is what slabs leave"


def blocks(law: str, noise: str | None = None) -> Callable[[Made], Judged]:
    """Theorems 8 and 9."""

    def verdict(made: Made) -> Judged:
        runs = mine(made, "threshold-graph", weights=law, noise=noise)
        right = sum(r.metrics.get("weight_error") == 0 for r in runs)
        return right == len(runs) if runs else None, f"{right} of {len(runs)} runs tell every block"

    return verdict


def even_units(source: str) -> Callable[[Made], Judged]:
    """Theorem 10."""

    def verdict(made: Made) -> Judged:
        runs = [r for unit in ("abs", "cosh") for r in mine(made, objective("sphere", source), activation=unit)]
        found = of.angles(runs)
        told = f"{len(found)} of {len(runs)} runs, to {spread(found, '.1e')}"
        return len(found) == len(runs) and max(found) < (ROUNDING if source == "moments" else ROUGH), told

    return verdict


def sigmoids(made: Made) -> Judged:
    """Theorem 13, without an oracle that favours large values."""
    runs = [mine(made, name, activation="sigmoid") for name in (of.MOMENTS, of.STAGE_1)]
    exact, sampled = map(of.angles, runs)
    told = f"{max(exact):.1e} at most from moments, {spread(sampled, '.2g')} from a million plain samples"
    ends = f"{len(exact) + len(sampled)} of {sum(map(len, runs))} runs finish"
    all_end = len(exact) + len(sampled) == sum(map(len, runs))
    return all_end and max(exact) < ROUNDING and max(sampled) < ROUGH, f"the angle at t = 5 is {told}; {ends}"


def noise_is_averaged(made: Made) -> Judged:
    """§2.3's remark."""
    told, held = [], []
    for size in ("0.1", "0.3"):
        first, last = (of.angles(mine(made, name, noise=size)) for name in (of.STAGE_1, of.PASSIVE))
        held.append(bool(last) and median(last) < median(first))
        told.append(
            f"{median(first):.1e} after stage 1 and {median(last):.1e} after stage 2 at σ = {size} ({len(last)} runs)"
        )
    return all(held), f"the angle is {', '.join(told)}"


def stages_are_modular(made: Made) -> Judged:
    """Appendix E: the lowest layer first, P from what it says then."""
    runs = [r for r in mine(made, of.BOUNDARY, noise=None) if r.status.key == "finished"]
    errors = [r.metrics["polynomial_error"] for r in runs if "polynomial_error" in r.metrics]
    right = sum(e < 1e-6 for e in errors)
    told = f"P follows by regression in {right} of {len(errors)} runs, the others miss products that no sample shows"
    return right == len(errors), told
