"""Errors of first-layer shifts on a face, from the rank of mixed derivatives.

On a face (face, 2) the coordinate taken for y_j = tanh(s_j) is in truth tanh(s_j + δ_j). Gradients of Φ in it, or
Hessians off the diagonal, become those in the true coordinates by factors

    (1)  A_p,j = q_j ∂_jΦ(y_p)   or   A_p,ij = q_i q_j ∂_i∂_jΦ(y_p),   q_j = cosh²(s_j + δ_j) / cosh²(s_j),

and these lie in the span of the m_2 rows (W_jk)_j, or (W_ik W_jk)_ij: at the true δ A has rank m_2. The tail

    (2)  minimise  Σ_{k>m_2} σ_k(A)² / Σ_k σ_k(A)²,   ∂A/∂δ_j = 2 tanh(s_j + δ_j) (how often j occurs) ∘ A,

goes down by Gauss-Newton in Kaufman's form, columns projected off the leading left and right singular vectors. A rank
does not see factors of a coordinate: q_j has mean 1 over the points, without which δ runs away.

Gradients are cheap but tell nothing where the second layer is close to linear; Hessians do.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans import symmetric
from paramid.methods.spans.output_differences import Values, gradients, packed_hessians

STARTS = (  # spread of the points' s, spread of the first δ, order of the derivatives
    *((0.5, 0.0, 1), (0.5, 0.0, 2), (0.8, 0.0, 1), (0.8, 0.0, 2)),
    *((0.35, 0.0, 2), (0.5, 0.25, 1), (0.5, 0.25, 2)),
)
INSIDE = 1.4  # of |s|
GRADIENT_STEP, HESSIAN_STEP = 0.01, 0.02
LARGEST = 20  # n up to which Hessians are paid for
FARTHEST, LONGEST = 2.5, 0.2  # of δ, and of a step of it
SURE, VAIN = 2e-2, 0.2  # σ_{m_2+1} / σ_{m_2}: an end, and no end at all


@dataclass(frozen=True)
class Ranked:
    """δ (n,) and σ_{m_2+1} / σ_{m_2}."""

    delta: Tensor
    tail: float


@dataclass(frozen=True)
class Derivatives:
    """Unit rows of nominal derivatives (rows, K), s (rows, n), and how often j occurs in each column (n, K)."""

    nominal: Tensor
    s: Tensor
    occurs: Tensor


@dataclass(frozen=True)
class Decomposed:
    """A of (1), its leading singular vectors, all its singular values, the factors q."""

    a: Tensor
    u: Tensor
    vt: Tensor
    values: Tensor
    q: Tensor
    rank: int

    @property
    def cost(self) -> float:
        """(2)."""
        return float(self.values[self.rank :].square().sum() / self.values.square().sum())

    def off(self, x: Tensor) -> Tensor:
        """`x` projected off the leading vectors of both sides."""
        x = x - self.u @ (self.u.T @ x)
        return x - (x @ self.vt.T) @ self.vt


def shift_errors(phi: Values, n: int, rank: int, run: Run) -> Ranked:
    """δ by (2), the best of a few starts; zeros where none leads anywhere."""
    best = Ranked(run.normal(1, n)[0] * 0, math.inf)
    for spread, away, order in STARTS:
        if (order == 1 and rank >= n) or (order == 2 and (n > LARGEST or rank > n * (n - 3) // 2)):
            continue
        seen = derivatives(phi, n, rank, spread, order, run)
        found = descend(seen, rank, away * run.normal(1, n)[0])
        best = min(best, found, key=lambda r: r.tail)
        if best.tail < SURE:
            break
    return best if best.tail < VAIN else Ranked(torch.zeros_like(best.delta), best.tail)


def derivatives(phi: Values, n: int, rank: int, spread: float, order: int, run: Run) -> Derivatives:
    """Nominal gradients or off-diagonal Hessians of all outputs around the middle of the cube."""
    like = run.normal(1, n)
    outputs = phi(0 * like).shape[1]
    if order == 1:
        points = max(30, math.ceil(4 * n / min(outputs, rank)))
    else:
        points = math.ceil(2.5 * max(rank + n, 20) / min(outputs, 3))
    s = (spread * run.normal(points, n)).clamp(-INSIDE, INSIDE)
    eye = torch.eye(n, dtype=s.dtype, device=s.device)
    if order == 1:
        rows, occurs = gradients(phi, s.tanh(), eye, GRADIENT_STEP).mT, eye
    else:
        i, j = symmetric.triangle(n, s.device)
        rows = packed_hessians(phi, s.tanh(), HESSIAN_STEP)[:, :, i != j]
        occurs = (eye[i] + eye[j])[i != j].T
    flat = rows.flatten(0, 1)
    return Derivatives(flat / flat.norm(dim=1, keepdim=True), s.repeat_interleave(outputs, 0), occurs)


def decomposed(seen: Derivatives, delta: Tensor, rank: int) -> Decomposed:
    """(1) at δ."""
    log_q = 2 * (torch.cosh(seen.s + delta).log() - torch.cosh(seen.s).log())
    log_q = log_q - log_q.exp().mean(0).log()
    a = seen.nominal * (log_q @ seen.occurs).exp()
    u, values, vt = torch.linalg.svd(a, full_matrices=False)
    return Decomposed(a, u[:, :rank], vt[:rank], values, log_q.exp(), rank)


def descend(seen: Derivatives, rank: int, delta: Tensor, *, steps: int = 100) -> Ranked:
    """Damped steps on (2) from `delta`."""
    now, damping = decomposed(seen, delta, rank), 1e-2
    for _ in range(steps):
        slopes = jacobian(seen, now, delta)
        normal, right = slopes.T @ slopes, slopes.T @ now.off(now.a).flatten()
        while damping < 1e6:
            step = limited(normal, right, damping)
            if float((delta + step).abs().max()) < FARTHEST:
                new = decomposed(seen, delta + step, rank)
                if new.cost < now.cost:
                    break
            damping = max(10 * damping, 1e-8)
        else:
            break
        gain, now, delta, damping = now.cost / max(new.cost, 1e-300), new, delta + step, damping / 10
        if gain < 1.0001 or float(step.abs().max()) < 1e-10:
            break
    return Ranked(delta, float(now.values[rank] / now.values[rank - 1]))


def jacobian(seen: Derivatives, now: Decomposed, delta: Tensor) -> Tensor:
    """The columns of (2), projected, (rows · K, n)."""
    t = 2 * torch.tanh(seen.s + delta)
    t = t - (now.q * t).mean(0) / now.q.mean(0)
    return torch.stack([now.off(now.a * t[:, j : j + 1] * seen.occurs[j]).flatten() for j in range(len(delta))], 1)


def limited(normal: Tensor, right: Tensor, damping: float) -> Tensor:
    """A damped step, no longer than `LONGEST` in any shift."""
    step = -torch.linalg.solve(normal + torch.diag(damping * normal.diagonal() + 1e-30), right)
    return step * min(1.0, LONGEST / float(step.abs().max().clamp(min=1e-300)))
