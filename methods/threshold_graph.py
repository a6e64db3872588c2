"""`threshold-graph`: exponential units on disjoint blocks of inputs, by the graph of their pair correlations.

With X_k = e^{ρ(Σ_{i in block k} x_i - t)}, blocks of d inputs each, μ = E X_k = e^{-ρ(t - ρd/2)} and c_S ≥ 0,

    (1)  E[f x_i x_j] = ρ² Σ_{S ∋ k} c_S μ^{|S|}        for i ≠ j in block k,
         E[f x_i x_j] = ρ² Σ_{S ∋ k, l} c_S μ^{|S|}     for i in block k, j in block l.

The first sums contain the second's terms and more. With m blocks of one size the m d (d - 1) / 2 largest correlations
are edges, and the blocks are cliques: m of them, of d inputs each, or the answer is none.

References: Goel & Panigrahy, Theorems 8 and 9. Printed are μ = e^{-ρ(t - ρd)/2} and a cut that is not specified; the
maximisation of Theorem 9 is unbounded, its setting is (1) with ρ = 1, t = 0.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Oracle, Run, Spec
from paramid.methods.thresholds import correlations
from paramid.words.options import positive
from paramid.words.spec import ThresholdSpec


@dataclass(frozen=True)
class ThresholdGraph:
    """Binary weights on disjoint blocks, by the cliques of pair correlations (theorems 8 and 9)."""

    N: int | None = None  # samples; default: what is granted, or a million

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        positive(self, "N")

    def declines(self, spec: Spec) -> str | None:
        """Exponential units on blocks of one size."""
        if not isinstance(spec, ThresholdSpec) or spec.weights != "blocks" or spec.widths[0] is None:
            return "needs binary weights on disjoint blocks"
        if spec.unit != "exponential" or spec.outputs != 1:
            return "needs exponential units below one output"
        return f"{spec.inputs} inputs make no {spec.widths[0]} blocks" if spec.inputs % spec.widths[0] else None

    def identify(self, oracle: Oracle, _: Run) -> Iterator[Claim]:
        """The blocks as columns of 0 and 1."""
        spec = oracle.spec
        m = spec.widths[0]
        assert m is not None  # declined otherwise
        alpha = pair_correlations(oracle.sample(correlations.granted(spec, self.N)))
        yield Directions(cliques(alpha, m))


def pair_correlations(samples: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
    """E[f x_i x_j], (d, d); its diagonal means nothing."""
    parts = [(x.T @ (y * x), len(x)) for x, y in samples]
    return torch.stack([part for part, _ in parts]).sum(dim=0) / sum(rows for _, rows in parts)


def cliques(alpha: Tensor, m: int) -> Tensor:
    """The blocks of one size whose pairs are the largest correlations, (d, m); a GiveUp where these are no cliques."""
    d = len(alpha)
    size = d // m
    i, j = torch.triu_indices(d, d, offset=1, device=alpha.device)
    chosen = alpha[i, j].argsort(descending=True)[: m * size * (size - 1) // 2]
    near = torch.eye(d, device=alpha.device, dtype=torch.bool)
    near[i[chosen], j[chosen]] = True
    near = near | near.T
    blocks = torch.unique(near, dim=0)  # rows of one clique are equal
    if blocks.shape[0] != m or bool((blocks.sum(dim=1) != size).any()):
        raise GiveUp(f"the largest pair correlations make no {m} cliques of {size} inputs")
    return blocks.T.to(alpha)
