"""`densenet-joint`: all layers of a quadratic DenseNet by stochastic gradients on the mean square error.

    staged   K_2 alone, then K_2 and K_3 together, …: each layer joins when those below are as right as they can be,
             and their features are corrected by training it: backward feature correction;
    scratch  K_2, …, K_L together from the start, in as many steps.

The student is the paper's with heads tied to features, W_l = K_l, and R_l drawn.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §1.1 and Figures 2 and 6.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid import Access, GiveUp, Oracle, Run, Spec
from paramid.methods.hierarchy import densenet
from paramid.methods.hierarchy.densenet import sensitivities, with_layers
from paramid.methods.refinement import stochastic
from paramid.words.densenet import DenseNet
from paramid.words.options import among, positive
from paramid.words.spec import HierarchySpec

RATES = {"adam": 0.01, "sgd": 0.001}
OPTIMIZERS: dict[str, type[stochastic.Adam] | type[stochastic.Momentum]] = {
    "adam": stochastic.Adam,
    "sgd": stochastic.Momentum,
}
REPORT = 500  # steps


@dataclass(frozen=True)
class DenseNetJoint:
    """All layers of a quadratic DenseNet together by Adam or SGD, in stages or from scratch."""

    optimizer: str = "adam"  # adam: adaptive steps; sgd: stochastic gradients with momentum 0.9
    schedule: str = "staged"  # staged: one layer more at a time; scratch: all layers from the start
    N: int = 20_000  # samples, or what is granted
    steps: int = 4000  # steps of a stage; from scratch as many for each layer
    lr: float | None = None  # rate, rising over 100 steps and then falling to 0; default: 0.01 for adam, 0.001 for sgd
    batch: int = 256  # samples of a step

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, optimizer=tuple(RATES), schedule=("staged", "scratch"))
        positive(self, "N", "steps", "lr", "batch")

    def declines(self, spec: Spec) -> str | None:
        """Quadratic DenseNets that can be held."""
        return densenet.declined(spec)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[DenseNet]:
        """A claim every 500 steps and after every stage."""
        spec = cast("HierarchySpec", oracle.spec)
        net = densenet.student(spec, run, drawn=True)
        samples = oracle.sample(min(self.N, spec.samples or self.N))
        source = stochastic.batches(samples, self.batch, run)
        stages = [(layer, self.steps) for layer in range(2, net.depth + 1)]
        for layer, count in stages if self.schedule == "staged" else [(net.depth, self.steps * len(stages))]:
            for done, part in enumerate(self.train(net.upto(layer), source, count), 1):
                if done % REPORT == 0 or done == count:
                    yield whole(part, done)
                if done == count:
                    net = with_layers(net, dict(enumerate(part.weights, 2)))

    def train(self, net: DenseNet, source: Iterator[tuple[Tensor, Tensor]], steps: int) -> Iterator[DenseNet]:
        """The net after every step on all its layers."""
        full = self.lr or RATES[self.optimizer]
        directions = OPTIMIZERS[self.optimizer](list(net.weights))
        for step in range(steps):
            x, y = next(source)
            moves = directions(stochastic.cut(gradients(net, x, y)))
            lr = full * stochastic.rate(step, steps)
            moved = [k - lr * move for k, move in zip(net.weights, moves, strict=True)]
            net = with_layers(net, dict(enumerate(moved, 2)))
            yield net


def gradients(net: DenseNet, x: Tensor, y: Tensor) -> Sequence[Tensor]:
    """The derivatives of the mean of (f - y)² by K_2, …, heads being tied."""
    f, seen, own, below = sensitivities(net, x)
    r = (2 * (f - y) / len(y))[:, None]
    return [(r * (a + b)).T @ h for a, b, h in zip(own, below, seen, strict=True)]


def whole(net: DenseNet, done: int) -> DenseNet:
    """The net, if it still is one."""
    if not all(bool(torch.isfinite(k).all()) for k in net.weights):
        raise GiveUp(f"diverged within {done} steps of {net.depth - 1} layers")
    return net
