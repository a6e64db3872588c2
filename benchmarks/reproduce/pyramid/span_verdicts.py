"""What §4.2.3 of the thesis says of spans and their rank-ones, judged by the records of its figures."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import mean

from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid.records import average, value, word
from benchmarks.reproduce.pyramid.spans import (
    BROKEN,
    SUITE,
    Points,
    curve,
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
SMALL, RADII = 0.1, (0.001, 0.01, 0.1)  # the largest radius of a concentrated law, and all of them
FOUND = 0.1  # largest error of a direction that is there
WHOLE = 0.95  # share of directions found that is taken for all


def chosen(
    made: Made, *, layers: int | None = None, c: float | None = None, r: float | None = None
) -> Mapping[tuple[int, float, float], Points]:
    """Curves of Figure 4.2."""
    told = {k: curve(mine) for k, mine in lines_of(made[SUITE]).items()}
    return {
        k: points for k, points in told.items() if layers in (None, k[0]) and c in (None, k[1]) and r in (None, k[2])
    }


def few_neurons_are_found(made: Made) -> Judged:
    """Whether everything is found up to half of D m_L, and nothing else, at small radii."""
    mine = [r for r in swept(made[SUITE]) if radius(r) <= SMALL and ratio(r) <= 0.5]
    good = [r for r in mine if found([r]) == 1 and strays([r]) == 0]
    told = f"{len(good)} of {len(mine)} cells up to m = D m_L / 2 and R = {SMALL:g} have all found and no stray"
    return len(good) == len(mine) if mine else None, told


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
    return min(ratios) > 2, f"Δ at R = 10 is {spread(ratios)} times that at R = 0.01, up to m = 0.9 D m_L"


def small_radii_agree(made: Made) -> Judged:
    """Whether radii up to 0.1 hardly differ."""
    ratios = []
    for layers in (2, 3, 4):
        lines = [dict(line) for r in RADII for line in chosen(made, layers=layers, c=0.5, r=r).values()]
        if len(lines) == len(RADII):
            for m in set.intersection(*(set(line) for line in lines)):
                told = [line[m] for line in lines]
                ratios.append(max(told) / min(told))
    return max(ratios) <= 1.5, f"Δ over R = 0.001, 0.01, 0.1 differs by factors of {spread(ratios)}"


def error_jumps(made: Made) -> Judged:
    """Whether the span is lost near D m_L at small radii."""
    shares = []
    for (_, c, r), mine in lines_of(made[SUITE]).items():
        at, task = tipping(curve(mine)), task_of(mine[0])
        if at is not None and c == 0.5 and r in RADII:
            shares.append(at / (task.D * task.shape[-1]))
    held = all(0.9 - TOLERANCE <= share <= 1 + TOLERANCE for share in shares)
    return held if shares else None, f"Δ / √m passes {BROKEN:g} at {spread(shares)} D m_L"


def recovery_lags(made: Made) -> Judged:
    """Whether directions are found past the place where the span is lost."""
    told, held = [], []
    for layers in (2, 3):
        mine = [
            r
            for r in swept(made[SUITE])
            if radius(r) == 0.01 and task_of(r).layers == layers and task_of(r).contraction == 0.5
        ]
        at = {ratio(r): found([r]) for r in mine}
        if 1.0 in at and at[1.0] is not None:
            held.append(at[1.0] >= WHOLE)
            past = ", ".join(f"{word(at.get(share))} at {share:g}" for share in (1.1, 1.3))
            told.append(f"L = {layers}: {at[1.0]:.2g} at m = D m_L, {past} times that")
    return all(held) if held else None, "; ".join(told)


def strays_come_late(made: Made) -> Judged:
    """Whether false positives come past the transition alone."""
    mine = [r for r in swept(made[SUITE]) if radius(r) <= SMALL]
    before, after = (
        [s for r in mine if (ratio(r) < 1) == side and (s := strays([r])) is not None] for side in (True, False)
    )
    told = f"at most {max(before):.2g} of the directions below D m_L, up to {max(after):.2g} past it"
    return max(before) < 0.05 < max(after), f"for R ≤ {SMALL:g} {told}"


def depth_is_slightly_worse(made: Made) -> Judged:
    """Whether more layers move the transition down a little."""
    told = {
        layers: tipping(next(iter(chosen(made, layers=layers, c=0.5, r=0.01).values()), ())) for layers in (2, 3, 4, 5)
    }
    places = {layers: at for layers, at in told.items() if at is not None}
    falls = all(b <= a * 1.02 for a, b in pairwise(places.values()))
    numbers = ", ".join(f"m = {at:.0f} for L = {n}" for n, at in places.items())
    return falls if len(places) > 1 else None, f"Δ / √m passes {BROKEN:g} at {numbers}"


def shape_hardly_matters(made: Made) -> Judged:
    """Whether c moves the transition."""
    places = {
        (k[0], k[1]): at
        for layers in (3, 4)
        for k, line in chosen(made, layers=layers, r=0.01).items()
        if (at := tipping(line))
    }
    if len({c for _, c in places}) < 2:
        return None, "one shape alone"
    moved = max(places.values()) / min(places.values())
    told = f"over c = 0.25 to 1 and L = 3, 4 the place moves from m = {spread(places.values(), '.0f')}"
    return moved <= 1 + TOLERANCE, told


def tips_at_the_product(made: Made) -> Judged:
    """Whether the transition is at D m_L in the thesis' family."""
    told = {name: tipping(curve(mine)) for name, mine in families(made[SUITE]).items() if "m_1-" not in name}
    tasks = {name: task_of(mine[0]) for name, mine in families(made[SUITE]).items()}
    shares = [at / (tasks[n].D * tasks[n].shape[-1]) for n, at in told.items() if at]
    held = all(abs(s - 1) <= TOLERANCE for s in shares) if shares else None
    return held, f"Δ / √m passes {BROKEN:g} at {spread(shares)} D m_L"


def tips_at_the_product_always(made: Made) -> Judged:
    """Whether it is there also where widths grow."""
    told = {
        name: (tipping(curve(mine)), task_of(mine[0])) for name, mine in families(made[SUITE]).items() if "m_1-" in name
    }
    places = {n: (at, at / (t.D * t.shape[-1]), at / threshold(t)) for n, (at, t) in told.items() if at}
    numbers = "; ".join(f"{n}: m* = {at:.0f}, that is {a:.2f} D m_L and {b:.2f} T" for n, (at, a, b) in places.items())
    return all(abs(a - 1) <= TOLERANCE for _, a, _ in places.values()) if places else None, numbers


def law_holds(made: Made) -> Judged:
    """Whether T is the place everywhere."""
    told = [(tipping(curve(mine)), threshold(task_of(mine[0]))) for mine in families(made[SUITE]).values()]
    shares = [at / t for at, t in told if at]
    held = all(abs(s - 1) <= TOLERANCE for s in shares) if shares else None
    return held, f"in {len(shares)} families the place is {spread(shares)} T, in the mean {mean(shares):.2f} T"


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
    """Whether every direction found is within the root of the span's error."""
    shares = []
    for r in (r for suite in ("deep-4.4", SUITE) for r in made[suite]):
        span, worst = value(deep.span(r), "subspace_error"), value(deep.directions(r), "entangled_error_1")
        if span and worst is not None and worst < FOUND:
            shares.append(worst / span**0.5)
    told = f"E_1 is at most {max(shares):.2g} of the root of the sine of the largest angle between the spans"
    return max(shares) <= 1, f"{told}, in {len(shares)} runs that found the first layer"
