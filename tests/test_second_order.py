"""Trust regions and cubic regularisation: their Hessian, their steps, and which points they leave."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from paramid import Run, activation
from paramid.methods.overparam_gd import OverparamGD
from paramid.methods.squares import overparam_descent, second_order
from paramid.methods.squares.overparam_descent import Point, Problem, point
from paramid.tasks.quadratic import Quadratic
from tests.test_overparam_gd import played

F64 = torch.float64


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(("name", "b"), [("square", 1.0), ("softplus", 4.0), ("tanh", 1.0)])
def test_the_hessian_is_the_second_derivative(
    name: str, b: float, train: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, d, k = Problem(drawn(0, 9, 3), drawn(1, 1, 9), activation(name), b, train), 3, 4
    w, v = drawn(2, 1, d, k), drawn(3, 1, k)

    def loss(theta: Tensor) -> Tensor:
        outer = theta[None, d * k :] if train else v
        return point(problem, theta[: d * k].view(1, d, k), outer).loss[0]

    theta = torch.cat([w.flatten(), *([v.flatten()] if train else [])])
    exact = torch.autograd.functional.hessian(loss, theta)
    at = point(problem, w, v)
    assert torch.allclose(second_order.hessian(problem, at)[0], exact)
    monkeypatch.setattr(second_order, "BLOCK", 40)
    assert torch.allclose(second_order.hessian(problem, at)[0], exact)


@pytest.mark.parametrize("cubic", [True, False])
@pytest.mark.parametrize("shift", [0.0, 3.0])  # with both signs of curvature, and without
def test_steps_are_minima_of_their_models(cubic: bool, shift: float) -> None:
    h = drawn(0, 5, 6, 6)
    h, g, reach = h @ h.mT / 6 + (shift - 1.5) * torch.eye(6, dtype=F64), drawn(1, 5, 6), torch.full((5,), 0.7).to(F64)

    def model(s: Tensor) -> Tensor:
        value = (g * s).sum(1) + (s * (h @ s[:, :, None])[:, :, 0]).sum(1) / 2
        return value + s.norm(dim=1) ** 3 / (6 * reach) if cubic else value

    s, fall = second_order.minimum(h, g, reach, cubic)
    assert torch.allclose(-model(s), fall)
    for seed in range(2, 200):
        other = s + 10 ** -(seed % 4) * drawn(seed, 5, 6)
        if not cubic:
            other = other * (reach / other.norm(dim=1)).clamp(max=1)[:, None]
        assert bool((model(other) >= model(s) - 1e-12).all())
    if not cubic:
        assert bool((s.norm(dim=1) <= reach * (1 + 1e-9)).all())


@pytest.mark.parametrize("cubic", [True, False])
def test_the_lowest_direction_is_taken_where_the_slope_vanishes(cubic: bool) -> None:
    h, g = torch.diag(torch.tensor([-2.0, 1.0], dtype=F64))[None], torch.zeros(1, 2, dtype=F64)
    s, fall = second_order.minimum(h, g, torch.full((1,), 0.5, dtype=F64), cubic)
    length = 2 * 0.5 * 2.0 if cubic else 0.5  # 2 e λ with λ = 2, or e
    assert float(s[0, 0].abs()) == pytest.approx(length)
    assert float(fall) > 0.2
    flat, _ = second_order.minimum(h.abs(), g, torch.full((1,), 0.5, dtype=F64), cubic)
    assert float(flat.norm()) == pytest.approx(0.0, abs=1e-12)


def ended(problem: Problem, at: Point, how: str) -> Point:
    if how == "gradient":
        steps = overparam_descent.descend(problem, at, step=None, most=300, tol=0.0, run=Run.seeded(0), kicks=0)
    else:
        steps = second_order.descend(problem, at, cubic=how == "cubic", most=300, tol=1e-26)
    *_, end = steps
    return end


@pytest.mark.parametrize(("how", "leaves"), [("trust", True), ("cubic", True), ("gradient", False)])
def test_silent_neurons_are_woken_by_curvature_and_never_by_slopes(how: str, leaves: bool) -> None:
    """Theorem 2.1 with D = 4, k = 8: columns that are zero stay so under descent; these two reach L = 0."""
    problem = Problem(drawn(0, 9, 4), drawn(1, 3, 9), activation("square"), train_outer=False)
    w, v = drawn(2, 3, 4, 8).mul(torch.tensor([1, 0, 0, 0, 1, 0, 0, 0])), torch.ones(3, 8, dtype=F64)
    v[:, 4:] = -1
    end = ended(problem, point(problem, w, v), how)
    assert bool((end.loss < 1e-20).all()) == leaves
    assert bool((end.loss > 1e-3).any()) != leaves


@pytest.mark.parametrize("how", ["trust", "cubic"])
def test_what_is_no_saddle_holds_them(how: str) -> None:
    """One neuron of positive sign before negative labels: no descent is better than f = 0."""
    problem = Problem(drawn(0, 30, 3), -torch.ones(1, 30, dtype=F64), activation("square"), train_outer=False)
    end = ended(problem, point(problem, drawn(1, 1, 3, 1), torch.ones(1, 1, dtype=F64)), how)
    assert float(end.loss) == pytest.approx(0.5)


@pytest.mark.parametrize("how", ["trust", "cubic"])
def test_the_method_takes_them(how: str) -> None:
    told, reason = played(OverparamGD(descent=how, iterations=100), Quadratic(D=6, k=3, N=60))
    assert (told[-1]["exact"], reason) == (1, "")


def test_the_hessian_of_all_weights_has_to_fit() -> None:
    spec = Quadratic(D=100, k=100, N=50).spec
    assert OverparamGD(polish="lm").declines(spec) is None
    assert "system" in str(OverparamGD(descent="cubic").declines(spec))
    assert OverparamGD().declines(replace(spec, samples=10)) is None
