"""Adam in place, as `torch.optim.Adam` computes it, to the last bit.

    m ← m + (1 - β_1)(g - m),   v ← β_2 v + (1 - β_2) g²,   θ ← θ - η / (1 - β_1ⁿ) · m / (√v / √(1 - β_2ⁿ) + ε).

Making one of torch's own imports its compiler, a second and more that every cell of a trained teacher would pay.

Reference: Kingma & Ba, Adam: a method for stochastic optimization, ICLR 2015.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

SLOW, SLOWER, LEAST = 0.9, 0.999, 1e-8  # β_1, β_2, ε


class Adam:
    """Steps of rate η on parameters that want gradients."""

    def __init__(self, parameters: Sequence[Tensor], rate: float) -> None:
        self._parameters, self._rate, self._count = list(parameters), rate, 0
        self._mean, self._square = ([torch.zeros_like(p) for p in self._parameters] for _ in range(2))

    def descend(self, loss: Tensor) -> None:
        """One step."""
        self._count += 1
        size = self._rate / (1 - SLOW**self._count)
        spread = (1 - SLOWER**self._count) ** 0.5
        gradients = torch.autograd.grad(loss, self._parameters)
        with torch.no_grad():
            for theta, g, m, v in zip(self._parameters, gradients, self._mean, self._square, strict=True):
                m.lerp_(g, 1 - SLOW)
                v.mul_(SLOWER).addcmul_(g, g, value=1 - SLOWER)
                theta.addcdiv_(m, (v.sqrt() / spread).add_(LEAST), value=-size)
