"""Soltanolkotabi, Javanmard & Lee, item by item: where docs/quadratic.md answers each, and by which verdict."""

from collections.abc import Iterator
from functools import partial

from benchmarks.reproduce.quadratic import jacobian_spectra as spectra
from benchmarks.reproduce.quadratic import landscapes, lemmas, random_labels, shares, squares
from benchmarks.reproduce.quadratic import local_convergence as local
from benchmarks.reproduce.quadratic.printed import ENOUGH, PANELS, RANDOM
from benchmarks.reproduce.source_items import Item, left_out

FIGURES, GRAM, DESCENTS = ("landscape-3",), ("gram",), ("landscape-descents",)
WHO, MATRICES, NAMED = "Figures 2 to 4", "Squares", "The descents that the paper names"
LOCAL, JACOBIANS, STATEMENTS = "Theorem 2.5 in numbers", "Jacobians in numbers", "the statements"


def panels() -> Iterator[Item]:
    """Every panel of Figures 2 and 3, by whether its ends are global."""
    for panel in PANELS:
        crosses = f"the probability crosses 1/2 at {panel.axis} = {panel.crossing:g} (v = ±1, ends settled)"
        yield Item(panel.name, crosses, WHO, partial(shares.crossing_agrees, panel), needs=FIGURES)
        if panel.always is not None:
            always = f"for {panel.axis} ≥ {panel.always:g} every start finds a global minimum (v = ±1, ends settled)"
            yield Item(panel.name, always, WHO, partial(shares.always_from, panel), needs=FIGURES)
        grows = "beyond kD = N the probability grows with kD"
        yield Item(panel.name, grows, WHO, partial(shares.rises, panel), needs=FIGURES)


def widths() -> Iterator[Item]:
    """Both panels of Figure 4."""
    for panel in RANDOM:
        name = panel.partition(":")[0]
        yield Item(name, "RMSE falls as k grows", WHO, partial(random_labels.wider_is_better, panel), needs=FIGURES)
        able = f"kD > {ENOUGH:g} N: descent is able to find a global minimum, RMSE 0 (v = ±1, frozen, ends settled)"
        yield Item(name, able, WHO, partial(random_labels.able, panel), needs=FIGURES)
        yield Item(
            f"{name}, §3, last sentence",
            f"and is almost always, in {random_labels.ALMOST:.0%} of the starts",
            WHO,
            partial(random_labels.almost_always, panel),
            needs=FIGURES,
        )


LEFT_OUT = {
    "Figure 1: five activations as curves": "a drawing without numbers; Example 2.4 is judged",
    "Figures 2 to 4: the dots and curves themselves": "pictures, of which the text has the crossings and the claims"
    " that are judged",
    "Figures 2 and 3, descent alone: its crossings": "no verdict: the step, the number of steps and when a minimum"
    " counts as global are not printed, and more steps can only lower ours; rows and columns stand beside the others",
    "§2.1, after Theorem 2.2: approximate cubic regularisation [4, 13, 14] and stochastic gradients [18]": "not built:"
    " they save work per step where Hessians or samples are too many to hold, which these are not",
    "§2.1, after Theorem 2.2: time polynomial in 1/ε_g and 1/ε_H": "no exponents or constants are given to compare"
    " with",
    "Theorems 2.2 and 2.5, Lemmas 5.7, 7.11 to 7.14, A.1, Propositions 7.1, 7.2, 7.4, 7.8, 7.9, Corollary 7.5: the"
    " chances with which they hold": "their constants γ, b, b_0, b_1, b_2, c, c' have no value; those with one, of"
    " (7.5) and (7.24), are met in every draw, and in more than they say",
    "Lemmas 5.1, 5.2: identities of Kronecker products": "elementary; steps of proofs",
    "Lemma 5.5, Propositions 7.8 and 7.9, Lemmas D.2, D.3, F.1, F.2, Theorem B.1, Definition D.1: tails": "of"
    " sub-exponential variables, steps of proofs with unnamed constants; what they serve, Propositions 7.1 to 7.4, is"
    " measured",
    "Lemmas 7.6, 7.7, 7.11, (7.25) to (7.33): whitening, lengths of columns, and how J moves with its weights": "steps"
    " of proofs; (7.7) and (7.44), which they serve, are measured",
    "(7.50) to (7.58): descents stay in Ω": "the step from Lemmas 7.12 to 7.14 to (7.54), which is measured",
    "§2.2, after Remark 2.6: the theorem continues to hold without (2.2)": "no formula is printed for it; v* = 1 here",
    "Misprints: of formulas that are used here as they must be": "φ' for φ in ∂L/∂v, no 1/n in (5.9), 2/n"
    " for 4/n in (6.4), no 2/n in (6.27), Δ for ε_g in (6.29), d/2 above (7.33) for the"
    " d²/4 that (7.34) takes of σ_min²(J̃ᶜ), which is more than (7.29) leaves, k ≤ d for k ≥ d below (C.10), B"
    " for B² in (J.3) and neither in (7.47)",
    "§4: related work": "no claim of its own",
    "§2.2: non-differentiable activations by smoothing": "a belief of the authors; ReLU is on [relu.md](relu.md)",
}
ITEMS = (
    Item("(1.1) to (1.4)", "the model and its loss", "task `quadratic`", word="the task's definition"),
    Item(
        "Theorem 2.1",
        "k ≥ 2D, both signs: all local minima are global, whatever inputs and labels",
        STATEMENTS,
        landscapes.all_global,
    ),
    Item(
        "Theorem 2.1",
        "and so every end of descent and a polish, of random labels",
        MATRICES,
        squares.optimum_is_reached,
        needs=GRAM,
    ),
    Item(
        "Theorem 2.1",
        "every saddle has a direction of negative curvature",
        STATEMENTS,
        partial(landscapes.strict, "2.1"),
    ),
    Item("§2.1, [18, 23]", "so that perturbed descent leaves it", STATEMENTS, landscapes.left_by_noise),
    Item(
        "§2.1, below Theorem 2.1",
        "gradient descent from random starts converges to a global optimum, in our number of steps",
        NAMED,
        partial(squares.arrives, "Theorem 2.1", squares.FIRST_ORDER),
        needs=DESCENTS,
    ),
    Item(
        "Theorem 2.1, last claim",
        "the optimum is zero as long as N ≤ c D²",
        MATRICES,
        squares.optimum_is_zero,
        needs=GRAM,
    ),
    Item(
        "§2.1, below Theorem 2.1",
        "with Gaussian inputs it is zero where kD > N",
        MATRICES,
        squares.weights_are_enough,
        needs=GRAM,
    ),
    Item(
        "Theorem 2.2",
        "one sign, k > D, N ≤ c D²: no spurious minima, and zero (v* = v = 1)",
        NAMED,
        squares.planted_is_zero,
        needs=DESCENTS,
    ),
    Item(
        "Theorem 2.2",
        "and every saddle has a direction of negative curvature, k = D, v* not v",
        STATEMENTS,
        partial(landscapes.strict, "2.2"),
    ),
    Item("Theorem 2.2, (2.1)", "the bound on L at approximate local minima", STATEMENTS, landscapes.bound),
    *(
        Item(
            "§2.1, after Theorem 2.2",
            f"finds a small loss in the setting of Theorem 2.2: {name}",
            NAMED,
            partial(squares.arrives, "Theorem 2.2", (name,)),
            needs=DESCENTS,
        )
        for name in squares.NAMED
    ),
    Item("Assumption 2.3, Example 2.4", "μ > 0 of all four, γ ≠ 0 of softplus alone", STATEMENTS, local.examples),
    Item(
        "(2.2), (2.3)",
        "bounded weights, D ≤ N ≤ c_0 σ_min⁴/σ_max⁸ D²",
        LOCAL,
        word="the c_0 that it takes is a column",
    ),
    Item(
        "Theorem 2.5",
        "within (2.3) to (2.5) L contracts at every step: softplus",
        LOCAL,
        partial(local.converges, True),
    ),
    Item(
        "Remark 2.6",
        "likewise where γ = 0: tanh, logistic, erf",
        LOCAL,
        partial(local.converges, False),
    ),
    Item("(2.4), (2.5), our question", "does the basin end there", LOCAL, local.radius_is_necessary),
    Item("(2.4), our question", "does the basin shrink like n^-1.5", LOCAL, local.radius_law),
    Item("Theorem 2.5, our question", "is the rate no better than c α d/n", LOCAL, local.rate_is_printed),
    Item("(7.59), second line", "σ_min(W*) < w_max gives the rate with w_max", STATEMENTS, lemmas.last_step),
    Item("(2.7)", "β ≤ C (σ_max² + 1) k", LOCAL, local.smoothness),
    Item("§2.2, after Remark 2.6", "descent converges to the planted model", LOCAL, local.weights_are_found),
    *panels(),
    Item(
        "Figures 2 and 3, our question",
        "has one start and tolerance all four printed crossings",
        WHO,
        shares.one_reading,
        needs=FIGURES,
    ),
    Item(
        "Figures 2 and 3, our question",
        "is an end with L < 1e-4 of that of f̂ = 0 a global minimum",
        STATEMENTS,
        landscapes.small_is_global,
    ),
    Item(
        "Figures 2 and 3, our question",
        "do more weights never make it harder",
        WHO,
        shares.falls_before,
        needs=FIGURES,
    ),
    Item("Figure 3, caption", "D = 10 in (a) and k = 10 in (b)", WHO, shares.caption_or_text, needs=FIGURES),
    *widths(),
    Item(
        "§3, text of Figure 4",
        "the net is 1ᵀφ(Wx), and reaches zero",
        WHO,
        random_labels.ones_have_a_floor,
        needs=FIGURES,
    ),
    Item(
        "§2.1 and §3, our question",
        "does a fit tell the planted matrix",
        MATRICES,
        squares.fits_are_no_identification,
        needs=GRAM,
    ),
    Item(
        "(5.2) to (5.9), (6.1) to (6.4)",
        "gradient, Jacobian and Hessian",
        "tests",
        word="tests/test_landscape.py against automatic derivatives, misprints mended",
    ),
    Item("Lemma 5.3", "‖v‖_∞ σ_min(A) ≤ σ_max(D_v A) for arbitrary A", STATEMENTS, lemmas.tall_matrices),
    Item("Lemma 5.4", "(A ⋆ B)ᵀ(A ⋆ B) = AᵀA ∘ BᵀB", STATEMENTS, lemmas.products),
    Item("Lemma 5.6", "σ_min(X ⋆ X) > 0 for D ≤ N ≤ D(D+1)/2", STATEMENTS, lemmas.full_rank),
    Item("Lemma 5.7", "the fourth moment concentrates in the nuclear norm", STATEMENTS, lemmas.nuclear),
    Item("Lemma 5.7, its proof, Lemma A.1", "and in the spectral norm", STATEMENTS, lemmas.spectral),
    Item("Lemma 6.1", "Σ r_i x_i x_iᵀ = 0: a global optimum", MATRICES, word="by the gap to the convex optimum"),
    Item("Proposition 7.1, (7.4), (7.5)", "J beside its centred J̃", JACOBIANS, spectra.perturbed),
    Item("Proposition 7.2, (7.7)", "σ_min(J̃) ≥ d/2 σ_min(D_v Γ W)", JACOBIANS, partial(spectra.centred, True)),
    Item(
        "Proposition 7.2, (7.8)",
        "σ_max(J̃) ≤ C (d + √(nd) σ_max(D_v Γ W))",
        JACOBIANS,
        partial(spectra.centred_above, True),
    ),
    Item("Remark 7.3, (7.35)", "σ_min(J̃) ≥ d/2 where Γ = 0", JACOBIANS, partial(spectra.centred, False)),
    Item("Remark 7.3, (7.40)", "σ_max(J̃) ≤ C d where Γ = 0", JACOBIANS, partial(spectra.centred_above, False)),
    Item("Proposition 7.4", "(7.12) and (7.13)", JACOBIANS, spectra.jacobian),
    Item("Corollary 7.5", "(7.14) and (7.15)", JACOBIANS, spectra.products),
    Item("Lemma 7.10", "(7.24)", STATEMENTS, lemmas.lengths),
    Item("Lemma 7.12", "(7.44): gradients are no smaller than m_L L", STATEMENTS, lemmas.slopes),
    Item("Lemma 7.12", "(7.45), (7.46): nor larger than m_U L", STATEMENTS, lemmas.slopes_above),
    Item("Lemma 7.13", "(7.47): L is no larger than distances say", STATEMENTS, lemmas.distances),
    Item("Lemma 7.14", "(7.48), (7.49): L is β-smooth on Ω", STATEMENTS, lemmas.curvatures),
    *left_out(LEFT_OUT),
)
