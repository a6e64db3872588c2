"""docs/biased-relu.md: what Hermite coefficients tell of sums of biased ReLUs, beside what is proved of them.

The suites' tables are here and in the sections, verdicts in items and judges, their numbers in checks.
"""

from collections.abc import Iterator
from statistics import median

from benchmarks.reproduce.biased_relu.affine_section import affine
from benchmarks.reproduce.biased_relu.checks import column_powers, hermite_polynomials, large_biases, unit_signs
from benchmarks.reproduce.biased_relu.items import ITEMS
from benchmarks.reproduce.biased_relu.judges import GROWN
from benchmarks.reproduce.biased_relu.notes import CHANGES, MISPRINTS
from benchmarks.reproduce.biased_relu.records import LEARNT, ROUNDING, STEEP, Records, error, middle_of, right, wrong
from benchmarks.reproduce.biased_relu.samples_section import measured
from benchmarks.reproduce.pages import SECONDS, Page, Section, by_task, share
from benchmarks.reproduce.source_items import Made, failures, verdicts, whole


def side_by_side(records: Records) -> Iterator[str]:
    """The same samples before every learner, and who is ahead where."""
    yield "None of the three is the paper's method, which stands above at fewer and at more samples. `N` of `sgd` is"
    yield "cut to what the task grants."
    yield ""
    columns = (("error", error()), ("identified", share(right)), ("wrong", share(wrong)), SECONDS)
    yield from by_task(records, *columns)
    for about, best in (("Most exact", middle_of), ("Quickest of those right most often", quickness)):
        ahead: dict[str, list[str]] = {}
        for task in dict.fromkeys(r.task for r in records):
            mine = [r for r in records if r.task == task]
            methods = dict.fromkeys(r.method for r in mine)
            winner = min(methods, key=lambda name: best([r for r in mine if r.method == name]))
            ahead.setdefault(winner.partition(":")[0], []).append(task.partition(":")[2].partition(",s_min")[0])
        yield ""
        told = (f"`{name}` at {', '.join(sizes)}" for name, sizes in ahead.items())
        yield f"{about}: {'; '.join(told)}."


def quickness(records: Records) -> tuple[int, float]:
    """Fewest misses first, then seconds."""
    return sum(not right(r) for r in records), median(r.seconds for r in records)


def findings(made: Made) -> Iterator[str]:
    """What every statement came to, what is ours, what failed, and where each line of the paper stands."""
    yield "f(x) = Σ a_i σ(⟨w_i, x⟩ + b_i), ‖w_i‖ = 1, T_k = E[f He_k]. What has no suite is a computation with a fixed"
    yield "seed (`benchmarks/reproduce/biased_relu/checks/`)."
    yield ""
    yield "A theorem on polynomially many samples is refuted by no N: it holds here where the printed estimator does"
    yield "what it says for most seeds at the largest N, or its errors fall by a law, and is not decided otherwise."
    yield "Theorems about small biases, |b| < c √log(1/(ε m D B)), say nothing where ε is 1/(m D B) or more, whatever"
    yield "c is: rows say how many errors are below."
    yield ""
    yield from cuts()
    yield ""
    yield from verdicts(ITEMS, made)
    for title, text in (("Misprints without a number", MISPRINTS), ("Changes of ours", CHANGES)):
        yield from ("", f"## {title}", "", *text.splitlines())
    yield from whole(ITEMS, made)
    yield from failures(made)


def cuts() -> Iterator[str]:
    """What decides a verdict and is not the paper's."""
    away, large, steeper = hermite_polynomials.AWAY, hermite_polynomials.LARGE, column_powers.STEEPER
    yield f"Cuts of ours: from exact coefficients an error below {ROUNDING:g} is none; an error falls by a law where"
    yield f"three medians below {LEARNT:g} do, with an exponent below {STEEP:g}; it grows with a bias where it is"
    yield f"{GROWN} times that at 0, by both estimators; an exponent −½ of N may be off by 0.1, one of η by 0.2 (of"
    yield f"Lemma 5.8 downwards alone), one of τ upwards by {steeper:g}; |x| ≥ {away:g} is away from 0, and a"
    yield f"polynomial above {large:g} is large; ≫ is 2 times, and no sample at most {large_biases.SELDOM:g} of one;"
    yield f"O(·) holds where a constant below 1 does, Ω(·) where one above {unit_signs.AT_LEAST:g} does."


PAGE = Page(
    name="biased-relu",
    title="Sums of biased ReLUs, beside the paper",
    sources="""Reference: Awasthi, Tang & Vijayaraghavan, *Efficient algorithms for learning depth-2 neural networks
with general ReLU activations*, arXiv:2107.10209. It proves polynomial bounds and prints no measurement.""",
    sections={
        "relu-samples": Section("Measured", measured),
        "relu-affine": Section("Small and large biases", affine),
        "relu-sizes": Section("Three learners at equal samples", side_by_side),
    },
    findings=findings,
)
