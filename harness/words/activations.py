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
    strictly monotone: inside it a shift can be read off g''; 0 where there is none. `tilt` is c where g(t) = e(t) + c t
    with e even: turning a neuron shows in the linear part alone. `half_turn` h means g(t + h) = -g(t).
    """

    name: str
    derivatives: tuple[Callable[[Tensor], Tensor], ...]
    symmetry: str | None = None
    degree: int | None = None
    smooth: bool = True
    monotone: float = 0.0
    tilt: float | None = None
    half_turn: float | None = None

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


def _density(t: Tensor) -> Tensor:
    return torch.exp(-t * t / 2) / math.sqrt(2 * math.pi)


def _share(t: Tensor) -> Tensor:
    # erfc keeps the digits of small values where 1 + erf has none.
    return torch.erfc(-t / math.sqrt(2)) / 2


def _gelu1(t: Tensor) -> Tensor:
    return _share(t) + t * _density(t)


# torch.nn.GELU(approximate="tanh"): t σ(2u) with u = √(2/π) (t + 0.044715 t³).
_BEND, _SLOPE = 0.044715, math.sqrt(8 / math.pi)


def _gate(t: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The first derivative of 2u, and the logistic function of 2u with its three derivatives."""
    z = (_SLOPE * (t + _BEND * t**3)).clamp(-700, 700)
    return 3 * _BEND * _SLOPE * t**2 + _SLOPE, torch.sigmoid(z), _logistic1(z), _logistic2(z), _logistic3(z)


def _gelu_tanh(t: Tensor) -> Tensor:
    return t * _gate(t)[1]


def _gelu_tanh1(t: Tensor) -> Tensor:
    v, s, s1, _, _ = _gate(t)
    return s + t * s1 * v


def _gelu_tanh2(t: Tensor) -> Tensor:
    v, _, s1, s2, _ = _gate(t)
    v1 = 6 * _BEND * _SLOPE * t
    return 2 * s1 * v + t * (s2 * v**2 + s1 * v1)


def _gelu_tanh3(t: Tensor) -> Tensor:
    v, _, s1, s2, s3 = _gate(t)
    v1, v2 = 6 * _BEND * _SLOPE * t, 6 * _BEND * _SLOPE
    return 3 * (s2 * v**2 + s1 * v1) + t * (s3 * v**3 + 3 * s2 * v * v1 + s1 * v2)


def _silu1(t: Tensor) -> Tensor:
    return torch.sigmoid(t) + t * _logistic1(t)


def _elu(t: Tensor) -> Tensor:
    return torch.where(t > 0, t, torch.expm1(t.clamp(max=0)))


def _exp_below(t: Tensor, above: float) -> Tensor:
    return torch.where(t > 0, above, torch.exp(t.clamp(max=0)))


LEAK = 0.01  # torch.nn.LeakyReLU's


def _leaky(t: Tensor) -> Tensor:
    return torch.where(t > 0, t, LEAK * t)


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
    Activation("relu", (torch.relu, _step, torch.zeros_like, torch.zeros_like), degree=1, smooth=False, tilt=0.5),
    Activation("softplus", (_softplus, torch.sigmoid, _logistic1, _logistic2), tilt=0.5),
    Activation(
        "square",
        (torch.square, lambda t: 2 * t, lambda t: torch.full_like(t, 2.0), torch.zeros_like),
        symmetry="even",
        degree=2,
    ),
    Activation(
        "gelu",
        (
            lambda t: t * _share(t),
            _gelu1,
            lambda t: (2 - t * t) * _density(t),
            lambda t: (t * t - 4) * t * _density(t),
        ),
        tilt=0.5,
    ),
    Activation("gelu-tanh", (_gelu_tanh, _gelu_tanh1, _gelu_tanh2, _gelu_tanh3), tilt=0.5),
    Activation(
        "silu",
        (
            lambda t: t * torch.sigmoid(t),
            _silu1,
            lambda t: 2 * _logistic1(t) + t * _logistic2(t),
            lambda t: 3 * _logistic2(t) + t * _logistic3(t),
        ),
        tilt=0.5,
    ),
    Activation(
        "elu",
        (_elu, lambda t: _exp_below(t, 1.0), lambda t: _exp_below(t, 0.0), lambda t: _exp_below(t, 0.0)),
        smooth=False,
    ),
    Activation(
        "leaky-relu",
        (_leaky, lambda t: LEAK + (1 - LEAK) * _step(t), torch.zeros_like, torch.zeros_like),
        degree=1,
        smooth=False,
        tilt=(1 + LEAK) / 2,
    ),
    Activation(
        "sine",
        (torch.sin, torch.cos, lambda t: -torch.sin(t), lambda t: -torch.cos(t)),
        symmetry="odd",
        monotone=math.pi / 2,
        half_turn=math.pi,
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
