"""What records of the suite say of the paper's statements: a judgement each, with its numbers."""

import math
from collections.abc import Callable
from itertools import pairwise
from statistics import median

from benchmarks.reproduce.high_threshold import records as of
from benchmarks.reproduce.high_threshold import structure
from benchmarks.reproduce.pages import Records, slope
from benchmarks.reproduce.source_items import Judged, Made, every, spread

ROUNDING = 1e-6  # of directions from exact moments
ROOT, NEAR = -0.5, 0.25  # the exponent of a mean over N samples, and how near a fitted one is to it
POWERS = (-math.inf, 0.0)  # exponents of N that poly(d / ε) samples allow
BENT = 0.02  # the angle of exact moments from which products bend so much that noise is not what is seen
SMALL, ROUGH = 0.05, 0.3  # angles to which units are found, and found from noisy correlations alone
TWICE = 2.0  # up to which an angle under noise is that without
RIGHT = 1e-6  # of coefficients of P
LOWEST = 2.0  # t from which stage 1 is meant
PRODUCTS = ("or", "intersection", "pairs", "monotone")
LINEAR = {"polynomial": "linear"}


def mine(made: Made, method: str, **wanted: str | None) -> Records:
    """The runs of a method before such tasks."""
    return of.played(made[of.SUITE], method, **wanted)


def objective(name: str, source: str = "moments") -> str:
    """`threshold-correlation` with an objective."""
    told = [*(["source=moments"] if source == "moments" else []), *([] if name == "one" else [f"objective={name}"])]
    return ":".join(["threshold-correlation", *([",".join(told)] if told else [])])


def with_products(made: Made, name: str, unit: str) -> Records:
    """Runs from exact moments before products of such units, from the lowest threshold on."""
    found = [r for p in PRODUCTS for r in mine(made, objective(name), activation=unit, polynomial=p, noise=None)]
    return [r for r in found if float(of.options(r.task)["t"]) >= LOWEST]


def lost_above(runs: Records) -> int:
    """How many do not finish at a threshold that is not the lowest of theirs."""
    low = min(float(of.options(r.task)["t"]) for r in runs)
    return sum(r.status.key != "finished" for r in runs if float(of.options(r.task)["t"]) > low)


def fades(name: str, unit: str) -> Callable[[Made], Judged]:
    """Whether what products bend falls with t, for every polynomial and size, from exact moments."""

    def verdict(made: Made) -> Judged:
        runs = with_products(made, name, unit)
        kinds = of.by(runs, "polynomial", "m")
        curves = [of.by_threshold(here) for here in kinds.values()]
        middles = [[median(found) for found in curve.values()] for curve in curves]
        held = [all(b < a for a, b in pairwise(m)) if len(m) > 2 else None for m in middles]
        low, high = min(t for c in curves for t in c), max(t for c in curves for t in c)
        ends = [spread((a for c in curves for a in c.get(t, ())), ".1e") for t in (low, high)]
        lost, above = len(runs) - of.finished(runs), lost_above(runs)
        shown = ", ".join(f"{p} {m}" for p, m in kinds)
        told = f"the angle is {ends[0]} at t = {low:g} and {ends[1]} at t = {high:g}, with P and d: {shown}"
        gone = f"; {lost} give up, {above} of them above the lowest t" if lost else ""
        return False if above else every(held), f"{told}, {len(runs)} runs{gone}"

    return verdict


def low_thresholds(made: Made) -> Judged:
    """Whether anything is claimed below t = 2, where products are no longer small."""
    low = [r for t in ("1.0", "1.5") for r in mine(made, of.MOMENTS, t=t, polynomial="or", activation="step")]
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


def over_one_by_one(runs: Records, others: Records) -> list[float]:
    """Last angles over those one by one, of the same teachers, where products or noise bend both."""
    known = {of.teacher(r): of.angle(r) for r in others}
    pairs = [(of.angle(r), known.get(of.teacher(r))) for r in runs if r.status.key == "finished"]
    return [a / b for a, b in pairs if a and b and b > ROUNDING]


def bends(name: str) -> Callable[[Made], Judged]:
    """Whether products bend an objective by a constant times what they bend one by one; no more as t rises."""

    def verdict(made: Made) -> Judged:
        runs, others = with_products(made, name, "step"), with_products(made, "one", "step")
        ratios = {t: over_one_by_one(here, others) for (t,), here in of.by(runs, "t").items()}
        middles = {float(t): median(ratios[t]) for t in sorted(ratios, key=float) if ratios[t]}
        told = ", ".join(f"{v:.2g} at t = {t:g}" for t, v in middles.items())
        power = slope(middles, middles.values())
        rises = all(b > a for a, b in pairwise(middles.values()))
        numbers = f"its angle over that of one by one is {told}, medians of {sum(map(len, ratios.values()))} runs"
        beside = (
            f": it rises like t^{power:.1f}, which is (log d)^{power / 2:.1f} where t is like √log d" if rises else ""
        )
        return False if lost_above(runs) else None if rises else True, numbers + beside

    return verdict


def samples_tell(name: str) -> Callable[[Made], Judged]:
    """The same before samples: whether every unit is found."""

    def verdict(made: Made) -> Judged:
        wanted = {"t": "2.5", "m": "5", "N": "1000000", "weights": None, "noise": None, "activation": "step"}
        runs, others = (mine(made, objective(n, "samples"), **wanted) for n in (name, "one"))
        found = of.angles(runs)
        told = f"{len(found)} of {len(runs)} runs before a million samples, to {spread(found, '.2g')}"
        ratio = f"{median(over_one_by_one(runs, others)):.2g} times the angle of one by one"
        return len(found) == len(runs) and max(found) < ROUGH, f"{told}, in the median {ratio}"

    return verdict


def falls_like(method: str, low: float, high: float, claim: str) -> Callable[[Made], Judged]:
    """Whether the last angle falls with N at an exponent between the two, where products hardly bend."""

    def verdict(made: Made) -> Judged:
        told, held = [], []
        unions = {"m": "5", "polynomial": "or", "activation": "step"}
        for (t,), runs in sorted(of.by(mine(made, method, noise=None, **unions), "t").items()):
            power = of.exponent(runs)
            bent = of.angles(mine(made, of.MOMENTS, t=t, **unions))
            if power and bent:
                judged = median(bent) < BENT
                held += [power.between(low, high)] if judged else []
                beside = "" if judged else f", not judged, as products bend by {median(bent):.1g}"
                told.append(f"{power} at t = {float(t):g}{beside}")
        numbers = f"the angle goes like {', '.join(told)}; {claim}" if told else ""
        return every(held) if held else None, numbers

    return verdict


stage_1_rate = falls_like(of.STAGE_1, ROOT - NEAR, ROOT + NEAR, f"a mean has N^{ROOT:g}")
passive_rate = falls_like(of.PASSIVE, *POWERS, "poly(1/ε) allows any power below 0, and Chernoff on slabs gives N^-1")


def slabs_sharpen(made: Made) -> Judged:
    """Whether stage 2 brings stage 1's angle down, in the median at every threshold and in no run up."""
    runs = mine(made, of.PASSIVE, noise=None)
    tried = [r for r in runs if r.status.key != "declined"]
    pairs = [(a, b, r) for r in tried if r.status.key == "finished" and (a := of.angle(r, at=0)) and (b := of.angle(r))]
    unions = [(a / b, of.setting(r.task)) for a, b, r in pairs if of.setting(r.task)["polynomial"] == "or"]
    groups = {
        t: [ratio for ratio, told in unions if told["t"] == t and told["N"] == "1000000"]
        for t in sorted({told["t"] for _, told in unions})
    }
    shown = ", ".join(f"{median(v):.2g} at t = {float(t):g} ({len(v)} runs)" for t, v in groups.items())
    same = sum(b == a for a, b, _ in pairs)
    worse = sum(b > a for a, b, _ in pairs)
    told = f"at a million samples of unions stage 1's angle over stage 2's is, in the median, {shown}"
    more = f"of all {len(pairs)} runs it leaves {same} as they were and {worse} worse"
    held = worse == 0 and min(map(median, groups.values())) > 1
    return held, f"{told}; {more}; {len(tried) - of.finished(tried)} of {len(tried)} do not finish"


def lines_sharpen(made: Made) -> Judged:
    """The same by queries, of every run."""
    runs = [r for r in mine(made, of.ACTIVE) if r.status.key == "finished"]
    ratios = [a / b for r in runs if (a := of.angle(r, at=0)) and (b := of.angle(r))]
    asked = max(r.queries for r in runs)
    return min(ratios) > 1, f"by {asked:,} queries the angle falls by {spread(ratios, '.2g')} times, {len(runs)} runs"


def intersections(made: Made) -> Judged:
    """Theorem 6: an intersection is 1 less a union, whose angle falls with N; and intersections of κ = 4."""
    runs = mine(made, of.PASSIVE, polynomial="or", activation="step", m="5", t="2.5", noise=None)
    power = of.exponent(runs)
    told = f"of unions at t = 2.5 the angle goes like {power}" if power else "no exponent is known of unions"
    for name in (of.PASSIVE, of.BOUNDARY):
        whole = mine(made, name, polynomial="intersection")
        found = of.angles(whole)
        told += (
            f"; {len(found)} of {len(whole)} runs of `{name}` before intersections, κ = 4, a million samples, finish"
        )
        told += f", to {spread(found, '.1e')}"
    held = power.between(*POWERS) if power and of.finished(runs) == len(runs) else None
    return held, told


def found_by(method: str, unit: str, missed: bool | None = False, **wanted: str) -> Callable[[Made], Judged]:
    """Section 3: whether all units are found in every run; `missed` is the verdict where they are not."""

    def verdict(made: Made) -> Judged:
        runs = mine(made, method, activation=unit, noise=None, **wanted)
        found = of.angles(runs)
        where = " and ".join(sorted({of.options(r.task)["D"] for r in runs}))
        told = f"{len(found)} of {len(runs)} runs in {where} dimensions find all units, to {spread(found, '.1e')}"
        return (len(found) == len(runs) and max(found) < SMALL) or missed, told

    return verdict


def plane_rate(made: Made) -> Judged:
    """Theorem 7's sample complexity, by slabs of training samples."""
    runs = mine(made, of.SLABS, noise=None, activation="step", D="3")
    found = of.exponent(runs)
    if found is None:
        return None, ""
    ends = f"{of.finished(runs)} of {len(runs)} runs finished"
    held = found.between(*POWERS) if of.finished(runs) == len(runs) else None
    return held, f"at d = 3 the angle goes like {found}, {ends}: ε like N^-1 is what slabs leave"


def blocks(law: str, rate: str | None, noise: str | None = None) -> Callable[[Made], Judged]:
    """Theorems 8 and 9."""

    def verdict(made: Made) -> Judged:
        runs = mine(made, "threshold-graph", weights=law, noise=noise, rate=rate, activation="exponential")
        right = sum(r.metrics.get("weight_error") == 0 for r in runs)
        least = min(structure.gap_of_blocks(r.task, r.seed) for r in runs)
        gap = f"linear coefficients of P(μ(X + 1)) are at least {least:.2g} times those of products"
        return right == len(runs), f"{right} of {len(runs)} runs tell every block; {gap}"

    return verdict


def even_units(source: str) -> Callable[[Made], Judged]:
    """Theorem 10."""

    def verdict(made: Made) -> Judged:
        runs = [r for unit in ("abs", "cosh") for r in mine(made, objective("sphere", source), activation=unit)]
        found = of.angles(runs)
        met = [sum(structure.unmixed(r.task, r.seed, k) for r in runs) for k in (6.0, math.sqrt(6))]
        told = f"{len(found)} of {len(runs)} runs, to {spread(found, '.1e')}"
        more = f"its inequality is met in {met[0]} as printed, in {met[1]} with √6"
        held = len(found) == len(runs) and max(found) < (ROUNDING if source == "moments" else ROUGH)
        return held, f"{told}; {more}"

    return verdict


def sigmoids(made: Made) -> Judged:
    """Theorem 13 for linear P, without an oracle that favours large values."""
    runs = [mine(made, name, activation="sigmoid", **LINEAR) for name in (of.MOMENTS, of.STAGE_1)]
    exact, sampled = map(of.angles, runs)
    told = f"{max(exact):.1e} at most from moments, {spread(sampled, '.2g')} from a million plain samples"
    ends = f"{len(exact) + len(sampled)} of {sum(map(len, runs))} runs finish"
    all_end = len(exact) + len(sampled) == sum(map(len, runs))
    return all_end and max(exact) < ROUNDING and max(sampled) < ROUGH, f"the angle at t = 5 is {told}; {ends}"


def noise_is_averaged(made: Made) -> Judged:
    """§2.3's remark: angles under noise beside those of the same teachers without."""
    told, held = [], []
    union = {"m": "5", "t": "2.5", "polynomial": "or", "activation": "step"}
    for size in ("0.1", "0.3"):
        for stage, name in (("1", of.STAGE_1), ("2", of.PASSIVE)):
            noisy, clean = (
                of.angles(mine(made, name, noise=size, **union)),
                of.angles(mine(made, name, noise=None, N="1000000", **union)),
            )
            ratio = median(noisy) / median(clean)
            held.append(ratio < TWICE)
            told.append(f"{ratio:.2g} times after stage {stage} at σ = {size} ({len(noisy)} runs)")
    return all(held), f"the median angle is that without noise {', '.join(told)}; the noise is Gaussian"


def stages_are_modular(made: Made) -> Judged:
    """Appendix E: the lowest layer first, P from what it says then."""
    runs = [r for r in mine(made, of.BOUNDARY, noise=None) if r.status.key == "finished"]
    errors = [
        (r.metrics["polynomial_error"], r.metrics["output_error"]) for r in runs if "polynomial_error" in r.metrics
    ]
    missed = [out for p, out in errors if not p < RIGHT]
    seen = sum(out > RIGHT for out in missed)
    told = f"P follows by regression in {len(errors) - len(missed)} of {len(errors)} runs"
    return None if missed else bool(errors), (
        f"{told}; of the other {len(missed)}, {len(missed) - seen} have all values at 10 000 inputs right"
    )
