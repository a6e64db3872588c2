"""Symmetric tensors of any order as vectors whose inner products are those of the tensors.

Of T in Sym^s(R^d) the entry of every sorted multi-index I = (i_1 ≤ … ≤ i_s) is kept once, at the place (2), times

    (1)  ω_I = √(s! / Π_i (multiplicity of i in I)!),
    (2)  rank(I) = Σ_t C(i_t + t, t + 1),   t = 0 … s-1, entries counted from 0,

so that u^⊗s becomes φ_s(u)_I = ω_I u^I and ⟨φ_s(u), φ_s(v)⟩ = ⟨u, v⟩^s. A tensor sees its slots filled one by one,

    (3)  T(u, …, u, ·)_i = Σ_I φ_{s-1}(u)_I ω_I T_{I i}   over |I| = s - 1.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor


def dimensions(d: int, s: int) -> int:
    """Of Sym^s(R^d)."""
    return math.comb(d + s - 1, s)


def ranks(ordered: Tensor) -> Tensor:
    """(2) along the last axis."""
    most = int(ordered.max()) if ordered.numel() else 0
    total = torch.zeros(ordered.shape[:-1], dtype=torch.int64, device=ordered.device)
    for t in range(ordered.shape[-1]):
        column = [math.comb(i + t, t + 1) for i in range(most + 1)]
        total += torch.tensor(column, dtype=torch.int64, device=total.device)[ordered[..., t]]
    return total


@lru_cache(maxsize=32)
def indices(d: int, s: int, device: torch.device) -> Tensor:
    """All sorted multi-indices in the order of their ranks, (n_s, s): those with the same last entry i stand together.

    What stands before it are the first of one order less, which are those with entries up to i.
    """
    if s == 0:
        return torch.zeros(1, 0, dtype=torch.int64, device=device)
    shorter, found = indices(d, s - 1, device), []
    for i in range(d):
        head = shorter[: dimensions(i + 1, s - 1)]
        found.append(torch.cat([head, head.new_full((len(head), 1), i)], 1))
    return torch.cat(found)


@lru_cache(maxsize=32)
def weights(d: int, s: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """(1), (n_s,)."""
    i = indices(d, s, device)
    run = product = torch.ones(len(i), dtype=dtype, device=device)
    for t in range(1, s):
        run = torch.where(i[:, t] == i[:, t - 1], run + 1, torch.ones_like(run))
        product = product * run
    return (math.factorial(s) / product).sqrt()


@lru_cache(maxsize=32)
def places(d: int, s: int, device: torch.device) -> Tensor:
    """Where the entry (I, i), |I| = s - 1, is packed, (n_{s-1}, d)."""
    first = indices(d, s - 1, device)[:, None, :].expand(-1, d, -1)
    last = torch.arange(d, dtype=torch.int64, device=device)[None, :, None].expand(len(first), -1, 1)
    return ranks(torch.cat([first, last], 2).sort(2)[0])


def powers(u: Tensor, s: int) -> Tensor:
    """φ_s of every row: (rows, d) -> (rows, n_s)."""
    d = u.shape[1]
    found = weights(d, s, u.device, u.dtype).expand(len(u), -1)
    for column in indices(d, s, u.device).unbind(1):
        found = found * u[:, column]
    return found


def slices(columns: Tensor, d: int, s: int) -> Tensor:
    """What (3) sums φ_{s-1}(u) with, for packed `columns` (n_s, k): (n_{s-1}, k, d)."""
    entries = columns / weights(d, s, columns.device, columns.dtype)[:, None]
    first = weights(d, s - 1, columns.device, columns.dtype)
    return (entries[places(d, s, columns.device)] * first[:, None, None]).mT.contiguous()


def contracted(packed: Tensor, v: Tensor, s: int) -> Tensor:
    """Every tensor of (rows, n_s) with s - 2 slots filled by its row of `v` (rows, d): (rows, d, d)."""
    d = v.shape[1]
    while s > 1:
        entries = packed / weights(d, s, v.device, v.dtype)
        open_slot = entries[:, places(d, s, v.device)]
        if s == 2:
            return open_slot
        packed, s = (open_slot @ v[:, :, None])[:, :, 0] * weights(d, s - 1, v.device, v.dtype), s - 1
    raise ValueError(f"a tensor of order {s} is no matrix; order 2 or more was wanted")
