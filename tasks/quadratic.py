"""Over-parameterised nets: shallow teachers without shifts, before learners of another width than theirs.

    (1)  f(x) = Σ_{l≤r} v_l φ(⟨w_l, x⟩),   x ~ N(0, I_D),   w_l ~ N(0, I_D / D),   v_l = 1, or ±1 with signs=mixed,
    (2)  φ(z) = z²,   or the softplus φ(z) = log(1 + e^{bz}) / b,
    (3)  L = 1/(2N) Σ_i (y_i - f̂(x_i))²,   f̂ a learner of k neurons,   RMSE = √L,
    (4)  f(x) = xᵀ M x,   M = Σ v_l w_l w_lᵀ,   for squares.

What an oracle can see: for squares M and nothing more; it is judged as the Q of [x, 1] Q [x, 1]ᵀ, of which M is a
corner. Softplus teachers stand in the paper's regime of fewer samples than weights, where samples cannot tell the
weights: their `error` is the fit (3) alone, and `weight_error` beside it says what was told. labels=random has no
teacher: y_i ~ N(0, 1), whatever x_i. Several `instances` are as many teachers over the same inputs, an output each;
metrics become medians and shares of them.

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, §2 and §3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging.aligned_networks import score_network
from paramid.judging.metrics import Metrics, Unjudgeable
from paramid.judging.spans_and_directions import score_gram, span_of_squares
from paramid.oracle.counting import CountingOracle
from paramid.words import random_streams
from paramid.words.claims import Claim, Directions, Function, Gram, Subspace
from paramid.words.network import Network, Teacher
from paramid.words.options import among, at_least, positive
from paramid.words.spec import Access, LearnerSpec

TRAINED = 100_000  # samples of which (3) is taken at most
TESTED = 10_000
# Of L over that of f̂ = 0: a global minimum, where one of L = 0 exists; and what is on its way to one.
LEVELS = {"fitted": 1e-8, "fitted_nearly": 1e-4}
CHOICES = {"activation": ("square", "softplus"), "labels": ("planted", "random"), "signs": ("positive", "mixed")}
CPU, F64 = torch.device("cpu"), torch.float64


@dataclass(frozen=True)
class Planted:
    """A teacher that knows the seed of its samples, so that a claim can be judged on those it was trained on."""

    network: Network
    seed: int

    def __call__(self, x: Tensor) -> Tensor:
        """The values f(x)."""
        return self.network(x)

    def to(self, device: torch.device) -> Planted:
        """The same teacher elsewhere."""
        return Planted(self.network.to(device), self.seed)


@dataclass(frozen=True)
class Quadratic(Task):
    """Over-parameterised nets of squares or softplus without shifts, and random labels."""

    D: int = 10  # inputs
    k: int = 10  # neurons of the learner, which methods are told
    rank: int | None = None  # neurons of the teacher; default: k
    N: int | None = None  # samples granted; default: D(D+1)
    activation: str = "square"  # square: φ(z) = z²; softplus: φ(z) = log(1 + e^{bz}) / b
    b: float = 10.0  # sharpness b of softplus
    labels: str = "planted"  # planted: the values of a teacher; random: N(0, 1), whatever the inputs
    signs: str = "positive"  # outer weights of the teacher; positive: all 1; mixed: each 1 or -1 at random
    noise: float = 0.0  # standard deviation of the Gaussian noise on planted labels
    instances: int = 1  # teachers at once over the same inputs, an output each

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES})
    metrics: ClassVar[dict[str, str]] = {
        "training_rmse": "√L on the granted samples, L = 1/(2N) Σ (y - f̂)²; of the first 100 000",
        "fitted": "flag: L below 1e-8 of what f̂ = 0 has; of several instances their share",
        "fitted_nearly": "flag: L below 1e-4 of what f̂ = 0 has, where descent is on its way; of several their share",
        "test_error": "root mean square of f - f̂ over that of f, on fresh inputs; exactly, for squares",
        "gram_error_max": "the largest gram_error of several instances",
    }
    corners: ClassVar[tuple[str, ...]] = (
        "D=4,k=4",
        *("D=1,k=1,N=3", "D=2,k=3,N=1", "D=6,k=2,N=40", "D=6,k=1,rank=3,N=40", "D=5,k=8,rank=1,N=8"),
        *("D=4,k=4,noise=0.1", "D=4,k=4,signs=mixed", "D=3,k=3,instances=3", "D=4,k=6,labels=random,N=12"),
        *("D=3,k=4,activation=softplus,N=10", "D=3,k=2,activation=softplus,b=1,N=40"),
    )

    def __post_init__(self) -> None:
        at_least(self, D=1, k=1, rank=1, N=1, noise=0, instances=1)
        among(self, **CHOICES)
        positive(self, "b")
        if self.labels == "random" and (self.noise or self.rank is not None):
            raise ValueError("noise and rank belong to planted labels; random ones are N(0, 1)")

    @property
    def square(self) -> bool:
        """Whether φ is the square of (2)."""
        return self.activation == "square"

    @property
    def spec(self) -> LearnerSpec:
        """Everything about (1) but its weights; of the width, the learner's."""
        known = self.square and self.labels == "planted" and self.signs == "positive" and self.instances == 1
        return LearnerSpec(
            inputs=self.D,
            widths=(self.k * self.instances,),
            outputs=self.instances,
            activations=(self.activation, "identity"),
            outer="ones" if known else "free",
            output_bias="zero",
            shift=0.0,
            samples=self.D * (self.D + 1) if self.N is None else self.N,
            noise=1.0 if self.labels == "random" else self.noise,
            instances=self.instances,
            sharpness=1.0 if self.square else self.b,
        )

    @property
    def headline(self) -> str:
        """The Gram matrix where it can be told, the fit elsewhere."""
        return "gram_error" if self.square and self.labels == "planted" else "training_rmse"

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """Networks, the matrices of squares, and what leads to a single net of softplus."""
        if self.square:
            return (Network, Gram)
        return (Network, Directions, Subspace) if self.told else (Network,)

    @property
    def told(self) -> bool:
        """Whether there are weights of softplus to compare with."""
        return not self.square and self.labels == "planted" and self.instances == 1

    def draw(self, seed: int) -> Planted:
        """The teachers (1) of that seed; those of random labels are silent, their labels are noise."""
        source = random_streams.generator(seed, "teacher")
        width = self.instances * (self.rank or self.k)
        w = torch.randn(self.D, width, generator=source, device=CPU, dtype=F64) / self.D**0.5
        side = torch.rand(width, generator=source, device=CPU, dtype=F64).round()
        v = torch.ones_like(side) if self.signs == "positive" else 1 - 2 * side
        v = torch.zeros_like(v) if self.labels == "random" else v
        scale = self.spec.sharpness
        outer = torch.block_diag(*(v / scale).reshape(self.instances, -1, 1))
        return Planted(Network.shallow(scale * w, torch.zeros_like(v), self.activation, outer), seed)

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """The network, as near as k neurons come to it, or its matrices."""
        network = cast("Planted", teacher).network
        if kind is Directions:
            return Directions(network.weights[0] / network.weights[0].norm(dim=0))
        if kind is Subspace:
            return Subspace(span_of_squares(network.weights[0]))
        if kind is Gram:
            return Gram(grams(network).squeeze(0) if self.instances == 1 else grams(network))
        return network if (self.rank or self.k) <= self.k else nearest(network, self.k)

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """The fit; of planted teachers what generalises, of squares the matrices."""
        if not isinstance(claim, (Network, Gram, Function)) or type(claim) not in (*self.kinds, Function):
            return super().judge(claim, teacher)
        planted = cast("Planted", teacher)
        if isinstance(claim, Gram):
            matrix = claim.matrix.reshape(-1, *claim.matrix.shape[-2:])
            wanted = (self.instances, self.D + 1, self.D + 1)
            if matrix.shape != wanted:
                raise Unjudgeable(f"matrices {tuple(matrix.shape)}; {wanted} were wanted")
            return self.headed(self.fit(lambda x: forms(matrix, x), planted) | self.matrices(matrix, planted))
        metrics = self.fit(cast("Teacher", claim), planted)
        if isinstance(claim, Network) and self.square:
            metrics |= self.matrices(grams(claim), planted)
        elif isinstance(claim, Network) and self.told:
            metrics |= score_network(planted.network, claim)
        if "test_error" not in metrics and self.labels == "planted":
            seen = claim.before if isinstance(claim, Function) else 0
            metrics |= {"test_error": self.tested(cast("Teacher", claim), planted, seen)}
        return self.headed(metrics)

    def fit(self, call: Teacher, teacher: Planted) -> Metrics:
        """(3) on the samples that a method gets which asks for all of them at once."""
        y2, r2, rows = torch.zeros((), device=CPU, dtype=F64), torch.zeros((), device=CPU, dtype=F64), 0
        for x, y in self.samples(teacher):
            r2, y2, rows = r2 + (call(x) - y).square().sum(0), y2 + y.square().sum(0), rows + len(x)
        rmse = (r2 / (2 * rows)).sqrt().nan_to_num(math.inf).median()
        shares = {name: float((r2 <= most * y2).to(F64).mean()) for name, most in LEVELS.items()}
        return {"training_rmse": float(rmse), **shares}

    def samples(self, teacher: Planted) -> Iterator[tuple[Tensor, Tensor]]:
        """The first of the granted samples, again."""
        oracle = CountingOracle(teacher, self.spec, access=self.access, seed=teacher.seed, device=CPU)
        rows = 0
        for x, y in oracle.sample(self.spec.samples or 1):
            yield x, y
            if (rows := rows + len(x)) >= TRAINED:
                return

    def matrices(self, matrix: Tensor, teacher: Planted) -> Metrics:
        """The errors of Q, as medians and shares of the instances; none where labels are random."""
        if self.labels == "random":
            return {}
        truth = grams(teacher.network)
        scores = [score_gram(t, m) for t, m in zip(truth, matrix, strict=True)]
        every = {name: torch.tensor([s[name] for s in scores], device=CPU, dtype=F64) for name in scores[0]}
        shares = {name: float(every.pop(name).mean()) for name in ("identified", "exact")}
        medians = {name: float(values.median()) for name, values in every.items()}
        test = (mean_square(truth - matrix) / mean_square(truth)).sqrt().median()
        worst = {"gram_error_max": float(every["gram_error"].max())} if self.instances > 1 else {}
        return {**medians, **shares, **worst, "test_error": float(test)}

    def tested(self, call: Teacher, teacher: Planted, seen: int) -> float:
        """The relative error on fresh inputs: other ones for every function, or the next could have asked for them."""
        source = random_streams.generator(teacher.seed, "test", *([seen] if seen else []))
        x = random_streams.normal(TESTED, self.D, source, CPU, F64)
        f = teacher(x)
        return float(((call(x) - f).square().sum(0) / f.square().sum(0)).sqrt().median())


def grams(network: Network) -> Tensor:
    """Q of [x, 1] Q [x, 1]ᵀ for every output of a net of squares: (outputs, D + 1, D + 1)."""
    lifted = torch.cat([network.weights[0], network.biases[0][None]])
    q = torch.einsum("im,mo,jm->oij", lifted, network.weights[1], lifted)
    corner = torch.zeros_like(q)
    corner[:, -1, -1] = network.biases[1]
    return q + corner


def forms(matrix: Tensor, x: Tensor) -> Tensor:
    """[x, 1] Q [x, 1]ᵀ of every Q, (rows, outputs)."""
    lifted = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
    return torch.stack([((lifted @ q) * lifted).sum(1) for q in matrix], dim=1)


def mean_square(q: Tensor) -> Tensor:
    """E f² of f = xᵀ A x + 2 bᵀ x + c over x ~ N(0, I): (tr A + c)² + 2 ‖A‖² + 4 ‖b‖²."""
    a, b = q[:, :-1, :-1], q[:, :-1, -1]
    return q.diagonal(dim1=1, dim2=2).sum(1).square() + 2 * a.square().sum((1, 2)) + 4 * b.square().sum(1)


def nearest(network: Network, k: int) -> Network:
    """Every output's best approximation by k squares: the k largest eigenvalues of M."""
    values, vectors = torch.linalg.eigh(grams(network)[:, :-1, :-1])
    order = values.abs().argsort(dim=1, descending=True)[:, :k]
    w = vectors.gather(2, order[:, None].expand(-1, vectors.shape[1], -1))
    outer = torch.block_diag(*values.gather(1, order)[:, :, None])
    w = w.permute(1, 0, 2).flatten(1)
    return Network.shallow(w, torch.zeros_like(w[0]), "square", outer)
