"""`kernel`: ridge regression with a fixed kernel, the learner that has no features to correct.

With κ of one of these, z being x or (x, x² - 1), D its length, and μ the mean of y,

    poly   κ(z, z') = (1 + ⟨z, z'⟩ / D)^degree,
    rbf    κ(z, z') = exp(-‖z - z'‖² / (2 D width²)),
    ntk    κ(x, x') = Σ_l ⟨∂f/∂K_l (x), ∂f/∂K_l (x')⟩ of a quadratic DenseNet of `units` features a layer at random
           weights = Σ_l ⟨δ_l, δ_l'⟩ ⟨H_l, H_l'⟩    (δ_l = ∂f/∂S_l),
    nngp, relu-ntk   of an infinitely wide ReLU network of `layers` hidden layers, and tangent to it (arc_cosine),

    (1)  f̂(x) = μ + Σ_i c_i κ(x, x_i),   (K + λ t I) c = y - μ,   t the mean of the diagonal of K,

λ being the one of a ladder that explains the last fifth of the samples best from the others.

References: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §1 and Figure 12; Jacot, Gabriel & Hongler,
arXiv:1806.07572.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Function, GiveUp, Oracle, Run, Spec
from paramid.methods.hierarchy import arc_cosine
from paramid.methods.hierarchy.densenet import sensitivities
from paramid.words import memory_limits
from paramid.words.densenet import DenseNet, Links
from paramid.words.options import among, positive
from paramid.words.spec import HierarchySpec

KERNELS, FEATURES = ("poly", "rbf", "ntk", "nngp", "relu-ntk"), ("x", "squares")
LADDER = (1e-8, 1e-5, 1e-3, 1e-2, 1e-1, 1.0)
CHUNK = 2**22  # doubles per intermediate
Kernel = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class KernelRidge:
    """Kernel ridge regression, polynomial, Gaussian or of random networks: a function and no weights."""

    kernel: str = "poly"  # poly: (1 + ⟨z, z'⟩ / D)^degree; rbf: Gaussian; ntk: of a DenseNet; nngp, relu-ntk
    features: str = "x"  # z of all but ntk; x: the inputs; squares: (x, x² - 1)
    degree: int = 4  # power of the kernel poly
    width: float = 1.0  # standard deviation of the Gaussian of rbf, over √(length of z)
    units: int = 200  # features a layer of the DenseNet behind ntk
    layers: int = 3  # hidden layers of the ReLU network behind nngp and relu-ntk
    N: int = 1000  # samples, or what is granted; a fifth choose the ridge

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, kernel=KERNELS, features=FEATURES)
        positive(self, "degree", "width", "units", "layers", "N")

    def declines(self, spec: Spec) -> str | None:
        """One output, and as many samples as a kernel matrix can be held for."""
        if spec.outputs != 1:
            return "regresses one output"
        count = min(self.N, spec.samples or self.N)
        if count < 2:
            return "needs two samples, one to fit and one to choose its ridge by"
        return memory_limits.refusal({"kernel matrices": (3 * count, count)}, memory_limits.room())

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Function]:
        """The regression, once."""
        count = min(self.N, oracle.spec.samples or self.N)
        x, y = oracle.sample(count).tensors()
        kappa = self.chosen(oracle.spec, run)
        held = max(1, count // 5)
        k = kappa(x, x)
        ridge = min(LADDER, key=lambda r: missed(k, y, count - held, r))
        c, mean = coefficients(k, y, ridge)
        if not bool(torch.isfinite(c).all()):
            raise GiveUp("the kernel matrix has no finite solution")
        yield Function(lambda z: values(kappa, z.to(x), x, c, mean), stats={"ridge": ridge, "samples": count})

    def chosen(self, spec: Spec, run: Run) -> Kernel:
        """κ."""
        if self.kernel == "ntk":
            net = tangent_net(spec, self.units, run)
            return lambda a, b: tangent(net, a, b)
        lift = (lambda z: torch.cat([z, z * z - 1], 1)) if self.features == "squares" else (lambda z: z)
        if self.kernel == "poly":
            return lambda a, b: (1 + lift(a) @ lift(b).T / lift(a).shape[1]) ** self.degree
        if self.kernel in ("nngp", "relu-ntk"):
            which = self.kernel == "relu-ntk"
            return lambda a, b: arc_cosine.kernels(lift(a), lift(b), self.layers)[which]
        return lambda a, b: torch.exp(-(torch.cdist(lift(a), lift(b)) ** 2) / (2 * self.width**2 * lift(a).shape[1]))


def coefficients(k: Tensor, y: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """The c and μ of (1); c is not finite where the system has no solution."""
    mean, level = y.mean(), ridge * float(k.diagonal().mean())
    system = k + level * torch.eye(len(k), dtype=k.dtype, device=k.device)
    factor, failed = torch.linalg.cholesky_ex(system)
    return (torch.full_like(y, math.nan) if int(failed) else torch.cholesky_solve(y - mean, factor)), mean


def missed(k: Tensor, y: Tensor, fitted: int, ridge: float) -> float:
    """The squared error on the rows after the first `fitted`."""
    c, mean = coefficients(k[:fitted, :fitted], y[:fitted], ridge)
    error = float((k[fitted:, :fitted] @ c + mean - y[fitted:]).square().sum())
    return error if math.isfinite(error) else math.inf


def values(kappa: Kernel, z: Tensor, x: Tensor, c: Tensor, mean: Tensor) -> Tensor:
    """f̂ of (1) in chunks of bounded memory."""
    return torch.cat([kappa(rows, x) @ c + mean for rows in z.split(max(1, CHUNK // len(x)))])


def tangent_net(spec: Spec, units: int, run: Run) -> DenseNet:
    """A DenseNet of `units` features a layer, R = I: the spec's own links, or those of three layers."""
    links: Links = spec.links if isinstance(spec, HierarchySpec) else ((1,), (0, 2))
    alphas = spec.alphas if isinstance(spec, HierarchySpec) else (1.0,) * len(links)
    weights = []
    for seen in links:
        widths = [spec.inputs if j < 2 else units for j in seen]
        parts = [run.normal(units, q) / math.sqrt(q) for q in widths]
        weights.append(torch.cat(parts, dim=1))
    one = torch.eye(units, dtype=run.dtype, device=run.device)
    return DenseNet(tuple(weights), (one,) * len(links), links, alphas)


def tangent(net: DenseNet, a: Tensor, b: Tensor) -> Tensor:
    """The tangent kernel, over the number of units."""
    (_, *left), (_, *right) = sensitivities(net, a), sensitivities(net, b)
    total = a.new_zeros(len(a), len(b))
    for seen, own, below, seen_b, own_b, below_b in zip(*left, *right, strict=True):
        total = total + ((own + below) @ (own_b + below_b).T) * (seen @ seen_b.T)
    return total / net.mixes[0].shape[0]
