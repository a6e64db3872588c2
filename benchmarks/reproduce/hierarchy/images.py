"""Backward feature correction on real images: the suite `images` beside Figures 1, 2, 3, 4, 6, 9, 10, 11, 13 and 14.

Accuracies are means over seeds with 95 % intervals. What is compared is compared seed by seed, on the same images shown
and held out:

    (1)  m ± t s / √n,   m and s mean and deviation over n seeds, t the 97.5 % quantile of Student's law of n - 1.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import mean, stdev

from scipy.stats import t as student

from benchmarks.reproduce.pages import Records, Section, grid
from benchmarks.reproduce.source_items import Item, Judged, Made, verdicts
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure

SUITE, TASK, SHUFFLED = "images", "images", "images:labels=shuffled"
DEPTHS, BELOW = (1, 2, 3, 4), (1, 2, 3)  # of nets, and of their lower parts
LAYERWISE, STAGED, SCRATCH = "convnet:depths=1-2-3-4,freeze=0-1-2-3", "convnet:depths=1-2-3-4", "convnet"
FORWARD, EVERYWHERE = "convnet:heads=all,backward=false", "convnet:heads=all"
SAME = 0.01  # of accuracies that are called equal: one image in a hundred
Seeds = Mapping[int, float]

# Figure 9, CIFAR-100 on WRN-34-5, in per cent and as cosines, at l = 1, 3, 5 and 21 of its eleven columns.
PRINTED_AT = (1, 3, 5, 21)
PRINTED = {
    "train only ≤ l": (16.0, 43.1, 61.5, 80.9),
    "fix ≤ l": (83.1, 78.9, 78.4, 81.2),
    "fix ≤ l - 2": (None, 83.4, 81.5, 81.3),
    "fix ≤ l - 4": (None, None, 83.1, 81.3),
    "fix ≤ l - 6": (None, None, None, 81.8),
    "fix ≤ l - 8": (None, None, None, 81.9),
    "train all": (83.2, 83.2, 82.9, 83.0),
}
PRINTED_KEPT, PRINTED_DRAWN = (0.927, 0.956, 0.966, 0.948), (0.131, 0.081, 0.070, 0.031)
LOCAL, FAR = 0.9, 0.354  # "more than 0.9" (§3.1); the largest correlation with random weights of Figures 9 and 14

ABOUT = """The difference of data: 1 797 digits of 8 × 8 grey pixels (1 198 shown, 599 held out) and four layers of 16
channels here, CIFAR-10 and CIFAR-100 (50 000 of 32 × 32 in colour) and 10 to 34 layers in the paper.

As printed: z + z²/10 with batch norm behind it, average pooling below a linear head, momentum 0.9, batches of 125,
rate 0.1 and a tenth of it at 2/3 and 5/6 of a phase, decay 0.0005. Other than printed: no skip links (each layer sees
the one below), 30 epochs a phase and not 120, one decay and not the better of two, images neither augmented nor
attacked, a tenth of the shown ones kept aside as a check. Where the paper trains all from random weights that are drawn
towards those trained alone (A.5), all are trained on from these. Accuracies are those on held-out images in per cent,
means over seeds ± half a 95 % interval."""


def frozen(layer: int, kept: int) -> str:
    """The cell that trains the lowest `layer` layers alone, then all but the lowest `kept`."""
    return f"convnet:depths={layer}-4,freeze=0-{kept}"


def corrected(layer: int) -> str:
    """The cell that trains all, then a head on the lowest layers alone, then new layers on them."""
    return f"convnet:depths=4-{layer}-4,freeze=0-{layer}-{layer}"


# Numbers of records


def accuracies(records: Records, method: str, at: int = -1) -> Seeds:
    """By seed, of the claim number `at`."""
    mine = [r for r in records if (r.method, r.task) == (method, TASK)]
    reached = {r.seed: r.claims[at].metrics for r in mine if -1 <= at < len(r.claims) and r.claims}
    return {seed: metrics["accuracy"] for seed, metrics in reached.items() if "accuracy" in metrics}


def correlations(records: Records, method: str, name: str, *layers: int) -> Seeds:
    """By seed, the mean over these layers of what a method said last of their weights."""
    mine = [r for r in records if (r.method, r.task) == (method, TASK) and f"{name}_{layers[-1]}" in r.stats]
    return {r.seed: mean(r.stats[f"{name}_{layer}"] for layer in layers) for r in mine}


def kept(records: Records, layer: int) -> Seeds:
    """Of the lowest layers trained alone, with what they are when all were trained on from there."""
    return correlations(records, frozen(layer, 0), "kept", *range(1, layer + 1))


def drawn(records: Records, layer: int) -> Seeds:
    """Of the lowest layers trained alone, with the random weights that they had at first."""
    return correlations(records, frozen(layer, layer), "drawn", *range(1, layer + 1))


def gains(after: Seeds, before: Seeds) -> Seeds:
    """How much more, seed by seed."""
    return {seed: after[seed] - before[seed] for seed in after.keys() & before.keys()}


def interval(values: Seeds) -> tuple[float, float, float]:
    """(1): the mean, and its least and largest; a ValueError where there are less than two."""
    if (count := len(values)) < 2:
        raise ValueError(f"{count} seeds")
    middle = mean(values.values())
    reach = float(student.ppf(0.975, count - 1)) * stdev(values.values()) / math.sqrt(count)
    return middle, middle - reach, middle + reach


def told(values: Seeds, form: str = ".1f", scale: float = 100.0) -> str:
    """The mean and its interval, in per cent."""
    try:
        middle, least, _ = interval(values)
    except ValueError:
        return format(scale * mean(values.values()), form) if values else "-"
    return f"{scale * middle:{form}} ± {scale * (middle - least):{form}}"


def share(values: Seeds) -> str:
    """A mean of cosines and its interval."""
    return told(values, ".3f", 1.0)


def seeds(*columns: Seeds) -> str:
    """How many seeds the columns of a row have."""
    counts = sorted({len(values) for values in columns if values})
    return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "0"


# Tables


def text(records: Records) -> Iterator[str]:
    """All of the suite."""
    yield from ABOUT.splitlines()
    parts = (
        ("Layer by layer and together (Figures 1, 3, 6 and 13)", over_depth),
        ("Forward alone, and with the way back (Figure 5)", ways),
        ("What is frozen (Figures 9 and 14)", freeze_grid),
        ("How far weights move (Figures 9, 10 and 11)", moves),
        ("What the lower layers are worth (Figures 2, 4 and 11)", worth),
        ("Nothing to be learnt", control),
    )
    for title, part in parts:
        yield from ("", f"### {title}", "")
        yield from part(records)
    yield from ("", "### What these data carry of the paper's claims, and what not", "")
    yield from verdicts(ITEMS, {SUITE: records})
    for item in MISSING:
        yield f"- Not to be had from these data: {item.source}, {item.says}; {item.word}."


def over_depth(records: Records) -> Iterator[str]:
    """Accuracies over depth."""
    alone, together = ([accuracies(records, m, at) for at in range(len(DEPTHS))] for m in (LAYERWISE, STAGED))
    apart = [gains(a, b) for a, b in zip(together, alone, strict=True)]
    scratch = accuracies(records, SCRATCH)
    rows = (
        ("layer by layer", *map(told, alone), seeds(*alone)),
        ("all together, each joining in turn", *map(told, together), seeds(*together)),
        ("together minus layer by layer", *map(told, apart), seeds(*apart)),
        ("all four together from random weights", "", "", "", told(scratch), seeds(scratch)),
    )
    yield from grid(("", *(f"{depth} layer{'s' * (depth > 1)}" for depth in DEPTHS), "seeds"), rows)


def ways(records: Records) -> Iterator[str]:
    """With and without gradients from above."""
    yield "A linear head on every layer, f their sum, all trained at once; without the way back each by its own head."
    yield ""
    forward, back = accuracies(records, FORWARD), accuracies(records, EVERYWHERE)
    both = gains(back, forward)
    rows = (("forward alone", forward), ("with the way back", back), ("the difference", both))
    yield from grid(("", "4 layers", "seeds"), ((name, told(v), seeds(v)) for name, v in rows))


def freeze_grid(records: Records) -> Iterator[str]:
    """Fix ≤ l - j, train the rest."""
    yield "First the lowest l are trained alone, then all but the lowest l - j of four: those between go on from there."
    yield ""
    rows = [("train only ≤ l", [accuracies(records, frozen(layer, layer), 0) for layer in BELOW])]
    for j in range(len(BELOW)):
        name = f"fix ≤ l - {j}" if j else "fix ≤ l"
        rows.append((name, [accuracies(records, frozen(n, n - j)) if n > j else {} for n in BELOW]))
    rows.append(("fix nothing: train all", [accuracies(records, frozen(layer, 0)) for layer in BELOW]))
    body = ((name, *map(told, columns), seeds(*columns)) for name, columns in rows)
    yield from grid(("", *(f"l = {layer}" for layer in BELOW), "seeds"), body)
    yield from ("", "As printed, CIFAR-100 on WRN-34-5, single models (Figure 9):", "")
    printed = ((name, *("-" if v is None else f"{v:.1f}" for v in values)) for name, values in PRINTED.items())
    yield from grid(("", *(f"l = {layer}" for layer in PRINTED_AT)), printed)


def moves(records: Records) -> Iterator[str]:
    """Correlations of weights."""
    yield "The mean cosine over neurons of the lowest l layers: of their weights when trained alone with those after"
    yield "all were trained on from there, and with the random ones that they had at first."
    yield ""
    after, first = ([of(records, layer) for layer in BELOW] for of in (kept, drawn))
    head = (*(f"l = {layer}" for layer in BELOW), "seeds", *(f"printed, l = {layer}" for layer in PRINTED_AT))
    rows = (
        ("before and after correction", *map(share, after), seeds(*after), *map(str, PRINTED_KEPT)),
        ("trained alone and at random", *map(share, first), seeds(*first), *map(str, PRINTED_DRAWN)),
    )
    yield from grid(("", *head), rows)
    yield from ("", "Before and after correction, each layer for itself (Figure 10):", "")
    single = [
        [correlations(records, frozen(n, 0), "kept", place) if place <= n else {} for place in BELOW] for n in BELOW
    ]
    body = ((f"l = {n}", *map(share, row), seeds(*row)) for n, row in zip(BELOW, single, strict=True))
    yield from grid(("", *(f"layer {place}" for place in BELOW), "seeds"), body)


def worth(records: Records) -> Iterator[str]:
    """Lower layers with and without correction, under what is trained on top of them alone."""
    yield "The lowest l layers, frozen as they are when trained alone or when all four were trained: accuracies of a"
    yield "new head on them, and of a net whose upper layers are new and trained on top of them."
    yield ""
    rows = []
    for layer in BELOW:
        alone = [accuracies(records, frozen(layer, layer), at) for at in (0, 1)]
        after = [accuracies(records, corrected(layer), at) for at in (1, 2)]
        apart = [gains(a, b) for a, b in zip(after, alone, strict=True)]
        every = [v for pair in zip(alone, after, apart, strict=True) for v in pair]
        rows.append((f"l = {layer}", *map(told, every), seeds(*every)))
    kinds = ("trained alone", "trained with all", "difference")
    yield from grid(("", *(f"{what}: {kind}" for what in ("head", "new layers") for kind in kinds), "seeds"), rows)


def control(records: Records) -> Iterator[str]:
    """Shuffled labels."""
    mine = [r for r in records if r.task == SHUFFLED]
    right = {r.seed: r.metrics["accuracy"] for r in mine if "accuracy" in r.metrics}
    gave = sum(r.status.key == "gave_up" for r in mine)
    yield f"Every image has the label of another: accuracy {told(right)} over {seeds(right)} seeds; the method itself,"
    yield f"which keeps a tenth of the shown images aside, gave up in {gave} of {len(mine)} runs."


# Verdicts


def better(apart: Seeds) -> bool | None:
    """Whether a difference is above 0; None where its interval has 0 in it."""
    _, least, most = interval(apart)
    return True if least > 0 else False if most <= 0 else None


def every(held: Sequence[bool | None]) -> bool | None:
    """Whether all hold; one that does not is enough to say so."""
    return False if False in held else None if None in held else True


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
    """After the third layer."""
    third, fourth = (accuracies(made[SUITE], LAYERWISE, at) for at in (2, 3))
    _, least, most = interval(added := gains(fourth, third))
    held = False if least > 0 else True if most < SAME else None
    return held, f"the fourth layer adds {told(added)} points"


def pretraining_is_joint(made: Made) -> Judged:
    """Layers that join in turn end where layers that start together do."""
    apart = gains(accuracies(made[SUITE], STAGED), accuracies(made[SUITE], SCRATCH))
    _, least, most = interval(apart)
    held = True if max(-least, most) < SAME else False if least > SAME or most < -SAME else None
    return held, f"joining in turn minus from random weights {told(apart)} points; in turn has four times the epochs"


def deeper_adds_less(made: Made) -> Judged:
    """Layer by layer, on top of those that were trained with it."""
    over = [accuracies(made[SUITE], STAGED, at) for at in range(len(DEPTHS))]
    added = [gains(b, a) for a, b in pairwise(over)]
    less = [better(gains(a, b)) for a, b in pairwise(added)]
    numbers = ", ".join(f"{told(values)} by layer {layer}" for layer, values in enumerate(added, 2))
    return every(less), f"points added: {numbers}"


def way_back_helps(made: Made) -> Judged:
    """Gradients from above."""
    apart = gains(accuracies(made[SUITE], EVERYWHERE), accuracies(made[SUITE], FORWARD))
    return better(apart), f"with the way back minus forward alone: {told(apart)} points"


def frozen_costs(records: Records, layer: int) -> Seeds:
    """Training all minus fixing what was trained alone."""
    return gains(accuracies(records, frozen(layer, 0)), accuracies(records, frozen(layer, layer)))


def layers_are_better(records: Records, layer: int) -> Seeds:
    """New layers on corrected ones minus new layers on those trained alone."""
    return gains(accuracies(records, corrected(layer), 2), accuracies(records, frozen(layer, layer)))


def heads_are_better(records: Records, layer: int) -> Seeds:
    """A head on corrected layers minus one on those trained alone."""
    return gains(accuracies(records, corrected(layer), 1), accuracies(records, frozen(layer, layer), 0))


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


NEEDS = (SUITE,)
DEPTH, FREEZE, LOWER = "Layer by layer and together", "What is frozen", "What the lower layers are worth"
ITEMS = (
    Item("Figures 6 and 13, A.4", "layerwise is worse, from the second layer on", DEPTH, layerwise_is_worse, "", NEEDS),
    Item("Figures 6 and 13", "layerwise stops improving after depth three", DEPTH, layerwise_stops, "", NEEDS),
    Item("A.4, footnote 29", "joining in turn ends as from random weights", DEPTH, pretraining_is_joint, "", NEEDS),
    Item("Figures 1 and 3", "each layer adds less than the one before", DEPTH, deeper_adds_less, "", NEEDS),
    Item("§1.2, Figure 5", "forward feature learning alone is not enough", "Forward alone", way_back_helps, "", NEEDS),
    Item(
        "Figures 9 and 14",
        "fixing what was trained alone costs accuracy",
        FREEZE,
        of_lower_parts(frozen_costs, "training all minus fix ≤ l"),
        needs=NEEDS,
    ),
    Item("Figure 9", "correction has to go deep", FREEZE, correction_goes_deep, "", NEEDS),
    Item(
        "Figures 9, 10 and 11", "correction is local, above 0.9", "How far weights move", correction_is_local, "", NEEDS
    ),
    Item("Figure 9", "weights go far from their random start", "How far weights move", training_is_far, "", NEEDS),
    Item(
        "Figures 2, 4 and 11 (pictures: this reading is ours)",
        "corrected lower features serve new layers on top of them better",
        LOWER,
        of_lower_parts(layers_are_better, "new layers on corrected ones minus on those trained alone"),
        needs=NEEDS,
    ),
    Item(
        "Figures 2 and 4 (pictures: this reading is ours)",
        "corrected lower features classify better under a head of their own",
        LOWER,
        of_lower_parts(heads_are_better, "a head on corrected layers minus on those trained alone"),
        needs=NEEDS,
    ),
)
MISSING = (
    Item(
        "Figures 1, 2, 4 and 11",
        "pictures of features",
        word="8 × 8 pixels show little, and what can be trained on top of the features stands in for them",
    ),
    Item("Figure 9", "at least eight layers of correction", word="the net has four layers"),
    Item("Figures 6 and 13", "widths x2 to x16, VGG and ResNet", word="one width, 16 channels, was trained"),
    Item("Figures 9 and 14", "ensembles and adversarial training", word="single models on clean images were trained"),
)


# Figures


def depth_figure(records: Records) -> Figure:
    """Held-out errors over depth."""
    series = {}
    for name, method in (("layer by layer", LAYERWISE), ("all together", STAGED)):
        over = [(depth, accuracies(records, method, depth - 1)) for depth in DEPTHS]
        series[name] = [(float(depth), 1 - mean(values.values())) for depth, values in over if values]
    return chart(series, title="Held-out error over depth", across="layers", up="share of wrong classes")


SECTION = Section(
    "Real images",
    text,
    {"Layer by layer, and all layers together: the share of wrong classes over depth": depth_figure},
)
