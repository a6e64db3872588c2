"""Quadratic DenseNets: teachers that no kernel learns from few samples and that training learns layer by layer.

    (1)  h_0 = x,   h_1 = x² - 1,   S_l = Σ_{j∈J_l} W_{l,j} h_j ∈ R^{k_l},   h_l = S_l²,   l = 2, …, L,
    (2)  f(x) = Σ_l α_l ‖S_l‖²,   J_2 = {1},   J_l = {0, l - 1} above,

`ks` being k_2-…-k_L and α_2 > α_3 > … the information gap. W_{l,j} = U diag(s) V with random orthonormal U, V and log s
uniform in ± log κ, then scaled, over 20 000 inputs, so that the parts of a layer carry equal energy and E‖S_l‖² = k_l.
x is standard normal, with `truncate` conditioned on ±truncate in every coordinate: from L = 4 on the values of normal
inputs have no tails to speak of means with. x² - 1 stays as it is then.

What an oracle can see: S_l below the top up to the order and the signs of its features (the squares that the next
layer takes single them out), S_L up to a rotation. α_l is told; without it only √α_l S_l would be seen.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §2 and §3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging import densenet_errors
from paramid.judging.metrics import Metrics
from paramid.words import random_streams
from paramid.words.claims import Claim, Function
from paramid.words.densenet import DenseNet, Links
from paramid.words.network import Teacher
from paramid.words.options import at_least
from paramid.words.spec import Access, HierarchySpec

CALIBRATION, JUDGED = 20_000, 10_000  # rows


@dataclass(frozen=True)
class Hierarchy(Task):
    """Quadratic DenseNets: hierarchies of features that are learnt by correcting them backwards."""

    D: int = 20  # inputs
    ks: tuple[int, ...] = (4, 2)  # widths k_2-…-k_L of the layers: at most D, and never rising
    alphas: tuple[float, ...] = (1.0, 0.2)  # weights α_2-…-α_L of the layers in f, one for each of ks
    kappa: float = 1.5  # κ: singular values of a layer's matrices, before scaling, lie in [1/κ, κ]
    truncate: float | None = None  # bound on every input: normal conditioned on ±truncate; default: none
    N: int | None = None  # samples granted; default: as many as are asked for
    noise: float = 0.0  # standard deviation of the Gaussian noise on every value

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})
    metrics: ClassVar[dict[str, str]] = {
        "relative_mse": "mean squared error over fresh inputs, over the variance of the teacher's values",
        "feature_error": "relative mean square distance of the features of a layer, after the best rotation",
        "row_error": "largest relative error of a row of W_l, matched up to sign, of a claim without mixes",
    }
    corners: ClassVar[tuple[str, ...]] = (
        "D=5,ks=2-1,N=400",
        *("D=1,ks=1-1,N=50", "D=3,ks=2,alphas=1,N=60", "D=4,ks=2-2-1,alphas=1-0.2-0.04,truncate=2.5,N=500"),
        *("D=5,ks=2-1,N=1", "D=5,ks=2-1,N=12", "D=5,ks=2-1,N=400,noise=0.1", "D=4,ks=1-1,alphas=1-1,N=200"),
        *("D=5,ks=2-1,alphas=1-1e-06,N=200", "D=5,ks=2-1,N=200,noise=100", "D=3,ks=3-3,kappa=1,N=600"),
    )

    def __post_init__(self) -> None:
        at_least(self, D=1, N=1, kappa=1, noise=0)
        if not self.ks or list(self.ks) != sorted(self.ks, reverse=True) or self.ks[0] > self.D or self.ks[-1] < 1:
            raise ValueError(f"ks is {'-'.join(map(str, self.ks))}; D >= k_2 >= ... >= k_L >= 1 was wanted")
        if len(self.alphas) != len(self.ks) or not all(0 < a < math.inf for a in self.alphas):
            told = "-".join(map(str, self.alphas))
            raise ValueError(f"alphas is {told}; {len(self.ks)} positive numbers were wanted, one for each of ks")
        if self.truncate is not None and not self.truncate > 1:
            raise ValueError(f"truncate is {self.truncate}; more than 1 was wanted")

    @property
    def links(self) -> Links:
        """J_2, …, J_L."""
        return ((1,), *((0, layer - 1) for layer in range(3, len(self.ks) + 2)))

    @property
    def spec(self) -> HierarchySpec:
        """Everything about (1) and (2) but the weights."""
        return HierarchySpec(
            inputs=self.D,
            widths=self.ks,
            activations=("dense-square",) * (len(self.ks) + 1),
            output_bias="zero",
            samples=self.N,
            noise=self.noise,
            within=self.truncate,
            links=self.links,
            alphas=self.alphas,
        )

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """DenseNets, and functions."""
        return (DenseNet,)

    @property
    def headline(self) -> str:
        """What is learnt first of all is a function."""
        return "relative_mse"

    def draw(self, seed: int) -> DenseNet:
        """The net (1) of that seed; the same weights whatever the alphas."""
        source = random_streams.generator(seed, "teacher")
        x = self.rows(CALIBRATION, random_streams.generator(seed, "calibration"))
        h, weights = [x, x * x - 1], []
        for width, links in zip(self.ks, self.links, strict=True):
            parts = [conditioned(width, h[j].shape[1], self.kappa, source) for j in links]
            parts = [w * math.sqrt(width / len(links)) / rms(h[j] @ w.T) for w, j in zip(parts, links, strict=True)]
            k, seen = torch.cat(parts, dim=1), torch.cat([h[j] for j in links], dim=1)
            weights.append(k * math.sqrt(width) / rms(seen @ k.T))
            h.append((seen @ weights[-1].T).square())
        mixes = tuple(torch.eye(k, dtype=torch.float64, device="cpu") for k in self.ks)
        return DenseNet(tuple(weights), mixes, self.links, self.alphas)

    def rows(self, count: int, source: torch.Generator) -> Tensor:
        """Inputs of the family's law."""
        return random_streams.inputs(self.spec, count, source, torch.device("cpu"), torch.float64)

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:  # noqa: ARG002 -- there is one kind
        """The teacher itself."""
        return cast("DenseNet", teacher)

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Nets by their features and layers, functions by their values, over inputs that no method has seen."""
        x = self.rows(JUDGED, random_streams.generator(0, "hierarchy judge"))
        if isinstance(claim, Function):
            return self.headed(densenet_errors.outputs(teacher, claim, x))
        if isinstance(claim, DenseNet):
            return self.headed(densenet_errors.score(cast("DenseNet", teacher), claim.copy(), x))
        return super().judge(claim, teacher)


def conditioned(rows: int, columns: int, kappa: float, source: torch.Generator) -> Tensor:
    """U diag(s) V, (rows, columns), with log s uniform in ± log κ."""

    def orthonormal(height: int, width: int) -> Tensor:
        return torch.linalg.qr(torch.randn(height, width, generator=source, device="cpu", dtype=torch.float64))[0]

    rank = min(rows, columns)
    uniform = torch.rand(rank, generator=source, device="cpu", dtype=torch.float64)
    return (orthonormal(rows, rank) * kappa ** (2 * uniform - 1)) @ orthonormal(columns, rank).T


def rms(s: Tensor) -> float:
    """√E‖s‖² over rows."""
    return math.sqrt(float(s.square().sum()) / len(s))
