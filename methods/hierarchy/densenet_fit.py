"""Levenberg-Marquardt for quadratic DenseNets: all samples at once, in chunks, for as few as 1.5 samples a weight.

With r = f(x; K) - y over N samples and J = ∂f/∂K (`densenet`),

    (1)  (JᵀJ / N + μ diag(JᵀJ / N)) p = Jᵀ r / N,   K ← K - p,

μ falls fivefold with a step that lowers the loss mean r² and rises fourfold with one that does not. Only JᵀJ is held.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from paramid.methods.hierarchy.densenet import Pairs, flat, jacobian, mean_square, rows, unflat
from paramid.words.densenet import DenseNet

FIRST, LEAST, DOWN, UP = 1e-2, 1e-12, 5.0, 4.0  # μ
TRIES = 12
STILL = 1e-9  # relative fall of the loss that is none
FLAT = 1e-8  # least entry of the diagonal over its largest


def fit(net: DenseNet, pairs: Pairs, layers: Sequence[int], *, steps: int, enough: float) -> tuple[DenseNet, float]:
    """The net with the K_l of `layers` moved by (1), and its loss; ends where that is `enough`, or falls no more."""
    damping, before = FIRST, mean_square(net, pairs)
    for _ in range(steps):
        if not before > enough:
            break
        square, slope = normal_equations(net, pairs, layers)
        found = None
        for _ in range(TRIES):
            moved = unflat(net, layers, flat(net, layers) - damped(square, slope, damping))
            loss = mean_square(moved, pairs)
            if loss < before:
                found = moved
                break
            damping *= UP
        if found is None:
            break
        fallen, net, before, damping = (before - loss) / before, found, loss, max(damping / DOWN, LEAST)
        if fallen < STILL:
            break
    return net, before


def normal_equations(net: DenseNet, pairs: Pairs, layers: Sequence[int]) -> tuple[Tensor, Tensor]:
    """JᵀJ / N and Jᵀ r / N."""
    size = sum(net.weights[layer - 2].numel() for layer in layers)
    square = net.weights[0].new_zeros(size, size)
    slope, count = square[0].clone(), 0
    for x, y in rows(pairs, 2 * size):
        f, j = jacobian(net, x, layers)
        square, slope, count = square + j.T @ j, slope + (f - y) @ j, count + len(y)
    return square / count, slope / count


def damped(square: Tensor, slope: Tensor, damping: float) -> Tensor:
    """The step p of (1)."""
    diagonal = square.diagonal()
    diagonal = diagonal.clamp(min=max(FLAT * float(diagonal.max()), torch.finfo(square.dtype).tiny))
    p, failed = torch.linalg.solve_ex(square + damping * torch.diag(diagonal), slope)
    return torch.zeros_like(slope) if int(failed) else p
