"""The paper, item by item: where docs/hierarchy.md answers each, and by which verdict."""

from benchmarks.reproduce.hierarchy import algorithm1, correlations, exponents, freeze, hard, turns, verdicts
from benchmarks.reproduce.hierarchy.statements import symmetric_tensors, theorems, theorems_by_training
from benchmarks.reproduce.source_items import Item, left_out

BFC, ALGORITHM, FREEZE, HARD = ("bfc",), ("bfc-algorithm1",), ("bfc-freeze",), ("bfc-hard",)
WHO, OVER, DEPTH = "Who corrects", "The gap", "The staircase over depth"
TURNS = "Kernels first, correction after"
ONE, FROZEN, CLASS = "Algorithm 1 over seeds", "Layers that stay", "The class of Appendix I"
NUMBERS, MOVED = "Statements in numbers", "How far weights move"
IMAGES = "needs CIFAR and days of GPUs: "
PROOF = "a step of the proof, without numbers of its own"

LEFT_OUT = {
    "Remarks of §1.1: k_l ≈ d^(1/2^l), degree 2^L": "words for the setting of Theorem 1",
    "§1.1, theorem sketched: the statement of Theorem 1 in short": "see Theorem 1",
    "Figure 3, A.6: accuracy over depth on CIFAR": IMAGES + "α_3 stands for it under §3.2",
    "Figures 6 and 13, accuracies: VGG13, VGG19, ResNet-22, ResNet-34": IMAGES + "curves without numbers in the text",
    "Footnote 7: outputs weighted by ±1": "the proof is left out there too; the task's weights are all 1",
    "Theorem 1, polynomial in d / ε: time and samples over d": "D is 10 to 40 here: no exponent in d of Algorithm 1",
    "Footnote 8: E σ(x) from samples": "x² - 1 is told, exact for N(0, I)",
    "Footnotes 11 and 25: kernels twice leave f at α², S_2 at α": "said of [2]'s F + α G(F), whose outputs are"
    " vectors, and which is not built; exponents on DenseNets are under The gap",
    "Footnote 12 and §3.1, closing words: why correction is local": "arguments; correlations are what is measured",
    "§3.2: 86.64 % top-10 on CIFAR-100, 70 % by one layer on CIFAR-10": IMAGES
    + "Figures 1 and 3 on digits are under Real"
    " images",
    "§4, third bullet, footnote 14: the SVD serves little role": "Algorithm 1 was not run without it",
    "§3, first bullet: a layer of width d^Ω(1) is too wide for kernels": "asymptotic in d and L",
    "Figures 9, 10 and 14, numbers: accuracies of WRN-34-5": IMAGES + "clean and adversarial CIFAR",
    "§4, footnote 15: α_l and J_l by grid search": "both are told to every learner here",
    "§5, (5.1) to (5.4), Proposition 5.1, footnote 16: N(0, Σ²) and mixtures of them": "inputs are N(0, I), or"
    " conditioned on a cube, for which nothing is claimed",
    "§6.2, (6.1), (6.2), Remark 6.1, footnotes 17 to 24: steps 1 to 4 of the proof; shared weights": PROOF,
    "Figure 12, numbers: accuracies and hours of quadratic networks, ReLU networks and kernels on CIFAR": IMAGES
    + "squares beside ReLUs are under Real images, kernels on DenseNets under Kernels",
    "Figure 12, on DenseNets: a ReLU student of the quadratic teachers": "ReLU nets are trained on images alone; of"
    " infinite width they are the kernels nngp and relu-ntk",
    "§7, footnotes 26 and 27: related work": "nothing to measure",
    "Theorem 1', Corollaries B.1 and B.2, Definition B.3, Remark B.4: constants D_l, Υ_l": "beyond any number that"
    " could be run",
    "Definition C.1, Fact C.7: C(f), singular values of blocks side by side": "definitions of the proof",
    "B.2, B.3, Appendices D to G and J, Corollaries F.3 and F.4: claims on losses, Lemma F.1, descent": f"{PROOF}; of"
    " Corollary F.3 Theorem 2 is what is measured",
    "Lemma H.2, Claim H.3: descent of the cross entropy": PROOF,
    "Theorem 4: Algorithm 1 on (3.3)": "its thresholds are not printed for the cross entropy; Adam on its loss is under"
    " Statements in numbers",
    "Theorems I.3, I.6 and I.7, Remark I.4, footnote 49, Lemma I.5: features and two-layer nets that fail": "asymptotic"
    " in L; at L = 3 they say little",
}
ITEMS = (
    Item(
        "§1, main statement",
        "training upper layers improves the features of lower ones",
        WHO,
        verdicts.correction,
        needs=BFC,
    ),
    Item("§1.1, restriction of graphs", "any graph with a skip is learnt", FROZEN, freeze.any_graph, needs=FREEZE),
    Item("(1.2)", "layer 2 alone over-fits, and is corrected", ONE, algorithm1.example("(1.2)"), needs=ALGORITHM),
    Item("(1.2), Algorithm 1", "learns it", ONE, algorithm1.on_example("(1.2)"), needs=ALGORITHM),
    Item(
        "Figure 2, A.2",
        "the first layer is trained alone, then with all",
        WHO,
        word="on DenseNets, with no layers above at first; A.2 has random ones, frozen",
    ),
    Item(
        "Figure 5", "the order of forward and backward steps, a drawing", DEPTH, word="the staircase shows these steps"
    ),
    Item("Figure 6, A.4", "layer by layer is worse than all together", WHO, verdicts.layerwise_is_worse, needs=BFC),
    Item(
        "Figure 6, footnote 29",
        "pre-training by layers ends as training from scratch",
        WHO,
        verdicts.pretraining_is_no_matter,
        needs=BFC,
    ),
    Item("§2, target network", "G*, S*, J_l, α_l", "task `hierarchy`", word="the task's definition"),
    Item("§2.1, Figure 7, (2.1), (2.2)", "R_l, K_l and W_l", ONE, word="built as printed"),
    Item(
        "§2.1, Figure 8, Remark 2.1",
        "the truncated square",
        ONE,
        word="built; a polynomial between B' and 2B'",
    ),
    Item("§2.2, (2.3)", "the objective and its four regularisers", ONE, word="built as printed"),
    Item(
        "Remark 3.1",
        "random orthonormal weights keep B_l small",
        "task `hierarchy`",
        word="so teachers are drawn, scaled to B_l = k_l",
    ),
    Item("Theorem 1, Algorithm 1", "it learns every layer", ONE, algorithm1.every_layer, needs=ALGORITHM),
    Item("Algorithm 1, ours", "it says so where it does not", ONE, algorithm1.honest, needs=ALGORITHM),
    Item("Theorem 1, SGD", "plain SGD is enough", ONE, algorithm1.by_sgd, needs=ALGORITHM),
    Item("Theorem 1, Algorithm 1", "it corrects S_2 backwards", ONE, algorithm1.corrected, needs=ALGORITHM),
    Item("§3, properties 1 to 3, setting of Theorem 1", "k_l, κ, gaps", ONE, word="told there, beside the teachers"),
    Item(
        "Theorem 2, its law beyond its setting", "layer 2 alone leaves (α_3 / α_2)²", OVER, exponents.forward, needs=BFC
    ),
    Item(
        "Theorem 2, its law beyond its setting",
        "S_2 and S_3 improve with every layer that joins",
        DEPTH,
        verdicts.depth_corrects,
        needs=BFC,
    ),
    Item(
        "Remark 3.2",
        "nets of small error may have wrong features",
        "How many samples",
        verdicts.wrong_at_zero,
        needs=BFC,
    ),
    Item(
        "§3, kernels in sequence",
        "without correction they stay at a fixed error",
        OVER,
        turns.refitting_alone_is_stuck,
        needs=BFC,
    ),
    Item(
        "§3, kernels in sequence",
        "with correction after, they may not work",
        TURNS,
        turns.kernels_in_turn,
        needs=BFC,
    ),
    Item("Kernels in turn, ours", "they learn L = 3 and 4 where there is a gap", TURNS, turns.turns_work, needs=BFC),
    Item("Theorem 3, 3', B.4", "labels that no net gives cost (1 + γ) OPT", NUMBERS, theorems_by_training.competes),
    Item(
        "§3.1, Figures 9 and 14",
        "every layer that stays costs accuracy",
        FROZEN,
        freeze.correction_is_needed,
        needs=FREEZE,
    ),
    Item(
        "§3.1, Figures 9 and 14",
        "one layer more that is corrected is better",
        FROZEN,
        freeze.deeper_is_better,
        needs=FREEZE,
    ),
    Item("§3.1, Figures 9 and 10", "correction is local: correlations above 0.9", MOVED, correlations.local),
    Item("Figure 9, NTK", "correlations with the random start are small", MOVED, correlations.far_from_start),
    Item("§3.1, reference [2]", "learning fails without a gap", DEPTH, verdicts.gap_matters, needs=BFC),
    Item("§3.2, (3.2), footnote 13", "α_l of the labels depend on layer l", NUMBERS, theorems.gap_is_accuracy),
    Item(
        "(3.3), by Adam, without Reg", "labels that are signs correct S_2 too", NUMBERS, theorems_by_training.classifies
    ),
    Item(
        "Proposition H.1, at v = 1/ε",
        "cross entropy is ε where the squared error is ε²",
        NUMBERS,
        theorems.entropy_is_error,
    ),
    Item("(4.1)", "thresholds and λ", ONE, word="as printed, but for C and ThresD_2: lines 6 to 9 of the table there"),
    Item("§4, line 21, B.3", "k_l is found by a rank", NUMBERS, theorems_by_training.finds_widths),
    Item("§6.1", "two neurons can be turned with the same sum", NUMBERS, theorems.same_function),
    Item(
        "§6.1",
        "three random squares are a basis for the next layer, two turned ones are none",
        NUMBERS,
        theorems.richer,
    ),
    Item("§6.1, correction", "α becomes α², and so on", OVER, exponents.passes_add_powers, needs=BFC),
    Item("§6.1", "layer 2 alone over-fits, and is corrected", ONE, algorithm1.example("§6.1"), needs=ALGORITHM),
    Item("§6.1, Algorithm 1", "learns it, α = 0.01 for o(1)", ONE, algorithm1.on_example("§6.1"), needs=ALGORITHM),
    Item(
        "Definition C.2, Lemma C.5",
        "⟨x, y⟩² = ⟨x * x, y * y⟩, RU * RU = (R * R) Q",
        NUMBERS,
        symmetric_tensors.products,
    ),
    Item("Definition C.3, Fact C.4", "Sym(M) keeps the values of M", NUMBERS, symmetric_tensors.twice_symmetric),
    Item("Fact C.4", "Sym(M) = M for M between squares alone", NUMBERS, symmetric_tensors.diagonal_stays),
    Item("Fact C.4", "O(1) ‖M‖² ≥ C(zz M zz) ≥ ‖Sym(M)‖²", NUMBERS, symmetric_tensors.coefficients_bound),
    Item("Lemma C.6, J.2", "σ_min(R * R) ≥ p² / O(k⁴), printed 1 / O(k⁴ p²)", NUMBERS, symmetric_tensors.mixing),
    Item("Lemma C.6", "σ_max(R * R) and ‖R‖ are O(1)", NUMBERS, symmetric_tensors.bounded),
    Item(
        "Remark I.2, its direction",
        "kernels need more samples than nets",
        "Kernels",
        verdicts.nets_need_fewer,
        needs=BFC,
    ),
    Item(
        "Theorem I.1", "kernels stay at Ω(α_L²) up to (D over 2^(L-1)) / 1000 samples", CLASS, hard.theorem, needs=HARD
    ),
    Item("Theorem I.1's class, ours", "kernels need more samples than nets", CLASS, hard.nets_need_fewer, needs=HARD),
    Item(
        "Theorem I.1's class, ours",
        "nets learn it, with a start by regression or without",
        CLASS,
        hard.warm_start,
        needs=HARD,
    ),
    Item("Label noise, ours", "features err like its square", "Label noise", exponents.noise_is_squared, needs=BFC),
    *left_out(LEFT_OUT),
)
