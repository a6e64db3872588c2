"""Signs and shifts come out of derivatives at the origin: exactly from exact ones, else with the stencils' bias."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Access, Activation, Network, Run, activation, task
from paramid.methods.spans import signs_and_shifts as stage
from paramid.oracle.counting import CountingOracle

invertible = pytest.mark.parametrize("name", stage.SHIFT_LIMITS)
STEPS = [0.1, 0.05, 0.02, 0.01]


def teacher_and_oracle(name: str) -> tuple[Network, CountingOracle]:
    shallow = task(name)
    teacher, both = shallow.draw(0), frozenset({Access.QUERIES, Access.DERIVATIVES})
    return teacher, CountingOracle(teacher, shallow.spec, access=both, seed=0, device=torch.device("cpu"))


def along(teacher: Network, directions: Tensor) -> tuple[Tensor, Tensor]:
    """T_2 and T_3 by their formula."""
    g, tau = activation(teacher.activations[0]), teacher.biases[0]
    cosines = directions.T @ teacher.weights[0]
    return cosines**2 @ g(tau, 2), cosines**3 @ g(tau, 3)


def line(count: int, half: float) -> Tensor:
    return torch.linspace(-half, half, count, dtype=torch.float64)


def slope(errors: list[Tensor]) -> float:
    return float(np.polyfit(np.log(STEPS), np.log([float(e.norm()) for e in errors]), 1)[0])


@invertible
def test_exact_derivatives_give_exact_signs_and_shifts(name: str) -> None:
    teacher, _ = teacher_and_oracle(f"shallow:D=7,m=12,activation={name}")
    w, tau = teacher.weights[0], teacher.biases[0]
    turned = torch.where(torch.arange(12) % 3 == 0, -w, w)
    second, third = along(teacher, turned)
    signs, shifts = stage.signs_and_shifts(second, third, turned, activation(name), limit=stage.SHIFT_LIMITS[name])
    torch.testing.assert_close(turned * signs, w, rtol=0, atol=0)
    torch.testing.assert_close(shifts, tau, rtol=0, atol=1e-10)


@invertible
def test_differences_along_directions_are_of_second_order(name: str) -> None:
    teacher, oracle = teacher_and_oracle(f"shallow:D=5,m=4,activation={name}")
    w = teacher.weights[0]
    exact = along(teacher, w)
    found = [stage.directional_differences(oracle, w, h=h) for h in STEPS]
    for order in (0, 1):
        assert slope([each[order] - exact[order] for each in found]) == pytest.approx(2, abs=0.1)
    assert (found[-1][1] - exact[1]).norm() < 1e-2
    assert oracle.usage.snapshot() == {"queries": 4 * 17, "samples": 0, "derivatives": 0, "moments": 0}


@pytest.mark.parametrize("m", [1, 4, 70])
def test_exact_hessians_give_the_second_derivatives_and_the_third_with_a_step(m: int) -> None:
    teacher, oracle = teacher_and_oracle(f"shallow:D=13,m={m}")
    w = teacher.weights[0]
    exact = along(teacher, w)
    found = [stage.directional_derivatives(oracle, w, h=h) for h in STEPS]
    torch.testing.assert_close(found[0][0], exact[0])
    assert slope([third - exact[1] for _, third in found]) == pytest.approx(2, abs=0.1)
    wanted = {"queries": 0, "samples": 0, "derivatives": 4 * (2 * m + 1), "moments": 0}
    assert oracle.usage.snapshot() == wanted


@pytest.mark.parametrize(("name", "stretch"), [("tanh", 1.0), ("logistic", 2.0)])
def test_the_inverse_is_the_closed_form(name: str, stretch: float) -> None:
    """σ(t) = (1 + tanh(t/2)) / 2, hence σ''(t) = tanh''(t/2) / 8."""
    c = line(41, 0.76)
    angle = (2 * torch.pi - torch.arccos(3 * 3**0.5 * c / 4)) / 3
    closed = stretch * torch.atanh(2 / 3**0.5 * torch.cos(angle))
    found = stage.invert_curvature(c / stretch**3, activation(name), stretch * 0.658)
    torch.testing.assert_close(found, closed, rtol=0, atol=1e-12)


@invertible
def test_the_inverse_undoes_the_second_derivative(name: str) -> None:
    t = line(41, 0.99 * stage.SHIFT_LIMITS[name])
    found = stage.invert_curvature(activation(name)(t, 2), activation(name), stage.SHIFT_LIMITS[name])
    torch.testing.assert_close(found, t, rtol=0, atol=1e-12)


@invertible
def test_what_no_shift_explains_is_clipped_to_the_nearer_end(name: str) -> None:
    g, limit = activation(name), stage.SHIFT_LIMITS[name]
    ends = line(2, limit)
    found = stage.invert_curvature(g(ends, 2) * 1.01, g, limit)
    torch.testing.assert_close(found, ends, rtol=0, atol=1e-12)


@invertible
def test_the_limits_lie_where_the_second_derivative_is_monotone(name: str) -> None:
    assert stage.SHIFT_LIMITS[name] < activation(name).monotone
    curvature = activation(name)(line(200, stage.SHIFT_LIMITS[name]), 2)
    assert len(curvature.diff().sign().unique()) == 1


@invertible
@given(d=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_an_activation_upside_down_has_the_same_signs_and_shifts(name: str, d: int, seed: int) -> None:
    g, limit = activation(name), stage.SHIFT_LIMITS[name]
    upside_down = Activation("mirror", tuple(lambda t, n=n: -g(t, n) for n in range(4)))
    run = Run.seeded(seed)
    w, (second, third) = run.sphere(d, d).T, run.normal(2, d)
    straight = stage.signs_and_shifts(second, third, w, g, limit=limit)
    mirrored = stage.signs_and_shifts(-second, -third, w, upside_down, limit=limit)
    torch.testing.assert_close(straight, mirrored)


@given(seed=st.integers(0, 10**6))
def test_a_direction_turned_around_turns_its_sign_and_not_its_shift(seed: int) -> None:
    run, g = Run.seeded(seed), activation("tanh")
    w, (second, third) = run.sphere(5, 5).T, run.normal(2, 5)
    turn = torch.tensor([1.0, -1.0, -1.0, 1.0, -1.0], dtype=w.dtype)
    signs, shifts = stage.signs_and_shifts(second, third, w, g, limit=0.6)
    turned, same = stage.signs_and_shifts(second, third * turn, w * turn, g, limit=0.6)
    assert torch.equal(turned, signs * turn)
    torch.testing.assert_close(same, shifts)
