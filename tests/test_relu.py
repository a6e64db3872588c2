"""ReLU networks: what is drawn, what is planted to be awkward, and what the judge takes for determined."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paramid import Network, Run, task
from paramid.judging import determined
from paramid.judging.aligned_networks import score_network, seen
from paramid.limits import information
from paramid.tasks import relu_obstacles, trained_relu
from paramid.tasks.relu import LAWS, Relu
from paramid.words.network import normalise, permute

F64 = torch.float64
seeds = st.integers(0, 10**6)
INPUTS = Run.seeded(0).normal(5000, 6)


def rescaled(network: Network, seed: int) -> Network:
    """The same function: neurons in another order, each at another length."""
    weights, biases = list(network.weights), list(network.biases)
    for layer, width in enumerate(network.widths):
        size = Run.seeded(seed + layer).normal(1, width)[0].exp()
        weights[layer], biases[layer] = weights[layer] * size, biases[layer] * size
        weights[layer + 1] = weights[layer + 1] / size[:, None]
    turned = network.with_layers(weights, biases)
    for layer, width in enumerate(network.widths):
        turned = permute(turned, layer, torch.randperm(width, generator=Run.seeded(seed + layer).generator))
    return turned


@pytest.mark.parametrize(("law", "deviation"), [("normal", 1.0), ("uniform", 1.0), ("torch", 1 / math.sqrt(3))])
def test_weights_have_the_deviation_of_their_law(law: str, deviation: float) -> None:
    w = Relu(D=50, widths=(200, 50), law=law).draw(0).weights
    for layer in w[:2]:
        assert float(layer.std()) * math.sqrt(len(layer)) == pytest.approx(deviation, rel=0.05)
    assert law != "torch" or float(w[0].abs().max()) <= 1 / math.sqrt(50)


def test_biases_have_their_law() -> None:
    assert float(Relu(D=25, widths=(300,)).draw(0).biases[0].abs().max()) <= 0.2
    assert not Relu(bias=0).draw(0).biases[0].any()
    assert float(Relu(widths=(500,), bias=3, bias_law="normal").draw(0).biases[0].std()) == pytest.approx(3, rel=0.1)


def test_training_lowers_the_loss_and_is_reproducible() -> None:
    few, many = (Relu(D=4, widths=(8,), law="adam", steps=steps) for steps in (0, 500))
    x = Run.seeded(5).normal(500, 4)
    g = Run.seeded(5).generator
    assert torch.equal(few.draw(0).weights[0], Relu(D=4, widths=(8,), law="torch").draw(0).weights[0])
    assert torch.equal(many.draw(1).weights[0], many.draw(1).weights[0])
    start = few.draw(0)
    y = trained_relu.target(x, 1, g)
    assert y.shape == (500, 1)
    assert not torch.equal(many.draw(0)(x), start(x))


@given(seed=seeds, widths=st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_the_judge_is_blind_to_order_and_scale(seed: int, widths: list[int]) -> None:
    relu = Relu(D=6, widths=tuple(widths), outputs=2)
    teacher = relu.draw(seed)
    metrics = relu.judge(rescaled(teacher, seed), teacher)
    assert metrics["error"] < 1e-12
    assert metrics["identified"] == metrics["exact"] == metrics["function_exact"] == 1


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("widths", [(4,), (4, 3)])
def test_another_teacher_is_not_identified(law: str, widths: tuple[int, ...]) -> None:
    relu = Relu(D=6, widths=widths, law=law, steps=20)
    metrics = relu.judge(relu.draw(1), relu.draw(0))
    assert metrics["identified"] == metrics["function_exact"] == 0


UNSEEN = {"silent": 8, "zero": 8, "twin": 16, "dead": 8, "never": 9, "far": 9}  # of 6 inputs: w, b, a, and c


@pytest.mark.parametrize("name", relu_obstacles.AWKWARD)
@pytest.mark.parametrize("seed", range(3))
def test_what_a_planted_obstacle_hides_is_counted(name: str, seed: int) -> None:
    relu = Relu(D=6, widths=(4,), awkward=name)
    teacher = relu.draw(seed)
    affine = name == "zero" and float(teacher.biases[0][0]) > 0  # a constant, which the output's bias may have too
    assert determined.missing(teacher.known) == UNSEEN.get(name, 0) + affine


def test_of_one_hidden_layer_the_planes_tell_what_the_rank_tells() -> None:
    for seed, name in enumerate(("silent", "dead", "twin", None)):
        teacher = normalise(Relu(D=6, widths=(5,), awkward=name).draw(seed))
        planes, ranked = (seen(told(teacher, INPUTS)) for told in (determined.by_planes, determined.by_rank))
        for part, mask in planes.arrays().items():
            assert torch.equal(mask, ranked.arrays()[part]), (name, part)


def test_the_jacobian_is_that_of_autograd(grow) -> None:
    network = grow([3, 4, 2, 2], ["tanh", "relu"], 0)
    x = Run.seeded(1).normal(5, 3)
    parts = [p.clone().requires_grad_() for pair in zip(network.weights, network.biases, strict=True) for p in pair]
    values = network.with_layers(parts[::2], parts[1::2])(x)
    rows = [
        torch.cat([g.flatten() for g in torch.autograd.grad(v, parts, retain_graph=True)]) for v in values.flatten()
    ]
    torch.testing.assert_close(information.jacobian(network, x), torch.stack(rows))


def test_what_nobody_can_see_is_neither_right_nor_wrong() -> None:
    relu = Relu(D=6, widths=(4, 3), awkward="dead", layer=2)
    teacher = relu.draw(0)
    assert determined.missing(teacher.known) > 0
    other = teacher.with_layers(
        [teacher.weights[0], torch.cat([-teacher.weights[1][:, :1], teacher.weights[1][:, 1:]], 1), teacher.weights[2]],
        teacher.biases,
    )
    assert relu.judge(other, teacher)["exact"] == 1
    assert score_network(teacher, other)["exact"] == 0
    moved = teacher.with_layers(teacher.weights, [teacher.biases[0] + 1e-3, *teacher.biases[1:]])
    assert relu.judge(moved, teacher)["exact"] == 0


def turn(network: Network, neuron: int, k: int) -> Network:
    """A neuron of the last hidden layer the other way round, with neuron k taking what is left."""
    w, b, a = network.weights[-2].clone(), network.biases[-2].clone(), network.weights[-1][:, 0]
    w[:, k] += a[neuron] / a[k] * w[:, neuron]
    b[k] += a[neuron] / a[k] * b[neuron]
    w[:, neuron], b[neuron] = -w[:, neuron], -b[neuron]
    weights, biases = [*network.weights[:-2], w, network.weights[-1]], [*network.biases[:-2], b, network.biases[-1]]
    return network.with_layers(weights, biases)


def test_beside_a_neuron_that_never_switches_others_may_look_either_way() -> None:
    relu = Relu(D=6, widths=(4, 5), awkward="never", by=100.0, layer=2)
    teacher = relu.draw(0)
    always = int((teacher.preactivations(INPUTS)[1] > 0).all(dim=0).nonzero()[0, 0])
    other = (always + 1) % 5
    image = turn(teacher, other, always)
    torch.testing.assert_close(image(INPUTS), teacher(INPUTS))
    assert relu.judge(rescaled(image, 3), teacher)["exact"] == 1
    wrong = image.with_layers(image.weights, [image.biases[0], teacher.biases[1], image.biases[2]])
    assert relu.judge(wrong, teacher)["exact"] == 0
    switching = Relu(D=6, widths=(4, 5)).draw(0)
    assert relu.judge(turn(switching, 0, 1), switching)["exact"] == 0


def test_a_function_that_is_wrong_identifies_nothing() -> None:
    relu = Relu(D=6, widths=(4,), awkward="never")
    teacher = relu.draw(0)
    (w, a), (b, c) = teacher.weights, teacher.biases
    wrong = Network((w, a), (b, c + 1), teacher.activations)
    assert relu.judge(wrong, teacher)["function_exact"] == relu.judge(wrong, teacher)["identified"] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("law=cauchy", "law is 'cauchy'"),
        ("widths=3,layer=2", "layer is 2; there are 1 hidden layers"),
        ("widths=1,awkward=twin", "is about two neurons"),
        ("widths=0", "widths are"),
        ("by=0", "by is 0"),
        ("awkward=odd", "awkward is 'odd'"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        task(f"relu:{options}")
