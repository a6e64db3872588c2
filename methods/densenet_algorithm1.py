"""`densenet-algorithm1`: the paper's Algorithm 1, hierarchical learning with distillation and backward correction.

Features K_l (k_l rows) and heads W_l (3 k_l rows), f = Σ_l α_l ‖W_l H_l‖². With G = KᵀK - WᵀW by blocks (< and last),

    (1)  Obj = E (f - y)² + Σ_l λ3 ‖G_last,<‖² + λ4 ‖G_last,last‖² + λ5 ‖G‖² + λ6 (‖K‖² + ‖W‖²),
    (2)  W_l is trained from Obj ≤ ThresD_l = α_{l-1}² / D^{1/(3C^{l-1})} on, ThresD_2 = ∞,
    (3)  K_l from Obj ≤ ThresN_l = α_l² / D^{1/(6C^l)} on, when it is distilled from W_l and λ3, λ4, λ5 =
         α_l² / D^{1/(6C^l)}, α_l² / D^{1/(3C^l)}, α_l² / D^{1/(2C^l)},
    (4)  ε halves while Obj < ε² / 4; λ6 = ε² / (k L κ)^8 when W_l joins, a quarter with every halving,
    (5)  INITIAL-DISTILL: K_<ᵀ K_last = U S V of W_<ᵀ W_last, k_l leading; K_< = √S Uᵀ, K_last = √S V.

C = 2. Three things are ours: Adam with a falling rate where the paper takes SGD; for l = 2, where K_< is empty, the
eigenvectors of WᵀW; and the k × k gauge that (5) leaves, set so that K_lastᵀ K_last fits W_lastᵀ W_last. Weights
start at 0, a stationary point: the noise that the algorithm adds to W is what leaves it.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, Algorithm 1 and (4.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid import Access, GiveUp, Oracle, Run, Spec
from paramid.methods.hierarchy import densenet
from paramid.methods.hierarchy.densenet import Pairs, rows, sensitivities, with_layers
from paramid.methods.hierarchy.layer_regression import eigen_root
from paramid.methods.refinement import stochastic
from paramid.methods.refinement.stochastic import Name
from paramid.words.densenet import DenseNet
from paramid.words.options import positive
from paramid.words.spec import HierarchySpec

C, WIDER = 2.0, 3
CHECKED, EVERY, REPORT = 5000, 200, 2000  # rows and steps between looks at Obj, steps between claims


@dataclass(frozen=True)
class DenseNetAlgorithm1:
    """The paper's Algorithm 1: heads first, features distilled from them, then all corrected backwards."""

    N: int = 20_000  # samples, or what is granted; a quarter, at most 5000, only measure Obj
    steps: int = 10_000  # stochastic gradient steps in all
    lr: float = 5e-3  # rate of Adam at first, falling to 0 as a half cosine
    batch: int = 256  # samples of a step
    noise: float = 1e-4  # standard deviation of what is added to the heads W at every step, falling to 0
    kappa: float = 1.5  # κ in the weight decay λ6 = ε² / (k L κ)^8

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        positive(self, "N", "steps", "lr", "batch", "noise", "kappa")

    def declines(self, spec: Spec) -> str | None:
        """Quadratic DenseNets that can be held."""
        return densenet.declined(spec)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[DenseNet]:
        """A claim when a stage begins, and every 2000 steps."""
        spec = cast("HierarchySpec", oracle.spec)
        count = min(self.N, spec.samples or self.N)
        held = min(CHECKED, max(1, count // 4))
        samples, few = oracle.sample(count - held), oracle.sample(held)
        state = State.zero(densenet.student(spec, run, drawn=True), densenet.variance(few) ** 0.5)
        source, directions = stochastic.batches(samples, self.batch, run), stochastic.Steps()
        for step in range(self.steps):
            if step % EVERY == 0 and state.advance(few, self.kappa):
                yield state.claim(step)
            x, y = next(source)
            share = stochastic.rate(step, self.steps, warm=1)
            state.move(directions(state.gradients(x, y)), self.lr * share)
            state.shake(run, self.noise * (1 - step / self.steps))
            if (step + 1) % REPORT == 0 or step + 1 == self.steps:
                yield state.claim(step + 1)


@dataclass
class State:
    """What Algorithm 1 changes as it goes."""

    net: DenseNet  # with K_l
    heads: list[Tensor]  # W_l
    eps: float
    trained: set[int] = field(default_factory=set)  # layers whose W_l is trained
    distilled: set[int] = field(default_factory=set)  # and those whose K_l is
    decay: dict[int, float] = field(default_factory=dict)  # λ6

    @classmethod
    def zero(cls, student: DenseNet, eps: float) -> "State":
        """K = W = 0 under the student's R."""
        net = with_layers(student, {n: torch.zeros_like(k) for n, k in enumerate(student.weights, 2)})
        return cls(net, [k.new_zeros(WIDER * len(k), k.shape[1]) for k in student.weights], eps)

    def claim(self, step: int) -> DenseNet:
        """The layers that are trained, with their heads."""
        heads = self.heads[: len(self.trained)]
        if not all(bool(torch.isfinite(w).all()) for w in heads):
            raise GiveUp(f"diverged within {step} steps")
        part = self.net.upto(len(heads) + 1)
        forms = tuple(w.T @ w for w in heads)
        return DenseNet(part.weights, part.mixes, part.links, part.alphas, forms, stats={"steps": step})

    def advance(self, few: Pairs, kappa: float) -> bool:
        """Lines of (2), (3) and (4) at the present Obj; whether a layer joined or was distilled."""
        now = self.objective(few) if self.trained else float("inf")
        while self.trained and now < self.eps**2 / 4 and self.eps > 1e-150:
            self.eps, self.decay = self.eps / 2, {layer: v / 4 for layer, v in self.decay.items()}
        before = len(self.trained) + len(self.distilled)
        for layer in range(2, self.net.depth + 1):
            if layer not in self.trained and now <= self.threshold_head(layer):
                self.trained.add(layer)
                widest = max([len(self.net.weights[j - 2]) for j in self.net.links[layer - 2] if j > 1], default=1)
                self.decay[layer] = self.eps**2 / (widest * self.net.depth * kappa) ** 8
            elif layer in self.trained - self.distilled and now <= self.gap(layer, 6.0):
                self.distilled.add(layer)
                k = distil(self.heads[layer - 2], self.net.blocks(layer)[-1], len(self.net.weights[layer - 2]))
                self.net = with_layers(self.net, {layer: k})
        return len(self.trained) + len(self.distilled) > before

    def threshold_head(self, layer: int) -> float:
        """ThresD_l of (2)."""
        alpha = self.net.alphas[layer - 3]
        below = layer - 1 in self.distilled
        return float("inf") if layer == 2 else alpha**2 / self.net.inputs ** (1 / (3 * C ** (layer - 1))) * below

    def gap(self, layer: int, root: float) -> float:
        """α_l² / D^{1/(root C^l)}: ThresN_l and λ3, λ4, λ5 of (3)."""
        return self.net.alphas[layer - 2] ** 2 / self.net.inputs ** (1 / (root * C**layer))

    def objective(self, pairs: Pairs) -> float:
        """Obj of (1)."""
        part, total, count = self.net.upto(len(self.trained) + 1), 0.0, 0
        for x, y in rows(pairs, 4 * sum(k.shape[1] for k in part.weights)):
            f = sensitivities(part, x, self.heads[: part.depth - 1])[0]
            total, count = total + float((f - y).square().sum()), count + len(y)
        return total / count + sum(self.penalty(layer)[0] for layer in self.trained)

    def gradients(self, x: Tensor, y: Tensor) -> dict[Name, Tensor]:
        """The derivatives of (1) by all that is trained, cut together."""
        part = self.net.upto(len(self.trained) + 1)
        f, seen, own, below = sensitivities(part, x, self.heads[: part.depth - 1])
        r, made = (2 * (f - y) / len(y))[:, None], dict[Name, Tensor]()
        for layer in sorted(self.trained):
            n = layer - 2
            _, by_k, by_w = self.penalty(layer)
            made["W", layer] = (r * own[n]).T @ seen[n] + by_w
            if layer in self.distilled:
                made["K", layer] = (r * below[n]).T @ seen[n] + by_k
        return dict(zip(made, stochastic.cut(list(made.values())), strict=True))

    def penalty(self, layer: int) -> tuple[float, Tensor, Tensor]:
        """The terms λ of (1) for one layer, and their derivatives by K_l and W_l."""
        k, w, decay = self.net.weights[layer - 2], self.heads[layer - 2], self.decay[layer]
        value = decay * float(k.square().sum() + w.square().sum())
        by_k, by_w = 2 * decay * k, 2 * decay * w
        if layer in self.distilled:
            first = k.shape[1] - self.net.blocks(layer)[-1]
            g = k.T @ k - w.T @ w
            weight = torch.full_like(g, self.gap(layer, 2.0))
            weight[first:, first:] += self.gap(layer, 3.0)
            weight[first:, :first] += self.gap(layer, 6.0)
            slope = 2 * weight * g
            value += float((weight * g * g).sum())
            by_k, by_w = by_k + k @ (slope + slope.T), by_w - w @ (slope + slope.T)
        return value, by_k, by_w

    def move(self, directions: dict[Name, Tensor], lr: float) -> None:
        """A step."""
        for (kind, layer), direction in directions.items():
            if kind == "K":
                self.net = with_layers(self.net, {layer: self.net.weights[layer - 2] - lr * direction})
            else:
                self.heads[layer - 2] = self.heads[layer - 2] - lr * direction

    def shake(self, run: Run, size: float) -> None:
        """Noise on the heads in training."""
        for layer in sorted(self.trained):
            w = self.heads[layer - 2]
            self.heads[layer - 2] = w + size * run.normal(*w.shape)


def distil(w: Tensor, last: int, width: int) -> Tensor:
    """(5), and what it does not say."""
    first = w.shape[1] - last
    if not first:
        return eigen_root(w.T @ w, width)
    u, s, v = torch.linalg.svd(w[:, :first].T @ w[:, first:], full_matrices=False)
    lower, upper = s[:width].sqrt()[:, None] * u.T[:width], s[:width].sqrt()[:, None] * v[:width]
    back = torch.linalg.pinv(upper)
    values, vectors = torch.linalg.eigh(back.T @ w[:, first:].T @ w[:, first:] @ back)
    values = values.clamp(min=1e-6).sqrt()
    gauge, inverse = (vectors * values) @ vectors.T, (vectors / values) @ vectors.T
    k = torch.cat([inverse @ lower, gauge @ upper], dim=1)
    return torch.cat([k, k.new_zeros(width - len(k), k.shape[1])])
