"""Symmetric matrices as vectors: the upper triangle, off-diagonal entries times √2, so that inner products agree.

The order is that of `torch.triu_indices`; `paramid.Subspace` uses the same.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor


@lru_cache(maxsize=32)
def triangle(d: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Row and column of every packed entry."""
    i, j = torch.triu_indices(d, d, device=device)
    return i, j


@lru_cache(maxsize=32)
def places(d: int, device: torch.device) -> Tensor:
    """Where entry (i, j) of the matrix is packed, (d, d)."""
    i, j = triangle(d, device)
    place = torch.empty(d, d, dtype=torch.int64, device=device)
    place[i, j] = place[j, i] = torch.arange(len(i), dtype=torch.int64, device=device)
    return place


@lru_cache(maxsize=32)
def weights(d: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """1 on the diagonal, √2 off it."""
    i, j = triangle(d, device)
    return torch.ones(len(i), device=device, dtype=dtype).masked_fill_(i != j, math.sqrt(2))


def pack(matrices: Tensor) -> Tensor:
    """(…, d, d) -> (…, d(d+1)/2)."""
    d = matrices.shape[-1]
    i, j = triangle(d, matrices.device)
    return matrices[..., i, j] * weights(d, matrices.device, matrices.dtype)


def unpack(vectors: Tensor, d: int) -> Tensor:
    """(…, d(d+1)/2) -> (…, d, d)."""
    return (vectors / weights(d, vectors.device, vectors.dtype))[..., places(d, vectors.device)]


def squares(u: Tensor) -> Tensor:
    """The packed u uᵀ of every row: (…, d) -> (…, d(d+1)/2)."""
    d = u.shape[-1]
    i, j = triangle(d, u.device)
    return u[..., i] * u[..., j] * weights(d, u.device, u.dtype)
