"""Kinks along lines, planes, one regression and orientations on planted layers; networks by queries to rounding."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paramid
from paramid import GiveUp
from paramid.methods.kinks import Kinks
from paramid.methods.piecewise import facing, line_kinks, planes, sign_design, sign_regression
from paramid.methods.piecewise.facing import Layer
from paramid.methods.piecewise.line_kinks import Array, Lines, Walk
from paramid.methods.piecewise.planes import Planes

seeds = st.integers(0, 10**6)
REACH = 1e6


def layer(d: int, m: int, seed: int, outputs: int = 1) -> Layer:
    source = np.random.default_rng(seed)
    n = source.standard_normal((m, d))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    b = source.uniform(-1, 1, m)
    return Layer(n, b, source.standard_normal((m, outputs)), source.standard_normal(outputs))


def lines(d: int, count: int, seed: int) -> Lines:
    return Lines(*np.random.default_rng(seed).standard_normal((2, count, d)))


def walked(f: Layer, seed: int, count: int = 1) -> Walk:
    along = lines(f.n.shape[1], count, seed)
    return line_kinks.walk(f, along, reach=REACH, start=8 + len(f.n), source=np.random.default_rng(seed))


def true_kinks(f: Layer, along: Lines) -> list[Array]:
    return [np.sort(-(f.n @ x + f.b) / (f.n @ d)) for x, d in zip(along.origin, along.direction, strict=True)]


def seen(f: Layer, seed: int) -> Planes:
    walk = walked(f, seed)
    return planes.planes(walk, planes.gradients(f, walk))


def error(f: Layer, found: Planes) -> float:
    """The largest error of a plane, matched by the nearest and up to its side."""
    true, mine = np.c_[f.n, f.b], np.c_[found.n, found.b]
    gaps = np.minimum(*(np.abs(true[:, None] - s * mine).max(2) for s in (1, -1)))
    return float(gaps.min(1).max()) if len(mine) == len(true) else np.inf


@given(seed=seeds, d=st.integers(1, 8), m=st.integers(1, 20), outputs=st.integers(1, 3))
@settings(max_examples=40)
def test_no_kink_is_missed_and_none_is_made_up(seed: int, d: int, m: int, outputs: int) -> None:
    f = layer(d, m, seed, outputs)
    walk = walked(f, seed + 1, count=2)
    for number, wanted in enumerate(true_kinks(f, walk.lines)):
        found = np.sort(walk.t[walk.pieces.line[walk.after] == number])
        assert len(found) == len(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_two_hundred_kinks_cost_eight_values_each() -> None:
    f, asked = layer(50, 200, 0), 0

    def counted(x: Array) -> Array:
        nonlocal asked
        asked += len(x)
        return f(x)

    walk = line_kinks.walk(counted, lines(50, 1, 0), reach=REACH, start=208, source=np.random.default_rng(0))
    assert len(walk.t) == 200
    assert walk.unresolved == 0
    assert asked < 10 * 200


def test_a_linear_function_has_no_kink() -> None:
    walk = walked(Layer(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), np.ones(1)), 0)
    assert len(walk.t) == 0
    assert len(planes.planes(walk, planes.gradients(lambda x: x[:, :1], walk)).n) == 0


def test_two_kinks_of_opposite_jumps_in_one_gap_are_both_found() -> None:
    n = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    f = Layer(n, np.array([0.0, -1e-3, 0.3]), np.array([[1.0], [-1.0], [0.5]]), np.zeros(1))
    for seed in range(20):
        assert len(walked(f, seed).t) == 3


@pytest.mark.parametrize("outputs", [1, 3])
def test_planes_are_as_exact_as_they_say(outputs: int) -> None:
    for seed in range(5):
        f = layer(10, 8, seed, outputs)
        found = seen(f, seed)
        assert found.good.all()
        assert error(f, found) < 10 * found.unsure.max()
        assert found.unsure.max() < 1e-5


def test_the_regression_brings_rough_planes_to_rounding() -> None:
    f, source = layer(6, 9, 0), np.random.default_rng(0)
    rough = seen(f, 0)
    off = rough._replace(n=rough.n + 1e-6 * source.standard_normal(rough.n.shape))
    assert error(f, off) > 1e-7
    fitted = sign_regression.fit(f, off, source)
    assert error(f, fitted.planes) < 1e-13
    assert fitted.residual < 1e-13


def test_the_regression_without_a_neuron_leaves_a_residual() -> None:
    f = layer(6, 9, 0)
    fewer = seen(f, 0).at(np.arange(8))
    assert sign_regression.fit(f, fewer, np.random.default_rng(0)).residual > 1e-3


def test_large_layers_are_fitted_without_their_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    f = layer(6, 9, 1)
    monkeypatch.setattr(sign_regression, "DENSE", 0)
    assert error(f, sign_regression.fit(f, seen(f, 1), np.random.default_rng(0)).planes) < 1e-12


@pytest.mark.parametrize(("d", "m", "outputs", "known"), [(1, 1, 1, 1), (9, 6, 2, 9), (40, 5, 1, 15)])
def test_as_many_values_as_unknowns_bring_rough_planes_to_rounding(d: int, m: int, outputs: int, known: int) -> None:
    f, source = layer(d, m, 3, outputs), np.random.default_rng(0)
    basis = np.linalg.qr(source.standard_normal((d, d)))[0]
    low = f.n @ basis[:, :known]
    length = np.linalg.norm(low, axis=1)
    rough = Planes(low / length[:, None], f.b / length, f.alpha, np.zeros((m, known)), np.full(m, 1e-6), f.b > -9)
    rough = rough._replace(n=rough.n + 1e-6 * source.standard_normal(low.shape))
    asked: list[Array] = []
    fitted = sign_design.fit(lambda x: (asked.append(x), f(x))[1], rough, basis, source)
    assert fitted is not None
    assert error(f, fitted.planes) < 1e-13
    assert sum(map(len, asked)) == (m + 1) * (d + 1)


def test_signs_tell_nearly_as_much_as_orthogonal_ones() -> None:
    signs, size = sign_design.patterns(np.array([0.1, -0.2, 0.3, 50.0, 0.1, -0.1, 0.0, 0.2]), np.random.default_rng(0))
    assert size[3] > 50
    assert (signs[:, 3] == np.where(np.arange(9) == 3, -1, 1)).all()
    near = np.delete(np.delete(signs, 3, 0), 3, 1)
    assert np.linalg.norm(np.linalg.inv(near), axis=1).max() < 1.7 / np.sqrt(8)


def test_parallel_planes_have_no_design() -> None:
    f = layer(6, 3, 0)
    n = np.vstack([f.n, f.n[:1]])
    rough = Planes(n, np.append(f.b, 2.0), np.ones((4, 1)), n, np.zeros(4), np.ones(4, dtype=bool))
    assert sign_design.fit(f, rough, np.eye(6), np.random.default_rng(0)) is None


def test_many_inputs_cost_little_more_than_their_unknowns() -> None:
    record = paramid.run("kinks", "relu:D=200,widths=8", seed=5, throw=True)
    assert record.metrics["identified"] == 1
    assert record.metrics["bits"] > 38
    assert record.queries < 1.3 * 9 * 201


@pytest.mark.parametrize(("d", "m", "outputs"), [(8, 5, 1), (8, 12, 1), (8, 20, 1), (5, 14, 3)])
def test_orientations_by_rank_by_programme_and_by_lattice(d: int, m: int, outputs: int) -> None:
    for seed in range(3):
        f = layer(d, m, seed, outputs)
        fitted = sign_regression.fit(f, seen(f, seed), np.random.default_rng(seed))
        found = facing.faced(fitted.planes, fitted.affine, fitted.residual)
        x = 3 * np.random.default_rng(9).standard_normal((200, d))
        np.testing.assert_allclose(found(x), f(x), atol=1e-11)
        assert len(found.n) == m


def test_more_orientations_than_the_linear_part_tells_are_given_up() -> None:
    f = layer(2, 40, 0)
    fitted = sign_regression.fit(f, seen(f, 1), np.random.default_rng(0))
    with pytest.raises(GiveUp, match="40 signs show in the linear part alone"):
        facing.faced(fitted.planes, fitted.affine, fitted.residual)


@given(seed=seeds)
def test_a_layer_with_one_wrong_plane_does_not_pass_on_fresh_values(seed: int) -> None:
    """However little it is turned, and although few inputs at random would tell."""
    f, source = layer(6, 5, seed), np.random.default_rng(seed + 1)
    turned = f.n.copy()
    turned[0] += 1e-4 * source.standard_normal(6)
    turned[0] /= np.linalg.norm(turned[0])
    x = facing.felt(f, source)
    facing.certain(f, x, f(x), np.full(len(x), 1e-12))
    wrong = f._replace(n=turned)
    x = facing.felt(wrong, source)
    with pytest.raises(GiveUp, match="fresh values differ"):
        facing.certain(wrong, x, f(x), np.full(len(x), 1e-12))


def test_a_width_that_was_told_wrongly_is_named() -> None:
    told = paramid.identify(lambda x: np.maximum(x @ np.eye(10)[:, :5], 0).sum(1), inputs=10, neurons=4,
                            activation="relu", outer="free", method="kinks")  # fmt: skip
    assert told.status is paramid.Status.GAVE_UP
    assert "5 planes, 4 neurons were told" in told.reason


W = np.random.default_rng(0).standard_normal((12, 6)) / 3
REFUSED: dict[str, tuple[Callable[[Array], Array], str]] = {
    "fewer told": (lambda x: np.maximum(x @ W + 0.1, 0).sum(1), "6 planes, 5 neurons were told"),
    "affine": (lambda x: x @ W[:, 0] + 1, "no kink that shows"),
    "smooth": (lambda x: np.sin(x @ W).sum(1), "do not tell its kinks"),
    "leaky": (lambda x: np.where((p := x @ W[:, :4] + 0.1) > 0, p, 0.1 * p).sum(1), "8 neurons, 5 neurons were told"),
    "largest": (lambda x: (x @ W[:, :4]).max(1), "fresh values differ"),
    "two layers": (lambda x: np.maximum(np.maximum(x @ W, 0) @ W[:6, :2], 0).sum(1), "neurons were told"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_such_layer_costs_at_most_three_times_success(case: str) -> None:
    f, why = REFUSED[case]
    told = paramid.Spec(inputs=12, widths=(5,), outputs=1, activations=("relu", "identity"))
    asked = 0

    def counted(x: Array) -> Array:
        nonlocal asked
        asked += len(x)
        return f(x)[:, None]

    with pytest.raises(GiveUp, match=why):
        list(Kinks().shallow(counted, told, paramid.Run.seeded(0), np.random.default_rng(0)))
    assert asked < 3 * (50 + 2 * 6 * 13 + 26)


SHALLOW = ["D=10,widths=4", "D=20,widths=10", "D=10,widths=14", "D=10,widths=14,outputs=3", "D=10,widths=25"]


@pytest.mark.parametrize("options", [*SHALLOW, "D=1,widths=1", "D=12,widths=2", "D=10,widths=4,law=adam,steps=500"])
@pytest.mark.parametrize("seed", [50, 51])
def test_a_network_is_found_to_rounding(options: str, seed: int) -> None:
    record = paramid.run("kinks", f"relu:{options}", seed=seed, throw=True)
    assert record.metrics["identified"] == record.metrics["function_exact"] == 1
    assert record.metrics["bits"] > 38
    assert record.queries < 3 * 1.5 * (14 + 1) * 26


@pytest.mark.parametrize("name", ["silent", "zero", "twin", "mirror", "faint", "parallel", "far", "never", "dead"])
def test_awkward_networks_are_found_as_functions(name: str) -> None:
    record = paramid.run("kinks", f"relu:D=10,widths=5,awkward={name}", seed=3, throw=True)
    assert record.metrics["function_exact"] == 1
    assert record.metrics["identified"] == 1


@pytest.mark.parametrize(("inexact", "bits"), [("noise=1e-12", 28), ("noise=1e-9", 18), ("precision=float32", 12)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_little_noise_costs_bits_and_no_neuron(inexact: str, bits: float, seed: int) -> None:
    record = paramid.run("kinks", f"relu:D=10,widths=4,{inexact}", seed=seed, throw=True)
    assert record.metrics["identified"] == 1
    assert bits < record.metrics["bits"] < bits + 16


def test_widths_need_not_be_told() -> None:
    assert paramid.run("kinks", "relu:D=10,widths=6,known=false", throw=True).metrics["exact"] == 1


@pytest.mark.parametrize("options", ["widths=3-3,noise=0.1", "widths=3,noise=0.1", "widths=3-3,precision=float32"])
def test_what_it_does_not_know_is_declined(options: str) -> None:
    assert paramid.run("kinks", f"relu:D=5,{options}").status is paramid.Status.DECLINED
