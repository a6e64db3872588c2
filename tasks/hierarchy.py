"""Quadratic DenseNets: teachers that no kernel learns from few samples and that training learns layer by layer.

    (1)  h_0 = x,   h_1 = x² - 1,   S_l = Σ_{j∈J_l} W_{l,j} h_j ∈ R^{k_l},   h_l = S_l²,   l = 2, …, L,
    (2)  f(x) = Σ_l α_l ‖S_l‖²,   J_2 = {1},   J_l by `graph` above:

    input  {0, l - 1}   full  {0, 1, …, l - 3, l - 1}, all that the paper allows   near  {l - 3, l - 1}, as a ResNet's
    chain  {l - 1}, no skip at all, which the paper leaves out   all  {0, 1, …, l - 1}, and J_2 = {0, 1}

`ks` being k_2-…-k_L and α_2 > α_3 > … the information gap. W_{l,j} = U diag(s) V with random orthonormal U, V and log s
uniform in ± log κ, then scaled, over 20 000 inputs, so that the parts of a layer carry equal energy and E‖S_l‖² = k_l.
x is standard normal, with `truncate` conditioned on ±truncate in every coordinate: from L = 4 on the values of normal
inputs have no tails to speak of means with. x² - 1 stays as it is then.

Other weights, of one size whatever the scales above:

    sparse   k_l = 1, W_{l,0} and W_{l,1} with p = 2^{L-1} entries 1/√p at random places, all others 1, `graph=all`: the
             class of Appendix I, which no kernel learns from fewer than (D over p) / 1000 samples;
    toy-1.2  S_2 = (h_1, √2 h_2), S_3 = h_1² + 2 h_2² + h_3 in the coordinates of x² - 1: (1.2), which the paper writes
             with x²; layer 3 sees x² - 1 here;
    toy-6.1  S_2 = (h_1, h_2), S_3 = (h_1² + x_3, h_2² + x_4): §6.1, the same way.

What an oracle can see: S_l below the top up to the order and the signs of its features (the squares that the next
layer takes single them out), S_L up to a rotation. α_l is told; without it only √α_l S_l would be seen.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §2 and §3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
from paramid.words.options import among, at_least
from paramid.words.spec import Access, HierarchySpec

CALIBRATION, JUDGED = 20_000, 10_000  # rows
GRAPHS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "input": lambda layer: (0, layer - 1),
    "full": lambda layer: (*range(layer - 2), layer - 1),
    "near": lambda layer: (layer - 3, layer - 1),
    "chain": lambda layer: (layer - 1,),
    "all": lambda layer: tuple(range(layer)),
}
TOYS = {"toy-1.2": (2, 1), "toy-6.1": (2, 2)}  # and their widths


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
    graph: str = "input"  # what layers from 3 on see; input, full, near, chain or all
    weights: str = "random"  # random; sparse: Appendix I's hard class; toy-1.2, toy-6.1: the paper's examples

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
        *("D=5,ks=2-1-1,alphas=1-0.2-0.04,graph=full,truncate=2.5,N=600", "D=4,ks=2-1,weights=toy-1.2,N=400"),
        *(
            "D=5,ks=1-1,graph=all,weights=sparse,N=300",
            "D=4,ks=2-2,weights=toy-6.1,N=400",
            "D=5,ks=2-1,graph=chain,N=300",
        ),
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
        among(self, graph=tuple(GRAPHS), weights=("random", "sparse", *TOYS))
        if self.weights == "sparse" and (set(self.ks) != {1} or self.graph != "all" or 2 ** len(self.ks) > self.D):
            raise ValueError(f"weights is sparse; ks of ones, graph=all and D >= {2 ** len(self.ks)} were wanted")
        if (shape := TOYS.get(self.weights)) and ((self.ks, self.graph) != (shape, "input") or self.D < 4):
            raise ValueError(f"weights is {self.weights}; ks={'-'.join(map(str, shape))} and D >= 4 were wanted")

    @property
    def links(self) -> Links:
        """J_2, …, J_L."""
        if self.weights == "toy-1.2":
            return ((1,), (1, 2))
        first = (0, 1) if self.graph == "all" else (1,)
        return (first, *(GRAPHS[self.graph](layer) for layer in range(3, len(self.ks) + 2)))

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
        if self.weights != "random":
            made = sparse(self.D, self.links, source) if self.weights == "sparse" else toy(self.weights, self.D)
            return DenseNet(made, identities(self.ks), self.links, self.alphas)
        x = self.rows(CALIBRATION, random_streams.generator(seed, "calibration"))
        h, weights = [x, x * x - 1], []
        for width, links in zip(self.ks, self.links, strict=True):
            parts = [conditioned(width, h[j].shape[1], self.kappa, source) for j in links]
            parts = [w * math.sqrt(width / len(links)) / rms(h[j] @ w.T) for w, j in zip(parts, links, strict=True)]
            k, seen = torch.cat(parts, dim=1), torch.cat([h[j] for j in links], dim=1)
            weights.append(k * math.sqrt(width) / rms(seen @ k.T))
            h.append((seen @ weights[-1].T).square())
        return DenseNet(tuple(weights), identities(self.ks), self.links, self.alphas)

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


def identities(widths: tuple[int, ...]) -> tuple[Tensor, ...]:
    """R_2, …, R_L of teachers."""
    return tuple(torch.eye(k, dtype=torch.float64, device="cpu") for k in widths)


def sparse(inputs: int, links: Links, source: torch.Generator) -> tuple[Tensor, ...]:
    """Weights of Appendix I, one row a layer."""
    few, weights = 2 ** len(links), []
    for seen in links:
        row = torch.ones(1, sum(inputs if j < 2 else 1 for j in seen), dtype=torch.float64, device="cpu")
        for block in range(2):  # of x and of x² - 1
            w = torch.zeros(inputs, dtype=torch.float64, device="cpu")
            w[torch.randperm(inputs, generator=source, device="cpu")[:few]] = 1 / math.sqrt(few)
            row[0, block * inputs : (block + 1) * inputs] = w
        weights.append(row)
    return tuple(weights)


def toy(which: str, inputs: int) -> tuple[Tensor, ...]:
    """Weights of (1.2) or of §6.1."""
    width = TOYS[which][1]
    two = torch.zeros(2, inputs, dtype=torch.float64, device="cpu")
    three = torch.zeros(width, inputs + 2, dtype=torch.float64, device="cpu")
    two[0, 0], two[1, 1] = 1.0, math.sqrt(2) if which == "toy-1.2" else 1.0
    if which == "toy-1.2":
        three[0, 2] = three[0, inputs] = three[0, inputs + 1] = 1.0
    else:
        three[0, 2] = three[1, 3] = three[0, inputs] = three[1, inputs + 1] = 1.0
    return two, three
