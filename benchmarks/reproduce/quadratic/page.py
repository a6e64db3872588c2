"""docs/quadratic.md: over-parameterised nets beside Soltanolkotabi, Javanmard & Lee (an hour on two cores at most)."""

from collections.abc import Iterator

from benchmarks.reproduce.pages import Page, Records, Section
from benchmarks.reproduce.quadratic import (
    jacobian_spectra,
    landscapes,
    lemmas,
    local_convergence,
    random_labels,
    shares,
    squares,
)
from benchmarks.reproduce.quadratic.items import ITEMS
from benchmarks.reproduce.quadratic.printed import EXPERIMENTS
from benchmarks.reproduce.source_items import Made, failures, verdicts, whole

CUTS = f"""A verdict is chosen by the records beside it, and by these cuts. L is zero below {squares.ROUNDING:g}, an
optimum's within {squares.REACHED:g}, and a slope below {landscapes.REST:g}; in Figure 4 zero is an RMSE below
{random_labels.ZERO:.0e}. A printed crossing agrees within the 95 % interval of ours, does not outside that of their
difference, as {EXPERIMENTS} teachers would have it, and is not decided where both levels of L do not say the same;
trapped starts contradict {EXPERIMENTS} teachers without one where those have a chance below {shares.UNLIKELY:.0%}.
Descents that are above a small L and still fall are not decided. Of a bound with a constant that has no value it is
asked that what it bounds does not grow past it with d, by d^{local_convergence.GROWTH:g} or more; exponents agree with
a law within {local_convergence.LAW:g}; (7.7) is judged at n ≤ d²/20 and not decided where it fails at small d alone; a
distance is covered where less than {local_convergence.LEFT:.0%} of it is left. A theorem that holds here is not
contradicted by what was drawn; curvatures are as predicted to {landscapes.SAME:g}, averages are zero below 1e-12 and
not above 1e-6, and M is told where it is off by less than 1e-6."""


def figures(records: Records) -> Iterator[str]:
    """Figures 2 to 4."""
    yield from shares.text(records)
    yield ""
    yield from random_labels.text(records)


def findings(made: Made) -> Iterator[str]:
    """What held, theorems in numbers, and the whole source."""
    yield from CUTS.splitlines()
    yield ""
    yield from verdicts(ITEMS, made)
    parts = {
        "Theorem 2.5 in numbers": local_convergence.text,
        "Jacobians in numbers": jacobian_spectra.text,
        "Lemma 5.7 in numbers": lemmas.text,
    }
    for title, text in parts.items():
        yield from ("", f"## {title}", "")
        yield from text()
    yield from whole(ITEMS, made)
    yield from failures(made)


PAGE = Page(
    name="quadratic",
    title="Over-parameterised nets, beside the paper",
    sources="""\
Reference: Soltanolkotabi, Javanmard & Lee, *Theoretical insights into the optimization landscape of over-parameterized
shallow neural networks*, arXiv:1707.04926 (2017, revised 2022). Its identities and
lemmas are tests too: `tests/test_landscape.py`, `tests/test_quadratic_theorems.py`. Its n is our N, its d our D.""",
    sections={
        "landscape-3": Section(
            "Figures 2 to 4: who is trapped",
            figures,
            {
                "The share of teachers that every start fits, with logistic fits": shares.transitions,
                "Random labels: the root of the loss over steps, v = ±1 frozen": random_labels.trajectories,
            },
        ),
        "gram": Section("Squares: fitted, and identified", squares.matrices),
        "landscape-descents": Section("The descents that the paper names", squares.descents),
    },
    findings=findings,
)
