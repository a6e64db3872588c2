"""Every algorithm, theorem, lemma and remark of the paper on biased ReLUs: where it stands on its page, and what held.

A verdict is chosen from the records and checks beside it. What has no row is in LEFT_OUT with the reason.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209.
"""

from collections.abc import Callable
from functools import cache
from statistics import median

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
    but_for_signs,
    by_value,
    direction_error,
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
from benchmarks.reproduce.pages import option
from benchmarks.reproduce.source_items import Item, Judged, Made, left_out

SAMPLES = ("relu-samples",)
GROWN = 3  # times the error without a bias


def computed(source: str, says: str, check: Callable[[], Checked]) -> Item:
    """A statement with a number, and the function that computes it: once, and not before it is asked."""
    once = cache(check)
    return Item(source, says, "What held", lambda _: (once().holds, once().said))


COMPUTED = (
    computed("Lemma 3.5, (6), (7), Definitions 1.1, 1.2, Fact 1.3", "T_k in closed form", closed_forms.closed_forms),
    computed("Proposition 3.6", "E(f̃ − f)² = Σ ‖T_k(f̃) − T_k(f)‖² / k!", closed_forms.risk_expansion),
    computed("(8), (9)", "the same without biases", closed_forms.without_biases),
    computed("After (9)", "coefficients of σ, (k−3)!!/√(2π k!)", closed_forms.relu_coefficients),
    computed("Lemma 4.3", "max(|He_k|, |He_(k+1)|) ≥ √(k!/2)", hermite_polynomials.separation),
    computed(
        "§4, before Lemma 4.3", "of odd He_k, He_(k+2) one is large away from 0", hermite_polynomials.odd_separation
    ),
    computed("(10), Turán", "He_(k+1)² − He_k He_(k+2) = k! Σ He_i²/i!", hermite_polynomials.turan),
    computed("Lemma 4.5, (12), (13), Claim 4.6", "z and β from four values", hermite_polynomials.four_values),
    computed("Algorithm 2 for l ≥ 2", "b and a from the loadings of four tensors", hermite_polynomials.printed_scalars),
    computed("Algorithm 3", "signs from T_1 by the sign of z_i", unit_signs.sign_margins),
    computed("Theorem 3.4, first half, l = m ≤ 3", "identified but for signs", error_growth.powers_of_all),
    computed(
        "(5), Theorem 3.4, second half", "signs that satisfy it give the same function", unit_signs.equal_functions
    ),
    computed("Fact 4.7", "krank(U ⊙ V) = min(krank U + krank V − 1, m)", column_powers.kruskal_ranks),
    computed("Claim 4.8", "dependent columns without biases can be turned", unit_signs.dependent_columns),
    computed("Theorem 4.2, second half", "exact regression, whatever the signs", unit_signs.signs_left_open),
    computed("Claim 1.4", "s_k(U ⊙ V) ≥ κ s_k(U)/√(2k)", column_powers.lifted_columns),
    computed("(14), Lemma 5.2", "N ~ D^k/η² samples tell T_k within η", error_growth.moment_noise),
    computed("Theorem 5.1, Lemmas 5.3 to 5.7", "errors of parameters follow those of T_k", error_growth.robustness),
    computed("Lemmas 5.6, 5.7 at z = 0", "|z̃ − ξz| ≤ ε|z|/(B + 1)", error_growth.near_zero),
    computed("Lemma 5.8", "units that are off by η leave a function off by O(η)", large_biases.units_that_are_off),
    computed("Algorithm 5, step 4", "truncation and ball do not bind, descent converges", large_biases.dropped_steps),
    computed("§3, b ≫ √log N", "such a unit is affine on all samples", large_biases.unseen_kinks),
    computed("(39), (41)", "units of large |b| are affine but for O(b² exp(−b²/2))", large_biases.affine_units),
    computed("Lemma 5.9", "units beyond c √log(1/(ε m D B)) are affine but for √c' ε", large_biases.printed_threshold),
    computed("Claim B.5, footnote 4", "|S| + 2 units hold an affine part too", large_biases.two_more_units),
    computed("Claim B.2", "s_2([u v]) ≥ s_2([u^⊗l v^⊗l])/√(2l)", column_powers.two_columns),
    computed("Claim B.3", "near powers have near factors", column_powers.near_powers),
    computed("Claim B.4", "|He_k| exp(−x²/2) ≤ √k!", hermite_polynomials.bounded_polynomials),
    computed("Corollary 3.3, §6: s_m", "s_m(Ŵ^⊙l) ≥ c_l (τ/D)^l/√m", column_powers.smoothed_bound),
)

MISPRINTS = """- *Rank of the second tensor* (Algorithm 1, step 3). T_{2l+2} is to be flattened as D^l ×
  D^{l+2}; l + 1 is printed for both tensors. Algorithm 4 has it right. In the proof of Theorem 4.2 the
  polynomials are He_{2l−1} and He_{2l}.
- *Thresholds* (Algorithm 4). Terms with |α| < η_2 are to be dropped, not those with α < η_2, and the number of
  terms is max{r : s_r > η_1}; η_2 is 4ε_1 in one place and ε_1/2 in another.
- *Constants.* The Gaussian density has (2π)^{−D/2}; |b| < c √log(1/(ε m D B)) supposes ε m D B < 1; in Claim B.5
  βb_0 is β_0 b_0.
- *Symbols.* In Algorithm 2 γ_q is ζ_q; in the proof of Theorem 3.4 U is W and not Wᵀ."""

CHANGES = """- *Thresholds.* η_0 … η_3 of §5.4 are of the size of ε⁴ or below, with constants that are not
  printed. `hermite-jennrich` takes one and a half times half the difference of two halves of the samples, and
  where too few terms are left of a known number asks for as many as it is told.
- *Duplicates.* η_3 is 0.3 on samples and 1e-3 on exact coefficients; of two copies the one that stands out more is
  kept. Algorithm 2 takes as q the order at which ζ stands out more of its noise, and cuts b̃ at ±6.
- *Algorithm 2 for l ≥ 2* runs with the index put right; as printed it fails (above).
- *A check.* Every method keeps a tenth of its samples, and gives up a network that does not explain them. Tables print
  the error of the network all the same.
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

LEFT_OUT = {
    "Tables and figures: none": "the paper prints no measurement",
    "Theorems 1.5, 3.1, 3.2, 5.1, Lemmas 5.3 to 5.5: polynomial degrees and constants of N and of time": (
        "they are not printed, so that only exponents in N, η, τ and D were compared, and no running time was"
    ),
    "With high probability, δ of Lemma 5.8, 1 − m exp(−Ω(δn)) of §6: shares of failures": (
        "three or five seeds a task cannot see them"
    ),
    "Corollary 3.3: samples of perturbed columns": (
        "coefficients were exact; what samples tell of columns that are further apart stands beside Theorem 5.1"
    ),
    "η_0 … η_3 as in §5.4: thresholds": "their constants are not printed; ours stand above",
    "Theorem 3.4: l = m > 3": "tensors to order 2m + 2 are needed, and the method holds l ≤ 3",
    "Claim B.1, Rosenthal's inequality, (11), (24) to (37), (44) to (79): steps of proofs": (
        "triangle inequalities, cited bounds and derivations of what has a row"
    ),
    "Exact statistical queries (Theorem 4.2): other functions": (
        "coefficients are asked exactly, expectations of other functions are samples"
    ),
    "B: bounds that grow with it": (
        "as 0.5 ≤ |a| ≤ 1.5, B is 2, or the largest bias where that is above 2; it was not varied by itself"
    ),
    "Adversaries of §6: every base": (
        "one, which makes all columns equal; columns are scaled to unit length after their perturbation where a "
        "method is run, and b and a drawn for them as they then are"
    ),
    (
        "Baselines that are named: Janzamin, Sedghi & Anandkumar; Ge, Lee & Ma; Bakshi, Jayaram & Woodruff; "
        "Ge, Kuditipudi, Li & Wang; Goel & Klivans; Chen, Klivans & Meka; Diakonikolas & Kane; "
        "Diakonikolas, Kane, Kontonis & Zarifis; gradient descent in the tangent kernel"
    ): "it compares statements, not measurements; alternating least squares and Adam stand for what is in use",
    "Statistical-query lower bounds, and greater depth: remarks": (
        "no algorithm of the paper is about them; depth is its open question"
    ),
    "Gradient descent on Proposition 3.6: an open door": (
        "no algorithm is printed; `hermite-fused` descends on the sum's first orders"
    ),
}


def printed(records: Records) -> Records:
    """The paper's method on those records."""
    return [r for r in records if base(r) == "hermite-jennrich"]


def exactly(lift: int) -> Callable[[Made], Judged]:
    """Whether exact coefficients gave every network, signs left open beyond as many units as inputs."""
    name = "parameter_error" if lift == 1 else "parameter_error_unsigned"
    return lambda made: rounded([r for r in printed(exact(made["relu-samples"])) if order(r) == lift], name)


def at_roots(made: Made) -> Judged:
    """The same of biases at roots of Hermite polynomials."""
    mine = [r for r in printed(exact(made["relu-samples"])) if "biases" in options(r.task)]
    return rounded(mine, "parameter_error_unsigned")


def rounded(records: Records, name: str) -> Judged:
    """Holds where every error is rounding."""
    worst = max(told(r, name) for r in records)
    return worst < ROUNDING, f"{networks(records)} networks, errors up to {worst:.0e}"


def networks(records: Records) -> int:
    """How many there are; several methods may have seen one."""
    return len({(r.task, r.seed) for r in records})


def sampled(lift: int) -> Callable[[Made], Judged]:
    """Whether the paper's method with its own estimator identifies most seeds at the largest N; ours beside it.

    From polynomially many samples, the theorems say: what was not identified leaves them undecided. Signs are part of
    it for l = 1 only.
    """
    chosen, right = (undercomplete, shown) if lift == 1 else (overcomplete, but_for_signs)

    def judge(made: Made) -> Judged:
        mine = printed(chosen(made["relu-samples"]))
        plain = [r for r in mine if options(r.method).get("control", "-1") == "-1"]
        most = max(option(r.task, "N") for r in plain)
        last = [r for r in plain if option(r.task, "N") == most]
        all_of_them, unchanged, at_most = (f"{sum(map(right, rs))} of {len(rs)}" for rs in (mine, plain, last))
        numbers = (
            f"{all_of_them} runs identified{'' if lift == 1 else ' but for signs'}, with the printed moments "
            f"{unchanged}, of these {at_most} at N = {most:.0e}; the N of every task stands under its table"
        )
        return (True if 2 * sum(map(right, last)) > len(last) else None), numbers

    return judge


def against_bias(made: Made) -> Judged:
    """Whether the error at one N grows with one unit's bias, by either estimator."""
    said, grows = [], []
    for (_, method), cells in by_value(printed(of_one_bias(made["relu-samples"])), "biases"):
        errors = [middle_of(mine) for mine in cells.values()]
        said.append(f"`{method}` {errors[0]:.1e} at b = {min(cells):g} and {errors[-1]:.1e} at {max(cells):g}")
        grows.append(errors[-1] > GROWN * errors[0])
    return (all(grows) if grows else None), f"median errors are {'; '.join(said)}" if said else ""


def learnt(made: Made) -> Judged:
    """Whether the function's error falls with N by the printed estimator, in at most m + 2 units; ours beside it.

    More units would refute the theorem, an error that does not fall yet does not: N is some polynomial.
    """
    said, fell, fits, most = [], [], [], large_biases.LARGE.m + 2
    for (_, method), cells in by_value(regressions(made["relu-affine"]), "N"):
        errors = {n: missed for n, each in cells.items() if (missed := function_error(each)) is not None}
        found = law(list(errors), list(errors.values()))
        units = max(r.stats.get("units", 0) for each in cells.values() for r in each)
        fits.append(units <= most)
        if as_printed(method):
            fell.append(found is not None and found.exponent < STEEP)
        ends = f"{list(errors.values())[-1]:.1e} at N = {max(errors):.0e}" if errors else "no function"
        fall = f"falls like N^{found.exponent:.2f}" if found else "does not fall by a law"
        said.append(f"`{method}` {fall}, {ends}, in {units:.0f} units at most where {most} are allowed")
    return (False if not all(fits) else True if fell and all(fell) else None), "; ".join(said)


def as_printed(method: str) -> bool:
    """Whether moments are the printed means."""
    return options(method).get("control") == "-1"


def bent_units(made: Made) -> Judged:
    """Whether the directions of units with small biases fall with N by the printed estimator; ours beside it."""
    said, fell = [], []
    for (_, method), cells in by_value(regressions(made["relu-affine"]), "N"):
        errors = [median(map(direction_error, mine)) for mine in cells.values()]
        found = law(list(cells), errors)
        fall = f"fall like N^{found.exponent:.2f}" if found and found.points > 2 else "do not fall by a law"
        said.append(f"the largest errors of `{method}` {fall}, {errors[-1]:.1e} at N = {max(cells):.0e}")
        if as_printed(method):
            fell.append(found is not None and found.points > 2 and found.exponent < STEEP)
    return (True if fell and all(fell) else None), "; ".join(said)


def regressions(records: Records) -> Records:
    """Algorithm 5 on those records."""
    return [r for r in records if base(r) == "relu-regression"]


def function_error(records: Records) -> float | None:
    """The median root mean square of what functions miss; None where most runs ended without one."""
    known = [r.metrics["output_rmse"] for r in records if r.status.key == "finished" and "output_rmse" in r.metrics]
    return median(known) if 2 * len(known) > len(records) else None


def perturbed(made: Made) -> Judged:
    """Whether perturbed columns are identified from exact coefficients; errors may grow with a power of 1/τ."""
    mine = printed(smoothed(made["relu-samples"]))
    found, worst = sum(map(but_for_signs, mine)), max(told(r, "parameter_error_unsigned") for r in mine)
    return found == len(mine), f"{found} of {len(mine)} networks, errors but for signs up to {worst:.0e}"


ITEMS = (
    Item(
        "Claim 4.4",
        "Jennrich's algorithm decomposes exact tensors",
        "Exact coefficients",
        exactly(1),
        needs=SAMPLES,
    ),
    Item(
        "Theorem 4.1: Algorithms 1 to 3, l = 1", "independent columns", "Exact coefficients", exactly(1), needs=SAMPLES
    ),
    Item(
        "Theorem 4.2: Algorithms 1 and 2 (put right), l = 2",
        "more units than inputs, but for signs",
        "Exact coefficients",
        exactly(2),
        needs=SAMPLES,
    ),
    Item(
        "Theorem 4.2: the same, l = 3",
        "the same by tensors to order eight",
        "Exact coefficients",
        exactly(3),
        needs=SAMPLES,
    ),
    Item("§1, b_i = ±1 and other roots", "no bias is excluded", "Exact coefficients", at_roots, needs=SAMPLES),
    Item(
        "Theorem 3.1: Algorithms 4 and 6",
        "polynomially many samples identify",
        "Errors against the number of samples",
        sampled(1),
        needs=SAMPLES,
    ),
    Item(
        "Theorem 5.1: Algorithm 4, l = 2",
        "the same for more units than inputs",
        "More units than inputs, from samples",
        sampled(2),
        needs=SAMPLES,
    ),
    Item(
        "G and P, (16)",
        "the error at one N grows with the bias of a unit",
        "Errors against the bias of one unit",
        against_bias,
        needs=SAMPLES,
    ),
    Item(
        "Theorem 3.2: Algorithm 5",
        "the function is learnt with m + 2 units",
        "Small and large biases",
        learnt,
        needs=("relu-affine",),
    ),
    Item(
        "Theorems 3.2 and 5.1: Algorithm 4",
        "units of small bias are told beside large ones",
        "Small and large biases",
        bent_units,
        needs=("relu-affine",),
    ),
    Item(
        "Corollary 3.3, §6: the algorithm",
        "perturbed columns are identified from exact coefficients",
        "Perturbed equal columns",
        perturbed,
        needs=SAMPLES,
    ),
    *COMPUTED,
    *left_out(LEFT_OUT),
)
