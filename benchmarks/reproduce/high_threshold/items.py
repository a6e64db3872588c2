"""Goel & Panigrahy, item by item: where docs/high-threshold.md answers each, and by which verdict."""

from benchmarks.reproduce.high_threshold import contraction, theorems, verdicts
from benchmarks.reproduce.high_threshold.records import SUITE
from benchmarks.reproduce.source_items import Item, left_out

RUNS = (SUITE,)
MOMENTS, SAMPLES, PLANES, OTHERS, HERE = "Exact moments", "Samples", "Planes", "Binary and even units", "the statements"
LEFT_OUT = {
    "Footnotes 2 and 4: c_i from d^-C to d^C by another t; û_2 in G": "the task's c_i are of one order; G has û_2,"
    " without which its minima are elsewhere",
    "Note below Lemma 2: they are not close pointwise": "evident: f is 1 where f_lin is 2",
    "B.1: the same with even l > 4": "l = 4 alone is built; a sixth moment costs d² more of memory and noise",
    "Definition 1, Theorem 4: minima transfer between close functions": "elementary; used in Claim 2, judged there",
    "Lemmas 13 to 15: steps of Claim 2's proof": "they print no numbers of their own",
    "Theorems 11 and 12: saddles have negative curvature": "no saddle stopped a start; not counted",
    "§2.3, noise in other methods: units by lines, planes to rounding, ReLUs by linear equations": "a changed value is"
    " a unit that fires to `threshold-boundary` and to stage 2 by queries, which decline noise",
    "C.1, last sentence: any activation with a derivative at 0": "steps and ReLUs are built; others have no jump or"
    " bend",
    "Appendices A.1 and A.2, Facts 0 to 7, Lemma 9, Corollary 2: Hermite polynomials and matrices": "textbook; tests"
    " check coefficients by quadrature",
    "B.6: an oracle that keeps x with a chance like f(x)": "not needed: plain samples tell sigmoids at t = 5, see"
    " Theorem 13",
    "B.7, Lemmas 17 and 18: E|f - f_uni| is small": "as Lemma 2: X_i^r fires where X_i does",
    "§1.1, deep networks above: P a sigmoid of the units, or a tower of them": "every function of steps is a"
    " polynomial of theirs; of these the task has six kinds, and no tower",
    "Appendix E: learning below a cut at any depth": "no algorithm is given for what lies below a cut that is not the"
    " first",
    "§5: all layers recursively, thresholds higher up only": "named as open",
}
ITEMS = (
    Item("§1, Theorem 1", "high thresholds make every P linear", MOMENTS, verdicts.products_fade, needs=RUNS),
    Item("§1, our question", "t > c √log d: below 2 nothing is found", MOMENTS, verdicts.low_thresholds, needs=RUNS),
    Item("Assumption 1", "c_i = Θ(1), |c_S| = O(1), κ = O(1)", "task `threshold`", word="the task's definition"),
    Item("Assumptions 2 and 3", "E u ≤ ρ(t, σ), û_2, û_4 = t^Θ(1) ρ, ρ = d^-η", HERE, theorems.lemma_of_steps),
    Item("Lemma 1", "products of units are as rare as bounded", HERE, theorems.lemma_of_products),
    Item("Lemma 2", "f and f_lin are close in the mean", HERE, theorems.lemma_of_closeness),
    Item(
        "§2.1, B.1",
        "orthonormal units are maxima of E[f H_4] on the sphere, linear P",
        MOMENTS,
        verdicts.linear_is_exact("sphere"),
        needs=RUNS,
    ),
    Item(
        "§2.1, B.1, beside §2.1's G",
        "products bend the search on the sphere to the order of G",
        MOMENTS,
        verdicts.bends("sphere"),
        needs=RUNS,
    ),
    Item("Claims 1 and 2", "any λ = Θ(|û_4| / û_2²) has all minima", HERE, theorems.lambda_is_bounded),
    Item("Claim 1", "minima of G tell every unit of a linear P", MOMENTS, verdicts.linear_is_exact("one"), needs=RUNS),
    Item(
        "Claim 2, Theorem 1",
        "from poly(d) samples; the angle falls like a mean",
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
        "for other P it is close to the order of one by one",
        MOMENTS,
        verdicts.bends("all"),
        needs=RUNS,
    ),
    Item("Theorem 12, samples", "and from samples", SAMPLES, verdicts.samples_bend("all"), needs=RUNS),
    Item("§2.2, Lemma 16", "E[u δ'] = c |cot α|", HERE, theorems.cotangent),
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
        word="not in the text at hand: Pr[f ≠ 0 | slab] bisected for .4 and .6 as Lemma 3's proof has it; ε = 2 tan α",
    ),
    Item(
        "§2.2, note below Lemma 3",
        "poly(d/ε) samples are enough",
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
    Item(
        "Lemmas 3 to 5", "the estimate is (1 ± O(η)) tan α", "Theorem 5 in numbers", contraction.estimates_are_multiples
    ),
    Item("Lemma 6", "t_2 ≤ t / cos α", HERE, contraction.search_reaches),
    Item(
        "Lemma 7",
        "a constant share of perturbations helps by 0.004 α/d",
        "Theorem 5 in numbers",
        contraction.perturbations_help,
    ),
    Item("Theorem 6", "intersections of halfspaces from labels", SAMPLES, verdicts.intersections, needs=RUNS),
    Item("§2.3, remark", "bounded noise is averaged out", SAMPLES, verdicts.noise_is_averaged, needs=RUNS),
    Item("Theorems 3 and 7", "all units where P has no linear terms, steps", PLANES, verdicts.all_planes, needs=RUNS),
    Item("Theorem 7", "poly(d / (ε_3 ε_2)) training samples", PLANES, verdicts.plane_rate, needs=RUNS),
    Item(
        "Theorem 7",
        "exhaustive search of directions",
        PLANES,
        word="(1+1) evolution strategies of rising precision stand for it",
    ),
    Item(
        "Corollary 1, Lemma 8, Claims 3 to 5",
        "C_2 is φ(t) E ∂P/∂X_i at units and O(ε) elsewhere",
        HERE,
        theorems.jumps_hold("step", "C_2"),
    ),
    Item("C.1, Lemmas 19 and 20", "C_3 does the same for ReLUs", HERE, theorems.jumps_hold("relu", "C_3")),
    Item("C.1, footnote 6", "ReLUs are found by δ''", PLANES, verdicts.bends_show, needs=RUNS),
    Item(
        "Theorem 8, Algorithm 3", "pair correlations tell equal blocks", OTHERS, verdicts.blocks("blocks"), needs=RUNS
    ),
    Item("Theorem 8, ours", "and blocks of unequal sizes", OTHERS, verdicts.blocks("uneven"), needs=RUNS),
    Item("Theorem 8, noisy values", "and under noise", OTHERS, verdicts.blocks("blocks", "0.1"), needs=RUNS),
    Item(
        "Algorithm 3",
        "the cut α_ij ≥ ρ",
        OTHERS,
        word="ρ is the rate as well; edges are added until m components are left",
    ),
    Item("D.1", "μ = e^(-ρ(t - ρd)/2)", HERE, theorems.mean_of_blocks),
    Item("Theorem 9, Lemmas 21 to 23", "local maxima of the penalised correlation", HERE, theorems.objective_of_blocks),
    Item("Theorem 9", "disjoint blocks, u = e^a, are told", OTHERS, word="by the graph of Theorem 8 with ρ = 1, t = 0"),
    Item("Theorem 10", "even units are maxima on the sphere", OTHERS, verdicts.even_units("moments"), needs=RUNS),
    Item("Theorem 10, samples", "and from samples", OTHERS, verdicts.even_units("samples"), needs=RUNS),
    Item("Theorem 10, D.3", "the constant 6 û_2²", HERE, theorems.constant_of_even_units),
    Item("Lemma 10, proof", "û_4 of a ReLU is Ω(t³ e^(-t²/2))", HERE, theorems.lemma_of_relus),
    Item("Lemma 11", "û_2, û_4 of a step are t^Θ(1) e^(-t²/2)", HERE, theorems.lemma_of_steps),
    Item("Lemma 12", "û_4 of a sigmoid is Θ(e^-t) for large t", HERE, theorems.lemma_of_sigmoids),
    Item("B.6, Theorem 13", "sigmoids", "Exact moments, Samples", verdicts.sigmoids, needs=RUNS),
    Item("B.7, Assumption 4", "powers of one X_i", HERE, theorems.powers_are_taken),
    Item("Appendix E, Remark 1", "outputs at a cut nearly exclude one another", HERE, theorems.cuts_are_independent),
    Item("Appendix E", "lowest layer first, then P", SAMPLES, verdicts.stages_are_modular, needs=RUNS),
    *left_out(LEFT_OUT),
)
