"""The pencil finds planted directions up to sign, in spite of vanishing loadings and outer weights of both signs."""

import math

import pytest
import torch
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import score_directions
from paramid.methods.hermite import fused_pencil
from paramid.methods.hermite.unit_scalars import scalars
from paramid.words import hermite


def network(d: int, m: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Unit columns, biases and outer weights of either sign."""
    run = Run.seeded(seed)
    a = 1 + 0.3 * run.normal(1, m)[0].tanh()
    return run.sphere(m, d).T, run.normal(1, m)[0].tanh(), a * torch.where(run.normal(1, m)[0] < 0, -1.0, 1.0)


def full(w: Tensor, b: Tensor, a: Tensor, name: str, lift: int) -> dict[int, Tensor]:
    orders = (2 * lift, 2 * lift + 1, 2 * lift + 2)
    found = hermite.shallow_tensors(w, b, a, name, orders)
    return {k: hermite.unfold(t, len(w), k) for k, t in found.items()}


def missed(found: Tensor, truth: Tensor) -> float:
    return score_directions(truth, found)["weight_error"]


@pytest.mark.parametrize(
    ("name", "d", "m", "lift"),
    [("relu", 5, 5, 1), ("relu", 8, 3, 1), ("relu", 1, 1, 1), ("tanh", 6, 4, 1), ("relu", 4, 8, 2), ("tanh", 4, 6, 2)],
)
def test_exact_tensors_give_exact_directions(name: str, d: int, m: int, lift: int) -> None:
    w, b, a = network(d, m, 0)
    pivot = name == "relu" and lift == 1
    found = fused_pencil.directions(full(w, b, a, name, lift), m, Run.seeded(1), lift=lift, pivot=pivot, tries=20)
    assert missed(found, w) < 1e-7


@pytest.mark.parametrize("biases", [(0.0, 0.0, 0.0), (1.0, -1.0, 0.0), (math.sqrt(3), -1.0, 1.0)])
def test_hermite_roots_take_no_unit_away(biases: tuple[float, ...]) -> None:
    w, _, a = network(3, 3, 2)
    b = torch.tensor(biases, dtype=torch.float64, device="cpu")
    tensors = full(w, b, a, "relu", 1)
    assert missed(fused_pencil.directions(tensors, 3, Run.seeded(3), lift=1, pivot=True, tries=20), w) < 1e-7


def test_odd_units_without_shift_have_no_second_order() -> None:
    """T_2 and T_4 vanish, and a pivot on T_2 would be none."""
    w, b, a = network(4, 3, 4)
    tensors = full(w, 0 * b, a, "tanh", 1)
    assert float(tensors[2].norm()) < 1e-15
    assert missed(fused_pencil.directions(tensors, 3, Run.seeded(5), lift=1, pivot=False, tries=20), w) < 1e-7


@pytest.mark.parametrize("lift", [1, 2])
def test_the_error_is_linear_in_that_of_the_tensors(lift: int) -> None:
    w, b, a = network(4, 4, 6)
    errors = []
    for size in (1e-3, 1e-5):
        tensors = full(w, b, a, "relu", lift)
        for k, t in tensors.items():
            noise = hermite.unfold(Run.seeded(k).normal(1, hermite.entries(4, k))[0], 4, k)
            tensors[k] = t + size * noise / noise.norm()
        found = fused_pencil.directions(tensors, 4, Run.seeded(7), lift=lift, pivot=lift == 1, tries=30)
        errors.append(missed(found, w))
    assert errors[0] < 0.1
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.9)


def test_a_tensor_without_low_rank_is_missed() -> None:
    """The negative control: nothing was planted, and (3) says so."""
    run = Run.seeded(8)
    noise = {k: hermite.unfold(run.normal(1, hermite.entries(4, k))[0], 4, k) for k in (2, 3, 4)}
    found = fused_pencil.directions(noise, 3, run, lift=1, pivot=True, tries=10)
    size = sum(float(t.square().sum()) / math.factorial(k) for k, t in noise.items())
    assert fused_pencil.missed(noise, found) > 0.2 * size


@pytest.mark.parametrize("name", ["relu", "tanh", "logistic", "erf", "softplus"])
def test_scalars_are_looked_up_to_the_step_of_the_grid(name: str) -> None:
    outer = 1.0 if name != "relu" else -0.7
    b = torch.tensor([-1.234, 0.0, 0.777], dtype=torch.float64, device="cpu")
    sides = torch.tensor([1.0, -1.0, -1.0], dtype=torch.float64, device="cpu")
    c = hermite.coefficients(name, 4, b)
    shown = {k: outer * sides**k * c[k] for k in range(1, 5)}
    signs, found, a = scalars(shown, name, pinned_outer=name != "relu")
    torch.testing.assert_close(found, b, atol=0.011, rtol=0)
    torch.testing.assert_close(a, torch.full_like(a, outer), atol=0.02, rtol=0)
    assert torch.equal(signs, sides)
