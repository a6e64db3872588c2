"""A network fitted to Hermite coefficients: Levenberg-Marquardt in closed form.

    (1)  L(W, b, a) = Σ_k (1/k!) ‖T_k - M_k‖²,   M_k = Σ_i λ_k(i) w_i^{⊗k},   λ_k = a c_k(b),   ‖w_i‖ = 1,

which over all k is E(f - g)² (Prop. 3.6), and over the orders at hand weighs each entry by the noise of its mean. With
R = T - M, ρ = WᵀW and c_k' = c_{k+1} (Stein), for the parameters w_i along δ, b_i and a_i,

    (2)  ∂M_k = λ_k k Sym(δ ⊗ w^{k-1}),   a c_{k+1} w^{⊗k},   c_k w^{⊗k},
    (3)  ⟨k Sym(δ w_i^{k-1}), w_j^k⟩ = k (δ·w_j) ρ^{k-1},
         ⟨k Sym(δ w_i^{k-1}), k Sym(ε w_j^{k-1})⟩ = k (δ·ε) ρ^{k-1} + k (k-1) (δ·w_j) (ε·w_i) ρ^{k-2},

so that no Jacobian is ever formed: its Gram matrix is made of powers of ρ, and Jᵀ R of contractions of R with W.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Proposition 3.6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from paramid.methods.refinement.gradient_system import Pinned, split
from paramid.methods.refinement.unit_descent import Normal, descend
from paramid.words import hermite

HELD = 2**22  # doubles of an intermediate
SETTLED, STEPS = 1e-6, 40
Tensors = Mapping[int, Tensor]  # order -> distinct entries


def fit(theta: Tensor, targets: Tensors, name: str, *, pinned: Pinned, steps: int = STEPS) -> tuple[Tensor, Normal]:
    """The nearest minimum of (1) to θ = (W, b, a), and (1) to its second order there."""
    size = energy(targets, len(theta) - 2)
    floor = (4 * torch.finfo(theta.dtype).eps) ** 2 * size
    return descend(
        theta,
        lambda at: normal_equations(at, targets, name),
        pinned=pinned,
        settled=SETTLED,
        floor=floor,
        steps=steps,
    )


def energy(tensors: Tensors, inputs: int) -> float:
    """Σ_k (1/k!) ‖T_k‖²."""
    parts = [
        (hermite.multiplicities(inputs, k, t.device) * t.square()).sum() / math.factorial(k) for k, t in tensors.items()
    ]
    return float(sum(parts))


def normal_equations(theta: Tensor, targets: Tensors, name: str) -> Normal:
    """(1), Jᵀ R and JᵀJ at θ."""
    w, b, a = split(theta)
    c = hermite.coefficients(name, max(targets) + 1, b)
    rho, slope = w.T @ w, torch.zeros_like(theta)
    outer = [torch.zeros_like(rho) for _ in range(7)]
    rests = {k: target - modelled(w, a * c[k], k) for k, target in targets.items()}
    for k, rest in rests.items():
        share, loading = 1 / math.factorial(k), a * c[k]
        once = contract(hermite.unfold(rest, len(w), k), w)
        whole = (w * once).sum(0) if k else rest.expand(len(b))
        slope = slope + share * torch.cat([k * loading * once, (a * c[k + 1] * whole)[None], (c[k] * whole)[None]])
        for sums, more in zip(outer, products(rho, k, loading, a * c[k + 1], c[k]), strict=True):
            sums += share * more
    return Normal(energy(rests, len(w)), slope, assembled(w, outer))


def products(rho: Tensor, k: int, loading: Tensor, shift: Tensor, size: Tensor) -> tuple[Tensor, ...]:
    """What (3) needs of an order, (m, m) each: δ·ε, (δ·w_j)(ε·w_i), then δ·w_j and nothing by b_j and a_j."""
    once, twice = k * rho ** max(k - 1, 0), k * (k - 1) * rho ** max(k - 2, 0)
    whole = rho**k
    return (
        loading[:, None] * once * loading,
        loading[:, None] * twice * loading,
        loading[:, None] * once * shift,
        loading[:, None] * once * size,
        shift[:, None] * whole * shift,
        shift[:, None] * whole * size,
        size[:, None] * whole * size,
    )


def assembled(w: Tensor, sums: list[Tensor]) -> Tensor:
    """JᵀJ (n, n) from the sums of `products`."""
    straight, crossed, w_b, w_a, b_b, b_a, a_a = sums
    d, m = w.shape
    gram = w.new_zeros(d + 2, m, d + 2, m)
    same = torch.eye(d, device=w.device, dtype=w.dtype)
    gram[:d, :, :d] = torch.einsum("rs,ij->risj", same, straight) + torch.einsum("ij,rj,si->risj", crossed, w, w)
    for place, block in ((d, w_b), (d + 1, w_a)):
        gram[:d, :, place] = w[:, None, :] * block
        gram[place, :, :d] = (w[:, None, :] * block).permute(2, 0, 1)
    gram[d, :, d], gram[d, :, d + 1], gram[d + 1, :, d], gram[d + 1, :, d + 1] = b_b, b_a, b_a.T, a_a
    return gram.reshape((d + 2) * m, (d + 2) * m)


def modelled(w: Tensor, loading: Tensor, order: int) -> Tensor:
    """The distinct entries of Σ_i λ_i w_i^{⊗k}, a few columns at a time."""
    at_once = max(1, HELD // hermite.entries(len(w), order))
    parts = zip(w.split(at_once, dim=1), loading.split(at_once), strict=True)
    return sum(
        (hermite.powers(some, order) @ size for some, size in parts), w.new_zeros(hermite.entries(len(w), order))
    )


def contract(full: Tensor, w: Tensor) -> Tensor:
    """T·w^{k-1} for every column, (D, m); for a number, zeros."""
    d, k = len(w), full.ndim
    if k < 2:
        return full[:, None].expand(d, w.shape[1]) if k else torch.zeros_like(w)
    found = []
    for columns in w.split(max(1, HELD // d ** (k - 1)), dim=1):
        part = full.reshape(-1, d) @ columns
        for _ in range(k - 2):
            part = (part.view(-1, d, columns.shape[1]) * columns).sum(1)
        found.append(part)
    return torch.cat(found, 1)


def loadings(full: Tensor, w: Tensor) -> Tensor:
    """λ of the nearest Σ_i λ_i w_i^{⊗k} to T, (m,)."""
    values = (w * contract(full, w)).sum(0)
    return torch.linalg.pinv((w.T @ w) ** full.ndim, hermitian=True) @ values
