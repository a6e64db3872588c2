"""All rank-one directions of a span of symmetric matrices: Levenberg-Marquardt on the sphere from many starts.

With P the projector onto the span, {B_i} an orthonormal basis of it and {C_j} one of what is orthogonal to it, the
unit u with u uᵀ in the span are the zeros of

    (1)  E(u) = Σ_j c_j² = 1 - Σ_i b_i²,                      c_j = uᵀ C_j u,   b_i = uᵀ B_i u.

With the tangential images t_j = C_j u - c_j u, or t_i = B_i u - b_i u, the Jacobian of c has rows 2 t_j, and since the
squares of a basis of all symmetric matrices sum up to Σ E u uᵀ E = (I + u uᵀ)/2, either basis gives

    (2)  N = Σ_j t_j t_jᵀ = (I - u uᵀ)/2 - Σ_i t_i t_iᵀ,      r = Σ_j c_j t_j = -Σ_i b_i t_i,
    (3)  u ← (u - s) / ‖u - s‖,   (4N + λI + u uᵀ) s = 2r,    λ divided by 4 where E falls, else u stays and λ grows.

Starts come from the whole sphere until most are found, then from what is left of the span,

    (4)  the leading eigenvector of M = Z - Σ_k α_k u_k u_kᵀ,  Z random in the span, M ⊥ every u_k u_kᵀ found.

Runs end where steps are tiny: at a rank-one E is the error of the span squared, at other minima it is far larger.
Those that end within `SAME` of each other are one direction; a last Newton-like polish in float64 separates
neighbours and removes the rounding of the search, which runs in float32.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Run
from paramid.methods import symmetric
from paramid.methods.subspace import Projector

CHUNK = 2**18  # numbers of intermediate
SAME = 1e-2  # distance of one direction from itself; ends of the search agree to 1e-4 and better
SMALL = 1e-2  # a step whose successor, its square, no longer counts
DAMPING = 0.1


@dataclass(frozen=True)
class Terms:
    """(1) and (2) at every u: E (rows,), N (rows, d, d) and r (rows, d)."""

    energy: Tensor
    normal: Tensor
    right: Tensor

    def where(self, better: Tensor, new: "Terms") -> "Terms":
        """The new terms in the rows where they are better."""
        return Terms(
            torch.where(better, new.energy, self.energy),
            torch.where(better[:, None, None], new.normal, self.normal),
            torch.where(better[:, None], new.right, self.right),
        )

    def at(self, rows: Tensor) -> "Terms":
        """Some of the rows."""
        return Terms(self.energy[rows], self.normal[rows], self.right[rows])


def terms(p: Projector, u: Tensor) -> Terms:
    """(1) and (2) for unit rows `u`, in chunks."""
    k, d, _ = p.matrices.shape
    parts = [_terms(p, rows) for rows in u.split(max(1, CHUNK // max(1, k * d)))]
    return Terms(*(torch.cat(t) for t in zip(*((x.energy, x.normal, x.right) for x in parts), strict=True)))


def _terms(p: Projector, u: Tensor) -> Terms:
    images = (u @ p.matrices.flatten(0, 1).T).view(len(u), *p.matrices.shape[:2])
    c = images @ u[:, :, None]
    pulled, energy = (c.transpose(1, 2) @ images)[:, 0], c.square().sum((1, 2))
    cross = u[:, :, None] * pulled[:, None, :]
    squared = u[:, :, None] * u[:, None, :]
    normal = images.transpose(1, 2) @ images - cross - cross.transpose(1, 2) + energy[:, None, None] * squared
    right = pulled - energy[:, None] * u
    if p.complement:
        return Terms(energy, normal, right)
    eye = torch.eye(u.shape[1], device=u.device, dtype=u.dtype)
    return Terms(1 - energy, (eye - squared) / 2 - normal, -right)


def descend(p: Projector, u: Tensor, *, accept: float, hopeless: float, steps: int) -> tuple[Tensor, int]:
    """Iterate (3) from unit rows `u`: the ends with E < `accept`, and the number of single steps taken.

    A row leaves once its step is small with E below `accept` or above `hopeless`, and otherwise at the end.
    """
    now, damping = terms(p, u), torch.full_like(u[:, 0], DAMPING)
    ends, taken = [u[:0]], 0
    for _ in range(steps):
        s = newton(now, u, damping)
        new = (u - s) / (u - s).norm(dim=1, keepdim=True)
        then = terms(p, new)
        better, taken = then.energy < now.energy, taken + len(u)
        u, now = torch.where(better[:, None], new, u), now.where(better, then)
        damping = torch.where(better, damping / 4, damping * 5).clamp(1e-5, 1e6)
        still = s.norm(dim=1) < SMALL
        arrived = still & (now.energy < accept)
        ends.append(u[arrived])
        stays = ~arrived & ~(still & (now.energy > hopeless))
        u, now, damping = u[stays], now.at(stays), damping[stays]
        if not len(u):
            break
    return torch.cat(ends), taken


def newton(at: Terms, u: Tensor, damping: Tensor) -> Tensor:
    """The step s of (3)."""
    eye = torch.eye(u.shape[1], device=u.device, dtype=u.dtype)
    matrix = 4 * at.normal + damping[:, None, None] * eye + u[:, :, None] * u[:, None, :]
    factor = torch.linalg.cholesky_ex(matrix).L
    return torch.cholesky_solve(2 * at.right[:, :, None], factor)[:, :, 0]


def polish(p: Projector, u: Tensor, *, steps: int = 8) -> tuple[Tensor, Tensor]:
    """(3) without damping from near rank-ones `u` in the dtype of `p`: the ends and the length of their last step."""
    u = u.to(p.matrices.dtype)
    u = u / u.norm(dim=1, keepdim=True)
    last = torch.full_like(u[:, 0], math.inf)
    for _ in range(steps):
        s = newton(terms(p, u), u, torch.full_like(u[:, 0], 1e-9))
        u = (u - s) / (u - s).norm(dim=1, keepdim=True)
        last = s.norm(dim=1)
        if not len(u) or last.max() < 1e-14:
            break
    return u, last


def distinct(found: Tensor, ends: Tensor, same: float = SAME) -> Tensor:
    """The rows of `ends` that are neither among the unit rows `found` nor among earlier rows, up to sign."""
    limit = 1 - same**2 / 2
    new = ends[(ends @ found.T).abs().amax(1) < limit] if len(found) else ends
    return new[~((new @ new.T).abs() >= limit).triu(1).any(0)]


def remaining(basis: Tensor, found: Tensor, count: int, run: Run) -> Tensor:
    """(4): starts from the part of the span that is orthogonal to all found squares, (count, d)."""
    z = basis @ run.normal(basis.shape[1], count).to(basis.dtype)
    known = symmetric.squares(found)
    gram = (found @ found.T).square()
    gram.diagonal().add_(1e-12)
    z = z - known.T @ torch.cholesky_solve(known @ z, torch.linalg.cholesky(gram))
    values, vectors = torch.linalg.eigh(symmetric.unpack(z.T, found.shape[1]))
    top = values.abs().argmax(1)
    return vectors.gather(2, top[:, None, None].expand(-1, found.shape[1], 1))[:, :, 0]


def search(
    p: Projector,
    basis: Tensor,
    m: int,
    run: Run,
    *,
    accept: float,
    batch: int = 250,
    steps: int = 60,
    most_random: float = 0.9,
    patience: int = 20,
    rest: int = 2,
) -> tuple[Tensor, dict[str, float]]:
    """Unit rows (at most m, d), and what there is to say of the search."""
    d = basis_dimension(p)
    fast = replace(p, matrices=p.matrices.float())
    found, starts, taken, idle = basis.new_empty(0, d), 0, 0, 0
    while len(found) < m and idle < max(500, patience * m):
        missing = m - len(found)
        if len(found) < most_random * m:
            u = run.sphere(min(batch, max(8, 2*missing)), d)
        else:
            u = remaining(basis, found, min(batch, max(16, rest * missing)), run)
        ends, work = descend(fast, u.float(), accept=accept, hopeless=max(2 * accept, 0.02), steps=steps)
        starts, taken = starts + len(u), taken + work
        new, last = polish(p, distinct(found.float(), ends))
        new = distinct(found, new[last < 1e-6])
        idle = 0 if len(new) else idle + len(u)
        found = torch.cat([found, new])
    return found[:m], {"starts": starts, "steps": taken}


def basis_dimension(p: Projector) -> int:
    return p.matrices.shape[2]
