"""Signs that curvature does not show are read off the linear part, or left open with a reason; never guessed."""

import math

import pytest
import torch
from torch import Tensor

from paramid import Access, Activation, GiveUp, Network, Run, activation, task
from paramid.methods.refinement.joint_refinement import refine
from paramid.methods.spans.linear_parts import hidden, log_chance, settled, signs
from paramid.oracle.counting import CountingOracle
from paramid.words.activations import ACTIVATIONS
from paramid.words.network import normalise

Q = frozenset({Access.QUERIES})
SOFTPLUS = activation("softplus")


def planted(name: str, seed: int = 0) -> tuple[Network, CountingOracle]:
    shallow = task(name)
    teacher = shallow.draw(seed)
    return teacher, CountingOracle(teacher, shallow.spec, access=Q, seed=seed, device=torch.device("cpu"))


def turned(teacher: Network, size: float, seed: int = 1) -> Network:
    """The teacher off by about `size`, every other neuron turned around on average."""
    run, (w, a), b = Run.seeded(seed), teacher.weights, teacher.biases[0]
    s = torch.where(run.normal(1, len(b))[0] < 0, -1.0, 1.0)
    w, b = w + size * run.normal(*w.shape) / math.sqrt(len(w)), b + size * run.normal(1, len(b))[0]
    rough = Network.shallow(s * w, s * b, teacher.activations[0], a[:, 0])
    return normalise(rough)


def equations(d: int, m: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Columns, what is left of the gradient with all signs 1, and the signs."""
    run = Run.seeded(seed)
    w, s = run.normal(d, m), torch.sign(run.normal(1, m)[0])
    return w, 0.5 * w @ (s - 1), s


HIDING = ("softplus", "relu", "leaky-relu", "gelu", "gelu-tanh", "silu")


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_even_functions_with_a_slope_hide_their_signs(name: str) -> None:
    assert hidden(activation(name)) == (name in HIDING)
    bent = Activation("bent", (torch.cosh, torch.sinh, torch.cosh, torch.sinh), symmetry="even")
    assert not hidden(bent)


@pytest.mark.parametrize("error", [1e-13, 1e-8, 1e-5])
@pytest.mark.parametrize(("d", "m"), [(1, 1), (1, 4), (5, 12), (20, 40)])
def test_signs_are_found_at_every_accuracy_that_shows_them(d: int, m: int, error: float) -> None:
    w, rest, s = equations(d, m)
    rest = rest + error * Run.seeded(3).normal(1, d)[0]
    assert torch.equal(signs(w, rest, SOFTPLUS, error=error), s)


@pytest.mark.parametrize(
    ("d", "m", "error", "match"),
    [
        (2, 12, 1e-3, "allows e"),
        (1, 4, 1e-3, "allows e"),
        (4, 60, 1e-12, "does not tell them"),
        (50, 1000, 1e-12, "does not tell them"),
    ],
)
def test_signs_that_could_be_others_stay_open(d: int, m: int, error: float, match: str) -> None:
    w, rest, _ = equations(d, m)
    with pytest.raises(GiveUp, match=f"{m} signs show in the linear part alone.*({match})"):
        signs(w, rest, SOFTPLUS, error=error)


@pytest.mark.parametrize("off", [1e-9, 1e-6, 0.1])
def test_equations_that_no_signs_solve_are_not_solved(off: float) -> None:
    """The smallest of these leaves the planted signs the shortest vector: they are compared with the equations."""
    w, rest, s = equations(5, 12)
    with pytest.raises(GiveUp, match="does not tell them"):
        signs(w, rest + off, SOFTPLUS, error=1e-10)
    assert (off > 1e-9) or torch.equal(signs(w, rest + off, SOFTPLUS, error=1e-9), s)


def test_the_chance_is_how_often_random_signs_meet_the_equations() -> None:
    run, d, m, within = Run.seeded(0), 2, 14, 0.1
    w = run.normal(d, m)
    every = 2.0 * ((torch.arange(2**m)[:, None] >> torch.arange(m)) & 1).double() - 1
    met = float(((every @ w.T).abs() < within).all(1).sum())
    assert math.log(met) == pytest.approx(log_chance(w.numpy(), within), abs=0.3)


@pytest.mark.parametrize("outer", ["ones", "free"])
@pytest.mark.parametrize(("d", "m"), [(1, 1), (3, 3), (6, 14), (10, 30)])
def test_refinement_rights_every_neuron(d: int, m: int, outer: str) -> None:
    name = f"shallow:D={d},m={m},activation=softplus,outer={outer}"
    teacher, oracle = planted(name)
    *_, found = refine(oracle, turned(teacher, 0.01), run=Run.seeded(2))
    assert task(name).judge(found, teacher)["exact"] == 1
    assert float((found.weights[0] - teacher.weights[0]).abs().max()) < 1e-11


@pytest.mark.parametrize("extra", ["noise=1e-6", "precision=float32"])
def test_noise_leaves_enough_to_see_them(extra: str) -> None:
    teacher, oracle = planted(f"shallow:D=10,m=20,activation=softplus,{extra}")
    *_, found = refine(oracle, turned(teacher, 0.01), run=Run.seeded(2))
    assert float((found.weights[0] - teacher.weights[0]).abs().max()) < found.stats["error_bound"] < 1e-4


def test_a_rough_network_of_few_neurons_is_righted_at_once() -> None:
    teacher, oracle = planted("shallow:D=20,m=30,activation=softplus")
    found = settled(oracle, turned(teacher, 1e-3), run=Run.seeded(2))
    assert float((found.weights[0] - teacher.weights[0]).abs().max()) < 5e-3
    assert oracle.usage.queries == 16 * 2 * 20


def test_signs_that_curvature_shows_are_left_alone() -> None:
    teacher, oracle = planted("shallow:D=6,m=10")
    assert settled(oracle, teacher, run=Run.seeded(2)) is teacher
    assert oracle.usage.queries == 0


def test_the_default_device_is_not_used() -> None:
    teacher, oracle = planted("shallow:D=6,m=8,activation=softplus")
    rough = turned(teacher, 1e-3)
    torch.set_default_device("meta")
    try:
        *_, found = refine(oracle, rough, run=Run.seeded(2))
        settled(oracle, teacher, run=Run.seeded(3))
    finally:
        torch.set_default_device(None)
    assert float((found.weights[0] - teacher.weights[0]).abs().max()) < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("outer", ["ones", "free"])
def test_four_times_as_many_as_inputs(outer: str) -> None:
    name = f"shallow:D=20,m=80,activation=softplus,outer={outer}"
    teacher, oracle = planted(name)
    *_, found = refine(oracle, turned(teacher, 0.003), run=Run.seeded(2))
    assert task(name).judge(found, teacher)["exact"] == 1
