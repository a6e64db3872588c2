"""The span of rank-ones behind many rows, from the smaller Gram matrix of the rows; its dimension by the first gap.

For rows R (count, n) of packed symmetric matrices, n = D(D+1)/2,

    (1)  RᵀR = V S² Vᵀ where n ≤ count, and V = Rᵀ U S⁻¹ with R Rᵀ = U S² Uᵀ otherwise,
    (2)  S_m / S_{m+1} ≫ 1 where m is the dimension of the span and the rest is the error of the rows.

One eigendecomposition takes a twentieth of an SVD's time. It loses singular values below 1e-8 S_1, far below the error
of differences. Two traps surround the gap: a neuron that is weak or nearly parallel to another makes a ratio of up to
100 before it, and the next order of the truncation ends in another drop after it. So m is the FIRST ratio (2) that is
large and no less than a hundredth of the largest, believed only where there were clearly more rows than that.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid.methods.spans import subspace
from paramid.methods.spans.subspace import Projector

RIVAL = 100.0  # the most by which a later ratio may exceed that of the gap
MARGIN = 4  # rows beyond those that are in proportion
FLOOR = 1e-8  # of S_1: below it Gram matrices round


@dataclass(frozen=True)
class Spectrum:
    """(1): all singular values, descending, and the eigenvectors of the Gram matrix in the same order."""

    values: Tensor
    vectors: Tensor
    rows: Tensor

    @property
    def dimensions(self) -> int:
        """The length of a row."""
        return self.rows.shape[1]

    def gap(self, m: int) -> float:
        """(2), infinite where the rows have no further dimension."""
        return float(self.values[m - 1] / self.floored[m]) if m < len(self.values) else torch.inf

    @property
    def floored(self) -> Tensor:
        """The singular values, those within rounding lifted to it."""
        return self.values.clamp(min=max(FLOOR * float(self.values[0]), torch.finfo(self.values.dtype).tiny))

    def first_gap(self, least: float, spare: float) -> int | None:
        """The first m whose ratio (2) is at least `least`, if there were more than `spare` m rows to tell."""
        ratios = self.floored[:-1] / self.floored[1:]
        largest = float(ratios.max()) if len(ratios) else 0.0
        if largest < least:
            return None
        m = int((ratios >= max(least, largest / RIVAL)).nonzero()[0]) + 1
        return m if len(self.rows) >= spare * m + MARGIN else None

    def basis(self, m: int) -> Tensor:
        """The leading m dimensions as orthonormal columns, (n, m)."""
        if len(self.vectors) == self.dimensions:
            return self.vectors[:, :m]
        return torch.linalg.qr(self.rows.T @ self.vectors[:, :m])[0]

    def projector(self, m: int, d: int) -> Projector:
        """P onto them, over the complement where that has fewer matrices and is at hand."""
        if len(self.vectors) == self.dimensions < 2 * m:
            return subspace.projector(self.vectors[:, m:], True, d)
        return subspace.projector(self.basis(m), False, d)


def streamed(blocks: Iterable[Tensor]) -> Spectrum:
    """(1) of rows that come in blocks and are not kept, by their (n, n) Gram matrix."""
    gram = None
    for rows in blocks:
        gram = rows.T @ rows if gram is None else gram.addmm_(rows.T, rows)
    assert gram is not None  # there are rows
    values, vectors = torch.linalg.eigh(gram)
    return Spectrum(values.flip(0).clamp(min=0).sqrt(), vectors.flip(1), gram[:0])


def spectrum(rows: Tensor) -> Spectrum:
    """(1), by whichever Gram matrix is smaller."""
    gram = rows.T @ rows if len(rows) >= rows.shape[1] else rows @ rows.T
    values, vectors = torch.linalg.eigh(gram)
    return Spectrum(values.flip(0).clamp(min=0).sqrt(), vectors.flip(1), rows)
