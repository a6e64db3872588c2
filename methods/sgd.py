"""`sgd`: a student of the teacher's architecture, trained on samples.

    (1)  J = 1/N Σ_i ‖f̂(x_i) - f(x_i)‖²,   x_i ~ N(0, I) fixed in advance,   batches of 64, constant rate,

until J < `stop`. The thesis uses lr = 0.005 and stop = 1e-8 for shallow networks (§1.3.1); for deep ones batches of 32,
rates from 1/256 to 1/2 and no stop but two hours (§1.3.2). Near the solution plain SGD is stable only below about
2 / (0.70 m + 0.43 (D+1) m / 32) (a heuristic of ours, for tanh): at D = 35, m = 490 the thesis' rate blows up even from
the true parameters. `lr=auto` takes 0.5 / m.

Reference: Rauchensteiner 2023, §1.3.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.refinement.backprop import loss_gradient
from paramid.methods.refinement.stochastic import Adam
from paramid.words import random_streams
from paramid.words.activations import ACTIVATIONS
from paramid.words.options import among, at_least, positive


@dataclass(frozen=True)
class StochasticGradientDescent:
    """Teacher-student training by SGD or Adam, the baseline that everything is compared with (thesis, §1.3)."""

    lr: float | str = 0.005  # constant rate; auto: 0.5 / m for sgd, 0.01 for adam
    optimizer: str = "sgd"  # sgd: plain stochastic gradients; adam: adaptive steps
    batch: int = 64  # samples of a step
    N: int | None = None  # samples; default: 5/2 m D², as in the thesis' Figure 1.3, or what is granted
    steps: int = 1_000_000  # steps at most
    stop: float = 1e-8  # value of J below which training ends, at the end of an epoch; 0: it goes on

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, optimizer=("sgd", "adam"))
        if isinstance(self.lr, str) and self.lr != "auto":
            raise ValueError(f"lr is {self.lr!r}; a number or auto was wanted")
        positive(self, "lr", "batch", "N", "steps")
        at_least(self, stop=0)

    def declines(self, spec: Spec) -> str | None:
        """Trains whatever it can build."""
        if strange := sorted(set(spec.activations) - set(ACTIVATIONS)):
            return f"cannot build a student of {', '.join(strange)}"
        return "needs to know the number of neurons" if None in spec.widths else None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        """Claim the student after 100 steps and whenever the steps have grown by half."""
        spec = oracle.spec
        m = sum(w for w in spec.widths if w is not None)
        wanted = self.N or math.ceil(2.5 * m * spec.inputs**2)
        x, y = oracle.sample(min(wanted, spec.samples or wanted)).tensors()
        student, report, done = student_of(spec, run), 100, 0
        for done in self.train(student, spec, x, y, run):
            if done >= report:
                yield snapshot(student, done, x, y)
                report = math.ceil(1.5 * report)
        yield snapshot(student, done, x, y)

    def train(self, student: Network, spec: Spec, x: Tensor, y: Tensor, run: Run) -> Iterator[int]:
        """Train `student` in place; the steps done, after each, until (1) is below `stop` at the end of an epoch."""
        update, done = self.updater(student, spec), 0
        while done < self.steps:
            order = torch.randperm(len(x), generator=run.generator, device="cpu").to(x.device)
            batches = zip(x[order].split(self.batch), y[order].split(self.batch), strict=True)
            for inputs, values in islice(batches, self.steps - done):
                update(*loss_gradient(student, inputs, values)[1:])
                done += 1
                yield done
            if self.stop and mean_squared_error(student, x, y) < self.stop:
                return

    def updater(self, student: Network, spec: Spec) -> Callable[[list[Tensor], list[Tensor]], None]:
        """One step in place on all that is free, given the gradients by layer."""
        weights, biases = list(student.weights), list(student.biases)
        free_weights = weights if spec.outer == "free" else weights[:-1]
        free_biases = biases if spec.output_bias == "free" else biases[:-1]
        parameters = [*free_weights, *free_biases]
        rate = self.rate(spec)
        moments = Adam(parameters) if self.optimizer == "adam" else None

        def update(by_weights: list[Tensor], by_biases: list[Tensor]) -> None:
            gradients = [*by_weights[: len(free_weights)], *by_biases[: len(free_biases)]]
            for parameter, step in zip(parameters, moments(gradients) if moments else gradients, strict=True):
                parameter.sub_(step, alpha=rate)

        return update

    def rate(self, spec: Spec) -> float:
        """The step size."""
        if not isinstance(self.lr, str):
            return self.lr
        return 0.01 if self.optimizer == "adam" else 0.5 / sum(w for w in spec.widths if w is not None)


def student_of(spec: Spec, run: Run) -> Network:
    """A network of the spec's architecture, drawn from the teacher's own laws."""
    widths = [spec.inputs, *(w for w in spec.widths if w is not None), spec.outputs]
    weights = [run.sphere(out, fed).T.contiguous() for fed, out in pairwise(widths)]
    draws = (random_streams.shifts(spec.shift_law, spec.shift, n, run.generator, run.dtype) for n in widths[1:])
    biases = [b.to(run.device) for b in draws]
    if spec.outer == "ones":
        weights[-1] = torch.ones_like(weights[-1])
    if spec.output_bias == "zero":
        biases[-1] = torch.zeros_like(biases[-1])
    return Network(tuple(weights), tuple(biases), spec.activations)


def snapshot(student: Network, done: int, x: Tensor, y: Tensor) -> Network:
    """The student as it is now with its J, if it is still a network."""
    if not all(bool(torch.isfinite(p).all()) for p in student.arrays().values()):
        raise GiveUp(f"diverged within {done} steps")
    told = {"steps": done, "training_loss": mean_squared_error(student, x, y)}
    copy = student.with_layers([w.clone() for w in student.weights], [b.clone() for b in student.biases])
    return replace(copy, stats=told)


def mean_squared_error(student: Network, x: Tensor, y: Tensor, rows: int = 4096) -> float:
    """J of (1), in chunks."""
    parts = zip(x.split(rows), y.split(rows), strict=True)
    return float(sum((student(a) - b).square().sum() for a, b in parts)) / len(x)
