"""From a rough network to rounding, or to the noise; from nowhere, from the wrong family, from too many neurons: no."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from paramid import Access, BudgetSpent, GiveUp, Network, Run, task
from paramid.methods.refinement import gradient_system
from paramid.methods.refinement.joint_refinement import refine
from paramid.oracle.counting import CountingOracle
from paramid.words.network import permute

Q = frozenset({Access.QUERIES})


def planted(name: str, seed: int = 0) -> tuple[Network, CountingOracle]:
    shallow = task(name)
    teacher = shallow.draw(seed)
    return teacher, CountingOracle(teacher, shallow.spec, access=Q, seed=seed, device=torch.device("cpu"))


def off(teacher: Network, size: float, seed: int = 1) -> Network:
    """Every weight vector, shift and outer weight off by about `size`; outer weights as long as they are not all 1."""
    run, (w, a), b = Run.seeded(seed), teacher.weights, teacher.biases[0]
    w = w + size * run.normal(*w.shape) / math.sqrt(len(w))
    b = b + size * run.normal(1, len(b))[0]
    return Network.shallow(w, b, teacher.activations[0], a[:, 0] * (1 + size * run.normal(1, len(b))[0]))


def error(teacher: Network, found: Network) -> float:
    both = zip(teacher.arrays().values(), found.arrays().values(), strict=True)
    return max(float((a - b).abs().max()) for a, b in both)


@pytest.mark.parametrize("outer", ["ones", "free"])
@pytest.mark.parametrize("name", ["tanh", "logistic", "erf", "softplus"])
def test_from_a_tenth_to_rounding(name: str, outer: str) -> None:
    teacher, oracle = planted(f"shallow:D=8,m=12,activation={name},outer={outer}")
    *_, found = refine(oracle, off(teacher, 0.1), run=Run.seeded(2))
    assert error(teacher, found) < 5e-12
    assert error(teacher, found) < found.stats["error_bound"] + 1e-14


@pytest.mark.parametrize("shape", ["D=1,m=1", "D=1,m=2", "D=2,m=1", "D=3,m=3", "D=20,m=1", "D=20,m=170"])
@pytest.mark.parametrize("outer", ["ones", "free"])
def test_every_shape(shape: str, outer: str) -> None:
    teacher, oracle = planted(f"shallow:{shape},outer={outer}")
    *_, found = refine(oracle, off(teacher, 0.01), run=Run.seeded(2))
    assert error(teacher, found) < 1e-10


def test_what_is_pinned_stays_pinned_whatever_came() -> None:
    teacher, oracle = planted("shallow:D=8,m=12")
    rough = off(teacher, 0.02).with_layers([3 * teacher.weights[0], 0.7 * teacher.weights[1]], teacher.biases)
    *_, found = refine(oracle, rough, run=Run.seeded(2))
    assert torch.equal(found.weights[1], teacher.weights[1])
    assert torch.equal(found.biases[1], teacher.biases[1])
    assert error(teacher, found) < 1e-13


def test_steps_claim_ever_smaller_residuals_and_errors() -> None:
    teacher, oracle = planted("shallow:D=8,m=12")
    rough = off(teacher, 0.1)
    *steps, last = refine(oracle, rough, run=Run.seeded(2))
    assert [s.stats["steps"] for s in steps] == list(range(1, len(steps) + 1))
    assert all(after.stats["residual"] < before.stats["residual"] for before, after in pairwise(steps))
    assert error(teacher, last) < 1e-6 * error(teacher, steps[1]) < error(teacher, rough)


def test_queries_are_two_for_a_coordinate_and_one_for_the_value() -> None:
    teacher, oracle = planted("shallow:D=8,m=12,outer=free")
    list(refine(oracle, off(teacher, 0.01), run=Run.seeded(2), oversampling=3.0))
    assert oracle.usage.queries == math.ceil(3 * 12 * 10 / 8) * (2 * 8 + 1) + 9 * 16


@pytest.mark.parametrize("outer", ["ones", "free"])
@pytest.mark.parametrize("sigma", [1e-8, 1e-5])
def test_noise_sets_the_error_and_the_bound_covers_it(outer: str, sigma: float) -> None:
    teacher, oracle = planted(f"shallow:D=8,m=12,noise={sigma},outer={outer}")
    *_, found = refine(oracle, off(teacher, 0.05), run=Run.seeded(2))
    assert sigma / 10 < error(teacher, found) < 1.5 * found.stats["error_bound"]
    assert found.stats["error_bound"] < 30 * sigma
    assert found.stats["noise"] == pytest.approx(sigma, rel=0.5)


def test_the_error_is_linear_in_the_noise() -> None:
    errors = []
    for sigma in (1e-8, 1e-6, 1e-4):
        teacher, oracle = planted(f"shallow:D=8,m=12,noise={sigma}")
        errors.append(error(teacher, list(refine(oracle, off(teacher, 0.01), run=Run.seeded(2)))[-1]))
    slopes = [math.log10(after / before) / 2 for before, after in pairwise(errors)]
    assert slopes == pytest.approx([1, 1], abs=0.1)


def test_rounding_to_single_precision_is_noise_that_nobody_named() -> None:
    teacher, oracle = planted("shallow:D=8,m=12,precision=float32")
    *_, found = refine(oracle, off(teacher, 0.05), run=Run.seeded(2))
    assert 1e-9 < error(teacher, found) < found.stats["error_bound"] < 3e-6


@pytest.mark.parametrize("outer", ["ones", "free"])
@pytest.mark.parametrize("seed", range(3))
def test_from_afar_nothing_is_believed_that_is_wrong(outer: str, seed: int) -> None:
    teacher, oracle = planted(f"shallow:D=6,m=10,outer={outer}", seed)
    with pytest.raises(GiveUp, match="residual of the gradients stays at"):
        list(refine(oracle, off(teacher, 1.5, seed), run=Run.seeded(seed), steps=20))


@pytest.mark.parametrize("outer", ["ones", "free"])
def test_a_missing_neuron_or_another_activation_is_not_explained_away(outer: str) -> None:
    teacher, oracle = planted(f"shallow:D=6,m=10,outer={outer}")
    fewer = permute(teacher, 0, torch.arange(9, device="cpu"))
    other = Network(teacher.weights, teacher.biases, ("erf", "identity"))
    for wrong in (fewer, other):
        with pytest.raises(GiveUp, match="residual"):
            list(refine(oracle, wrong, run=Run.seeded(2), steps=15))


def test_a_neuron_too_many_is_silent_and_told_to_be_uncertain() -> None:
    teacher, oracle = planted("shallow:D=6,m=10,outer=free")
    (w, a), b = teacher.weights, teacher.biases[0]
    w = torch.cat([w, Run.seeded(3).sphere(1, 6).T], 1)
    more = Network.shallow(w, torch.cat([b, b[:1]]), "tanh", torch.cat([a[:, 0], 0.3 * a[:1, 0].abs()]))
    with pytest.raises(GiveUp, match="uncertain"):
        list(refine(oracle, more, run=Run.seeded(2)))


def test_noise_that_hides_the_parameters_is_named() -> None:
    teacher, oracle = planted("shallow:D=6,m=10,noise=0.03")
    with pytest.raises(GiveUp, match=r"noise of 3\.\de-02 leaves parameters uncertain"):
        list(refine(oracle, off(teacher, 0.01), run=Run.seeded(2)))


def test_a_constant_that_the_spec_denies_is_noticed() -> None:
    teacher, honest = planted("shallow:D=6,m=10")

    def shifted(x: Tensor) -> Tensor:
        return teacher(x) + 0.1

    oracle = CountingOracle(shifted, honest.spec, access=Q, seed=0, device=torch.device("cpu"))
    with pytest.raises(GiveUp, match=r"values are off by 1\.0e-01"):
        list(refine(oracle, off(teacher, 0.01), run=Run.seeded(2)))


@pytest.mark.parametrize(
    ("rough", "reason"),
    [
        (Network.shallow(torch.eye(6), torch.zeros(6), "relu"), "relu has no parameters to refine"),
        (Network.shallow(torch.eye(6), torch.zeros(6), "square"), "square has no parameters to refine"),
        (Network.shallow(torch.eye(6), torch.full((6,), math.nan), "tanh"), "b0 holds 6 non-finite values"),
        (Network.shallow(torch.zeros(6, 6), torch.zeros(6), "tanh"), "a neuron without weights"),
        (Network.shallow(torch.eye(6), torch.zeros(6), "tanh", torch.ones(6, 2)), "one linear output wanted"),
    ],
)
def test_what_cannot_be_refined_is_refused(rough: Network, reason: str) -> None:
    _, oracle = planted("shallow:D=6,m=6")
    with pytest.raises(ValueError, match=reason):
        list(refine(oracle, rough, run=Run.seeded(2)))
    assert oracle.usage.queries == 0


def test_a_budget_ends_it() -> None:
    teacher, granted = planted("shallow:D=6,m=10")
    cpu = torch.device("cpu")
    oracle = CountingOracle(teacher, granted.spec, access=Q, seed=0, device=cpu, query_limit=200)
    with pytest.raises(BudgetSpent):
        list(refine(oracle, off(teacher, 0.01), run=Run.seeded(2)))


def test_memory_bounds_change_nothing_and_the_default_device_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    teacher, oracle = planted("shallow:D=6,m=10,outer=free")
    rough = off(teacher, 0.05)
    before = [t.clone() for t in rough.arrays().values()]
    monkeypatch.setattr(gradient_system, "HELD", 0)
    monkeypatch.setattr(gradient_system, "ROWS", 100)
    torch.set_default_device("meta")
    try:
        *_, found = refine(oracle, rough, run=Run.seeded(2))
    finally:
        torch.set_default_device(None)
    assert error(teacher, found) < 1e-12
    assert all(torch.equal(a, b) for a, b in zip(before, rough.arrays().values(), strict=True))


@pytest.mark.slow
def test_twelve_neurons_an_input_from_a_tenth() -> None:
    teacher, oracle = planted("shallow:D=30,m=360")
    *_, found = refine(oracle, off(teacher, 0.1), run=Run.seeded(2))
    assert error(teacher, found) < 1e-13
