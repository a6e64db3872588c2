"""Spans near those of rank-one matrices, at a distance that was wanted.

(1)  δ = ‖P_W - P_Ŵ‖,   Ŵ = {Z + δ/√(1-δ²) A(Z)} for Z in W = span{w_k w_kᵀ}, A random into W⊥ with ‖A‖ = 1.
"""

import math

import torch
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans.subspace import Span

SAME = 0.999  # |cos| of two ends of one maximum
HALF = 0.5  # the threshold that Theorem 3.3 proves enough


def perturbed(w: Tensor, delta: float, run: Run) -> Span:
    """Ŵ of (1) for columns w."""
    basis = span_of_squares(w)
    z = run.normal(*basis.shape)
    z = z - basis @ (basis.T @ z)
    z = z / torch.linalg.matrix_norm(z, 2)
    q = torch.linalg.qr(basis + delta / math.sqrt(1 - delta**2) * z, mode="complete")[0]
    return Span(q[:, : w.shape[1]], q[:, w.shape[1] :], math.inf, len(w))
