"""Every algorithm, theorem, lemma and remark of the paper on biased ReLUs: where it stands on its page, and what held.

A verdict is chosen from the records and checks beside it. What has no row is listed in OMITTED with the reason.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209.
"""

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import NamedTuple

from benchmarks.reproduce.biased_relu.checks import (
    closed_forms,
    column_powers,
    error_growth,
    hermite_polynomials,
    large_biases,
    unit_signs,
)
from benchmarks.reproduce.biased_relu.checks.checked import Checked
from benchmarks.reproduce.biased_relu.records import (
    ROUNDING,
    STEEP,
    Records,
    base,
    by_value,
    exact,
    law,
    middle_of,
    of_one_bias,
    options,
    order,
    overcomplete,
    shown,
    smoothed,
    told,
    undercomplete,
)
from benchmarks.reproduce.pages import grid, option

Made = Mapping[str, Records]
OPEN = "not decided: its suite was not run"


class Statement(NamedTuple):
    """A statement with a number, and the function that computes it."""

    source: str
    says: str
    check: Callable[[], Checked]


class Item(NamedTuple):
    """A line of the paper, the heading it stands under, and its verdict."""

    source: str
    where: str
    verdict: Callable[[Made], str]


STATEMENTS = (
    Statement("Lemma 3.5, (6), (7), Definitions 1.1, 1.2, Fact 1.3", "T_k in closed form", closed_forms.closed_forms),
    Statement("Proposition 3.6", "E(f̃ − f)² = Σ ‖T_k(f̃) − T_k(f)‖² / k!", closed_forms.risk_expansion),
    Statement("(8), (9), coefficients of σ", "the same without biases", closed_forms.without_biases),
    Statement("Lemma 4.3", "max(|He_k|, |He_(k+1)|) ≥ √(k!/2)", hermite_polynomials.separation),
    Statement("(10), Turán", "He_(k+1)² − He_k He_(k+2) = k! Σ He_i²/i!", hermite_polynomials.turan),
    Statement("Lemma 4.5, (12), (13), Claim 4.6", "z and β from four values", hermite_polynomials.four_values),
    Statement(
        "Algorithm 2 for l ≥ 2", "b and a from the loadings of four tensors", hermite_polynomials.printed_scalars
    ),
    Statement("Algorithm 3", "signs from T_1 by the sign of z_i", unit_signs.sign_margins),
    Statement("(5), Theorem 3.4, second half", "which networks of other signs are equal", unit_signs.equal_functions),
    Statement("Claim 4.8", "dependent columns without biases can be turned", unit_signs.dependent_columns),
    Statement("Theorem 4.2, second half", "exact regression, whatever the signs", unit_signs.signs_left_open),
    Statement("Claim 1.4", "s_k(U ⊙ V) ≥ κ s_k(U)/√(2k)", column_powers.lifted_columns),
    Statement("(14), Lemma 5.2", "N ~ D^k/η² samples tell T_k within η", error_growth.moment_noise),
    Statement("Theorem 5.1, Lemmas 5.3 to 5.7", "errors of parameters follow those of T_k", error_growth.robustness),
    Statement("Lemmas 5.6, 5.7 at z = 0", "|z̃ − ξz| ≤ ε|z|/(B + 1)", error_growth.near_zero),
    Statement("Lemma 5.8, Algorithm 5, step 4", "truncation, ball and descent", large_biases.dropped_steps),
    Statement("Lemma 5.9", "units of large |b| are affine but for O(b² exp(−b²/2))", large_biases.affine_units),
    Statement("Claim B.5, footnote 4", "|S| + 2 units hold an affine part too", large_biases.two_more_units),
    Statement("Claim B.2", "s_2([u v]) ≥ s_2([u^⊗l v^⊗l])/√(2l)", column_powers.two_columns),
    Statement("Claim B.3", "near powers have near factors", column_powers.near_powers),
    Statement("Claim B.4", "|He_k| exp(−x²/2) ≤ √k!", hermite_polynomials.bounded_polynomials),
    Statement("Corollary 3.3, §6: s_m", "s_m(Ŵ^⊙l) ≥ c_l (τ/D)^l/√m", column_powers.smoothed_bound),
)

MISPRINTS = """- *Rank of the second tensor* (Algorithm 1, step 3). T_{2l+2} is to be flattened as D^l ×
  D^{l+2}; l + 1 is printed for both tensors. Algorithm 4 has it right. In the proof of Theorem 4.2 the
  polynomials are He_{2l−1} and He_{2l}.
- *Thresholds* (Algorithm 4). Terms with |α| < η_2 are to be dropped, not those with α < η_2, and the number of
  terms is max{r : s_r > η_1}; η_2 is 4ε_1 in one place and ε_1/2 in another.
- *Constants.* The Gaussian density has (2π)^{−D/2}; least squares on dependent features needs a pseudo-inverse;
  |b| < c √log(1/(ε m D B)) supposes ε m D B < 1; in Claim B.5 βb_0 is β_0 b_0."""

CHANGES = """- *Thresholds.* η_0 … η_3 of §5.4 are of the size of ε⁴ or below, with constants that are not
  printed. `hermite-jennrich` takes one and a half times half the difference of two halves of the samples, and
  where too few terms are left of a known number asks for as many as it is told.
- *Jennrich's algorithm* is only cited. Ours draws 20 pairs of slices and keeps the one of least residual.
- *Moments.* `control=-1`, the default of `hermite-jennrich`, is the printed mean (14); `control=2` takes the
  regression on polynomials of degree two off the values first, which is ours.
- *Signs.* `signs=midpoint` is ours, and so are signs at l ≥ 2, which the paper leaves open.
- *Algorithm 5.* `relu-regression` drops the truncation at τ, the ball of ‖β‖ and the descent, and solves least
  squares on σ(z̃_j), x and 1, of the same span as the two features a unit that footnote 5 reduces the printed
  eight to. `control=2` is its default. A tenth of the samples is held out for a check: what misses more than
  `within` of the deviation, a tenth unless told, is given up.
- *Everything of `hermite-fused`*: one pencil over three tensors, a fit to coefficients, rounds, a refinement on
  the samples, an affine part where units do not bend.
- *Laws.* The paper has none but x ~ N(0, I): |a| is uniform in [0.5, 1.5] of either sign, |b| ≤ 1.5 unless
  told."""

OMITTED = """- *Tables and figures*: the paper has none, and prints no measurement.
- *Polynomial degrees and constants* of the bounds on N and on time (Theorems 1.5, 3.1, 3.2, 5.1, Lemmas 5.3 to
  5.5): they are not printed, so that only exponents in N, η, τ and D were compared. Running times stand as
  seconds.
- *η_0 … η_3 as in §5.4*: their constants are not printed; ours stand above.
- *Theorem 3.4 for l = m*, and Fact 4.7 behind it: tensors of order 2m + 2 cannot be held; l ≤ 3 was run.
- *Claim B.1 and Rosenthal's inequality* ((67), (68)): a triangle inequality and a cited bound without constants
  of ours.
- *Exact statistical queries* (Theorem 4.2): coefficients are asked exactly, expectations of other functions are
  samples.
- *Large B*: bounds that grow with B were not varied; |b| ≤ 1.5, 3.5 or 7 and |a| ≤ 1.5 throughout.
- *Adversaries of §6*: one, which makes all columns equal; columns are scaled to unit length after their
  perturbation where a method is run, and b and a drawn for them as they then are.
- *Baselines the paper names* (Janzamin, Sedghi & Anandkumar; Ge, Lee & Ma; Bakshi, Jayaram & Woodruff; Goel &
  Klivans; Chen, Klivans & Meka; Diakonikolas & Kane): it compares statements, not measurements. Alternating
  least squares and Adam stand for what is in use.
- *Statistical-query lower bounds* and *greater depth*: no algorithm of the paper is about them; depth is its
  open question.
- *Gradient descent on Proposition 3.6*: named as an open door, no algorithm is printed. `hermite-fused`
  descends on the sum's first orders."""


def verdicts() -> tuple[Item, ...]:
    """All of the paper's lines, in its order."""
    numbers = [Item(s.source, "What held of the statements", lambda _, s=s: held(s.check())) for s in STATEMENTS]
    return (
        Item("Theorem 1.5 (cited), Claim 4.4", "Exact coefficients", lambda m: exactly(m, 1)),
        Item("Theorem 4.1: Algorithms 1 to 3, l = 1", "Exact coefficients", lambda m: exactly(m, 1)),
        Item("Theorem 4.2: Algorithms 1 and 2, l = 2", "Exact coefficients", lambda m: exactly(m, 2)),
        Item("Theorems 3.4 and 4.2, l = 3", "Exact coefficients", lambda m: exactly(m, 3)),
        Item("b_i = ±1 and other roots (§1)", "Exact coefficients", at_roots),
        Item("Theorem 3.1: Algorithms 4 and 6", "Errors against the number of samples", lambda m: sampled(m, 1)),
        Item("Theorem 5.1: Algorithm 4, l = 2", "More units than inputs, from samples", lambda m: sampled(m, 2)),
        Item("G and P, Lemmas 5.3, 5.4", "Errors against the bias of one unit", against_bias),
        Item("Theorem 3.2: Algorithm 5, Lemma 5.8", "Small and large biases", learnt),
        Item("Corollary 3.3, §6: the algorithm", "Perturbed equal columns", perturbed),
        *numbers,
    )


def held(checked: Checked) -> str:
    """A check's verdict."""
    return "holds" if checked.holds else "does not hold as printed"


def printed(records: Records) -> Records:
    """The paper's method on those records."""
    return [r for r in records if base(r) == "hermite-jennrich"]


def exactly(made: Made, lift: int) -> str:
    """Whether exact coefficients gave every network, signs left open beyond as many units as inputs."""
    mine = [r for r in printed(exact(made.get("relu-samples", []))) if order(r) == lift]
    return rounded(mine, "parameter_error" if lift == 1 else "parameter_error_unsigned")


def at_roots(made: Made) -> str:
    """The same of biases at roots of Hermite polynomials."""
    mine = [r for r in printed(exact(made.get("relu-samples", []))) if "biases" in options(r.task)]
    return rounded(mine, "parameter_error_unsigned")


def rounded(records: Records, name: str) -> str:
    """Holds where every error is rounding."""
    if not records:
        return OPEN
    worst = max(told(r, name) for r in records)
    return f"{'holds' if worst < ROUNDING else 'does not hold'}: {len(records)} runs, errors up to {worst:.0e}"


def sampled(made: Made, lift: int) -> str:
    """From which N the paper's method identifies from samples, in its own estimator and with ours."""
    chosen = undercomplete if lift == 1 else overcomplete
    mine = printed(chosen(made.get("relu-samples", [])))
    if not mine:
        return OPEN
    most = max(option(r.task, "N") for r in mine)
    count, last = sum(map(shown, mine)), [r for r in mine if option(r.task, "N") == most]
    found = f"{count} of {len(mine)} runs identified, {sum(map(shown, last))} of {len(last)} at N = {most:.0e}"
    plain = [r for r in mine if options(r.method).get("control", "-1") == "-1"]
    alone = f"with the printed moments {sum(map(shown, plain))} of {len(plain)}"
    return f"{'seen' if count else 'not seen'}: {found}; {alone}; the N of every task stands under the table"


def against_bias(made: Made) -> str:
    """Whether the error grows with one unit's bias."""
    said, grows = [], False
    for (_, method), cells in by_value(printed(of_one_bias(made.get("relu-samples", []))), "biases"):
        errors = [middle_of(mine) for mine in cells.values()]
        said.append(f"`{method}` {errors[0]:.1e} at b = {min(cells):g} and {errors[-1]:.1e} at {max(cells):g}")
        grows |= errors[-1] > 3 * errors[0]
    return f"{'holds' if grows else 'does not hold'}: median errors are {'; '.join(said)}" if said else OPEN


def learnt(made: Made) -> str:
    """Whether the function's error falls with N, in at most m + 2 units, by the printed estimator and by ours."""
    mine = [r for r in made.get("relu-affine", []) if base(r) == "relu-regression"]
    if not mine:
        return OPEN
    said, most = [], large_biases.LARGE.m + 2
    for (_, method), cells in by_value(mine, "N"):
        errors = {n: missed for n, each in cells.items() if (missed := function_error(each)) is not None}
        found = law(list(errors), list(errors.values()))
        units = max(r.stats.get("units", 0) for each in cells.values() for r in each)
        fell = found is not None and found.exponent < STEEP and units <= most
        ends = f"{list(errors.values())[-1]:.1e} at N = {max(errors):.0e}" if errors else "no function"
        fall = f"falls like N^{found.exponent:.2f}" if found else "does not fall by a law"
        said.append(f"{'holds' if fell else 'not seen'} for `{method}`: {fall}, {ends}, {units:.0f} of {most} units")
    return "; ".join(said)


def function_error(records: Records) -> float | None:
    """The median root mean square of what functions miss; None where most runs ended without one."""
    known = [r.metrics["output_rmse"] for r in records if r.status.key == "finished" and "output_rmse" in r.metrics]
    return median(known) if 2 * len(known) > len(records) else None


def perturbed(made: Made) -> str:
    """Whether perturbed columns are identified from exact coefficients, and how errors follow τ."""
    mine = printed(smoothed(made.get("relu-samples", [])))
    return rounded(mine, "parameter_error_unsigned")


def statements() -> Iterator[str]:
    """What every check says."""
    for statement in STATEMENTS:
        checked = statement.check()
        yield f"- **{statement.source}**: {statement.says}. *{held(checked).capitalize()}*: {checked.said}."


def table(made: Made) -> Iterator[str]:
    """Source item, where, verdict."""
    yield from grid(("source item", "where", "verdict"), ((i.source, i.where, i.verdict(made)) for i in verdicts()))


def failures(made: Made) -> Iterator[str]:
    """Which cells ended without an answer, and with what reason, a row for every method and kind of task."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for record in (r for records in made.values() for r in records):
        if record.status.key != "finished":
            parsed = options(record.task)
            size = ",".join(f"{k}={v}" for k, v in parsed.items() if k not in ("N", "tau"))
            rows.setdefault((record.method, size, record.status.key), []).append(record.reason or "")
    body = ((m, t, s, str(len(why)), why[0]) for (m, t, s), why in rows.items())
    yield from grid(("method", "task", "ended", "runs", "the first one's reason"), body)
