"""Every algorithm, theorem, lemma and remark of the paper on biased ReLUs: where it stands on its page, and what held.

A verdict is chosen from the records and checks beside it. What has no row is in LEFT_OUT with the reason.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209.
"""

from collections.abc import Callable
from functools import cache

from benchmarks.reproduce.biased_relu import judges
from benchmarks.reproduce.biased_relu.checks import (
    algorithm5,
    closed_forms,
    column_powers,
    error_growth,
    exact_coefficients,
    hermite_polynomials,
    large_biases,
    noisy_scalars,
    regression_as_printed,
    two_more_units,
    unit_signs,
)
from benchmarks.reproduce.biased_relu.checks.checked import Checked
from benchmarks.reproduce.biased_relu.notes import LEFT_OUT
from benchmarks.reproduce.source_items import Item, Judged, Made, left_out


def computed(source: str, says: str, check: Callable[[], Checked]) -> Item:
    """A statement with a number, and the function that computes it: once, and not before it is asked."""
    once = cache(check)
    return Item(source, says, "What held", lambda _: (once().holds, once().said))


def sampled(source: str, says: str, where: str, judge: Callable[[Made], Judged]) -> Item:
    """A statement judged by records of `relu-samples`."""
    return Item(source, says, where, judge, needs=("relu-samples",))


def beside_large(source: str, says: str, judge: Callable[[Made], Judged]) -> Item:
    """A statement judged by records of `relu-affine`."""
    return Item(source, says, "Small and large biases", judge, needs=("relu-affine",))


MEASURED = (
    sampled("Theorem 4.1: Algorithms 1 to 3, l = 1", "independent columns", "Exact coefficients", judges.exactly(1)),
    sampled(
        "Theorem 4.2: Algorithms 1 and 2 (put right), l = 2",
        "more units than inputs, but for signs",
        "Exact coefficients",
        judges.exactly(2),
    ),
    sampled(
        "Theorem 4.2: the same, l = 3", "the same by tensors to order eight", "Exact coefficients", judges.exactly(3)
    ),
    sampled(
        "§1; §5, overview (ii): l = 1, 2",
        "units that T_3, T_4 or T_5 loses are found in the other tensor",
        "Exact coefficients",
        judges.at_roots,
    ),
    sampled(
        "Theorem 3.1: Algorithms 4 and 6",
        "polynomially many samples identify",
        "Errors against the number of samples",
        judges.sampled(1),
    ),
    sampled(
        "Theorem 5.1: Algorithm 4, l = 2",
        "the same for more units than inputs, but for signs",
        "More units than inputs, from samples",
        judges.sampled(2),
    ),
    sampled(
        "§1; §5, overview (i)",
        "the error at one N grows with the bias of a unit",
        "Errors against the bias of one unit",
        judges.against_bias,
    ),
    beside_large("Theorem 3.2: Algorithm 5, l = 1", "the function is learnt with m + 2 units", judges.learnt),
    beside_large(
        "Theorems 3.2 and 5.1: Algorithm 4, l = 1",
        "directions of units of small bias are told beside large ones",
        judges.bent_units,
    ),
    computed(
        "Theorems 3.2 and 5.1: Algorithm 4, l = 1, beside large biases",
        "w, a and b of units of small bias are told but for signs",
        algorithm5.all_parameters,
    ),
    computed(
        "Theorem 3.2, Corollary 3.3: Algorithm 5, l = 2",
        "the function is learnt with m + 2 units, of perturbed columns too",
        algorithm5.functions_of_order_two,
    ),
    sampled(
        "Theorem 4.2: l = 2, columns of §6",
        "perturbed columns are identified but for signs from exact coefficients",
        "Perturbed equal columns",
        judges.perturbed,
    ),
)

EXACT = (
    computed("Lemma 3.5, (6), (7)", "T_k in closed form", closed_forms.closed_forms),
    computed("Proposition 3.6", "E(f̃ − f)² = Σ ‖T_k(f̃) − T_k(f)‖² / k!", closed_forms.risk_expansion),
    computed("(8), (9)", "the same without biases", closed_forms.without_biases),
    computed("After (9)", "coefficients of σ, (k−3)!!/√(2π k!)", closed_forms.relu_coefficients),
    computed("Lemma 4.3, (11)", "max(|He_k|, |He_(k+1)|) ≥ √(k!/2)", hermite_polynomials.separation),
    computed(
        "§4, before Lemma 4.3", "of odd He_k, He_(k+2) one is large away from 0", hermite_polynomials.odd_separation
    ),
    computed("(10), Turán", "He_(k+1)² − He_k He_(k+2) = k! Σ He_i²/i!", hermite_polynomials.turan),
    computed(
        "Claim 4.4; §1, b = ±1",
        "T_4 alone loses such units, Jennrich's algorithm finds the others",
        exact_coefficients.fourth_tensor_alone,
    ),
    computed(
        "Theorem 4.2: roots, l = 2, 3",
        "units that T_(2l+1) or T_(2l+2) loses are found in the other",
        exact_coefficients.higher_roots,
    ),
    computed("Lemma 4.5, (12), (13), Claim 4.6", "z and β from four values", hermite_polynomials.four_values),
    computed("Algorithm 2 for l ≥ 2", "b and a from the loadings of four tensors", hermite_polynomials.printed_scalars),
    computed("Algorithm 3", "signs from T_1 by the sign of z_i", unit_signs.sign_margins),
    computed("Theorem 3.4, first half, l = m ≤ 3", "identified but for signs", exact_coefficients.powers_of_all),
    computed(
        "(5), Theorem 3.4, second half", "signs that satisfy it give the same function", unit_signs.equal_functions
    ),
    computed("Fact 4.7", "krank(U ⊙ V) = min(krank U + krank V − 1, m)", column_powers.kruskal_ranks),
    computed("Claim 4.8", "dependent columns without biases can be turned", unit_signs.dependent_columns),
    computed(
        "Theorem 4.2, second half",
        "regression on 2m features, whatever the signs, is exact",
        unit_signs.signs_left_open,
    ),
    computed("Claim 1.4", "s_k(U ⊙ V) ≥ κ s_k(U)/√(2k)", column_powers.lifted_columns),
)

ROBUST = (
    computed("(14), (15), Lemma 5.2", "T_k is off by N^−½ D^(k/2) at most", error_growth.moment_noise),
    computed(
        "Theorem 3.1, Lemmas 5.3 to 5.5 and 5.7: l = 1",
        "errors of parameters follow random errors of T_k that thresholds are told",
        error_growth.full_rank,
    ),
    computed("Theorem 5.1: l = 2 (Lemma 5.6 at k = 0)", "the same but for signs", error_growth.overcomplete),
    computed(
        "§5, overview (ii), (iii), Lemma 5.4",
        "the same of units swamped in one tensor, b a root",
        error_growth.swamped_terms,
    ),
    computed("(73), (74)", "singular values above η_1 tell of large terms", error_growth.large_terms),
    computed("Lemmas 5.6, 5.7, (22), (23)", "|z̃ − ξz| ≤ ε|z|/(B + 1)", noisy_scalars.relative_bound),
    computed("(22), (23), c_k = 16 (k+3)!, c = 16", "|z̃ − ξz| ≤ ε and |α̃ − α| ≤ ε", noisy_scalars.meant_bounds),
    computed(
        "Lemmas 5.6, 5.7, (ii)",
        "|z| < 2 √log(c_k/(ε^¼ (1 + B)³)) gives |β| > c_k ε'^¼ (1 + B)²",
        noisy_scalars.condition,
    ),
    computed("Proof of Theorem 3.1", "ε_0 keeps 4 ε_0 B² m/s_m ≤ Φ(−c √…) ≤ ½ min|z*|", unit_signs.printed_margin),
    computed("Before (43)", "Φ(−c √log(1/u)) ≥ Ω(u^(c²/2) min{1, u}), u = ε m D B", unit_signs.tail_bound),
    computed(
        "Lemma 5.8 and furthermore",
        "units that are off by η leave O(η m D B)",
        regression_as_printed.units_that_are_off,
    ),
    computed(
        "Algorithm 5, step 4", "truncation and ball do not bind, descent converges", regression_as_printed.dropped_steps
    ),
    computed("§3, b ≫ √log N", "such a unit is affine on all samples", large_biases.unseen_kinks),
    computed("(38) to (41)", "units of large |b| are affine but for O(b² exp(−b²/2))", large_biases.affine_units),
    computed(
        "Lemma 5.9, (42)", "units beyond c √log(1/(ε m D B)) are affine but for √c' ε", large_biases.printed_threshold
    ),
    computed(
        "Claim B.5, (84), (85)",
        "the pair ±β_0 σ(±z) holds what the affine part leaves",
        two_more_units.printed_pair,
    ),
    computed("Footnotes 4 and 5", "|S| + 2 units are enough", two_more_units.number_of_units),
    computed("Claim B.2", "s_2([u v]) ≥ s_2([u^⊗l v^⊗l])/√(2l)", column_powers.two_columns),
    computed("Claim B.3", "near powers have near factors", column_powers.near_powers),
    computed("Claim B.4", "|He_k| exp(−x²/2) ≤ √k!", hermite_polynomials.bounded_polynomials),
    computed("§6: s_m(Ŵ^⊙l) ≥ c_l (τ/D)^l/√m", "it falls no faster than τ^l", column_powers.smoothed_bound),
)

ITEMS = (*MEASURED, *EXACT, *ROBUST, *left_out(LEFT_OUT))
