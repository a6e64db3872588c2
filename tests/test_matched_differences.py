"""The student's difference is the network's own; data and noise are what they claim to be."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Access, Network, Run, activation, task
from paramid.methods.refinement import matched_differences as stage
from paramid.oracle.counting import CountingOracle

SMOOTH = ["tanh", "logistic", "erf", "softplus"]


def oracle_for(name: str, seed: int = 0) -> tuple[Network, CountingOracle]:
    shallow = task(name)
    teacher, access = shallow.draw(seed), frozenset({Access.QUERIES})
    return teacher, CountingOracle(teacher, shallow.spec, access=access, seed=seed, device=torch.device("cpu"))


def parts(network: Network) -> tuple[Tensor, Tensor, Tensor]:
    return network.weights[0], network.biases[0], network.weights[1][:, 0]


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("h", [1e-2, 0.1, 0.5])
def test_the_student_is_the_difference_of_the_network_itself(name: str, h: float) -> None:
    teacher, oracle = oracle_for(f"shallow:D=5,m=7,outer=free,activation={name}")
    x = 2.5 * Run.seeded(1).normal(20, 5)
    found = stage.student(x, *parts(teacher), activation(name), h)
    torch.testing.assert_close(found, stage.observe(oracle, x, h), rtol=0, atol=2e-14 / h)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("h", [1e-2, 0.1, 0.5])
def test_of_one_side_as_well_and_for_half_the_queries(name: str, h: float) -> None:
    teacher, oracle = oracle_for(f"shallow:D=5,m=7,outer=free,activation={name}")
    x = 2.5 * Run.seeded(1).normal(20, 5)
    values = oracle.query(x)[:, 0]
    seen = stage.observe_ahead(oracle, x, h, values)
    assert oracle.usage.queries == 20 * (5 + 1)
    found = stage.student_ahead(x, *parts(teacher), activation(name), h)
    torch.testing.assert_close(found, seen, rtol=0, atol=4e-14 / h)
    assert float((stage.student(x, *parts(teacher), activation(name), h) - seen).abs().max()) > 1e-4


@pytest.mark.parametrize("both_sides", [True, False])
def test_the_floor_is_what_noise_leaves_of_either(both_sides: bool) -> None:
    teacher, oracle = oracle_for("shallow:D=6,m=9,noise=1e-6")
    data = stage.look(oracle, teacher.weights[0], Run.seeded(2), points=200, spread=1.0, both_sides=both_sides)
    left = data.gradients - stage.fitted(data, *parts(teacher), activation("tanh"))
    assert float(left.square().mean().sqrt()) == pytest.approx(data.floor, rel=0.4)


def test_another_network_differs() -> None:
    teacher, oracle = oracle_for("shallow:D=5,m=7")
    x = Run.seeded(1).normal(20, 5)
    w, b, a = parts(teacher)
    found = stage.student(x, w, b + 1e-6, a, activation("tanh"), 0.1)
    assert 1e-7 < float((found - stage.observe(oracle, x, 0.1)).abs().max()) < 1e-5


def test_differences_err_by_the_square_of_their_step() -> None:
    teacher, oracle = oracle_for("shallow:D=4,m=6")
    x = Run.seeded(1).normal(10, 4)
    errors = [float((stage.observe(oracle, x, h) - teacher.gradient(x)[:, 0]).norm()) for h in (0.1, 0.01)]
    assert math.log10(errors[0] / errors[1]) == pytest.approx(2, abs=0.02)


def test_every_row_costs_two_queries_a_coordinate_however_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    teacher, oracle = oracle_for("shallow:D=4,m=6")
    x = Run.seeded(1).normal(10, 4)
    whole, fitted = stage.observe(oracle, x, 0.1), stage.student(x, *parts(teacher), activation("tanh"), 0.1)
    assert oracle.usage.queries == 10 * 2 * 4
    monkeypatch.setattr(stage, "BATCH", 50)
    torch.testing.assert_close(stage.observe(oracle, x, 0.1), whole, rtol=0, atol=1e-13)
    torch.testing.assert_close(stage.student(x, *parts(teacher), activation("tanh"), 0.1), fitted, rtol=0, atol=1e-13)


@given(count=st.integers(2, 8), radius=st.floats(0.01, 2))
def test_the_basis_is_odd_and_one_at_its_own_node(count: int, radius: float) -> None:
    nodes = stage.chebyshev(count, radius, torch.zeros(1, dtype=torch.float64, device="cpu"))
    basis = torch.stack(stage.odd_lagrange(nodes, nodes))
    torch.testing.assert_close(basis, torch.eye(count, dtype=nodes.dtype), rtol=0, atol=1e-9)
    torch.testing.assert_close(torch.stack(stage.odd_lagrange(nodes, -nodes)), -basis)


@pytest.mark.parametrize("sigma", [1e-10, 1e-6, 1e-2])
def test_planted_noise_is_measured(sigma: float) -> None:
    _, oracle = oracle_for(f"shallow:D=6,m=9,noise={sigma}")
    found = stage.noise_level(oracle, Run.seeded(2), spread=2.5, lines=64)
    assert found == pytest.approx(sigma, rel=0.3)
    assert oracle.usage.queries == 9 * 64


@pytest.mark.parametrize(("precision", "least", "most"), [("float64", 1e-17, 1e-14), ("float32", 1e-8, 1e-6)])
@pytest.mark.parametrize("shape", ["D=1,m=1", "D=6,m=9", "D=6,m=9,outer=free,shift=1.5"])
def test_without_noise_it_is_the_rounding(shape: str, precision: str, least: float, most: float) -> None:
    _, oracle = oracle_for(f"shallow:{shape},precision={precision}")
    assert least < stage.noise_level(oracle, Run.seeded(2), spread=1.0) < most


@pytest.mark.parametrize(("noise", "reach"), [(0.0, 0.1), (1e-6, 1.0)])
def test_the_step_is_long_where_there_is_noise_and_follows_the_scale(noise: float, reach: float) -> None:
    teacher, oracle = oracle_for(f"shallow:D=6,m=9,noise={noise}")
    data = stage.look(oracle, teacher.weights[0], Run.seeded(2), points=10, spread=1.0)
    assert data.h * float(teacher.weights[0].abs().max()) == pytest.approx(reach)
    assert oracle.usage.queries == 10 * (2 * 6 + 1) + 9 * 16
    residual = data.gradients - stage.student(data.x, *parts(teacher), activation("tanh"), data.h)
    assert float(residual.square().mean().sqrt()) < 2 * data.floor
