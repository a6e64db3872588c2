"""Algorithm 1 line by line, as the paper prints it and as `densenet-algorithm1` runs it: every difference."""

from collections.abc import Iterator

from benchmarks.reproduce.pages import grid
from paramid.methods.densenet_algorithm1 import EVERY, OFF, RATES, DenseNetAlgorithm1
from paramid.methods.hierarchy.distillation_stages import C
from paramid.methods.refinement.stochastic import CUT

OURS = DenseNetAlgorithm1()
SAME = "the same"
LINES = (  # line, as printed, here
    ("input", "N, m and 1/η are polynomials in D / ε", f"options: N = {OURS.N}, of which a tenth is kept aside as a "
     f"check and never trained on; m = D; η = {RATES['adam']:g} (Adam) or {RATES['sgd']:g} (SGD)"),
    ("input", "ε", f"ε = {OURS.epsilon:g}; beside it a number of steps, {OURS.steps}"),
    ("input", "α_l, J_l and κ are known, or searched on a grid (footnotes 9, 15)",
     f"α_l, J_l and L are told by the task, κ is an option, {OURS.kappa:g}"),
    ("1", "ε_0 = B², B ≥ E ‖S_l‖² for all l", "B = max(1, mean y / min α_l), the least that the samples make sure"),
    ("1", "η_l = 0, all λ = 0", SAME),
    ("1", "R_l with entries N(0, 1/k_l²)", "the same law, drawn on line 10, when its k_l columns are known"),
    ("2", "K_l = W_l = 0", SAME),
    ("3", "while ε_0 ≥ ε", "until ε_0 < ε and every layer is distilled, or the steps are over"),
    ("4", "while Obj ≥ ε_0² / 4, at every step", f"Obj over all rows that are trained on, every {EVERY} steps"),
    ("5", "for l = 2, …, L, both `if`s in turn", "the same order; layer l joins once layer l - 1 is distilled, which "
     f"(4.1) implies, and is distilled {EVERY} steps after it joined at the earliest: until then its head is 0"),
    ("6", "Obj ≤ ThresD_l of (4.1), with integers C > C_1 ≥ 2, so that C ≥ 3",
     f"the same with C = {C:g}; ThresD_2 = ∞, for it would need an α_1"),
    ("7", "η_l = η, λ6 = ε_0² / (k L κ)⁸, k the widest layer that l sees (footnote 31 has ε_0⁴)",
     "as line 7 has it; k = 1 for layer 2, which sees no layer; η falls to 0 as a half cosine over all steps"),
    ("8", "Obj ≤ ThresN_l of (4.1)", f"the same with C = {C:g}"),
    ("9", "λ3, λ4, λ5 of (4.1)", f"the same with C = {C:g}; no λ3 for layer 2, which has no W_<"),
    ("10", "K_l by INITIAL-DISTILL", SAME),
    ("12", "one row of Z at random", f"a batch of {OURS.batch}, all rows in a random order before any comes again"),
    ("13 to 16", "K_l, then W_l, l after l, each by the gradient where it stands", "all at once by one gradient"),
    ("14, 15", "plain steps by ∇Obj of (2.3)", "so with `optimizer=sgd`; by default Adam's steps, of gradients that "
     f"are cut at norm {CUT:g}"),
    ("15", "any polynomially small Gaussian noise on every W_l",
     f"of deviation {OURS.noise:g}, falling to 0 over the steps, on heads that have joined (B.2: others stay 0)"),
    ("18", "ε_0 ← ε_0 / 2, λ6 ← λ6 / 4", f"the same, as often as Obj asks for, every {EVERY} steps"),
    ("20", "W and K are returned", "the same, squares without truncation (Remark 2.1); given up where a layer was "
     f"never distilled, or where K alone leaves more than {OFF:g} of the weakest layer's variance on the rows kept "
     "aside"),
    ("21", "k_l = the rank of W_<ᵀ W_last from 1 / (10 κ²) on", "the same, at least 1; for layer 2, which has no W_<, "
     "the rank of W_2ᵀ W_2 stands for it"),
    ("22", "its k_l-SVD U Σ V", "the same; for layer 2 the leading eigenpairs of W_2ᵀ W_2"),
    ("23", "K_<ᵀ = U √Σ, K_last = √Σ V", "then P⁻¹ K_< and P K_last, the P with which K_lastᵀ K_last is nearest "
     "W_lastᵀ W_last: B.3 leaves it open (\"left/right multiplying\"); for layer 2 the root of W_2ᵀ W_2"),
    ("σ̃, §2.1, B.1", "true up to B'_l = poly(τ_l), of each layer", f"one B' = {OURS.truncation:g} for all, and a "
     "polynomial between B' and 2 B', where any is allowed"),
)  # fmt: skip


def text() -> Iterator[str]:
    """The table."""
    yield f"`densenet-algorithm1`, version {OURS.version}, beside Algorithm 1 as"
    yield "printed, line by line; everything in which they differ stands here. Defaults unless a method says otherwise."
    yield ""
    yield from grid(("line", "printed", "here"), LINES)
