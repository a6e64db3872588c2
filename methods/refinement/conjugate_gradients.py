"""Preconditioned conjugate gradients for A p = b, A positive definite and known by its products alone.

Reference: Hestenes & Stiefel, J. Research NBS 49 (1952).
"""

from collections.abc import Callable

import torch
from torch import Tensor

Apply = Callable[[Tensor], Tensor]


def solve(normal: Apply, right: Tensor, inverse: Apply, *, tol: float, most: int) -> tuple[Tensor, int]:
    """A⁻¹ b by products of `normal` and of the preconditioner `inverse`, and how many of the first it took.

    Ends once the residual, by the norm of the preconditioner, is `tol` of what it was, or after `most` products.
    """
    residual, solution = right, torch.zeros_like(right)
    z = p = inverse(residual)
    energy = start = (residual * z).sum()
    count = 0
    while count < most and float(energy) > tol * tol * float(start):
        product = normal(p)
        count += 1
        rate = energy / (p * product).sum()
        solution, residual = solution + rate * p, residual - rate * product
        z = inverse(residual)
        energy, before = (residual * z).sum(), energy
        p = z + (energy / before) * p
    return solution, count
