"""Boundaries, walks, bends and one regression on planted layers; networks from decisions alone, to rounding."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import paramid
from paramid import Access, GiveUp, Network, Run, Spec, Status
from paramid.contracts import registry
from paramid.methods.boundary_bends import BoundaryBends
from paramid.methods.decisions import bends, boundary, polylines, vanishing
from paramid.methods.decisions.boundary import Decide
from paramid.methods.decisions.polylines import Pieces
from paramid.methods.piecewise.facing import Layer
from paramid.methods.piecewise.line_kinks import Array
from paramid.methods.piecewise.planes import Planes
from paramid.oracle.counting import CountingOracle

seeds = st.integers(0, 10**6)


def layer(d: int, m: int, seed: int) -> Layer:
    """Of mean about 0, with Σ α² = 1."""
    source = np.random.default_rng(seed)
    n, alpha = source.standard_normal((m, d)), source.standard_normal((m, 1))
    made = Layer(n / np.linalg.norm(n, axis=1)[:, None], source.uniform(-0.5, 0.5, m), alpha, np.zeros(1))
    made = made._replace(alpha=alpha / np.linalg.norm(alpha))
    return made._replace(c=-made(source.standard_normal((1000, d))).mean(0))


def decided(f: Layer) -> Decide:
    return lambda x: f(x)[:, 0] > 0


def starts(f: Layer, count: int, seed: int) -> tuple[Array, Array]:
    """Points of the boundary, and the directions that they were found along."""
    x = np.random.default_rng(seed).standard_normal((50 * count, f.n.shape[1]))
    below, above = (x[side][:count] for side in (f(x)[:, 0] <= 0, f(x)[:, 0] > 0))
    towards = (above - below) / np.linalg.norm(above - below, axis=1, keepdims=True)
    return boundary.halved(decided(f), below, above), towards


def gradients(f: Layer, x: Array) -> Array:
    """(g, c) of the pieces that points are on, at length 1."""
    on = (x @ f.n.T + f.b > 0) * f.alpha[:, 0]
    g = np.hstack([on @ f.n, (on @ f.b + f.c)[:, None]])
    return np.asarray(g / np.linalg.norm(g[:, :-1], axis=1, keepdims=True))


def walked(f: Layer, seed: int, count: int = 6) -> tuple[Pieces, Array]:
    source = np.random.default_rng(seed)
    pieces = polylines.walks(decided(f), *starts(f, count, seed), 3 * len(f.n), source)
    h = np.minimum(1e-2, pieces.length / 20)
    return pieces, boundary.tangent_planes(decided(f), pieces.x, pieces.across, h, source)


def off(f: Layer, found: Array) -> Array:
    """How far each plane is from the nearest true one, up to its side."""
    true = np.c_[f.n, f.b]
    return np.asarray(np.minimum(*(np.abs(found[:, None] - s * true).max(2) for s in (1, -1))).min(1))


@given(seed=seeds, d=st.integers(3, 12), m=st.integers(3, 12))
@settings(max_examples=15)
def test_points_are_on_the_boundary_and_planes_are_the_gradients(seed: int, d: int, m: int) -> None:
    f, source = layer(d, m, seed), np.random.default_rng(seed)
    x, towards = starts(f, 4, seed)
    assert np.abs(f(x)).max() < 1e-14
    tangent = boundary.tangent_planes(decided(f), x, towards, np.full(len(x), 1e-4), source)
    known = np.isfinite(tangent[:, 0])
    assert np.abs((tangent - gradients(f, x))[known]).max(initial=0) < 1e-8


def test_a_plane_between_the_points_is_noticed() -> None:
    """f = |x_0| - 1/2 + x_1 bends at x_0 = 0, nearer to the point than the step."""
    f = Layer(np.eye(4)[[0, 0]] * [[1], [-1]], np.zeros(2), np.ones((2, 1)), np.zeros(1))
    x, across = np.array([[1e-3, -1e-3, 0, 0]]), np.eye(4)[[1]]

    def decide(x: Array) -> Array:
        return f(x)[:, 0] + x[:, 1] > 0

    for h, known in ((1e-5, True), (1e-2, False)):
        found = boundary.tangent_planes(decide, x, across, np.array([h]), np.random.default_rng(0))
        assert bool(np.isfinite(found).all()) is known


@given(seed=seeds, d=st.integers(3, 10), m=st.integers(3, 15))
@settings(max_examples=15)
def test_walks_stay_on_the_boundary_and_end_at_planes(seed: int, d: int, m: int) -> None:
    f = layer(d, m, seed)
    pieces, _ = walked(f, seed, 2)
    size = 1 + np.linalg.norm(pieces.x, axis=1)
    assert np.all(np.abs(f(pieces.x)[:, 0]) < 1e-13 * size)
    ends = pieces.last[pieces.ended]
    near = np.abs(ends @ f.n.T + f.b).min(1, initial=np.inf) / (1 + np.linalg.norm(ends, axis=1))
    assert np.mean(near < 1e-4) > 0.9 if len(near) else True
    middle = (pieces.first + pieces.last) / 2
    crossed = (pieces.first @ f.n.T + f.b) * (pieces.last @ f.n.T + f.b) < 0
    deep = np.minimum(np.abs(pieces.first @ f.n.T + f.b), np.abs(pieces.last @ f.n.T + f.b)) > 1e-3
    assert not (crossed & deep).any()
    assert np.all(np.abs(f(middle)[:, 0]) < 1e-6 * (1 + np.linalg.norm(pieces.last, axis=1)))


@pytest.mark.parametrize(("d", "m"), [(3, 5), (6, 5), (10, 20)])
def test_bends_tell_planes_and_none_that_is_not_there(d: int, m: int) -> None:
    for seed in range(3):
        f = layer(d, m, seed)
        pieces, tangent = walked(f, seed)
        bent = bends.bends(pieces, tangent)
        found = bends.planes(pieces, bent, np.zeros((0, d + 1)))
        assert len(found) >= m - 2
        assert off(f, found).max() < 1e-6
        made_up = np.append(np.eye(d)[0], 0.1)[None]
        assert bends.pierced(made_up, pieces).all()
        assert not bends.over(bent, made_up).any()
        assert bends.over(bent, found).sum(1).max() == 1


def rough(f: Layer, error: float) -> Planes:
    wrong = error * np.random.default_rng(0).standard_normal((len(f.n), f.n.shape[1] + 1))
    flat = np.zeros(len(f.n))
    return Planes(f.n + wrong[:, :-1], f.b + wrong[:, -1], flat[:, None], 0 * f.n, flat, flat == 0)


@pytest.mark.parametrize(("d", "m"), [(4, 5), (10, 8), (8, 20)])
def test_where_it_vanishes_tells_a_network_up_to_one_factor(d: int, m: int) -> None:
    f, source = layer(d, m, 5), np.random.default_rng(1)
    pieces, tangent = walked(f, 5, 12)
    known = np.isfinite(tangent[:, 0])
    x, like = vanishing.of_pieces(pieces.x[known], tangent[known], source)
    inputs = source.standard_normal((100, d))
    told = inputs, f(inputs)[:, 0] > 0
    found = vanishing.vanishing(x, like, rough(f, 1e-8), *told)
    at = vanishing.beside_bends(decided(f), found, pieces, 1e-7, source)
    better = vanishing.vanishing(at, at, found.planes, *told)
    for network, bar in ((found, 1e-5), (better, 1e-10)):
        assert np.abs(network(inputs) - f(inputs)[:, 0]).max() < bar
    assert np.abs(np.abs(better.planes.alpha) - np.abs(f.alpha)).max() < 1e-10


def test_a_plane_that_points_do_not_tell_leaves_more_than_one_network() -> None:
    f, source = layer(6, 5, 1), np.random.default_rng(1)
    pieces, tangent = walked(f, 1)
    x, like = vanishing.of_pieces(pieces.x, tangent, source)
    inputs = source.standard_normal((100, 6))
    one_side = (like @ f.n[0] + f.b[0] > 0) & np.isfinite(x[:, 0])
    with pytest.raises(GiveUp, match="leaves more than one network"):
        vanishing.vanishing(x[one_side], like[one_side], rough(f, 0), inputs, f(inputs)[:, 0] > 0)
    with pytest.raises(GiveUp, match="6 equations of 42 unknowns"):
        vanishing.vanishing(x[:6], like[:6], rough(f, 0), inputs, f(inputs)[:, 0] > 0)


SIZES = ["D=3,widths=10", "D=5,widths=20", "D=10,widths=5", "D=10,widths=10,law=adam,steps=300", "D=20,widths=20"]


@pytest.mark.parametrize("options", SIZES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_network_is_found_to_rounding(options: str, seed: int) -> None:
    record = paramid.run("boundary-bends", f"relu:{options},decisions=true", seed=seed, throw=True)
    assert record.metrics["exact"] == record.metrics["identified"] == record.metrics["function_exact"] == 1
    assert record.metrics["bits"] > 33
    assert [claim.kind for claim in record.claims] == ["Directions", "Network"]


def played(f: Network, told: int) -> str:
    """Why it gave up on a network of which another width was told."""
    spec = Spec(inputs=f.inputs, widths=(told,), activations=("relu", "identity"), outer="unit")
    run, access = Run.seeded(0), frozenset({Access.DECISIONS})
    oracle = CountingOracle(f, spec, access=access, seed=0, device=torch.device("cpu"))
    with pytest.raises(GiveUp) as given_up:
        list(BoundaryBends(rounds=4).identify(oracle, run))
    return str(given_up.value)


@pytest.mark.parametrize("told", [4, 6])
def test_a_width_that_was_told_wrongly_is_named(told: int) -> None:
    f = paramid.task("relu:D=8,widths=5,decisions=true").draw(0)
    assert played(f, told) == f"the boundary bends at 5 planes that are known by two bends; {told} neurons were told"


def test_what_is_no_network_of_one_layer_is_given_up() -> None:
    deep = paramid.task("relu:D=8,widths=5-5,decisions=true").draw(0)
    assert re.search("neurons were told|not those of the network|more than one network", played(deep, 5))


def test_without_a_boundary_there_is_nothing_to_be_seen() -> None:
    f = paramid.task("relu:D=8,widths=5,decisions=true").draw(0)
    (w, a), (b, c) = f.weights, f.biases
    assert "all of 200 decisions are the same" in played(f.with_layers([w, a], [b, c + 100]), 5)


def test_a_neuron_beside_the_boundary_is_found_by_nobody_and_never_made_up() -> None:
    record = paramid.run("boundary-bends:rounds=4", "relu:D=5,widths=4,decisions=true", seed=7, throw=True)
    assert record.status is Status.GAVE_UP
    assert record.reason == "the boundary bends at 3 planes that are known by two bends; 4 neurons were told"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("widths=3-3", "needs one hidden layer of ReLUs"),
        ("widths=2", "needs 3 neurons"),
        ("D=2,widths=5", "needs 3 inputs"),
        ("widths=5,known=false", "needs the width"),
        ("widths=5,noise=0.1", "needs decisions on float64 values without noise"),
    ],
)
def test_what_it_does_not_know_is_declined(options: str, reason: str) -> None:
    spec = paramid.task(f"relu:{options},decisions=true").spec
    assert str(registry.method("boundary-bends").declines(spec)).startswith(reason)
