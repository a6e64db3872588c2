"""The shifts of a layer whose weights are known, and the span of the next layer's weights, from the rank of gradients.

In the coordinates z = Wᵀx of a layer, f(x) = φ(g(z + τ)) with φ(y) = ψ(W_nextᵀ y), so that the gradients G_i = ∂f/∂z
at z_i, matrices (m, outputs), obey

    (1)  diag(1 / g'(z_i + τ)) G_i  lies in  col(W_next),   of dimension r = m_next < m.

Stacked for many points, with columns scaled by 1 / ‖G‖, these are A(τ), whose rank is r at the true τ and m elsewhere:

    (2)  minimise  T(τ) = Σ_{j>r} σ_j(A)²,   ∂A/∂τ_j = row j of B = -(g''/g')(z + τ) ∘ A.

With U_2 the left singular vectors of the tail and P projecting off the leading right ones, the residual U_2ᵀ A P gives
Gauss-Newton (variable projection in Kaufman's form) the normal matrix and right side

    (3)  (U_2 U_2ᵀ) ∘ (B P Bᵀ) δ = -diag(U_2 U_2ᵀ A P Bᵀ).

Points close to 0 come first: from there (2) is nearly quadratic. The leading left singular vectors span col(W_next).

A point of o outputs shows o columns, and k of them are (m - r)(k - r) equations for m shifts. Where values are exact

    (4)  r + 4 m / (m - r) columns of one-sided differences

come before all that, and steps from several τ go down on the same few points.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Activation, Run
from paramid.methods.spans.output_differences import SPREAD, Values, ahead, gradient_step, gradients

STARTS = ((0.4, 1), (0.25, 1), (0.15, 2), (0.7, 2))  # spread of the first points, and how many times `points` of them
TIMES = 4  # equations for each shift in (4)
AGAIN, AROUND = 12, 0.2  # starts on these points, and the deviation of all but the first
WIDE = 0.7  # spread of the points after them: further out 1/g' swells what is wrong with gradients
LONGEST = 0.2  # of a step in any shift
TINY = 1e-150  # where a gradient vanishes
SURE = 1e-4  # σ_{r+1} / σ_r without noise; wrong minima leave 0.1 and more


@dataclass(frozen=True)
class Shifted:
    """τ, an orthonormal basis of col(W_next), and σ_{r+1} / σ_r with what noise may make of it."""

    shifts: Tensor
    basis: Tensor
    tail: float
    limit: float

    @property
    def sure(self) -> bool:
        """Whether the rank is what it should be."""
        return self.tail < self.limit


def shifts_by_few(f: Values, weights: Tensor, rank: int, outputs: int, g: Activation, run: Run) -> Shifted:
    """The same from exact values and as few points as (4) takes, of `outputs` columns each."""
    width = weights.shape[1]
    x = STARTS[0][0] * run.normal(math.ceil((rank + TIMES * width / (width - rank)) / outputs), len(weights))
    z, slopes = x @ weights, ahead(f, x, torch.linalg.pinv(weights))
    return first_sure(
        Shifted(*descend(z, slopes, times * AROUND * run.normal(1, width)[0], rank, g), SURE)
        for times in (0, *[1] * AGAIN)
    )


def first_sure(found: Iterable[Shifted]) -> Shifted:
    """The first that is sure, or else that of the least tail."""
    best = None
    for each in found:
        best = each if best is None or each.tail < best.tail else best
        if best.sure:
            break
    assert best is not None
    return best


def shifts_by_rank(
    f: Values, weights: Tensor, rank: int, g: Activation, run: Run, *, noise: float, points: int = 40
) -> Shifted:
    """τ by (2) for columns `weights` (inputs, m) of full column rank, the best of several starts."""
    lift, h, best = torch.linalg.pinv(weights), gradient_step(noise), None
    for spread, times in STARTS:
        tau = weights.new_zeros(weights.shape[1])
        for scale in (spread, WIDE):
            x = scale * run.normal(times * points, len(weights))
            z, slopes = x @ weights, gradients(f, x, lift, h)
            tau, basis, tail = descend(z, slopes, tau, rank, g)
        found = Shifted(tau, basis, tail, SURE + explained(z, slopes, tau, rank, g, noise=noise, h=h))
        best = found if best is None or tail < best.tail else best
        if best.sure:
            break
    assert best is not None
    return best


def explained(z: Tensor, slopes: Tensor, tau: Tensor, rank: int, g: Activation, *, noise: float, h: float) -> float:
    """What noise and truncation of gradients may make of σ_{r+1} / σ_r."""
    size = slopes.norm(dim=1, keepdim=True).clamp(min=TINY)
    wrong = (SPREAD * noise / h / size + h**4) / g(z + tau, 1)[:, :, None]
    _, s, _, _ = decomposed(z, slopes / size, tau, g)
    return float(2 * wrong.norm() / math.sqrt(len(tau)) / s[rank - 1])


def descend(
    z: Tensor, slopes: Tensor, tau: Tensor, rank: int, g: Activation, *, steps: int = 40
) -> tuple[Tensor, Tensor, float]:
    """Damped steps (3) on (2) from `tau`: τ, the leading left singular vectors, σ_{r+1} / σ_r."""
    scaled = slopes / slopes.norm(dim=1, keepdim=True).clamp(min=TINY)
    u, s, vt, a = decomposed(z, scaled, tau, g)
    cost, damping = float(s[rank:].square().sum()), 1e-3
    for _ in range(steps):
        normal, right = equations(a, curvature(z, tau, g, slopes.shape[2]) * a, u[:, rank:], vt[:rank])
        while damping < 1e6:
            step = torch.linalg.solve(normal + torch.diag(damping * normal.diagonal() + TINY), right)
            step = step * min(1.0, LONGEST / float(step.abs().max().clamp(min=1e-300)))
            new = decomposed(z, scaled, tau + step, g)
            if (then := float(new[1][rank:].square().sum())) < cost:
                break
            damping = max(10 * damping, 1e-8)
        else:
            break
        tau, (u, s, vt, a), cost, damping = tau + step, new, then, max(damping / 10, 1e-14)
        if float(step.norm()) < 1e-13:
            break
    return tau, u[:, :rank], float(s[rank] / s[rank - 1])


def decomposed(z: Tensor, scaled: Tensor, tau: Tensor, g: Activation) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The singular value decomposition of A(τ) of (1), (m, points · outputs), and A itself."""
    a = (scaled / g(z + tau, 1)[:, :, None]).transpose(0, 1).flatten(1)
    return (*torch.linalg.svd(a, full_matrices=False), a)


def curvature(z: Tensor, tau: Tensor, g: Activation, outputs: int) -> Tensor:
    """What B is of A, (m, points · outputs)."""
    return (-g(z + tau, 2) / g(z + tau, 1)).T.repeat_interleave(outputs, 1)


def equations(a: Tensor, b: Tensor, tail: Tensor, leading: Tensor) -> tuple[Tensor, Tensor]:
    """Both sides of (3), with U_2 `tail` and rows `leading` of the leading right singular vectors."""
    off = b - (b @ leading.T) @ leading
    residual = tail.T @ a
    residual = residual - (residual @ leading.T) @ leading
    return (tail @ tail.T) * (off @ off.T), -((tail @ residual) * off).sum(1)
