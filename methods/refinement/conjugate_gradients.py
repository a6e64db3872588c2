"""Preconditioned conjugate gradients for A p = b, A positive definite and known by its products alone.

Reference: Hestenes & Stiefel, J. Research NBS 49 (1952).
"""

from collections.abc import Callable

import torch
from torch import Tensor

LOOKS = 8  # products between two looks at a device: each look waits for all that is queued
Apply = Callable[[Tensor], Tensor]


def solve(normal: Apply, right: Tensor, inverse: Apply, *, tol: float, most: int) -> tuple[Tensor, int]:
    """A⁻¹ b by products of `normal` and of the preconditioner `inverse`, and how many of the first it took.

    Ends once the residual, by the norm of the preconditioner, is `tol` of what it was, or after `most` products. What
    has ended before anybody looks stays as it is.
    """
    between = 1 if right.device.type == "cpu" else LOOKS
    residual, solution = right, torch.zeros_like(right)
    z = p = inverse(residual)
    energy = (residual * z).sum()
    enough = tol * tol * energy
    going, count = energy > enough, torch.zeros_like(energy)
    for turn in range(most):
        if turn % between == 0 and not bool(going):
            break
        product = normal(p)
        rate = torch.where(going, energy / (p * product).sum(), 0.0)
        count += going
        solution, residual = solution + rate * p, residual - rate * product
        z = inverse(residual)
        after = (residual * z).sum()
        p = torch.where(going, z + (after / energy) * p, p)
        energy = torch.where(going, after, energy)
        going = energy > enough
    return solution, int(count)
