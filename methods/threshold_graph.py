"""`threshold-graph`: exponential units on disjoint blocks of inputs, by the graph of their pair correlations.

With X_k = e^{ρ(Σ_{i in block k} x_i - t)}, blocks of d_k inputs, μ_k = E X_k = e^{-ρ(t - ρ d_k/2)} and c_S ≥ 0,

    (1)  E[f x_i x_j] = ρ² Σ_{S ∋ k} c_S Π_{r in S} μ_r        for i ≠ j in block k,
         E[f x_i x_j] = ρ² Σ_{S ∋ k, l} c_S Π_{r in S} μ_r     for i in block k, j in block l.

The first sums contain the second's terms and more. Edges are added from the largest correlation down until m components
are left; these are the blocks if each is a clique, whose last edge is above all that were not added, or the answer is
none. For blocks of one size the components have it as well.

References: Goel & Panigrahy, Theorems 8 and 9; the first has blocks of one size. Printed are μ = e^{-ρ(t - ρd)/2} and
a cut that is not specified; the maximisation of Theorem 9 is unbounded, its setting is (1) with ρ = 1, t = 0.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Oracle, Run, Spec
from paramid.methods.thresholds import correlations
from paramid.words.options import positive
from paramid.words.spec import ThresholdSpec

BLOCKS = ("blocks", "uneven")


@dataclass(frozen=True)
class ThresholdGraph:
    """Binary weights on disjoint blocks, by the cliques of pair correlations (theorems 8 and 9)."""

    N: int | None = None  # samples; default: what is granted, or a million

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        positive(self, "N")

    def declines(self, spec: Spec) -> str | None:
        """Exponential units on blocks."""
        if not isinstance(spec, ThresholdSpec) or spec.weights not in BLOCKS or spec.widths[0] is None:
            return "needs binary weights on disjoint blocks"
        if spec.unit != "exponential" or spec.outputs != 1:
            return "needs exponential units below one output"
        if spec.weights == "blocks" and spec.inputs % spec.widths[0]:
            return f"{spec.inputs} inputs make no {spec.widths[0]} blocks of one size"
        return None

    def identify(self, oracle: Oracle, _: Run) -> Iterator[Claim]:
        """The blocks as columns of 0 and 1."""
        spec = cast("ThresholdSpec", oracle.spec)
        m = spec.widths[0]
        assert m is not None  # declined otherwise
        alpha = pair_correlations(oracle.sample(correlations.granted(spec, self.N)))
        size = spec.inputs // m if spec.weights == "blocks" else None
        yield Directions(cliques(alpha, m, size))


def pair_correlations(samples: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
    """E[f x_i x_j], (d, d); its diagonal means nothing."""
    parts = [(x.T @ (y * x), len(x)) for x, y in samples]
    return torch.stack([part for part, _ in parts]).sum(dim=0) / sum(rows for _, rows in parts)


def cliques(alpha: Tensor, m: int, size: int | None = None) -> Tensor:
    """The m blocks that the largest correlations join, (d, m); a GiveUp where these are no cliques of a told `size`."""
    d = len(alpha)
    i, j = torch.triu_indices(d, d, offset=1, device=alpha.device)
    block = list(range(d))  # of every input
    order = alpha[i, j].argsort(descending=True)
    for a, b in zip(i[order].tolist(), j[order].tolist(), strict=True):
        if len(set(block)) == m:
            break
        block = [block[a] if k == block[b] else k for k in block]
    names = torch.tensor(sorted(set(block)), device=alpha.device)
    member = torch.tensor(block, device=alpha.device)[:, None] == names
    inside = (member[i] & member[j]).any(dim=1)
    least = alpha[i, j][inside].min() if bool(inside.any()) else torch.inf
    if member.shape[1] != m or bool((alpha[i, j][~inside] >= least).any()):
        raise GiveUp(f"the largest pair correlations make no {m} cliques")
    if size is not None and bool((member.sum(dim=0) != size).any()):
        raise GiveUp(f"the largest pair correlations make no {m} cliques of {size} inputs")
    return member.to(alpha)
