"""Rank-one terms of planted tensors to rounding, an error as large as the perturbation, and none without low rank."""

import math

import pytest
import torch
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import score_directions
from paramid.methods.hermite.jennrich import Terms, expand, jennrich, lift
from paramid.words import hermite

CASES = [(1, 1, 5, 5), (1, 2, 6, 4), (2, 1, 4, 8), (2, 2, 5, 12), (3, 1, 3, 8), (3, 2, 3, 8), (1, 1, 1, 1)]


def planted(d: int, m: int, order: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Unit columns, coefficients of either sign and the full tensor."""
    run = Run.seeded(seed)
    w, alpha = run.sphere(m, d).T, run.normal(1, m)[0]
    alpha = alpha + 0.3 * torch.sign(alpha)
    return w, alpha, hermite.unfold(hermite.powers(w, order) @ alpha, d, order)


def off(truth: Tensor, found: Terms) -> float:
    return score_directions(truth, found.columns)["weight_error"]


@pytest.mark.parametrize(("left", "rest", "d", "m"), CASES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_terms_are_found_to_rounding(left: int, rest: int, d: int, m: int, seed: int) -> None:
    order = 2 * left + rest
    w, alpha, tensor = planted(d, m, order, seed)
    found = jennrich(tensor, left, m, Run.seeded(seed))
    assert off(w, found) < 1e-8
    assert found.residual < 1e-8
    if order % 2 == 0:  # an odd power takes the sign of its column
        torch.testing.assert_close(found.coefficients.sort()[0], alpha.sort()[0])


def test_the_error_is_linear_in_the_perturbation() -> None:
    w, _, tensor = planted(5, 4, 3)
    direction = hermite.unfold(Run.seeded(9).normal(1, hermite.entries(5, 3))[0], 5, 3)
    small, large = (off(w, jennrich(tensor + s * direction, 1, 4, Run.seeded(0))) for s in (1e-7, 1e-4))
    assert math.log10(large / small) / 3 == pytest.approx(1, abs=0.2)


def test_more_tries_leave_no_larger_residual() -> None:
    tensor = planted(4, 4, 3)[2] + 0.1 * planted(4, 20, 3, seed=1)[2]
    residuals = [jennrich(tensor, 1, 4, Run.seeded(0), tries=t).residual for t in (1, 5, 25)]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] < residuals[0]


def test_a_tensor_without_low_rank_keeps_a_residual() -> None:
    tensor = hermite.unfold(Run.seeded(0).normal(1, hermite.entries(5, 3))[0], 5, 3)
    assert jennrich(tensor, 1, 5, Run.seeded(0)).residual > 0.1 * float(tensor.norm())


def test_nothing_is_found_in_nothing() -> None:
    zero = torch.zeros(3, 3, 3, dtype=torch.float64)
    assert jennrich(zero, 1, 0, Run.seeded(0)).columns.shape == (3, 0)
    assert jennrich(zero, 1, 2, Run.seeded(0)).columns.shape[1] == 0


@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_column_is_lifted_from_its_power(left: int) -> None:
    w = Run.seeded(0).sphere(1, 4)[0]
    q = hermite.unfold(hermite.powers(w[:, None], left)[:, 0], 4, left).flatten()
    for sign in (1, -2):
        found = lift(sign * q, 4)
        assert float(torch.minimum((found - w).norm(), (found + w).norm())) < 1e-12


def test_coefficients_weigh_every_entry_of_the_full_tensor() -> None:
    w, _, tensor = planted(3, 2, 4)
    noisy = tensor + hermite.unfold(Run.seeded(5).normal(1, hermite.entries(3, 4))[0], 3, 4)
    powers = torch.stack([hermite.unfold(hermite.powers(c[:, None], 4)[:, 0], 3, 4).flatten() for c in w.T], dim=1)
    expected = torch.linalg.lstsq(powers, noisy.flatten()[:, None]).solution[:, 0]
    found = expand(w, hermite.fold(noisy), 4)
    torch.testing.assert_close(found.coefficients, expected)
    assert found.residual == pytest.approx(float((powers @ expected - noisy.flatten()).norm()))
