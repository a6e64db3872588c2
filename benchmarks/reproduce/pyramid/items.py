"""Chapter 4 and §1.3.2 of the thesis, item by item: where docs/pyramid.md answers each, and by which verdict.

What has no row is in LEFT_OUT, with the reason.
"""

from collections.abc import Callable

from benchmarks.reproduce.pyramid import fits, last_paragraph, sgd, theorem_of_spans, theorems
from benchmarks.reproduce.pyramid import layer_verdicts as layers
from benchmarks.reproduce.pyramid import records as deep
from benchmarks.reproduce.pyramid import span_verdicts as spans
from benchmarks.reproduce.pyramid import table_verdicts as tables
from benchmarks.reproduce.source_items import Item, Judged, Made, left_out, without_a_judge

Judge = Callable[[Made], Judged]
PIPELINE, SPANS, SGD = ("deep-4.4",), ("deep-4.2",), ("deep-sgd",)


def by_sgd(source: str, says: str, judge: Judge) -> Item:
    """Judged by SGD's runs."""
    return Item(source, says, "§1.3.2", judge, needs=SGD)


def stated(source: str, says: str, judge: Judge, needs: tuple[str, ...] = ()) -> Item:
    """Judged among the statements alone, by a check of fixed seeds unless it needs records."""
    return Item(source, says, "the statements", judge, needs=needs)


def in_numbers(source: str, says: str, judge: Judge) -> Item:
    """Judged by the table of Theorem 4.1."""
    return Item(source, says, "Theorem 4.1 in numbers", judge)


def by_spans(source: str, says: str, judge: Judge) -> Item:
    """Judged by spans over sizes."""
    return Item(source, says, "§4.2.3", judge, needs=SPANS)


def by_pipeline(source: str, says: str, judge: Judge, where: str = "§4.4") -> Item:
    """Judged by the pipeline's runs."""
    return Item(source, says, where, judge, needs=PIPELINE)


def by_fits(source: str, says: str, judge: Judge) -> Item:
    """Judged by its fits."""
    return by_pipeline(source, says, judge, "§4.4, Figures 4.5 to 4.7")


def by_depth(source: str, says: str, judge: Judge) -> Item:
    """Judged by our other routes."""
    return Item(source, says, "§4.4, How deep", judge, needs=(*PIPELINE, "depth"))


OF_SGD = (
    by_sgd(
        "§1.3.2, Figure 1.5",
        "SGD comes to 1e-6 before [50, 25, 10], where its rate 1/2 is one for averaged squares",
        sgd.three_layers_are_found,
    ),
    by_sgd("§1.3.2, Figure 1.5", "before [50, 35, 25, 10] it stagnates around 0.1", sgd.four_layers_stagnate),
    by_sgd("§1.3.2", "larger rates are better", sgd.larger_rates_are_better),
    by_sgd("§1.3.2", "more samples than D² m do not help", sgd.more_samples_do_not_help),
    by_sgd("§1.3.2", "four layers are harder for SGD than three", sgd.four_layers_are_harder),
    by_sgd("§1.3.2, last paragraph", "shallow networks of that size are recovered", sgd.shallow_ones_are_recovered),
    by_sgd("§1.3.2, last paragraph", "deep networks of that size are harder for SGD", sgd.deep_ones_are_harder),
    by_sgd("§1.3.2, N(0, 0.005), ours", "a variance or a deviation, the same to an order", sgd.readings_agree),
)
OF_SPANS = (
    without_a_judge(
        "Definitions 4.1 to 4.3, Remark 4.1: networks, entangled weights, their space",
        "task `pyramid`",
        "the task's definition",
    ),
    without_a_judge("Assumption 4.1: (DNM1), (DNM2), (DNM3)", "Theorem 4.1 in numbers", "α is measured"),
    stated("Assumption 4.1, (DNM4)", "(4.55) needs hidden layers that do not grow", theorems.no_left_inverse),
    by_depth("(DNM4), ours", "networks whose layers grow are identified by other routes", layers.growing_layers),
    without_a_judge(
        "Assumption 4.2: noise-free queries, known widths, differences", "§4.4", "as assumed; noise under How deep"
    ),
    stated("Lemma 4.1", "entangled weights are products (4.18)", theorems.gradients),
    without_a_judge(
        "(4.16), (4.19): the first layer's do not depend on x; the last's are gradients of the outputs",
        "Tables 4.6 and 4.7",
        "what Algorithms 4.1 and 4.2 rest on, used in every run",
    ),
    stated("Proposition 4.1", "Hessians decompose (4.26)", theorems.hessians),
    stated("Lemma 4.2", "bounds (4.28), (4.29), and (4.30) below the last layer", theorems.bounds),
    stated("Lemma 4.2", "bound (4.30) of the last layer", theorems.bound_at_last),
    in_numbers("Theorem 4.1", "the span's error is below (4.42)", theorem_of_spans.spans),
    in_numbers(
        "Proposition 4.2",
        "the part of the span that Hessians show is as near as (4.42)",
        theorem_of_spans.part_of_spans,
    ),
    in_numbers(
        "§4.2.1", "α falls with the radius, which limits what concentration gains", theorem_of_spans.alpha_falls
    ),
    stated("§4.2.1", "the span's error is not controlled by more Hessians", theorem_of_spans.more_hessians_do_not_help),
    by_pipeline(
        "Remark 4.3, §4.4",
        "the error is mostly that Hessians are of other points, not of differences",
        tables.mismatch_dominates,
    ),
    stated(
        "(4.44)",
        "m_1 + … + m_{L-1} independent Hessians at one point of linear outputs show every entangled weight",
        theorems.one_point,
    ),
    stated("(4.44), ours", "more than one hidden layer can have so many", theorems.one_point_of_deep_ones),
    by_pipeline("§4.2.1", "more outputs make spans more exact", spans.more_outputs_help),
    by_pipeline("Algorithm 4.1, Table 4.2", "the worst mean E_l is 3.1e-2", tables.all_found),
    without_a_judge(
        "Algorithm 2.2, §4.3.1: SPM, all starts at once",
        "§4.4",
        "in batches, until the span's dimension is met or all ⌈5 m ln m⌉ were made",
    ),
    stated(
        "§4.2, Theorem 2.8",
        "errors of directions are of the order of the root of the span's, at most",
        spans.roots_bound_directions,
        PIPELINE,
    ),
    without_a_judge(
        "§4.2.3, shapes: m_{l+1} = ⌊c m_l⌋, 20 ⌈m / m_L⌉ points on a sphere", "§4.2.3", "as printed, at D = 30 and 50"
    ),
    by_spans("Figure 4.2", "R = 10 is far worse than R ≤ 0.1", spans.concentration_is_needed),
    by_spans("Figure 4.2", "radii up to 0.1 differ marginally", spans.small_radii_agree),
    by_spans("§4.4, of Figure 4.2", "of the radii 0.1 is the best", spans.best_radius),
    by_spans("Figure 4.2", "the span's error is stable for few neurons", spans.error_is_stable),
    by_spans("Figure 4.2", "the span's error rises drastically between 0.9 and 1 of D m_L", spans.error_jumps),
    by_spans("Figure 4.3", "of few neurons all are found and nothing else", spans.few_neurons_are_found),
    by_spans("Figure 4.3", "recovery lags behind the span for L = 2, 3", spans.recovery_lags),
    by_spans(
        "Figure 4.3, §4.2.3",
        "false positives come past the transition, spurious maximisers are not common",
        spans.strays_come_late,
    ),
    by_spans("Figure 4.3, §4.2.3", "of four layers c = 0.75 and 1 find slightly fewer", spans.rectangles_are_worse),
    by_spans("§4.2.3", "more layers are recovered worse", spans.depth_is_worse),
    by_spans("§4.2.3", "more layers are recovered only slightly worse", spans.depth_is_slight),
    by_spans("§4.2.3", "the shape c does not matter to three layers", spans.shape_hardly_matters),
    by_spans("Figure 4.4", "the transition is at m = D m_L", spans.tips_at_the_product),
    by_spans(
        "Figure 4.4, ours, beyond its family",
        "D and m_L alone decide it where m_{L-1} < m_L too",
        spans.tips_at_the_product_always,
    ),
    by_spans(
        "Figure 4.4, ours",
        "the transition is at T = (D + 1) min(m_L, m_{L-1}), and m_L more where outputs bend and m_{L-1} < m_L",
        spans.law_holds,
    ),
)
OF_NETWORKS = (
    without_a_judge("(4.55): weights follow from entangled ones by a left inverse", "§4.4", "so they are made here"),
    without_a_judge(
        "Definition 4.4, (4.64) to (4.69): the student f̃, its loss and start", "§4.4", "as printed, (Opt2)"
    ),
    stated("Proposition 4.3", "the reparametrisation loses nothing", theorems.equivalent),
    stated("Proposition 4.4", "signs of hidden layers are free", theorems.signs_are_free),
    stated("Remark 4.4", "so they are for logistic units", theorems.logistic),
)
OF_TABLES = (
    stated("§4.4, (4.77)", "the quotient comes to the Hessian, as printed", theorems.printed_hessians),
    by_pipeline(
        "§4.2.1, §4.4", "spans take 4m · 2D(D + 1) queries, values asked twice included", tables.queries_of_spans
    ),
    by_pipeline(
        "§4.4, N(0, 0.05), ours", "read as in chapter 1, a variance, it makes the tables", tables.deviation_is_meant
    ),
    by_pipeline("Tables 4.2 and 4.3", "Δ and E_l", tables.tables_agree),
    by_pipeline("Tables 4.2 and 4.3", "E_3 and E_4 of [50, 35, 25, 10], tanh", tables.upper_layers_agree),
    by_pipeline("§4.4, Remark 4.2", "exact Hessians change Δ marginally", tables.differences_hardly_matter),
    by_pipeline("§4.4", "exact Hessians have the smaller Δ", tables.exact_ones_are_better),
    by_pipeline("Tables 4.2 and 4.3", "Δ is in [0, 1]", tables.below_one),
    by_pipeline("Tables 4.2 and 4.3", "linear outputs have smaller Δ", tables.linear_is_better),
    by_pipeline("Tables 4.2 and 4.3", "four layers have larger Δ", tables.depth_costs),
    by_pipeline("Tables 4.2 and 4.3", "no run deviates far from the means", tables.runs_are_alike),
    without_a_judge(
        "Tables 4.2 and 4.3: spans of linear outputs have no direction of the last layer",
        "§4.4",
        "as printed: no E_L; gradients have it",
    ),
    by_pipeline("Tables 4.2 and 4.3", "no false positives", tables.no_strays),
    by_pipeline(
        "Tables 4.2 and 4.3", "all entangled weights in less than a minute in most cases", tables.seconds_agree
    ),
    by_pipeline("Tables 4.2 and 4.3", "T_Ŵ < 30 s, exact Hessians of [50, 25, 50] aside", tables.spans_take_seconds),
    by_pipeline(
        "Algorithm 4.2, Tables 4.4 and 4.5",
        "R = 1000 tells the layers of [50, 25, 10] in 0.8 to 0.9 of the runs",
        layers.printed_radius,
    ),
    by_pipeline("Tables 4.4 and 4.5", "R = 1000 tells those of [50, 25, 50] always", layers.many_outputs_are_told),
    by_pipeline(
        "§4.4, on Table 4.4",
        "a run that errs takes exactly one direction of the second layer for the first's",
        layers.one_is_misjudged,
    ),
    by_pipeline(
        "§4.4, on Table 4.4",
        "a run errs where the far span lacks a first-layer weight, which a count would show",
        layers.mistakes_have_their_cause,
    ),
    by_pipeline("§4.4, on Table 4.4", "any mistake in the layers is critical", layers.mistakes_are_critical),
    by_pipeline("(4.59), (4.60)", "far scores of the first layer are far above the others'", layers.scores_are_apart),
    by_pipeline("Algorithm 4.2, ours", "R = 100 tells all layers", layers.smaller_radius),
    without_a_judge(
        "§4.3.1, §4.4: Algorithm 4.2 tells layers up to L = 3 only, four by an oracle",
        "§4.4",
        "so it is here: `assisted`",
    ),
    by_depth(
        "§4.3.1, ours",
        "layers of four- and five-layer networks of tanh, shifts from 0.01 to 0.1, are told by other routes",
        layers.three_layers_are_no_limit,
    ),
    by_pipeline("§4.4, ours", "[50, 25, 50] is found by `peel`", layers.fifty_outputs),
    by_pipeline("Tables 4.6 and 4.7", "E(Ṽ_l) of hidden layers", layers.matrices_agree),
    by_pipeline("Tables 4.6 and 4.7", "E(Ṽ_l) of hidden layers is E_l", layers.matrices_follow),
    by_pipeline("Tables 4.6 and 4.7", "gradients tell the last layer far better than SPM", layers.gradients_are_better),
    stated("Table 4.6", "E(Ṽ_L) is that of (4.76) with ε = 0.005", layers.last_layer_agrees),
)
OF_FITS = (
    by_fits("Figures 4.5 to 4.7", "MAE, E∞ and errors of shifts fall at first", fits.all_fall_at_first),
    by_fits("Figures 4.5 to 4.7", "fits end on a plateau of the order of E(Ṽ_l)", fits.plateaus),
    by_fits("Figures 4.5 to 4.7", "shifts converge up to a level", fits.shifts_level_off),
    by_fits("Figures 4.5 to 4.7, baseline", "from true entangled weights all go on falling", fits.true_ones_go_on),
    by_fits("Figures 4.5 to 4.7", "linear outputs fit better", fits.linear_fits_better),
    by_fits("Figure 4.6", "[50, 25, 50] fits best", fits.most_outputs_fit_best),
    by_fits("Figure 4.7", "[50, 35, 25, 10] fits worse than [50, 25, 10]", fits.depth_fits_worse),
    stated("Remark 4.5", "gradient descent on all samples ends like SGD", fits.batches_hardly_matter),
    stated(
        "§4.4, last paragraph",
        "SGD fits [50, 25, 10] (slightly) better than the pipeline",
        last_paragraph.three_layers,
        (*PIPELINE, *SGD),
    ),
    stated(
        "§4.4, last paragraph",
        "from [50, 25, 10] to [50, 35, 25, 10] the pipeline does not lose as drastically as SGD",
        last_paragraph.four_layers,
        (*PIPELINE, *SGD),
    ),
    by_fits(
        "§4.4, last paragraph",
        "[50, 25, 10] comes to 1e-6 from true entangled weights",
        last_paragraph.true_ones_come_there,
    ),
    by_fits(
        "§4.4, last paragraph",
        "[50, 25, 10] does not come to 1e-6 from the pipeline's directions",
        last_paragraph.others_do_not,
    ),
)
LEFT_OUT = left_out(
    {
        "Theorem 4.1, Proposition 4.2, (4.34), (4.35), (4.43): probabilities, C̄ as a constant of incoherent weights": (
            "with constants that are not named; C̄ is in the bound of Theorem 4.1 in numbers; the exponent of "
            "Proposition 4.2 has an m_L that those of Theorem 4.1 and Lemma 4.4 lack, though the proof says they "
            "are the same"
        ),
        "§4.2.1, sample complexity: N_h = O(m / α) Hessians, O(m D² / (m_L α)) queries": (
            "an order whose constant is open; 4m Hessians at every size here as in §4.4"
        ),
        "Lemmas 4.3 and 4.4, Figure 4.1: steps of the proof of Theorem 4.1, and a drawing": (
            "they print no numbers of their own"
        ),
        "Lemma 4.5: permutations and diagonals": "elementary; used in Proposition 4.3",
        "§4.2.3: the method scales to deep architectures; more inputs and outputs should help gradually": (
            "an outlook and a question; L = 5 is in Figures 4.2 and 4.3, and the law of T answers the second"
        ),
        "(4.56), (4.57): every direction is near a weight, every weight near a direction": (
            "suppositions of §4.3; strays and E_l measure both"
        ),
        "§4.3.1: ascents in parallel are much faster": "ours are always in batches",
        "(4.65): the fit in the form of (Opt1)": "the thesis fits (4.67), which is (Opt2), and so do we",
        "§4.3.3: 3m - m_L + D parameters are left to fit, and why its start needs no signs": (
            "a count; the signs are Proposition 4.4; no convergence is claimed"
        ),
        "§4.4: derivatives are the dearest part of a span; SPM takes as long for every network": (
            "parts of spans are not timed; our ascents end when they arrive, which says nothing of 10⁴ steps of "
            "all at once"
        ),
        "§4.4: a law of far points that is changed until the far span has all first-layer weights": (
            "the count is judged; R = 100 for all stands for the change"
        ),
        "Figures 1.5, 4.2 to 4.7: the curves themselves": (
            "they are pictures whose numbers are not in the text: what the text says of them is judged"
        ),
        "Table 4.1: the hyper-parameters": (
            "its body is not in the text; step γ = 1.5 of SPM is that of §4.2.3, δ = 0.2 of Algorithm 4.2 ours"
        ),
        "Table 4.7: E(Ṽ_L) of 2.0e-8 to 2.8e-8 from exact gradients": (
            "ours are exact to rounding; where its errors come from it does not say"
        ),
        "Figure 1.5: two hours, five runs, N = D³ m and all six rates at D = 50": (
            "minutes, two runs, the largest rate; the grid of rates and N at D = 15, four rates, three runs"
        ),
        "Figures 4.2 to 4.4: D = 100 with m up to 1500; D = 75, 100, 125, 150": (
            "spans of that size take hours; D = 30 and 50"
        ),
        "Algorithm 4.2, line 3: k-means": (
            "greedy heaps of |cos| ≥ 0.98 stand for it: a half-sphere cuts a heap near its edge in two"
        ),
        "§4.3.1: layers by how fast gradients fall along a direction, of the earlier paper": (
            "the thesis sets it aside itself, and prints no numbers of it"
        ),
        "§4.4: 20 minutes of every fit on m D² samples, at rate 0.005, E∞ over 10⁶ inputs": (
            f"four epochs of 50 000 samples ({deep.LONG} of two seeds), smaller rates before fifty outputs "
            "and four layers, and 10 000 inputs"
        ),
        "Tables 4.4 and 4.5, [50, 25, 50]: ten runs at R = 1000": "three, and fits of one epoch at R = 1000",
        "§1.3.2: more gradient steps than for shallow networks; smaller rates help those": (
            "steps are not compared; rates before shallow networks are judged in [shallow.md](shallow.md)"
        ),
        "§1.3.2, §4.4: whether SGD finds deep networks in general": "an open question of the source, and left open",
        "Figures 4.5 to 4.7, baseline: ten runs of each": (
            f"{len(fits.TRUE_SEEDS)} of each, as it is no cell of a suite"
        ),
    }
)
ITEMS = (*OF_SGD, *OF_SPANS, *OF_NETWORKS, *OF_TABLES, *OF_FITS, *LEFT_OUT)
