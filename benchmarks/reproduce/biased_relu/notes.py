"""What docs/biased-relu.md says without a number: misprints, changes of ours, and what has no row, with the reason.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209.
"""

MISPRINTS = """- *Rank of the second tensor* (Algorithm 1, step 3). T_{2l+2} is to be flattened as D^l ×
  D^{l+2}; l + 1 is printed for both tensors, and v^⊗l four times. Algorithm 4 has it right. The polynomials are
  He_{2l−1} and He_{2l} in the proofs of Theorem 4.2 and Lemma 5.4, whose k is free.
- *Thresholds* (Algorithm 4). Terms with |α| < η_2 are to be dropped, not those with α < η_2, and the number of
  terms is max{r : s_r > η_1}. η_2 is 4ε_1 in one place and ε_1/2 in another, ε_1 a maximum with 2ε_2 in Lemma 5.3
  and √ε_2, which is more, in §5.4; no step uses η_0. The proof of (74) supposes twice what (74) does.
- *Small biases.* |b| < c √log(1/(ε m D B)) leaves no bias where ε m D B ≥ 1; Lemma 5.9, above, wants
  log(m D B/ε), as τ of Algorithm 5 has it. In (16) s_m(W^⊙l) stands in the denominator too: G would grow as
  the columns get worse, and where s_m is 1/(m D B) it cancels m D B, so that (16) does not reduce to what follows it.
- *Proof of Theorem 3.1.* √m is lost in s_m(M̃) ≥ s_m(W)/B − ε_0 (1 + B) and ‖z*‖ ≤ √m in the bound of
  ‖z̃ − z*‖. In that of Lemma 5.5 ε'_3 ≤ ½ c' B √m ε_3 lacks an inverse.
- *Constants.* The Gaussian density has (2π)^{−D/2}, β of Lemmas 5.6 and 5.7 a factor 1/√(2π), α̃ a factor √(2π) γ,
  not √(2πγ); in Claim B.5 βb_0 is β_0 b_0; c_v of Lemma 5.9 is c, and its "= c'ε²" is ≤, as in (42). After
  (37) m' + 2 ≤ 8m stands for m' ≤ 8|S|.
- *Symbols.* In Algorithm 2 γ_q is ζ_q; in the proof of Theorem 3.4 U is W and not Wᵀ; before that theorem "rows of W"
  are columns; in Claim 4.6 and Lemma 5.5 the last l + 2 is l + 3, and γ_{j−2} lacks β; in §6 n is d, and W̃ is Ŵ."""

CHANGES = """- *Thresholds.* η_0 … η_3 of §5.4 are of the size of ε⁴ or below, with constants that are not
  printed. `hermite-jennrich` takes one and a half times half the difference of two halves of the samples, and
  where too few terms are left of a known number asks for as many as it is told; it is told m.
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
  eight to. `control=2` is its default. A constant alone would be an output bias, which the paper's networks
  have not. A tenth of the samples is held out for a check: what misses more than `within` of the deviation, a
  tenth unless told, is given up.
- *Everything of `hermite-fused`*: one pencil over three tensors, a fit to coefficients, rounds, a refinement on
  the samples, an affine part where units do not bend.
- *Laws.* The paper has none but x ~ N(0, I). Columns are uniform on the sphere and drawn until
  s_m(W^⊙l) ≥ `s_min`, 0.25 unless told, l the least with m ≤ C(D + l − 1, l); |a| is uniform in [0.5, 1.5] of
  either sign, |b| ≤ 1.5 unless told. So B is 2, or the largest bias where that is more."""

LEFT_OUT = {
    "Tables and figures: none": "the paper prints no measurement",
    "Theorems 3.1, 3.2, 5.1, Lemmas 5.3 to 5.5: degrees and constants of their polynomials": (
        "they are not printed; exponents of N, η, τ and D were compared, m and B were varied for Lemma 5.8 alone, "
        "s_m(W) nowhere, and no running time was compared"
    ),
    "Theorem 1.5: its bound, κ and δ": "it is cited; the algorithm was run inside Theorems 3.1 and 5.1, where κ and δ "
    "were not varied",
    "Theorems 3.1 and 5.1: every error of T_k of a size": "errors were drawn at random, none was the worst",
    "Lemma 5.3, (18), (19): |λ − λ̃| ≤ ε_2², and powers of columns": "parameters were compared, loadings and powers not",
    "Theorem 5.1, Lemma 5.6: l ≥ 3 from samples or under errors": (
        "l = 2 was run, at k = 0; where Lemma 5.6 is stated, k ≥ 2, l is at least 4, and the method holds l ≤ 3"
    ),
    "Theorem 3.2, Corollary 3.3: large biases at l = 2, and l ≥ 3": "small biases and l ≤ 2 were run",
    "Lemma 5.2: m² B⁴, the logarithms and the probability": "m, B and the number of draws were not varied",
    "With high probability, δ of Lemma 5.8, 1 − m exp(−Ω(δd)) of §6: shares of failures": (
        "three or five seeds a task cannot see them"
    ),
    "η_0 … η_3 as in §5.4: thresholds": "their constants are not printed; ours stand above",
    "Theorem 3.4: l = m > 3": "tensors to order 2m + 2 are needed, and the method holds l ≤ 3",
    "Definitions 1.1, 1.2, Fact 1.3: He_k and derivatives of the density": "used in Lemma 3.5 and by every method",
    (
        "Claim B.1, Rosenthal's inequality, (24) to (37), (43) to (72), (75) to (83), (86): steps of proofs"
    ): "triangle inequalities, cited bounds, identities, repetitions and derivations of what has a row",
    "Claim B.3, ξ = +1 for odd l; §1.1, units of any length: remarks": (
        "the paper skips the first, and every claim is scaled by the second before it is judged"
    ),
    "Exact statistical queries (Theorem 4.2): other functions": (
        "coefficients are asked exactly, expectations of other functions are samples"
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
