"""Planted obstacles are named, and nothing is where nothing was planted."""

import pytest
import torch

import paramid
from paramid import Network, Run

W = Run.seeded(0).sphere(6, 8).T
B = Run.seeded(1).normal(1, 6)[0]
ONES = torch.ones(6, dtype=torch.float64)


def planted(name: str = "tanh", **changes: torch.Tensor) -> Network:
    w, b, a = changes.get("w", W), changes.get("b", B), changes.get("a", ONES)
    return Network.shallow(w, b, name, a)


def with_column(source: torch.Tensor, at: int, column: torch.Tensor) -> torch.Tensor:
    return torch.cat([source[..., :at], column[..., None], source[..., at + 1 :]], -1)


CASES = {
    "dead in": (planted(w=with_column(W, 2, 0 * W[:, 2])), "neuron 2 is dead: nothing comes in"),
    "dead out": (planted(a=with_column(ONES, 3, 0 * ONES[3])), "neuron 3 is dead: nothing goes out"),
    "same": (planted(w=with_column(W, 4, W[:, 1]), b=with_column(B, 4, B[1])), "neurons 1 and 4 are the same"),
    "opposite": (planted(w=with_column(W, 5, -W[:, 0]), b=with_column(B, 5, -B[0])), "neurons 0 and 5 are mirror"),
    "parallel": (planted(w=with_column(W, 5, -W[:, 0])), "neurons 0 and 5 have one direction"),
    "scaled": (planted(w=with_column(W, 5, 3 * W[:, 0])), "neurons 0 and 5 have one direction"),
    "softplus has no mirror": (
        planted("softplus", w=with_column(W, 5, -W[:, 0]), b=with_column(B, 5, -B[0])),
        "neurons 0 and 5 have one direction",
    ),
}


WORN = {
    "saturated": (planted(b=with_column(B, 1, 40 + 0 * B[1])), "neuron 1 is saturated: it is flat on all inputs"),
    "linear": (planted("softplus", b=with_column(B, 1, 40 + 0 * B[1])), "neuron 1 is saturated"),
    "constant": (planted("elu", b=with_column(B, 1, -40 + 0 * B[1])), "neuron 1 is saturated"),
    "leaning": (planted(w=with_column(W, 5, W[:, 0] + 0.05 * W[:, 1])), "neurons 0 and 5 are nearly parallel, |cos| >"),
    "opposed": (planted(w=with_column(W, 5, 0.1 * W[:, 1] - 2 * W[:, 0])), "neurons 0 and 5 are nearly parallel"),
    "faint": (planted(a=with_column(ONES, 3, 9e-4 * ONES[3])), "neuron 3 sends on less than 0.001 of what another"),
}


@pytest.mark.parametrize("case", WORN)
def test_what_training_may_leave_is_named(case: str) -> None:
    network, words = WORN[case]
    (named,) = paramid.obstacles(network)
    assert named.startswith(f"layer 1: {words}")


HARDLY = {
    "bent now and then": planted(b=with_column(B, 1, 7 + 0 * B[1])),
    "at an angle": planted(w=with_column(W, 5, W[:, 0] + 0.2 * W[:, 1])),
    "weak": planted(a=with_column(ONES, 3, 2e-3 * ONES[3])),
    "a sine has no flat": planted("sine", b=with_column(B, 1, 40 + 0 * B[1])),
}


@pytest.mark.parametrize("case", HARDLY)
def test_what_shows_is_not_named(case: str) -> None:
    assert paramid.obstacles(HARDLY[case]) == ()


@pytest.mark.parametrize("case", CASES)
def test_a_planted_obstacle_is_named(case: str) -> None:
    network, words = CASES[case]
    named = paramid.obstacles(network)
    assert len(named) == 1
    assert named[0].startswith(f"layer 1: {words}")


RELU = {
    "twin": "neurons 0 and 1 are the same up to a positive factor",
    "twin,by=1": "neurons 0 and 1 are the same up to a positive factor",
    "mirror": "neurons 0 and 1 look away from each other at one plane",
    "parallel": "neurons 0 and 1 have parallel planes",
    "faint,by=1e-9": "neuron 0 sends on less than 1e-06 of what another does",
    "silent": "neuron 0 is dead: nothing goes out",
    "zero": "neuron 0 is dead: nothing comes in",
    "dead": "neuron 0 is never active",
    "never": "neuron 0 is always active",
}


@pytest.mark.parametrize("case", RELU)
@pytest.mark.parametrize("layer", [1, 2])
def test_an_awkward_network_is_named(case: str, layer: int) -> None:
    named = paramid.obstacles(paramid.task(f"relu:D=6,widths=4-5,layer={layer},awkward={case}").draw(1))
    assert [words for words in named if words.startswith(f"layer {layer}: {RELU[case]}")]


@pytest.mark.parametrize("options", ["D=5,widths=9", "D=3,widths=8", "D=6,widths=5,awkward=near", "D=1,widths=1"])
def test_nothing_is_named_where_kinks_tell_all(options: str) -> None:
    assert paramid.obstacles(paramid.task(f"relu:{options}").draw(0)) == ()


def test_nothing_is_named_where_nothing_was_planted() -> None:
    assert paramid.obstacles(planted()) == ()
    assert paramid.obstacles(paramid.task("shallow:D=30,m=400").draw(0)) == ()
    assert paramid.obstacles(paramid.task("shallow:D=1,m=1").draw(0)) == ()


def test_too_many_neurons_and_many_pairs_are_counted() -> None:
    named = paramid.obstacles(Network.shallow(W[:3, :1].expand(3, 9), B[:1].expand(9), "tanh"))
    assert "31 more pairs so" in named[5]
    assert named[-1] == (
        "layer 1: 9 neurons exceed D(D-1)/2 = 3: Hessians do not tell them apart, derivatives of order 4 do up to 12"
    )


@pytest.mark.parametrize(
    ("m", "told"),
    [(7, "order 3 do up to 7"), (8, "order 4 do up to 12"), (13, "nor do derivatives of order 4 beyond 12")],
)
def test_how_many_neurons_which_derivatives_tell_apart_is_said(m: int, told: str) -> None:
    assert paramid.obstacles(paramid.task(f"shallow:D=3,m={m}").draw(0))[-1].endswith(told)


def test_every_hidden_layer_is_looked_at(grow) -> None:
    deep = grow([5, 4, 3, 1], ["tanh", "tanh"], 0)
    weights = list(deep.weights)
    weights[1] = with_column(weights[1], 2, 0 * weights[1][:, 2])
    assert paramid.obstacles(deep.with_layers(weights, deep.biases)) == ("layer 2: neuron 2 is dead: nothing comes in",)


def test_a_record_names_the_obstacles_of_its_teacher() -> None:
    record = paramid.run("truth", "shallow:D=3,m=5", throw=True)
    assert "5 neurons exceed" in record.obstacles[0]
    assert paramid.run("truth", "shallow:D=5,m=3", throw=True).obstacles == ()
