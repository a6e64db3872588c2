"""Every stage of the published extraction by itself on planted networks, then the whole, and what it refuses."""

import re

import numpy as np
import pytest
import torch

import paramid
from paramid import GiveUp, Status
from paramid.contracts import registry
from paramid.methods.critical_points import (
    bent_plane,
    certificate,
    exhaustive_signs,
    facing_signs,
    layer_rows,
    line_search,
    matching,
    preimage_signs,
    refinement,
    signature,
    wiggle_signs,
)
from paramid.methods.critical_points.known_layers import Known, Layer
from paramid.methods.critical_points.layer_rows import Constants, Search, Witnesses
from paramid.methods.critical_points.output_layer import Asked, output_layer
from paramid.methods.critical_points.refinement import Fresh
from paramid.methods.piecewise.line_kinks import Array, Lines, Values

SEEDS = range(3)


def teacher(options: str, seed: int) -> tuple[Values, list[Layer]]:
    """The function, and its layers."""
    drawn = paramid.task(f"relu:{options}").draw(seed)
    layers = [Layer(w.numpy().T, b.numpy()) for w, b in zip(drawn.weights, drawn.biases, strict=True)]
    return lambda x: drawn(torch.from_numpy(x)).numpy(), layers


def unit(layer: Layer, flips: Array | float = 1.0) -> Layer:
    """Rows of length 1, some of them turned."""
    factor = flips / np.linalg.norm(layer.w, axis=1)
    return Layer(layer.w * factor[:, None], layer.b * factor)


def flipped(count: int, seed: int) -> Array:
    """Signs at random."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], count)


def lines(source: np.random.Generator, inputs: int, count: int = 3, size: float = 1e3) -> Lines:
    """Lines of the method's kind."""
    return Lines(size * source.standard_normal((count, inputs)), source.standard_normal((count, inputs)))


@pytest.mark.parametrize("seed", SEEDS)
def test_all_critical_points_of_lines_are_found_and_no_value_is_asked_twice(seed: int) -> None:
    f, (hidden, _) = teacher("D=10,widths=6", seed)
    asked = list[Array]()
    along = lines(np.random.default_rng(seed), 10)
    kinks = line_search.search(lambda x: (asked.append(x), f(x))[1], along, np.full(3, 1e7), 1e-7)
    true = np.sort(-hidden(along.origin) / (along.direction @ hidden.w.T), axis=1)
    np.testing.assert_allclose(kinks.t, true.ravel(), atol=1e-7)
    every = np.concatenate(asked)
    assert len(np.unique(every, axis=0)) == len(every) < 18 * 60


def test_a_line_without_kinks_has_none_and_a_smooth_function_is_given_up() -> None:
    along = lines(np.random.default_rng(0), 4)
    assert not len(line_search.search(lambda x: x[:, :1], along, np.full(3, 1e7), 1e-7).t)
    with pytest.raises(GiveUp, match="not piecewise linear"):
        line_search.search(lambda x: np.sin(x[:, :1]), along, np.full(3, 1e7), 1e-7)


def witnesses(f: Values, known: Known, seed: int, count: int = 40) -> Array:
    """Critical points above the known layers, on lines as long as those of deep networks."""
    source = np.random.default_rng(seed)
    along = lines(source, known.inputs, count, 30.0)
    kinks = line_search.search(f, along, np.full(count, 1e5), 1e-8)
    x = along.at(kinks.t, kinks.line)
    return x[known.nearest(x) > 1e-5]


@pytest.mark.parametrize("seed", SEEDS)
def test_signatures_are_parts_of_rows_and_unknown_where_units_are_inactive(seed: int) -> None:
    f, (first, second, _) = teacher("D=10,widths=6-4", seed)
    known, source = Known(10, (first,)), np.random.default_rng(seed)
    x = witnesses(f, known, seed, 6)
    assert len(x) > 5
    for point in x:
        row = signature.signature(f, known, point, 1e-4, source)
        neuron = np.abs(second(known.hidden(point[None]))[0]).argmin()
        active = known.active(point[None])[0]
        assert row is not None
        assert (np.isfinite(row) == active).all()
        ratio = row[active] / second.w[neuron, active]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)


def test_two_kinks_in_reach_of_every_step_make_no_signature() -> None:
    def f(x: Array) -> Array:
        return np.maximum(x[:, :1], 0) + np.maximum(x[:, 1:2] - x[:, :1] / 2, 0)

    assert signature.signature(f, Known(4), np.zeros(4), 10.0, np.random.default_rng(0)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_partial_rows_of_one_neuron_are_merged_and_rows_of_nobody_are_not(seed: int) -> None:
    source = np.random.default_rng(seed)
    true = source.standard_normal((4, 8))
    owner = source.permutation(np.repeat(np.arange(4), 15))
    rows = true[owner] * source.standard_normal((60, 1)) * (1 + 1e-6 * source.standard_normal((60, 8)))
    rows[source.random((60, 8)) < 0.25] = np.nan
    nobody = source.standard_normal((60, 8))
    found = matching.accepted(matching.groups(np.concatenate([rows, nobody]), 2.0, source), 4)
    assert sorted({owner[group.members[0]] for group in found}) == [0, 1, 2, 3]
    for group in found:
        assert len(set(owner[group.members])) == 1
        ratio = group.row / true[owner[group.members[0]]]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)
    assert matching.accepted(matching.groups(nobody, 2.0, source), 4) == []


@pytest.mark.parametrize(("options", "place"), [("D=8,widths=5", 0), ("D=8,widths=5,bias=0", 0), ("D=8,widths=5-4", 1)])
def test_refinement_takes_rough_rows_to_rounding(options: str, place: int) -> None:
    f, layers = teacher(options, 1)
    known, true = Known(8, tuple(layers[:place])), unit(layers[place])
    source = np.random.default_rng(0)
    rough = Layer(true.w + 1e-7 * source.standard_normal(true.w.shape), true.b + 1e-6)
    nothing = Fresh(np.empty(0, dtype=np.intp), np.empty((0, 8)))
    found = refinement.refined(f, known, rough, nothing, 1e-8, source)
    assert np.abs(found.w * np.sign((found.w * true.w).sum(1, keepdims=True)) - true.w).max() < 1e-10
    assert np.abs(np.abs(found.b) - np.abs(true.b)).max() < 1e-9


def test_kinks_that_a_row_does_not_predict_are_dropped() -> None:
    known, source = Known(3), np.random.default_rng(0)
    rows = Layer(np.eye(3)[:1], np.zeros(1))
    x = np.concatenate([source.standard_normal((20, 3)) * [1e-6, 1, 1], source.standard_normal((5, 3))])
    kept = refinement.predicted_ones(known, rows, Fresh(np.zeros(25, dtype=np.intp), x))
    assert len(kept.x) == 20


def test_a_walk_along_a_bent_plane_ends_where_the_unit_is_active() -> None:
    f, (first, second, _) = teacher("D=10,widths=6-4", 0)
    known, source, reached = Known(10, (unit(first),)), np.random.default_rng(0), 0
    above = unit(Layer(second.w * np.linalg.norm(first.w, axis=1), second.b))
    for x in witnesses(f, known, 0, 4)[:6]:
        neuron = np.abs(above(known.hidden(x[None]))[0]).argmin()
        for inactive in np.flatnonzero(~known.active(x[None])[0])[:1]:
            end = bent_plane.walked(f, known, x, int(inactive), 1e-8, source)
            if end is not None:
                reached += 1
                assert known.hidden(end[None])[0, inactive] > 1
                assert abs(above(known.hidden(end[None]))[0, neuron]) < 1e-8
    assert reached >= 3


def test_a_bent_plane_is_followed_to_the_other_side_of_a_known_one() -> None:
    """Along x_0 = 0 up to x_1 = 0 and beyond it along x_0 + x_1 / 2 = 0, in either direction."""

    def f(x: Array) -> Array:
        h = np.maximum(x[:, 1:], 0)
        return np.maximum(x[:, :1] + h / 2, 0) + h

    known, (normal, across) = Known(2, (Layer(np.eye(2)[1:], np.zeros(1)),)), np.eye(2)
    ahead = bent_plane.beyond(f, known, bent_plane.Crossing(np.zeros(2), normal, across), 1e-8)
    back = bent_plane.beyond(f, known, bent_plane.Crossing(np.zeros(2), normal, -across), 1e-8)
    assert ahead is not None
    assert back is not None
    assert ahead[1] > 0 > back[1]
    assert max(abs(ahead @ [1, 0.5]), abs(back[0])) < 1e-9


def test_a_neuron_whose_witnesses_lead_nowhere_stays_without_its_weight() -> None:
    known, source = Known(4, (Layer(np.eye(4), np.ones(4)),)), np.random.default_rng(0)
    row = np.array([[1.0, 2.0, 3.0, np.nan]])
    held = Witnesses(source.standard_normal((3, 4)), np.repeat(row, 3, axis=0), np.zeros(3, dtype=bool))
    group = matching.Group(row[0], 0.0, np.arange(3))
    search = Search(lambda x: x[:, :1], known, Constants(1e2, 1e-4, 1e-8, 2.0), source)
    after, left = layer_rows.completed(search, held, [group])
    assert not layer_rows.whole(left[0])
    assert len(after.x) == 3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("how", ["preimage", "exhaustive", "equations", "last"])
def test_signs_of_the_first_layer_are_found(how: str, seed: int) -> None:
    f, (first, _) = teacher("D=8,widths=6", seed)
    flips, source = flipped(6, seed), np.random.default_rng(seed)
    rows, known = unit(first, flips), Known(8)
    if how == "preimage":
        told = preimage_signs.signs(f, known, rows)
    elif how == "exhaustive":
        x = 3 * source.standard_normal((100, 8))
        told = exhaustive_signs.signs(rows(x), f(x)[:, 0])
    else:
        told = wiggle_signs.signs(f, known, rows, how, source)
    assert (told == flips).all()


def test_signs_above_other_layers_are_found() -> None:
    f, (first, second, third, _) = teacher("D=20,widths=10-5-3", 0)
    source, known = np.random.default_rng(0), Known(20, (first,))
    flips = flipped(5, 1)
    assert (preimage_signs.signs(f, known, unit(second, flips)) == flips).all()
    assert (wiggle_signs.signs(f, known, unit(second, flips), "equations", source) == flips).all()
    known, flips = known.above(second), flipped(3, 2)
    assert (wiggle_signs.signs(f, known, unit(third, flips), "last", source) == flips).all()


def test_where_nothing_maps_to_zero_preimages_tell_no_signs() -> None:
    f, (first, second, _) = teacher("D=20,widths=10-5", 0)
    never = Layer(np.abs(second.w), np.full(5, 3.0))  # positive rows with positive biases are never 0
    assert preimage_signs.signs(f, Known(20, (first,)), never) is None


def test_a_wiggle_votes_for_the_side_where_its_neuron_is_felt() -> None:
    source = np.random.default_rng(0)
    w = np.linalg.qr(source.standard_normal((8, 8)))[0][:4]  # rows at right angles: no other neuron is moved
    rows, flips = Layer(w, 0.1 * source.standard_normal(4)), flipped(4, 3)
    told = wiggle_signs.by_wiggles(
        lambda x: np.maximum(rows(x), 0).sum(1, keepdims=True),
        Known(8),
        Layer(w * flips[:, None], rows.b * flips),
        source,
    )
    assert (told == flips).all()


def test_the_output_layer_is_fitted_to_rounding_beside_values_that_are_known_badly() -> None:
    f, (first, second) = teacher("D=8,widths=6", 0)
    source = np.random.default_rng(0)
    asked = Asked(f, 200, source)
    for size in (1.0, 1e3, 1e7):
        asked(size * source.standard_normal((100, 8)))
    found = output_layer(asked, Known(8, (first,)), asked.stored(200)[:, :-1])
    assert max(np.abs(found.w - second.w).max(), np.abs(found.b - second.b).max()) < 1e-11


def test_a_wrong_network_is_not_certain() -> None:
    f, layers = teacher("D=8,widths=6", 0)
    certificate.certain(f, Known(8, tuple(layers)), np.random.default_rng(0))
    wrong = Layer(layers[0].w * np.where(np.arange(6) == 2, -1, 1)[:, None], layers[0].b)
    with pytest.raises(GiveUp, match="fresh values differ"):
        certificate.certain(f, Known(8, (wrong, layers[1])), np.random.default_rng(0))


WHOLE = [("", "D=10,widths=4"), ("", "D=20,widths=10"), ("", "D=8,widths=10"), (":signs=wiggle", "D=10,widths=4")]


@pytest.mark.parametrize(("choice", "options"), WHOLE)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_network_of_one_hidden_layer_is_found(choice: str, options: str, seed: int) -> None:
    record = paramid.run(f"cryptanalytic{choice}", f"relu:{options}", seed=seed, throw=True)
    assert record.metrics["identified"] == record.metrics["function_exact"] == 1
    assert record.metrics["bits"] > 28
    assert record.claims[0].kind == "Directions"
    assert record.queries < 20_000


@pytest.mark.parametrize("seed", [1, 2])
def test_a_network_of_two_hidden_layers_is_found(seed: int) -> None:
    record = paramid.run("cryptanalytic", "relu:D=10,widths=5-5", seed=seed, throw=True)
    assert record.metrics["identified"] == 1
    assert record.metrics["bits"] > 28


@pytest.mark.parametrize(("told", "reason"), [(3, "fresh values differ"), (6, r"5 of 6 neurons of layer 1")])
def test_widths_that_were_told_wrongly_are_given_up(told: int, reason: str) -> None:
    f, _ = teacher("D=8,widths=5", 0)
    found = paramid.identify(f, inputs=8, neurons=told, activation="relu", outer="free",
                             method="cryptanalytic:most=60")  # fmt: skip
    assert found.status is Status.GAVE_UP
    assert re.search(reason, found.reason)


def test_a_function_that_is_no_such_network_is_given_up() -> None:
    found = paramid.identify(lambda x: np.tanh(x @ np.eye(8)[:, :3]).sum(1), inputs=8, neurons=3, activation="relu",
                             outer="free", method="cryptanalytic:most=30,lines=30")  # fmt: skip
    assert found.status is Status.GAVE_UP


DECLINED = [
    ("", "D=8,widths=5,known=false", "to be told all widths"),
    ("", "D=8,widths=5,noise=0.1", "without noise"),
    ("", "D=8,widths=5,precision=float32", "without noise"),
    ("", "D=8,widths=5,outputs=2", "one output"),
    ("", "D=3,widths=3", "4 equal weights"),
    ("", "D=8,widths=3-3", "4 equal weights"),
    ("", "D=8,widths=25", "2\\^25 patterns"),
    (":signs=exhaustive", "D=8,widths=8-8-4", "layer 2 is neither contractive nor the last"),
]


@pytest.mark.parametrize(("choice", "options", "reason"), DECLINED)
def test_what_it_is_not_for_is_declined(choice: str, options: str, reason: str) -> None:
    spec = paramid.task(f"relu:{options}").spec
    assert re.search(reason, registry.method(f"cryptanalytic{choice}").declines(spec) or "")


@pytest.mark.parametrize(
    ("choice", "ways"),
    [
        ("auto", ["preimage", "equations", "exhaustive"]),
        ("exhaustive", ["preimage", None, "exhaustive"]),
        ("wiggle", ["equations", "equations", "last"]),
    ],
)
def test_each_paper_has_its_ways(choice: str, ways: list[str | None]) -> None:
    assert [facing_signs.way(8, (8, 8, 4), place, choice, 20) for place in range(3)] == ways
    assert facing_signs.way(8, (12, 8, 4), 0, "wiggle", 20) == "wiggle"
