"""Adam on batches for students side by side, its rate lowered on plateaus, as Expand-and-Cluster's release trains.

An epoch that does not lower the best sum of all students' losses is idle. After more than 100 idle ones the rate falls
by √10, and the next 200 count for nothing; training ends when it has fallen to 1e-7, or after its epochs. A bypass

    (1)  f(x) + Bᵀ(x; 1)

is trained beside a student where one is given.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.refinement.stochastic import Adam
from paramid.methods.students import stacked
from paramid.methods.students.stacked import Shape

BATCH = 512
PATIENCE, COOLDOWN, FALL, LOWEST = 100, 200, 1 / math.sqrt(10), 1e-7


@dataclass
class Rate:
    """A rate that falls on plateaus."""

    now: float
    best: float = math.inf
    idle: int = 0
    cooling: int = 0

    def heard(self, loss: float) -> bool:
        """Take note of an epoch; whether there is to be another."""
        self.idle = 0 if loss < self.best else self.idle + 1
        self.best = min(loss, self.best)
        if self.cooling:
            self.cooling, self.idle = self.cooling - 1, 0
        if self.idle > PATIENCE:
            self.now, self.cooling, self.idle = max(self.now * FALL, LOWEST), COOLDOWN, 0
        return self.now > LOWEST


def train(
    shape: Shape,
    theta: Tensor,
    x: Tensor,
    y: Tensor,
    run: Run,
    *,
    rate: float,
    epochs: int,
    bypass: Tensor | None = None,
) -> Tensor:
    """θ after training; a `bypass` B (inputs + 1, outputs) of (1) is trained in place."""
    schedule, trained = Rate(rate), [theta.clone()] if bypass is None else [theta.clone(), bypass]
    moments = Adam(trained)
    for _ in range(epochs):
        total = 0.0
        for inputs, targets in batches(x, y, run):
            loss, slopes = step(shape, trained, inputs, targets)
            for value, direction in zip(trained, moments(slopes), strict=True):
                value.sub_(direction, alpha=schedule.now)
            total += float(loss.sum()) * len(inputs)
        if not schedule.heard(total / len(x)):
            break
    return trained[0]


def step(shape: Shape, trained: list[Tensor], x: Tensor, y: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Losses and gradients of what is trained: students, and a bypass behind them where there is one."""
    if len(trained) == 1:
        loss, slope = stacked.gradient(shape, trained[0], x, y)
        return loss, [slope]
    targets = y - lifted(x) @ trained[1]
    loss, slope = stacked.gradient(shape, trained[0], x, targets)
    rest = (stacked.values(shape, trained[0], x) - targets).sum(0)
    return loss, [slope, 2 / len(x) * lifted(x).T @ rest]


def batches(x: Tensor, y: Tensor, run: Run) -> Iterator[tuple[Tensor, Tensor]]:
    """All samples in a random order, 512 at a time; fewer as they are."""
    if len(x) <= BATCH:
        yield x, y
        return
    order = torch.randperm(len(x), generator=run.generator, device="cpu").to(x.device)
    yield from ((x[part], y[part]) for part in order.split(BATCH))


def lifted(x: Tensor) -> Tensor:
    """(x; 1), a row each."""
    return torch.cat([x, torch.ones_like(x[:, :1])], 1)
