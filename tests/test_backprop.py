"""The written-out gradient is autograd's."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paramid import Network, Run
from paramid.methods.refinement.backprop import loss_gradient
from paramid.words.activations import ACTIVATIONS

SMOOTH = [name for name, g in ACTIVATIONS.items() if g.smooth]


def network(sizes: list[int], activations: list[str], seed: int, *, grad: bool = False) -> Network:
    run = Run.seeded(seed)
    weights = [run.normal(a, b) / a**0.5 for a, b in pairwise(sizes)]
    biases = [run.normal(1, b)[0] / 2 for b in sizes[1:]]
    for parameter in (*weights, *biases):
        parameter.requires_grad_(grad)
    return Network(tuple(weights), tuple(biases), tuple(activations))


def agrees_with_autograd(sizes: list[int], activations: list[str], seed: int) -> None:
    student, run = network(sizes, activations, seed, grad=True), Run.seeded(seed + 1)
    x, y = run.normal(7, sizes[0]), run.normal(7, sizes[-1])
    loss = (student(x) - y).square().sum(1).mean()
    depth = len(student.weights)
    wanted = torch.autograd.grad(loss, [*student.weights, *student.biases])
    with torch.no_grad():
        value, by_weights, by_biases = loss_gradient(student, x, y)
    torch.testing.assert_close(value, loss.detach())
    torch.testing.assert_close(by_weights, list(wanted[:depth]), rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(by_biases, list(wanted[depth:]), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", [*SMOOTH, "relu"])
@pytest.mark.parametrize("sizes", [[3, 4, 1], [1, 1, 1], [4, 6, 5, 3], [5, 4, 4, 3, 2]])
def test_every_activation_at_every_depth(name: str, sizes: list[int]) -> None:
    agrees_with_autograd(sizes, [name] * (len(sizes) - 2) + ["identity"], 0)


@pytest.mark.parametrize("name", SMOOTH)
def test_outputs_may_be_activated_too(name: str) -> None:
    agrees_with_autograd([4, 3, 2], ["tanh", name], 0)


@given(
    sizes=st.lists(st.integers(1, 5), min_size=2, max_size=5),
    activations=st.lists(st.sampled_from(SMOOTH), min_size=4, max_size=4),
    seed=st.integers(0, 10**6),
)
def test_layers_may_differ(sizes: list[int], activations: list[str], seed: int) -> None:
    agrees_with_autograd(sizes, activations[: len(sizes) - 1], seed)


def test_a_perfect_student_has_nothing_to_learn() -> None:
    student, x = network([3, 4, 2], ["tanh", "identity"], 0), Run.seeded(1).normal(5, 3)
    loss, by_weights, by_biases = loss_gradient(student, x, student(x))
    assert loss == 0
    assert all(bool((g == 0).all()) for g in (*by_weights, *by_biases))


def test_repeated_rows_change_nothing() -> None:
    student, run = network([3, 4, 2], ["tanh", "identity"], 0), Run.seeded(1)
    x, y = run.normal(5, 3), run.normal(5, 2)
    torch.testing.assert_close(loss_gradient(student, x, y), loss_gradient(student, x.repeat(3, 1), y.repeat(3, 1)))
