"""Quadratic forms f(x) = zᵀ Q z as linear functions of their matrix, z = x or, with shifts or an output bias, [x, 1].

    (1)  zᵀ Q z = ⟨q, a(z)⟩,   a(z) = (z_i z_j)_{i≤j} and q = (Q_ij)_{i≤j}, off-diagonal entries times √2,

so that ‖q‖ = ‖Q‖_F. What is claimed is always the matrix of [x, 1], its last row zero where there is nothing to see.
"""

import math

import torch
from torch import Tensor

from paramid import Gram, Spec


def constant(spec: Spec) -> bool:
    """Whether z has a constant coordinate."""
    return bool(spec.shift) or spec.output_bias != "zero"


def size(spec: Spec) -> int:
    """The coordinates of z."""
    return spec.inputs + constant(spec)


def numbers(spec: Spec) -> int:
    """The distinct entries of Q."""
    return size(spec) * (size(spec) + 1) // 2


def squares(spec: Spec) -> str | None:
    """Why a teacher is no sum of squares, or None."""
    return None if spec.shallow and spec.activation == "square" else "needs one layer of squares and a linear output"


def lift(spec: Spec, x: Tensor) -> Tensor:
    """The z of every row."""
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1) if constant(spec) else x


def features(z: Tensor) -> Tensor:
    """a(z) of (1) for every row: (rows, entries)."""
    i, j, scale = entries(z.shape[1], z)
    return z[:, i] * z[:, j] * scale


def symmetric(q: Tensor, s: int) -> Tensor:
    """The matrices Q (outputs, s, s) of columns q (entries, outputs)."""
    i, j, scale = entries(s, q)
    full = q.new_zeros(q.shape[1], s, s)
    full[:, i, j] = full[:, j, i] = (q / scale[:, None]).T
    return full


def folded(matrices: Tensor) -> Tensor:
    """The columns q of matrices Q."""
    i, j, scale = entries(matrices.shape[-1], matrices)
    return (matrices[:, i, j] * scale).T


def entries(s: int, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows and columns of the upper triangle, and the factors 1 and √2 of (1)."""
    i, j = torch.triu_indices(s, s, device=like.device)
    return i, j, 1 + (math.sqrt(2) - 1) * (i != j).to(like)


def claimed(spec: Spec, matrices: Tensor, stats: dict[str, float] | None = None) -> Gram:
    """The claim of matrices (outputs, size, size)."""
    padding = 0 if constant(spec) else 1
    padded = torch.nn.functional.pad(matrices, (0, padding, 0, padding))
    return Gram(padded[0] if spec.outputs == 1 else padded, stats=stats or {})
