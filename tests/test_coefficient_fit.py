"""The closed-form fit is that of stacked residuals; planted networks come back, from as far as their noise reaches."""

import math

import pytest
import torch
from torch import Tensor

from paramid import Run
from paramid.methods.hermite import coefficient_fit
from paramid.methods.refinement.gradient_system import Pinned
from paramid.words import hermite

NAMES = ["relu", "softplus", "tanh", "logistic", "erf"]
UNIT = Pinned(norms=True, outer=False)


def planted(d: int, m: int, seed: int, *, outer: bool = True) -> Tensor:
    """θ = (W, b, a) with unit columns."""
    run = Run.seeded(seed)
    a = torch.where(run.normal(1, m) < 0, -1.0, 1.0) * (1 + 0.2 * run.normal(1, m).tanh())
    return torch.cat([run.sphere(m, d).T, 0.7 * run.normal(1, m), a if outer else torch.ones_like(a)])


def tensors(theta: Tensor, name: str, orders: range) -> dict[int, Tensor]:
    return hermite.shallow_tensors(theta[:-2], theta[-2], theta[-1], name, orders)


def moved(theta: Tensor, size: float, seed: int) -> Tensor:
    """θ with noise in every parameter, of unit columns again."""
    near = theta + size * Run.seeded(seed).normal(*theta.shape)
    return torch.cat([near[:-2] / near[:-2].norm(dim=0), near[-2:]])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("orders", [range(5), range(2, 7)])
def test_slope_and_gram_are_those_of_the_stacked_residuals(name: str, orders: range) -> None:
    theta = planted(3, 4, 0)
    targets, at = tensors(theta, name, orders), moved(theta, 0.2, 1)

    def residual(flat: Tensor) -> Tensor:
        w, b, a = flat[:-2], flat[-2], flat[-1]
        c = hermite.coefficients(name, max(orders), b)
        scales = (hermite.multiplicities(3, k).div(math.factorial(k)).sqrt() for k in orders)
        rows = (targets[k] - hermite.powers(w, k) @ (a * c[k]) for k in orders)
        return torch.cat([s * r for s, r in zip(scales, rows, strict=True)])

    r, j = residual(at), -torch.autograd.functional.jacobian(residual, at).flatten(1)
    normal = coefficient_fit.normal_equations(at, targets, name)
    assert normal.loss == pytest.approx(float(r @ r), rel=1e-12)
    torch.testing.assert_close(normal.slope.flatten(), j.T @ r)
    torch.testing.assert_close(normal.gram, j.T @ j)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("d", "m", "orders"), [(5, 5, range(5)), (4, 6, range(2, 7))])
def test_exact_coefficients_give_exact_parameters(name: str, d: int, m: int, orders: range) -> None:
    theta = planted(d, m, 2, outer=name == "relu")
    pinned = UNIT._replace(outer=name != "relu")
    found, normal = coefficient_fit.fit(moved(theta, 0.05, 3), tensors(theta, name, orders), name, pinned=pinned)
    assert float((found - theta).abs().max()) < 1e-10
    assert normal.loss < 1e-24


def test_the_error_is_as_large_as_that_of_the_coefficients() -> None:
    theta, errors, sizes = planted(5, 5, 4), [], (1e-2, 1e-4, 1e-6)
    for size in sizes:
        targets = tensors(theta, "relu", range(5))
        noisy = {k: t + size * Run.seeded(k).normal(1, len(t))[0] / len(t) ** 0.5 for k, t in targets.items()}
        errors.append(float((coefficient_fit.fit(theta, noisy, "relu", pinned=UNIT)[0] - theta).abs().max()))
    for size, error in zip(sizes, errors, strict=True):
        assert 0.1 * size < error < 30 * size


def test_outer_weights_and_norms_stay_where_they_are_pinned() -> None:
    theta = planted(4, 3, 5, outer=False)
    start = torch.cat([moved(theta, 0.1, 6)[:-1], torch.ones(1, 3, dtype=torch.float64, device="cpu")])
    kept = start.clone()
    found, _ = coefficient_fit.fit(
        start, tensors(theta, "tanh", range(5)), "tanh", pinned=Pinned(norms=True, outer=True)
    )
    assert torch.equal(found[-1], torch.ones_like(found[-1]))
    torch.testing.assert_close(found[:-2].norm(dim=0), torch.ones_like(found[-1]))
    assert torch.equal(start, kept)


def test_a_contraction_leaves_one_index() -> None:
    t, w = hermite.unfold(Run.seeded(7).normal(1, 20)[0], 4, 3), planted(4, 3, 8)[:-2]
    torch.testing.assert_close(coefficient_fit.contract(t, w), torch.einsum("abc,bi,ci->ai", t, w, w))


def test_loadings_are_least_squares() -> None:
    w = planted(4, 5, 9)[:-2]
    t = Run.seeded(10).normal(1, 35)[0]
    weight = hermite.multiplicities(4, 4).sqrt()
    wanted = torch.linalg.lstsq(weight[:, None] * hermite.powers(w, 4), (weight * t)[:, None]).solution[:, 0]
    torch.testing.assert_close(coefficient_fit.loadings(hermite.unfold(t, 4, 4), w), wanted)


def test_what_no_unit_makes_is_left() -> None:
    """The negative control: coefficients of no network of that size."""
    run = Run.seeded(11)
    noise = {k: run.normal(1, hermite.entries(5, k))[0] for k in range(5)}
    _, normal = coefficient_fit.fit(planted(5, 2, 12), noise, "relu", pinned=UNIT)
    assert normal.loss > 0.2 * coefficient_fit.energy(noise, 5)
