"""Levenberg-Marquardt on the sphere towards the rank-ones of a span of symmetric tensors; matrices have order s = 2.

With {B_i} an orthonormal basis of the span, {C_j} one of what is orthogonal to it and C_j u = C_j(u, …, u, ·), the
unit u with u^⊗s in the span are the zeros of

    (1)  E(u) = Σ_j c_j² = 1 - Σ_i b_i²,   c_j = ⟨C_j u, u⟩,   b_i = ⟨B_i u, u⟩.

The Jacobian of c on the sphere has the rows s t_j, t_j = C_j u - c_j u. Together B and C are a basis of all symmetric
tensors, whose images sum up to Σ E u (E u)ᵀ = (I + (s-1) u uᵀ)/s; so either alone, with t_i = B_i u - b_i u, gives

    (2)  N = Σ_j t_j t_jᵀ = (I - u uᵀ)/s - Σ_i t_i t_iᵀ,   r = Σ_j c_j t_j = -Σ_i b_i t_i,
    (3)  u ← (u - p) / ‖u - p‖,   (s²N + λI + u uᵀ) p = s r,

λ divided by 4 where E falls; elsewhere u stays and λ is multiplied by 5.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

CHUNK = 2**19  # numbers of intermediate that a core's cache holds
FEWEST, MOST = 32, 2**25  # rows worth reading all matrices for, as long as they are not more numbers than this
DAMPING = 0.1  # the first λ
LEAST = 1e-5  # the smallest λ: in float32 N is known to 1e-6
SMALL = 1e-2  # the next step is about the square of this one


class Span(Protocol):
    """What is known of a span: the images of rows u by an orthonormal basis of it or of its complement."""

    @property
    def complement(self) -> bool:
        """Whether the basis is one of the complement."""
        ...

    @property
    def order(self) -> int:
        """That of the tensors."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Of the basis."""
        ...

    @property
    def numbers(self) -> int:
        """Of the images of a row."""
        ...

    def images(self, u: Tensor) -> Tensor:
        """C_j u, (rows, k, d)."""
        ...


@dataclass(frozen=True)
class Terms:
    """(1) and (2) at every u: E (rows,), N (rows, d, d) and r (rows, d)."""

    energy: Tensor
    normal: Tensor
    right: Tensor

    def or_better(self, new: "Terms", better: Tensor) -> "Terms":
        """The new terms in the rows where they are better."""
        return Terms(
            torch.where(better, new.energy, self.energy),
            torch.where(better[:, None, None], new.normal, self.normal),
            torch.where(better[:, None], new.right, self.right),
        )

    def at(self, rows: Tensor) -> "Terms":
        """Some of the rows."""
        return Terms(self.energy[rows], self.normal[rows], self.right[rows])


def terms(p: Span, u: Tensor) -> Terms:
    """(1) and (2) for unit rows `u`, in chunks."""
    parts = [_terms(p, rows) for rows in u.split(at_once(p.numbers))]
    return Terms(
        torch.cat([t.energy for t in parts]), torch.cat([t.normal for t in parts]), torch.cat([t.right for t in parts])
    )


def at_once(images: int) -> int:
    """Rows whose intermediates, `images` numbers each, stay in the cache; or enough to reuse what was read for them."""
    return max(1, CHUNK // max(1, images), min(FEWEST, MOST // max(1, images)))


def _terms(p: Span, u: Tensor) -> Terms:
    images = p.images(u)
    c = images @ u[:, :, None]
    energy, pulled = c.square().sum((1, 2)), (c.transpose(1, 2) @ images)[:, 0]
    cross, square = u[:, :, None] * pulled[:, None, :], u[:, :, None] * u[:, None, :]
    normal = images.transpose(1, 2) @ images - cross - cross.transpose(1, 2) + energy[:, None, None] * square
    right = pulled - energy[:, None] * u
    if p.complement:
        return Terms(energy, normal, right)
    eye = torch.eye(u.shape[1], device=u.device, dtype=u.dtype)
    return Terms(1 - energy, (eye - square) / p.order - normal, -right)


def newton(at: Terms, u: Tensor, damping: Tensor, order: int = 2) -> Tensor:
    """The step p of (3); NaN where rounding left no positive matrix, which no comparison takes for better."""
    eye = torch.eye(u.shape[1], device=u.device, dtype=u.dtype)
    matrix = order**2 * at.normal + damping[:, None, None] * eye + u[:, :, None] * u[:, None, :]
    factor, failed = torch.linalg.cholesky_ex(matrix)
    step = torch.cholesky_solve(order * at.right[:, :, None], factor)[:, :, 0]
    return step.masked_fill(failed[:, None] > 0, math.nan)


def moved(u: Tensor, s: Tensor) -> Tensor:
    """The first half of (3)."""
    new = u - s
    return new / new.norm(dim=1, keepdim=True)


def descend(p: Span, u: Tensor, *, accept: float, hopeless: float, steps: int) -> tuple[Tensor, int]:
    """Iterate (3) from unit rows `u`: the ends with E < `accept`, and the number of single steps it took.

    A row leaves when its step is small and E below `accept` or above `hopeless`, else it is given up after `steps`.
    """
    now, damping = terms(p, u), torch.full_like(u[:, 0], DAMPING)
    ends, taken = [u[:0]], 0
    for _ in range(steps):
        if not len(u):
            break
        taken += len(u)
        s = newton(now, u, damping, p.order)
        new = moved(u, s)
        then = terms(p, new)
        better = then.energy < now.energy
        u, now = torch.where(better[:, None], new, u), now.or_better(then, better)
        damping = torch.where(better, damping / 4, damping * 5).clamp(LEAST, 1e6)
        still = s.norm(dim=1) < SMALL
        arrived = still & (now.energy < accept)
        ends.append(u[arrived])
        stays = ~arrived & ~(still & (now.energy > hopeless))
        u, now, damping = u[stays], now.at(stays), damping[stays]
    return torch.cat(ends), taken


def polish(p: Span, u: Tensor, *, steps: int = 10, still: float = 1e-10) -> tuple[Tensor, Tensor]:
    """(3) almost undamped, in the precision of `p`, from ends of the search: better ends, the lengths of last steps."""
    u = u.to(p.dtype)
    u, last = u / u.norm(dim=1, keepdim=True), torch.zeros_like(u[:, 0])
    for _ in range(steps):
        s = newton(terms(p, u), u, torch.full_like(last, 1e-9), p.order)
        u, last = moved(u, s), s.norm(dim=1)
        if not (last > still).any():
            break
    return u, last
