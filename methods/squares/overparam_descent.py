"""Full-batch gradient descent on shallow nets without shifts, many runs at once.

With inputs x_i ∈ R^D, labels y_i, φ(z) = g(b z) / b and columns w_l of W,

    (1)  L(v, W) = 1/(2n) Σ_i r_i²,   r_i = Σ_l v_l φ(⟨w_l, x_i⟩) - y_i,
    (2)  ∂L/∂w_l = v_l/n Σ_i r_i φ'(⟨w_l, x_i⟩) x_i,   ∂L/∂v_l = 1/n Σ_i r_i φ(⟨w_l, x_i⟩),
    (3)  W ← W - α ∂L/∂W,   v ← v - α ∂L/∂v where v is trained.

The paper leaves α open. Here every run has its own, the bold driver's: a step that does not raise L is taken and α
grows by 2 %, another is not and α halves; or one constant α. A run whose slope vanishes while L does not is kicked by
noise: a strict saddle lets go of it (Theorem 2.1), a local minimum does not.

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, (2.6) and §2.1; (2) with φ for ∂L/∂v, where φ' is printed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Activation, Run

BLOCK = 2**20  # doubles per intermediate
GROW, SHRINK, FIRST, LEAST = 1.02, 0.5, 0.02, 1e-8  # of α
FLAT, STUCK = 1e-7, 1e-10  # a slope that vanishes, and an L over that of f = 0 that does not
KICK, KICKS, EVERY = 1e-3, 3, 200  # the noise, how often at most, steps between looks


@dataclass(frozen=True)
class Problem:
    """What is fitted: inputs (n, D) for all runs, labels (runs, n), φ, and whether v is trained."""

    x: Tensor
    y: Tensor
    g: Activation
    b: float = 1.0
    train_outer: bool = True

    @property
    def scale(self) -> Tensor:
        """L of f = 0 for every run."""
        return self.y.square().mean(1) / 2

    def phi(self, z: Tensor, order: int = 0) -> Tensor:
        """φ or φ'."""
        return self.g(self.b * z, order) * self.b ** (order - 1)

    def of_runs(self, runs: Tensor) -> "Problem":
        """The same problem for some of the runs."""
        return replace(self, y=self.y[runs])


@dataclass(frozen=True)
class Point:
    """Where every run is: W (runs, D, k), v (runs, k), L, and the slopes (2)."""

    w: Tensor
    v: Tensor
    loss: Tensor
    by_w: Tensor
    by_v: Tensor

    def of_runs(self, runs: Tensor) -> "Point":
        """Some of the runs."""
        return Point(self.w[runs], self.v[runs], self.loss[runs], self.by_w[runs], self.by_v[runs])

    @property
    def slope(self) -> Tensor:
        """‖∂L‖ over what is trained."""
        return (self.by_w.square().sum((1, 2)) + self.by_v.square().sum(1)).sqrt()


def point(problem: Problem, w: Tensor, v: Tensor) -> Point:
    """(1) and (2), in blocks of rows."""
    runs, _, k = w.shape
    loss, by_w, by_v = torch.zeros_like(v[:, 0]), torch.zeros_like(w), torch.zeros_like(v)
    n, rows = len(problem.x), max(1, BLOCK // (runs * k))
    for x, y in zip(problem.x.split(rows), problem.y.split(rows, dim=1), strict=True):
        z = x @ w
        values = problem.phi(z)
        r = (values @ v[:, :, None])[:, :, 0] - y
        loss = loss + r.square().sum(1) / (2 * n)
        by_w = by_w + x.T @ (problem.phi(z, 1) * r[:, :, None]) * v[:, None] / n
        if problem.train_outer:
            by_v = by_v + (r[:, None] @ values)[:, 0] / n
    return Point(w, v, loss, by_w, by_v)


def descend(
    problem: Problem, at: Point, *, step: Tensor | None, most: int, tol: float, run: Run, kicks: int = KICKS
) -> Iterator[Point]:
    """(3) up to `most` steps or until L ≤ `tol` L(0) in every run, the point after each.

    Without a `step` the bold driver's; a run is kicked out of a saddle at most `kicks` times.
    """
    alpha = torch.full_like(at.loss, FIRST) if step is None else step
    kicked, goal = torch.zeros_like(at.loss), tol * problem.scale
    for done in range(1, most + 1):
        tried = point(problem, at.w - alpha[:, None, None] * at.by_w, at.v - alpha[:, None] * at.by_v)
        better = tried.loss <= at.loss if step is None else torch.isfinite(tried.loss)
        at = chosen(better, tried, at)
        if step is None:
            alpha = torch.where(better, alpha * GROW, (alpha * SHRINK).clamp(min=LEAST))
        yield at
        if done % EVERY == 0:
            if bool((at.loss <= goal).all()):
                return
            flat = (at.slope < FLAT) & (at.loss > STUCK * problem.scale) & (kicked < kicks)
            if done < most and bool(flat.any()):
                at, kicked = kick(problem, at, flat, run), kicked + flat
                alpha = torch.where(flat, FIRST, alpha) if step is None else step


def kick(problem: Problem, at: Point, which: Tensor, run: Run) -> Point:
    """Noise on the W of some runs."""
    runs, d, k = at.w.shape
    noise = run.normal(runs * d, k).reshape(runs, d, k)
    return point(problem, at.w + KICK * noise * which[:, None, None], at.v)


def joined(points: list[Point]) -> Point:
    """All runs of several points."""
    fields = ("w", "v", "loss", "by_w", "by_v")
    return Point(*(torch.cat([getattr(p, field) for p in points]) for field in fields))


def chosen(which: Tensor, a: Point, b: Point) -> Point:
    """The point of `a` for the runs in `which`, of `b` for the others."""
    return Point(
        torch.where(which[:, None, None], a.w, b.w),
        torch.where(which[:, None], a.v, b.v),
        torch.where(which, a.loss, b.loss),
        torch.where(which[:, None, None], a.by_w, b.by_w),
        torch.where(which[:, None], a.by_v, b.by_v),
    )
