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


WAYS = (("descent alone, in our number of steps", shares.PRINTED), ("ends settled by a polish", shares.SETTLED))


def panels() -> Iterator[Item]:
    """Every panel of Figures 2 and 3, by descent alone and by whether its ends are global."""
    for panel in PANELS:
        for how, reading in WAYS:
            yield Item(
                panel.name,
                f"the probability crosses 1/2 at {panel.axis} = {panel.crossing:g} ({how})",
                WHO,
                partial(shares.crossing_agrees, panel, reading),
                needs=FIGURES,
            )
        if panel.always is not None:
            for how, reading in WAYS:
                yield Item(
                    panel.name,
                    f"for {panel.axis} ≥ {panel.always:g} every start finds a global minimum ({how})",
                    WHO,
                    partial(shares.always_from, panel, reading),
                    needs=FIGURES,
                )
        yield Item(
            panel.name,
            "beyond kD = N the probability grows with kD",
            WHO,
            partial(shares.rises, panel),
            needs=FIGURES,
        )


def widths() -> Iterator[Item]:
    """Both panels of Figure 4."""
    for panel in RANDOM:
        name = panel.partition(":")[0]
        yield Item(name, "RMSE falls as k grows", WHO, partial(random_labels.wider_is_better, panel), needs=FIGURES)
        for mode in (random_labels.ALONE, random_labels.FLIPPED, random_labels.POLISHED):
            yield Item(
                name,
                f"kD > {ENOUGH:g} N: descent finds a global minimum, RMSE 0, in our number of steps ({mode})",
                WHO,
                partial(random_labels.zero_from, panel, mode),
                needs=FIGURES,
            )


LEFT_OUT = {
    "Figure 1: five activations as curves": "a drawing without numbers; Example 2.4 is judged",
    "Figures 2 to 4: the dots and curves themselves": "pictures, of which the text has the crossings and the claims"
    " that are judged",
    "§3: step, number of steps, and when a minimum counts as global": "not printed: a constant step, a bold driver and"
    " a polish stand beside each other",
    "§2.1, after Theorem 2.2: approximate cubic regularisation [4, 13, 14] and stochastic gradients [18]": "not built:"
    " they save work per step where Hessians or samples are too many to hold, which these are not",
    "§2.1, after Theorem 2.2: time polynomial in 1/ε_g and 1/ε_H": "no exponents or constants are given to compare"
    " with",
    "Theorems 2.2 and 2.5, Lemmas 5.6 and 5.7, Propositions 7.1 to 7.9: chances of 1 - 12 d e^{-γd} - 8/d": "they hold"
    " for constants without values, and exceed 0 at sizes far past these",
    "Lemmas 5.1, 5.2: identities of Kronecker products": "elementary; used in Jacobians",
    "Lemma 5.5, Propositions 7.8 and 7.9, Lemmas A.1, D.2, D.3, F.1, F.2, Theorem B.1, Definition D.1: tails": "of"
    " sub-exponential variables, steps of proofs with unnamed constants; what they serve, Propositions 7.1 to 7.4, is"
    " measured",
    "Lemmas 7.6, 7.7, 7.11: whitening, and how J moves with its weights": "steps of proofs with unnamed constants;"
    " (7.7) and (7.44), which they serve, are measured",
    "§4: related work": "no claim of its own",
    "§2.2: non-differentiable activations by smoothing": "a belief of the authors; ReLU is on [relu.md](relu.md)",
}
ITEMS = (
    Item("(1.1) to (1.4)", "the model and its loss", "task `quadratic`", word="the task's definition"),
    Item(
        "Theorem 2.1",
        "k ≥ 2D, both signs: all local minima are global, whatever the labels",
        MATRICES,
        squares.optimum_is_reached,
        needs=GRAM,
    ),
    Item("Theorem 2.1", "every saddle has a direction of negative curvature", STATEMENTS, landscapes.strict),
    Item("Theorem 2.1, remark", "so that descent leaves it", STATEMENTS, landscapes.left_by_noise),
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
        "one sign, k ≥ D, N ≤ c D²: no spurious minima, strict saddles, and zero",
        NAMED,
        squares.planted_is_zero,
        needs=DESCENTS,
    ),
    Item("Theorem 2.2, (2.1)", "the bound on L at approximate local minima", STATEMENTS, landscapes.bound),
    *(
        Item(
            "§2.1, after Theorem 2.2",
            f"finds a small loss: {name}",
            NAMED,
            partial(squares.arrives, name),
            needs=DESCENTS,
        )
        for name in squares.ALONE
    ),
    Item("Assumption 2.3, Example 2.4", "μ > 0 of all four, γ ≠ 0 of softplus alone", STATEMENTS, local.examples),
    Item(
        "(2.2), (2.3)",
        "bounded weights, D ≤ N ≤ c_0 σ_min⁴/σ_max⁸ D²",
        LOCAL,
        word="c_0 has no value; N = D to 8 D, orthonormal and Gaussian W*",
    ),
    Item(
        "Theorem 2.5",
        "within (2.4) and (2.5) L contracts at every step: softplus",
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
    Item("(2.7)", "β ≤ C (σ_max² + 1) k", LOCAL, local.smoothness),
    Item("§2.2, after Remark 2.6", "descent converges to the planted model", LOCAL, local.weights_are_found),
    *panels(),
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
        word="tests/test_landscape.py "
        "against automatic derivatives, with φ for φ' in ∂L/∂v, 1/n in (5.9) and 4/n in (6.4)",
    ),
    Item("Lemma 5.3", "‖v‖_∞ σ_min(A) ≤ σ_max(D_v A) for arbitrary A", STATEMENTS, lemmas.tall_matrices),
    Item("Lemma 5.4", "(A ⋆ B)ᵀ(A ⋆ B) = AᵀA ∘ BᵀB", STATEMENTS, lemmas.products),
    Item("Lemma 5.6", "σ_min(X ⋆ X) > 0 for D ≤ N ≤ D(D+1)/2", STATEMENTS, lemmas.full_rank),
    Item("Lemma 5.7", "the fourth moment concentrates in the nuclear norm", STATEMENTS, lemmas.nuclear),
    Item("Lemma 5.7, its proof", "and in the spectral norm", STATEMENTS, lemmas.spectral),
    Item("Lemma 6.1", "Σ r_i x_i x_iᵀ = 0 at a global optimum", MATRICES, word="by the gap to the convex optimum"),
    Item("Proposition 7.1, (7.4), (7.5)", "J beside its centred J̃", JACOBIANS, spectra.perturbed),
    Item("Proposition 7.2, (7.7)", "σ_min(J̃) ≥ d/2 σ_min(D_v Γ W)", JACOBIANS, partial(spectra.centred, True)),
    Item("Remark 7.3, (7.35)", "σ_min(J̃) ≥ d/2 where Γ = 0", JACOBIANS, partial(spectra.centred, False)),
    Item("Proposition 7.4", "(7.12) and (7.13)", JACOBIANS, spectra.jacobian),
    Item("Corollary 7.5", "(7.14) and (7.15)", JACOBIANS, spectra.products),
    Item("Lemma 7.10", "(7.24)", STATEMENTS, lemmas.lengths),
    Item("Lemma 7.12", "(7.44): gradients are no smaller than m_L L", STATEMENTS, lemmas.slopes),
    Item("Lemma 7.13", "(7.47): L is no larger than distances say", STATEMENTS, lemmas.distances),
    Item(
        "Lemma 7.14", "β-smoothness with the constants of (7.49)", LOCAL, word="β is measured; C of (7.49) has no value"
    ),
    *left_out(LEFT_OUT),
)
