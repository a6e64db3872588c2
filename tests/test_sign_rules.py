"""Signs from T_0 and T_1: right where they are told, and a tie where two sets make one function."""

import math

import pytest
import torch
from torch import Tensor

from paramid import Run
from paramid.methods.hermite import sign_rules
from paramid.words import hermite


def network(d: int, m: int, seed: int, reach: float = 1.5) -> Tensor:
    """θ = (W, b, a) with outer weights of either sign."""
    run = Run.seeded(seed)
    b = reach * run.normal(1, m).tanh()
    a = (1 + 0.3 * run.normal(1, m).tanh()) * torch.where(run.normal(1, m) < 0, -1.0, 1.0)
    return torch.cat([run.sphere(m, d).T, b, a])


def turned(theta: Tensor, run: Run) -> Tensor:
    signs = torch.where(run.normal(1, theta.shape[1]) < 0, -1.0, 1.0)
    return torch.cat([theta[:-1] * signs, theta[-1:]])


def low(theta: Tensor, name: str = "relu") -> dict[int, Tensor]:
    return hermite.shallow_tensors(theta[:-2], theta[-2], theta[-1], name, (0, 1))


@pytest.mark.parametrize("name", ["relu", "softplus"])
@pytest.mark.parametrize(("d", "m"), [(5, 5), (8, 3), (1, 1), (4, 8), (3, 6)])
def test_turned_units_are_turned_back(name: str, d: int, m: int) -> None:
    for seed in range(5):
        theta, run = network(d, m, seed), Run.seeded(seed)
        found, flips = sign_rules.settled(turned(theta, run), low(theta, name), name, run)
        torch.testing.assert_close(found, theta)
        assert flips.left < 1e-12 < flips.second


@pytest.mark.parametrize(("reach", "noise"), [(1.5, 0.1), (2.5, 0.01), (3.5, 0.01)])
def test_the_midpoint_rule_survives_noise_in_the_parameters(reach: float, noise: float) -> None:
    wrong, seed = 0, 0
    for seed in range(40):
        run = Run.seeded(seed)
        theta = torch.cat([torch.linalg.qr(run.normal(8, 8))[0], network(8, 8, seed, reach)[-2:]])
        rough = theta + noise / 3 * run.normal(*theta.shape)
        rough = torch.cat([rough[:-2] / rough[:-2].norm(dim=0), rough[-2:]])
        found, _ = sign_rules.settled(turned(rough, run), low(theta), "relu", run)
        wrong += int(((found[:-2] * theta[:-2]).sum(0) < 0).sum())
    assert wrong <= 0.005 * 8 * (seed + 1)


def test_beyond_the_list_a_search_takes_over() -> None:
    theta, run = network(16, 18, 0), Run.seeded(1)
    assert theta.shape[1] > sign_rules.LISTED
    found, flips = sign_rules.settled(turned(theta, run), low(theta), "relu", run)
    torch.testing.assert_close(found, theta)
    assert flips.second > 0.01


def test_two_sets_of_one_function_tie() -> None:
    """Σ a w = 0 = Σ a b: turning all three changes nothing."""
    r = 1 / math.sqrt(2)
    theta = torch.tensor(
        [[1, 0, -r], [0, 1, -r], [0.7, -0.3, -0.4 * r], [1, 1, 2 * r]], dtype=torch.float64, device="cpu"
    )
    _, flips = sign_rules.settled(theta, low(theta), "relu", Run.seeded(2))
    assert flips.left < 1e-15
    assert flips.second < 1e-15


def test_every_set_is_listed_once() -> None:
    sets = sign_rules.every(4, torch.zeros(1, dtype=torch.float64, device="cpu"))
    assert len(torch.unique(sets, dim=0)) == 16
