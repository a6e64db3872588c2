"""Errors of first-layer shifts and norms on a face, from the rank of mixed derivatives.

On a face (face, 2) the coordinate taken for y_j = tanh(s_j) is in truth tanh(s'_j), s' = (1 + ρ) s + δ. Gradients of Φ
in it, or Hessians off the diagonal, become those in the true coordinates, but for constants, by factors

    (1)  A_p,j = q_j ∂_jΦ(y_p)   or   A_p,ij = q_i q_j ∂_i∂_jΦ(y_p),   q_j = cosh²(s'_j) / cosh²(s_j),

and these lie in the span of the m_2 rows (W_jk)_j, or (W_ik W_jk)_ij: at the true (δ, ρ) A has rank m_2. The tail

    (2)  minimise  Σ_{k>m_2} σ_k(A)² / Σ_k σ_k(A)²,
         ∂A/∂δ_j = 2 tanh(s'_j) (how often j occurs) ∘ A,   ∂A/∂ρ_j = s_j ∂A/∂δ_j,

goes down by Gauss-Newton in Kaufman's form, columns projected off the leading left and right singular vectors, first in
δ and then in both. A rank does not see factors of a coordinate: q_j has mean 1 over the points, without which δ runs
away.

Gradients are cheap but tell nothing where the second layer is close to linear; Hessians do.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans import symmetric
from paramid.methods.spans.output_differences import Values, ahead, packed_hessians

# Spread of the points' s, order and step of the derivatives: at short steps rounding hides nearly linear layers.
STARTS = ((0.5, 1, 1e-6), (0.5, 2, 0.008), (1.0, 1, 1e-6), (1.0, 2, 0.02))
INSIDE = 1.4  # of |s|
LARGEST = 20  # n up to which Hessians are paid for
FARTHEST, LONGEST = 2.5, 0.2  # of δ, and of a step of it
SURE = {1: 5e-3, 2: 2e-2}  # σ_{m_2+1} / σ_{m_2} that is an end: gradients show false ones at 1e-2
VAIN = 0.2  # and that is none at all


@dataclass(frozen=True)
class Ranked:
    """δ and ρ, (n,) each, and σ_{m_2+1} / σ_{m_2}."""

    delta: Tensor
    stretch: Tensor
    tail: float


@dataclass(frozen=True)
class Derivatives:
    """Unit rows of nominal derivatives (rows, K), s (rows, n), and how often j occurs in each column (n, K)."""

    nominal: Tensor
    s: Tensor
    occurs: Tensor


@dataclass(frozen=True)
class Decomposed:
    """A of (1) at θ = (δ, ρ), its leading singular vectors, all its singular values; s' and the factors q."""

    theta: Tensor
    a: Tensor
    u: Tensor
    vt: Tensor
    values: Tensor
    true: Tensor
    q: Tensor

    @property
    def rank(self) -> int:
        """m_2."""
        return self.u.shape[1]

    @property
    def cost(self) -> float:
        """(2)."""
        return float(self.values[self.rank :].square().sum() / self.values.square().sum())

    @property
    def tail(self) -> float:
        """σ_{m_2+1} / σ_{m_2}."""
        return float(self.values[self.rank] / self.values[self.rank - 1])

    def off(self, x: Tensor) -> Tensor:
        """`x` projected off the leading vectors of both sides."""
        x = x - self.u @ (self.u.T @ x)
        return x - (x @ self.vt.T) @ self.vt


def shift_errors(phi: Values, n: int, rank: int, run: Run) -> Ranked:
    """δ and ρ by (2), the best of a few starts; zeros where none leads anywhere."""
    nothing = run.normal(1, n)[0] * 0
    best = Ranked(nothing, nothing, math.inf)
    for spread, order, h in STARTS:
        if rank >= n if order == 1 else n > LARGEST or rank >= n * (n - 1) // 2:
            continue
        seen = derivatives(phi, n, rank, (spread, order, h), run)
        best = min(best, ranked(seen, rank, nothing), key=lambda r: r.tail)
        if best.tail < SURE[order]:
            break
    return best if best.tail < VAIN else Ranked(nothing, nothing, best.tail)


def derivatives(phi: Values, n: int, rank: int, start: tuple[float, int, float], run: Run) -> Derivatives:
    """Nominal gradients or off-diagonal Hessians of all outputs around the middle of the cube."""
    (spread, order, h), outputs = start, phi(0 * run.normal(1, n)).shape[1]
    if order == 1:
        points = max(30, math.ceil(4 * n / min(outputs, rank)))
    else:
        points = math.ceil(1.25 * max(rank + n, 20) / min(outputs, 3))
    s = (spread * run.normal(points, n)).clamp(-INSIDE, INSIDE)
    eye = torch.eye(n, dtype=s.dtype, device=s.device)
    if order == 1:
        rows, occurs = ahead(phi, s.tanh(), eye, h).mT, eye
    else:
        i, j = symmetric.triangle(n, s.device)
        rows = packed_hessians(phi, s.tanh(), h)[:, :, i != j]
        occurs = (eye[i] + eye[j])[i != j].T
    flat = rows.flatten(0, 1)
    return Derivatives(flat / flat.norm(dim=1, keepdim=True), s.repeat_interleave(outputs, 0), occurs)


def ranked(seen: Derivatives, rank: int, delta: Tensor) -> Ranked:
    """(2) from `delta`, in δ and then in both."""
    n = len(delta)
    found = descend(seen, decomposed(seen, torch.cat([delta, 0 * delta]), rank), n)
    if found.tail < VAIN:
        found = descend(seen, found, 2 * n)
    return Ranked(found.theta[:n], found.theta[n:], found.tail)


def decomposed(seen: Derivatives, theta: Tensor, rank: int) -> Decomposed:
    """(1) at θ."""
    delta, stretch = theta.chunk(2)
    true = (1 + stretch) * seen.s + delta
    log_q = 2 * (true.cosh().log() - seen.s.cosh().log())
    log_q = log_q - log_q.exp().mean(0).log()
    a = seen.nominal * (log_q @ seen.occurs).exp()
    u, values, vt = torch.linalg.svd(a, full_matrices=False)
    return Decomposed(theta, a, u[:, :rank], vt[:rank], values, true, log_q.exp())


def descend(seen: Derivatives, now: Decomposed, free: int, *, steps: int = 100) -> Decomposed:
    """Damped steps on (2) in the first `free` of θ."""
    damping = 1e-2
    for _ in range(steps):
        slopes = jacobian(seen, now)[:, :free]
        normal, right = slopes.T @ slopes, slopes.T @ now.off(now.a).flatten()
        while damping < 1e6:
            step = torch.nn.functional.pad(limited(normal, right, damping), (0, len(now.theta) - free))
            if float((now.theta + step).abs().max()) < FARTHEST:
                new = decomposed(seen, now.theta + step, now.rank)
                if new.cost < now.cost:
                    break
            damping = max(10 * damping, 1e-8)
        else:
            break
        gain, now, damping = now.cost / max(new.cost, 1e-300), new, damping / 10
        if gain < 1.0001 or float(step.abs().max()) < 1e-10:
            break
    return now


def jacobian(seen: Derivatives, now: Decomposed) -> Tensor:
    """The columns of (2), projected, (rows · K, 2n)."""
    by_delta = 2 * torch.tanh(now.true)
    columns = torch.cat([by_delta, seen.s * by_delta], 1)
    q = now.q.repeat(1, 2)
    columns = columns - (q * columns).mean(0) / q.mean(0)
    pairs = zip(columns.T, seen.occurs.repeat(2, 1), strict=True)
    return torch.stack([now.off(now.a * t[:, None] * occurs).flatten() for t, occurs in pairs], 1)


def limited(normal: Tensor, right: Tensor, damping: float) -> Tensor:
    """A damped step, no longer than `LONGEST` in any of them."""
    step = -torch.linalg.solve(normal + torch.diag(damping * normal.diagonal() + 1e-30), right)
    return step * min(1.0, LONGEST / float(step.abs().max().clamp(min=1e-300)))
