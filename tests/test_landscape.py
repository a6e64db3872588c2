"""The landscape of squares: gradient, Hessian, saddles, and the theorems' numbers on instances of their own."""

import pytest
import torch
from torch import Tensor

from paramid import Run, activation
from paramid.methods import gram_least_squares
from paramid.methods.squares import landscape, quadratic_forms
from paramid.methods.squares.overparam_descent import Point, Problem, descend, point
from paramid.methods.squares.overparam_polish import polish, tangent_kernel

F64 = torch.float64
SQUARE = activation("square")


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


def last(problem: Problem, w: Tensor, v: Tensor, most: int, tol: float = 0.0) -> Point:
    *_, end = descend(problem, point(problem, w, v), step=None, most=most, tol=tol, run=Run.seeded(0))
    return end


@pytest.mark.parametrize(("name", "b", "train"), [("square", 1.0, True), ("softplus", 4.0, True), ("tanh", 1.0, False)])
def test_slopes_are_derivatives(name: str, b: float, train: bool) -> None:
    problem = Problem(drawn(0, 9, 4), drawn(1, 2, 9), activation(name), b, train)
    w, v = drawn(2, 2, 4, 3).requires_grad_(), drawn(3, 2, 3).requires_grad_()
    at = point(problem, w, v)
    by_w, by_v = torch.autograd.grad(at.loss.sum(), (w, v))
    assert torch.allclose(at.by_w, by_w)
    assert torch.allclose(at.by_v, by_v if train else 0 * by_v)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, w, v = Problem(drawn(0, 50, 4), drawn(1, 2, 50), SQUARE), drawn(2, 2, 4, 3), drawn(3, 2, 3)
    whole, polished = point(problem, w, v), polish(problem, point(problem, w, v), most=3)
    for module in ("overparam_descent", "overparam_polish"):
        monkeypatch.setattr(f"paramid.methods.squares.{module}.BLOCK", 30)
    again, polished_again = point(problem, w, v), polish(problem, point(problem, w, v), most=3)
    assert torch.allclose(whole.by_w, again.by_w)
    assert torch.allclose(polished.loss, polished_again.loss)


def test_the_hessian_is_the_second_derivative() -> None:
    x, y, w, v = drawn(0, 9, 3), drawn(1, 9), drawn(2, 3, 4), drawn(3, 4)

    def loss(neurons: Tensor) -> Tensor:
        return ((x @ neurons.T).square() @ v - y).square().mean() / 2

    exact = torch.autograd.functional.hessian(loss, w.T.contiguous()).reshape(12, 12)
    assert torch.allclose(landscape.hessian(x, y, w, v), exact)
    told = landscape.certificate(x, y, w, v)
    assert told.lowest == pytest.approx(float(torch.linalg.eigvalsh(exact)[0]))
    assert told.slope == pytest.approx(float(torch.autograd.functional.jacobian(loss, w.T.contiguous()).norm()))
    assert (told.loss, told.saddle) == (pytest.approx(float(loss(w.T))), 0.0)


def test_the_tangent_kernel_is_that_of_the_jacobian() -> None:
    problem, w, v = (
        Problem(drawn(0, 9, 3), drawn(1, 1, 9), activation("softplus"), 2.0),
        drawn(2, 1, 3, 4),
        drawn(3, 1, 4),
    )

    def values(w: Tensor, v: Tensor) -> Tensor:
        return problem.phi(problem.x @ w[0]) @ v[0]

    j = torch.cat([part.flatten(1) for part in torch.autograd.functional.jacobian(values, (w, v))], dim=1)
    assert torch.allclose(tangent_kernel(problem, w, v)[0], j @ j.T)


@pytest.mark.parametrize("n", [40, 50, 60, 80])
def test_both_signs_reach_the_convex_optimum_whatever_the_labels(n: int) -> None:
    """Theorem 2.1 with D = 10, k = 2 D: 20 of 20 instances within 1e-10, L = 0 as long as n ≤ D(D+1)/2 = 55."""
    x, y, v = drawn(n, n, 10), drawn(n + 1, 20, n), torch.ones(20, 20, dtype=F64)
    v[:, ::2] = -1
    problem = Problem(x, y, SQUARE, train_outer=False)
    end = polish(problem, last(problem, drawn(n + 2, 20, 10, 20) / 10**0.5, v, 300), most=200)
    features = quadratic_forms.features(x)
    left = y.T - features @ torch.linalg.lstsq(features, y.T, driver="gelsd").solution
    optimum = left.square().sum(0) / (2 * n)
    assert float((end.loss - optimum).abs().max()) < 1e-10
    assert float(end.loss.max()) < 1e-20 if n <= 55 else float(end.loss.min()) > 1e-3


@pytest.mark.slow
def test_saddles_are_strict_as_predicted_and_let_go_of() -> None:
    """D = 8, k = 16, n = 30, 13 neurons silent: 5 of 5 with λ_min as predicted, and 5 of 5 left for L = 0."""
    problem = Problem(drawn(10, 30, 8), drawn(11, 5, 30), SQUARE, train_outer=False)
    w, v = drawn(12, 5, 8, 16) / 8**0.5, torch.ones(5, 16, dtype=F64)
    v[:, 8:] = -1
    silent = torch.ones(16, dtype=F64).index_fill(0, torch.tensor([0, 1, 8]), 0.0).bool()
    start = point(problem, w.masked_fill(silent, 0.0), v)
    *_, at = descend(problem, start, step=None, most=3000, tol=0.0, run=Run.seeded(0), kicks=0)
    for run in range(5):
        told = landscape.certificate(problem.x, problem.y[run], at.w[run], v[run])
        assert told.loss > 1e-3
        assert told.slope < 1e-5
        assert told.lowest == pytest.approx(told.saddle, rel=0.1)
        assert told.saddle < -0.1
    freed = last(problem, at.w, v, 1200)
    assert bool((freed.loss < 0.5 * at.loss).all())
    assert float(polish(problem, freed, most=150).loss.max()) < 1e-20


def test_the_bound_of_theorem_2_2_holds_at_every_iterate() -> None:
    """Planted of one sign, D = 6, k = 7, n = 20."""
    checked = 0
    for seed in range(4):
        x, teacher, v = drawn(seed, 20, 6), drawn(seed + 9, 6, 7) / 6**0.5, torch.ones(7, dtype=F64)
        y = (x @ teacher).square() @ v
        problem = Problem(x, y[None], SQUARE, train_outer=False)
        start = point(problem, drawn(seed + 99, 1, 6, 7) / 6**0.5, v[None])
        nuclear = landscape.nuclear_norm(teacher, v)
        for done, at in enumerate(descend(problem, start, step=None, most=320, tol=0.0, run=Run.seeded(0)), 1):
            if done in (1, 10, 40, 160, 320):
                told = landscape.certificate(x, y, at.w[0], v)
                assert told.loss <= told.bound(nuclear)
                checked += 1
        end = polish(problem, at, most=100)
        assert landscape.certificate(x, y, end.w[0], v).bound(nuclear) < 1e-6
    assert checked == 20


def test_the_bound_is_the_papers() -> None:
    """(4) with ε_g = 0.1, ε_H = 0.2, M* = 2: 0.1 √29 + 0.2; and ε_g = 10: 10 · 40 where the slope is steep."""
    flat = landscape.Certificate(loss=0.0, slope=0.1, lowest=-0.2, saddle=0.0)
    assert flat.bound(2.0) == pytest.approx(0.1 * 29**0.5 + 0.2)
    assert landscape.Certificate(0.0, 10.0, 0.3, 0.0).bound(2.0) == pytest.approx(400)


def test_the_bound_scales_with_the_outer_weights() -> None:
    """ν v and W / √ν are the same function: slope √ν, curvature ν, so that (4) is unchanged."""
    x, y, w, v = drawn(0, 20, 4), drawn(1, 20), drawn(2, 4, 5), torch.ones(5, dtype=F64)
    one = landscape.certificate(x, y, w, v)
    four = landscape.certificate(x, y, w / 2, 4 * v)
    assert four.bound(3.0, nu=4.0) == pytest.approx(one.bound(3.0))


@pytest.mark.parametrize(("d", "n", "b"), [(20, 40, 1.0), (20, 100, 1.0), (20, 100, 4.0)])
def test_local_convergence_is_as_fast_as_predicted(d: int, n: int, b: float) -> None:
    """Theorem 2.5 near orthonormal weights: fitted rate ≥ 0.8 of 2 α λ_min(JJᵀ/n), and a loss that never rises."""
    teacher, v = torch.linalg.qr(drawn(0, d, d))[0][None], torch.ones(1, d, dtype=F64)
    free = Problem(drawn(1, n, d), torch.zeros(1, n, dtype=F64), activation("softplus"), b)
    problem = Problem(free.x, (free.phi(free.x @ teacher) @ v[:, :, None])[:, :, 0], free.g, b)
    eigenvalues = torch.linalg.eigvalsh(tangent_kernel(problem, teacher, v)[0]) / n
    alpha = 1 / eigenvalues[-1:]
    start = point(problem, teacher + 0.3 * drawn(2, 1, d, d) / d**0.5, v + 0.3 * drawn(3, 1, d) / d**0.5)
    losses = torch.cat([at.loss for at in descend(problem, start, step=alpha, most=1000, tol=0.0, run=Run.seeded(0))])
    assert bool((losses[1:] <= losses[:-1] * (1 + 1e-12) + 1e-28).all())
    seen = torch.arange(300, 1000)[losses[300:] > 1e-24]
    rate = float((losses[seen[0]] / losses[seen[-1]]).log() / (len(seen) - 1))
    assert rate >= 0.8 * float(2 * alpha * eigenvalues[0])


def test_one_sign_reaches_the_best_positive_matrix() -> None:
    """Theorem 2.2's argument for any labels: k > D, v = 1, and an independent solver of the convex problem."""
    x, y = drawn(0, 100, 6), drawn(1, 1, 100)
    problem = Problem(x, y.expand(4, -1), SQUARE, train_outer=False)
    end = last(problem, drawn(2, 4, 6, 7) / 6**0.5, torch.ones(4, 7, dtype=F64), 1500)
    r, right = quadratic_forms.features(x), y.T
    q = gram_least_squares.positive(r, right, gram_least_squares.least(r, right), 6, 5000)
    optimum = float((right - r @ q).square().sum()) / 200
    assert float((end.loss - optimum).abs().max()) < 1e-9
    assert optimum < float((y.clamp(max=0) ** 2).sum()) / 200 + float((y.clamp(min=0) ** 2).sum()) / 200
    assert optimum > float((y.clamp(max=0) ** 2).sum()) / 200  # the floor of outputs that cannot be negative


def test_a_hessian_that_cannot_be_held_is_refused() -> None:
    with pytest.raises(MemoryError, match="Hessian"):
        landscape.hessian(drawn(0, 2, 200), drawn(1, 2), drawn(2, 200, 100), drawn(3, 100))
