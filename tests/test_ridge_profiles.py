"""Along exact directions everything is read off to rounding; along wrong ones the error follows theirs."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from paramid import Access, GiveUp, Network, Run, activation, task
from paramid.methods.refinement.joint_refinement import refine
from paramid.methods.spans.linear_parts import hidden
from paramid.methods.spans.ridge_profiles import directional, first_network, profile
from paramid.oracle.counting import CountingOracle
from paramid.words.network import flip

Q = frozenset({Access.QUERIES})


def planted(name: str, seed: int = 0) -> tuple[Network, CountingOracle]:
    shallow = task(name)
    teacher = shallow.draw(seed)
    return teacher, CountingOracle(teacher, shallow.spec, access=Q, seed=seed, device=torch.device("cpu"))


def directions(teacher: Network, size: float = 0.0, seed: int = 1) -> Tensor:
    """The teacher's, each with a sign of its own, off by about `size`."""
    run, w = Run.seeded(seed), teacher.weights[0]
    u = w / w.norm(dim=0) * torch.where(run.normal(1, w.shape[1])[0] < 0, -1.0, 1.0)
    u = u + size * run.normal(*w.shape) / math.sqrt(len(w))
    return u / u.norm(dim=0)


def upright(teacher: Network, found: Network) -> Network:
    """The claim with the signs of the teacher, where they are free or left open."""
    if hidden(activation(teacher.activations[0])):
        same = torch.sign((teacher.weights[0] * found.weights[0]).sum(0))
        return found.with_layers([same * found.weights[0], found.weights[1]], [same * found.biases[0], found.biases[1]])
    same = torch.sign(teacher.weights[1] * found.weights[1])[:, 0]
    return flip(found, 0, same) if activation(teacher.activations[0]).symmetry else found


def error(teacher: Network, found: Network) -> float:
    """The largest of a weight, a shift and an outer weight; the output bias is left to others."""
    pairs = ((teacher.weights[0], found.weights[0]), (teacher.weights[1], found.weights[1]))
    return max(float((a - b).abs().max()) for a, b in (*pairs, (teacher.biases[0], found.biases[0])))


@pytest.mark.parametrize("outer", ["ones", "free"])
@pytest.mark.parametrize("shift", [0.5, 1.5])
@pytest.mark.parametrize("name", ["tanh", "logistic", "erf", "softplus"])
def test_exact_directions_give_everything(name: str, shift: float, outer: str) -> None:
    teacher, oracle = planted(f"shallow:D=12,m=10,activation={name},shift={shift},outer={outer}")
    found = first_network(oracle, directions(teacher), run=Run.seeded(2))
    assert error(teacher, upright(teacher, found)) < 1e-4
    assert oracle.usage.queries == 9 * 16 + 8 * (4 * 10 + 1)


@pytest.mark.parametrize("outer", ["ones", "free"])
def test_more_neurons_than_inputs_and_shifts_beyond_the_turn_of_the_curvature(outer: str) -> None:
    teacher, oracle = planted(f"shallow:D=10,m=30,shift=1.5,outer={outer}")
    assert float(teacher.biases[0].abs().max()) > 2 * activation("tanh").monotone
    found = first_network(oracle, directions(teacher, 1e-4), run=Run.seeded(2))
    assert error(teacher, upright(teacher, found)) < (2e-3 if outer == "ones" else 5e-2)


def test_the_error_is_linear_in_that_of_the_directions() -> None:
    teacher, sizes, errors = planted("shallow:D=10,m=30")[0], [1e-5, 1e-4, 1e-3, 1e-2], []
    for size in sizes:
        _, oracle = planted("shallow:D=10,m=30")
        found = first_network(oracle, directions(teacher, size), run=Run.seeded(2))
        errors.append(float((found.biases[0] - teacher.biases[0]).norm()))
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("extra", ["", ",outer=free,shift=1.5", ",noise=1e-5", ",precision=float32"])
def test_refinement_takes_it_from_here(extra: str) -> None:
    name = f"shallow:D=10,m=24{extra}"
    teacher, oracle = planted(name)
    rough = first_network(oracle, directions(teacher, 3e-3), run=Run.seeded(2))
    *_, found = refine(oracle, rough, run=Run.seeded(3))
    metrics = task(name).judge(found, teacher)
    assert metrics["identified"] == 1
    assert max(metrics["weight_error"], metrics["outer_error"]) < (
        3e-4 if "noise" in extra or "float" in extra else 1e-12
    )


def test_wrong_directions_do_not_pass_the_refinement() -> None:
    _, oracle = planted("shallow:D=6,m=10,outer=free")
    rough = first_network(oracle, Run.seeded(5).sphere(10, 6).T, run=Run.seeded(2))
    with pytest.raises(GiveUp, match="residual"):
        list(refine(oracle, rough, run=Run.seeded(3), steps=15))


def test_the_same_direction_twice_is_refused() -> None:
    teacher, oracle = planted("shallow:D=6,m=3")
    u = directions(teacher)
    with pytest.raises(GiveUp, match="two directions are the same"):
        first_network(oracle, torch.cat([u, -u[:, :1]], 1), run=Run.seeded(2))


def test_a_direction_turned_around_changes_nothing() -> None:
    teacher, _ = planted("shallow:D=6,m=8")
    u = directions(teacher)
    found = [first_network(planted("shallow:D=6,m=8")[1], s * u, run=Run.seeded(2)) for s in (1, -1)]
    torch.testing.assert_close(found[0].weights[0], found[1].weights[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(found[0].biases[0], found[1].biases[0], rtol=0, atol=1e-6)


def test_profiles_are_the_differences_of_one_neuron() -> None:
    teacher, oracle = planted("shallow:D=5,m=1,outer=free")
    (w, a), tau = teacher.weights, teacher.biases[0]
    x, length = Run.seeded(2).normal(6, 5), w.norm(dim=0)
    seen = torch.cat(directional(oracle, x, (w / length).T, 0.1))[:, 0]
    found = a[0] * profile(activation("tanh"), length, tau, (x @ (w / length))[:, 0], 0.1)
    torch.testing.assert_close(found, seen, rtol=0, atol=1e-10)


def test_differences_see_neither_constants_nor_what_is_linear() -> None:
    teacher, oracle = planted("shallow:D=5,m=4,activation=identity")
    second, third = directional(oracle, Run.seeded(2).normal(6, 5), teacher.weights[0].T, 0.1)
    assert float(torch.cat([second, third]).abs().max()) < 1e-11


def test_the_default_device_is_not_used() -> None:
    teacher, oracle = planted("shallow:D=6,m=5,activation=softplus,outer=free")
    u = directions(teacher)
    torch.set_default_device("meta")
    try:
        found = first_network(oracle, u, run=Run.seeded(2))
    finally:
        torch.set_default_device(None)
    assert error(teacher, upright(teacher, found)) < 1e-3
