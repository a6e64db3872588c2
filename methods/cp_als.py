"""`cp-als`: the rank-one terms of two Hermite tensors by alternating least squares, the common baseline.

    (1)  T_k ≈ Σ_{r≤m} u_r^{(1)} ⊗ … ⊗ u_r^{(k)},   k = 3, 4,   one factor after the other by least squares,

from random starts, without asking for symmetry; at a solution all factors of a term are w_r up to scale. T_3 and T_4
are taken whatever the order l: l decides how many units may be asked for and which coefficients give their scalars. By
Kruskal's condition T_4 has one such decomposition for 4 D ≥ 2 m + 3 and W in general position. Many a start ends where
it decomposes nothing: a direction is taken from the tensor in which its coefficient is highest above the noise and
above what (1) leaves of that tensor.

References: Harshman 1970; Kolda & Bader, SIAM Review 51 (2009), §3.4; Kossaifi et al., TensorLy, JMLR 20 (2019).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Run, Spec
from paramid.methods.hermite.jennrich import Terms, expand
from paramid.methods.hermite.moment_estimates import Moments
from paramid.methods.hermite.tensors_to_network import HermitePipeline
from paramid.methods.hermite_jennrich import SAME, SAME_NOISY, count, distinct, threshold
from paramid.words import hermite
from paramid.words.options import at_least

SOLVED = 1e-7  # of the tensor: no other start is needed


@dataclass(frozen=True)
class AlternatingLeastSquares(HermitePipeline):
    """CP decomposition of Hermite tensors by alternating least squares (tensorly's `parafac`): the baseline."""

    starts: int = 3  # random starts for each tensor, at most; the one of least residual is kept
    iterations: int = 300  # rounds of alternating least squares of a start, at most
    tolerance: float = 0.0  # change of tensorly's error, right to √eps, at which a start ends; 0: after all its rounds

    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, starts=1, iterations=1, tolerance=0)

    @property
    def orders(self) -> tuple[int, ...]:
        """The coefficients it takes: those of the scalars, and T_3, T_4."""
        return tuple(sorted({*super().orders, 3, 4}))

    def declines(self, spec: Spec) -> str | None:
        """A known number of units, few enough for one decomposition."""
        if reason := super().declines(spec):
            return reason
        m = spec.widths[0]
        if m is None:
            return "needs to know the number of units"
        if m > 1 and 4 * spec.inputs < 2 * m + 3:
            return f"{m} units exceed (4 D - 3) / 2 = {(4 * spec.inputs - 3) / 2:g}: T_4 may have other decompositions"
        return None

    def directions(self, moments: Moments, spec: Spec, run: Run) -> Tensor:
        """(1) for both tensors; of every direction the copy that stands out more, also of what (1) leaves."""
        m = spec.widths[0]
        assert m is not None  # declined otherwise
        terms = {k: self.decompose(moments.full(k), rank(moments, k, m), run) for k in (3, 4)}
        heights = [t.coefficients.abs() / max(threshold(moments, k, 1), t.residual) for k, t in terms.items()]
        same = SAME_NOISY if any(moments.noise.values()) else SAME
        return distinct(torch.cat([t.columns for t in terms.values()], dim=1), torch.cat(heights), same)[:, :m]

    def decompose(self, tensor: Tensor, rank: int, run: Run) -> Terms:
        """The start of (1) with the smallest residual, its terms made symmetric."""
        best = Terms(tensor.new_zeros(len(tensor), 0), tensor.new_zeros(0), math.inf)
        size = float(tensor.norm())
        for _ in range(self.starts if size else 0):
            if best.residual < SOLVED * size:
                break
            start = [run.normal(len(tensor), rank) for _ in range(tensor.ndim)]
            columns = alternate(tensor / size, start, self.iterations, self.tolerance)
            if columns is not None:
                best = min(best, expand(columns, hermite.fold(tensor), tensor.ndim), key=lambda terms: terms.residual)
        return best


def rank(moments: Moments, order: int, most: int) -> int:
    """The terms of T_order: fewer than units where coefficients are exact and a bias is a root of their polynomial."""
    exact = not any(moments.noise.values())
    return min(most, count(moments, order, 1)) if exact and most <= moments.inputs else most


def alternate(tensor: Tensor, start: list[Tensor], iterations: int, tolerance: float) -> Tensor | None:
    """The unit columns of the first factor where alternating least squares ends, None where it broke down."""
    import tensorly  # its import takes a second, which every cell would pay
    from tensorly.decomposition import parafac

    with tensorly.backend_context("pytorch", local_threadsafe=True):
        try:
            _, factors = parafac(
                tensor,
                start[0].shape[1],
                init=(None, start),
                n_iter_max=iterations,
                tol=tolerance,
                random_state=0,
            )
        except torch.linalg.LinAlgError:  # type: ignore[attr-defined]  # a singular system
            return None
    columns: Tensor = factors[0] / factors[0].norm(dim=0)
    return columns if bool(torch.isfinite(columns).all()) else None
