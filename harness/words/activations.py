"""The activations: value, first three derivatives, and what no oracle can see of them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

import torch
from torch import Tensor


@dataclass(frozen=True)
class Activation:
    """A scalar function with its derivatives and symmetries.

    `symmetry` is "odd" g(-t) = -g(t), "even" g(-t) = g(t), "complement" g(-t) = 1 - g(t), or None.
    `degree` k means g(ct) = c^k g(t) for c > 0. `monotone` is the half-width of the interval around 0 on which g'' is
    strictly monotone: inside it a shift can be read off g''; 0 where there is none.
    """

    name: str
    derivatives: tuple[Callable[[Tensor], Tensor], ...]
    symmetry: str | None = None
    degree: int | None = None
    smooth: bool = True
    monotone: float = 0.0

    def __call__(self, t: Tensor, order: int = 0) -> Tensor:
        """The derivative of the given order at `t`; order 0 is the value."""
        return self.derivatives[order](t)


def _tanh1(t: Tensor) -> Tensor:
    return 1 - torch.tanh(t) ** 2


def _tanh2(t: Tensor) -> Tensor:
    g = torch.tanh(t)
    return -2 * g * (1 - g * g)


def _tanh3(t: Tensor) -> Tensor:
    g2 = torch.tanh(t) ** 2
    return (1 - g2) * (6 * g2 - 2)


def _logistic1(t: Tensor) -> Tensor:
    return torch.sigmoid(t) * torch.sigmoid(-t)


def _logistic2(t: Tensor) -> Tensor:
    return -_logistic1(t) * torch.tanh(t / 2)


def _logistic3(t: Tensor) -> Tensor:
    s = _logistic1(t)
    return s * (1 - 6 * s)


def _erf1(t: Tensor) -> Tensor:
    return (2 / math.sqrt(math.pi)) * torch.exp(-t * t)


def _softplus(t: Tensor) -> Tensor:
    # torch's own softplus turns linear at t = 20, an error of 2e-9.
    return torch.logaddexp(t, torch.zeros_like(t))


def _step(t: Tensor) -> Tensor:
    return (t > 0).to(t.dtype)


_ALL = (
    Activation("tanh", (torch.tanh, _tanh1, _tanh2, _tanh3), symmetry="odd", monotone=math.atanh(1 / math.sqrt(3))),
    Activation(
        "logistic",
        (torch.sigmoid, _logistic1, _logistic2, _logistic3),
        symmetry="complement",
        monotone=math.log(2 + math.sqrt(3)),
    ),
    Activation(
        "erf",
        (torch.erf, _erf1, lambda t: -2 * t * _erf1(t), lambda t: (4 * t * t - 2) * _erf1(t)),
        symmetry="odd",
        monotone=1 / math.sqrt(2),
    ),
    Activation("relu", (torch.relu, _step, torch.zeros_like, torch.zeros_like), degree=1, smooth=False),
    Activation("softplus", (_softplus, torch.sigmoid, _logistic1, _logistic2)),
    Activation(
        "square",
        (torch.square, lambda t: 2 * t, lambda t: torch.full_like(t, 2.0), torch.zeros_like),
        symmetry="even",
        degree=2,
    ),
    Activation(
        "identity", (torch.clone, torch.ones_like, torch.zeros_like, torch.zeros_like), symmetry="odd", degree=1
    ),
)
ACTIVATIONS = {a.name: a for a in _ALL}


def activation(name: str) -> Activation:
    """The activation of that name; a ValueError names the near ones otherwise."""
    if name in ACTIVATIONS:
        return ACTIVATIONS[name]
    near = get_close_matches(name, ACTIVATIONS, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(ACTIVATIONS)}"
    raise ValueError(f"unknown activation {name!r}; {hint}")
