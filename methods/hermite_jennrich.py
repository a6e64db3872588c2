"""`hermite-jennrich`: a sum of biased ReLUs from two of its Hermite tensors by Jennrich's algorithm.

    (1)  T_k = Σ_i λ_k(i) w_i^{⊗k},   λ_k = a (-1)^k He_{k-2}(b) φ(b)   for k ≥ 2,
    (2)  T_{2l+1}, as D^l × D^{l+1}, and T_{2l+2}, as D^l × D^{l+2}: as many terms as singular values exceed η_1,
    (3)  λ_{2l+1} and λ_{2l+2} never vanish together; the lists are joined, a direction from where it is higher.

η_1 is one and a half times the noise that two halves of the samples show, or rounding; terms with a coefficient below
it are dropped. Where too few are left of a known number, terms below η_1 are asked for as well.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Algorithms 1 to 6. Its thresholds, of the size of ε⁴, are
replaced by (2); where it prints α < η_2, |α| is meant.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run, Spec
from paramid.methods.hermite.jennrich import Terms, jennrich
from paramid.methods.hermite.moment_estimates import Moments
from paramid.methods.hermite.tensors_to_network import HermitePipeline
from paramid.words.options import at_least

LOUD = 1.5  # the half-split noise is right to a fifth
ROUNDING = 1e-9  # of the first singular value
TINY = 1e-300  # of a tensor that is zero
SAME, SAME_NOISY = 1e-3, 0.3  # distance of two copies of one direction


@dataclass(frozen=True)
class HermiteJennrich(HermitePipeline):
    """Jennrich's algorithm on two Hermite tensors of a ReLU network (Awasthi, Tang & Vijayaraghavan 2021)."""

    tries: int = 20  # random pairs g, h for each tensor; the one of least residual is kept

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, tries=1)

    def directions(self, moments: Moments, spec: Spec, run: Run) -> Tensor:
        """(2) and (3)."""
        known = spec.widths[0]
        most = count(moments, 2, 1) if known is None and self.order == 1 else known
        found = self.joined(moments, most, run, forced=False)
        if known is not None and found.shape[1] < known and any(moments.noise.values()):
            found = self.joined(moments, known, run, forced=True)
        return found

    def joined(self, moments: Moments, most: int | None, run: Run, *, forced: bool) -> Tensor:
        """The directions of both tensors, at most `most`; `forced`: that many of each, whatever the noise."""
        columns, heights = [], []
        for k in (2 * self.order + 1, 2 * self.order + 2):
            rank, floor = count(moments, k, self.order), threshold(moments, k, self.order)
            side = moments.inputs**self.order
            rank = rank if most is None else min(most, side if forced else rank)
            terms = jennrich(moments.full(k), self.order, rank, run, tries=self.tries)
            terms = terms if forced else above(terms, floor)
            columns.append(terms.columns)
            heights.append(terms.coefficients.abs() / floor)
        same = SAME_NOISY if any(moments.noise.values()) else SAME
        return distinct(torch.cat(columns, dim=1), torch.cat(heights), same)[:, :most]


def threshold(moments: Moments, order: int, left: int) -> float:
    """η_1 of (2)."""
    return max(LOUD * moments.noise[order], ROUNDING * float(singular(moments, order, left)[0]), TINY)


def count(moments: Moments, order: int, left: int) -> int:
    """How many singular values of T_order exceed η_1."""
    return int((singular(moments, order, left) > threshold(moments, order, left)).sum())


def singular(moments: Moments, order: int, left: int) -> Tensor:
    """The singular values of T_order with `left` of its indices as rows."""
    return torch.linalg.svdvals(moments.full(order).reshape(moments.inputs**left, -1))


def above(terms: Terms, floor: float) -> Terms:
    """The terms whose coefficient exceeds `floor`."""
    keep = terms.coefficients.abs() > floor
    return Terms(terms.columns[:, keep], terms.coefficients[keep], terms.residual)


def distinct(columns: Tensor, heights: Tensor, same: float) -> Tensor:
    """One of each class of columns that agree up to sign, the highest first."""
    kept: list[int] = []
    for i in heights.argsort(descending=True).tolist():
        w = columns[:, kept]
        gaps = torch.minimum(*((w - s * columns[:, i : i + 1]).norm(dim=0) for s in (1, -1)))
        if not bool((gaps < same).any()):
            kept.append(i)
    return columns[:, kept]
