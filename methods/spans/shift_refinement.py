"""Refinement of the shifts with the weights frozen.

    (1)  J(t) = 1/(2N) Σ_i ( Σ_k g(⟨w_k, x_i⟩ + t_k) - f(x_i) )²,   x_i ~ N(0, I),
    (2)  ∇J(t) = 1/N Σ_i r_i φ_i,   φ_i = g'(Wᵀ x_i + t).

The thesis descends (2) by SGD. The problem is nearly linear in t: Gauss-Newton solves (Σ φ_i φ_iᵀ) δ = -Σ r_i φ_i and
reaches the floor, which the frozen weights' errors set, in one or two steps.

Reference: Rauchensteiner 2023, §3.4 and §3.6 (where N_GD names samples and not steps).
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from paramid import Activation, Run, Samples

CHUNK = 4096  # rows


def descend(
    weights: Tensor,
    shifts: Tensor,
    g: Activation,
    x: Tensor,
    y: Tensor,
    run: Run,
    *,
    lr: float,
    batch: int,
    epochs: int,
) -> Iterator[Tensor]:
    """SGD on (1): the shifts after every epoch, until the mean squared error is below 1e-8."""
    t = shifts.clone()
    for _ in range(epochs):
        order = torch.randperm(len(x), generator=run.generator, device="cpu").to(x.device)
        for rows, targets in zip(x[order].split(batch), y[order].split(batch), strict=True):
            z = torch.addmm(t, rows, weights)
            t = t - lr / len(rows) * ((g(z).sum(1) - targets) @ g(z, 1))
        yield t
        if mean_squared_error(weights, t, g, x, y) < 1e-8:
            return


def misfit(weights: Tensor, shifts: Tensor, g: Activation, x: Tensor, y: Tensor) -> float:
    """The root mean square of what the network misses, over that of the values."""
    return float((mean_squared_error(weights, shifts, g, x, y) / y.square().mean()).sqrt())


def mean_squared_error(weights: Tensor, shifts: Tensor, g: Activation, x: Tensor, y: Tensor) -> float:
    """2 J of (1), in chunks."""
    parts = zip(x.split(CHUNK), y.split(CHUNK), strict=True)
    return float(sum((g(rows @ weights + shifts).sum(1) - target).square().sum() for rows, target in parts)) / len(x)


def gauss_newton(weights: Tensor, shifts: Tensor, g: Activation, samples: Samples, *, steps: int = 3) -> Tensor:
    """Gauss-Newton on (1), streaming over the samples."""
    t = shifts.clone()
    for _ in range(steps):
        normal, right = t.new_zeros(len(t), len(t)), torch.zeros_like(t)
        for x, y in samples:
            for rows, target in zip(x.split(CHUNK), y[:, 0].split(CHUNK), strict=True):
                z = rows @ weights + t
                slopes = g(z, 1)
                normal += slopes.T @ slopes
                right += slopes.T @ (target - g(z).sum(1))
        t = t + torch.linalg.solve(normal, right)
    return t
