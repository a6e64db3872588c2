"""The section of docs/hierarchy.md on real images: what is other than in the paper, tables, verdicts and a figure."""

from collections.abc import Iterator
from statistics import mean

from benchmarks.reproduce.hierarchy.images import tables
from benchmarks.reproduce.hierarchy.images.accuracies import DEPTHS, LAYERWISE, STAGED, SUITE, accuracies
from benchmarks.reproduce.hierarchy.images.items import ITEMS, MISSING
from benchmarks.reproduce.pages import Records, Section, headed
from benchmarks.reproduce.source_items import verdicts
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure

ABOUT = """The difference of data: 1 797 digits of 8 × 8 grey pixels (1 198 shown, 599 held out) and four layers of 16
channels here, CIFAR-10 and CIFAR-100 (50 000 of 32 × 32 in colour) and 10 to 34 layers in the paper.

As printed: z + z²/10 with batch norm behind it, average pooling below a linear head, momentum 0.9, batches of 125,
rate 0.1 and a tenth of it at 2/3 and 5/6 of a phase, decay 0.0005. Other than printed: no skip links (each layer sees
the one below), 30 epochs a phase and not 120, one decay and not the better of two, images neither augmented nor
attacked, a tenth of the shown ones kept aside as a check. Where the paper trains all from random weights that are drawn
towards those trained alone (A.5), all are trained on from these; and so are the layers between l - j and l, which A.5
may draw anew. Accuracies are those on held-out images in per cent, means over seeds ± half a 95 % interval."""


PARTS = {
    "Layer by layer and together (Figures 1, 3, 6 and 13)": tables.over_depth,
    "Gradients through the weights above (footnote 5)": tables.ways,
    "Squares and ReLUs (Figure 12)": tables.activations,
    "What is frozen (Figures 9 and 14)": tables.freeze_grid,
    "How far weights move (Figures 9, 10 and 11)": tables.moves,
    "What the lower layers are worth (Figures 2, 4 and 11)": tables.worth,
    "Nothing to be learnt": tables.control,
}


def text(records: Records) -> Iterator[str]:
    """All of the suite."""
    yield from ABOUT.splitlines()
    for title, part in PARTS.items():
        yield from headed(title, part(records))
    yield from headed("What these data carry of the paper's claims, and what not", carried(records))


def carried(records: Records) -> Iterator[str]:
    """Verdicts, and what cannot have any."""
    yield from verdicts(ITEMS, {SUITE: records})
    for item in MISSING:
        yield f"- Not to be had from these data: {item.source}, {item.says}; {item.word}."


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
