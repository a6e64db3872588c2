"""docs/hierarchy.md: backward feature correction, beside its paper (40 minutes on two cores)."""

from collections.abc import Iterator

from benchmarks.reproduce.hierarchy import algorithm1, correlations, figures, freeze, hard, tables, theorems
from benchmarks.reproduce.hierarchy import theorems_by_training as trained
from benchmarks.reproduce.hierarchy.images import accuracies, section
from benchmarks.reproduce.hierarchy.images import items as images
from benchmarks.reproduce.hierarchy.items import ITEMS, LOCAL, NUMBERS
from benchmarks.reproduce.pages import Page, Section
from benchmarks.reproduce.source_items import Made, failures, verdicts, whole

EVERY = (*ITEMS, *images.ITEMS, *images.MISSING)


def findings(made: Made) -> Iterator[str]:
    """What held, statements in numbers, and the whole source."""
    yield from verdicts(EVERY, made)
    yield from ("", f"## {LOCAL}", "")
    yield from correlations.text()
    yield from ("", f"## {NUMBERS}", "")
    yield from theorems.text()
    yield ""
    yield from trained.text()
    yield from whole(EVERY, made)
    yield from failures(made)


PAGE = Page(
    name="hierarchy",
    title="Backward feature correction",
    sources="""Shared with other work: seconds are upper bounds, errors and counts are not touched by it.
Teachers: quadratic DenseNets, x ~ N(0, I), D = 20, k = 4-2, α = (1, 0.2) unless a row says otherwise; S_l are the
features of layer l, compared up to a rotation, errors of features being squared and relative.
Reference: Allen-Zhu & Li, *Backward feature correction: how deep learning performs deep (hierarchical) learning*,
arXiv:2001.04413. It has no numbers for these teachers: its theorems are asymptotic. Its experiments are on CIFAR,
ours on smaller images.""",
    sections={
        "bfc": Section(
            "Training the upper layers corrects the lower ones",
            tables.text,
            {
                "Kernels and densenet-lm over the number of samples": figures.kernel_figure,
                "Each pass of refit and distil makes the error two powers of the gap smaller": figures.gap_figure,
                "Each layer that joins corrects the features below": figures.staircase_figure,
            },
        ),
        "bfc-algorithm1": Section("Algorithm 1 over seeds", algorithm1.text),
        "bfc-freeze": Section("Layers that stay", freeze.text),
        "bfc-hard": Section("The class of Appendix I", hard.text),
        accuracies.SUITE: section.SECTION,
    },
    findings=findings,
)
