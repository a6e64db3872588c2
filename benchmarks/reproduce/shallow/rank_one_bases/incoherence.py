"""Definition 2.3 and Proposition 2.2: how incoherent random weights are.

Their ν is about 2√(m/D) + m/D > 1, so theorems that suppose a small one are checked in `frames`.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.shallow.items import FLAT, MODERATE, Check, upward, verdict
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import neurons
from benchmarks.reproduce.source_items import Item
from paramid import Run

SUBSETS = 200
POWERS = (2, 3, 4)  # n of G_n


def incoherence(sizes: Sizes) -> Check:
    """Definition 2.3, Proposition 2.2, Lemmas 2.22 and 2.23."""
    rows, c2, c3, ordered, bounded, loose = [], {}, {}, [], [], []
    for beta in (1.5, 2.0):
        for d in sizes.dimensions:
            m = neurons(d, beta)
            seen = [constants(Run.seeded(s).sphere(m, d).T, Run.seeded(s)) for s in range(sizes.draws)]
            middle = [median(values) for values in zip(*(one.told for one in seen), strict=True)]
            rows.append((f"{beta:g}", f"{d}", f"{m}", *(f"{v:.3g}" for v in middle)))
            c2.setdefault(beta, []).append(middle[0])
            c3.setdefault(beta, []).append(1 / middle[1])
            ordered += [list(one.least) == sorted(one.least) for one in seen]
            bounded += [max(one.norms) for one in seen]
            loose += [middle[3] >= 1]
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
    items = (
        verdict(
            "Definition 2.3, Proposition 2.2: (Inc2), (Inc3) with constants free of m and D",
            flat,
            f"{told}, outside of m = o(D²)",
        ),
        *of_subsets_and_powers(loose, ordered, bounded),
    )
    return Check("Incoherence of random weights (Definition 2.3, Proposition 2.2)", lines, items)


def of_subsets_and_powers(loose: Sequence[bool], ordered: Sequence[bool], bounded: Sequence[float]) -> Iterator[Item]:
    """(Inc1), Lemmas 2.22 and 2.23."""
    powers = ", ".join(map(str, POWERS))
    yield verdict(
        "Proposition 2.2: (Inc1)",
        None,
        "a restricted isometry of all subsets cannot be computed; "
        f"of {SUBSETS} random ones of p = ⌈D / ln m⌉ the largest deviation is no less than 1 in {sum(loose)} "
        f"of {len(loose)} rows: there c₁ = 1 is refuted for every δ < 1; smaller c₁ are open",
    )
    yield verdict(
        "Lemma 2.22: λ_min(G_n) grows with n",
        all(ordered),
        f"for n = {powers} in {sum(ordered)} of {len(ordered)} draws",
    )
    yield verdict(
        "Lemma 2.23: ‖G_n‖ ≤ C (1 + m (ln m / D)^{n/2})",
        max(bounded) < MODERATE,
        f"C = {upward(max(bounded))} suffices for n = {powers} in {len(bounded)} draws",
    )


class Constants(NamedTuple):
    """Of one draw."""

    incoherent: float  # c₂
    least: tuple[float, ...]  # λ_min(G_n)
    loose: float  # the largest seen ‖W_pᵀW_p - 1‖
    norms: tuple[float, ...]  # ‖G_n‖ over its bound of Lemma 2.23

    @property
    def told(self) -> tuple[float, ...]:
        """In the table."""
        return (self.incoherent, *self.least[:2], self.loose, self.norms[0])


def constants(w: Tensor, run: Run) -> Constants:
    """The numbers of Definition 2.3 and of Lemmas 2.22 and 2.23."""
    d, m = w.shape
    gram = w.T @ w
    ends = [torch.linalg.eigvalsh(gram**n)[[0, -1]].tolist() for n in POWERS]
    p = min(m, math.ceil(d / math.log(m)))
    chosen = torch.stack([torch.randperm(m, generator=run.generator)[:p] for _ in range(SUBSETS)])
    parts = w.T[chosen] @ w.T[chosen].mT - torch.eye(p, dtype=w.dtype)
    largest = float((gram - torch.diag(gram.diag())).square().max())
    return Constants(
        largest * d / math.log(m),
        tuple(low for low, _ in ends),
        float(torch.linalg.matrix_norm(parts, 2).max()),
        tuple(high / (1 + m * (math.log(m) / d) ** (n / 2)) for n, (_, high) in zip(POWERS, ends, strict=True)),
    )
