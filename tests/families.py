"""Five families that are not built yet, as small as can be: they try the contract, not the field.

A plug-in file like anybody's: every task here is one of a kind of access and a kind of claim that later families need.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, Function, Gram, Network, Oracle, Run, Spec, Task
from paramid.words.random_streams import generator, unit_columns

F64 = torch.float64


def direction(d: int, seed: int) -> Tensor:
    return unit_columns(d, 1, generator(seed, "toy"), F64)


@dataclass(frozen=True)
class WithMoments:
    """A teacher that can say its first Hermite coefficient, E[f(x) x]."""

    network: Network

    def __call__(self, x: Tensor) -> Tensor:
        return self.network(x)

    def moments(self, order: int) -> Tensor:
        assert order == 1
        return (self.network.weights[0] @ self.network.weights[1])[:, 0] / 2


@dataclass(frozen=True)
class ToyRelu(Task):
    """One ReLU neuron with a free outer weight, from samples and exact moments."""

    D: int = 4
    N: int = 1000
    access: ClassVar = frozenset({Access.SAMPLES, Access.MOMENTS})
    kinds: ClassVar = (Network, Directions)

    @property
    def spec(self) -> Spec:
        return Spec(inputs=self.D, widths=(1,), activations=("relu", "identity"), samples=self.N)

    def draw(self, seed: int) -> WithMoments:
        a = torch.tensor([2.5], dtype=F64)
        return WithMoments(Network.shallow(direction(self.D, seed), 0 * a, "relu", a))

    def truth(self, teacher: Any, kind: type[Claim]) -> Claim:
        return Directions(teacher.network.weights[0]) if kind is Directions else teacher.network


@dataclass(frozen=True)
class FirstMoment:
    """w a / 2 = E[f(x) x]; claimed with the scale in w, which the judge must not mind."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.SAMPLES, Access.MOMENTS})

    def declines(self, spec: Spec) -> str | None:
        return None if spec.activation == "relu" and spec.widths == (1,) else "needs one ReLU neuron"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        shift = torch.zeros(1, dtype=run.dtype, device=run.device)
        x, y = oracle.sample(1000).tensors()
        yield Network.shallow(2 * (x.T @ y) / len(x), shift, "relu")
        yield Network.shallow(2 * oracle.moments(1)[:, None], shift, "relu")


@dataclass(frozen=True)
class Halfspaces:
    """P(s_1, s_2) with s_i = [x_i > t_i], P = s_1 + 3 s_2 - 2 s_1 s_2: no layered network."""

    t: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        s = (x > self.t.to(x.device)).to(x.dtype)
        return (s[:, :1] + 3 * s[:, 1:]) - 2 * s.prod(1, keepdim=True)


@dataclass(frozen=True)
class ToyThreshold(Task):
    """A polynomial over two threshold units along the axes."""

    access: ClassVar = frozenset({Access.QUERIES})
    kinds: ClassVar = (Directions,)

    @property
    def spec(self) -> Spec:
        return Spec(inputs=2, widths=(2,), activations=("step", "polynomial"))

    def draw(self, seed: int) -> Halfspaces:
        return Halfspaces(torch.rand(2, generator=generator(seed, "toy"), dtype=F64, device="cpu") + 0.5)

    def truth(self, teacher: Any, kind: type[Claim]) -> Claim:
        return Directions(torch.eye(2, dtype=F64, device="cpu"))


@dataclass(frozen=True)
class Bisection:
    """Thresholds by bisection along the axes, P by its corners: claimed as directions, then as a function."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        return None if spec.activation == "step" else "needs threshold units"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        eye = torch.eye(2, dtype=run.dtype, device=run.device)
        yield Directions(eye)
        low, high = torch.zeros_like(eye[0]), 2 * torch.ones_like(eye[0])
        for _ in range(50):
            middle = (low + high) / 2
            above = oracle.query(middle[:, None] * eye)[:, 0] > 0
            low, high = torch.where(above, low, middle), torch.where(above, middle, high)
        corners = oracle.query(3 * torch.cat([0 * eye[:1], eye, eye.sum(0, keepdim=True)]))[:, 0]
        yield Function(self.polynomial(low, corners))

    def polynomial(self, t: Tensor, corners: Tensor) -> Callable[[Tensor], Tensor]:
        def call(x: Tensor) -> Tensor:
            s = (x > t).to(torch.int64)
            return corners[s[:, 0] + 2 * s[:, 1]][:, None]

        return call


@dataclass(frozen=True)
class ToyDeep(Task):
    """A deep net with two outputs behind one first neuron, from exact Hessians."""

    D: int = 4
    access: ClassVar = frozenset({Access.DERIVATIVES})
    kinds: ClassVar = (Network, Directions)

    @property
    def spec(self) -> Spec:
        return Spec(inputs=self.D, widths=(1, 2), outputs=2, activations=("tanh", "tanh", "identity"))

    def draw(self, seed: int) -> Network:
        rest = [torch.randn(n, 2, generator=generator(seed, "rest", n), dtype=F64, device="cpu") for n in (1, 2)]
        half = [torch.full((n,), 0.5, dtype=F64, device="cpu") for n in (1, 2, 2)]
        return Network((direction(self.D, seed), *rest), tuple(half), self.spec.activations)

    def truth(self, teacher: Any, kind: type[Claim]) -> Claim:
        return teacher if kind is Network else Directions(teacher.weights[0])


@dataclass(frozen=True)
class TopEigenvector:
    """Every Hessian of every output is a multiple of w wᵀ."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.DERIVATIVES})

    def declines(self, spec: Spec) -> str | None:
        return None if spec.widths[0] == 1 else "needs one neuron in the first layer"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        total = oracle.hessian(run.normal(5, oracle.spec.inputs)).flatten(0, 1)
        yield Directions(torch.linalg.eigh((total @ total).sum(0))[1][:, -1:])


@dataclass(frozen=True)
class Quadratic:
    """xᵀ Q x."""

    q: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return ((x @ self.q.to(x.device)) * x).sum(1, keepdim=True)


@dataclass(frozen=True)
class ToyGram(Task):
    """Quadratic forms, of whose weights only the Gram matrix can be seen."""

    D: int = 3
    access: ClassVar = frozenset({Access.QUERIES})
    kinds: ClassVar = (Gram,)
    headline: ClassVar = "gram_error"

    @property
    def spec(self) -> Spec:
        return Spec(inputs=self.D, widths=(None,), activations=("form", "identity"))

    def draw(self, seed: int) -> Quadratic:
        w = torch.randn(self.D, 5, generator=generator(seed, "toy"), dtype=F64, device="cpu")
        return Quadratic(w @ w.T)

    def truth(self, teacher: Any, kind: type[Claim]) -> Claim:
        return Gram(teacher.q)


@dataclass(frozen=True)
class Polarisation:
    """Q_ij = (f(e_i + e_j) - f(e_i) - f(e_j)) / 2."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        return None if spec.activation == "form" else "needs a quadratic form"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        d = oracle.spec.inputs
        e = torch.eye(d, dtype=run.dtype, device=run.device)
        single = oracle.query(e)[:, 0]
        both = oracle.query((e[:, None] + e).flatten(0, 1)).reshape(d, d)
        yield Gram((both - single - single[:, None]) / 2)


@dataclass(frozen=True, eq=False)
class Features(Claim):
    """A claim that only this family knows."""

    matrix: Tensor


@dataclass(frozen=True)
class Linear:
    """A x."""

    a: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return x @ self.a.to(x.device).T


@dataclass(frozen=True)
class ToyFeatures(Task):
    """A feature map that is learnt better and better, with a metric of its own."""

    noise: float = 0.1
    access: ClassVar = frozenset({Access.SAMPLES})
    kinds: ClassVar = (Features,)
    headline: ClassVar = "feature_error"
    metrics: ClassVar = {"feature_error": "distance of the feature maps"}

    @property
    def spec(self) -> Spec:
        return Spec(inputs=3, widths=(), outputs=2, activations=("features",), noise=self.noise)

    def draw(self, seed: int) -> Linear:
        return Linear(torch.randn(2, 3, generator=generator(seed, "toy"), dtype=F64, device="cpu"))

    def truth(self, teacher: Any, kind: type[Claim]) -> Claim:
        return Features(teacher.a)

    def judge(self, claim: Claim, teacher: Any) -> dict[str, float]:
        if not isinstance(claim, Features):
            return super().judge(claim, teacher)
        error = float((claim.matrix - teacher.a).norm())
        return self.headed({"feature_error": error, "identified": float(error < 0.1)})


@dataclass(frozen=True)
class GrowingLeastSquares:
    """Least squares on more and more samples: every claim better than the one before."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.SAMPLES})

    def declines(self, spec: Spec) -> str | None:
        return None if spec.activation == "features" else "needs a linear feature map"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        for n in (10, 1000, 100_000):
            x, y = oracle.sample(n).tensors()
            yield Features(torch.linalg.lstsq(x, y).solution.T)


TASKS = {
    "toy-relu": ToyRelu,
    "toy-threshold": ToyThreshold,
    "toy-deep": ToyDeep,
    "toy-gram": ToyGram,
    "toy-features": ToyFeatures,
}
METHODS = {
    "first-moment": FirstMoment,
    "bisection": Bisection,
    "top-eigenvector": TopEigenvector,
    "polarisation": Polarisation,
    "growing-least-squares": GrowingLeastSquares,
}
PAIRS = dict(zip(METHODS, TASKS, strict=True))
