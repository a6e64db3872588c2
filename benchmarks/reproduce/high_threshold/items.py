"""Goel & Panigrahy, item by item: where docs/high-threshold.md answers each, and by which verdict."""

from benchmarks.reproduce.high_threshold import contraction, structure, theorems, verdicts
from benchmarks.reproduce.high_threshold.records import PLANE, SLABS, SUITE
from benchmarks.reproduce.source_items import Item, left_out

RUNS = (SUITE,)
MOMENTS, SAMPLES, PLANES, OTHERS, HERE = "Exact moments", "Samples", "Planes", "Binary and even units", "the statements"
LEFT_OUT = {
    "Footnotes 1 to 4 and 7: notation, other c_i, sigmoids and steps, û_2 in G, bounded u": "c_i from d^-C to d^C need"
    " another t, the task's are of one order; G has û_2, without which its minima are elsewhere",
    "§2.1, PCA by E[f ⟨z, x⟩²]: principal directions": "the idea behind H_4; the second correlations whiten here",
    "Claim 2, note below Lemma 3, Theorems 3 and 7: poly(d) and poly(1/ε_3) samples": "exponents are those of N at one"
    " d; several d with enough N each are beyond an hour",
    "Claim 1, Lemma 13, Theorems 11 and 12: rates in ε and τ, D_ii": "minima are found to rounding, so that ε and τ are"
    " zero; D only scales rows, which are made unit vectors",
    "Claim 2, Theorem 12: products above other than orthonormal weights, exact moments": "they have no closed form"
    " here; samples see such products (mild, random)",
    "Note below Lemma 2: they are not close pointwise": "evident: f is 1 where f_lin is 2",
    "B.1: the same with even l > 4": "l = 4 alone is built; a sixth moment costs d² more of memory and noise",
    "Definition 1, Theorem 4: minima transfer between close functions": "elementary; used in Claim 2, judged there",
    "Lemmas 13 to 15: steps of Claim 2's proof": "judged by what Claim 2 says in numbers",
    "Lemma 4: the chance to fire in a slab": "the mean value theorem; lines of queries are its ε = 0",
    "Theorems 11 and 12: saddles have negative curvature": "not counted; before a linear P the one start of every"
    " run ends at a minimum, see Theorem 11",
    "§2.3, noise in other methods: units by lines, planes to rounding, ReLUs by linear equations": "a changed value is"
    " a unit that fires to `threshold-boundary` and to stage 2 by queries, which decline noise",
    "C.1, last sentence: any activation with a derivative at 0": "steps and ReLUs are built; others have no jump or"
    " bend",
    "Appendices A.1 and A.2, Facts 0 to 7, Lemma 9, Corollary 2: Hermite polynomials and matrices": "textbook; tests"
    " check coefficients by quadrature",
    "B.6: an oracle that keeps x with a chance like f(x)": "not needed: plain samples tell sigmoids at t = 5, see"
    " Theorem 13",
    "B.7, Lemmas 17 and 18: E|f - f_uni| is small": "as Lemmas 1 and 2: X_i^r fires where X_i does",
    "§1.1, deep networks above: P a sigmoid of the units, or a tower of them": "every function of steps is a"
    " polynomial of theirs; the task has some of these, and no tower",
    "Appendix E: learning below a cut at any depth": "no algorithm is given for what lies below a cut that is not the"
    " first",
    "§5: all layers recursively, thresholds higher up only": "named as open",
}
ITEMS = (
    Item(
        "Theorem 1, steps",
        "what products bend falls with t",
        MOMENTS,
        verdicts.fades("one", "step"),
        needs=RUNS,
    ),
    Item("Theorem 1, ReLUs", "the same", MOMENTS, verdicts.fades("one", "relu"), needs=RUNS),
    Item(
        "Theorem 1, Claim 2",
        "at t = c √log d, η = c²/2, max ⟨z_i, w_j⟩ is O(d^(-pη/3 + 3/2))",
        HERE,
        theorems.errors_fall_in_d,
    ),
    Item("Theorem 1, ours", "at t of 1 and 1.5 nothing is claimed", MOMENTS, verdicts.low_thresholds, needs=RUNS),
    Item("Assumption 1", "c_i = Θ(1), |c_S| = O(1), κ = O(1)", "task `threshold`", word="the task's definition"),
    Item(
        "Assumptions 2 and 3",
        "E u ≤ ρ(t, σ), û_2, û_4 = t^Θ(1) ρ, ρ = d^-η",
        HERE,
        word="assumed; Lemmas 10 to 12 say which units have it",
    ),
    Item("Lemma 1", "products of units are as rare as bounded, |S| = 2 and 3", HERE, theorems.lemma_of_products),
    Item("Lemma 2", "f and f_lin are close in the mean, unions", HERE, theorems.lemma_of_closeness),
    Item(
        "§2.1, B.1",
        "orthonormal units are maxima of E[f H_4] on the sphere, linear P",
        MOMENTS,
        verdicts.linear_is_exact("sphere"),
        needs=RUNS,
    ),
    Item(
        "§2.1, ours: G beside the sphere",
        "products bend the search on the sphere to the order of G",
        MOMENTS,
        verdicts.bends("sphere"),
        needs=RUNS,
    ),
    Item(
        "Claims 1 and 2", "λ a large enough multiple of |û_4| / û_2² has all minima", HERE, theorems.lambda_is_bounded
    ),
    Item("Claim 1", "minima of G tell every unit of a linear P", MOMENTS, verdicts.linear_is_exact("one"), needs=RUNS),
    Item(
        "Claim 2, samples",
        "the angle falls with N like a mean, d = 5",
        SAMPLES,
        verdicts.stage_1_rate,
        needs=RUNS,
    ),
    Item("Claim 2", "SGD on samples of G", SAMPLES, word="moments once, then G exactly by BFGS: the same objective"),
    Item("B.4", "E[f ψ(v, w)] is a multiple of ⟨v, w_1⟩² ⟨w, w_1⟩²", HERE, theorems.psi_is_a_product),
    Item(
        "Theorem 11",
        "a minimum of the simultaneous objective tells every unit of a linear P",
        MOMENTS,
        verdicts.linear_is_exact("all"),
        needs=RUNS,
    ),
    Item(
        "Theorem 12",
        "and of other P up to an error that falls with t",
        MOMENTS,
        verdicts.fades("all", "step"),
        needs=RUNS,
    ),
    Item("B.4", "the same closeness as in the one-by-one case", MOMENTS, verdicts.bends("all"), needs=RUNS),
    Item("Theorem 12, samples", "and from samples", SAMPLES, verdicts.samples_tell("all"), needs=RUNS),
    Item(
        "B.4, G",
        "Σ ψ(w_j, w_d), no sign of û_4",
        HERE,
        word="ψ(w_j, w_k) and sgn(û_4), as §2.1's G has it, stand for it",
    ),
    Item("Lemma 16, Claim 4", "E[u δ'] = c |cot α|", HERE, theorems.cotangent),
    Item("§2.2, footnote 5", "c_0 is the median of f", SAMPLES, word="so the methods take it off"),
    Item("Algorithm 1, acceptance", "α' ≤ 0.01 α/d", HERE, contraction.printed_rule),
    Item(
        "Algorithms 1 and 2",
        "training samples bring the angle of stage 1 down",
        SAMPLES,
        verdicts.slabs_sharpen,
        needs=RUNS,
    ),
    Item(
        "Algorithm 2 (EstimateTanAlpha)",
        "its body",
        SAMPLES,
        word="not in the text at hand: the share of f ≠ 0 in slabs bisected for .4 and .6, as Lemma 3's proof has it",
    ),
    Item(
        "§2.2, note below Lemma 3",
        "ε falls like a power of N, d = 5",
        SAMPLES,
        verdicts.passive_rate,
        needs=RUNS,
    ),
    Item(
        "Algorithm 1 by queries, ours",
        "values at chosen points bring it down farther",
        "Queries",
        verdicts.lines_sharpen,
        needs=RUNS,
    ),
    Item(
        "Theorems 2 and 5",
        "the angle falls like (1 - c/d)^T, c constant",
        "Theorem 5 in numbers",
        contraction.contracts,
    ),
    Item("Lemma 3", "the estimate is (1 ± O(η)) tan α", "Theorem 5 in numbers", contraction.estimates_are_multiples),
    Item("Lemma 5", "other units fire with a chance of d e^-Ω(t²)", HERE, theorems.others_stay_silent),
    Item("Lemma 6", "t_2 ≤ t / cos α", HERE, contraction.search_reaches),
    Item(
        "Lemma 7",
        "a constant share of perturbations helps by 0.004 α/d",
        "Theorem 5 in numbers",
        contraction.perturbations_help,
    ),
    Item(
        "Theorem 6",
        "intersections of halfspaces from labels, to ε like a power of N, d = 5",
        SAMPLES,
        verdicts.intersections,
        needs=RUNS,
    ),
    Item("§2.3, remark", "bounded noise is averaged out", SAMPLES, verdicts.noise_is_averaged, needs=RUNS),
    Item("Theorem 7", "ε falls like a power of N, d = 3, no linear terms", PLANES, verdicts.plane_rate, needs=RUNS),
    Item(
        "Theorems 3 and 7, samples",
        "all units at d = 4, where an exhaustive search would find them",
        PLANES,
        verdicts.found_by(SLABS, "step", missed=None, D="4"),
        needs=RUNS,
    ),
    Item(
        "Theorems 3 and 7 by queries, ours",
        "all units, with linear terms and without",
        PLANES,
        verdicts.found_by(PLANE, "step"),
        needs=RUNS,
    ),
    Item(
        "Theorem 7",
        "exhaustive search of directions",
        PLANES,
        word="(1+1) evolution strategies of rising precision stand for it",
    ),
    Item(
        "Corollary 1, Lemma 8, Claim 3",
        "C_2 is φ(t) E ∂P/∂X_i at units",
        HERE,
        structure.jumps_hold("step", "C_2"),
    ),
    Item("Claim 5, Lemma 8", "C_2 is O(ε/ε_2) elsewhere", HERE, structure.jumps_vanish("step", "C_2")),
    Item("Lemma 19", "C_3 at units has φ'(t) E P beside φ(t) E ∂P/∂X_i", HERE, structure.third_as_printed),
    Item(
        "C.1, ours: C_3 as a second difference",
        "C_3 is φ(t) E ∂P/∂X_i at units",
        HERE,
        structure.jumps_hold("relu", "C_3"),
    ),
    Item("Lemmas 19 and 20", "C_3 is O(ε/ε_2) elsewhere", HERE, structure.jumps_vanish("relu", "C_3")),
    Item(
        "C.1, footnote 6",
        "ReLUs are found by δ'', from samples",
        PLANES,
        verdicts.found_by(SLABS, "relu", missed=None),
        needs=RUNS,
    ),
    Item("C.1, footnote 6, by queries, ours", "the same", PLANES, verdicts.found_by(PLANE, "relu"), needs=RUNS),
    Item(
        "Theorem 8, Algorithm 3",
        "pair correlations tell equal blocks",
        OTHERS,
        verdicts.blocks("blocks", "0.5"),
        needs=RUNS,
    ),
    Item("Theorem 8, ours", "and blocks of unequal sizes", OTHERS, verdicts.blocks("uneven", "0.5"), needs=RUNS),
    Item(
        "Theorem 8, noisy values, ours", "and under noise", OTHERS, verdicts.blocks("blocks", "0.5", "0.1"), needs=RUNS
    ),
    Item(
        "Algorithm 3",
        "the cut α_ij ≥ ρ",
        OTHERS,
        word="ρ is the rate as well; edges are added until m components are left",
    ),
    Item("Theorem 8, D.1", "μ = e^(-ρt), in the proof e^(-ρ(t - ρd)/2)", HERE, structure.mean_of_blocks),
    Item(
        "Theorem 9, Lemmas 21 to 23",
        "the penalised correlation has local maxima, at blocks",
        HERE,
        structure.objective_of_blocks,
    ),
    Item(
        "Theorem 9 by Algorithm 3 with ρ = 1, t = 0, ours",
        "disjoint blocks, u = e^a, are told",
        OTHERS,
        verdicts.blocks("blocks", None),
        needs=RUNS,
    ),
    Item("Theorem 10", "even units are maxima on the sphere", OTHERS, verdicts.even_units("moments"), needs=RUNS),
    Item("Theorem 10, samples", "and from samples", OTHERS, verdicts.even_units("samples"), needs=RUNS),
    Item("Theorem 10, D.3", "the constant 6 û_2², which is larger than needed", HERE, structure.constant_of_even_units),
    Item("D.3, Fact 3", "3 û_2 z_i² beside û_4 z_i⁴ in E[u' h_4]", HERE, structure.quadratic_of_even_units),
    Item("Lemma 10", "E u ≤ e^(-t²/2σ²), û_2, û_4 = t^Θ(1) e^(-t²/2), ReLUs", HERE, theorems.decays("relu", "ReLU")),
    Item("Lemma 10, proof", "û_4 of a ReLU is Ω(t³ e^(-t²/2))", HERE, theorems.lower_bound_of_relus),
    Item("Lemma 11", "the same of steps", HERE, theorems.decays("step", "step")),
    Item("Lemma 12", "û_4 of a sigmoid is Θ(e^-t) for large t", HERE, theorems.lemma_of_sigmoids),
    Item("Lemma 12, proof", "the integral that bounds it from below is positive", HERE, theorems.bound_of_sigmoids),
    Item("Theorem 13, B.6", "sigmoids, linear P", "Exact moments, Samples", verdicts.sigmoids, needs=RUNS),
    Item("Theorem 13", "and what products bend falls with t", MOMENTS, verdicts.fades("one", "sigmoid"), needs=RUNS),
    Item("B.7, Assumption 4", "powers of one X_i", HERE, theorems.powers_are_taken),
    Item(
        "Appendix E, Remark 1",
        "its hypothesis, E X_i X_j / E X_j small, can be met",
        HERE,
        structure.cuts_are_independent,
    ),
    Item(
        "Appendix E, ours",
        "lowest layer first, then P by regression",
        SAMPLES,
        verdicts.stages_are_modular,
        needs=RUNS,
    ),
    *left_out(LEFT_OUT),
)
