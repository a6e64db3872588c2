"""Far more neurons than D(D-1)/2 are found to rounding, with few values a parameter; nothing wrong is claimed."""

from dataclasses import replace

import pytest
import torch

from paramid import Claim, GiveUp, Network, Run, task
from paramid.methods.refinement import neuron_repair
from paramid.methods.spans import few_rows, lattice_starts
from paramid.methods.sphere_lm import SphereLM
from paramid.oracle.counting import CountingOracle

CPU = torch.device("cpu")


def oracle_for(method: SphereLM, name: str, seed: int = 0, **changes: object) -> CountingOracle:
    family = task(name)
    spec = replace(family.spec, **changes)
    return CountingOracle(family.draw(seed), spec, access=method.access, seed=seed, device=CPU)


def claims(method: SphereLM, oracle: CountingOracle) -> list[Claim]:
    assert method.declines(oracle.spec) is None
    return list(method.identify(oracle, Run.seeded(0)))


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("shallow:D=2,m=3", 40),
        ("shallow:D=3,m=12", 15),
        ("shallow:D=4,m=9", 12),
        ("shallow:D=6,m=20", 7),
        ("shallow:D=6,m=48", 6),
        ("shallow:D=5,m=55", 14),
        ("shallow:D=6,m=30,activation=erf", 7),
        ("shallow:D=6,m=30,activation=sine", 7),
        ("shallow:D=8,m=60,activation=logistic", 9),
    ],
)
def test_beyond_matrices_every_parameter_is_found(name: str, most: float) -> None:
    oracle = oracle_for(SphereLM(), name)
    found = claims(SphereLM(), oracle)
    assert isinstance(found[-1], Network)
    assert task(name).judge(found[-1], task(name).draw(0))["error"] < 1e-10
    assert oracle.usage.queries < most * oracle.spec.widths[0] * (oracle.spec.inputs + 1)


@pytest.mark.parametrize(
    ("name", "route"),
    [
        ("shallow:D=6,m=20,known=false", "few-rows"),
        ("shallow:D=6,m=20,known=false", "auto"),
        ("shallow:D=4,m=3,known=false", "few-rows"),
    ],
)
def test_the_number_of_neurons_is_found(name: str, route: str) -> None:
    method = SphereLM(route=route)
    oracle = oracle_for(method, name)
    found = claims(method, oracle)[-1]
    assert isinstance(found, Network)
    assert task(name).judge(found, task(name).draw(0))["error"] < 1e-10


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_where_inputs_are_too_few_two_more_are_tried(failures: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refined, tried = few_rows.refined, []

    def failing(start: lattice_starts.Start, run: Run) -> Network:
        tried.append(start.seen.lattice.d)
        if len(tried) <= failures:
            raise GiveUp("not enough")
        return refined(start, run)

    monkeypatch.setattr(few_rows, "refined", failing)
    method, name = SphereLM(route="few-rows"), "shallow:D=8,m=20"
    if failures == 3:
        with pytest.raises(GiveUp, match="not enough"):
            claims(method, oracle_for(method, name))
    else:
        found = claims(method, oracle_for(method, name))[-1]
        assert task(name).judge(found, task(name).draw(0))["error"] < 1e-10
    assert tried == [5, 6, 7][: failures + 1]


@pytest.mark.parametrize("name", ["shallow:D=8,m=4", "shallow:D=12,m=40", "shallow:D=1,m=1", "shallow:D=5,m=1"])
def test_asked_for_it_takes_fewer_values_where_matrices_would_do(name: str) -> None:
    spent = []
    for method in (SphereLM(), SphereLM(route="few-rows")):
        oracle = oracle_for(method, name)
        last = claims(method, oracle)[-1]
        assert task(name).judge(last, task(name).draw(0))["error"] < min(1e-10, 2 * last.stats["error_bound"])
        spent.append(oracle.usage.queries)
    assert spent[1] < spent[0]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("shallow:D=6,m=20", {"widths": (19,)}),
        ("shallow:D=6,m=20", {"widths": (21,)}),
        ("shallow:D=6,m=20", {"activations": ("erf", "identity")}),
        ("shallow:D=5,m=12,known=false", {"activations": ("erf", "identity")}),
        ("shallow:D=3,m=30,known=false", {}),
        ("shallow:D=6,m=20,outer=free", {"outer": "ones", "norms": "unit", "output_bias": "zero"}),
    ],
)
def test_what_was_told_wrongly_or_is_too_much_ends_in_no_network(name: str, changes: dict[str, object]) -> None:
    oracle = oracle_for(SphereLM(), name, **changes)
    with pytest.raises(GiveUp):
        claims(SphereLM(), oracle)


def test_neurons_that_cancel_are_left_out_and_no_others() -> None:
    teacher, run = task("shallow:D=6,m=20").draw(0), Run.seeded(0)
    assert isinstance(teacher, Network)
    one = Network.shallow(run.sphere(1, 6).T, run.normal(1, 1)[0], "tanh")
    minus = one.with_layers((-one.weights[0], one.weights[1]), (-one.biases[0], one.biases[1]))
    more = neuron_repair.joined(neuron_repair.joined(teacher, one), minus)
    left = few_rows.uncancelled(more, run.normal(40, 6))
    assert torch.equal(left.weights[0], teacher.weights[0])
    near = minus.with_layers(minus.weights, (minus.biases[0] + 1e-4, minus.biases[1]))
    more = neuron_repair.joined(neuron_repair.joined(teacher, one), near)
    assert few_rows.uncancelled(more, run.normal(40, 6)).widths == (22,)


def test_what_is_claimed_is_without_neurons_that_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    name, run = "shallow:D=6,m=45", Run.seeded(0)
    teacher, one = task(name).draw(0), Network.shallow(run.sphere(1, 6).T, run.normal(1, 1)[0], "tanh")
    assert isinstance(teacher, Network)
    minus = one.with_layers((-one.weights[0], one.weights[1]), (-one.biases[0], one.biases[1]))
    more = neuron_repair.joined(neuron_repair.joined(teacher, one), minus)
    monkeypatch.setattr(few_rows, "settled", lambda *_: more)
    start = next(lattice_starts.told(oracle_for(SphereLM(), name), run, None, 250, 25))
    assert few_rows.refined(start, run).widths == (45,)


def test_fresh_values_are_the_last_word() -> None:
    name = "shallow:D=6,m=20"
    oracle, teacher = oracle_for(SphereLM(), name), task(name).draw(0)
    assert isinstance(teacher, Network)
    assert few_rows.checked(oracle, teacher, Run.seeded(0)).stats["missed"] < 1e-14
    off = teacher.with_layers(teacher.weights, (teacher.biases[0] + 1e-7, teacher.biases[1]))
    with pytest.raises(GiveUp, match="fresh values are off by"):
        few_rows.checked(oracle, off, Run.seeded(0))


def test_nothing_is_claimed_that_fresh_values_contradict(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = few_rows.outside

    def shifted(oracle: CountingOracle, network: Network, frame: torch.Tensor, run: Run) -> Network:
        found = outside(oracle, network, frame, run)
        return found.with_layers(found.weights, (found.biases[0] + 1e-7, found.biases[1]))

    monkeypatch.setattr(few_rows, "outside", shifted)
    method = SphereLM(route="few-rows")
    with pytest.raises(GiveUp, match="fresh values are off by"):
        claims(method, oracle_for(method, "shallow:D=8,m=20"))


def test_the_same_seed_says_the_same_and_nothing_falls_on_the_default_device() -> None:
    method = SphereLM(route="few-rows")
    one = claims(method, oracle_for(method, "shallow:D=8,m=9"))[-1]
    oracle = oracle_for(method, "shallow:D=8,m=9")
    torch.set_default_device("meta")
    try:
        two = claims(method, oracle)[-1]
    finally:
        torch.set_default_device(None)
    assert all(torch.equal(a, b) for a, b in zip(one.arrays().values(), two.arrays().values(), strict=True))
