"""What §4.2.3 of the thesis says of spans and their rank-ones, judged by the records of its figures."""

from collections.abc import Mapping
from itertools import pairwise
from math import log
from statistics import linear_regression, mean

from benchmarks.reproduce.pages import grouped
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid.records import average, value
from benchmarks.reproduce.pyramid.spans import (
    BROKEN,
    STARTS,
    SUITE,
    Points,
    curve,
    error,
    families,
    found,
    lines_of,
    radius,
    ratio,
    strays,
    swept,
    task_of,
    threshold,
    tipping,
)
from benchmarks.reproduce.source_items import Judged, Made, spread

TOLERANCE = 0.1  # of a place of transition
WITHIN = f"within {TOLERANCE:.0%}"
AT_SCALE = f"at D = 30 from {STARTS} ascents, for 100 and 10 000"
LEVELS = (0.15, BROKEN, 0.3)  # of Δ / √m* at which the place is looked for
SMALL, RADII = 0.1, (0.001, 0.01, 0.1)  # the largest radius of a concentrated law, and all of them
FOUND = 0.1  # largest error of a direction that is there
HALF = 0.5  # share of entangled weights below which recovery is taken for broken
ALIKE, WORSE = 1.5, 2.0  # times apart, up to which errors differ marginally; from where on one is far worse
SLIGHT = 0.02  # of a place, by which it may be out of order: one seed a cell


def chosen(
    made: Made, *, layers: int | None = None, c: float | None = None, r: float | None = None
) -> Mapping[tuple[int, float, float], Points]:
    """Curves of Figure 4.2."""
    told = {k: curve(mine) for k, mine in lines_of(made[SUITE]).items()}
    return {
        k: points for k, points in told.items() if layers in (None, k[0]) and c in (None, k[1]) and r in (None, k[2])
    }


def few_neurons_are_found(made: Made) -> Judged:
    """Whether everything is found up to half of D m_L, and nothing else, at small radii.

    Cells that fail decide nothing: they have a third of the thesis' D and fewer ascents than it always makes.
    """
    mine = [r for r in swept(made[SUITE]) if radius(r) <= SMALL and ratio(r) <= HALF]
    told, good = [], 0
    for layers, some in grouped(mine, lambda r: task_of(r).layers).items():
        whole = [r for r in some if found([r]) == 1 and strays([r]) == 0]
        clean = sum(strays([r]) == 0 for r in some)
        good += len(whole)
        told.append(f"L = {layers}: {len(whole)} of {len(some)} cells have all found and no stray, {clean} no stray")
    return True if mine and good == len(
        mine
    ) else None, f"up to m = D m_L / 2 and R = {SMALL:g} {AT_SCALE}, {'; '.join(told)}"


def concentration_is_needed(made: Made) -> Judged:
    """Whether R = 10 is worse at every size below the transition."""
    far, near = chosen(made, r=10.0, c=0.5), chosen(made, r=0.01, c=0.5)
    pairs = [
        (a, dict(near[layers, c, 0.01])[m])
        for (layers, c, _), line in far.items()
        for m, a in line
        if m <= 135 and (layers, c, 0.01) in near
    ]
    ratios = [a / b for a, b in pairs]
    return min(ratios) > WORSE, f"Δ at R = 10 is {spread(ratios)} times that at R = 0.01, up to m = 0.9 D m_L"


def small_radii_agree(made: Made) -> Judged:
    """Whether radii up to 0.1 hardly differ."""
    ratios = []
    for layers in (2, 3, 4):
        lines = [dict(line) for r in RADII for line in chosen(made, layers=layers, c=0.5, r=r).values()]
        if len(lines) == len(RADII):
            for m in set.intersection(*(set(line) for line in lines)):
                told = [line[m] for line in lines]
                ratios.append(max(told) / min(told))
    return max(ratios) <= ALIKE, f"Δ over R = 0.001, 0.01, 0.1 differs by factors of {spread(ratios)}"


def error_jumps(made: Made) -> Judged:
    """Whether the span is lost near D m_L at small radii."""
    shares = []
    for (_, c, r), mine in lines_of(made[SUITE]).items():
        at, task = tipping(curve(mine)), task_of(mine[0])
        if at is not None and c == 0.5 and r in RADII:
            shares.append(at / (task.D * task.shape[-1]))
    held = all(0.9 - TOLERANCE <= share <= 1 + TOLERANCE for share in shares)
    told = f"Δ / √m last passes {BROKEN:g} at {spread(shares)} D m_L, R ≤ {SMALL:g}, c = 0.5"
    return held if shares else None, f"{told} (taken to hold {WITHIN})"


def recovery_lags(made: Made) -> Judged:
    """Whether directions are found past the place where the span is lost."""
    told, held = [], []
    for layers in (2, 3):
        mine = [
            r
            for r in swept(made[SUITE])
            if radius(r) == 0.01 and task_of(r).layers == layers and task_of(r).contraction == 0.5
        ]
        shares = {ratio(r): share for r in mine if (share := found([r])) is not None}
        errors = {ratio(r): error([r]) or 0.0 for r in mine}
        if shares:
            stands = max((at for at, share in shares.items() if share >= HALF), default=0.0)
            exact = max((at for at, e in errors.items() if e < BROKEN), default=0.0)
            held.append(None if stands == exact else stands > exact)
            past = ", ".join(
                f"{share:.2g} found and Δ / √m = {errors[at]:.2g} at {at:g}" for at, share in shares.items() if at >= 1
            )
            told.append(f"L = {layers}: {past} D m_L")
    numbers = f"{'; '.join(told)}; {AT_SCALE}"
    if not held or None in held:
        return None, f"{numbers}, both break down within one step of the grid"
    return all(held), numbers


def strays_come_late(made: Made) -> Judged:
    """Whether false positives come past the transition alone; strays before it decide nothing at a third of the D."""
    told, held = [], []
    mine = [r for r in swept(made[SUITE]) if radius(r) <= SMALL]
    for layers, some in grouped(mine, lambda r: task_of(r).layers).items():
        before, after = (
            [s for r in some if (ratio(r) < 1) == side and (s := strays([r])) is not None] for side in (True, False)
        )
        if before and after:
            held.append(not any(before) and max(after) > HALF)
            few = sum(s > 0 for s in before)
            told.append(
                f"L = {layers}: {few} of {len(before)} cells below D m_L have any, past it up to {max(after):.2g}"
            )
    return True if held and all(held) else None, f"{'; '.join(told)}; R ≤ {SMALL:g}, {AT_SCALE}"


def depth_is_slightly_worse(made: Made) -> Judged:
    """Whether more layers move the transition down a little."""
    told = {
        layers: tipping(next(iter(chosen(made, layers=layers, c=0.5, r=0.01).values()), ())) for layers in (2, 3, 4, 5)
    }
    places = {layers: at for layers, at in told.items() if at is not None}
    falls = all(b <= a * (1 + SLIGHT) for a, b in pairwise(places.values()))
    numbers = ", ".join(f"m = {at:.0f} for L = {n}" for n, at in places.items())
    told = f"Δ / √m passes {BROKEN:g} at {numbers}, c = 0.5 (falling but for {SLIGHT:.0%})"
    return falls if len(places) > 1 else None, told


def shape_hardly_matters(made: Made) -> Judged:
    """Whether c moves the transition of three layers."""
    places = {k[1]: at for k, line in chosen(made, layers=3, r=0.01).items() if (at := tipping(line))}
    if len(places) < 2:
        return None, "one shape alone"
    told = ", ".join(f"m = {at:.0f} for c = {c:g}" for c, at in places.items())
    return max(places.values()) / min(places.values()) <= 1 + TOLERANCE, f"L = 3: {told} (taken to hold {WITHIN})"


def rectangles_are_worse(made: Made) -> Judged:
    """Whether of four layers c = 0.75 and 1 find fewer neurons than c = 0.5, from half of D m_L up to it."""
    shares: dict[float, float] = {}
    for (layers, c, r), mine in lines_of(made[SUITE]).items():
        share = found([x for x in mine if HALF <= ratio(x) <= 1])
        if layers == 4 and r == 0.01 and c >= 0.5 and share is not None:
            shares[c] = share
    if 0.5 not in shares or len(shares) < 3:
        return None, "a shape is missing"
    told = ", ".join(f"{share:.2g} for c = {c:g}" for c, share in shares.items())
    held = all(share < shares[0.5] for c, share in shares.items() if c > 0.5)
    return held, f"from m = D m_L / 2 to D m_L the mean share found is {told}"


def tips_at_the_product(made: Made) -> Judged:
    """Whether the transition is at D m_L in the thesis' family."""
    told = {name: tipping(curve(mine)) for name, mine in families(made[SUITE]).items() if "m_1-" not in name}
    tasks = {name: task_of(mine[0]) for name, mine in families(made[SUITE]).items()}
    shares = [at / (tasks[n].D * tasks[n].shape[-1]) for n, at in told.items() if at]
    held = all(abs(s - 1) <= TOLERANCE for s in shares) if shares else None
    return held, f"Δ / √m passes {BROKEN:g} at {spread(shares)} D m_L (taken to hold {WITHIN})"


def tips_at_the_product_always(made: Made) -> Judged:
    """Whether it is there also where widths grow."""
    told = {
        name: (tipping(curve(mine)), task_of(mine[0])) for name, mine in families(made[SUITE]).items() if "m_1-" in name
    }
    places = {n: (at, at / (t.D * t.shape[-1]), at / threshold(t)) for n, (at, t) in told.items() if at}
    numbers = "; ".join(f"{n}: m* = {at:.0f}, that is {a:.2f} D m_L and {b:.2f} T" for n, (at, a, b) in places.items())
    return all(abs(a - 1) <= TOLERANCE for _, a, _ in places.values()) if places else None, numbers


def law_holds(made: Made) -> Judged:
    """Whether T is the place everywhere, at whichever of `LEVELS`."""
    told, every = [], []
    for level in LEVELS:
        places = [(tipping(curve(mine), level), threshold(task_of(mine[0]))) for mine in families(made[SUITE]).values()]
        shares = [at / t for at, t in places if at]
        every += shares
        told.append(f"{spread(shares)} T at Δ / √m* = {level:g}, in the mean {mean(shares):.2f}")
    held = all(abs(s - 1) <= TOLERANCE for s in every)
    return held, f"in {len(families(made[SUITE]))} families the place is {'; '.join(told)} (taken to hold {WITHIN})"


def more_outputs_help(made: Made) -> Judged:
    """Whether Δ falls with the number of outputs."""
    told = []
    for output in deep.OUTPUTS:
        for derivatives in (False, True):
            few, many = (
                average(
                    value(deep.span(r), "subspace_error_frobenius")
                    for r in deep.pipeline(made["deep-4.4"], w, output, derivatives)
                )
                for w in ("50-25-10", "50-25-50")
            )
            if few and many:
                told.append(many / few)
    return all(t < 1 for t in told) if told else None, f"Δ of [50, 25, 50] is {spread(told)} times that of [50, 25, 10]"


def roots_bound_directions(made: Made) -> Judged:
    """Whether every layer's error is below the root of the span's, with a constant of 1; and the power measured."""
    pairs = []
    for r in (r for suite in ("deep-4.4", SUITE) for r in made[suite]):
        span = value(deep.span(r), "subspace_error")
        layers = (value(deep.directions(r), f"entangled_error_{n}") for n in range(1, 6))
        pairs += [(span, worst) for worst in layers if span and worst and worst < FOUND]
    most = max(worst / span**0.5 for span, worst in pairs)
    told = f"E_l is at most {most:.2g} of the root of δ, the sine of the largest angle between the spans"
    logs = [(log(span), log(worst)) for span, worst in pairs]
    power = f", and goes like δ^{linear_regression(*zip(*logs, strict=True)).slope:.2f}" if len(set(logs)) > 1 else ""
    return most <= 1, f"{told}{power}, over {len(pairs)} layers of runs that found them to {FOUND:g}"
