"""What networks are trained on: small sets of real data, and one that is made.

    (1)  friedman:  y = 10 sin(π u_1 u_2) + 20 (u_3 - 1/2)² + 10 u_4 + 5 u_5 + ε / 2,   u uniform in [0, 1]^10,

1000 points, the same for every seed. Inputs are standardised: mean 0 and deviation 1 of every column that varies.
Further outputs of (1) are made-up functions of the same inputs,

    (2)  y_o = sin(⟨g_o, x⟩ / 1.5) + x_o x_{o+1},   g_o ~ N(0, I),

and its classes, as those of any numbers, are the thirds of y.

References: Friedman, Multivariate adaptive regression splines, 1991, example 1; Pedregosa et al., Scikit-learn, 2011.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import torch
from torch import Tensor

from paramid.words import random_streams
from paramid.words.naming import UsageError

CPU, F64 = torch.device("cpu"), torch.float64
POINTS, THIRDS = 1000, 3


@dataclass(frozen=True)
class Kind:
    """What is known of a set without reading it."""

    inputs: int
    classes: int = THIRDS
    loader: str = ""  # of sklearn.datasets


KINDS = {
    "friedman": Kind(10),
    "diabetes": Kind(10, loader="load_diabetes"),
    "wine": Kind(13, 3, "load_wine"),
    "cancer": Kind(30, 2, "load_breast_cancer"),
    "digits": Kind(64, 10, "load_digits"),
}
NUMBERS = ("friedman", "diabetes")  # whose answers are no classes


def wanted_sklearn() -> None:
    """A UsageError where scikit-learn is missing."""
    if find_spec("sklearn") is None:
        raise UsageError("scikit-learn is not here: pip install 'paramid[data]'")


@cache
def inputs(name: str) -> Tensor:
    """The standardised inputs, (rows, D)."""
    x, _ = loaded(name)
    return scaled(x)


def numbers(name: str, outputs: int, *, raw: bool) -> Tensor:
    """The answers as numbers, (rows, outputs); with `raw` the first is as it is."""
    _, y = loaded(name)
    first = y[:, None] if raw else scaled(y[:, None])
    return first if outputs == 1 else torch.cat([first, scaled(further(inputs(name), outputs - 1))], dim=1)


def classes(name: str) -> Tensor:
    """The answers as classes 0, 1, …, (rows,)."""
    _, y = loaded(name)
    if name not in NUMBERS:
        return y.long()
    cuts = torch.quantile(y, torch.tensor([1 / 3, 2 / 3], dtype=F64, device=CPU))
    return torch.bucketize(y, cuts)


def further(x: Tensor, count: int) -> Tensor:
    """(2), (rows, count)."""
    g = random_streams.normal(count, x.shape[1], random_streams.generator(0, "further outputs"), CPU, F64)
    return (x @ g.T / 1.5).sin() + x[:, :count] * x[:, 1 : count + 1]


def scaled(values: Tensor) -> Tensor:
    """Columns of mean 0 and deviation 1; one that does not vary is 0."""
    size = values.std(dim=0, correction=0)
    return (values - values.mean(dim=0)) / torch.where(size > 0, size, 1.0)


@cache
def loaded(name: str) -> tuple[Tensor, Tensor]:
    """The set as it is: inputs and answers."""
    if not (loader := KINDS[name].loader):
        return friedman()
    wanted_sklearn()
    x, y = getattr(import_module("sklearn.datasets"), loader)(return_X_y=True)
    return torch.from_numpy(x).to(F64), torch.from_numpy(y).to(F64)


def friedman() -> tuple[Tensor, Tensor]:
    """(1)."""
    source = random_streams.generator(0, "friedman")
    u = torch.rand(POINTS, KINDS["friedman"].inputs, generator=source, device=CPU, dtype=F64)
    noise = random_streams.normal(1, POINTS, source, CPU, F64)[0] / 2
    y = 10 * (math.pi * u[:, 0] * u[:, 1]).sin() + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3] + 5 * u[:, 4]
    return u, y + noise
