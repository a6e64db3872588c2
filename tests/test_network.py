"""Values by the formula, derivatives against autograd, and rewritings that leave the function as it was."""

import re
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import functional

from paramid import Network, Run, Spec
from paramid.words.activations import ACTIVATIONS
from paramid.words.network import flip, normalise, permute, read_as
from paramid.words.spec import UNKNOWN

F64 = torch.float64
ALL = sorted(ACTIVATIONS)
SIGNED = [name for name, g in ACTIVATIONS.items() if g.symmetry]
seeds = st.integers(0, 10**6)
every = pytest.mark.parametrize("name", ALL)
Plan = tuple[list[int], list[str], int]


@st.composite
def layered(draw: Any, names: list[str] = ALL) -> Plan:
    """Sizes, hidden activations and a seed, as `grow` takes them; one hidden layer at least."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=3, max_size=5))
    return sizes, [draw(st.sampled_from(names)) for _ in sizes[2:]], draw(seeds)


def begun_with(name: str, plan: Plan) -> Plan:
    """The same plan with one activation for certain."""
    return plan[0], [name, *plan[1][1:]], plan[2]


def points(network: Network, seed: int, rows: int = 3) -> Tensor:
    return Run.seeded(seed + 1).normal(rows, network.inputs)


def same(a: Network, b: Network, seed: int) -> None:
    x = points(a, seed, rows=9)
    torch.testing.assert_close(b(x), a(x), rtol=1e-11, atol=1e-12)


def zeros(*shape: int) -> Tensor:
    return torch.zeros(shape, dtype=F64)


@given(d=st.integers(1, 5), m=st.integers(1, 6), seed=seeds)
def test_a_shallow_network_is_a_sum_over_neurons(d: int, m: int, seed: int) -> None:
    run = Run.seeded(seed)
    w, tau, a, x = run.normal(d, m), run.normal(1, m)[0], run.normal(1, m)[0], run.normal(4, d)
    wanted = sum(a[k] * torch.tanh(x @ w[:, k] + tau[k]) for k in range(m))
    torch.testing.assert_close(Network.shallow(w, tau, "tanh", a)(x), wanted[:, None], rtol=1e-12, atol=1e-14)
    plain = sum(torch.erf(x @ w[:, k] + tau[k]) for k in range(m))
    torch.testing.assert_close(Network.shallow(w, tau, "erf")(x)[:, 0], plain, rtol=1e-12, atol=1e-14)


@given(plan=layered())
def test_the_value_is_the_last_preactivation_activated(grow: Any, plan: Plan) -> None:
    network = grow(*plan)
    x = points(network, plan[2])
    z = network.preactivations(x)
    assert [v.shape for v in z] == [(3, n) for n in plan[0][1:]]
    assert torch.equal(z[-1], network(x))
    torch.testing.assert_close(z[0], x @ network.weights[0] + network.biases[0])


@every
@given(plan=layered(), last=st.sampled_from(ALL))
def test_the_gradient_is_that_of_autograd(grow: Any, name: str, plan: Plan, last: str) -> None:
    network = grow(*begun_with(name, plan))
    network = Network(network.weights, network.biases, (*network.activations[:-1], last))
    x = points(network, plan[2])
    wanted = torch.stack([functional.jacobian(lambda t: network(t[None])[0], row) for row in x])
    torch.testing.assert_close(network.gradient(x), wanted, rtol=1e-10, atol=1e-12)


@every
@given(plan=layered(), last=st.sampled_from(ALL))
def test_the_hessian_is_that_of_autograd(grow: Any, name: str, plan: Plan, last: str) -> None:
    network = grow(*begun_with(name, plan))
    network = Network(network.weights, network.biases, (*network.activations[:-1], last))
    x, out = points(network, plan[2], rows=2), range(network.outputs)
    by_hand = [[functional.hessian(lambda t, k=k: network(t[None])[0, k], row) for k in out] for row in x]
    wanted = torch.stack([torch.stack(row) for row in by_hand])
    torch.testing.assert_close(network.hessian(x), wanted, rtol=1e-10, atol=1e-10)


def test_without_a_hidden_layer_the_derivatives_are_those_of_a_line(grow: Any) -> None:
    network = grow((3, 2), (), 0)
    x = points(network, 0)
    torch.testing.assert_close(network.gradient(x), network.weights[0].T.expand(3, 2, 3))
    assert torch.equal(network.hessian(x), zeros(3, 2, 3, 3))


@given(plan=layered())
def test_the_order_of_neurons_does_not_matter(grow: Any, plan: Plan) -> None:
    network = changed = grow(*plan)
    for layer, width in enumerate(network.widths):
        changed = permute(changed, layer, torch.randperm(width, generator=Run.seeded(plan[2]).generator))
    same(network, changed, plan[2])


def test_a_shorter_order_leaves_neurons_out(grow: Any) -> None:
    network = grow((3, 4, 2), ("tanh",), 0)
    kept = torch.tensor([3, 1])
    fewer = permute(network, 0, kept)
    assert fewer.widths == (2,)
    x = points(network, 0)
    wanted = network.preactivations(x)[0][:, kept].tanh() @ network.weights[1][kept] + network.biases[1]
    torch.testing.assert_close(fewer(x), wanted)


@pytest.mark.parametrize("name", SIGNED)
@given(plan=layered(SIGNED))
def test_a_flipped_neuron_sends_on_the_same(grow: Any, name: str, plan: Plan) -> None:
    network = changed = grow(*begun_with(name, plan))
    for layer, width in enumerate(network.widths):
        signs = Run.seeded(plan[2] + layer).normal(1, width)[0].sign()
        signs[0] = -1
        flipped = flip(changed, layer, signs)
        torch.testing.assert_close(flipped.weights[layer], changed.weights[layer] * signs, rtol=0, atol=0)
        torch.testing.assert_close(flipped.biases[layer], changed.biases[layer] * signs, rtol=0, atol=0)
        changed = flipped
    same(network, changed, plan[2])


@pytest.mark.parametrize("name", sorted(set(ACTIVATIONS) - set(SIGNED)))
def test_without_symmetry_nothing_is_flipped(grow: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} has no sign symmetry"):
        flip(grow((2, 3, 1), (name,), 0), 0, -torch.ones(3, dtype=F64))


@every
@given(plan=layered())
def test_normalising_changes_lengths_and_nothing_else(grow: Any, name: str, plan: Plan) -> None:
    network = grow(*begun_with(name, plan))
    unit = normalise(network)
    same(network, unit, plan[2])
    for kind, after in zip(network.activations[:-1], unit.weights, strict=False):
        if ACTIVATIONS[kind].degree is not None:
            torch.testing.assert_close(after.norm(dim=0), torch.ones_like(after[0]))
    for kind, after in zip(network.activations[:-1], unit.biases, strict=False):
        if (half := ACTIVATIONS[kind].half_turn) is not None:
            assert bool((after.abs() <= half / 2 + 1e-12).all())
    if ACTIVATIONS[name].degree is None:
        assert torch.equal(unit.weights[0], network.weights[0])


def test_a_neuron_without_weights_survives_normalising() -> None:
    network = Network.shallow(zeros(3, 2), torch.tensor([1.0, -1.0], dtype=F64), "relu")
    same(network, normalise(network), 0)


@pytest.mark.parametrize(
    ("weights", "biases", "names", "wanted"),
    [
        ([], [], [], "0 weights, 0 biases, 0 activations"),
        ([zeros(2, 3)], [], ["tanh"], "1 weights, 0 biases"),
        ([zeros(2, 3)], [zeros(3)], [], "0 activations; one of each for every layer"),
        ([zeros(2, 3)], [zeros(2)], ["tanh"], r"layer 0: weights \(2, 3\) and biases \(2,\)"),
        ([zeros(2, 3)], [zeros(3, 1)], ["tanh"], "layer 0.*width"),
        ([zeros(2)], [zeros(2)], ["tanh"], r"layer 0: weights \(2,\)"),
        ([zeros(2, 3), zeros(2, 1)], [zeros(3), zeros(1)], ["tanh", "tanh"], r"layer 1.*\(3, width\)"),
        ([zeros(2, 3), zeros(3, 2, 1)], [zeros(3), zeros(2)], ["tanh", "tanh"], "layer 1"),
        ([zeros(2, 3)], [zeros(3)], ["tahn"], "unknown activation 'tahn'; did you mean tanh"),
    ],
)
def test_malformed_networks_are_refused(
    weights: list[Tensor], biases: list[Tensor], names: list[str], wanted: str
) -> None:
    with pytest.raises(ValueError, match=wanted):
        Network(tuple(weights), tuple(biases), tuple(names))


def test_weights_without_any_axis_are_refused() -> None:
    with pytest.raises(ValueError, match="layer 0"):
        Network((zeros(),), (zeros(1),), ("tanh",))


def test_outer_weights_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match="3"):
        Network.shallow(zeros(5, 4), zeros(4), "tanh", zeros(3))


@given(plan=layered())
def test_a_stored_network_comes_back(grow: Any, plan: Plan) -> None:
    network = grow(*plan)
    spec = Spec(inputs=1, widths=(), activations=network.activations)
    arrays = network.arrays()
    assert list(arrays) == [f"{kind}{layer}" for layer in range(len(network.weights)) for kind in "Wb"]
    back = Network.restore(arrays, spec)
    assert back.arrays().keys() == arrays.keys()
    assert all(torch.equal(back.arrays()[key], value) for key, value in arrays.items())
    assert back.activations == network.activations


def test_a_copy_is_nobody_elses(grow: Any) -> None:
    network = grow((3, 4, 2), ("tanh",), 0)
    copy = network.copy()
    for value in network.arrays().values():
        value.fill_(0)
    assert all(bool((value != 0).any()) for value in copy.arrays().values())


@pytest.mark.parametrize(
    ("sizes", "name", "wanted"),
    [
        ((3, 4, 1), "tanh", None),
        ((3, 2, 1), "tanh", None),
        ((3, 5, 1), "tanh", "5 neurons claimed in layer 0, the teacher has 4"),
        ((2, 4, 1), "tanh", "2 inputs, 1 outputs; 3 and 1 were wanted"),
        ((3, 4, 2), "tanh", "3 inputs, 2 outputs; 3 and 1 were wanted"),
        ((3, 4, 1), "erf", "activations .*erf.* were wanted"),
    ],
)
def test_a_network_of_another_architecture_does_not_fit(
    grow: Any, sizes: tuple[int, ...], name: str, wanted: str | None
) -> None:
    said = grow(sizes, (name,), 0).problem(Spec(inputs=3, widths=(4,), activations=("tanh", "identity")))
    assert said is None if wanted is None else re.search(wanted, said)


@pytest.mark.parametrize(("mine", "theirs"), [("tanh", "logistic"), ("logistic", "tanh")])
@given(plan=layered())
def test_a_sigmoid_is_read_as_another(grow: Any, mine: str, theirs: str, plan: Plan) -> None:
    network = grow(plan[0], (mine,) * (len(plan[0]) - 2), plan[2])
    read = read_as(network, (theirs,) * (len(plan[0]) - 2) + ("identity",))
    assert read is not None
    same(network, read, plan[2])
    assert read_as(network, ("relu",) * (len(plan[0]) - 2) + ("identity",)) is None


def test_an_open_activation_travels_with_the_network(grow: Any) -> None:
    network = grow((3, 2, 1), ("silu",), 0)
    told = Spec(inputs=3, widths=(2,), activations=(UNKNOWN, "identity"))
    back = Network.restore(network.stored(told), told)
    assert (back.activations, back.misfit(told)) == (network.activations, None)
    closed = Spec(inputs=3, widths=(2,), activations=("tanh", "identity"))
    assert network.stored(closed).keys() == network.arrays().keys()
    assert "('tanh', 'identity') were wanted" in (network.misfit(closed) or "")
