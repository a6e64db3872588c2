"""Definition 2.3 and Proposition 2.2: how incoherent random weights are.

Their ν is about 2√(m/D) + m/D > 1, so theorems that suppose a small one are checked in `frames`.
"""

import math
from statistics import median

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.shallow.items import FLAT, MODERATE, Check, verdict
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import neurons
from paramid import Run

SUBSETS = 200


def incoherence(sizes: Sizes) -> Check:
    """Definition 2.3, Proposition 2.2, Lemmas 2.22 and 2.23."""
    rows, c2, c3, ordered, bounded = [], {}, {}, [], []
    for beta in (1.5, 2.0):
        for d in sizes.dimensions:
            m = neurons(d, beta)
            seen = [constants(Run.seeded(s).sphere(m, d).T, Run.seeded(s)) for s in range(sizes.draws)]
            middle = [median(values) for values in zip(*seen, strict=True)]
            rows.append((f"{beta:g}", f"{d}", f"{m}", *(f"{v:.3g}" for v in middle)))
            c2.setdefault(beta, []).append(middle[0])
            c3.setdefault(beta, []).append(1 / middle[1])
            ordered += [values[2] >= values[1] for values in seen]
            bounded.append(middle[4])
    grows = {b: (slope(sizes.dimensions, c2[b]), slope(sizes.dimensions, c3[b])) for b in c2}
    head = ("β", "D", "m", "c₂", "λ_min(G₂)", "λ_min(G₃)", "largest ‖W_pᵀW_p - 1‖", "‖G₂‖ / (1 + m ln m / D)")
    told = "; ".join(f"c₂ ~ D^{a:.2f}, c₃ = 1/λ_min(G₂) ~ D^{b:.2f} at β = {n:g}" for n, (a, b) in grows.items())
    flat = True if max(grows[1.5]) < FLAT else None
    lines = (
        f"Medians over {sizes.draws} draws of weights. c₂ = max ⟨w_k, w_l⟩² D / ln m, (G_n)_kl = ⟨w_k, w_l⟩ⁿ.",
        f"(Inc1) asks for all subsets of p columns; shown is the largest of {SUBSETS} random ones, p = ⌈D / ln m⌉.",
        "",
        *grid(head, rows),
    )
    return Check(
        "Incoherence of random weights (Definition 2.3, Proposition 2.2)",
        lines,
        (
            verdict(
                "Definition 2.3, Proposition 2.2: (Inc2), (Inc3) with constants free of m and D",
                flat,
                f"{told}, outside of m = o(D²)",
            ),
            verdict(
                "Proposition 2.2: (Inc1)",
                None,
                "A restricted isometry of all subsets cannot be computed; "
                f"of {SUBSETS} random ones the table has the largest deviation, which is a lower bound.",
            ),
            verdict("Lemma 2.22: λ_min(G₃) ≥ λ_min(G₂)", all(ordered), f"in {sum(ordered)} of {len(ordered)} draws."),
            verdict(
                "Lemma 2.23: ‖G₂‖ ≤ C (1 + m ln m / D)",
                max(bounded) < MODERATE,
                f"C = {max(bounded):.2g} suffices, and the ratio falls with D.",
            ),
        ),
    )


def constants(w: Tensor, run: Run) -> tuple[float, float, float, float, float]:
    """c₂, λ_min(G₂), λ_min(G₃), the largest seen ‖W_pᵀW_p - 1‖, ‖G₂‖ over its bound of Lemma 2.23."""
    d, m = w.shape
    gram = w.T @ w
    second = torch.linalg.eigvalsh(gram**2)
    p = min(m, math.ceil(d / math.log(m)))
    chosen = torch.stack([torch.randperm(m, generator=run.generator)[:p] for _ in range(SUBSETS)])
    parts = w.T[chosen] @ w.T[chosen].mT - torch.eye(p, dtype=w.dtype)
    largest = float((gram - torch.diag(gram.diag())).square().max())
    return (
        largest * d / math.log(m),
        float(second[0]),
        float(torch.linalg.eigvalsh(gram**3)[0]),
        float(torch.linalg.matrix_norm(parts, 2).max()),
        float(second[-1]) / (1 + m * math.log(m) / d),
    )
