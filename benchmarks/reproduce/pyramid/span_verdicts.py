"""What §4.2.3 of the thesis says of spans and their rank-ones, judged by the records of its figures."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from statistics import linear_regression, mean

from benchmarks.reproduce.pages import Records, grouped
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid import tables
from benchmarks.reproduce.pyramid.printed import ERRORS
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
HALF = 0.5  # share of entangled weights below which recovery is taken for broken
ALIKE, WORSE = 1.5, 2.0  # times apart, up to which errors differ marginally; from where on one is far worse
SLIGHT = 0.1  # of a share found, up to which a difference is small
BEFORE, WHOLE = 0.9, 150  # of D m_L, the last size before the transition; D m_L itself
DEPTHS, SHAPES = (2, 3, 4, 5), (0.25, 0.5, 0.75, 1.0)


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


def concentrated(made: Made) -> Mapping[tuple[int, float], Points]:
    """Curves of c = 0.5 and R ≤ 0.1, by L and R, over m / (D m_L)."""
    told = {}
    for (layers, c, r), mine in lines_of(made[SUITE]).items():
        if c == 0.5 and r <= SMALL:
            told[layers, r] = [(m / size_of_product(mine), e) for m, e in curve(mine)]
    return told


def size_of_product(mine: Records) -> int:
    """D m_L."""
    return task_of(mine[0]).D * task_of(mine[0]).shape[-1]


def error_is_stable(made: Made) -> Judged:
    """Whether Δ / √m stays where it is up to 0.9 of D m_L; undecided else: a third of the D, one seed a cell."""
    ratios: dict[int, list[float]] = {}
    for (layers, _), points in concentrated(made).items():
        if len(before := [e for at, e in points if at <= BEFORE]) > 2:
            ratios.setdefault(layers, []).append(max(before) / min(before))
    told = "; ".join(f"L = {n}: up to {max(rs):.2g} times" for n, rs in ratios.items())
    held = all(max(rs) <= ALIKE for rs in ratios.values())
    numbers = (
        f"Δ / √m varies up to m = {BEFORE:g} D m_L, {told} (stable: up to {ALIKE:g}; more decides nothing at D = 30)"
    )
    return True if ratios and held else None, numbers


def error_jumps(made: Made) -> Judged:
    """Whether Δ / √m rises most steeply between 0.9 and 1 of D m_L; undecided else: a third of the D, one seed."""
    told, held, places = [], [], []
    for points in concentrated(made).values():
        steepest = max(pairwise(points), key=lambda step: (step[1][1] - step[0][1]) / (step[1][0] - step[0][0]))
        held.append(round(steepest[0][0], 2) == 0.9 and round(steepest[1][0], 2) == 1)
        told.append(f"from {steepest[0][0]:.2g} to {steepest[1][0]:.2g}")
        places += [at] if (at := tipping(points)) else []
    steps = ", ".join(f"{t} in {told.count(t)} of {len(told)} curves" for t in sorted(set(told)))
    above = [
        f"L = {n} at {points[0][0]:.2g}"
        for (n, r), points in concentrated(made).items()
        if r == 0.01 and points[0][1] > BROKEN
    ]
    numbers = f"Δ / √m (R ≤ {SMALL:g}, c = 0.5) rises most, in parts of D m_L, {steps}; it last passes {BROKEN:g} at"
    numbers += f" {spread(places)}" + (f", and is above it for {', '.join(above)} too" if above else "")
    return (True if held and all(held) else None), f"{numbers}; one seed, and T, below, is (D + 1) / D times D m_L"


def best_radius(made: Made) -> Judged:
    """Whether R = 0.1 has the least Δ of the radii at most sizes up to D m_L."""
    first = []
    for layers in (2, 3, 4):
        lines = {r: dict(line) for r in RADII for line in chosen(made, layers=layers, c=0.5, r=r).values()}
        if len(lines) == len(RADII):
            sizes = [m for m in set.intersection(*(set(line) for line in lines.values())) if m <= WHOLE]
            first += [lines[SMALL][m] < min(line[m] for r, line in lines.items() if r != SMALL) for m in sizes]
    held = sum(first) > len(first) / 2 if first else None
    return (
        held,
        f"Δ at R = 0.1 is the least at {sum(first)} of {len(first)} sizes up to D m_L (holds: at most of them)",
    )


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


def shares(made: Made, layers: int, c: float) -> Mapping[float, float]:
    """The share found at R = 0.01 over m / (D m_L), up to D m_L."""
    told = {ratio(r): found([r]) for r in lines_of(made[SUITE]).get((layers, c, 0.01), []) if ratio(r) <= 1}
    return {at: share for at, share in told.items() if share is not None}


def common(made: Made, kinds: Sequence[tuple[int, float]]) -> tuple[list[float], list[float]]:
    """The sizes that all these kinds have, and over them the mean share that each finds."""
    lines = [shares(made, *kind) for kind in kinds]
    sizes = sorted(set.intersection(*map(set, lines)))
    return sizes, [mean(line[at] for at in sizes) for line in lines] if sizes else []


def listed(sizes: Sequence[float]) -> str:
    """Sizes as words."""
    return f"m / (D m_L) = {', '.join(f'{at:g}' for at in sizes)}"


def depth_is_worse(made: Made) -> Judged:
    """Whether more layers find fewer, at the sizes that all have."""
    sizes, means = common(made, [(n, 0.5) for n in DEPTHS])
    told = ", ".join(f"{share:.2g} for L = {n}" for n, share in zip(DEPTHS, means, strict=False))
    held = all(b <= a for a, b in pairwise(means)) if sizes else None
    return held, f"mean share found at {listed(sizes)}, R = 0.01, c = 0.5: {told}"


def depth_is_slight(made: Made) -> Judged:
    """Whether more layers find nearly as many; undecided else: a third of the D, and no word on what is small."""
    _sizes, means = common(made, [(n, 0.5) for n in DEPTHS])
    levels = [
        f"{dict(points)[0.9]:.2g} for L = {n}"
        for (n, r), points in concentrated(made).items()
        if r == 0.01 and 0.9 in dict(points)
    ]
    lost = max(means) - min(means)
    told = f"up to {lost:.2g} of the share is lost; Δ / √m at 0.9 D m_L is {', '.join(levels)}"
    return True if lost <= SLIGHT else None, f"{told} (small: up to {SLIGHT:g}; the source does not say)"


def shape_hardly_matters(made: Made) -> Judged:
    """Whether c moves neither the transition of three layers nor what they find; undecided else: one seed a cell."""
    places = {k[1]: at for k, line in chosen(made, layers=3, r=0.01).items() if (at := tipping(line))}
    lines = {c: shares(made, 3, c) for c in places}
    if len(places) < 2:
        return None, "one shape alone"
    told = "; ".join(f"c = {c:g}: m = {at:.0f}, {spread(lines[c].values(), '.2g')} found" for c, at in places.items())
    sizes = set.intersection(*map(set, lines.values()))
    apart = max(max(line[at] for line in lines.values()) - min(line[at] for line in lines.values()) for at in sizes)
    held = max(places.values()) / min(places.values()) <= 1 + TOLERANCE and apart <= SLIGHT
    numbers = f"place of the span's transition, and share found up to D m_L: {told}"
    return True if held else None, f"{numbers} (alike: places {WITHIN}, shares at every size {SLIGHT:g})"


def rectangles_are_worse(made: Made) -> Judged:
    """Whether of four layers c = 0.75 and 1 find fewer than c = 0.25 and 0.5, at the sizes that all have."""
    sizes, means = common(made, [(4, c) for c in SHAPES])
    told = ", ".join(f"{share:.3g} for c = {c:g}" for c, share in zip(SHAPES, means, strict=False))
    held = bool(sizes) and max(means[2:]) < min(means[:2])
    numbers = f"mean share found at {listed(sizes)}: {told}; one seed {AT_SCALE}"
    return True if held else None, f"{numbers} (holds where both tapered shapes are above both others)"


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
    pairs, networks = [], 0
    for kind in (k for k in tables.KINDS if k[2]):
        mine = tables.runs(made["deep-4.4"], kind)
        networks += len(mine)
        layers = range(1, len(ERRORS[kind]))
        each = (
            (value(deep.span(r), "subspace_error"), value(deep.directions(r), f"entangled_error_{n}"))
            for r in mine
            for n in layers
        )
        pairs += [(span, worst) for span, worst in each if span and worst]
    most = max(worst / span**0.5 for span, worst in pairs)
    told = f"E_l is at most {most:.2g} times the root of δ, the sine of the largest angle between the spans"
    logs = [(log(span), log(worst)) for span, worst in pairs]
    power = f", and goes like δ^{linear_regression(*zip(*logs, strict=True)).slope:.2f}" if len(set(logs)) > 1 else ""
    return most <= 1, f"{told}{power}, over all {len(pairs)} layers that bend of {networks} networks"
