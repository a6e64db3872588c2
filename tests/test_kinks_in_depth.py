"""Layers above the first: every stage on planted networks with its negative control, whole networks to rounding."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paramid
from paramid import GiveUp
from paramid.methods.piecewise.depth import (
    aimed_lines,
    evidence,
    last_layer,
    membership,
    orientation,
    partial_rows,
    polish,
    unseen,
)
from paramid.methods.piecewise.depth.evidence import Evidence
from paramid.methods.piecewise.depth.membership import Membership
from paramid.methods.piecewise.depth.polish import Weights
from paramid.methods.piecewise.depth.search import Search, Sizes
from paramid.methods.piecewise.depth.stack import Rows, Stack
from paramid.methods.piecewise.line_kinks import Array

seeds = st.integers(0, 10**6)


def network(*sizes: int, seed: int = 0) -> Weights:
    source = np.random.default_rng(seed)
    pairs = list(pairwise(sizes))
    w = tuple(source.standard_normal((above, below)) / np.sqrt(below) for below, above in pairs)
    return Weights(w, tuple(source.uniform(-0.5, 0.5, above) for _, above in pairs))


def rows_of(net: Weights, layer: int) -> Rows:
    return Rows(net.w[layer], net.b[layer], np.ones_like(net.w[layer], dtype=bool))


def below(net: Weights, layers: int) -> Stack:
    return Stack(net.w[0].shape[1], tuple(rows_of(net, layer) for layer in range(layers)))


def walked(net: Weights, lines: int, seed: int = 1, known: Stack | None = None) -> Evidence:
    source = np.random.default_rng(seed)
    along = evidence.through(lines, net.w[0].shape[1], source)
    pair = None if known is None else (known, None)
    return evidence.gather(net, along, known=pair, reach=20.0, start=40, source=source, precision=None)


@given(seed=seeds)
@settings(max_examples=20)
def test_layers_are_affine_near_a_point(seed: int) -> None:
    net, source = network(4, 5, 3, 2, seed=seed), np.random.default_rng(seed)
    x = source.standard_normal((7, 4))
    here = below(net, 2).local(x)
    np.testing.assert_allclose(np.einsum("kmd,kd->km", here.slope, x) + here.offset, below(net, 2)(x), atol=1e-12)
    z = below(net, 2).rows(rows_of(net, 2), x)
    np.testing.assert_allclose(z.q, net(x), atol=1e-12)
    near = x + 1e-7 * source.standard_normal(x.shape)
    off = below(net, 2)(near) - below(net, 2)(x) - np.einsum("kmd,kd->km", here.slope, near - x)
    assert np.abs(off).max() < 1e-12


def test_a_point_is_vague_where_an_active_neuron_meets_an_unseen_weight() -> None:
    net = network(4, 5, 3, 1)
    seen = np.ones((3, 5), bool)
    seen[1, 2] = False
    x = np.random.default_rng(0).standard_normal((50, 4))
    active = below(net, 1)(x)[:, 2] > 0
    vague = below(net, 1).rows(rows_of(net, 1)._replace(seen=seen), x).vague
    np.testing.assert_array_equal(vague, np.stack([np.zeros(50, bool), active, np.zeros(50, bool)], 1))


def test_known_planes_save_gradients_and_give_the_same_ones() -> None:
    net = network(8, 6, 4, 1)
    asked, told = walked(net, 3), walked(net, 3, known=below(net, 1))
    assert len(asked.kinks.b) == len(told.kinks.b)
    good = asked.pieces.good & told.pieces.good & (told.pieces.error < 1e-8)
    assert good.mean() > 0.8
    np.testing.assert_allclose(told.pieces.g[good], asked.pieces.g[good], atol=1e-6)


@pytest.mark.parametrize(("inputs", "width"), [(8, 6), (6, 9)])
def test_a_layer_is_oriented_by_gradients_at_hand(inputs: int, width: int) -> None:
    net, source = network(inputs, width, 5, 1), np.random.default_rng(3)
    seen, turn = walked(net, 6), np.sign(source.standard_normal(width))
    found = orientation.oriented(Stack(inputs), rows_of(net, 0).turned(turn), seen.pieces, source)
    np.testing.assert_array_equal(found.signs, turn)
    assert found.telling > 20
    assert found.misfit == 0


def test_unseen_weights_of_a_neuron_that_hardly_rests_are_not_told_by_where_it_is_active() -> None:
    """Two such neurons send on the same combination; only where one of them rests the weights are felt apart."""
    net = network(6, 5, 4, 1, seed=3)
    mask = np.zeros(len(net.vector()), bool)
    mask[35 + 2] = True
    x = unseen.extreme(net, mask, np.random.default_rng(0))
    h = np.maximum(x @ net.w[0].T + net.b[0], 0)
    z = h @ net.w[1].T + net.b[1]
    assert (h[:, 2] > 0).all()
    assert 0 < (z[:, 0] > 0).mean() < 1


def test_wrong_rows_fit_no_orientation() -> None:
    net, source = network(8, 6, 5, 1), np.random.default_rng(3)
    wrong = rows_of(network(8, 6, 5, 1, seed=9), 0)
    assert orientation.oriented(Stack(8), wrong, walked(net, 6).pieces, source).misfit > 0.5


def alike(row: Array, has: Array, true: Array) -> bool:
    a, b = row[has], true[has]
    return bool(np.linalg.norm(a / np.linalg.norm(a) - np.sign(a @ b) * b / np.linalg.norm(b)) < 1e-6)


def lifted(net: Weights, layer: int) -> Array:
    return np.hstack([net.w[layer], net.b[layer][:, None]])


def deeper_kinks(net: Weights, seen: Evidence) -> Evidence:
    """Those that the first layer does not explain."""
    far = below(net, 0).rows(rows_of(net, 0), seen.kinks.x).distance().min(1) > 1e-6
    return seen._replace(kinks=seen.kinks.at(far & seen.telling()), line=seen.line[far & seen.telling()])


def test_kinks_show_parts_of_rows_and_parts_make_rows() -> None:
    net = network(8, 6, 4, 1)
    kinks = deeper_kinks(net, walked(net, 9)).kinks
    partial = partial_rows.partial_rows(below(net, 1), kinks)
    true = lifted(net, 1)
    for row, has, unsure in zip(*partial, strict=True):
        if np.isfinite(unsure) and unsure < 1e-8:
            assert any(alike(row, has, one) for one in true)
    found = partial_rows.groups(partial)[:4]
    for group in found:
        assert group.has.sum() >= 6
        assert sum(alike(group.row, group.has, one) for one in true) == 1
    assert len({int(np.argmax([alike(g.row, g.has, one) for one in true])) for g in found}) == 4


def test_rows_grow_by_kinks_with_more_active_neurons_than_inputs() -> None:
    net = network(6, 16, 4, 1, seed=2)
    kinks = deeper_kinks(net, walked(net, 30)).kinks
    first = below(net, 1)
    assert (first.local(kinks.x).active.sum(1) > 6).mean() > 0.5
    true, partly = lifted(net, 1)[0], np.arange(17) % 4 > 0  # a quarter of the weights is to be shown
    partly[-1] = True
    group = partial_rows.Group(np.where(partly, true, 0), partly, np.zeros(0, dtype=np.intp))
    grown = partial_rows.extended(first, group, kinks)
    assert grown.has.all()
    np.testing.assert_allclose(grown.row, true, atol=1e-5)
    other = np.where(partly, np.random.default_rng(0).standard_normal(17), 0)
    assert not partial_rows.extended(first, group._replace(row=other), kinks).has.all()


def test_a_piece_of_a_deeper_neuron_is_no_neuron_of_this_layer() -> None:
    net, source = network(8, 5, 4, 3, 1), np.random.default_rng(5)
    is_neuron = Membership(net, 1.0, source)
    x = source.standard_normal((1, 8))
    third = below(net, 2).rows(rows_of(net, 2), x)
    piece = Rows(third.gradient[:, 0], third.q[:, 0] - third.gradient[:, 0] @ x[0], np.ones((1, 8), bool))
    hits, points = is_neuron(Stack(8), rows_of(net, 0).at(np.array([0])))
    assert hits == points == membership.POINTS
    assert is_neuron(Stack(8), piece)[0] < points / 2
    assert is_neuron(below(net, 1), rows_of(net, 1).at(np.array([0])))[0] >= 6


def test_membership_asks_once() -> None:
    asked = 0

    def counted(x: Array) -> Array:
        nonlocal asked
        asked += len(x)
        return net(x)

    net = network(8, 5, 4, 1)
    is_neuron = Membership(counted, 1.0, np.random.default_rng(5))
    one = rows_of(net, 0).at(np.array([0]))
    first = is_neuron(Stack(8), one)
    before = asked
    assert is_neuron(Stack(8), one.turned(np.array([-2.0]))) == first
    assert asked == before == 3 * membership.POINTS


def test_aimed_lines_cross_the_row_where_the_neuron_is_active() -> None:
    net, source = network(8, 6, 4, 1), np.random.default_rng(0)
    first, rows = below(net, 1), rows_of(net, 1)
    seen = rows.seen.copy()
    seen[1, 3] = False
    hidden = Rows(np.where(seen, rows.w, 0), rows.b, seen)
    kinks = deeper_kinks(net, walked(net, 6)).kinks
    aimed = aimed_lines.unseen(first, hidden, kinks, source)
    assert aimed is not None
    assert len(aimed.origin) == 1
    along = aimed.origin + np.linspace(-1, 1, 101)[:, None] * aimed.direction
    assert (first(along)[:, 3] > 0).mean() > 0.9
    q = first.rows(rows, along).q[:, 1]
    assert q.min() < 0 < q.max()


def test_the_polish_brings_all_parameters_to_rounding() -> None:
    net, source = network(6, 5, 4, 2), np.random.default_rng(0)
    vector = net.vector()
    moved = ~polish.held(net)
    off = net.like(vector * (1 + 1e-6 * source.standard_normal(len(vector)) * moved))
    x, unfelt = polish.telling(off, source, more=100)
    found = polish.fitted(off, x, net(x))
    assert not unfelt.any()
    assert np.abs(found.vector() - vector).max() < 1e-13


@given(seed=seeds)
@settings(max_examples=20)
def test_jacobians_are_those_of_the_values(seed: int) -> None:
    net, source = network(3, 4, 3, 2, seed=seed), np.random.default_rng(seed)
    x, step = source.standard_normal((5, 3)), 1e-6 * source.standard_normal(len(net.vector()))
    values, j = polish.jacobian(net, x)
    np.testing.assert_allclose(values, net(x), atol=1e-14)
    np.testing.assert_allclose(net.like(net.vector() + step)(x) - values, j @ step, atol=1e-9)


def test_no_parameter_can_be_wrong_and_certified() -> None:
    net = network(6, 5, 4, 1)
    source = np.random.default_rng(0)
    x = source.standard_normal((10, 6))  # fewer points than parameters: whatever is fitted to them is not the network
    off = net.like(net.vector() + 0.1 * source.standard_normal(len(net.vector())))
    found = polish.certified(net, off, x, net(x), 1e-11, source, rounds=1)
    assert found.net is None
    assert len(found.x) > len(x)
    right = polish.certified(net, net, x, net(x), 1e-11, source)
    assert right.net is not None


def test_unseen_weights_are_fitted_alone() -> None:
    net, source = network(6, 5, 4, 1), np.random.default_rng(0)
    at = np.zeros(len(net.vector()), bool)
    at[[35 + 2, 35 + 11]] = True  # two weights of the second layer
    without = net.like(np.where(at, 0, net.vector()))
    x = source.standard_normal((50, 6))
    found = unseen.filled(net, without, at, (x, net(x)), 1.0, source)
    np.testing.assert_allclose(found.vector(), net.vector(), atol=1e-9)


def test_everything_is_read_before_the_polish() -> None:
    net = network(10, 6, 5, 1, seed=4)
    search = Search(net, Sizes(10, (6, 5), 1), 20.0, np.random.default_rng(0))
    while search.reading.net is None and search.more(36):
        pass
    read = search.reading.net
    assert read is not None
    x = np.random.default_rng(1).standard_normal((100, 10))
    if search.reading.unseen is not None and not search.reading.unseen.any():
        np.testing.assert_allclose(read(x), net(x), atol=1e-5)


DEEP = ["D=10,widths=5-5", "D=10,widths=12-12", "D=20,widths=8-6,outputs=3", "D=20,widths=8-6-4"]


@pytest.mark.parametrize("options", DEEP)
def test_a_deep_network_is_found_to_rounding(options: str) -> None:
    record = paramid.run("kinks", f"relu:{options}", seed=2, throw=True)
    assert record.metrics["identified"] == record.metrics["function_exact"] == 1
    assert record.metrics["bits"] > 38
    assert [claim.kind for claim in record.claims] == ["Directions", "Network"]


def test_widths_of_deep_networks_need_not_be_told() -> None:
    record = paramid.run("kinks", "relu:D=10,widths=5-4,known=false", seed=2, throw=True)
    assert record.metrics["identified"] == record.metrics["function_exact"] == 1


def test_neurons_that_send_nothing_on_are_left_out() -> None:
    net = network(6, 5, 4, 2)
    more = Weights(
        (np.vstack([net.w[0], net.w[0][:1] + 1]), np.hstack([net.w[1], np.zeros((4, 1))]), net.w[2]),
        (np.append(net.b[0], 0.3), net.b[1], net.b[2]),
    )
    np.testing.assert_array_equal(polish.needed(more).vector(), net.vector())


def test_what_is_no_network_of_these_widths_is_given_up() -> None:
    net = network(8, 7, 5, 1)
    told = paramid.identify(net, inputs=8, neurons=[4, 3], activation="relu", outer="free", method="kinks")
    assert told.status is paramid.Status.GAVE_UP


def test_of_all_ways_to_look_one_is_taken_that_leaves_an_active_neuron() -> None:
    """Values do not tell it: beside a neuron that is active at all h others may be mirrored, if a bias allows it."""
    source = np.random.default_rng(3)
    h = np.maximum(0, source.standard_normal((300, 8)) + 0.5)
    w, sends = source.standard_normal((12, 8)), source.standard_normal((12, 1))
    truth, active = source.integers(0, 2, 12), np.abs(source.standard_normal((8, 1)))
    linear = active - (w.T * truth) @ sends
    sigma = last_layer.likeliest(w, np.ones(12, bool), sends, linear, h, source)
    assert (h @ last_layer.rest_of(w, sends, linear, sigma)).min() >= 0
    assert not last_layer.likeliest(w, np.arange(12) < 5, sends, linear, h, source)[5:].any()


def test_a_network_that_is_wrong_nearly_everywhere_does_not_survive() -> None:
    net = network(6, 5, 4, 1)
    search = Search(net, Sizes(6, (5, 4), 1), 20.0, np.random.default_rng(0))
    other = Weights(net.w, (*net.b[:-1], net.b[-1] + 1))
    assert search.survives(net, 1e-9)
    assert not search.survives(other, 1e-9)


def test_what_is_no_such_network_costs_at_most_three_times_what_one_does() -> None:
    net, source = network(10, 5, 5, 1), np.random.default_rng(0)
    asked: dict[tuple[int, int], int] = {}
    for widths in ((5, 5), (4, 3), (6, 5)):
        counts: list[int] = []

        def counted(x: Array, counts: list[int] = counts) -> Array:
            counts.append(len(x))
            return net(x)

        search = Search(counted, Sizes(10, widths, 1), 20.0, source)
        while search.network() is None and search.more(36):
            pass
        asked[widths] = sum(counts)
    assert max(asked.values()) <= 3 * asked[5, 5]


@pytest.mark.parametrize("size", [1e-10, 1e6])
def test_how_exact_a_network_is_goes_with_its_size(size: float) -> None:
    net = network(10, 6, 5, 1, seed=4)
    small = Weights((*net.w[:-1], size * net.w[-1]), (*net.b[:-1], size * net.b[-1]))
    search = Search(small, Sizes(10, (6, 5), 1), 20.0, np.random.default_rng(0))
    while (found := search.network()) is None and search.more(36):
        pass
    assert found is not None
    x = np.random.default_rng(1).standard_normal((1000, 10))
    assert np.abs(found(x) - small(x)).max() < 1e-13 * np.abs(small(x)).max()


def test_rows_of_which_no_column_is_whole_are_given_up() -> None:
    w, sends = np.eye(2), np.ones((2, 1))
    left = last_layer.Rest(np.ones((2, 1)), np.zeros(1), np.ones((3, 2)), 0.0)
    rows = Rows(w, np.zeros(2), ~np.eye(2, dtype=bool))
    with pytest.raises(GiveUp):
        last_layer.mirrored(rows, sends, left, 1, np.random.default_rng(0))


def test_candidates_at_which_f_does_not_bend_everywhere_are_no_neurons() -> None:
    net = network(10, 6, 5, 1, seed=4)
    seen, stack, rows = walked(net, 6), below(net, 1), rows_of(net, 1)

    def chosen(hits: int) -> int:
        return len(membership.neurons(stack, rows, None, seen, lambda *_: (hits, 8), last=False).b)

    assert chosen(0) == 0
    assert chosen(8) > 2


def test_a_layer_is_oriented_though_what_is_read_off_is_opposite(monkeypatch: pytest.MonkeyPatch) -> None:
    net = network(8, 6, 4, 1)
    pieces, rows = walked(net, 4).pieces, rows_of(net, 0)
    monkeypatch.setattr(orientation, "read_off", lambda seen: (np.zeros(6), np.zeros(6)))
    monkeypatch.setattr(orientation, "SWEEPS", 0)
    found = orientation.oriented(Stack(8), rows, pieces, np.random.default_rng(0))
    np.testing.assert_array_equal(found.signs, np.ones(6))
