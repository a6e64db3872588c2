"""What the paper says of images, item by item, and which verdict the suite `images` gives it."""

from benchmarks.reproduce.hierarchy.images import verdicts
from benchmarks.reproduce.hierarchy.images.accuracies import SUITE
from benchmarks.reproduce.source_items import Item, left_out

DEPTH, FREEZE, LOWER = "Layer by layer and together", "What is frozen", "What the lower layers are worth"
DETACHED, SQUARES, MOVES = "Gradients through the weights above", "Squares and ReLUs", "How far weights move"
ITEMS = tuple(
    Item(source, says, where, judge, needs=(SUITE,))
    for source, says, where, judge in (
        (
            "§1.2, Figures 6 and 13, A.4",
            "forward alone, layerwise, is worse, from the second layer on",
            DEPTH,
            verdicts.layerwise_is_worse,
        ),
        ("Figures 6 and 13", "layerwise stops improving after depth three", DEPTH, verdicts.layerwise_stops),
        ("A.4, footnote 29", "joining in turn ends as from random weights", DEPTH, verdicts.pretraining_is_joint),
        ("Figures 1 and 3", "each layer adds less than the one before", DEPTH, verdicts.deeper_adds_less),
        ("Footnote 5", "hidden weights need pass no gradient down", DETACHED, verdicts.detached_is_comparable),
        ("Figure 12", "quadratic networks are comparable to ReLU networks", SQUARES, verdicts.squares_are_comparable),
        ("Figures 9 and 14", "fixing what was trained alone costs accuracy", FREEZE, verdicts.fixing_costs),
        ("Figure 9", "correction has to go deep", FREEZE, verdicts.correction_goes_deep),
        ("§3.1, Figures 9, 10 and 11", "correction is local, above 0.9", MOVES, verdicts.correction_is_local),
        ("Figures 9 and 14", "weights go far from their random start", MOVES, verdicts.training_is_far),
        (
            "Figures 2, 4 and 11 (pictures: this reading is ours)",
            "corrected lower features serve new layers on top of them better",
            LOWER,
            verdicts.lower_layers_serve,
        ),
    )
)
MISSING = left_out(
    {
        "Figures 1, 2, 4 and 11, A.1: pictures of features": "8 × 8 pixels show little, and what can be trained on"
        " top of the features stands in for them",
        "Figure 9: at least eight layers of correction": "the net has four layers",
        "Figures 6 and 13: widths x2 to x16, VGG and ResNet": "one width, 16 channels, was trained",
        "Figures 9 and 14: ensembles and adversarial training": "single models on clean images were trained",
        "Figure 12: kernel methods, and the time they take": "`kernel` regresses one output and these images have ten"
        " classes; kernels beside DenseNets are under Kernels",
    }
)
