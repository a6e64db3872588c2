"""Derivatives beyond the third are those that automatic differentiation finds."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from paramid import activation
from paramid.methods.spans import activation_derivatives
from paramid.methods.spans.activation_derivatives import derivatives, width

SMOOTH = {"tanh": torch.tanh, "logistic": torch.sigmoid, "erf": torch.erf, "sine": torch.sin}


def differentiated(f: Callable[[Tensor], Tensor], z: Tensor, most: int) -> list[Tensor]:
    x, found = z.clone().requires_grad_(), []
    y = f(x)
    for _ in range(most + 1):
        found.append(y.detach())
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return found


@pytest.mark.parametrize("name", SMOOTH)
def test_they_agree_with_automatic_differentiation(name: str) -> None:
    z = torch.linspace(-4, 4, 101, dtype=torch.float64)
    exact, found = differentiated(SMOOTH[name], z, 8), derivatives(activation(name), z, 8)
    for order, (a, b) in enumerate(zip(exact, found, strict=True)):
        bound = 1e-14 * 70 ** max(0, order - 3)
        assert float((a - b).abs().max()) * width(activation(name)) ** order < bound


def test_fewer_are_had_without_interpolation() -> None:
    z = torch.zeros(2, dtype=torch.float64)
    assert len(derivatives(activation("tanh"), z, 2)) == 3


def test_too_few_nodes_are_told_by_the_same_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activation_derivatives, "NODES", 6)
    activation_derivatives.differentiation.cache_clear()
    z = torch.linspace(-4, 4, 101, dtype=torch.float64)
    sixth = derivatives(activation("tanh"), z, 6)[6]
    activation_derivatives.differentiation.cache_clear()
    assert float((sixth - differentiated(torch.tanh, z, 6)[6]).abs().max()) > 1e-3


def test_widths_are_those_of_the_argument() -> None:
    assert width(activation("tanh")) == 1
    assert width(activation("logistic")) == pytest.approx(2)
    assert width(activation("softplus")) == 0
