"""One lattice of order n: all differences up to that order at a base point, and the rows of span{w_k^⊗s} in them.

Of f(x) = Σ_k g(⟨w_k, x⟩ + τ_k) take F(c) = f(x + h c) for c ∈ N^d, |c| ≤ n: C(d+n, n) values, each point once. With
Δ_i F(c) = F(c + e_i) - F(c), for every multi-index K = (k_1 ≤ … ≤ k_j) of j ≤ n entries,

    (1)  T_K = Δ_K F(0) / h^j ≈ ∂_K f(x) = Σ_k g^(j)(z_k) w_k^K,   z_k = ⟨w_k, x⟩ + τ_k,

all of them by Newton's scheme: along every axis i, for t = 1 … n, F(c) ← F(c) - F(c - e_i) where c_i ≥ t. Whatever
way K is divided into J of q entries and I of s,

    (2)  R_JI = ω_J T_{J∪I} ω_I ≈ Σ_k g^(q+s)(z_k) φ_q(w_k)_J φ_s(w_k)_I,   q = 0 … n - s,   (symmetric_tensors)

so that n = 2s gives C(d+s, s) rows of span{w_k^⊗s}. The error is of order h, over both sides ±h of order h². For a
network that is known both ends of (2) can be had, and so their difference.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from paramid import Network, Oracle
from paramid.methods.spans.activation_derivatives import derivatives
from paramid.methods.spans.symmetric_tensors import dimensions, indices, places, powers, weights
from paramid.words.activations import activation

BATCH = 2**20  # doubles of points held at once


def points_of(d: int, n: int) -> int:
    """The values that a lattice takes."""
    return math.comb(d + n, n)


@dataclass(frozen=True)
class Simplex:
    """The points c, |c| ≤ n, by order and within it by rank; `after` says where c + e_i is."""

    d: int
    n: int
    s: int
    counts: Tensor  # c, (points, d)
    after: Tensor  # (points of order below n, d)

    @cached_property
    def offsets(self) -> list[int]:
        """Where the points of every order start."""
        return [math.comb(self.d + j - 1, j - 1) if j else 0 for j in range(self.n + 2)]

    @cached_property
    def unions(self) -> list[Tensor]:
        """Of every q where J ∪ I is, (n_q, n_s)."""
        first = self.offsets[self.s] + torch.arange(dimensions(self.d, self.s), device=self.after.device)
        found = []
        for q in range(self.n - self.s + 1):
            where = first.expand(dimensions(self.d, q), -1)
            for axis in indices(self.d, q, self.after.device).unbind(1):
                where = self.after[where, axis[:, None]]
            found.append(where.to(torch.int32))
        return found

    def differences(self, values: Tensor, h: float) -> Tensor:
        """(1) from the values at all points."""
        f, below = values.clone(), self.counts[: len(self.after)]
        for axis in range(self.d):
            for t in range(self.n):
                before = (below[:, axis] >= t).nonzero()[:, 0]
                f[self.after[before, axis]] -= f[before]
        for j in range(self.n + 1):
            f[self.offsets[j] : self.offsets[j + 1]] /= h**j
        return f

    def rows(self, tensor: Tensor) -> list[Tensor]:
        """(2) from (1): of every q the rows (n_q, n_s)."""
        across = weights(self.d, self.s, tensor.device, tensor.dtype)
        found = []
        for q, where in enumerate(self.unions):
            along = weights(self.d, q, tensor.device, tensor.dtype)
            found.append(tensor[where] * along[:, None] * across)
        return found

    def exact_rows(self, network: Network, x: Tensor) -> list[Tensor]:
        """The right end of (2) for a shallow network."""
        w, z = network.weights[0].T, network.preactivations(x[None])[0][0]
        slopes = derivatives(activation(network.activations[0]), z, self.n)
        right = powers(w, self.s)
        return [(powers(w, q) * slopes[q + self.s][:, None]).T @ right for q in range(self.n - self.s + 1)]


@lru_cache(maxsize=4)
def simplex(d: int, n: int, s: int, device: torch.device) -> Simplex:
    """The lattice of that order in d inputs."""
    orders = [indices(d, j, device) for j in range(n + 1)]
    counts = torch.zeros(points_of(d, n), d, dtype=torch.int8, device=device)
    one = torch.ones(1, 1, dtype=torch.int8, device=device)
    start = 0
    for j, each in enumerate(orders):
        counts[start : start + len(each)].scatter_add_(1, each, one.expand(len(each), j))
        start += len(each)
    offsets = [math.comb(d + j, j) for j in range(n)]
    after = [offset + places(d, j + 1, device) for j, offset in enumerate(offsets)]
    return Simplex(d, n, s, counts, torch.cat(after))


def values(oracle: Oracle | Network, x: Tensor, h: float, lattice: Simplex) -> Tensor:
    """F at all points of the lattice around `x`."""
    ask = oracle if isinstance(oracle, Network) else oracle.query
    width = oracle.widths[0] if isinstance(oracle, Network) else lattice.d
    found, size = x.new_empty(len(lattice.counts)), max(1, BATCH // max(width, lattice.d))
    for counts, part in zip(lattice.counts.split(size), found.split(size), strict=True):
        part.copy_(ask(x + h * counts.to(x.dtype))[:, 0])  # a list of small results would keep the memory of large ones
    return found
