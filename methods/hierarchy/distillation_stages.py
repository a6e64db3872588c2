"""The stages of Algorithm 1: what is trained, under which objective, and when the next layer joins or is distilled.

Features K_l (k_l rows) and heads W_l (m rows), f̃ = Σ_l α_l ‖W_l H̃_l‖² with h̃_j = σ̃(R_j S̃_j) (`truncated_square`). With
G = KᵀK - WᵀW by blocks (< and last), over the samples Z that are trained on,

    (1)  Obj = E_Z ℓ(f̃, y) + Σ_l λ3 ‖G_last,<‖² + λ4 ‖G_last,last‖² + λ5 ‖G‖² + λ6 (‖K‖² + ‖W‖²),
    (2)  W_l is trained from Obj ≤ ThresD_l = α_{l-1}² / D^{1/(3C^{l-1})} on, ThresD_2 = ∞,
    (3)  K_l from Obj ≤ ThresN_l = α_l² / D^{1/(6C^l)} on, when it is distilled from W_l (`initial_distill`) and
         λ3, λ4, λ5 = α_l² / D^{1/(6C^l)}, α_l² / D^{1/(3C^l)}, α_l² / D^{1/(2C^l)},
    (4)  ε_0 = B² at first, and halves while Obj < ε_0² / 4; λ6 = ε_0² / (k L κ)^8 when W_l joins, a quarter with every
         halving, k being the width of the widest layer that l sees.

C = 2, and ℓ is (f̃ - y)². R_l ~ N(0, 1/k_l²) is drawn when K_l is distilled, for it has k_l columns: nothing uses it
before.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, Algorithm 1, (2.3) and (4.1).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.hierarchy.densenet import Pairs, mixed, rows, sensitivities, with_layers
from paramid.methods.hierarchy.initial_distill import distilled
from paramid.methods.refinement.stochastic import Name
from paramid.words.densenet import DenseNet
from paramid.words.spec import HierarchySpec

C = 2.0
Loss = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # of values f and y: ℓ row by row, and ∂ℓ/∂f


def squared(f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """(f - y)² and its slope."""
    return (f - y).square(), 2 * (f - y)


@dataclass(frozen=True)
class Rules:
    """What Algorithm 1 is told before it starts."""

    spec: HierarchySpec
    kappa: float  # κ
    rows: int  # m
    bound: float  # B' of σ̃
    loss: Loss = squared

    def head(self, layer: int) -> float:
        """ThresD_l of (2)."""
        return math.inf if layer == 2 else self.gap(layer - 1, 3.0)

    def gap(self, layer: int, root: float) -> float:
        """α_l² / D^{1/(root C^l)}: ThresN_l and λ3, λ4, λ5 of (3)."""
        return self.spec.alphas[layer - 2] ** 2 / self.spec.inputs ** (1 / (root * C**layer))


@dataclass
class Stages:
    """What Algorithm 1 changes as it goes."""

    rules: Rules
    eps: float  # ε_0
    net: DenseNet | None = (
        None  # K_l and R_l of the layers that are trained; one row of zeros before they are distilled
    )
    heads: list[Tensor] = field(default_factory=list)  # W_l
    distilled: int = 0  # how many layers are, from layer 2 on
    decay: list[float] = field(default_factory=list)  # λ6
    objective: float = math.inf  # Obj when last looked at

    @property
    def trained(self) -> int:
        """How many layers are trained, from layer 2 on."""
        return len(self.heads)

    @property
    def depth(self) -> int:
        """L."""
        return len(self.rules.spec.links) + 1

    def advance(self, pairs: Pairs, run: Run) -> bool:
        """Lines 4 to 11 and 18 at the present Obj; whether a layer joined or was distilled."""
        now = self.objective = self.measured(pairs)
        while now < self.eps**2 / 4 and self.eps > torch.finfo(torch.float64).tiny ** 0.5:
            self.eps, self.decay = self.eps / 2, [v / 4 for v in self.decay]
        before = self.trained + self.distilled
        for layer in range(2, self.depth + 1):
            if layer == self.trained + 2 == self.distilled + 2 and now <= self.rules.head(layer):
                self.join(layer, run)
            elif layer == self.distilled + 2 == self.trained + 1 and now <= self.rules.gap(layer, 6.0):
                self.distil(layer, run)
        return self.trained + self.distilled > before

    def join(self, layer: int, run: Run) -> None:
        """W_l = 0 becomes trainable (lines 6 and 7)."""
        spec, n = self.rules.spec, layer - 1
        seen = spec.links[layer - 2]
        widths = [len(r) for r in self.net.mixes] if self.net else []
        size = sum(spec.inputs if j < 2 else widths[j - 2] for j in seen)
        zero = torch.zeros(1, size, dtype=run.dtype, device=run.device)
        made = self.net or DenseNet((zero,), (zero[:, :1],), spec.links[:1], spec.alphas[:1])
        weights, mixes = (*made.weights[: n - 1], zero), (*made.mixes[: n - 1], zero[:, :1])
        self.net = DenseNet(weights, mixes, spec.links[:n], spec.alphas[:n])
        self.heads = [*self.heads, torch.zeros(self.rules.rows, size, dtype=run.dtype, device=run.device)]
        widest = max([len(made.weights[j - 2]) for j in seen if j > 1], default=1)
        self.decay = [*self.decay, self.eps**2 / (widest * self.depth * self.rules.kappa) ** 8]

    def distil(self, layer: int, run: Run) -> None:
        """K_l out of W_l, and R_l (lines 8 to 10)."""
        net = self.whole
        k = distilled(self.heads[-1], net.blocks(layer)[-1], self.rules.kappa)
        r = run.normal(mixed(len(k)), len(k)) / len(k)
        self.net = replace(net, weights=(*net.weights[:-1], k), mixes=(*net.mixes[:-1], r))
        self.distilled += 1

    @property
    def whole(self) -> DenseNet:
        """The net, once a layer is trained."""
        if self.net is None:
            raise ValueError("no layer is trained yet")
        return self.net

    def measured(self, pairs: Pairs) -> float:
        """Obj of (1) over all pairs."""
        if self.net is None:
            return math.inf
        total, count = 0.0, 0
        for x, y in rows(pairs, 4 * sum(k.shape[1] for k in self.net.weights)):
            f = sensitivities(self.net, x, self.heads, self.rules.bound)[0]
            total, count = total + float(self.rules.loss(f, y)[0].sum()), count + len(y)
        return total / count + float(sum(self.penalty(layer)[0] for layer in range(2, self.trained + 2)))

    def gradients(self, x: Tensor, y: Tensor) -> dict[Name, Tensor]:
        """The derivatives of (1) by all that is trained."""
        f, seen, own, below = sensitivities(self.whole, x, self.heads, self.rules.bound)
        r, made = (self.rules.loss(f, y)[1] / len(y))[:, None], dict[Name, Tensor]()
        for n in range(self.trained):
            _, by_k, by_w = self.penalty(n + 2)
            made["W", n + 2] = (r * own[n]).T @ seen[n] + by_w
            if n < self.distilled:
                made["K", n + 2] = (r * below[n]).T @ seen[n] + by_k
        return made

    def penalty(self, layer: int) -> tuple[Tensor, Tensor, Tensor]:
        """The terms λ of (1) for one layer, and their derivatives by K_l and W_l."""
        k, w, decay = self.whole.weights[layer - 2], self.heads[layer - 2], self.decay[layer - 2]
        value = decay * (k.square().sum() + w.square().sum())
        by_k, by_w = 2 * decay * k, 2 * decay * w
        if layer < self.distilled + 2:
            first = k.shape[1] - self.whole.blocks(layer)[-1]
            g = k.T @ k - w.T @ w
            weight = torch.full_like(g, self.rules.gap(layer, 2.0))
            weight[first:, first:] += self.rules.gap(layer, 3.0)
            weight[first:, :first] += self.rules.gap(layer, 6.0)
            slope = 2 * weight * g
            value = value + (weight * g * g).sum()
            by_k, by_w = by_k + k @ (slope + slope.T), by_w - w @ (slope + slope.T)
        return value, by_k, by_w

    def move(self, steps: dict[Name, Tensor]) -> None:
        """What is trained, less these steps (lines 14 and 15)."""
        weights = {layer: self.whole.weights[layer - 2] - s for (kind, layer), s in steps.items() if kind == "K"}
        self.net = with_layers(self.whole, weights)
        self.heads = [w - steps["W", layer] for layer, w in enumerate(self.heads, 2)]

    def shake(self, run: Run, size: float) -> None:
        """Noise on the heads (line 15)."""
        self.heads = [w + size * run.normal(*w.shape) for w in self.heads]
