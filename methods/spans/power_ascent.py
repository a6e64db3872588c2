"""The subspace power method: rank-one directions of a span of symmetric matrices.

With P the orthogonal projector onto the span and ‖u‖ = 1,

    (1)  Φ(u) = ‖P(u uᵀ)‖²_F ≤ 1, with equality at u = ±w_k,
    (2)  u ← (u + 2γ P(u uᵀ) u) / ‖u + 2γ P(u uᵀ) u‖,

where (2) is projected gradient ascent on (1), monotone for γ ≤ 1. Random starts end at every ±w_k; several end at the
same one, and starts that have not converged are worse than their neighbours, so of each heap the best is kept.
Algorithm 2.2 starts one by one until it holds m directions; §3.6 makes ⌈5 m ln D⌉ starts at once and no more. Here

    (3)  ⌈5 m ln D⌉ starts at once, and with starts=until a fifth of them again, until m are held or the cap is met.

References: Kileel & Pereira, arXiv:1912.04007; Rauchensteiner 2023, Algorithm 2.2 and §3.6.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from paramid.methods.spans.subspace import Projector

UNTIL = "until"
LOOKS = 10  # steps between two looks at what has arrived: a device is waited for at each
MOST = 10  # times the starts of §3.6, where nobody caps them otherwise

Climb = Callable[[int], tuple[Tensor, Tensor]]  # from so many random starts to unit rows and their quality


def ascend(p: Projector, u: Tensor, *, step: float, steps: int, tol: float) -> Tensor:
    """Iterate (2) from unit rows `u` (starts, d). Starts that move by less than `tol` have arrived and stay."""
    return torch.cat([_ascend(p, rows, step, steps, tol) for rows in u.split(p.at_once)])


def _ascend(p: Projector, u: Tensor, step: float, steps: int, tol: float) -> Tensor:
    ends, moving = u.clone(), torch.arange(len(u), dtype=torch.int64, device=u.device)
    for done in range(0, steps, LOOKS):
        after = ends[moving]
        for _ in range(min(LOOKS, steps - done)):
            before = after
            after = before + 2 * step * p.pull(before)
            after = after / after.norm(dim=1, keepdim=True)
        ends[moving] = after
        moving = moving[(after - before).norm(dim=1) >= tol]
        if not len(moving):
            break
    return ends


def gathered(
    climb: Climb, m: int, d: int, *, starts: int | str | None, most: int | None, threshold: float
) -> tuple[Tensor, dict[str, float]]:
    """The distinct ends of (3), at most m, and how many starts there were and were accepted."""
    printed = math.ceil(5 * m * math.log(max(d, 2)))
    first = starts if isinstance(starts, int) else printed
    cap = (most or MOST * printed) if starts == UNTIL else first
    u, quality = climb(min(first, cap))
    found = distinct(u, quality, threshold=threshold, most=m)
    while len(found) < m and len(u) < cap:
        more = climb(min(math.ceil(printed / 5), cap - len(u)))
        u, quality = (torch.cat(pair) for pair in zip((u, quality), more, strict=True))
        found = distinct(u, quality, threshold=threshold, most=m)
    return found, {"starts": len(u), "accepted": float((quality > threshold).sum())}


def checked(starts: int | str | None) -> None:
    """A ValueError where `starts` is a word other than until."""
    if isinstance(starts, str) and starts != UNTIL:
        raise ValueError(f"starts is {starts!r}; a number or {UNTIL} was wanted")


def distinct(u: Tensor, quality: Tensor, *, threshold: float, most: int, same: float = 0.99) -> Tensor:
    """Of the rows with quality above `threshold` at most `most`, the best of every heap |cos| >= `same`, best first."""
    rows, good = u.cpu(), quality.tolist()
    kept = rows.new_empty(0, u.shape[1])
    for index in quality.argsort(descending=True).tolist():
        if len(kept) == most or good[index] <= threshold:
            break
        if not len(kept) or (kept @ rows[index]).abs().max() < same:
            kept = torch.cat([kept, rows[index : index + 1]])
    return kept.to(u.device)
