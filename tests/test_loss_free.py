"""The student is the teacher at the right diagonals whatever order, lengths and signs; its descent descends."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from paramid import Network, Run
from paramid.contracts import registry
from paramid.methods.layers import loss_free
from paramid.methods.layers.loss_free import LossFree
from paramid.oracle.samples import Samples

TASKS = ["pyramid:D=7,widths=6-4-3", "pyramid:D=7,widths=7-5-4-3,output=identity"]


def planted(task: str, run: Run, noise: float = 0.0) -> tuple[Network, LossFree]:
    """The teacher, and the student at the right diagonals over entangled weights in another order, length and sign."""
    teacher = registry.task(task).draw(3)
    zero = torch.zeros(1, teacher.inputs, dtype=run.dtype)
    slopes, z = [v[0] for v in teacher.slopes(zero)], [t[0] for t in teacher.preactivations(zero)]
    seen, right, left, shifts = [], [], [torch.ones_like(zero[0])], []
    for layer, v in enumerate(slopes):
        last = layer == len(slopes) - 1
        order = torch.arange(v.shape[1]) if last else torch.randperm(v.shape[1], generator=run.generator)
        scale = v.norm(dim=0) if last else v.norm(dim=0) * run.normal(1, v.shape[1])[0].sign()
        seen.append((v / scale)[:, order] + noise * run.normal(*v.shape))
        right.append(scale.abs()[order])
        left.append(1 / (1 - torch.tanh(z[layer]) ** 2)[order])
        shifts.append((teacher.biases[layer] * (1 if last else scale.sign()))[order])
    made = LossFree.of(seen, teacher.activations)
    return teacher, replace(made, left=tuple(left[:-1]), right=tuple(right), shifts=tuple(shifts))


def samples(teacher: Network, rows: int) -> Samples:
    def draw(index: int, count: int) -> Tensor:
        return Run.seeded(index + 1).normal(count, teacher.inputs)

    return Samples(rows, teacher.inputs, 100, draw, lambda _, x: teacher(x))


@pytest.mark.parametrize("task", TASKS)
def test_the_right_diagonals_are_the_teacher(task: str) -> None:
    run = Run.seeded(0)
    teacher, student = planted(task, run)
    x = run.normal(50, teacher.inputs)
    torch.testing.assert_close(student.network()(x), teacher(x), rtol=0, atol=1e-11)
    wrong = replace(student, right=tuple(1.1 * r for r in student.right))
    assert float((wrong.network()(x) - teacher(x)).abs().max()) > 1e-2


@pytest.mark.parametrize("task", TASKS)
def test_a_step_is_along_the_gradient_of_the_sum_of_squares(task: str) -> None:
    run = Run.seeded(1)
    teacher, student = planted(task, run, noise=0.05)
    x = run.normal(9, teacher.inputs)
    moved = student.descended(x, teacher(x), 1.0)
    for name in ("left", "right", "shifts"):
        for layer, here in enumerate(getattr(student, name)):
            free = here.clone().requires_grad_(True)
            parts = list(getattr(student, name))
            parts[layer] = free
            loss = (replace(student, **{name: tuple(parts)}).network()(x) - teacher(x)).square().sum()
            (slope,) = torch.autograd.grad(loss, free, allow_unused=True)
            torch.testing.assert_close(here - getattr(moved, name)[layer], slope, rtol=1e-8, atol=1e-10)


def test_descent_goes_on_from_exact_directions_and_ends_on_a_plateau_from_others() -> None:
    run, ends = Run.seeded(2), []
    for noise in (0.0, 0.05):
        teacher = registry.task(TASKS[0]).draw(3)
        pairs, start = samples(teacher, 400), LossFree.of(entangled(teacher, noise, run), teacher.activations)
        every = list(loss_free.descend(start, pairs, run, rate=0.05, batch=10, epochs=30))
        ends.append([loss_free.misfit(every[at].network(), pairs) for at in (9, -1)])
    assert ends[0][1] < 0.5 * ends[0][0]
    assert ends[0][1] < 0.1 * min(ends[1])


def entangled(teacher: Network, noise: float, run: Run) -> list[Tensor]:
    """Unit entangled weights with an error."""
    zero = torch.zeros(1, teacher.inputs, dtype=run.dtype)
    found = [v[0] / v[0].norm(dim=0) for v in teacher.slopes(zero)]
    return [v + noise * run.normal(*v.shape) / v.shape[0] ** 0.5 for v in found]


def test_misfit_is_relative() -> None:
    teacher, student = planted(TASKS[0], Run.seeded(0))
    pairs = samples(teacher, 250)
    assert loss_free.misfit(student.network(), pairs) < 1e-12
    silent = teacher.with_layers([torch.zeros_like(w) for w in teacher.weights], [0 * b for b in teacher.biases])
    assert loss_free.misfit(silent, pairs) == pytest.approx(1.0)
