"""Each stage of `peel` on planted answers, what it must not find where nothing was planted, and the whole of it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import jacobian

import paramid
from paramid import Claim, GiveUp, Network, Run, activation
from paramid.judging import claim_scores
from paramid.limits import information
from paramid.methods.layers import circle_search, gauge_labels, lone_neurons, nearby_hessians, rank_shifts, rough_layers
from paramid.methods.layers.peeling import Peeled, inverse
from paramid.methods.peel import Peel
from paramid.methods.refinement import layered_acceptance, layered_refinement
from paramid.methods.spans import entangled_search
from paramid.methods.spans.output_differences import ahead, gradients, hessians_ahead, packed_hessians
from paramid.methods.spans.subspace import leading_span
from paramid.methods.spans.symmetric import pack, squares
from paramid.oracle.counting import CountingOracle
from paramid.tasks.pyramid import Pyramid
from paramid.words.neuron_distances import assign, distances

F64 = torch.float64
SMALL = Pyramid(D=8, widths=(6, 4, 3), output="identity")
DEEP = Pyramid(D=12, widths=(11, 8, 5, 4), output="identity")


def up_to_sign(a: Tensor, b: Tensor) -> float:
    """The largest distance of matched unit columns."""
    gaps = torch.minimum(distances(a, b), distances(a, -b))
    return float(gaps[assign(gaps)].max())


def moved(network: Network, e: float, seed: int = 0) -> Network:
    run = Run.seeded(seed)
    weights = [w + e * run.normal(*w.shape) for w in network.weights]
    return network.with_layers(weights, [b + e * run.normal(1, len(b))[0] for b in network.biases])


# --- differences -----------------------------------------------------------------------------------------------------


def test_differences_of_all_outputs_have_the_order_they_promise() -> None:
    teacher, run = SMALL.draw(0), Run.seeded(0)
    x, along = run.normal(4, 8), run.normal(5, 8)
    exact = (teacher.gradient(x) @ along.T).transpose(1, 2)
    coarse, fine = (float((gradients(teacher, x, along, h) - exact).abs().max()) for h in (0.04, 0.02))
    assert coarse / fine == pytest.approx(16, rel=0.1)
    bent = pack(teacher.hessian(x))
    coarse, fine = (float((packed_hessians(teacher, x, h) - bent).abs().max()) for h in (0.04, 0.02))
    assert coarse / fine == pytest.approx(4, rel=0.1)


def test_differences_on_one_side_have_the_order_they_promise() -> None:
    teacher, run = SMALL.draw(0), Run.seeded(0)
    x, along = run.normal(4, 8), run.normal(5, 8)
    exact, bent = (teacher.gradient(x) @ along.T).transpose(1, 2), pack(teacher.hessian(x))
    coarse, fine = (float((ahead(teacher, x, along, h) - exact).abs().max()) for h in (2e-3, 1e-3))
    assert coarse / fine == pytest.approx(2, rel=0.1)
    assert float((ahead(teacher, x, along) - exact).abs().max()) < 1e-6
    coarse, fine = (float((hessians_ahead(teacher, x, h) - bent).abs().max()) for h in (4e-3, 2e-3))
    assert coarse / fine == pytest.approx(2, rel=0.1)
    assert float((hessians_ahead(teacher, x) - bent).abs().max()) < 1e-3


# --- stage 1 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [3, 1])
@pytest.mark.parametrize("name", ["tanh", "logistic"])
def test_circles_find_every_weight_of_the_first_layer(name: str, outputs: int) -> None:
    teacher = Pyramid(D=8, widths=(6, 4, outputs), activation=name, output="identity").draw(1)
    w = circle_search.first_layer(teacher, 8, 6, Run.seeded(1), noise=0.0)
    assert w.shape == (8, 6)
    assert up_to_sign(teacher.weights[0], w) < 1e-6


def test_circles_find_no_weight_where_nothing_switches() -> None:
    def smooth(x: Tensor) -> Tensor:
        return torch.stack([x[:, 0] / (1 + x.norm(dim=1)), x[:, 1] / (1 + x.norm(dim=1))], 1)

    assert circle_search.first_layer(smooth, 5, 3, Run.seeded(0), noise=0.0, circles=2).shape[1] == 0


def test_two_neurons_at_work_are_not_taken_for_one() -> None:
    teacher = SMALL.draw(0)
    near = torch.zeros(1, 2, 8, dtype=F64)  # where all of them are at work
    assert not len(circle_search.rank_ones(teacher, near, h=0.01, noise=0.0)[0])


@pytest.mark.parametrize("outputs", [3, 1])
def test_a_neuron_at_work_alone_shows_its_direction_and_that_it_is_alone(outputs: int) -> None:
    teacher = Pyramid(D=8, widths=(6, 4, outputs), output="identity").draw(1)
    w, b = teacher.weights[0][:, :1], teacher.biases[0][0]
    far = 1e5 * torch.linalg.svd(w.T)[2][1:4]  # in its hyperplane
    x = far + (0.4 - b) * w.T
    found, slope, here = lone_neurons.ridges(teacher, x)
    assert float(torch.minimum((found - w.T).norm(dim=1), (found + w.T).norm(dim=1)).max()) < 2e-7
    assert float((lone_neurons.aside(teacher, x, found, here, Run.seeded(0)) / slope).max()) < 1e-6
    near = torch.zeros(2, 8, dtype=F64)  # where all are at work, and f is nearly linear
    found, slope, here = lone_neurons.ridges(teacher, near)
    assert float((lone_neurons.aside(teacher, near, found, here, Run.seeded(0)) / slope).min()) > 1e-4
    assert not len(lone_neurons.lone(teacher, near, Run.seeded(0), pure=1e-6)[0])


# --- stage 2 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
def test_the_rank_tells_the_shifts_and_the_span_of_the_next_weights(name: str) -> None:
    teacher = replace(SMALL, activation=name).draw(2)
    g, w = activation(name), teacher.weights[0]
    found = rank_shifts.shifts_by_rank(teacher, w, 4, g, Run.seeded(0), noise=0.0)
    assert found.sure
    assert float((found.shifts - teacher.biases[0]).abs().max()) < 1e-5
    outside = teacher.weights[1] - found.basis @ (found.basis.T @ teacher.weights[1])
    assert float(outside.norm()) < 1e-5


@pytest.mark.parametrize("outputs", [3, 1])
def test_few_points_and_several_starts_tell_the_shifts_as_well(outputs: int) -> None:
    teacher = replace(SMALL, widths=(6, 4, outputs)).draw(2)
    w, tanh = teacher.weights[0], activation("tanh")
    found = rank_shifts.shifts_by_few(teacher, w, 4, outputs, tanh, Run.seeded(0))
    assert found.sure
    assert float((found.shifts - teacher.biases[0]).abs().max()) < 1e-4


def test_no_shifts_give_a_rank_that_is_not_there() -> None:
    teacher, g = SMALL.draw(2), activation("tanh")
    assert not rank_shifts.shifts_by_few(teacher, teacher.weights[0], 2, 3, g, Run.seeded(0)).sure
    assert not rank_shifts.shifts_by_rank(teacher, teacher.weights[0], 2, g, Run.seeded(0), noise=0.0).sure


def test_the_equations_are_half_the_gradient_of_the_tail() -> None:
    g, run = activation("tanh"), Run.seeded(1)
    z, slopes = run.normal(10, 6), run.normal(60, 3).view(10, 6, 3)
    tau = 0.1 * run.normal(1, 6)[0]

    def tail(t: Tensor) -> Tensor:
        return rank_shifts.decomposed(z, slopes, t, g)[1][4:].square().sum()

    u, _, vt, a = rank_shifts.decomposed(z, slopes, tau, g)
    _, right = rank_shifts.equations(a, rank_shifts.curvature(z, tau, g, 3) * a, u[:, 4:], vt[:4])
    torch.testing.assert_close(-2 * right, jacobian(tail, tau), rtol=1e-6, atol=1e-8)


# --- stage 3 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
def test_above_a_layer_the_teacher_is_a_network_with_a_layer_less(name: str) -> None:
    teacher = replace(DEEP, activation=name).draw(0)
    g, q = activation(name), torch.linalg.qr(teacher.weights[1])[0]
    peeled = Peeled(teacher.weights[0], teacher.biases[0], q, g)
    a = 0.05 * Run.seeded(0).normal(20, 8)
    half = 0.5 if name == "logistic" else 0.0
    first = teacher.biases[1] + half * teacher.weights[1].sum(0)
    weights = (q.T @ teacher.weights[1], *teacher.weights[2:])
    above = Network(weights, (first, *teacher.biases[2:]), (name, name, "identity"))
    torch.testing.assert_close(teacher(peeled.lifted(a)), above(a), rtol=1e-9, atol=1e-11)
    x = Run.seeded(1).normal(20, 12)
    torch.testing.assert_close(above(peeled.image(x)), teacher(x), rtol=1e-12, atol=1e-13)
    assert claim_scores.score(teacher, peeled.below(above))["exact"] == 1


def test_inverses_stay_finite_at_the_edge() -> None:
    for name, edge in (("tanh", 1.0), ("logistic", 1.0), ("erf", -1.0), ("identity", 3.0)):
        assert bool(torch.isfinite(inverse(activation(name), torch.tensor([edge, 1.5 * edge], dtype=F64))).all())


# --- stage 4 ---------------------------------------------------------------------------------------------------------


def bends_of(teacher: Network, widths: tuple[int, ...]) -> gauge_labels.Bends:
    """What exact directions at 0 show in exact Hessians."""
    slopes = teacher.slopes(torch.zeros(1, teacher.inputs, dtype=F64))[: len(widths)]
    u = torch.cat([v[0] / v[0].norm(dim=0) for v in slopes], 1)
    e = 0.05 * Run.seeded(0).sphere(20, teacher.inputs)
    offsets = torch.cat([e, -e])
    return gauge_labels.bends(u, offsets, pack(teacher.hessian(offsets)))


@pytest.mark.parametrize(("name", "gap"), [("tanh", 0.1), ("logistic", 0.6)])
def test_the_gauge_tells_layers(name: str, gap: float) -> None:
    teacher = replace(DEEP, activation=name, widths=(11, 8, 5, 6)).draw(3)
    order = torch.randperm(24, generator=torch.Generator().manual_seed(0))
    seen = bends_of(teacher, (11, 8, 5))
    mixed = gauge_labels.Bends(seen.u[:, order], seen.slopes[order], seen.ratios[order])
    found = gauge_labels.label(mixed, (11, 8, 5), activation(name), Run.seeded(0))
    truth = torch.repeat_interleave(torch.arange(3), torch.tensor([11, 8, 5]))[order]
    assert torch.equal(found.layer, truth)
    assert found.tail[-1] < found.tail[-2] < gap * found.tail[-3]


def test_directions_without_a_gauge_have_none() -> None:
    run = Run.seeded(0)
    seen = gauge_labels.Bends(run.sphere(13, 8).T, run.normal(13, 4), 0.1 * run.normal(1, 13)[0])
    found = gauge_labels.label(seen, (8, 5), activation("tanh"), run)
    assert found.tail[-1] > 0.1 * found.tail[-2]
    assert found.spread > 0.5


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
def test_preactivations_come_back_from_the_ratio_of_derivatives(name: str) -> None:
    g = activation(name)
    z = 0.8 * g.monotone * torch.linspace(-1, 1, 11, dtype=F64)
    torch.testing.assert_close(gauge_labels.preactivations(g(z, 2) / g(z, 3), g), z, rtol=1e-10, atol=1e-12)


def test_clusters_have_the_sizes_that_were_told() -> None:
    run = Run.seeded(0)
    points = torch.cat([0.3 * run.normal(9, 1) + 1, 0.3 * run.normal(4, 1) - 1])
    layer, spread = gauge_labels.shared_out(points, (4, 9), run)
    assert layer.tolist() == [1] * 9 + [0] * 4
    assert spread < 1


def test_a_blurred_span_still_shows_its_rank_ones() -> None:
    run = Run.seeded(0)
    u = run.sphere(7, 8)
    rows = run.normal(40, 7) @ squares(u) + 5e-3 * run.normal(40, 36)
    span = leading_span(rows, 7, 8)
    found = entangled_search.blurred(span.projector(), span.basis, 7, run)
    assert up_to_sign(u.T, found.T) < 0.05
    nothing = leading_span(run.normal(40, 36), 7, 8)
    assert len(entangled_search.blurred(nothing.projector(), nothing.basis, 7, run)) < 7


def test_rows_of_the_refinement_are_those_asked_for() -> None:
    task = "pyramid:D=8,widths=6-4-3"
    one, two = (paramid.run(m, task, seed=1, throw=True, judge_inputs=100) for m in ("peel", "peel:rows=3"))
    fewer, more = (layered_acceptance.count(paramid.task(task).spec, rows) for rows in (1.4, 3.0))
    assert (one.metrics["exact"], two.metrics["exact"]) == (1, 1)
    assert two.queries - one.queries == more - fewer > 0


def test_rough_layers_are_right_to_a_few_percent() -> None:
    teacher, run = Pyramid(D=10, widths=(10, 7, 6), output="identity").draw(0), Run.seeded(0)
    base, widths, names, g = torch.zeros(10, dtype=F64), (10, 7), teacher.activations, activation("tanh")
    nearby = nearby_hessians.asked(teacher, base, widths, g, run, noise=0.0, pairs=16)
    seen = rough_layers.look(nearby, widths, g, run)
    x = run.normal(300, 10)
    rough = rough_layers.rough_networks(seen, widths, names, x, teacher(x), 0)[0]
    metrics = claim_scores.score(teacher, rough)
    assert metrics["weight_error"] < 0.1
    assert metrics["bias_error_max"] < 0.05


@pytest.mark.parametrize(
    ("widths", "fixed", "count"), [((5, 4), 0, 1), ((4, 4), 0, 2), ((4, 4), 1, 1), ((4, 4, 4), 0, 6), ((4, 3, 4), 1, 1)]
)
def test_layers_of_equal_width_may_be_exchanged(widths: tuple[int, ...], fixed: int, count: int) -> None:
    found = [tuple(order) for order in rough_layers.orders(widths, fixed)]
    assert len(set(found)) == count
    assert tuple(range(len(widths))) in found
    assert all([widths[k] for k in order] == list(widths) for order in found)


# --- stage 5 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["identity", "tanh"])
@pytest.mark.parametrize("name", ["tanh", "logistic", "softplus"])
def test_the_normal_matrix_is_that_of_the_jacobian(name: str, output: str) -> None:
    network, run = Network(*parameters((4, 3, 2)), activations=(name, output)), Run.seeded(0)
    x = run.normal(9, 4)
    flat = torch.cat([torch.cat([w, b[None]]).flatten() for w, b in zip(network.weights, network.biases, strict=True)])

    def values(p: Tensor) -> Tensor:
        return layered_refinement.moved(network, p - flat)(x).flatten()

    j = jacobian(values, flat)
    torch.testing.assert_close(information.normal_matrix(network, x), j.T @ j, rtol=1e-10, atol=1e-12)
    y = run.normal(9, 2)
    wanted = j.T @ (network(x) - y).flatten()
    torch.testing.assert_close(layered_refinement.slope(network, x, y), wanted, rtol=1e-10, atol=1e-12)


def parameters(sizes: tuple[int, ...]) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    run = Run.seeded(3)
    pairs = list(pairwise(sizes))
    return tuple(run.normal(*pair) for pair in pairs), tuple(run.normal(1, b)[0] for _, b in pairs)


@pytest.mark.parametrize("widths", [(6, 4, 3), (5, 5, 4, 6)])
def test_a_rough_network_is_refined_to_rounding(widths: tuple[int, ...]) -> None:
    family, run = Pyramid(D=8, widths=widths), Run.seeded(0)
    teacher = family.draw(4)
    x = run.normal(300, 8)
    found = layered_refinement.fit(moved(teacher, 0.02), x, teacher(x), noise=0.0)
    assert found.believed
    assert family.judge(found.network, teacher)["bits"] > 40
    assert layered_refinement.error_bound(found, x) < 1e-11


def test_noise_is_where_it_ends_and_tells_how_sure_it_is() -> None:
    teacher, run = SMALL.draw(4), Run.seeded(0)
    x = run.normal(400, 8)
    y = teacher(x) + 1e-6 * run.normal(400, 3)
    found = layered_refinement.fit(moved(teacher, 0.02), x, y, noise=1e-6)
    error = 2.0 ** -SMALL.judge(found.network, teacher)["bits"]
    assert found.believed
    assert 1e-8 < error < 3 * layered_refinement.error_bound(found, x) < 1e-3


def test_what_is_no_such_network_is_not_believed() -> None:
    teacher, run = SMALL.draw(4), Run.seeded(0)
    x = run.normal(300, 8)
    assert not layered_refinement.fit(teacher, x, teacher(x) + 1e-5 * x[:, :3] ** 2, noise=0.0).believed


# --- the whole -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        *("D=8,widths=6-4-3", "D=8,widths=6-4-3,output=identity", "D=12,widths=11-8-5-4", "D=8,widths=6-4-9"),
        *("D=8,widths=6-4-3,activation=erf", "D=8,widths=6-6-3", "D=8,widths=6-7-3", "D=12,widths=11-6-6-5"),
        *("D=8,widths=10-5-4", "D=12,widths=10-12-6-6", "D=10,widths=12-11-6"),
    ],
)
def test_deep_networks_are_identified_to_the_last_bits(options: str) -> None:
    record = paramid.run("peel", f"pyramid:{options}", seed=1, throw=True, judge_inputs=100)
    assert (record.status.name, record.metrics["exact"]) == ("FINISHED", 1)
    assert record.metrics["bits"] > 36
    assert record.claims[0].metrics["entangled_error_1"] < 1e-6


@pytest.mark.parametrize(
    ("options", "rows"),
    [("D=8,widths=6-4-3", 3.9), ("D=20,widths=10-8-5", 2.4), ("D=12,widths=11-8-5-4", 3.2), ("D=8,widths=6-6-3", 5.8)],
)
def test_exact_values_are_asked_a_few_times_for_each_parameter(options: str, rows: float) -> None:
    record = paramid.run("peel", f"pyramid:{options}", seed=1, throw=True, judge_inputs=100)
    assert record.metrics["exact"] == 1
    assert record.metrics["rows_per_parameter"] < 1.2 * rows


def test_noise_is_met_with_an_honest_bound() -> None:
    record = paramid.run("peel", "pyramid:D=8,widths=6-4-3,noise=1e-08", seed=1, throw=True, judge_inputs=100)
    assert record.metrics["identified"] == 1
    assert record.metrics["weight_error"] < 10 * record.stats["error_bound"]


Teacher = Callable[[Tensor], Tensor]


def ended(teacher: Teacher, family: Pyramid) -> Iterator[Claim]:
    method = Peel(points=12, circles=4)
    oracle = CountingOracle(teacher, family.spec, access=method.access, seed=0, device=torch.device("cpu"))
    return method.identify(oracle, Run.seeded(0))


@pytest.mark.parametrize(
    ("true", "told"), [((6, 4, 3), (5, 4, 3)), ((5, 4, 3), (6, 4, 3)), ((6, 5, 3), (6, 4, 3)), ((6, 3, 3), (6, 4, 3))]
)
def test_wrong_widths_are_given_up(true: tuple[int, ...], told: tuple[int, ...]) -> None:
    with pytest.raises(GiveUp):
        list(ended(replace(SMALL, widths=true).draw(0), replace(SMALL, widths=told)))


@pytest.mark.slow
def test_a_network_with_kinks_is_given_up() -> None:
    smooth = SMALL.draw(0)
    kinked = Network(smooth.weights, smooth.biases, ("tanh", "relu", "identity"))
    with pytest.raises(GiveUp):
        list(ended(kinked, SMALL))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"widths": (6, None)}, "needs to know the number"),
        ({"widths": (6,), "activations": ("tanh", "identity")}, "two hidden layers"),
        ({"activations": ("tanh", "relu", "identity")}, "cannot invert layers of tanh, relu"),
        ({"activations": ("softplus",) * 2 + ("identity",)}, "cannot invert"),
        ({"norms": "free"}, None),
        ({"norms": "free", "noise": 1e-8}, "needs unit weight vectors or exact"),
        ({"outer": "ones"}, "free outer weights"),
        ({"noise": 1e-3}, "noise 0.001 drowns"),
        ({"inputs": 5}, None),
        ({"widths": (7, 7, 3), "activations": ("tanh",) * 3 + ("identity",)}, None),
        (
            {"widths": (6, 7, 4), "activations": ("tanh",) * 3 + ("identity",)},
            "17 neurons from layer 1 on lie in 6 dim",
        ),
        ({"inputs": 4}, "10 neurons from layer 1 on lie in 4 dimensions: beyond 6"),
        ({"widths": (6, 3, 3), "activations": ("tanh",) * 3 + ("identity",)}, "lie in 3 dimensions: beyond 4"),
        ({"widths": (6, 6), "outputs": 1}, "12 neurons from layer 1 on exceed 6 = 6 dimensions x 1 outputs"),
        ({"inputs": 10**6, "widths": (10**5, 10**3)}, "normal equations"),
    ],
)
def test_it_declines_with_a_reason(changes: dict[str, object], reason: str | None) -> None:
    said = Peel().declines(replace(SMALL.spec, **changes))
    assert said is None if reason is None else re.search(reason, str(said))


def test_options_without_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="radius is 1; at least 100 was wanted"):
        Peel(radius=1)
