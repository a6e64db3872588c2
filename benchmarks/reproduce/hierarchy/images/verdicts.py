"""What the suite `images` says of the paper's claims: a difference holds where its interval is above 0."""

from collections.abc import Callable
from itertools import pairwise
from statistics import mean

from benchmarks.reproduce.hierarchy.images.accuracies import (
    BELOW,
    DEPTHS,
    DETACHED,
    EVERYWHERE,
    LAYERWISE,
    RELU,
    SCRATCH,
    STAGED,
    SUITE,
    Seeds,
    accuracies,
    corrected,
    drawn,
    frozen,
    gains,
    interval,
    kept,
    share,
    told,
)
from benchmarks.reproduce.hierarchy.images.tables import PRINTED_QUADRATIC, PRINTED_RELU
from benchmarks.reproduce.pages import Records
from benchmarks.reproduce.source_items import Judged, Made, every

SAME = 0.01  # of accuracies that are called equal: one image in a hundred
LOCAL, FAR = 0.9, 0.354  # "more than 0.9" (§3.1); the largest correlation with random weights of Figures 9 and 14
COMPARABLE = max(
    (100 - square) / (100 - relu)
    for name in PRINTED_RELU
    for relu, square in zip(PRINTED_RELU[name], PRINTED_QUADRATIC[name], strict=True)
)  # how many times the errors of ReLU nets those of quadratic nets are in Figure 12, at most


def better(apart: Seeds) -> bool | None:
    """Whether a difference is above 0; None where its interval has 0 in it."""
    _, least, most = interval(apart)
    return True if least > 0 else False if most <= 0 else None


def of_lower_parts(difference: Callable[[Records, int], Seeds], what: str) -> Callable[[Made], Judged]:
    """A judge of differences that should be above 0 for every l."""

    def judge(made: Made) -> Judged:
        found = {layer: difference(made[SUITE], layer) for layer in BELOW}
        numbers = ", ".join(f"{told(values)} at l = {layer}" for layer, values in found.items())
        return every([better(values) for values in found.values()]), f"{what}: {numbers} points"

    return judge


def layerwise_is_worse(made: Made) -> Judged:
    """From the second layer on."""
    apart = {
        depth: gains(*(accuracies(made[SUITE], m, depth - 1) for m in (STAGED, LAYERWISE))) for depth in DEPTHS[1:]
    }
    numbers = ", ".join(f"{told(values)} at {depth} layers" for depth, values in apart.items())
    return every([better(values) for values in apart.values()]), f"together minus layer by layer: {numbers}"


def layerwise_stops(made: Made) -> Judged:
    """After the third layer, where training together does not."""
    alone, together = (gains(accuracies(made[SUITE], m, 3), accuracies(made[SUITE], m, 2)) for m in (LAYERWISE, STAGED))
    grows, less = better(alone), better(gains(together, alone))
    told_by = f"the fourth layer adds {told(alone)} points layer by layer, {told(together)} together"
    return (False if grows else True if less else None), f"{told_by}; one layer is all that comes after the third"


def pretraining_is_joint(made: Made) -> Judged:
    """Layers that join in turn end where layers that start together do."""
    apart = gains(accuracies(made[SUITE], STAGED), accuracies(made[SUITE], SCRATCH))
    _, least, most = interval(apart)
    held = True if max(-least, most) < SAME else False if least > SAME or most < -SAME else None
    return (
        held,
        f"joining in turn minus from random weights {told(apart)} points; in turn has {len(DEPTHS)} times the epochs",
    )


def deeper_adds_less(made: Made) -> Judged:
    """Layer by layer, on top of those that were trained with it."""
    over = [accuracies(made[SUITE], STAGED, at) for at in range(len(DEPTHS))]
    added = [gains(b, a) for a, b in pairwise(over)]
    less = [better(gains(a, b)) for a, b in pairwise(added)]
    numbers = ", ".join(f"{told(values)} by layer {layer}" for layer, values in enumerate(added, 2))
    return every(less), f"points added: {numbers}"


def comparable(method: str, reference: str, what: str) -> Callable[[Made], Judged]:
    """A judge of errors that are no more times another's than those of squares are of ReLUs in Figure 12."""

    def judge(made: Made) -> Judged:
        mine, other = (accuracies(made[SUITE], m) for m in (method, reference))
        beyond = {s: (1 - mine[s]) - COMPARABLE * (1 - other[s]) for s in mine.keys() & other.keys()}
        _, least, most = interval(beyond)
        held = True if most < 0 else False if least > 0 else None
        ratio = (1 - mean(mine.values())) / (1 - mean(other.values()))
        told_by = f"{what}: {told(gains(mine, other))} points, {ratio:.2g} times the errors"
        return held, f"{told_by}; Figure 12 calls up to {COMPARABLE:.2f} times comparable"

    return judge


def frozen_costs(records: Records, layer: int) -> Seeds:
    """Training all minus fixing what was trained alone."""
    return gains(accuracies(records, frozen(layer, 0)), accuracies(records, frozen(layer, layer)))


def layers_are_better(records: Records, layer: int) -> Seeds:
    """New layers on corrected ones minus new layers on those trained alone."""
    return gains(accuracies(records, corrected(layer), 2), accuracies(records, frozen(layer, layer)))


def correction_goes_deep(made: Made) -> Judged:
    """Each further layer that is corrected adds, at l = 3."""
    fixed = {kept: accuracies(made[SUITE], frozen(3, kept)) for kept in (3, 2, 1, 0)}
    added = {kept: gains(fixed[kept], fixed[kept + 1]) for kept in (2, 1, 0)}
    numbers = ", ".join(f"{told(values)} by layer {kept + 1}" for kept, values in added.items())
    return every([better(values) for values in added.values()]), f"points added when it is corrected too: {numbers}"


def correction_is_local(made: Made) -> Judged:
    """Weights before and after."""
    found = {layer: kept(made[SUITE], layer) for layer in BELOW}
    numbers = ", ".join(f"{share(values)} at l = {layer}" for layer, values in found.items())
    return every([better({s: v - LOCAL for s, v in values.items()}) for values in found.values()]), numbers


def training_is_far(made: Made) -> Judged:
    """Weights and their random start."""
    found = {layer: drawn(made[SUITE], layer) for layer in BELOW}
    numbers = ", ".join(f"{share(values)} at l = {layer}" for layer, values in found.items())
    far = every([better({s: FAR - v for s, v in values.items()}) for values in found.values()])
    return far, f"{numbers}; at most {FAR:g} printed"


fixing_costs = of_lower_parts(frozen_costs, "training all minus fix ≤ l")
lower_layers_serve = of_lower_parts(layers_are_better, "new layers on corrected ones minus on those trained alone")
squares_are_comparable = comparable(EVERYWHERE, RELU, "squares minus ReLUs")
detached_is_comparable = comparable(DETACHED, EVERYWHERE, "without gradients through weights above minus with them")
