"""docs/hierarchy.md: backward feature correction, beside its paper.

At most an hour on two cores, if every cell took all its time; about a third of one.
"""

from collections.abc import Iterator

from benchmarks.reproduce.hierarchy import algorithm1, correlations, figures, freeze, hard, tables
from benchmarks.reproduce.hierarchy.exponents import NEAR
from benchmarks.reproduce.hierarchy.images import accuracies, section
from benchmarks.reproduce.hierarchy.images import items as images
from benchmarks.reproduce.hierarchy.images.verdicts import COMPARABLE, FAR, LOCAL
from benchmarks.reproduce.hierarchy.images.verdicts import SAME as SAME_SHARE
from benchmarks.reproduce.hierarchy.items import ITEMS, MOVED, NUMBERS
from benchmarks.reproduce.hierarchy.records import SMALL, SOLVED
from benchmarks.reproduce.hierarchy.statements import theorems
from benchmarks.reproduce.hierarchy.statements import theorems_by_training as trained
from benchmarks.reproduce.hierarchy.verdicts import SAME, UNLIKELY
from benchmarks.reproduce.pages import Page, Section
from benchmarks.reproduce.source_items import Made, failures, verdicts, whole

EVERY = (*ITEMS, *images.ITEMS, *images.MISSING)


CUTS = f"""A verdict is chosen by the records beside it, and by these cuts: an exponent is a law's where its interval
over seeds is within {NEAR:g} of it; an error of features, squared and relative, is off above {algorithm1.OFF:g} and
solved below {SOLVED:g}, a relative MSE is small below {SMALL:g}; who is stuck has {algorithm1.STUCK:g} times the error
of who is not; errors are the same within a factor of {SAME:g}, and comparable up to {COMPARABLE:.2f} times, as printed;
losses have a chance below {UNLIKELY:.0%} (Fisher); correlations are local above {LOCAL:g} and far below {FAR:g}, as
printed; labels cost no more than (1 + γ) OPT at γ = {trained.GAMMA:g}; accuracies are the same within {SAME_SHARE:.0%}.
What separates two learners has to separate the worst seed of one from the best of the other, or an interval from 0.
Where a claim is that something may be, or that some N, m or number of steps is enough, runs that do not show it decide
nothing.
"""


def findings(made: Made) -> Iterator[str]:
    """What held, statements in numbers, and the whole source."""
    yield from CUTS.splitlines()
    yield ""
    yield from verdicts(EVERY, made)
    yield from ("", f"## {MOVED}", "")
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
                "The error of S_2 over the gap: layer 2 alone, and passes of refit and distil": figures.gap_figure,
                "The error of S_2 over the layers that are trained, with a gap and without": figures.staircase_figure,
            },
        ),
        "bfc-algorithm1": Section("Algorithm 1 over seeds", algorithm1.text),
        "bfc-freeze": Section("Layers that stay", freeze.text),
        "bfc-hard": Section("The class of Appendix I", hard.text),
        accuracies.SUITE: section.SECTION,
    },
    findings=findings,
)
