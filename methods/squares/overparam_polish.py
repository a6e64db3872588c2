"""Levenberg-Marquardt for over-parameterised nets: whether a basin is a global minimum, settled in a few steps.

With the residuals r of `overparam_descent`, J their derivative in (W, v) (n, p) and d_il = v_l φ'(⟨w_l, x_i⟩),

    (1)  K = J Jᵀ = (X Xᵀ) ∘ (d dᵀ) + φ φᵀ            (φ φᵀ where v is trained),
    (2)  (K + μ K̄ I) a = r,   W ← W - Xᵀ diag(a) d,   v ← v - φᵀ a,   K̄ the mean of diag K,
    (3)  (JᵀJ + μ K̄ n/p I) s = Jᵀ r,   (W, v) ← (W, v) - s,

the smaller of the two systems: (2) has n unknowns, (3) p = k(D + 1). A step is taken where it lowers L, and μ falls
by 3; elsewhere μ rises by 4. Gradient descent is sublinear wherever learners are wider than their teachers, these steps
are not: runs end at L = 0 to rounding, or far from it.

Reference: the problem is that of Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926; the polish is ours.
"""

import torch
from torch import Tensor

from paramid.methods.squares.overparam_descent import BLOCK, Point, Problem, chosen, joined, point

FIRST, LEAST, MOST = 1e-2, 1e-10, 1e8  # of μ
ROUNDING = 1e-31  # of L over that of f = 0


def polish(problem: Problem, at: Point, *, most: int) -> Point:
    """At most `most` steps for every run, a few runs at a time."""
    together = max(1, 4 * BLOCK // system(problem, at) ** 2)
    groups = torch.arange(len(at.loss), device=at.loss.device).split(together)
    return joined([refined(problem.of_runs(runs), at.of_runs(runs), most) for runs in groups])


def system(problem: Problem, at: Point) -> int:
    """The unknowns of the smaller system."""
    _, d, k = at.w.shape
    return min(len(problem.x), k * (d + problem.train_outer))


def refined(problem: Problem, at: Point, most: int) -> Point:
    """(2) or (3) until L is rounding, or no μ lowers it; runs that are done wait for the others."""
    mu, done = torch.full_like(at.loss, FIRST), list[Point]()
    places, order = torch.arange(len(at.loss), device=at.loss.device), list[Tensor]()
    step = dual_step if system(problem, at) == len(problem.x) else primal_step
    for _ in range(most):
        by_w, by_v = step(problem, at, mu)
        tried = point(problem, at.w - by_w, at.v - by_v)
        better = tried.loss < at.loss
        at = chosen(better, tried, at)
        mu = torch.where(better, (mu / 3).clamp(min=LEAST), mu * 4)
        ended = (at.loss <= ROUNDING * problem.scale) | (mu > MOST)
        if bool(ended.any()):
            (gone,), (left,) = ended.nonzero(as_tuple=True), (~ended).nonzero(as_tuple=True)
            done, order = [*done, at.of_runs(gone)], [*order, places[gone]]
            problem, at, mu, places = problem.of_runs(left), at.of_runs(left), mu[left], places[left]
        if not len(places):
            break
    return joined([*done, at]).of_runs(torch.cat([*order, places]).argsort())


def tangent_kernel(problem: Problem, w: Tensor, v: Tensor) -> Tensor:
    """(1) for every run, (runs, n, n)."""
    z = problem.x @ w
    d = problem.phi(z, 1) * v[:, None]
    kernel = (d @ d.mT) * (problem.x @ problem.x.T)
    if problem.train_outer:
        values = problem.phi(z)
        kernel = kernel + values @ values.mT
    return kernel


def dual_step(problem: Problem, at: Point, mu: Tensor) -> tuple[Tensor, Tensor]:
    """(2), as what W and v lose."""
    z = problem.x @ at.w
    values, d = problem.phi(z), problem.phi(z, 1) * at.v[:, None]
    r = (values @ at.v[:, :, None])[:, :, 0] - problem.y
    a = damped(tangent_kernel(problem, at.w, at.v), mu, r)
    by_v = (values.mT @ a[:, :, None])[:, :, 0] if problem.train_outer else torch.zeros_like(at.v)
    return problem.x.T @ (d * a[:, :, None]), by_v


def primal_step(problem: Problem, at: Point, mu: Tensor) -> tuple[Tensor, Tensor]:
    """(3), as what W and v lose; JᵀJ is summed over blocks of rows."""
    runs, d, k = at.w.shape
    p = k * (d + problem.train_outer)
    normal, rows = at.w.new_zeros(runs, p, p), max(1, BLOCK // (runs * p))
    for x in problem.x.split(rows):
        z = x @ at.w
        inner = x[:, :, None] * (problem.phi(z, 1) * at.v[:, None])[:, :, None]
        j = torch.cat([inner.flatten(2), *([problem.phi(z)] if problem.train_outer else [])], dim=2)
        normal = normal + j.mT @ j
    right = torch.cat([at.by_w.flatten(1), *([at.by_v] if problem.train_outer else [])], dim=1) * len(problem.x)
    s = damped(normal, mu, right)
    by_v = s[:, d * k :] if problem.train_outer else torch.zeros_like(at.v)
    return s[:, : d * k].reshape(runs, d, k), by_v


def damped(matrix: Tensor, mu: Tensor, right: Tensor) -> Tensor:
    """The solution of (matrix + μ mean(diag) I) a = right; zeros where there is none."""
    mean = matrix.diagonal(dim1=1, dim2=2).mean(1).clamp_min(torch.finfo(matrix.dtype).tiny)
    ridge = torch.diag_embed((mu * mean)[:, None].expand(-1, matrix.shape[1]))
    solved, info = torch.linalg.solve_ex(matrix + ridge, right[:, :, None])
    fine = (info == 0) & torch.isfinite(solved).all(dim=1)[:, 0]
    return torch.where(fine[:, None], solved[:, :, 0], 0.0)
