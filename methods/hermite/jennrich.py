"""Jennrich's algorithm: the rank-one terms of a symmetric tensor by simultaneous diagonalisation.

With W the columns w_i of length 1, T of order 2l + s, and W^{⊙l} the columns vec(w_i^{⊗l}) of full rank k,

    (1)  T = Σ_{i≤k} α_i w_i^{⊗(2l+s)},   read as a D^l × D^l × D^s tensor,
    (2)  U = the k leading left singular vectors of T as a D^l × D^{l+s} matrix,
    (3)  R(g) = Uᵀ T(·, ·, g) U = (Uᵀ W^{⊙l}) diag(α_i ⟨w_i^{⊗s}, g⟩) (Uᵀ W^{⊙l})ᵀ   for any g ∈ R^{D^s},
    (4)  R(g) R(h)^{-1} has the eigenvectors Uᵀ vec(w_i^{⊗l}), apart for random g and h,
    (5)  α = least squares of T on the w_i^{⊗(2l+s)}.

Of several pairs g, h the one with the smallest residual in (5) is kept. Under noise eigenpairs may turn complex: their
real parts are taken, and (5) judges them.

References: Harshman 1970; Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, §2.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.words import hermite


@dataclass(frozen=True)
class Terms:
    """Unit columns (D, k), their coefficients (k,), and ‖T - (1)‖."""

    columns: Tensor
    coefficients: Tensor
    residual: float


def jennrich(tensor: Tensor, left: int, rank: int, run: Run, *, tries: int = 20) -> Terms:
    """`rank` terms of a full symmetric tensor of order 2 left + s, by (2) to (5)."""
    d, order = tensor.shape[0], tensor.ndim
    side, last = d**left, d ** (order - 2 * left)
    u = torch.linalg.svd(tensor.reshape(side, -1), full_matrices=False)[0][:, :rank]
    slices = torch.einsum("ijs,ia,jb->abs", tensor.reshape(side, side, last), u, u)
    distinct = hermite.fold(tensor)
    best = Terms(tensor.new_zeros(d, 0), tensor.new_zeros(0), math.inf)
    for _ in range(tries if rank else 0):
        g, h = run.normal(2, last)
        columns = _eigenvectors(slices @ g, slices @ h)
        if columns is None:
            continue
        found = expand(torch.stack([lift(q, d) for q in (u @ columns).T], dim=1), distinct, order)
        best = min(best, found, key=lambda terms: terms.residual)
    return best


def lift(q: Tensor, inputs: int) -> Tensor:
    """The unit w with q ≈ c vec(w^{⊗l}), up to sign."""
    flat = q.reshape(inputs, -1)
    if flat.shape[1] == inputs:
        values, vectors = torch.linalg.eigh((flat + flat.T) / 2)
        return vectors[:, values.abs().argmax()]
    return torch.linalg.svd(flat, full_matrices=False)[0][:, 0]


def expand(columns: Tensor, distinct: Tensor, order: int) -> Terms:
    """(5), over the distinct entries weighted as the full tensor weighs them."""
    weight = hermite.multiplicities(len(columns), order, distinct.device).sqrt()
    powers = weight[:, None] * hermite.powers(columns, order)
    right = (weight * distinct)[:, None]
    coefficients = torch.linalg.pinv(powers) @ right
    return Terms(columns, coefficients[:, 0], float((powers @ coefficients - right).norm()))


def _eigenvectors(a: Tensor, b: Tensor) -> Tensor | None:
    """The eigenvectors (4) of a b^{-1}, real parts; None where b is singular or an eigenvector is not real at all."""
    try:
        vectors = torch.linalg.eig(torch.linalg.solve(b, a, left=False))[1].real
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]  # torch's stubs do not export it
        return None
    usable = bool(torch.isfinite(vectors).all()) and float(vectors.norm(dim=0).min()) > 0
    return vectors if usable else None
