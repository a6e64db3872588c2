"""hermite-fused: rounds converge, answers are exact or bounded by noise, and what is not seen is given up."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from paramid import Access, Claim, Directions, Function, GiveUp, Network, Run, Spec, task
from paramid.methods.hermite_fused import HermiteFused
from paramid.oracle.counting import CountingOracle
from paramid.words import hermite

SPEC = Spec(inputs=4, widths=(3,), activations=("relu", "identity"), norms="unit", output_bias="zero", samples=8000)
CPU = torch.device("cpu")
SMALL = "biased-relu:D=3,m=3,N=6000,weights=orthonormal"


def run_on(method: HermiteFused, teacher: Callable[[Tensor], Tensor], spec: Spec) -> tuple[list[Claim], CountingOracle]:
    assert method.declines(spec) is None
    oracle = CountingOracle(teacher, spec, access=method.access, seed=0, device=CPU)
    return list(method.identify(oracle, Run.seeded(0))), oracle


def on_task(method: HermiteFused, name: str, seed: int = 0) -> tuple[list[Claim], list[float]]:
    """The claims, and the weight error of every network among them."""
    family = task(name)
    teacher = family.draw(seed)
    claims, _ = run_on(method, teacher, family.spec)
    return claims, [family.judge(c, teacher)["weight_error"] for c in claims if isinstance(c, Network)]


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, device="cpu")


def relu(w: Tensor, *b: float) -> Network:
    return Network.shallow(w, numbers(*b), "relu", numbers(1.0, -0.8, 0.7))


def test_directions_then_better_networks_then_the_exact_one() -> None:
    claims, errors = on_task(HermiteFused(rounds=4), SMALL)
    assert isinstance(claims[0], Directions)
    assert all(isinstance(c, Network) for c in claims[1:])
    assert all(late < early / 2 for early, late in pairwise(errors))
    assert errors[-1] < 1e-12


def test_rounds_alone_converge_and_are_believed() -> None:
    _, errors = on_task(HermiteFused(refine=False), SMALL)
    assert len(errors) == 9
    assert errors[-1] < 1e-4 * errors[0]


@pytest.mark.parametrize("name", ["tanh", "erf", "logistic"])
def test_smooth_networks_are_identified(name: str) -> None:
    _, errors = on_task(HermiteFused(rounds=3, N=20000), f"shallow:D=4,m=2,activation={name}")
    assert errors[-1] < 1e-10


@pytest.mark.parametrize(
    ("options", "name"),
    [({}, "D=5,m=5"), ({}, "D=4,m=3,known=false"), ({"order": 2}, "D=4,m=8,s_min=0.1"), ({}, "D=3,m=3,biases=roots")],
)
def test_exact_coefficients_give_exact_networks(options: dict[str, int], name: str) -> None:
    claims, errors = on_task(HermiteFused(moments="exact", **options), f"biased-relu:{name}", seed=1)
    assert errors[-1] < 1e-10
    assert isinstance(claims[-1], Network)


@pytest.mark.slow
def test_more_units_than_inputs_are_told_with_their_signs() -> None:
    name = "biased-relu:D=3,m=4,s_min=0.3,N=100000"
    claims, errors = on_task(HermiteFused(order=2, rounds=3), name)
    assert errors[-1] < 1e-10
    assert task(name).judge(claims[-1], task(name).draw(0))["identified"] == 1


def test_the_number_of_units_is_found() -> None:
    claims, errors = on_task(HermiteFused(rounds=2), "biased-relu:D=4,m=2,known=false,N=10000,s_min=0.5", seed=1)
    assert claims[0].stats["units"] == 2
    assert errors[-1] < 1e-12


def test_noise_bounds_the_error() -> None:
    name = "biased-relu:D=3,m=2,N=40000,noise=0.1,weights=orthonormal"
    claims, errors = on_task(HermiteFused(rounds=3), name)
    assert errors[-1] < 1e-2
    assert task(name).judge(claims[-1], task(name).draw(0))["identified"] == 1


def test_samples_are_asked_once_and_no_more_than_granted() -> None:
    teacher = relu(Run.seeded(1).sphere(3, 4).T, 0.1, 0.2, -0.3)
    _, oracle = run_on(HermiteFused(rounds=1), teacher, SPEC)
    assert oracle.usage.snapshot() == {"queries": 0, "samples": 8000, "derivatives": 0, "moments": 0}
    _, oracle = run_on(HermiteFused(rounds=1, N=5000), teacher, SPEC)
    assert oracle.usage.samples == 5000


@pytest.mark.parametrize(
    ("teacher", "noise", "reason"),
    [
        (lambda x: (1e4 * torch.sin(1e3 * x.sum(1, keepdim=True))) % 1.0, 0.0, "is left of the values"),
        (lambda x: 0 * x[:, :1], 0.0, "no pencil"),
        (lambda x: 0 * x[:, :1], 1.0, "uncertain"),
        (lambda x: (x**3).sum(1, keepdim=True), 0.0, "is left of the values"),
        (relu(Run.seeded(2).sphere(3, 4).T, 3.2, 0.3, -0.5), 0.0, "left of the values|affine"),
    ],
)
def test_what_is_not_seen_is_given_up(teacher: Callable[[Tensor], Tensor], noise: float, reason: str) -> None:
    with pytest.raises(GiveUp, match=reason):
        run_on(HermiteFused(rounds=0), teacher, replace(SPEC, noise=noise, samples=4000))


@pytest.mark.parametrize("biases", [(6.0, 0.3, -0.5), (-6.0, 0.3, -0.5), (6.0, 7.0, 0.2)])
def test_units_that_never_bend_are_an_affine_part(biases: tuple[float, ...]) -> None:
    """The units that are seen and ⟨v, x⟩ + c are the function to rounding: nothing is said of the others."""
    teacher = relu(Run.seeded(2).sphere(3, 4).T, *biases)
    claims, _ = run_on(HermiteFused(rounds=4), teacher, replace(SPEC, samples=20_000))
    assert isinstance(claims[-1], Function)
    assert claims[-1].stats["units"] == sum(abs(b) < 5 for b in biases)
    x = Run.seeded(7).normal(1000, 4)
    torch.testing.assert_close(claims[-1](x), teacher(x), rtol=0, atol=1e-9)


def test_an_affine_part_is_as_long_as_it_is_where_outer_weights_are_ones() -> None:
    w = Run.seeded(2).sphere(3, 4).T
    teacher = Network.shallow(w, numbers(6.0, 7.0, 0.2), "relu")
    claims, _ = run_on(HermiteFused(rounds=4), teacher, replace(SPEC, samples=20_000, outer="ones"))
    x = Run.seeded(7).normal(1000, 4)
    torch.testing.assert_close(claims[-1](x), teacher(x), rtol=0, atol=1e-9)  # type: ignore[operator]


def test_units_that_are_seen_are_told_beside_the_affine_part() -> None:
    name = "biased-relu:D=5,m=5,biases=large,N=20000"
    family = task(name)
    claims, _ = run_on(HermiteFused(), family.draw(0), family.spec)
    network, function = claims[-2:]
    assert isinstance(function, Function)
    assert isinstance(network, Network)
    assert network.widths == (2 + 2,)
    assert family.judge(network, family.draw(0))["identified"] == 1


@pytest.mark.parametrize("options", [{"refine": False}, {"order": 2}])
def test_without_a_refinement_or_at_order_two_there_is_no_affine_part(options: dict[str, int]) -> None:
    teacher = relu(Run.seeded(2).sphere(3, 4).T, 6.0, 7.0, 0.2)
    with pytest.raises(GiveUp):
        run_on(HermiteFused(rounds=1, **options), teacher, replace(SPEC, samples=4000))


@pytest.mark.parametrize("order", [1, 2])
def test_units_that_turn_together_without_a_trace_are_given_up(order: int) -> None:
    """Σ a w = 0 = Σ a b: the function has two networks."""
    r = 1 / math.sqrt(2)
    w = torch.zeros(4, 3, dtype=torch.float64, device="cpu")
    w[0, 0], w[1, 1], w[0, 2], w[1, 2] = 1, 1, -r, -r
    teacher = Network.shallow(w, numbers(0.7, -0.3, -0.4 * r), "relu", numbers(1, 1, 2 * r))
    with pytest.raises(GiveUp, match=r"turned together|is left|uncertain"):
        run_on(HermiteFused(order=order, rounds=2), teacher, SPEC)


def test_exact_coefficients_of_no_network_are_given_up() -> None:
    class Random:
        def moments(self, order: int) -> Tensor:
            return Run.seeded(order).normal(1, hermite.entries(4, order))[0]

        def __call__(self, x: Tensor) -> Tensor:
            return x[:, :1]

    with pytest.raises(GiveUp, match="is left of coefficients"):
        run_on(HermiteFused(moments="exact"), Random(), SPEC)


@pytest.mark.parametrize(
    ("options", "changes", "reason"),
    [
        ({}, {}, None),
        ({}, {"widths": (None,)}, None),
        ({"moments": "exact"}, {"samples": 1}, None),
        ({"order": 2}, {"widths": (10,)}, None),
        ({}, {"widths": (5,)}, "5 units exceed 4"),
        ({"order": 2}, {"widths": (11,)}, "11 units exceed 10"),
        ({"order": 2}, {"widths": (None,)}, "needs to know the number of units"),
        ({}, {"widths": (3, 3), "activations": ("relu", "relu", "identity")}, "one hidden layer"),
        ({}, {"outputs": 2}, "one hidden layer"),
        ({}, {"activations": ("square", "identity")}, "units of square"),
        ({}, {"activations": ("step", "identity")}, "units of step"),
        ({}, {"activations": ("tanh", "identity")}, "outer weights 1 with tanh"),
        ({}, {"norms": "free"}, "unit weight vectors"),
        ({}, {"output_bias": "free"}, "no output bias"),
        ({}, {"input_law": "uniform"}, "Gaussian inputs"),
        ({}, {"samples": 40}, "40 samples are too few"),
        ({}, {"inputs": 100}, "T_4 in 100 dimensions has"),
        ({"order": 2}, {"inputs": 20}, "T_6 in 20 dimensions has"),
    ],
)
def test_it_declines_with_a_reason(options: dict[str, int], changes: dict[str, object], reason: str | None) -> None:
    said = HermiteFused(**options).declines(replace(SPEC, **changes))
    assert said is None if reason is None else reason in str(said)


@pytest.mark.parametrize(
    "options", [{"order": 3}, {"moments": "guessed"}, {"control": 3}, {"rounds": -1}, {"tries": 0}, {"N": 0}]
)
def test_options_without_sense_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="was wanted"):
        HermiteFused(**options)


def test_it_declares_the_access_it_uses() -> None:
    assert HermiteFused().access == {Access.SAMPLES}
    assert HermiteFused(moments="exact").access == {Access.MOMENTS}
