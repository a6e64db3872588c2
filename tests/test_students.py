"""Students side by side: their derivatives, their ends, what they share, and what is believed of them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from paramid import GiveUp, Network, Run, Spec
from paramid.limits.information import ALL, normal_matrix
from paramid.methods.refinement.backprop import loss_gradient
from paramid.methods.students import (
    acceptance,
    clusters,
    collapse,
    copies,
    first_descent,
    linear_rest,
    marquardt,
    plateaus,
    quasi_newton,
    stacked,
    starts,
    symmetries,
)
from paramid.methods.students.acceptance import Pairs
from paramid.methods.students.stacked import Shape
from paramid.words.network import permute

SHAPES = [
    Shape((3, 4, 1), ("tanh", "identity")),
    Shape((3, 4, 2), ("softplus", "identity")),
    Shape((2, 3, 3, 2), ("logistic", "gelu", "tanh")),
]
TURNING = ["tanh", "erf", "logistic", "relu", "softplus", "gelu"]
F64 = torch.float64


def students(shape: Shape, count: int = 3, seed: int = 0) -> Tensor:
    run = Run.seeded(seed)
    return starts.drawn(shape, count, "glorot", run) + 0.3 * run.normal(count, shape.parameters)


def pairs_of(network: Network, rows: int, noise: float = 0.0) -> Pairs:
    run = Run.seeded(5)
    x = run.normal(2 * rows, network.inputs)
    y = network(x) + noise * run.normal(2 * rows, network.outputs)
    return Pairs(x[:rows], y[:rows], x[rows:], y[rows:])


def teacher(name: str = "tanh", d: int = 4, m: int = 3, seed: int = 1) -> Network:
    run = Run.seeded(seed)
    w, b, a = run.normal(d, m), 0.3 * run.normal(1, m)[0], run.normal(m, 1)
    a = a + 0.5 * a.sign()
    return Network((w, a), (b, run.normal(1, 1)[0]), (name, "identity"))


def free_spec(network: Network, **told: object) -> Spec:
    plain = Spec(inputs=network.inputs, widths=network.widths, outputs=network.outputs, activations=network.activations)
    return replace(plain, **told)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_is_a_network_with_its_values_and_gradient(shape: Shape) -> None:
    theta, run = students(shape), Run.seeded(2)
    x, y = run.normal(20, shape.sizes[0]), run.normal(20, shape.sizes[-1])
    loss, slopes = stacked.gradient(shape, theta, x, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stacked, "ROWS", 50)  # several chunks
        torch.testing.assert_close(stacked.gradient(shape, theta, x, y), (loss, slopes))
    for i, row in enumerate(theta):
        network = shape.network(row)
        assert torch.equal(stacked.rows(network), row)
        assert stacked.shape_of(network) == shape
        told, by_weights, by_biases = loss_gradient(network, x, y)
        flat = stacked.rows(network.with_layers(by_weights, by_biases))
        torch.testing.assert_close((loss[i], slopes[i]), (told, flat))
        torch.testing.assert_close(stacked.values(shape, theta, x)[i], network(x))
    torch.testing.assert_close(stacked.losses(shape, theta, x, y), loss)


@pytest.mark.parametrize("shape", SHAPES)
def test_normal_equations_are_those_of_the_information(shape: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    theta, run = students(shape), Run.seeded(2)
    x, y = run.normal(21, shape.sizes[0]), run.normal(21, shape.sizes[-1])
    monkeypatch.setattr(stacked, "ROWS", 1000)  # several chunks
    free = shape.free(ALL, theta)
    system, slope = stacked.normal_equations(shape, theta, x, y, free)
    torch.testing.assert_close(2 * slope, stacked.gradient(shape, theta, x, y)[1])
    for i, row in enumerate(theta):
        torch.testing.assert_close(21 * system[i], normal_matrix(shape.network(row), x))


def test_what_is_told_stays() -> None:
    shape, run = SHAPES[0], Run.seeded(0)
    theta, x, y = students(shape), run.normal(50, 3), run.normal(50, 1)
    free = shape.free(("norms",), theta)
    assert len(free) == shape.parameters - 5
    moved = first_descent.adam(shape, theta, x, y, free=free, steps=5)
    moved = marquardt.descend(shape, moved, x, y, free=free, steps=5).theta
    assert torch.equal(shape.layers(moved)[-1], shape.layers(theta)[-1])
    assert not torch.equal(shape.layers(moved)[0], shape.layers(theta)[0])


@pytest.mark.parametrize("law", starts.LAWS)
def test_starts_have_the_variance_of_their_law_and_no_shifts(law: str) -> None:
    shape = Shape((40, 60, 50), ("tanh", "identity"))
    first, second = shape.layers(starts.drawn(shape, 5, law, Run.seeded(0)))
    assert not first[:, -1].any()
    wanted = {"glorot": 2 / 100, "kaiming": 2 / 40, "stacked": 2 / 300}[law]
    assert float(first[:, :-1].var()) == pytest.approx(wanted, rel=0.05)
    wanted = {"glorot": 2 / 110, "kaiming": 2 / 60, "stacked": 2 / 250}[law]
    assert float(second[:, :-1].var()) == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("name", ["tanh", "logistic", "relu", "gelu"])
def test_marquardt_ends_at_rounding_beside_the_teacher_and_not_on_other_values(name: str) -> None:
    truth = teacher(name)
    shape, pairs = stacked.shape_of(truth), pairs_of(truth, 300)
    near = stacked.rows(truth)[None] + 0.02 * students(shape, 2)
    ended = marquardt.descend(shape, near, pairs.x, pairs.y, free=shape.free(ALL, near), steps=100)
    assert float(ended.loss.max()) < 1e-28
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marquardt, "ENTRIES", 1)  # one after the other
        alone = marquardt.descend(shape, near, pairs.x, pairs.y, free=shape.free(ALL, near), steps=100)
    torch.testing.assert_close(alone.theta, ended.theta)
    other = pairs.y + 0.1 * Run.seeded(9).normal(300, 1)
    ended = marquardt.descend(shape, near, pairs.x, other, free=shape.free(ALL, near), steps=100)
    assert float(ended.loss.min()) > 1e-3


@pytest.mark.parametrize("name", ["lbfgs", "bfgs"])
def test_quasi_newton_rounds_end_at_rounding(name: str) -> None:
    truth = teacher()
    shape, pairs = stacked.shape_of(truth), pairs_of(truth, 200)
    near = stacked.rows(truth)[None] + 0.02 * students(shape, 2)
    free = shape.free(ALL, near)
    ended = quasi_newton.descend(shape, near, pairs.x, pairs.y, free=free, steps=500, name=name)
    assert float(ended.loss.max()) < 1e-24


def test_the_flow_goes_downhill_to_where_the_gradient_vanishes() -> None:
    truth = teacher()
    shape, pairs = stacked.shape_of(truth), pairs_of(truth, 200)
    theta = students(shape, 1)
    ended = first_descent.flow(shape, theta, pairs.x, pairs.y, free=shape.free(ALL, theta), steps=500)
    before, after = (stacked.gradient(shape, at, pairs.x, pairs.y) for at in (theta, ended))
    assert float(after[0]) < float(before[0])
    assert float(after[1].abs().max()) < 1e-4 * float(before[1].abs().max())


def test_a_rate_falls_after_idle_epochs_and_ends_training() -> None:
    rate = plateaus.Rate(1e-3)
    assert all(rate.heard(1.0) for _ in range(101))
    assert rate.now == 1e-3
    rate.heard(1.0)
    assert rate.now == pytest.approx(1e-3 / 10**0.5)
    for _ in range(300):
        rate.heard(1.0)
    assert rate.now == pytest.approx(1e-3 / 10**0.5)
    rate.heard(1.0)
    assert rate.now == pytest.approx(1e-4)
    assert not all(rate.heard(1.0) for _ in range(3000))


def test_falling_losses_keep_the_rate() -> None:
    rate = plateaus.Rate(1e-3)
    assert all(rate.heard(1 / (n + 1)) for n in range(3000))
    assert rate.now == 1e-3


def planted(turns: bool, noise: float = 1e-6, seed: int = 0) -> Tensor:
    """Three directions with ten copies each, two zero groups of three, and twenty outliers."""
    run = Run.seeded(seed)
    true, groups, outliers = 2 * run.sphere(3, 5), 2 * run.sphere(2, 5), 3 * run.sphere(20, 5)
    rows = torch.cat([true.repeat(10, 1), groups.repeat(3, 1), outliers])
    rows = rows + noise * run.normal(*rows.shape)
    if turns:
        rows = rows * (1 - 2 * (torch.arange(len(rows)) % 2))[:, None].to(rows)
    return rows


@pytest.mark.parametrize("turns", [False, True])
def test_gaps_find_what_is_planted_among_zero_groups_and_outliers(turns: bool) -> None:
    rows = planted(turns)
    first = clusters.clusters(rows, least=5, turns=turns, rule="gap")[0]
    assert sorted(len(group) for group in first) == [10, 10, 10]
    for group in first:
        assert len(set((group % 3).tolist())) == 1
        assert int(group.max()) < 30


def test_copies_that_were_turned_are_two_clusters_where_signs_count() -> None:
    rows = planted(turns=True)
    assert len(clusters.clusters(rows, least=5, turns=False, rule="gap")[0]) == 6


def test_nothing_planted_is_no_tight_cluster() -> None:
    rows = Run.seeded(3).normal(80, 6)
    for cut in clusters.clusters(rows, least=5, turns=True, rule="gap"):
        for group in cut:
            assert float(clusters.distances(rows[group], True).max()) > 0.1
    assert clusters.clusters(rows, least=90, turns=True) == []


def test_the_published_cut_is_the_last_height_of_the_first_longest_count() -> None:
    count = np.array([0, 1, 2, 2, 1, 2, 2, 2, 1])
    assert clusters.most(count) == 3
    assert clusters.most(np.array([0, 0, 1, 1])) == 3


def test_counts_follow_the_merges() -> None:
    rows = planted(turns=False)
    tree = clusters.linkage(clusters.squareform(clusters.distances(rows, False).numpy(), checks=False), "average")
    count = clusters.merges(tree, 5)
    for merged in (1, 20, 27, 40, len(tree)):
        assert count[merged - 1] == len(clusters.members(tree, merged, 5))
    assert count[-1] == 1


def test_wide_clusters_are_dropped() -> None:
    straight = torch.tensor([[1.0, 0.01 * i] for i in range(6)], dtype=F64)
    fan = torch.tensor([[np.cos(t), np.sin(t)] for t in np.linspace(0, 3, 6)], dtype=F64)
    assert clusters.aligned(straight, turns=False)
    assert not clusters.aligned(fan, turns=False)
    mirrored = straight * torch.tensor([1, -1] * 3)[:, None]
    assert clusters.aligned(mirrored, turns=True)
    assert not clusters.aligned(mirrored, turns=False)


def expanded(truth: Network, seed: int = 0) -> Network:
    """The same function by more neurons: copies, mirror images, a zero group, a silent neuron and constants."""
    run, (w, a), (b, c) = Run.seeded(seed), truth.weights, truth.biases
    share = run.normal(*a.shape)
    side = symmetries.exact(truth.activations[0])
    mirrored = Network((w, share), (b, torch.zeros_like(c)), truth.activations)
    if side:
        mirrored = symmetries.flip(mirrored, 0, torch.where(run.normal(1, w.shape[1])[0] < 0, -1.0, 1.0).to(w))
    stray, off = run.normal(w.shape[0], 2), run.normal(1, 2)[0]
    still = torch.zeros_like(w[:, :1])
    level = run.normal(1, 1)[0]
    constant = Network((still, a[:1]), (level, c), truth.activations)(w.new_zeros(1, len(w)))[0]
    weights = torch.cat([w, mirrored.weights[0], stray, stray[:, :1], still], 1)
    shifts = torch.cat([b, mirrored.biases[0], off, off[:1], level])
    zero = run.normal(1, 1)
    outer = torch.cat([a - share, mirrored.weights[1], zero, torch.zeros_like(zero), -zero, a[:1]])
    return Network((weights, outer), (shifts, 2 * c + mirrored.biases[1] - constant), truth.activations)


@pytest.mark.parametrize("name", TURNING)
def test_merging_leaves_the_teacher_of_a_wide_student_without_loss(name: str) -> None:
    truth = teacher(name)
    wide, x = expanded(truth), Run.seeded(4).normal(50, 4)
    torch.testing.assert_close(wide(x), truth(x))
    narrow = copies.merged(wide)
    assert narrow.widths == truth.widths
    torch.testing.assert_close(narrow(x), truth(x))
    torch.testing.assert_close(copies.merged(truth)(x), truth(x))


def test_merging_leaves_neurons_that_differ() -> None:
    truth = teacher(m=6)
    assert copies.merged(truth).widths == (6,)


def test_neurons_that_send_on_least_are_cut() -> None:
    truth = teacher(m=3)
    louder = truth.with_layers([truth.weights[0], torch.tensor([[3.0], [1.0], [2.0]], dtype=F64)], truth.biases)
    kept = copies.cut(louder, free_spec(truth, widths=(2,)))
    assert torch.equal(kept.weights[0], truth.weights[0][:, [0, 2]])
    with pytest.raises(GiveUp, match="3 different neurons are left in layer 1, the teacher has 2"):
        copies.require(louder, free_spec(truth, widths=(2,)))


@pytest.mark.parametrize("name", TURNING)
def test_students_without_loss_collapse_onto_their_teacher(name: str) -> None:
    truth = teacher(name)
    wide = [expanded(truth, seed) for seed in range(6)]
    wide = [permute(n, 0, torch.randperm(n.widths[0], generator=torch.Generator().manual_seed(3))) for n in wide]
    shape, theta = stacked.shape_of(wide[0]), torch.stack([stacked.rows(n) for n in wide])
    pairs = pairs_of(truth, 300)
    order = torch.arange(6)
    shared = next(collapse.common(shape, theta, order, 0, least=6, rule="gap"))
    narrow, row = collapse.one(shape, theta, order, shared, pairs.x, pairs.y)
    found = narrow.network(row[0])
    assert found.widths == truth.widths
    if not symmetries.exact(name):
        found = linear_rest.turned_back(found, linear_rest.fitted(found, pairs.x, pairs.y), Run.seeded(0))
    torch.testing.assert_close(found(pairs.held_x), pairs.held_y)


def test_collapsing_below_another_layer_keeps_every_student_as_it_is() -> None:
    shape, run = Shape((3, 4, 3, 1), ("logistic", "tanh", "identity")), Run.seeded(0)
    theta = students(shape, 4)
    shape.layers(theta)[0][:] = shape.layers(theta)[0][:1].clone()
    x = run.normal(30, 3)
    shared = next(collapse.common(shape, theta, torch.arange(4), 0, least=4, rule="gap"))
    narrow, same = collapse.narrowed(shape, theta, 0, shared)
    torch.testing.assert_close(stacked.values(narrow, same, x), stacked.values(shape, theta, x))


@pytest.mark.parametrize("name", ["softplus", "relu", "leaky-relu", "gelu", "silu"])
def test_turned_neurons_are_turned_back_by_the_linear_rest(name: str) -> None:
    truth = teacher(name)
    pairs, signs = pairs_of(truth, 200), torch.tensor([1.0, -1.0, -1.0], dtype=F64)
    w, b = truth.weights[0] * signs, truth.biases[0] * signs
    wrong = truth.with_layers([w, truth.weights[1]], [b, truth.biases[1]])
    bypass = linear_rest.fitted(wrong, pairs.x, pairs.y)
    torch.testing.assert_close(wrong(pairs.x) + plateaus.lifted(pairs.x) @ bypass, pairs.y)
    right = linear_rest.turned_back(wrong, bypass, Run.seeded(0))
    torch.testing.assert_close(right(pairs.held_x), pairs.held_y)


def test_a_bypass_is_trained_beside_a_student() -> None:
    truth, run = teacher("softplus"), Run.seeded(0)
    pairs, shape = pairs_of(truth, 600), stacked.shape_of(truth)
    bypass = torch.zeros(5, 1, dtype=F64)
    tilted = pairs.y + pairs.x[:, :1]
    row = plateaus.train(shape, stacked.rows(truth)[None], pairs.x, tilted, run, rate=1e-2, epochs=300, bypass=bypass)
    left = stacked.values(shape, row, pairs.x)[0] + plateaus.lifted(pairs.x) @ bypass - tilted
    assert float(left.square().mean()) < 1e-3
    assert float(bypass[0]) > 0.5


def test_the_teacher_is_believed_and_a_wrong_network_is_not() -> None:
    truth = teacher()
    pairs, spec = pairs_of(truth, 200), free_spec(truth)
    found = acceptance.finished(truth, pairs, spec)
    assert found.stats["error_bound"] < 1e-10
    narrow = permute(truth, 0, torch.tensor([0, 1]))
    with pytest.raises(GiveUp, match="is left of the values of samples held back"):
        acceptance.finished(narrow, pairs, spec)


def test_as_many_samples_as_parameters_are_not_believed() -> None:
    truth = teacher()
    few = pairs_of(truth, 17)  # of 19
    other = Network(tuple(w + 0.3 for w in truth.weights), truth.biases, truth.activations)
    with pytest.raises(GiveUp, match="is left of the values of samples held back"):
        acceptance.finished(other, few, free_spec(truth))


def test_noise_is_no_reason_and_too_much_of_it_is() -> None:
    truth = teacher()
    acceptance.finished(truth, pairs_of(truth, 3000, 1e-3), free_spec(truth, noise=1e-3))
    with pytest.raises(GiveUp, match="is left of the values"):
        acceptance.finished(truth, pairs_of(truth, 3000, 1e-2), free_spec(truth, noise=1e-3))
    with pytest.raises(GiveUp, match="uncertain"):
        acceptance.finished(truth, pairs_of(truth, 200, 0.3), free_spec(truth, noise=0.3))


def test_a_kink_beyond_the_samples_is_not_believed() -> None:
    truth = teacher("relu")
    far = truth.with_layers(truth.weights, [truth.biases[0] + torch.tensor([0, 0, 30.0]), truth.biases[1]])
    assert acceptance.bends_rarely(truth, pairs_of(truth, 200).x) is None
    assert "layer 1 bends at 0 samples" in str(acceptance.bends_rarely(far, pairs_of(far, 200).x))


@pytest.mark.parametrize("name", ["tanh", "logistic"])
def test_what_is_told_is_so(name: str) -> None:
    unit = teacher(name)
    w = unit.weights[0] / unit.weights[0].norm(dim=0)
    truth = Network.shallow(w, unit.biases[0], name)
    turned = symmetries.flip(truth, 0, torch.tensor([1.0, -1.0, -1.0], dtype=F64))
    told = acceptance.told(turned, free_spec(truth, outer="ones", norms="unit", output_bias="zero"))
    x = Run.seeded(0).normal(20, 4)
    torch.testing.assert_close(told(x), truth(x))
    assert bool((told.weights[1] == 1).all())
