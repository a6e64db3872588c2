"""Directions of Σ_i λ_k(i) w_i^{⊗k}, k = 2l, 2l + 1, 2l + 2, from one pencil over all three tensors.

With S_k = T_k / √k! reshaped to D^l x D^l x D^{k-2l} and U a basis of the span of the w_i^{⊗l},

    (1)  S_k(·, ·, G) = Σ_i λ_k(i) ⟨w_i^{k-2l}, G⟩ / √k!  w_i^{⊗l} (w_i^{⊗l})ᵀ,
    (2)  A B⁻¹ U'w^{⊗l} = μ U'w^{⊗l}   for A, B = Uᵀ (Σ_k S_k(·, ·, G_k)) U with random G_k.

Where λ_2 never vanishes (convex activations, l = 1) T_2 is the pivot: U spans its leading |eigenvalues| — outer weights
have both signs — and B = UᵀT_2 U. Elsewhere U spans the leading part of Σ_k S_k S_kᵀ and B is drawn like A. One
decomposition instead of two, and no merge: an order in which λ vanishes is made up for by the next (consecutive Hermite
polynomials share no root). Of several draws the one whose columns leave least of T_2l … T_2l+2 is kept,

    (3)  Σ_k (1/k!) ‖T_k - Σ_i λ_i w_i^{⊗k}‖²,   λ by least squares.

Reference: the pencils of Jennrich and Harshman, as in Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Algorithm 1.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.hermite.coefficient_fit import contract

LEAST = 0.2  # of the share of T_2l+2 in A

Full = Mapping[int, Tensor]  # order -> full symmetric tensor


def directions(tensors: Full, m: int, run: Run, *, lift: int, pivot: bool, tries: int) -> Tensor:
    """The unit columns (D, m), up to sign, of the draw that does best by (3)."""
    orders = (2 * lift, 2 * lift + 1, 2 * lift + 2)
    core = {k: tensors[k] for k in orders}
    basis = leading(core[2] if pivot else gathered(core, lift), m)
    inside = basis if lift == 1 else None  # every index lies in the span of the w_i themselves
    if inside is not None:
        core = {k: narrowed(t, inside) for k, t in core.items()}
    slices = {k: compressed(t, basis, lift, k) for k, t in core.items()}
    best, found = math.inf, basis.new_zeros(core[orders[0]].shape[0], m)
    for _ in range(tries):
        columns = drawn(slices, basis, run, lift=lift, pivot=pivot)
        if columns is not None and (left := missed(core, columns)) < best:
            best, found = left, columns
    return inside @ found if inside is not None else found


def gathered(core: Full, lift: int) -> Tensor:
    """Σ_k S_k S_kᵀ, (D^l, D^l)."""
    rows = [t.reshape(t.shape[0] ** lift, -1) / math.sqrt(math.factorial(k)) for k, t in core.items()]
    return sum((s @ s.T for s in rows), rows[0].new_zeros(len(rows[0]), len(rows[0])))


def leading(matrix: Tensor, m: int) -> Tensor:
    """Eigenvectors of the m largest |eigenvalues|."""
    values, vectors = torch.linalg.eigh(matrix)
    return vectors[:, values.abs().argsort(descending=True)[:m]]


def narrowed(tensor: Tensor, basis: Tensor) -> Tensor:
    """The tensor with every index in the basis."""
    for _ in range(tensor.ndim):
        tensor = torch.tensordot(tensor, basis, dims=([0], [0]))  # the first index becomes the last
    return tensor


def compressed(tensor: Tensor, basis: Tensor, lift: int, order: int) -> Tensor:
    """UᵀS_k U, (D^{k-2l}, m, m); narrowed tensors are in U already."""
    size = tensor.shape[0] ** lift
    cube = tensor.reshape(size, size, -1).permute(2, 0, 1) / math.sqrt(math.factorial(order))
    return cube if lift == 1 else basis.T @ cube @ basis


def drawn(slices: Full, basis: Tensor, run: Run, *, lift: int, pivot: bool) -> Tensor | None:
    """Unit columns from the eigenvectors of (2) for one draw, their real parts; None from a singular pencil."""
    a, b = mixed(slices, run, lift=lift), slices[2][0] if pivot else mixed(slices, run, lift=lift)
    factor, pivots, failed = torch.linalg.lu_factor_ex(b.T)
    if int(failed):
        return None
    matrix = torch.linalg.lu_solve(factor, pivots, a.T).T
    if not bool(torch.isfinite(matrix).all()):
        return None
    vectors = torch.linalg.eig(matrix)[1].real
    columns = vectors if lift == 1 else lowered(basis @ vectors, lift)
    return columns / columns.norm(dim=0).clamp_min(torch.finfo(columns.dtype).tiny)


def mixed(slices: Full, run: Run, *, lift: int) -> Tensor:
    """Σ_k S_k(·, ·, G_k), (m, m)."""
    total = torch.zeros_like(slices[2 * lift][0])
    for k, cube in slices.items():
        shares = run.normal(1, len(cube))[0]
        if k == 2 * lift + 2:
            shares = shares * (
                LEAST + (1 - LEAST) * torch.rand(1, generator=run.generator, device="cpu", dtype=run.dtype).to(shares)
            )
        total = total + torch.tensordot(shares, cube, dims=1)
    return total


def lowered(columns: Tensor, lift: int) -> Tensor:
    """The vector nearest to each column as a power, w of w^{⊗l}: (D, m)."""
    d = round(len(columns) ** (1 / lift))
    flat = columns.T.reshape(columns.shape[1], d, -1)
    return torch.linalg.svd(flat, full_matrices=False)[0][:, :, 0].T.contiguous()


def missed(core: Full, columns: Tensor) -> float:
    """(3), by its normal equations."""
    along = torch.stack([(columns * contract(t, columns)).sum(0) for t in core.values()])
    grams = torch.stack([(columns.T @ columns) ** k for k in core])
    explained = (along * (torch.linalg.pinv(grams, hermitian=True) @ along[:, :, None])[:, :, 0]).sum(1)
    left = [(t.square().sum() - e) / math.factorial(k) for (k, t), e in zip(core.items(), explained, strict=True)]
    return float(sum(left))
