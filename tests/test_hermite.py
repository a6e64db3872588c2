"""Hermite polynomials, tensors and coefficients: against numpy, quadrature and full tensors."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from paramid.words import hermite
from paramid.words.activations import activation


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_polynomials_are_the_probabilists() -> None:
    z = draw(50)
    for k, value in enumerate(hermite.polynomials(z, 7)):
        expected = np.polynomial.hermite_e.hermeval(z.numpy(), [0] * k + [1])
        torch.testing.assert_close(value, torch.from_numpy(expected))
    assert len(hermite.polynomials(z, 0)) == 1


@pytest.mark.parametrize(("inputs", "order"), [(1, 3), (3, 0), (3, 1), (4, 2), (3, 5), (5, 4)])
def test_distinct_entries_stand_for_the_full_tensor(inputs: int, order: int) -> None:
    w = draw(inputs, 1)
    full = torch.ones((), dtype=torch.float64)
    for _ in range(order):
        full = full[..., None] * w[:, 0]
    distinct = hermite.powers(w, order)[:, 0]
    assert len(distinct) == hermite.entries(inputs, order)
    torch.testing.assert_close(hermite.unfold(distinct, inputs, order), full)
    weighted = hermite.multiplicities(inputs, order) @ distinct**2
    torch.testing.assert_close(weighted, (full**2).sum())
    if order:
        torch.testing.assert_close(hermite.fold(full), distinct)


def test_features_are_the_gradient_of_a_generating_function() -> None:
    """He_2 = xxᵀ - I, He_3 = x³ - 3 Sym(x I); norms are Π n_j!."""
    x = draw(6, 3)
    second = torch.stack([hermite.unfold(row, 3, 2) for row in hermite.features(x, 2)])
    torch.testing.assert_close(second, x[:, :, None] * x[:, None, :] - torch.eye(3, dtype=torch.float64))
    third = hermite.features(x, 3)
    rows = hermite.multi_indices(3, 3).tolist()
    torch.testing.assert_close(third[:, rows.index([0, 0, 1])], (x[:, 0] ** 2 - 1) * x[:, 1])
    torch.testing.assert_close(third[:, rows.index([0, 1, 2])], x.prod(dim=1))
    torch.testing.assert_close(third[:, rows.index([2, 2, 2])], x[:, 2] ** 3 - 3 * x[:, 2])


@pytest.mark.parametrize("name", ["relu", "tanh", "logistic", "erf", "softplus"])
def test_coefficients_are_integrals(name: str) -> None:
    b, length = 0.7, 1.3
    values = hermite.coefficients(
        name, 6, torch.tensor([b], dtype=torch.float64), torch.tensor([length], dtype=torch.float64)
    )
    g = activation(name)
    for k, value in enumerate(values):

        def integrand(z: float, k: int = k) -> float:
            at = float(g(torch.tensor(length * z + b, dtype=torch.float64)))
            weight = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            return at * weight * float(np.polynomial.hermite_e.hermeval(z, [0] * k + [1]))

        assert float(value) == pytest.approx(quad(integrand, -12, 12, points=[-b / length], limit=200)[0], abs=1e-8)
    assert len(values) == 7


def test_tensors_of_a_network_are_means_over_samples() -> None:
    w, b, a = draw(3, 4), draw(4, seed=1), draw(4, seed=2)
    x = draw(400_000, 3, seed=3)
    y = torch.relu(x @ w + b) @ a
    for k, expected in hermite.shallow_tensors(w, b, a, "relu", (0, 1, 2, 3, 4)).items():
        terms = y[:, None] * hermite.features(x, k)
        off = (terms.mean(dim=0) - expected).abs()
        assert bool((off < 5 * terms.std(dim=0) / math.sqrt(len(x))).all()), k
