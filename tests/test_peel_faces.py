"""`peel` where norms are free: each stage on planted answers, what it must not find, and the whole of it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import paramid
from paramid import Claim, GiveUp, Network, Run, Spec
from paramid.judging import claim_scores
from paramid.methods.faces import crossings, face_fit, joining, profiles, second_directions, shift_ranks, two_layers
from paramid.methods.faces.face import Face, Layer, far, whole
from paramid.methods.faces.second_layer import Upper, second_layer
from paramid.methods.peel import Peel
from paramid.methods.spans.output_differences import Values
from paramid.oracle.counting import CountingOracle
from paramid.words.network import read_as
from paramid.words.neuron_distances import assign, distances

F64 = torch.float64


def planted(inputs: int, first: int, second: int, outputs: int = 1, name: str = "tanh", seed: int = 0) -> Network:
    """Columns of norms from 0.5 to 2, shifts and outer weights of all signs and sizes: as training leaves them."""
    run, twice = Run.seeded(100 + seed), 2.0 if name == "logistic" else 1.0
    sizes = [(inputs, first), (first, second), (second, outputs)]
    weights = [run.sphere(b, a).T * (0.5 + 1.5 * (run.normal(1, b).abs() / 3).clamp(max=1)) for a, b in sizes]
    biases = [0.4 * run.normal(1, b)[0] for _, b in sizes]
    return Network(tuple(twice * w for w in weights), tuple(biases), (name, name, "identity"))


def first_layer(teacher: Network) -> Layer:
    """The first layer of a teacher of tanh."""
    norms = teacher.weights[0].norm(dim=0)
    return Layer(teacher.weights[0] / norms, norms, teacher.biases[0])


def wrong_by(teacher: Network, delta: Tensor) -> tuple[Face, Values]:
    """The only face of a teacher with m_1 ≤ D, shifts wrong by -δ, and Φ on it."""
    layer = first_layer(teacher)
    at = whole(replace(layer, shifts=layer.shifts - delta), Run.seeded(7))
    return at, at.values(teacher)


def apart(a: Tensor, b: Tensor) -> float:
    """The largest distance of matched unit columns, up to sign."""
    gaps = torch.minimum(distances(a, b), distances(a, -b))
    return float(gaps[assign(gaps)].max())


# --- far lines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("inputs", "first", "outputs"), [(8, 6, 1), (5, 8, 2)])
def test_far_lines_show_every_neuron_of_the_first_layer_several_times(inputs: int, first: int, outputs: int) -> None:
    teacher = planted(inputs, first, 4, outputs)
    neurons = crossings.first_neurons(teacher, inputs, first, Run.seeded(0))
    assert len(neurons) == first
    assert apart(first_layer(teacher).directions, torch.stack([n.normals[0] for n in neurons], 1)) < 1e-6
    assert min(len(n.reach) for n in neurons) >= crossings.ENOUGH


def test_far_lines_show_nothing_where_nothing_switches() -> None:
    def smooth(x: Tensor) -> Tensor:
        return x[:, :2] / (1 + x.norm(dim=1, keepdim=True))

    assert not crossings.first_neurons(smooth, 5, 3, Run.seeded(0))


def test_what_changes_everywhere_is_no_staircase() -> None:
    asked = []

    def linear(x: Tensor) -> Tensor:
        asked.append(len(x))
        return x[:, :1]

    assert not crossings.first_neurons(linear, 5, 3, Run.seeded(0))
    assert sum(asked) < 5000


def test_adjacent_cells_are_one_group() -> None:
    cells = torch.tensor([[0.0, 1.0], [1.0, 2.0], [9.0, 10.0], [10.0, 12.0], [50.0, 51.0]], dtype=F64)
    assert crossings.merged(cells).tolist() == [[0.0, 2.0], [9.0, 12.0], [50.0, 51.0]]
    assert not len(crossings.merged(cells[:0]))


# --- profiles --------------------------------------------------------------------------------------------------------


def test_crossings_tell_norms_and_roughly_shifts() -> None:
    teacher = planted(8, 6, 4)
    neurons = crossings.first_neurons(teacher, 8, 6, Run.seeded(0))
    layer = first_layer(teacher)
    for neuron in neurons:
        found, along = profiles.sigmoid(teacher, neuron), layer.directions.T @ neuron.normals[0]
        j = int(along.abs().argmax())
        assert found.norm == pytest.approx(float(layer.norms[j]), rel=3e-2)
        assert found.shift * float(along[j].sign()) == pytest.approx(float(layer.shifts[j]), abs=1.0)


def test_a_merged_crossing_is_left_out() -> None:
    s = torch.linspace(-6, 6, profiles.POINTS, dtype=F64).expand(5, -1)
    y = torch.stack([torch.tanh(1.3 * t + 0.2) for t in s])[:, :, None]
    y[4, :, 0] += torch.tanh(0.4 * s[4] - 1)
    y = y / y.flatten(1).norm(dim=1)[:, None, None]
    curves = profiles.Curves(s, y, torch.zeros(5, dtype=F64), torch.full((5,), 9.0, dtype=F64))
    assert profiles.fit(curves.at(torch.arange(4)), 1.2, 0.0).norm == pytest.approx(1.3, rel=1e-6)
    assert profiles.alike(curves, profiles.Sigmoid(1.3, 0.2, 1.0), 1.3).tolist() == [0, 1, 2, 3]


# --- faces -----------------------------------------------------------------------------------------------------------


def test_on_a_face_all_others_stand_still() -> None:
    teacher, run = planted(5, 8, 4), Run.seeded(0)
    layer, moving = first_layer(teacher), torch.tensor([0, 2, 5, 7])
    at = far(layer, moving, run)
    y = 2 * torch.rand(20, 4, generator=run.generator, dtype=F64) - 1
    inside = torch.tanh(teacher.preactivations(at.place(y))[0])
    torch.testing.assert_close(inside[:, moving], y, rtol=0, atol=1e-8)
    still = inside[:, [1, 3, 4, 6]]
    assert bool((still.abs() == 1).all())
    assert torch.equal(still, still[:1].expand(20, -1))


@pytest.mark.parametrize(("second", "outputs"), [(3, 1), (7, 1), (4, 3)])
def test_the_rank_tells_how_wrong_shifts_are(second: int, outputs: int) -> None:
    teacher, run = planted(8, 7, second, outputs, seed=1), Run.seeded(0)
    delta = 0.3 * run.normal(1, 7)[0]
    found = shift_ranks.shift_errors(wrong_by(teacher, delta)[1], 7, second, run)
    assert found.tail < shift_ranks.SURE[2]
    assert float((found.delta - delta).abs().max()) < 0.1


def test_no_shifts_give_a_rank_that_is_not_there() -> None:
    _, phi = wrong_by(planted(8, 7, 6), torch.zeros(7, dtype=F64))
    assert shift_ranks.shift_errors(phi, 7, 2, Run.seeded(0)).tail > shift_ranks.SURE[2]


def test_directions_of_the_second_layer_and_shifts_correct_each_other() -> None:
    teacher, run = planted(8, 7, 5), Run.seeded(0)
    delta = 0.04 * run.normal(1, 7)[0]
    at, _ = wrong_by(teacher, delta)
    better, columns = second_directions.second_directions(teacher, at, 5, run)
    second = teacher.weights[1] / teacher.weights[1].norm(dim=0)
    assert apart(second, columns) < 0.05
    assert float((better.layer.shifts - teacher.biases[0]).abs().max()) < 0.1 * float(delta.abs().max())
    with pytest.raises(GiveUp, match="directions of the second layer"):
        second_directions.second_directions(lambda x: x[:, :1].exp() * x[:, 1:2].sin(), at, 5, run)


def test_curves_along_directions_are_a_start_that_a_face_solves_to_rounding() -> None:
    teacher, run = planted(8, 7, 5, 2), Run.seeded(0)
    at, phi = wrong_by(teacher, 0.02 * run.normal(1, 7)[0])
    columns = teacher.weights[1] / teacher.weights[1].norm(dim=0)
    found = face_fit.solve(teacher, at, second_layer(phi, columns, run), run)
    assert found.rms < 1e-11
    torch.testing.assert_close(found.face.layer.norms, first_layer(teacher).norms, rtol=1e-8, atol=0)
    torch.testing.assert_close(found.face.layer.shifts, teacher.biases[0], rtol=0, atol=1e-8)


def test_slopes_on_a_face_are_those_of_differences() -> None:
    run = Run.seeded(0)
    s, upper = run.normal(4, 3), Upper(run.normal(3, 2), run.normal(1, 2)[0], run.normal(2, 2), run.normal(1, 2)[0])
    start = face_fit.at(s, run.normal(4, 2), 0.1 * run.normal(1, 3)[0], 0.1 * run.normal(1, 3)[0], upper)
    count, e = face_fit.parameters(3, 2, 2), 1e-6
    values = start.r.new_zeros(4, 2)

    def residuals(p: Tensor) -> Tensor:
        return face_fit.at(s, values, *face_fit.moved(start, p)).r.flatten()

    steps = e * torch.eye(count, dtype=F64)
    numeric = torch.stack([(residuals(p) - residuals(-p)) / (2 * e) for p in steps], 1)
    torch.testing.assert_close(face_fit.jacobian(start, s), numeric, rtol=1e-7, atol=1e-8)


# --- joining ---------------------------------------------------------------------------------------------------------


def test_faces_join_by_their_outer_weights() -> None:
    teacher, run = planted(5, 8, 4), Run.seeded(0)
    layer, solved = first_layer(teacher), []
    for rms, moving in ((1e-9, [0, 1, 2, 3]), (1e-12, [4, 5, 6, 3]), (1e-10, [2, 4, 1, 7])):
        j = torch.tensor(moving)
        at, order = far(layer, j, run), torch.randperm(4, generator=run.generator)
        sign = run.normal(1, 4)[0].sign()
        still = torch.ones(8, dtype=F64).index_fill(0, j, 0.0) * (layer.directions.T @ at.base).sign()
        shifts = (teacher.biases[1] + still @ teacher.weights[1])[order] * sign
        outer = teacher.weights[2][order] * sign[:, None]
        upper = Upper(teacher.weights[1][j][:, order] * sign, shifts, outer, teacher.biases[2])
        solved.append(face_fit.Solved(at, upper, rms))
    assert claim_scores.score(teacher, joining.joined(layer, solved))["exact"] == 1


# --- the whole -------------------------------------------------------------------------------------------------------


def told(teacher: Network, **changes: object) -> Spec:
    """What a method is told of a planted teacher."""
    spec = Spec(inputs=teacher.inputs, widths=teacher.widths, outputs=teacher.outputs, activations=teacher.activations)
    return replace(spec, **changes)


def claims(teacher: Network, spec: Spec) -> Iterator[Claim]:
    method = Peel()
    oracle = CountingOracle(teacher, spec, access=method.access, seed=0, device=torch.device("cpu"))
    return method.identify(oracle, Run.seeded(0))


@pytest.mark.parametrize("name", ["tanh", "logistic"])
@pytest.mark.parametrize(("inputs", "first", "second", "outputs"), [(8, 7, 5, 1), (6, 6, 4, 3), (6, 8, 4, 1)])
def test_networks_with_free_norms_are_identified(inputs: int, first: int, second: int, outputs: int, name: str) -> None:
    teacher = planted(inputs, first, second, outputs, name, seed=1)
    made = list(claims(teacher, told(teacher)))
    scores = claim_scores.score(teacher, made[-1])
    assert (scores["identified"], scores["exact"]) == (1, 1)
    assert made[-1].stats["residual"] < 1e-13
    assert 2.0 ** -scores["bits"] < 1e-9


@pytest.mark.parametrize("hidden", [("tanh", "logistic"), ("unknown", "unknown")])
def test_layers_may_differ_and_need_not_be_told(hidden: tuple[str, str]) -> None:
    teacher = replace(planted(6, 6, 4, 3, seed=1), activations=("tanh", "logistic", "identity"))
    made = list(claims(teacher, told(teacher, activations=(*hidden, "identity"))))
    read = read_as(made[-1], teacher.activations)
    assert read is not None
    assert claim_scores.score(teacher, read)["exact"] == 1


def test_every_tensor_has_a_device_and_a_type() -> None:
    teacher = planted(6, 8, 4, seed=1)
    with torch.device("meta"):
        *_, last = claims(teacher, told(teacher))
    assert claim_scores.score(teacher, last)["exact"] == 1


def test_faint_neurons_are_found_on_later_lines() -> None:
    teacher = planted(8, 6, 4)
    faint = teacher.with_layers([teacher.weights[0], teacher.weights[1].clone(), teacher.weights[2]], teacher.biases)
    faint.weights[1][2] *= 1e-5
    assert len(crossings.first_neurons(faint, 8, 6, Run.seeded(0))) == 6


def test_a_function_of_ones_own_is_identified() -> None:
    teacher = planted(8, 7, 5, seed=2)
    found = paramid.identify(teacher, inputs=8, neurons=(7, 5), outer="free", method="peel")
    assert found.good
    assert found.residual < 1e-13


@pytest.mark.parametrize(("first", "second"), [(6, 5), (8, 5), (7, 4)])
def test_wrong_widths_are_given_up(first: int, second: int) -> None:
    teacher = planted(8, 7, 5)
    with pytest.raises(GiveUp):
        list(claims(teacher, told(teacher, widths=(first, second))))


def test_another_second_layer_is_given_up() -> None:
    teacher = planted(8, 7, 5)
    other = Network(teacher.weights, teacher.biases, ("tanh", "softplus", "identity"))
    with pytest.raises(GiveUp):
        list(claims(other, told(teacher)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"inputs": 6}, None),
        ({"widths": (7, 5, 3), "activations": ("tanh",) * 3 + ("identity",)}, "more than two hidden layers"),
        ({"activations": ("erf", "erf", "identity")}, "not erf, erf"),
        ({"activations": ("tanh", "tanh", "logistic")}, "linear output"),
        ({"activations": ("gelu", "gelu", "identity")}, "cannot invert|not gelu"),
        ({"noise": 1e-6}, "exact float64 values"),
        ({"precision": "float32"}, "exact float64 values"),
        ({"outer": "ones"}, "free outer weights"),
        ({"inputs": 5}, None),
        ({"inputs": 4}, "faces of 3 neurons of the first layer tell no 5"),
        ({"widths": (4000, 2000), "inputs": 5000}, "slopes on a face"),
    ],
)
def test_it_declines_with_a_reason(changes: dict[str, object], reason: str | None) -> None:
    said = Peel().declines(told(planted(8, 7, 5), **changes))
    assert said is None if reason is None else reason.split("|")[-1] in str(said) or reason.split("|")[0] in str(said)


@pytest.mark.parametrize("off", [0.0, 1e-6])
def test_fresh_values_are_asked_before_a_network_is_claimed(off: float) -> None:
    teacher = planted(6, 5, 3)

    class Later(Network):
        def __call__(self, x: Tensor) -> Tensor:
            return super().__call__(x) + (off if len(x) == two_layers.FRESH else 0.0)

    asked = Later(teacher.weights, teacher.biases, teacher.activations)
    oracle = CountingOracle(asked, told(teacher), access=Peel.access, seed=0, device=torch.device("cpu"))
    if not off:
        assert paramid.judge(teacher, two_layers.refined(teacher, oracle, Run.seeded(0)))["exact"] == 1
        return
    with pytest.raises(GiveUp, match="fresh values are off"):
        two_layers.refined(teacher, oracle, Run.seeded(0))
