"""The system is the derivative of the gradient; its solver finds the least squares solution; what is pinned stays."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Run, activation
from paramid.methods.refinement import gradient_system, matched_differences
from paramid.methods.refinement.gradient_system import Pinned, System, split
from paramid.methods.refinement.neuron_blocks import Preconditioner, solve

FREE, FIXED = Pinned(norms=False, outer=False), Pinned(norms=True, outer=True)
BLIND = Pinned(norms=False, outer=False, linear=False)
CASES = [
    FREE,
    FIXED,
    BLIND,
    Pinned(norms=True, outer=False),
    Pinned(True, True, False),
    Pinned(norms=False, outer=True),
]


def planted(d: int, m: int, rows: int, pinned: Pinned, seed: int = 0, name: str = "tanh") -> tuple[System, Run]:
    run = Run.seeded(seed)
    w, b, a = run.sphere(m, d).T, 0.5 * run.normal(1, m), torch.ones(1, m, dtype=run.dtype)
    if not pinned.norms:
        w = w * (1 + 0.5 * torch.tanh(run.normal(1, m)))
    if not pinned.outer:
        a = a + 0.5 * torch.tanh(run.normal(1, m))
    return System.at(2 * run.normal(rows, d), torch.cat([w, b, a]), activation(name), pinned), run


def gradients(system: System, theta: Tensor) -> Tensor:
    w, b, a = split(theta)
    found = (a * system.g(system.x @ w + b, 1)) @ w.T
    return found if system.pinned.linear else found - found.mean(0)


def jacobian(system: System, pinned: Pinned) -> Tensor:
    """J over the free directions, as a matrix (rows · D, (D + 2) m)."""
    every: Tensor = torch.autograd.functional.jacobian(lambda t: gradients(system, t), system.theta)
    inverse, shape = Preconditioner.of(system, 0.0), system.theta.shape
    unit = torch.eye(system.theta.numel(), dtype=every.dtype).unflatten(1, shape)
    free = torch.stack([inverse.project(p) for p in unit]).flatten(1)
    return every.flatten(0, 1).flatten(1) @ free


@pytest.mark.parametrize("pinned", [FREE, BLIND])
@pytest.mark.parametrize("name", ["tanh", "logistic", "erf", "softplus"])
def test_forward_is_the_derivative_of_the_gradient(name: str, pinned: Pinned) -> None:
    system, run = planted(4, 5, 12, pinned, name=name)
    p = run.normal(6, 5)
    slope = (gradients(system, system.theta + 1e-6 * p) - gradients(system, system.theta - 1e-6 * p)) / 2e-6
    found = torch.cat([system.forward(block, p) for block in system.blocks()])
    torch.testing.assert_close(found, slope, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["tanh", "logistic"])
def test_one_sided_differences_are_met_to_the_second_order(name: str) -> None:
    errors = []
    for h in (0.1, 0.05):
        plain, run = planted(4, 5, 12, FREE, name=name)
        p = run.normal(6, 5)

        def ahead(theta: Tensor, system: System = plain, h: float = h) -> Tensor:
            w, b, a = split(theta)
            return matched_differences.student_ahead(system.x, w, b, a, system.g, h)

        slope = (ahead(plain.theta + 1e-5 * p) - ahead(plain.theta - 1e-5 * p)) / 2e-5
        system = System.at(plain.x, plain.theta, plain.g, FREE, step=h)
        found = torch.cat([system.forward(block, p) for block in system.blocks()])
        errors.append(float((found - slope).norm() / slope.norm()))
    assert errors[1] < 1e-2
    assert 3 < errors[0] / errors[1] < 5


@given(d=st.integers(1, 5), m=st.integers(1, 6), seed=st.integers(0, 10**6), pinned=st.sampled_from([FREE, BLIND]))
def test_backward_is_the_transpose_of_forward(d: int, m: int, seed: int, pinned: Pinned) -> None:
    system, run = planted(d, m, 7, pinned, seed)
    system = replace(system, held=(), step=0.1 if pinned.linear else 0.0)
    p, r = run.normal(d + 2, m), run.normal(7, d)
    ahead = torch.cat([system.forward(block, p) for block in system.blocks()])
    torch.testing.assert_close((ahead * r).sum(), (p * system.adjoint(r)).sum())
    torch.testing.assert_close((ahead * ahead).sum(), (p * system.normal(p)).sum())


@pytest.mark.parametrize("pinned", [FREE, BLIND])
def test_slopes_that_do_not_fit_are_computed_anew(monkeypatch: pytest.MonkeyPatch, pinned: Pinned) -> None:
    held, run = planted(4, 5, 40, pinned)
    monkeypatch.setattr(gradient_system, "HELD", 0)
    monkeypatch.setattr(gradient_system, "ROWS", 35)
    fresh = System.at(held.x, held.theta, held.g, pinned)
    assert held.held
    assert not fresh.held
    p, r = run.normal(6, 5), run.normal(40, 4)
    torch.testing.assert_close(fresh.normal(p), held.normal(p))
    torch.testing.assert_close(fresh.adjoint(r), held.adjoint(r))


def test_beside_a_free_linear_part_signs_and_constants_change_nothing() -> None:
    """Of softplus, that is; the gradients of tanh are others."""
    for name, blind in (("softplus", True), ("tanh", False)):
        system, run = planted(4, 5, 12, BLIND, name=name)
        turned = torch.cat([-system.theta[:-1], system.theta[-1:]])
        assert torch.allclose(gradients(system, turned), gradients(system, system.theta), atol=1e-13) == blind
        r = run.normal(12, 4)
        torch.testing.assert_close(system.adjoint(r + run.normal(1, 4)), system.adjoint(r))


@pytest.mark.parametrize("pinned", CASES)
def test_the_solution_is_that_of_least_squares_over_what_is_free(pinned: Pinned) -> None:
    system, run = planted(4, 6, 30, pinned)
    r, j = run.normal(30, 4), jacobian(system, pinned)
    exact = torch.linalg.pinv(j) @ r.flatten()
    found, count = solve(system, r, damping=0.0, tol=1e-12, most=500)
    torch.testing.assert_close(found.flatten(), exact, rtol=0, atol=1e-7)
    assert count < 200


@pytest.mark.parametrize("pinned", CASES)
def test_damping_is_that_of_the_damped_equations(pinned: Pinned) -> None:
    system, run = planted(3, 4, 20, pinned)
    r, inverse = run.normal(20, 3), Preconditioner.of(system, 0.5)
    found, _ = solve(system, r, damping=0.5, tol=1e-12, most=500)
    left = system.adjoint(r) - system.normal(found) - 0.5 * inverse.diagonal * found
    assert float(inverse.project(left).abs().max()) < 1e-8
    assert float((found - inverse.project(found)).abs().max()) < 1e-12


@pytest.mark.parametrize("pinned", CASES)
def test_the_preconditioner_is_symmetric_positive_and_leaves_what_is_pinned(pinned: Pinned) -> None:
    system, run = planted(4, 6, 30, pinned)
    inverse = Preconditioner.of(system, 0.0)
    p, q = inverse.project(run.normal(6, 6)), inverse.project(run.normal(6, 6))
    torch.testing.assert_close((p * inverse(q)).sum(), (q * inverse(p)).sum())
    assert float((p * inverse(p)).sum()) > 0
    torch.testing.assert_close(inverse.project(inverse(p)), inverse(p))
    if pinned.norms:
        assert float((system.theta[:-2] * inverse(p)[:-2]).sum(0).abs().max()) < 1e-12


def test_the_preconditioner_saves_products() -> None:
    system, run = planted(12, 50, 100, FREE)
    r = run.normal(100, 12)
    _, with_blocks = solve(system, r, damping=0.0, tol=1e-3, most=1000)
    plain = torch.zeros_like(system.theta)
    residual = direction = system.adjoint(r)
    start = energy = residual.square().sum()
    without = 0
    while float(energy) > 1e-6 * float(start):
        product = system.normal(direction)
        rate = energy / (direction * product).sum()
        plain, residual = plain + rate * direction, residual - rate * product
        energy, before = residual.square().sum(), energy
        direction, without = residual + energy / before * direction, without + 1
    assert 2 * with_blocks < without
