"""What the ends of rays say of a shallow network: which activations grow so, and whether outer weights are 1.

Where all neurons are saturated, with g± = g(±∞), outer weights 1 and output bias c,

    (1)  f(Ru) - f(-Ru) = (g₊ - g₋) j,   j a whole number, |j| ≤ m, even or odd as m is,
    (2)  f(Ru) + f(-Ru) = (g₊ + g₋) m + 2c.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from paramid.identifying import measurements
from paramid.words.activations import ACTIVATIONS, Activation
from paramid.words.spec import Spec

WHOLE = 1e-3  # how near a number is to a whole one
FEWEST = 4  # lines that have settled
SAID = {
    "bounded": "stays bounded",
    "linear": "grows linearly",
    "quadratic": "grows quadratically",
    "other": "neither settles nor grows by a power",
}


@cache
def growth(g: Activation) -> str:
    """How an activation grows, by the test that functions are put to."""
    return measurements.growth(lambda x: g(x)[:, 0], torch.tensor([[1.0], [0.9], [0.7]], dtype=torch.float64))


def growth_named(name: str) -> str:
    """How the activation of that name grows."""
    return growth(ACTIVATIONS[name])


def identifiable() -> list[str]:
    """The smooth activations whose third derivative varies, in the order of the registry."""
    return [g.name for g in ACTIVATIONS.values() if g.smooth and g.degree is None]


def growing(how: str) -> list[str]:
    """Those of them that grow so."""
    return [name for name in identifiable() if growth_named(name) == how]


def misfit(told: Activation, difference: Tensor, total: Tensor, spec: Spec) -> str | None:
    """Which of activation, neurons, output bias and outer weights (1) and (2) contradict, and what to try."""
    if len(difference) < FEWEST:
        return None
    middle = total if spec.output_bias == "zero" else None
    found, said = neurons(told, difference, middle), f"f(Ru) - f(-Ru) is {shown(difference)} far out"
    if middle is not None:
        said += f" and f(Ru) + f(-Ru) {float(middle.median()):.3g}"
    if found is not None:
        width = spec.widths[0]
        if not found or width is None or found == width:
            return None
        return f"wrong number of neurons: {said}: {found} of {told.name}, {width} were told; try neurons={found}"
    for name in growing("bounded"):
        if (count := neurons(ACTIVATIONS[name], difference, middle)) is not None:
            sums = f"sums of {f'{count} ' if count else ''}{name} have such values and sums of {told.name} have not"
            return f'wrong activation: {said}; {sums}; try activation="{name}"'
    if neurons(told, difference, None) is not None:
        return f'the output bias is not 0: {said}, as sums of {told.name} under a bias; try output_bias="free"'
    low, high = limits(told)
    return f'the outer weights are not 1: {said}, no whole multiple of {high - low:g}; try outer="free"'


def neurons(g: Activation, difference: Tensor, total: Tensor | None) -> int | None:
    """How many neurons (2) tells, 0 where it cannot, None where (1) or (2) contradict; without `total` (1) alone."""
    low, high = limits(g)
    if high == low:
        return None
    j = difference / (high - low)
    if not whole(j) or not whole((j - j[0]) / 2):
        return None
    if total is None:
        return 0
    if abs(low + high) < WHOLE:
        return 0 if bool((total.abs() < WHOLE).all()) else None
    m = total / (low + high)
    same = whole(m) and float(m.max() - m.min()) < 0.5 and whole((j - m) / 2) and bool((j.abs() <= m + WHOLE).all())
    return round(float(m[0])) if same and float(m[0]) > 0.5 else None


def limits(g: Activation) -> tuple[float, float]:
    """g(-∞) and g(∞)."""
    low, high = g(torch.tensor([-1e9, 1e9], dtype=torch.float64)).tolist()
    return low, high


def whole(values: Tensor) -> bool:
    """Whether all are whole numbers."""
    return bool(((values - values.round()).abs() < WHOLE).all())


def shown(values: Tensor) -> str:
    """The first few of them."""
    return ", ".join(f"{v:.3g}" for v in (values[:3] + 0.0).tolist())
