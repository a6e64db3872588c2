"""With exact weights the shifts become exact; with wrong ones the error that is left follows theirs."""

import numpy as np
import pytest
import torch
from torch import Tensor

from paramid import Access, Activation, Network, Run, Samples, activation, task
from paramid.methods.spans.shift_refinement import descend, gauss_newton
from paramid.oracle.counting import CountingOracle


def teacher_and_samples(name: str, n: int) -> tuple[Network, Samples]:
    shallow = task(name)
    teacher, access = shallow.draw(0), frozenset({Access.SAMPLES})
    oracle = CountingOracle(teacher, shallow.spec, access=access, seed=0, device=torch.device("cpu"))
    return teacher, oracle.sample(n)


def parts(teacher: Network) -> tuple[Tensor, Tensor, Activation]:
    return teacher.weights[0], teacher.biases[0], activation(teacher.activations[0])


def mean_square(w: Tensor, t: Tensor, g: Activation, x: Tensor, y: Tensor) -> Tensor:
    return (g(x @ w + t).sum(1) - y).square().mean()


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
def test_gauss_newton_with_exact_weights_reaches_rounding(name: str) -> None:
    teacher, samples = teacher_and_samples(f"shallow:D=6,m=9,activation={name}", 200)
    w, tau, g = parts(teacher)
    start = tau + 0.03 * Run.seeded(1).normal(1, 9)[0]
    assert (gauss_newton(w, start, g, samples) - tau).abs().max() < 1e-12
    assert (gauss_newton(w, start, g, samples, steps=1) - tau).abs().max() > 1e-8  # it is a step, not the truth


def test_the_floor_of_gauss_newton_is_linear_in_the_frozen_error() -> None:
    teacher, samples = teacher_and_samples("shallow:D=6,m=9", 200)
    w, tau, g = parts(teacher)
    wrong, sizes = Run.seeded(1).normal(6, 9), [1e-6, 1e-5, 1e-4, 1e-3]
    floors = [float((gauss_newton(w + size * wrong, tau, g, samples) - tau).norm()) for size in sizes]
    assert np.polyfit(np.log(sizes), np.log(floors), 1)[0] == pytest.approx(1, abs=0.05)


def test_gauss_newton_ends_where_the_gradient_vanishes() -> None:
    teacher, samples = teacher_and_samples("shallow:D=6,m=9", 200)
    w, tau, g = parts(teacher)
    w = w + 0.01 * Run.seeded(1).normal(6, 9)
    t = gauss_newton(w, tau, g, samples, steps=30)
    x, y = samples.tensors()
    assert (g(x @ w + t, 1).T @ (g(x @ w + t).sum(1) - y[:, 0])).abs().max() < 1e-11


def test_gauss_newton_sees_every_sample_however_they_come() -> None:
    teacher, samples = teacher_and_samples("shallow:D=3,m=4", 5000)
    w, tau, g = parts(teacher)
    x, y = samples.tensors()
    y = y + torch.linspace(0, 1, len(y), dtype=y.dtype)[:, None]
    pieces = list(zip(x.split(1234), y.split(1234), strict=True))
    together, apart = (gauss_newton(w, tau, g, chunks, steps=2) for chunks in ([(x, y)], pieces))
    torch.testing.assert_close(together, apart)


def test_one_full_batch_is_one_step_down_the_gradient_of_half_the_mean_square() -> None:
    teacher, samples = teacher_and_samples("shallow:D=4,m=3", 50)
    (w, tau, g), (x, y) = parts(teacher), samples.tensors()
    t = (tau + 0.3).requires_grad_()
    (by_shifts,) = torch.autograd.grad(mean_square(w, t, g, x, y[:, 0]) / 2, t)
    (found,) = descend(w, t.detach(), g, x, y[:, 0], Run.seeded(0), lr=0.05, batch=50, epochs=1)
    torch.testing.assert_close(found, tau + 0.3 - 0.05 * by_shifts)


def test_a_short_last_batch_weighs_its_own_rows() -> None:
    teacher, samples = teacher_and_samples("shallow:D=4,m=3", 1)
    w, tau, g = parts(teacher)
    (x, y), start = samples.tensors(), tau + 0.3
    ten = (x.expand(10, -1), y[:, 0].expand(10))
    (in_three,) = descend(w, start, g, *ten, Run.seeded(0), lr=0.05, batch=4, epochs=1)
    *_, whole = descend(w, start, g, *ten, Run.seeded(0), lr=0.05, batch=10, epochs=3)
    torch.testing.assert_close(in_three, whole)


def test_descent_lowers_the_loss_until_it_is_below_its_mark_and_no_further() -> None:
    teacher, samples = teacher_and_samples("shallow:D=4,m=2", 1000)
    (w, tau, g), (x, y) = parts(teacher), samples.tensors()
    every = list(descend(w, tau + 0.2, g, x, y[:, 0], Run.seeded(0), lr=0.05, batch=64, epochs=100))
    losses = [float(mean_square(w, t, g, x, y[:, 0])) for t in every]
    assert losses == sorted(losses, reverse=True)
    assert 3 < len(losses) < 100
    assert losses[-1] < 1e-8 <= losses[-2]
    assert (every[-1] - tau).abs().max() < 1e-3


def test_descent_ends_with_its_epochs() -> None:
    teacher, samples = teacher_and_samples("shallow:D=4,m=2", 100)
    (w, tau, g), (x, y) = parts(teacher), samples.tensors()
    assert len(list(descend(w, tau + 0.2, g, x, y[:, 0], Run.seeded(0), lr=1e-3, batch=64, epochs=5))) == 5


def test_tensors_that_enter_are_not_written_to_nor_handed_back() -> None:
    teacher, samples = teacher_and_samples("shallow:D=4,m=2", 100)
    (w, tau, g), (x, y) = parts(teacher), samples.tensors()
    start = tau + 0.2
    entered = (w, start, x, y)
    before = [each.clone() for each in entered]
    gauss_newton(w, start, g, samples)
    every = list(descend(w, start, g, x, y[:, 0], Run.seeded(0), lr=0.05, batch=64, epochs=3))
    assert all(torch.equal(a, b) for a, b in zip(entered, before, strict=True))
    assert len({t.data_ptr() for t in (start, *every)}) == 4
    assert gauss_newton(w, start, g, samples, steps=0).data_ptr() != start.data_ptr()
