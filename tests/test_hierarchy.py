"""Quadratic DenseNets: what is drawn, what is told, what an oracle shows, and what the judge minds and does not."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from paramid import Access, Directions, Function, Run
from paramid.judging.densenet_errors import procrustes, scaled
from paramid.judging.metrics import Metrics, Unjudgeable
from paramid.oracle.counting import CountingOracle
from paramid.tasks.hierarchy import Hierarchy, conditioned
from paramid.words import random_streams
from paramid.words.densenet import DenseNet
from paramid.words.neuron_distances import CAP

F64, CPU = torch.float64, torch.device("cpu")
DEEP = Hierarchy(D=6, ks=(3, 2, 2), alphas=(1.0, 0.2, 0.04), truncate=2.5)


def rotation(k: int, seed: int = 0) -> Tensor:
    return torch.linalg.qr(Run.seeded(seed).normal(k, k))[0]


def rotated(net: DenseNet, seed: int = 0) -> DenseNet:
    """The same function with every S_l rotated: K_l turned, R_l mixing all products back."""
    weights, mixes = [], []
    for k, r in zip(net.weights, net.mixes, strict=True):
        u = rotation(len(k), seed)
        weights.append(u @ k)
        mixes.append(r @ u.T)
    return replace(net, weights=tuple(weights), mixes=tuple(mixes))


def test_values_are_the_formula() -> None:
    net, x = DEEP.draw(0), Run.seeded(1).normal(7, 6)
    one = x**2 - 1
    two = one @ net.weights[0].T
    three = torch.cat([x, two**2], 1) @ net.weights[1].T
    four = torch.cat([x, three**2], 1) @ net.weights[2].T
    y = (two**2).sum(1) + 0.2 * (three**2).sum(1) + 0.04 * (four**2).sum(1)
    torch.testing.assert_close(net(x)[:, 0], y)
    torch.testing.assert_close(net.upto(3)(x)[:, 0], (two**2).sum(1) + 0.2 * (three**2).sum(1))
    heads = replace(net, forms=tuple(k.T @ k for k in net.weights))
    torch.testing.assert_close(heads(x), net(x))


@pytest.mark.parametrize("task", [Hierarchy(), DEEP], ids=["default", "deep"])
def test_layers_have_the_energy_and_the_condition_that_is_said(task: Hierarchy) -> None:
    net = task.draw(3)
    x = task.rows(20_000, random_streams.generator(3, "calibration"))
    for layer, (width, features) in enumerate(zip(task.ks, net.layers(x)[1], strict=True), 2):
        assert float(features.square().sum(1).mean()) == pytest.approx(width)
        for part in net.parts(layer).values():
            s = torch.linalg.svdvals(part)
            assert float(s[0] / s[-1]) <= 1.5**2 + 1e-12


def test_weights_do_not_depend_on_the_gap() -> None:
    a, b = Hierarchy().draw(1), Hierarchy(alphas=(1.0, 0.05)).draw(1)
    assert all(torch.equal(v, w) for v, w in zip(a.weights, b.weights, strict=True))
    assert not torch.equal(a.weights[0], Hierarchy().draw(2).weights[0])


def test_singular_values_are_drawn_between_the_bounds() -> None:
    s = torch.cat([torch.linalg.svdvals(conditioned(4, 9, 3.0, random_streams.generator(n))) for n in range(50)])
    assert 1 / 3 <= float(s.min()) < 0.36
    assert 2.7 < float(s.max()) <= 3


def test_truncated_inputs_are_normal_ones_below_the_bound() -> None:
    x = DEEP.rows(200_000, random_streams.generator(0))
    assert 2.45 < float(x.abs().max()) <= 2.5
    assert float(x.mean()) == pytest.approx(0, abs=0.01)
    inside = torch.special.ndtr(torch.tensor(1.0, dtype=F64)) * 2 - 1
    all_inside = torch.special.ndtr(torch.tensor(2.5, dtype=F64)) * 2 - 1
    assert float((x.abs() < 1).double().mean()) == pytest.approx(float(inside / all_inside), abs=2e-3)


def test_an_oracle_samples_the_law() -> None:
    oracle = CountingOracle(DEEP.draw(0), DEEP.spec, access=frozenset({Access.SAMPLES}), seed=0, device=CPU)
    x, y = oracle.sample(5000).tensors()
    assert float(x.abs().max()) <= 2.5
    torch.testing.assert_close(y, DEEP.draw(0)(x))


def test_a_rotated_net_is_the_same_net_but_not_its_rows() -> None:
    truth = DEEP.draw(0)
    turned = rotated(truth)
    x = DEEP.rows(50, random_streams.generator(0))
    torch.testing.assert_close(turned(x), truth(x))
    metrics = DEEP.judge(turned, truth)
    assert metrics["error"] < 1e-25
    assert max(v for n, v in metrics.items() if n.startswith(("feature_error", "gram_error"))) < 1e-12
    assert (metrics["identified"], metrics["exact"]) == (1, 0)
    assert not [n for n in metrics if n.startswith("row_error")]


def test_order_signs_and_the_top_rotation_are_free() -> None:
    truth = DEEP.draw(0)
    order, signs = torch.tensor([2, 0, 1]), torch.tensor([1.0, -1.0, -1.0], dtype=F64)
    two = (signs[:, None] * truth.weights[0])[order]
    three = torch.cat([truth.parts(3)[0], truth.parts(3)[2][:, order]], 1)
    found = replace(truth, weights=(two, -three, rotation(2) @ truth.weights[2]))
    metrics = DEEP.judge(found, truth)
    assert (metrics["identified"], metrics["exact"]) == (1, 1)
    assert max(metrics["row_error_2"], metrics["row_error_3"]) < 1e-14
    assert metrics["bits"] > 40


def test_the_scale_between_alphas_and_features_is_free() -> None:
    truth = DEEP.draw(0)
    even = scaled(truth, (1.0, 1.0, 1.0))
    x = DEEP.rows(50, random_streams.generator(0))
    torch.testing.assert_close(even(x), truth(x))
    assert DEEP.judge(even, truth)["exact"] == 1


def test_errors_go_as_the_square_of_what_is_wrong_in_the_features() -> None:
    truth, task = Hierarchy().draw(0), Hierarchy()
    gap = Run.seeded(4).normal(4, 20)

    def off(size: float) -> Metrics:
        return task.judge(replace(truth, weights=(truth.weights[0] + size * gap, truth.weights[1])), truth)

    small, smaller = off(1e-3), off(1e-4)
    assert small["feature_error_2"] / smaller["feature_error_2"] == pytest.approx(100, rel=0.05)
    assert small["row_error_2"] / smaller["row_error_2"] == pytest.approx(10, rel=0.05)
    assert (small["exact"], smaller["identified"]) == (0, 1)


def test_another_teacher_another_width_and_silence_are_wrong() -> None:
    truth, other = DEEP.draw(0), DEEP.draw(1)
    assert DEEP.judge(other, truth)["identified"] == 0
    under = Hierarchy(D=6, ks=(2, 2, 2), alphas=DEEP.alphas).draw(0)
    metrics = DEEP.judge(under, truth)
    assert metrics["row_error_2"] == pytest.approx(CAP)
    assert (metrics["identified"], metrics["exact"]) == (0, 0)
    part = DEEP.judge(truth.upto(2), truth)
    assert part["feature_error_2"] < 1e-25
    assert (part["identified"], part["exact"], "feature_error_3" in part) == (0, 0, False)


def test_a_function_that_raises_is_named_by_what_it_raised() -> None:
    task = Hierarchy(D=5, ks=(2, 1))
    with pytest.raises(Unjudgeable, match="the claimed function raised RuntimeError: mat1"):
        task.judge(Function(lambda x: x @ x), task.draw(0))


def test_functions_have_an_error_and_nothing_more() -> None:
    task, truth = Hierarchy(D=5, ks=(2, 1)), Hierarchy(D=5, ks=(2, 1)).draw(0)
    assert task.judge(Function(truth), truth) == {"error": 0.0, "relative_mse": 0.0}
    constant = task.judge(Function(lambda x: 0 * x[:, :1] + 3.0), truth)
    assert 1 <= constant["error"] < 2
    assert task.judge(Function(lambda x: x), truth) == {}
    assert task.judge(Function(lambda _: 3.0), truth) == {}  # type: ignore[arg-type, return-value]  # no tensor
    with pytest.raises(Unjudgeable, match="claimed a Directions"):
        task.judge(Directions(torch.eye(5, dtype=F64)), truth)


def test_procrustes_fills_up_narrow_features_with_zeros() -> None:
    a = Run.seeded(0).normal(100, 3)
    error, _ = procrustes(a, torch.cat([a @ rotation(3), 0 * a], 1))
    assert error < 1e-28
    q = torch.linalg.qr(a)[0]
    error, _ = procrustes(q, q[:, :2])
    assert error == pytest.approx(1 / 3)


def test_claims_survive_the_store_and_do_not_fit_other_teachers() -> None:
    net = replace(DEEP.draw(0), forms=tuple(k.T @ k for k in DEEP.draw(0).weights))
    again = DenseNet.restore(net.arrays(), DEEP.spec)
    x = DEEP.rows(9, random_streams.generator(0))
    assert torch.equal(again(x), net(x))
    assert (again.links, again.alphas) == (net.links, net.alphas)
    assert net.problem(DEEP.spec) is None
    assert "4 layers claimed" in str(net.problem(Hierarchy(D=6, ks=(3, 2)).spec))
    assert "6 inputs" in str(net.problem(Hierarchy(D=7, ks=(3, 2, 2), alphas=DEEP.alphas).spec))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ks": (2, 4)}, "ks is 2-4"),
        ({"ks": (30, 2)}, "ks is 30-2"),
        ({"alphas": (1.0,)}, "alphas is 1.0"),
        ({"alphas": (1.0, 0.0)}, "positive"),
        ({"truncate": 0.5}, "truncate is 0.5"),
        ({"kappa": 0.5}, "kappa is 0.5"),
    ],
)
def test_options_that_make_no_teacher_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Hierarchy(**options)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"alphas": (1.0,)}, "one of everything"),
        ({"links": ((1,), (2, 0), (0, 3))}, "layer 3 sees"),
        ({"links": ((1,), (2,), (0, 3))}, "layer 3: weights"),
    ],
)
def test_nets_that_do_not_hold_together_are_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(DEEP.draw(0), **change)


def test_sparse_weights_are_the_hard_class_of_the_paper() -> None:
    task = Hierarchy(D=9, ks=(1, 1), graph="all", weights="sparse")
    net = task.draw(0)
    assert net.links == ((0, 1), (0, 1, 2))
    for k in net.weights:
        ends = k[0, :18].view(2, 9)
        assert ends.count_nonzero(dim=1).tolist() == [4, 4]
        torch.testing.assert_close(ends.norm(dim=1), torch.ones(2, dtype=F64))
    assert float(net.weights[1][0, 18]) == 1
    assert not torch.equal(net.weights[0], task.draw(1).weights[0])


def test_toys_are_the_formulas_of_the_paper() -> None:
    x = Run.seeded(0).normal(6, 5)
    h = x**2 - 1
    first = Hierarchy(D=5, ks=(2, 1), alphas=(1.0, 0.1), weights="toy-1.2").draw(0)
    low = h[:, 0] ** 2 + 2 * h[:, 1] ** 2
    torch.testing.assert_close(first(x)[:, 0], low + 0.1 * (low + h[:, 2]) ** 2)
    second = Hierarchy(D=5, ks=(2, 2), alphas=(1.0, 0.3), weights="toy-6.1").draw(0)
    a, b = h[:, 0] ** 2, h[:, 1] ** 2
    torch.testing.assert_close(second(x)[:, 0], a + b + 0.3 * ((a + x[:, 2]) ** 2 + (b + x[:, 3]) ** 2))


@pytest.mark.parametrize(
    ("graph", "links"),
    [
        ("input", ((1,), (0, 2), (0, 3), (0, 4))),
        ("full", ((1,), (0, 2), (0, 1, 3), (0, 1, 2, 4))),
        ("near", ((1,), (0, 2), (1, 3), (2, 4))),
        ("chain", ((1,), (2,), (3,), (4,))),
    ],
)
def test_graphs_are_those_that_are_said(graph: str, links: tuple[tuple[int, ...], ...]) -> None:
    task = Hierarchy(D=6, ks=(2, 2, 1, 1), alphas=(1.0, 0.2, 0.04, 0.008), graph=graph, truncate=2.5)
    net = task.draw(0)
    assert net.links == links
    for width, features in zip(
        task.ks, net.layers(task.rows(20_000, random_streams.generator(0, "calibration")))[1], strict=True
    ):
        assert float(features.square().sum(1).mean()) == pytest.approx(width)
