"""Stochastic gradients from samples that are never held: batches, schedules, Adam and momentum for matrices that join.

A rate rises over the first 100 steps and falls as a half cosine; gradients are cut at norm 10, which stands in for the
truncated activation of Allen-Zhu & Li. Each matrix has moments of its own, counted from the step at which it joins.

References: Kingma & Ba, arXiv:1412.6980; Loshchilov & Hutter, arXiv:1608.03983.
"""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from paramid import Run, Samples

WARM, CUT, MOMENTUM = 100, 10.0, 0.9
Name = tuple[str, int]  # of a matrix: its letter and its layer


def batches(samples: Samples, size: int, run: Run) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches (x, flat y), every chunk in a random order each time it comes by."""
    while True:
        for x, y in samples:
            order = torch.randperm(len(x), generator=run.generator, device="cpu").to(x.device)
            for part in order.split(size):
                yield x[part], y[part, 0]


def rate(step: int, steps: int, *, warm: int = WARM) -> float:
    """The share of the full rate at a step of so many."""
    return min(1.0, (step + 1) / warm) * (1 + math.cos(math.pi * step / steps)) / 2


def cut(gradients: Sequence[Tensor], most: float = CUT) -> list[Tensor]:
    """The gradients, shrunk together to norm `most` where they are longer."""
    length = torch.stack([g.square().sum() for g in gradients]).sum().sqrt()
    scale = (most / length).clamp(max=1.0)
    return [scale * g for g in gradients]


class Adam:
    """Adam's directions: first moments over the root of second ones, both corrected for their start at zero."""

    def __init__(self, parameters: list[Tensor], slow: float = 0.9, slower: float = 0.999) -> None:
        self.first = [torch.zeros_like(p) for p in parameters]
        self.second = [torch.zeros_like(p) for p in parameters]
        self.slow, self.slower, self.count = slow, slower, 0

    def __call__(self, gradients: list[Tensor]) -> list[Tensor]:
        """The directions for the next gradients."""
        self.count += 1
        start, spread = 1 - self.slow**self.count, 1 - self.slower**self.count
        for first, second, gradient in zip(self.first, self.second, gradients, strict=True):
            first.lerp_(gradient, 1 - self.slow)
            second.lerp_(gradient.square(), 1 - self.slower)
        return [f / start / ((s / spread).sqrt() + 1e-8) for f, s in zip(self.first, self.second, strict=True)]


class Momentum:
    """Heavy-ball directions."""

    def __init__(self, parameters: list[Tensor]) -> None:
        self.held = [torch.zeros_like(p) for p in parameters]

    def __call__(self, gradients: list[Tensor]) -> list[Tensor]:
        """The directions for the next gradients."""
        for held, gradient in zip(self.held, gradients, strict=True):
            held.mul_(MOMENTUM).add_(gradient)
        return self.held


class Steps:
    """Adam's directions for named matrices, each with moments of its own from when it first appears."""

    def __init__(self) -> None:
        self._moments: dict[Name, Adam] = {}

    def __call__(self, gradients: dict[Name, Tensor]) -> dict[Name, Tensor]:
        """The directions by name."""
        for name in gradients.keys() - self._moments.keys():
            self._moments[name] = Adam([gradients[name]])
        return {name: self._moments[name]([gradient])[0] for name, gradient in gradients.items()}
