"""`densenet-algorithm1`: the paper's Algorithm 1, hierarchical learning with distillation and backward correction.

    1. the heads W_l of one layer more are trained together with all that is trained already    (distillation_stages)
    2. they show how many features the layer has, and a first K_l, which is trained from then on     (initial_distill)
    3. and so on for l = 2, …, L, until the target error ε_0 is below ε or the steps are over.

Widths k_l are found and not told, as on line 21, and σ̃ is that of Figure 8. It differs from the paper line by line as
docs/hierarchy.md lists (benchmarks/reproduce/hierarchy/algorithm1_lines.py); the largest of these differences:

    steps       of a batch and not of one row, all matrices at once, at a rate that falls as a half cosine; Adam's, of
                gradients cut at norm 10, unless `optimizer=sgd`;
    noise       falls to 0 over the steps;
    thresholds  are compared with Obj every 200 steps, and ε_0 halves then;
    sizes       m, η, N and B' are options and no polynomials in D / ε;
    layer 2     has no W_<: what stands for it is said in `initial_distill`;
    α_l, J_l    are told, where the paper would search a grid of them.

The paper proves that each threshold is met where D is large enough for its gaps. Here a layer may wait for its
threshold to the end: that is given up, and so is a net whose features do not explain a tenth of the samples that no
step has seen (densenet_check), where the features themselves are the heads, W_l = K_l.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, Algorithm 1 and (4.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

import torch

from paramid import Access, GiveUp, Oracle, Run, Samples, Spec
from paramid.methods.hierarchy import densenet
from paramid.methods.hierarchy.densenet_check import checked
from paramid.methods.hierarchy.distillation_stages import Rules, Stages
from paramid.methods.refinement import stochastic
from paramid.words.densenet import DenseNet
from paramid.words.options import among, positive
from paramid.words.spec import HierarchySpec

RATES = {"adam": 5e-3, "sgd": 2e-3}
EVERY, REPORT = 200, 2000  # steps between looks at Obj, and between claims
OFF = 0.02  # of the variance of the weakest layer, that the features may leave


@dataclass(frozen=True)
class DenseNetAlgorithm1:
    """The paper's Algorithm 1: heads first, features distilled from them, then all corrected backwards."""

    optimizer: str = "adam"  # adam: adaptive steps; sgd: plain stochastic gradients, as the paper's
    N: int = 20_000  # samples, or what is granted; a tenth are held out
    steps: int = 10_000  # stochastic gradient steps in all
    lr: float | None = None  # η at first, falling to 0 as a half cosine; default: 0.005 for adam, 0.002 for sgd
    batch: int = 256  # samples of a step
    m: int | None = None  # rows of the heads; default: D
    noise: float = 1e-4  # standard deviation of what is added to the heads W at every step, falling to 0
    kappa: float = 1.5  # κ in the weight decay λ6 = ε_0² / (k L κ)^8, and in the least singular value 1 / (10 κ²)
    truncation: float = 10.0  # B': squares of features are true up to it, and constant from 2 B' on
    epsilon: float = 1e-3  # ε, at which it ends

    version: ClassVar[int] = 2
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, optimizer=tuple(RATES))
        positive(self)

    def declines(self, spec: Spec) -> str | None:
        """Quadratic DenseNets that can be held."""
        return densenet.declined(spec)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[DenseNet]:
        """A claim when a stage begins, every 2000 steps, and at the end."""
        spec = cast("HierarchySpec", oracle.spec)
        count = min(self.N, spec.samples or self.N)
        held = max(1, count // 10)
        samples, fresh = oracle.sample(count - held), oracle.sample(held)
        rules = Rules(spec, self.kappa, self.m or spec.inputs, self.truncation)
        stages = Stages(rules, bound(samples, spec) ** 2)
        for step in self.train(stages, samples, run):
            yield claim(stages, step)
        if stages.distilled < len(spec.links):
            raise GiveUp(waiting(stages))
        found = stages.whole
        checked(found, samples, fresh, spec, sum(k.numel() for k in found.weights), explained=OFF)

    def train(self, stages: Stages, samples: Samples, run: Run) -> Iterator[int]:
        """The loop of Algorithm 1: the steps made whenever there is something to claim."""
        source, directions = stochastic.batches(samples, self.batch, run), stochastic.Steps()
        full = self.lr or RATES[self.optimizer]
        for step in range(self.steps):
            if step % EVERY == 0 and stages.advance(samples, run):
                yield step
            if stages.eps < self.epsilon and stages.distilled == len(stages.rules.spec.links):
                yield step
                return
            moves = stages.gradients(*next(source))
            if self.optimizer == "adam":
                moves = directions(dict(zip(moves, stochastic.cut(list(moves.values())), strict=True)))
            lr = full * stochastic.rate(step, self.steps, warm=1)
            stages.move({name: lr * move for name, move in moves.items()})
            stages.shake(run, self.noise * (1 - step / self.steps))
            if (step + 1) % REPORT == 0 or step + 1 == self.steps:
                yield step + 1


def bound(samples: Samples, spec: HierarchySpec) -> float:
    """B ≥ E ‖S_l‖² for all l: E y / α_L, y being a sum of α_l ‖S_l‖²; at least 1."""
    total, count = 0.0, 0
    for _, y in samples:
        total, count = total + float(y.sum()), count + len(y)
    return max(1.0, total / count / min(spec.alphas))


def claim(stages: Stages, step: int) -> DenseNet:
    """The layers that are trained, with their heads."""
    net = stages.whole
    if not all(bool(torch.isfinite(w).all()) for w in (*stages.heads, *net.weights)):
        raise GiveUp(f"diverged within {step} steps")
    forms = tuple(w.T @ w for w in stages.heads)
    stats = {"steps": float(step), "objective": stages.objective}
    return DenseNet(net.weights, net.mixes, net.links, net.alphas, forms, stats=stats)


def waiting(stages: Stages) -> str:
    """What the next layer waits for."""
    layer, now = stages.distilled + 2, stages.objective
    if stages.trained > stages.distilled:
        return (
            f"layer {layer} was never distilled: Obj = {now:.2g} is above ThresN = {stages.rules.gap(layer, 6.0):.2g}"
        )
    return f"layer {layer} was never trained: Obj = {now:.2g} is above ThresD = {stages.rules.head(layer):.2g}"
