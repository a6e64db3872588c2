"""docs/high-threshold.md: what correlations and boundaries tell of units with high thresholds.

About a quarter of an hour on two cores.
"""

from collections.abc import Iterator
from statistics import median

from benchmarks.reproduce.pages import ENDED, QUERIES, SECONDS, Column, Page, Section, by_task, middle, option, slope
from paramid.records.record import Record

STATEMENTS = """f(x) = P(X_1, …, X_m), X_i = u(⟨w_i, x⟩ − t), T_k = E[f He_k], u_k = E[u(z − t) He_k(z)].

Holds, as the tables show and tests check:

- **High thresholds make every P linear**: what products bend falls with t (first table), and below t ≈ 1.5 too few
  directions are left, which is given up.
- **One by one and all at once** find every unit from exact moments, for step, ReLU and sigmoid, orthonormal or not.
- **Pair correlations** tell binary weights (Theorems 8 and 9), and **even units** are maxima on the sphere
  (Theorem 10), of every start.
- **Jumps across planes** tell units without linear terms, in few dimensions (section 3): about two of three starts end
  at one, so that a start for each unit misses some, and four find all.

Does not hold as printed:

- *ψ of the simultaneous objective.* E[f ψ(v, w)] is a multiple of ⟨v, w_1⟩² ⟨w, w_1⟩² for ψ = 2 H_2 H_2 + 2 ⟨v, w⟩² −
  4 ⟨v, w⟩ ⟨v, x⟩ ⟨w, x⟩; printed is + 4 and no factor 2, and the sign of û_4 is missing.
- *λ = Θ(·).* G has no minimum unless λ > |û_4| / (c_min û_2²). With Λ = λ û_2² / |û_4|, c_i = ‖r_i‖² + 1 / Λ for the
  rows r_i of the inverse: the coefficients cost nothing more.
- *RefineEstimate.* α′ ≤ 0.01 α / d never accepts (`acceptance=printed`, tested); (1 − 0.01 / d) α does. Steps of
  1.1 sin(α / d) go ten times as far as the printed 0.1. Crossings lie beyond t / cos α: the search must reach farther.
- *Theorem 10.* The constant is √6, not 6. *Theorem 8.* μ = e^{−ρ(t − ρd/2)}. *Theorem 9.* Its maximum does not exist.
- *Lemmas 10 and 12.* û_4 of a ReLU is Θ(t² e^{−t²/2}); that of a sigmoid is negative below t ≈ 3.03.

Ours, beside the paper: the second-order whitening of the deterministic quartic, closed-form coefficients, signs from
T_1; `threshold-boundary`, which asks where f stops being constant: exact, for any P, in some thousand queries; from
samples, steps at the rate D / (N φ(t)) and ReLUs exactly. Sums of ReLUs whose thresholds are neither known nor equal
(`biased-relu:biases=negative`) it tells as well, also more of them than inputs; a unit that the planes of others hide
is missed, which is noticed and given up."""


def findings(_: object) -> Iterator[str]:
    """What holds and what does not."""
    yield from STATEMENTS.splitlines()


def measured(records: list[Record]) -> Iterator[str]:
    """Exact moments, samples, queries, and sums of ReLUs by their parameters."""
    sums = [r for r in records if r.task.startswith("biased-relu")]
    records = [r for r in records if r not in sums]
    yield "Angles are the largest over units, of the last claim; medians over seeds. `threshold-correlation` is told t,"
    yield "hence its threshold errors of 1e-16. `output` is the largest miss at 10 000 inputs: for steps one input"
    yield "between the true plane and the found one makes it 1; 0.5 is the middle of a seed with such an input and one"
    yield "without."
    for head, about, mine in (
        ("Exact moments", "what products bend, and sums of units, which bend nothing.", exact(records)),
        ("Samples", "what noise bends.", [r for r in records if r.samples and not r.queries]),
        ("Queries", "the paper's search from 100 000 samples, boundaries from nothing.", asked(records)),
        ("Declined", "zeros of û_4, and units that are not silent below their threshold.", refused(records)),
    ):
        yield ""
        yield f"### {head}"
        yield ""
        yield f"{about[0].upper()}{about[1:]}"
        yield ""
        yield from by_task(mine, *COLUMNS)
    yield ""
    yield from ("### Sums of ReLUs", "", "A threshold for each unit; max_i ‖w − ŵ‖ + |a − â| + |b − b̂|.", "")
    yield from by_task(sums, ("error", middle("parameter_error", ".1e")), *COLUMNS[3:])
    yield ""
    yield from exponents([r for r in records if r.method == "threshold-correlation"])


def exact(records: list[Record]) -> list[Record]:
    """The cells on exact moments."""
    return [r for r in records if "source=moments" in r.method]


def asked(records: list[Record]) -> list[Record]:
    """The cells that asked queries."""
    return [r for r in records if r.queries]


def refused(records: list[Record]) -> list[Record]:
    """The cells that were declined."""
    return [r for r in records if r.status.key == "declined"]


def exponents(records: list[Record]) -> Iterator[str]:
    """How the angle falls with samples."""
    for t in (2, 2.5, 3):
        here = [r for r in records if r.task.startswith(f"threshold:D=5,m=5,t={float(t)},N=")]
        mine = [r for r in here if "angle_error" in r.metrics]
        sizes = sorted({option(r.task, "N") for r in mine})
        angles = [median(r.metrics["angle_error"] for r in mine if option(r.task, "N") == n) for n in sizes]
        yield f"- t = {t:g}: the angle of stage 1 falls like N^{slope(sizes, angles):.2f}"


def angles(mine: list[Record]) -> str:
    """From the first to the last claim."""
    told = [[c.metrics["angle_error"] for c in r.claims if "angle_error" in c.metrics] for r in mine]
    known = [t for t in told if t]
    return f"{median(t[0] for t in known):.1e} → {median(t[-1] for t in known):.1e}" if known else "-"


ANGLES: Column = ("angle, first → last claim", angles)
COLUMNS = (
    ANGLES,
    ("threshold", middle("threshold_error", ".1e")),
    ("coefficient", middle("coefficient_error", ".1e")),
    ("output", middle("output_error", ".1e")),
    QUERIES,
    SECONDS,
    ENDED,
)
PAGE = Page(
    name="high-threshold",
    title="Units with high thresholds, beside the paper",
    sources="""Reference: Goel & Panigrahy, *Recovering the lowest layer of deep networks with high threshold
activations*, arXiv:1903.09231. It proves polynomial bounds and prints no numbers.""",
    sections={"high-threshold": Section("Measured", measured)},
    findings=findings,
)
