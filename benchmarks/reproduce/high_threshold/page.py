"""docs/high-threshold.md: what correlations, slabs and boundaries tell of units with high thresholds.

At most an hour on two cores, if every cell took all its time; about a quarter of one.
"""

from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.reproduce.high_threshold import contraction, structure, verdicts
from benchmarks.reproduce.high_threshold.items import ITEMS
from benchmarks.reproduce.high_threshold.records import SUITE, angle, exponent
from benchmarks.reproduce.pages import (
    ENDED,
    QUERIES,
    SECONDS,
    SEEDS,
    Column,
    Page,
    Records,
    Section,
    by_task,
    grouped,
    middle,
    option,
)
from benchmarks.reproduce.source_items import Made, failures, whole
from benchmarks.reproduce.source_items import verdicts as told_verdicts
from paramid.pictures.lines import chart
from paramid.pictures.sheet import Figure
from paramid.records.record import Record
from paramid.words.naming import Name

MODEL = """f(x) = P(X_1, …, X_m), X_i = u(⟨w_i, x⟩ − t), T_k = E[f He_k], û_k = E[u(z − t) h_k(z)].
"""
DIFFERENCES = """Ours, beside the paper: the second-order whitening of the deterministic quartic, closed-form
coefficients c_i = ‖r_i‖² + 1 / Λ with Λ = λ û_2² / |û_4|, signs from T_1; steps of 1.1 sin(α / d), where the printed
0.1 goes a tenth as far; the rule (1 − 0.01 / d) α; slabs of ε = 2 tan α; samples kept from stage 2, which say whether
it helped; f ≠ f(0) in stage 2, which serves `pairs` as well, where P is not monotone; sgn(û_4) before all terms of
B.4's objective; C_3 as a second difference, ε' = ε / 4 for slabs of section 3; `threshold-boundary`, which asks where
f stops being constant: by queries for any P, from samples by a regression for each unit. `threshold-correlation` and
`threshold-plane` run on training samples with `angles=samples` and `source=samples`, as the paper does, and by
queries, which it does not have, with `angles=queries` and `source=queries`."""


CUTS = f"""A verdict is chosen by the records beside it, and by these rules.

- Units are found from exact moments below an angle of {verdicts.ROUNDING:g}, in section 3 below {verdicts.SMALL:g},
  from samples of stage 1 below {verdicts.ROUGH:g}; every run has to finish. A search by samples of section 3 that
  misses planes decides nothing.
- What products bend falls if its median falls at each step of t, for every polynomial and size; runs that give up
  count against it above the lowest t. Unions and intersections of orthonormal units differ from seed to seed by a
  rotation alone. The order of one by one is decided where the ratio of angles does not rise with t.
- An exponent of N is a mean's within {verdicts.NEAR:g} of {verdicts.ROOT:g}, and that of a power below 0: it holds
  where it lies there and its 95 % interval below 0, does not where all of its interval lies elsewhere, and is not
  decided otherwise; thresholds at which products bend by {verdicts.BENT:g} are not judged.
- Stage 2 sharpens if the median angle falls at every t and none rises; noise is averaged out where the median angle
  is below {verdicts.TWICE:g} times that without; P is right to {verdicts.RIGHT:g}.
- Statements in numbers: Lemmas 1, 2, 5, 10 and 11 hold with constants of 1, and powers of t are up to 4; û_4 is
  Ω(t³ e^(-t²/2)) from an exponent of 2.5 on, Θ(e^-t) where it is a tenth of its limit; Lemma 3 to a fifth; Lemma 7
  where the share is a twentieth; Theorem 5 where c of all d is within 2 times; C_2 and C_3 at units to
  {structure.NEAR:g} of their law, elsewhere like ε up to 0.2 in the exponent and no more than 1.3 times where α is
  halved; ψ is a multiple within 30 %, powers of X_i are taken to 1e-4, outputs at a cut exclude one another where the
  ratio falls with t, to a tenth."""


def measured(records: list[Record]) -> Iterator[str]:
    """Exact moments, samples, queries, planes, and sums of ReLUs by their parameters."""
    sums = [r for r in records if r.task.startswith("biased-relu")]
    records = [r for r in records if r not in sums]
    yield "Angles are the largest over units, of the first and the last claim, π/2 where none was found; medians over"
    yield "seeds, runs that do not finish included."
    yield "`threshold-correlation` is told t, hence its threshold errors of 1e-16. `output` is the largest miss at"
    yield "10 000 inputs: for steps one input between the true plane and the found one makes it 1."
    for head, about, test in TABLES:
        yield from ("", f"### {head}", "", about, "")
        yield from by_task([r for r in records if test(r)], *COLUMNS)
    yield from ("", "### Sums of ReLUs", "", "A threshold for each unit; max_i ‖w − ŵ‖ + |a − â| + |b − b̂|.", "")
    yield from by_task(sums, SEEDS, ("error", middle("parameter_error", ".1e")), *COLUMNS[4:])
    yield ""
    yield "Exponents of N by least squares over all runs that finished, with 95 % intervals:"
    yield ""
    yield from exponents(records)


def base(record: Record) -> str:
    """The method without its options."""
    return Name.parse(record.method).base


def is_plane(r: Record) -> bool:
    """Section 3."""
    return base(r) == "threshold-plane"


def is_other(r: Record) -> bool:
    """Section 4."""
    return base(r) == "threshold-graph" or ("objective=sphere" in r.method and "t=0.0" in r.task)


def is_exact(r: Record) -> bool:
    """On exact moments."""
    return "source=moments" in r.method and not (is_other(r) or is_declined(r))


def is_asked(r: Record) -> bool:
    """By queries."""
    return bool(r.queries) and not is_plane(r)


def is_declined(r: Record) -> bool:
    """Declined."""
    return r.status.key == "declined"


def is_passive(r: Record) -> bool:
    """By samples, and nothing of the above."""
    return not (is_exact(r) or is_asked(r) or is_plane(r) or is_other(r) or is_declined(r))


def exponents(records: list[Record]) -> Iterator[str]:
    """How the angle falls with samples, by method and task without its N, over all runs."""
    groups = grouped([r for r in records if r.samples and not r.queries and r.task.startswith("threshold:")], without_n)
    for (method, task), runs in groups.items():
        if power := exponent(runs):
            yield f"- `{method}` before `{task}`: the angle goes like {power}"


def without_n(record: Record) -> tuple[str, str]:
    """Method and task, less the N of the task and P of unions."""
    return record.method, ",".join(p for p in record.task.split(",") if not p.startswith(("N=", "polynomial=or")))


def curves(records: list[Record]) -> dict[tuple[str, str], list[tuple[float, float, int]]]:
    """N, the median of the last angle and its runs, by method and task without its N, where there are two N or more."""
    groups: dict[tuple[str, str], dict[float, list[float]]] = {}
    for r in records:
        if ",N=" in r.task and r.samples and not r.queries and r.status.key == "finished" and (a := angle(r)):
            groups.setdefault(without_n(r), {}).setdefault(option(r.task, "N"), []).append(a)
    return {k: [(n, median(v[n]), len(v[n])) for n in sorted(v)] for k, v in groups.items() if len(v) > 1}


def over_samples(records: Records) -> Figure:
    """Angles over N, at t = 2.5 and of section 3."""
    shown = {
        f"{method} before {task}": [(n, a) for n, a, _ in curve]
        for (method, task), curve in curves(records).items()
        if task.endswith("t=2.5") or "no-linear" in task
    }
    return chart(shown, title="Angle over samples", across="training samples N", up="largest angle")


def findings(made: Made) -> Iterator[str]:
    """What held, Theorem 5 in numbers, and the whole source."""
    yield from MODEL.splitlines()
    yield ""
    yield from CUTS.splitlines()
    yield ""
    yield "By these:"
    yield ""
    yield from told_verdicts(ITEMS, made)
    yield ""
    yield from DIFFERENCES.splitlines()
    yield from ("", "## Theorem 5 in numbers", "")
    yield from contraction.text()
    yield from whole(ITEMS, made)
    yield from failures(made)


def angles(mine: list[Record]) -> str:
    """From the first to the last claim."""
    told = [[c.metrics["angle_error"] for c in r.claims if "angle_error" in c.metrics] for r in mine]
    known = [t for t in told if t]
    return f"{median(t[0] for t in known):.1e} → {median(t[-1] for t in known):.1e}" if known else "-"


ANGLES: Column = ("angle, first → last claim", angles)
COLUMNS = (
    SEEDS,
    ANGLES,
    ("threshold", middle("threshold_error", ".1e")),
    ("coefficient", middle("coefficient_error", ".1e")),
    ("output", middle("output_error", ".1e")),
    QUERIES,
    SECONDS,
    ENDED,
)
TABLES: tuple[tuple[str, str, Callable[[Record], bool]], ...] = (
    ("Exact moments", "What products bend, and sums of units, which bend nothing.", is_exact),
    ("Samples", "Training samples alone: what their noise bends, and what slabs of them mend.", is_passive),
    (
        "Queries",
        "Stage 1 from 100 000 samples and stage 2 by millions of queries, which the paper does not ask; boundaries by"
        " queries alone.",
        is_asked,
    ),
    ("Planes", "Section 3: low thresholds, by queries on planes and by slabs of training samples.", is_plane),
    ("Binary and even units", "Section 4.", is_other),
    ("Declined", "Zeros of û_4, units that are not silent below their threshold, noise.", is_declined),
)
PAGE = Page(
    name="high-threshold",
    title="Units with high thresholds, beside the paper",
    sources="""Reference: Goel & Panigrahy, *Recovering the lowest layer of deep networks with high threshold
activations*, arXiv:1903.09231. It proves polynomial bounds and prints no numbers.""",
    sections={SUITE: Section("Measured", measured, {"Angle over training samples, medians over seeds": over_samples})},
    findings=findings,
)
