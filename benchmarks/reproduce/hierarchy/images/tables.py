"""The tables of the suite `images`, beside the paper's where it prints numbers."""

from collections.abc import Iterator

from benchmarks.reproduce.hierarchy.images.accuracies import (
    BELOW,
    DEPTHS,
    DETACHED,
    EVERYWHERE,
    LAYERWISE,
    RELU,
    SCRATCH,
    SHUFFLED,
    STAGED,
    accuracies,
    corrected,
    correlations,
    drawn,
    frozen,
    gains,
    kept,
    seeds,
    share,
    told,
)
from benchmarks.reproduce.pages import Records, grid

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

# Figure 12, single models, in per cent: CIFAR-10 and CIFAR-100.
PRINTED_RELU = {"WRN-16-10": (96.27, 80.28), "WRN-22-10": (96.59, 81.43)}
PRINTED_QUADRATIC = {"WRN-16-10": (94.68, 75.31), "WRN-22-10": (95.08, 75.65)}


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
    """With and without gradients through the layers above."""
    yield "A linear head on every layer, f their sum, all trained at once. Without gradients through the weights above"
    yield "a layer is still trained on what all heads leave: what upper layers know is subtracted, which footnote 5"
    yield "calls most of the way back. Nothing is subtracted where training goes layer by layer, above."
    yield ""
    without, whole = accuracies(records, DETACHED), accuracies(records, EVERYWHERE)
    rows = (("without", without), ("with", whole), ("without minus with", gains(without, whole)))
    yield from grid(("gradients through weights above", "4 layers", "seeds"), ((n, told(v), seeds(v)) for n, v in rows))


def activations(records: Records) -> Iterator[str]:
    """Squares beside ReLUs."""
    yield "All four layers together from random weights: z + z²/10 with a linear head on every layer, as A.3 has it,"
    yield "and max(0, z) with one on the last. Both have batch norm behind them and the rate 0.1; A.3 has it before"
    yield "ReLUs, and 0.02 for squares."
    yield ""
    squares, relus = accuracies(records, EVERYWHERE), accuracies(records, RELU)
    rows = (("squares", squares), ("ReLUs", relus), ("squares minus ReLUs", gains(squares, relus)))
    yield from grid(("", "4 layers", "seeds"), ((name, told(v), seeds(v)) for name, v in rows))
    yield from ("", "As printed, CIFAR-10 and CIFAR-100, single models (Figure 12):", "")
    printed = {"squares": PRINTED_QUADRATIC, "ReLUs": PRINTED_RELU}
    head = ("", *(f"{net}, {data}" for net in PRINTED_RELU for data in ("CIFAR-10", "CIFAR-100")))
    yield from grid(head, ((n, *(f"{v:.2f}" for pair in nets.values() for v in pair)) for n, nets in printed.items()))


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
    yield "new head on them, and of a net whose upper layers are new and trained on top of them. The paper shows these"
    yield "features as pictures; it says nothing of heads on them."
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
