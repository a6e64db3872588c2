"""Chapter 4 and §1.3.2 of the thesis, item by item: where docs/pyramid.md answers each, and by which verdict."""

from benchmarks.reproduce.pyramid import fits, sgd, theorems
from benchmarks.reproduce.pyramid import span_verdicts as spans
from benchmarks.reproduce.pyramid import table_verdicts as tables
from benchmarks.reproduce.source_items import Item, Judged, Made


def pyramids_are_no_limit(made: Made) -> Judged:
    """Whether widths have to fall."""
    wide = [r for r in made["depth"] if any(w in r.task for w in ("20-25-12-8", "16-20-24-12", "24-28-8", "100-30-10"))]
    right = sum(r.metrics.get("exact") == 1 for r in wide)
    told = f"{right} of {len(wide)} runs identify networks with a layer wider than what feeds it"
    return right == 0 if wide else None, told


PIPELINE, SPANS, SGD = ("deep-4.4",), ("deep-4.2",), ("deep-sgd",)
ITEMS = (
    Item(
        "§1.3.2, Figure 1.5", "SGD comes to 1e-6 before [50, 25, 10]", "§1.3.2", sgd.three_layers_are_found, needs=SGD
    ),
    Item(
        "§1.3.2, Figure 1.5",
        "before [50, 35, 25, 10] it stagnates around 0.1",
        "§1.3.2",
        sgd.four_layers_stagnate,
        needs=SGD,
    ),
    Item("§1.3.2", "larger rates are better", "§1.3.2", sgd.larger_rates_are_better, needs=SGD),
    Item("§1.3.2", "more samples than D² m do not help", "§1.3.2", sgd.more_samples_do_not_help, needs=SGD),
    Item("§1.3.2", "four layers are much harder for SGD than three", "§1.3.2", sgd.harder_than_shallow, needs=SGD),
    Item(
        "§1.3.2",
        "N(0, 0.005) is a variance or a deviation, the same to an order",
        "§1.3.2",
        sgd.readings_agree,
        needs=SGD,
    ),
    Item(
        "§1.3.2, last paragraph",
        "shallow networks of that size are recovered",
        "[shallow.md](shallow.md)",
        word="judged there",
    ),
    Item(
        "Definitions 4.1 to 4.3, Remark 4.1",
        "networks, entangled weights, their space",
        "task `pyramid`",
        word="the task's definition",
    ),
    Item("Assumption 4.1", "(DNM1), (DNM2), (DNM3)", "Theorem 4.1 in numbers", word="α is measured"),
    Item("Assumption 4.1, (DNM4)", "hidden layers must not grow", "How deep", pyramids_are_no_limit, needs=("depth",)),
    Item(
        "Assumption 4.2",
        "noise-free queries, known widths, differences",
        "§4.4",
        word="as assumed; noise under How deep",
    ),
    Item("Lemma 4.1", "entangled weights are products (4.18)", "the statements", theorems.gradients),
    Item("Proposition 4.1", "Hessians decompose (4.26)", "the statements", theorems.hessians),
    Item("Lemma 4.2", "bounds (4.28) to (4.30)", "the statements", theorems.bounds),
    Item("Theorem 4.1, Proposition 4.2", "the span's error is below (4.42)", "Theorem 4.1 in numbers", theorems.spans),
    Item(
        "§4.2.1, Remark 4.3",
        "α falls with the radius, which limits what concentration gains",
        "Theorem 4.1 in numbers",
        theorems.alpha_falls,
    ),
    Item(
        "(4.44)",
        "with many linear outputs one point shows every entangled weight",
        "the statements",
        theorems.one_point,
    ),
    Item("§4.2.1", "more outputs make spans more exact", "§4.4", spans.more_outputs_help, needs=PIPELINE),
    Item(
        "Lemmas 4.3 and 4.4, Figure 4.1",
        "steps of the proof of Theorem 4.1, and a drawing",
        word="they print no numbers of their own",
    ),
    Item("Lemma 4.5", "permutations and diagonals", word="elementary; used in Proposition 4.3"),
    Item(
        "Algorithm 4.1",
        "every entangled weight is found, up to 3.1e-2 in the worst mean",
        "§4.4",
        tables.all_found,
        needs=PIPELINE,
    ),
    Item(
        "Algorithm 2.2, §4.3.1",
        "SPM, all starts at once",
        "§4.4",
        word="in batches, until the span's dimension is met or all ⌈5 m ln m⌉ were made",
    ),
    Item(
        "§4.2, Theorem 2.8",
        "errors of directions go like the root of the span's",
        "the statements",
        spans.roots_bound_directions,
        needs=("deep-4.4", "deep-4.2"),
    ),
    Item("§4.2.1, §4.4", "spans take 4m · 2D(D + 1) queries", "§4.4", tables.queries_of_spans, needs=PIPELINE),
    Item(
        "§4.2.3, shapes",
        "m_{l+1} = ⌊c m_l⌋, 20 ⌈m / m_L⌉ points on a sphere",
        "§4.2.3",
        word="as printed, at D = 30 and 50",
    ),
    Item("Figure 4.2", "R = 10 is far worse than R ≤ 0.1", "§4.2.3", spans.concentration_is_needed, needs=SPANS),
    Item("Figure 4.2", "radii up to 0.1 differ marginally", "§4.2.3", spans.small_radii_agree, needs=SPANS),
    Item("Figure 4.2", "the span is lost between 0.9 and 1 of D m_L", "§4.2.3", spans.error_jumps, needs=SPANS),
    Item(
        "Figure 4.3",
        "of few neurons all are found and nothing else",
        "§4.2.3",
        spans.few_neurons_are_found,
        needs=SPANS,
    ),
    Item("Figure 4.3", "recovery lags behind the span for L = 2, 3", "§4.2.3", spans.recovery_lags, needs=SPANS),
    Item("Figure 4.3", "false positives come past the transition", "§4.2.3", spans.strays_come_late, needs=SPANS),
    Item("§4.2.3", "more layers are slightly worse", "§4.2.3", spans.depth_is_slightly_worse, needs=SPANS),
    Item("§4.2.3", "the shape c hardly matters", "§4.2.3", spans.shape_hardly_matters, needs=SPANS),
    Item("Figure 4.4", "the transition is at m = D m_L", "§4.2.3", spans.tips_at_the_product, needs=SPANS),
    Item(
        "Figure 4.4, beyond its family",
        "D and m_L alone decide it where m_{L-1} < m_L too",
        "§4.2.3",
        spans.tips_at_the_product_always,
        needs=SPANS,
    ),
    Item(
        "Figure 4.4, ours",
        "the transition is at T = (D + 1) min(m_L, m_{L-1}), and m_L more where outputs bend and m_{L-1} < m_L",
        "§4.2.3",
        spans.law_holds,
        needs=SPANS,
    ),
    Item("(4.55)", "weights follow from entangled ones by a left inverse", "§4.4", word="so they are made here"),
    Item("Definition 4.4, (4.64) to (4.69)", "the student f̃, its loss and start", "§4.4", word="as printed, (Opt2)"),
    Item("Proposition 4.3", "the reparametrisation loses nothing", "the statements", theorems.equivalent),
    Item("Proposition 4.4", "signs of hidden layers are free", "the statements", theorems.signs_are_free),
    Item("Remark 4.4", "so they are for logistic units", "the statements", theorems.logistic),
    Item(
        "§4.4, (4.76), (4.77)",
        "differences of step 0.005",
        "§4.4",
        word="2D² + 1 values a Hessian for 2D(D + 1), gradients of fourth order",
    ),
    Item(
        "§4.4, N(0, 0.05)",
        "read as in chapter 1, a variance, it makes the tables",
        "§4.4",
        tables.deviation_is_meant,
        needs=PIPELINE,
    ),
    Item("Tables 4.2 and 4.3", "Δ and E_l", "§4.4", tables.tables_agree, needs=PIPELINE),
    Item(
        "Table 4.2",
        "E_3 and E_4 of [50, 35, 25, 10], tanh, from differences",
        "§4.4",
        tables.upper_layers_agree,
        needs=PIPELINE,
    ),
    Item(
        "Tables 4.2 and 4.3, Remark 4.2",
        "exact Hessians are marginally better",
        "§4.4",
        tables.differences_hardly_matter,
        needs=PIPELINE,
    ),
    Item("Tables 4.2 and 4.3", "linear outputs have smaller Δ", "§4.4", tables.linear_is_better, needs=PIPELINE),
    Item("Tables 4.2 and 4.3", "four layers have larger Δ", "§4.4", tables.depth_costs, needs=PIPELINE),
    Item("Tables 4.2 and 4.3", "no run deviates far from the means", "§4.4", tables.runs_are_alike, needs=PIPELINE),
    Item(
        "Tables 4.2 and 4.3",
        "SPM takes as long for every network",
        "§4.4",
        tables.ascents_take_the_same,
        needs=PIPELINE,
    ),
    Item("Tables 4.2 and 4.3", "no false positives", "§4.4", tables.no_strays, needs=PIPELINE),
    Item(
        "Tables 4.2 and 4.3",
        "all entangled weights in less than a minute",
        "§4.4",
        tables.seconds_agree,
        needs=PIPELINE,
    ),
    Item(
        "Algorithm 4.2, Tables 4.4 and 4.5",
        "R = 1000 tells the layers of [50, 25, 10] in 0.8 to 0.9 of the runs",
        "§4.4",
        tables.printed_radius,
        needs=PIPELINE,
    ),
    Item(
        "Tables 4.4 and 4.5",
        "R = 1000 tells those of [50, 25, 50] always",
        "§4.4",
        tables.many_outputs_are_told,
        needs=PIPELINE,
    ),
    Item(
        "§4.4, the remark that another law of far points would do",
        "R = 100 tells all layers",
        "§4.4",
        tables.smaller_radius,
        needs=PIPELINE,
    ),
    Item("§4.3.1", "layers are told up to L = 3 only", "§4.4", tables.three_layers_are_no_limit, needs=PIPELINE),
    Item("Tables 4.6 and 4.7", "E(Ṽ_l) of hidden layers is E_l", "§4.4", tables.matrices_follow, needs=PIPELINE),
    Item(
        "Tables 4.6 and 4.7",
        "gradients tell the last layer far better than SPM",
        "§4.4",
        tables.gradients_are_better,
        needs=PIPELINE,
    ),
    Item(
        "Figures 4.5 to 4.7",
        "fits end on a plateau of the order of E(Ṽ_l)",
        "§4.4, Figures 4.5 to 4.7",
        fits.plateaus,
        needs=PIPELINE,
    ),
    Item(
        "Figures 4.5 to 4.7, baseline",
        "from true entangled weights they go on falling",
        "§4.4, Figures 4.5 to 4.7",
        fits.true_ones_go_on,
    ),
    Item(
        "Figures 4.5 to 4.7",
        "linear outputs fit better",
        "§4.4, Figures 4.5 to 4.7",
        fits.linear_fits_better,
        needs=PIPELINE,
    ),
    Item(
        "Figure 4.6", "[50, 25, 50] fits best", "§4.4, Figures 4.5 to 4.7", fits.most_outputs_fit_best, needs=PIPELINE
    ),
    Item(
        "Figure 4.7",
        "[50, 35, 25, 10] fits worse than [50, 25, 10]",
        "§4.4, Figures 4.5 to 4.7",
        fits.depth_fits_worse,
        needs=PIPELINE,
    ),
    Item("Figures 4.5 to 4.7", "shifts converge", "§4.4, Figures 4.5 to 4.7", fits.shifts_converge, needs=PIPELINE),
    Item(
        "Figures 1.5, 4.2 to 4.7",
        "the curves themselves",
        word="they are pictures whose numbers are not in the text: what the text says of them is judged",
    ),
    Item(
        "Table 4.1",
        "the hyper-parameters",
        word="its body is not in the text; step γ = 1.5 of SPM is that of §4.2.3, δ = 0.2 of Algorithm 4.2 ours",
    ),
    Item(
        "Figure 1.5",
        "two hours, five runs, N = D³ m and all six rates at D = 50",
        word="minutes, two runs, the largest rate; the grid of rates and N at D = 15, four rates, three runs",
    ),
    Item(
        "Figures 4.2 to 4.4",
        "D = 100 with m up to 1500; D = 75, 100, 125, 150",
        word="spans of that size take hours; D = 30 and 50",
    ),
    Item(
        "Algorithm 4.2, line 3",
        "k-means",
        word="greedy heaps of |cos| ≥ 0.98 stand for it: a half-sphere cuts a heap near its edge in two",
    ),
    Item(
        "§4.3.1",
        "layers by how fast gradients fall along a direction, of the earlier paper",
        word="the thesis sets it aside itself, and prints no numbers of it",
    ),
    Item(
        "§4.4", "20 minutes of every fit, E∞ over 10⁶ inputs", word="four epochs of 50 000 samples, and 10 000 inputs"
    ),
    Item(
        "Figures 4.5 to 4.7, baseline",
        "ten runs of each",
        word=f"{len(fits.TRUE_SEEDS)} of each, as it is no cell of a suite",
    ),
    Item("Remark 4.5", "gradient descent on all samples ends like SGD", "the statements", fits.batches_hardly_matter),
    Item(
        "§4.4, last paragraph",
        "SGD fits [50, 25, 10] better than the pipeline",
        "the statements",
        tables.sgd_fits_three_layers_better,
        needs=("deep-4.4", "deep-sgd"),
    ),
    Item(
        "§4.4, last paragraph",
        "the pipeline fits [50, 35, 25, 10] better than SGD",
        "the statements",
        tables.pipeline_fits_four_layers_better,
        needs=("deep-4.4", "deep-sgd"),
    ),
)
