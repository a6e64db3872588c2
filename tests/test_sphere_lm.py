"""`sphere-lm` tells span, directions and network, whatever m is and whether it is known, and says no in time."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

import paramid
from paramid import Claim, Directions, GiveUp, Network, Run, Spec, Subspace, task
from paramid.methods.spans import mixed_outputs
from paramid.methods.sphere_lm import SphereLM
from paramid.oracle.counting import CountingOracle
from paramid.tasks.shallow import Shallow

CPU = torch.device("cpu")
CHAIN = [Subspace, Directions, Network]


def oracle_for(method: SphereLM, name: str, seed: int = 0, **changes: object) -> CountingOracle:
    family = task(name)
    spec: Spec = replace(family.spec, **changes)
    return CountingOracle(family.draw(seed), spec, access=method.access, seed=seed, device=CPU)


def claims(method: SphereLM, oracle: CountingOracle, seed: int = 0) -> list[Claim]:
    assert method.declines(oracle.spec) is None
    return list(method.identify(oracle, Run.seeded(seed)))


def error(name: str, claim: Claim, seed: int = 0) -> float:
    family = task(name)
    return family.judge(claim, family.draw(seed))["error"]


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("shallow:D=1,m=1", 1e-6),
        ("shallow:D=2,m=1", 1e-6),
        ("shallow:D=3,m=3", 1e-5),
        ("shallow:D=6,m=15", 1e-3),
        ("shallow:D=12,m=1", 1e-6),
        ("shallow:D=12,m=5", 1e-3),
        ("shallow:D=12,m=40", 1e-2),
        ("shallow:D=12,m=55", 1e-2),
        ("shallow:D=12,m=62", 1e-3),
        ("shallow:D=10,m=20,activation=logistic", 1e-2),
        ("shallow:D=10,m=20,activation=erf", 1e-2),
        ("shallow:D=10,m=30,activation=softplus", 1e-2),
    ],
)
def test_all_directions_are_found_from_one_neuron_to_the_limit(name: str, bound: float) -> None:
    method = SphereLM()
    found = claims(method, oracle_for(method, name))
    assert [type(claim) for claim in found[:3]] == CHAIN
    assert error(name, found[1]) < bound
    last = task(name).judge(found[-1], task(name).draw(0))
    assert last["exact"] == 1
    assert max(last["error"], last["bias_error_max"]) < 1e-11


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [1, 4, 11, 30])
def test_an_unknown_number_of_neurons_is_found_out(m: int, seed: int) -> None:
    method, name = SphereLM(), f"shallow:D=10,m={m}"
    found = claims(method, oracle_for(method, name, seed, widths=(None,)), seed)
    assert found[0].stats["dimension"] == m
    assert error(name, found[1], seed) < 1e-3


def test_a_single_neuron_costs_little() -> None:
    method = SphereLM(refine=False)
    for widths, hessians in (((1,), 5), ((None,), 8)):
        oracle = oracle_for(method, "shallow:D=20,m=1", widths=widths)
        claims(method, oracle)
        assert (
            oracle.usage.queries == hessians * (20 * 20 + 20 + 1) + 8 * 5 + 16 * 9
        )  # profiles, and a look at the noise


@pytest.mark.parametrize("widths", [(20,), (None,)])
def test_exact_hessians_lead_to_rounding(widths: tuple[int | None]) -> None:
    method, name = SphereLM(derivatives="exact", refine=False), "shallow:D=10,m=20"
    oracle = oracle_for(method, name, widths=widths)
    found = claims(method, oracle)
    assert error(name, found[1]) < 1e-12
    assert error(name, found[2]) < 1e-12
    assert {kind for kind, rows in oracle.usage.snapshot().items() if rows} == {"derivatives", "queries"}


@pytest.mark.parametrize(("noise", "bound"), [(1e-8, 1e-3), (1e-6, 1e-2), (1e-4, 5e-2)])
def test_noise_is_met_by_longer_steps(noise: float, bound: float) -> None:
    method, name = SphereLM(), f"shallow:D=10,m=20,noise={noise}"
    assert error(name, claims(method, oracle_for(method, name))[1]) < bound


@pytest.mark.parametrize("name", ["shallow:D=12,m=20,outer=free,shift=1.5", "shallow:D=1,m=1,outer=free"])
def test_free_outer_weights_and_norms_are_found_too(name: str) -> None:
    found = claims(SphereLM(), oracle_for(SphereLM(), name))
    last = task(name).judge(found[-1], task(name).draw(0))
    assert last["exact"] == 1
    assert last["outer_error"] < 1e-10


def test_signs_that_the_linear_part_shows_are_right_in_every_network_told() -> None:
    name = "shallow:D=12,m=10,activation=softplus"
    for method in (SphereLM(), SphereLM(refine=False)):
        networks = [claim for claim in claims(method, oracle_for(method, name)) if isinstance(claim, Network)]
        assert networks
        assert all(error(name, network) < 1e-2 for network in networks)


@pytest.mark.parametrize("sigma", [1e-8, 1e-5])
def test_the_claim_vouches_for_no_more_than_the_noise_allows(sigma: float) -> None:
    name = f"shallow:D=10,m=20,noise={sigma}"
    last = claims(SphereLM(), oracle_for(SphereLM(), name))[-1]
    assert error(name, last) < 4 * last.stats["error_bound"] < 100 * sigma


@pytest.mark.parametrize("name", ["shallow:D=6,m=3,precision=float32", "shallow:D=10,m=20,precision=float32"])
def test_values_in_single_precision_are_met_as_noise(name: str) -> None:
    last = claims(SphereLM(), oracle_for(SphereLM(), name))[-1]
    assert 1e-9 < error(name, last) < last.stats["error_bound"] < 1e-5


@pytest.mark.parametrize(
    ("changes", "both"),
    [
        ({}, False),
        ({"widths": (None,)}, True),
        ({"widths": (14,)}, True),
        ({"noise": 1e-9}, True),
        ({"precision": "float32"}, True),
        ({"outer": "free"}, True),
        ({"norms": "free"}, True),
    ],
)
def test_both_sides_are_taken_where_one_is_too_crude(changes: dict[str, object], both: bool) -> None:
    spec: Spec = replace(Shallow(D=6, m=7).spec, **changes)
    assert SphereLM().both_sides(spec) == both
    assert SphereLM(lattice="symmetric").both_sides(spec)
    assert not SphereLM(lattice="one-sided").both_sides(spec)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"widths": (15,)}, None),
        ({"widths": (None,)}, None),
        ({"inputs": 1, "widths": (1,)}, None),
        ({"activations": ("erf", "identity")}, None),
        ({"noise": 1e-4}, None),
        ({"widths": (16,)}, None),
        ({"widths": (120,)}, None),
        (
            {"widths": (121,)},
            "121 neurons exceed D(D-1)/2 = 15: spans of Hessians do not tell them apart; in higher orders: 121",
        ),
        (
            {"widths": (16,), "outer": "free"},
            "16 neurons exceed D(D-1)/2 = 15: spans of Hessians do not tell them apart",
        ),
        ({"widths": (16,), "noise": 1e-8}, "in higher orders: noise 1e-08 drowns differences"),
        ({"inputs": 1, "widths": (2,)}, "2 neurons exceed"),
        ({"activations": ("relu", "identity")}, "which relu has not"),
        ({"activations": ("square", "identity")}, "which square has not"),
        ({"activations": ("tanh", "tanh")}, "needs one hidden layer and linear outputs"),
        ({"widths": (7, 3), "activations": ("tanh",) * 2 + ("identity",)}, "needs one hidden layer"),
        ({"outputs": 2}, "needs free outer weights and output biases where"),
        ({"noise": 1e-2}, "noise 0.01 drowns second differences"),
        ({"activations": ("softplus", "identity")}, None),
    ],
)
def test_it_declines_with_a_reason(changes: dict[str, object], reason: str | None) -> None:
    spec: Spec = replace(Shallow(D=6, m=7).spec, **changes)
    said = SphereLM().declines(spec)
    assert said is None if reason is None else reason in str(said)


@pytest.mark.parametrize(
    ("options", "m", "tensors", "declined"),
    [
        ({}, 15, False, None),
        ({}, 16, True, None),
        ({"route": "few-rows"}, 5, True, None),
        ({"route": "sturdy"}, 16, False, "16 neurons exceed"),
        ({"derivatives": "exact"}, 16, True, "few rows are those of differences"),
        ({"route": "few-rows", "refine": False}, 5, True, "few rows are those of differences"),
    ],
)
def test_the_route_is_sturdy_as_far_as_it_goes(
    options: dict[str, object], m: int, tensors: bool, declined: str | None
) -> None:
    spec, method = Shallow(D=6, m=m).spec, SphereLM(**options)
    assert method.by_tensors(spec) == tensors
    assert method.declines(spec) is None if declined is None else declined in str(method.declines(spec))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"route": "short"}, "auto or sturdy or few-rows was wanted"),
        ({"derivatives": "guessed"}, "differences or exact was wanted"),
        ({"lattice": "round"}, "auto or one-sided or symmetric was wanted"),
        ({"h": 0.0}, "a positive number was wanted"),
        ({"rows": 1.0}, "more than 1 was wanted"),
        ({"batch": 0}, "a positive number was wanted"),
        ({"steps": 0}, "a positive number was wanted"),
        ({"points": -1}, "a positive number was wanted"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        SphereLM(**options)


def collected(method: SphereLM, oracle: CountingOracle) -> Iterator[Claim]:
    try:
        yield from method.identify(oracle, Run.seeded(0))
    except GiveUp:
        return


@pytest.mark.parametrize(
    ("name", "changes", "match", "kinds"),
    [
        ("shallow:D=6,m=7,noise=0.001", {"widths": (None,)}, "show no span of at most", []),
        ("shallow:D=12,m=40,noise=0.01", {}, "drowns in the error of its rows", [Subspace]),
        ("shallow:D=6,m=7", {"widths": (12,)}, "drowns|found", [Subspace]),
    ],
)
def test_it_gives_up_rather_than_telling_a_wrong_network(
    name: str, changes: dict[str, object], match: str, kinds: list[type[Claim]]
) -> None:
    oracle = oracle_for(SphereLM(), name, **changes)
    with pytest.raises(GiveUp, match=match):
        list(SphereLM().identify(oracle, Run.seeded(0)))
    told = [type(claim) for claim in collected(SphereLM(), oracle_for(SphereLM(), name, **changes))]
    assert told[: len(kinds)] == kinds
    assert Network not in told


@pytest.mark.parametrize("name", ["identity", "square"])
def test_a_function_without_third_derivatives_has_no_span(name: str) -> None:
    """A teacher that lies about its activation: lines show nothing but rounding, quadrics a single matrix of rank D."""
    oracle = oracle_for(SphereLM(), f"shallow:D=5,m=4,activation={name}", widths=(None,))
    with pytest.raises(GiveUp):
        list(SphereLM().identify(oracle, Run.seeded(0)))


def test_the_same_seed_says_the_same_and_nothing_falls_on_the_default_device() -> None:
    method = SphereLM()
    one = claims(method, oracle_for(method, "shallow:D=6,m=7"))
    oracle = oracle_for(method, "shallow:D=6,m=7")
    torch.set_default_device("meta")
    try:
        two = claims(method, oracle)
    finally:
        torch.set_default_device(None)
    for a, b in zip(one, two, strict=True):
        assert all(torch.equal(x, y) for x, y in zip(a.arrays().values(), b.arrays().values(), strict=True))


def several(name: str, outputs: int, m: int = 8) -> Network:
    run = Run.seeded(3)
    return Network(
        (run.normal(7, m), run.normal(m, outputs)), (run.normal(1, m)[0], run.normal(1, outputs)[0]), (name, "identity")
    )


def asked_of(teacher: Network, **changes: object) -> CountingOracle:
    spec = Spec(inputs=7, widths=teacher.widths, outputs=teacher.outputs, activations=teacher.activations)
    return CountingOracle(teacher, replace(spec, **changes), access=SphereLM().access, seed=0, device=CPU)


@pytest.mark.parametrize("name", ["tanh", "logistic", "gelu", "gelu-tanh", "silu", "softplus", "sine"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_every_smooth_activation_and_several_outputs_are_found_to_rounding(name: str, outputs: int) -> None:
    teacher = several(name, outputs)
    last = claims(SphereLM(), asked_of(teacher))[-1]
    assert paramid.judge(teacher, last)["bits"] > 38
    assert last.stats["error_bound"] < 1e-10


def test_an_unknown_width_below_several_outputs_is_found() -> None:
    teacher = several("tanh", 3)
    assert paramid.judge(teacher, claims(SphereLM(), asked_of(teacher, widths=(None,)))[-1])["exact"] == 1


def test_outputs_of_another_network_are_not_claimed() -> None:
    teacher = several("tanh", 2)

    class Bent(Network):
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return super().__call__(x) + 1e-4 * torch.cat([x[:, :1] ** 2, 0 * x[:, :1]], 1)

    with pytest.raises(GiveUp):
        claims(SphereLM(), asked_of(Bent(teacher.weights, teacher.biases, teacher.activations)))


def test_outputs_over_wrong_neurons_are_given_up() -> None:
    teacher = several("tanh", 3)
    one = Network.shallow(several("tanh", 1, m=4).weights[0], teacher.biases[0][:4], "tanh")
    with pytest.raises(GiveUp, match="the residual of all outputs stays at"):
        mixed_outputs.completed(asked_of(teacher), one, Run.seeded(0))
