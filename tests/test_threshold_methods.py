"""The methods for threshold units before planted teachers, and before what is none."""

import dataclasses
import math
from collections.abc import Callable
from statistics import median

import pytest
import torch
from torch import Tensor

import paramid
from paramid import Access, GiveUp, Oracle, Record, Run
from paramid.contracts import registry
from paramid.methods import threshold_graph
from paramid.methods.threshold_boundary import ThresholdBoundary
from paramid.methods.thresholds import boundary_planes, correlations, polynomial_fit, quartic_minima, unit_fits
from paramid.methods.thresholds.angle_search import firing
from paramid.oracle.counting import CountingOracle
from paramid.words import hermite
from paramid.words.spec import Spec
from paramid.words.threshold_units import Thresholded, Units

F64 = torch.float64


def played(method: str, task: str, seed: int = 0) -> Record:
    return paramid.run(method, f"threshold:{task}", seed=seed, throw=True, judge_inputs=1000)


def oracle_of(teacher: object, spec: Spec) -> Oracle:
    access = frozenset({Access.QUERIES, Access.SAMPLES})
    return CountingOracle(teacher, spec, access=access, seed=0, device=torch.device("cpu"))  # type: ignore[arg-type]


LINEAR = [
    f"t={5 if unit == 'sigmoid' else 2},activation={unit},polynomial=linear,D={m},m={m},weights={weights}"
    for unit in ("relu", "step", "sigmoid")
    for m, weights in ((5, "orthonormal"), (5, "random"), (10, "random"))
]


@pytest.mark.parametrize("task", LINEAR)
@pytest.mark.parametrize("objective", ["one", "all"])
def test_exact_moments_of_linear_polynomials(task: str, objective: str) -> None:
    metrics = played(f"threshold-correlation:source=moments,objective={objective}", task).metrics
    assert metrics["angle_error"] < 1e-6
    assert metrics["coefficient_error"] < 1e-6
    assert metrics["sign_accuracy"] == 1


@pytest.mark.parametrize(("t", "bar"), [(2.5, 0.02), (3, 0.002), (4, 3e-5)])
def test_products_bend_directions_less_at_high_thresholds(t: float, bar: float) -> None:
    assert played("threshold-correlation:source=moments", f"t={t}").metrics["angle_error"] < bar


@pytest.mark.parametrize("polynomial", ["or", "intersection"])
def test_the_search_on_the_sphere_takes_coefficients_of_either_sign(polynomial: str) -> None:
    record = played("threshold-correlation:source=moments,objective=sphere", f"t=3,polynomial={polynomial}")
    assert record.metrics["angle_error"] < 0.01
    assert record.metrics["sign_accuracy"] == 1


@pytest.mark.parametrize("task", ["", "activation=relu,polynomial=linear", "polynomial=intersection"])
def test_samples_tell_units_roughly(task: str) -> None:
    metrics = played("threshold-correlation", f"N=100000,{task}".strip(",")).metrics
    assert metrics["angle_error"] < 0.25
    assert metrics["sign_accuracy"] == 1


@pytest.mark.slow
def test_the_error_falls_with_the_root_of_the_samples() -> None:
    task = "activation=relu,polynomial=linear,N={}"
    errors = [
        median(played("threshold-correlation", task.format(n), seed).metrics["angle_error"] for seed in range(5))
        for n in (100_000, 1_000_000)
    ]
    assert math.log10(errors[1] / errors[0]) == pytest.approx(-0.5, abs=0.15)


@pytest.mark.slow
def test_stage_2_sharpens_stage_1() -> None:
    record = played("threshold-correlation:stage=2,iterations=40", "D=3,m=2,N=20000")
    errors = [c.metrics["angle_error"] for c in record.claims]
    assert errors[-1] < errors[0] / 2


@pytest.mark.parametrize("source", ["samples", "queries"])
def test_rows_are_counted_where_they_come_from(source: str) -> None:
    record = played(f"threshold-correlation:source={source},N=20000", "D=3,m=2,N=30000")
    assert {"samples": record.samples, "queries": record.queries}[source] == 20000


@pytest.mark.parametrize("polynomial", ["or", "intersection", "pairs", "monotone", "no-linear", "linear"])
@pytest.mark.parametrize("unit", ["step", "relu"])
def test_queries_tell_everything(polynomial: str, unit: str) -> None:
    record = played("threshold-boundary", f"D=5,m=5,polynomial={polynomial},activation={unit},weights=mild")
    assert max(record.metrics[n] for n in ("angle_error", "threshold_error")) < 1e-10
    assert record.metrics["output_error"] < 1e-8
    assert record.metrics["exact"] == 1
    assert record.queries < 20_000


def test_samples_of_relus_tell_everything() -> None:
    record = played("threshold-boundary:source=samples", "D=4,m=3,N=50000,activation=relu,polynomial=linear")
    assert (record.metrics["exact"], record.claims[-1].kind) == (1, "Network")


def test_samples_of_steps_tell_planes_sharply() -> None:
    record = played("threshold-boundary:source=samples", "D=4,m=3,N=100000")
    errors = [c.metrics["angle_error"] for c in record.claims]
    assert errors[-1] < errors[0] / 5
    assert errors[-1] < 5e-3


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ("t=1,activation=relu,polynomial=linear", "about zero"),
        ("t=1.7320508075688772,polynomial=linear", "about zero"),
        ("t=3.029,activation=sigmoid,polynomial=linear", "about zero"),
        ("t=0", "about zero"),
        ("m=4,D=3,weights=random", "dependent"),
        ("t=0,activation=abs,polynomial=linear", "even"),
        ("D=6,m=3,activation=exponential,weights=blocks", "unit weight"),
    ],
)
def test_what_correlations_cannot_tell_is_declined(task: str, reason: str) -> None:
    record = played("threshold-correlation", task)
    assert record.status is paramid.Status.DECLINED
    assert reason in record.reason


@pytest.mark.parametrize("source", ["samples", "moments"])
def test_low_thresholds_are_given_up(source: str) -> None:
    record = played(f"threshold-correlation:source={source}", "t=1,N=100000")
    assert record.status is paramid.Status.GAVE_UP
    assert not record.claims


def constant(x: Tensor) -> Tensor:
    return 0 * x[:, :1] + 2


def permuted(x: Tensor) -> Tensor:
    return ((1e6 * x % 1)[:, :1] < 0.03).to(x.dtype)  # as good as drawn without x


@pytest.mark.parametrize("teacher", [constant, permuted])
@pytest.mark.parametrize(
    "method", ["threshold-correlation", "threshold-boundary:source=samples", "threshold-boundary:rays=20"]
)
def test_functions_without_units_are_given_up(teacher: object, method: str) -> None:
    oracle = oracle_of(teacher, registry.task("threshold:D=4,m=3,N=50000").spec)
    with pytest.raises(GiveUp):
        list(registry.method(method).identify(oracle, Run.seeded(0)))  # type: ignore[union-attr]


def test_planes_are_those_of_all_units() -> None:
    task = registry.task("threshold:D=6,m=4,weights=random")
    teacher, run = task.draw(1), Run.seeded(0)
    found = boundary_planes.planes(
        firing(oracle_of(teacher, task.spec), run), run, d=6, m=4, thresholds=(2.5, 2.5), batch=8, most=400
    )
    assert float(torch.cdist(found.columns.T, teacher.columns.T).min(dim=1).values.max()) < 1e-10
    with pytest.raises(GiveUp, match="met the planes of"):
        boundary_planes.planes(constant_fired, run, d=6, m=4, thresholds=(2.5, 2.5), batch=8, most=40)


def constant_fired(x: Tensor) -> Tensor:
    return torch.zeros(len(x), dtype=torch.bool)


RELUS = ["D=5,m=5", "D=2,m=1", "D=4,m=6,s_min=0.1", "D=6,m=3,weights=correlated"]


@pytest.mark.parametrize("options", RELUS)
def test_relus_silent_at_the_origin_are_told_to_rounding(options: str) -> None:
    for seed in range(2):
        record = paramid.run("threshold-boundary", f"biased-relu:{options},biases=negative", seed=seed, throw=True)
        assert [c.kind for c in record.claims] == ["Directions", "Network"], record.reason
        assert record.metrics["parameter_error"] < 1e-10
        assert (record.metrics["exact"], record.samples) == (1, 0)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("", "silent at the origin: biases below 0, not up to 1.5"),
        ("m=3,biases=-2--1", "not up to 1.5"),
        ("m=3,biases=-2--1-0", "not up to 0"),
        ("biases=negative,noise=0.01", "exact values"),
        ("biases=negative,known=false", "known number"),
    ],
)
def test_relus_that_may_fire_at_the_origin_are_declined(options: str, reason: str) -> None:
    declines = ThresholdBoundary().declines
    assert reason in str(declines(registry.task(f"biased-relu:{options}").spec))
    assert declines(registry.task("biased-relu:biases=negative").spec) is None


def test_every_run_has_the_same_bits() -> None:
    found, kept = set(), []
    for k in range(8):
        kept.append(torch.ones(17 + 13 * k))  # moves what is allocated next
        record = paramid.run("threshold-boundary", "biased-relu:D=4,m=6,s_min=0.1,biases=negative", throw=True)
        found.add(repr([c.metrics for c in record.claims]))
    assert len(found) == 1


def test_samples_take_one_threshold() -> None:
    spec = registry.task("biased-relu:biases=negative").spec
    assert "one known threshold" in str(ThresholdBoundary(source="samples").declines(spec))


@pytest.mark.parametrize("change", [torch.square, torch.sin, lambda y: y + (y != 0), lambda y: y + 1])
def test_what_is_no_sum_of_the_relus_told_is_given_up(change: Callable[[Tensor], Tensor]) -> None:
    task = registry.task("biased-relu:D=4,m=3,biases=negative")
    oracle = oracle_of(lambda x: change(task.draw(0)(x)), task.spec)
    with pytest.raises(GiveUp, match="miss the function by"):
        list(ThresholdBoundary().identify(oracle, Run.seeded(0)))


def test_a_unit_more_than_told_is_given_up() -> None:
    task = registry.task("biased-relu:D=4,m=3,biases=negative")
    oracle = oracle_of(task.draw(0), dataclasses.replace(task.spec, widths=(2,)))
    with pytest.raises(GiveUp, match="miss the function by"):
        list(ThresholdBoundary().identify(oracle, Run.seeded(0)))


def known(m: int, unit: str, polynomial: str) -> tuple[Oracle, Units]:
    task = registry.task(f"threshold:D={m},m={m},activation={unit},polynomial={polynomial}")
    return oracle_of(task.draw(0), task.spec), task.draw(0).units


@pytest.mark.parametrize(("m", "polynomial"), [(4, "pairs"), (9, "or"), (12, "or"), (12, "pairs"), (2, "intersection")])
def test_a_polynomial_is_fitted(m: int, polynomial: str) -> None:
    oracle, units = known(m, "step", polynomial)
    found = polynomial_fit.fit_queries(oracle, units, Run.seeded(0), unit="step")
    x = units.columns.T * 3 + torch.randn(m, m, generator=torch.Generator().manual_seed(0), dtype=F64)
    assert torch.allclose(found(x), oracle.query(x), atol=1e-9)


def test_what_is_no_polynomial_of_the_units_is_given_up() -> None:
    oracle, units = known(3, "relu", "linear")
    squared = oracle_of(lambda x: oracle.query(x).square(), oracle.spec)  # type: ignore[arg-type]
    with pytest.raises(GiveUp, match="misses the function"):
        polynomial_fit.fit_queries(squared, units, Run.seeded(0), unit="relu")


def test_rows_of_one_unit_are_that_units_alone() -> None:
    oracle, units = known(3, "relu", "linear")
    x = 2 * torch.randn(5000, 3, generator=torch.Generator().manual_seed(0), dtype=F64)
    rows = unit_fits.lonely([(x, oracle.query(x))], units, 0.0, above=True)[1]
    assert len(rows.x) > 50
    assert torch.allclose(rows.y, (rows.x @ units.columns[:, 1] - 2.5))


def test_rows_that_are_not_active_change_no_moment() -> None:
    task = registry.task("threshold:D=3,m=2,N=30000,polynomial=intersection")
    samples = oracle_of(task.draw(0), task.spec).sample(30000)
    moments, base = correlations.of_samples(samples)
    x, y = samples.tensors()
    assert base == 1
    assert torch.allclose(moments.full(1), (x * (y - 1)).mean(dim=0))


@pytest.mark.parametrize(("t", "rate", "mixing"), [(1, 0.5, 0.5), (0, 1, 0.1)])
def test_blocks_are_cliques(t: float, rate: float, mixing: float) -> None:
    task = (
        f"D=6,m=3,t={t},rate={rate},mixing={mixing},activation=exponential,weights=blocks,polynomial=monotone,N=100000"
    )
    for seed in range(3):
        assert played("threshold-graph", task, seed).metrics["weight_error"] == 0


def test_blocks_of_unequal_sizes_are_cliques() -> None:
    task = "D=12,m=3,t=1,rate=0.5,mixing=0.3,activation=exponential,weights=uneven,polynomial=monotone,N=100000"
    assert sorted(registry.task(f"threshold:{task}").draw(0).columns.sum(dim=0).tolist()) == [2, 4, 6]
    for seed in range(3):
        assert played("threshold-graph", task, seed).metrics["weight_error"] == 0


def test_cliques_of_another_size_are_given_up_where_one_is_told() -> None:
    member = registry.task("threshold:D=6,m=3,activation=exponential,weights=uneven").draw(0).columns
    alpha = member @ member.T + 0.1
    assert torch.equal(threshold_graph.cliques(alpha, 3).sum(dim=0).sort().values, member.sum(dim=0).sort().values)
    with pytest.raises(GiveUp, match="of 2 inputs"):
        threshold_graph.cliques(alpha, 3, 2)


def test_pairs_that_make_no_cliques_are_given_up() -> None:
    alpha = torch.rand(9, 9, generator=torch.Generator().manual_seed(0), dtype=F64)
    with pytest.raises(GiveUp, match="cliques"):
        threshold_graph.cliques(alpha + alpha.T, 3)


@pytest.mark.parametrize("unit", ["abs", "cosh,rate=0.7"])
@pytest.mark.parametrize("polynomial", ["linear", "monotone,mixing=0.3"])
def test_even_units_are_maxima_on_the_sphere(unit: str, polynomial: str) -> None:
    task = f"t=0,activation={unit},polynomial={polynomial}"
    assert played("threshold-correlation:source=moments,objective=sphere", task).metrics["angle_error"] < 1e-6


def test_every_start_ends_at_an_even_unit() -> None:
    teacher = registry.task("threshold:t=0,activation=abs,polynomial=monotone,mixing=0.3").draw(0)
    quartic = hermite.unfold(teacher.moments(4), 5, 4)  # of one sign with u_4, which is negative
    ends = quartic_minima.ascended(-quartic, Run.seeded(0).sphere(20, 5))
    gaps = torch.minimum(*(torch.cdist(s * ends, teacher.columns.T) for s in (1, -1)))
    assert float(gaps.min(dim=1).values.max()) < 1e-6


@pytest.mark.slow
def test_planes_are_found_without_linear_terms() -> None:
    record = played("threshold-plane:starts=1,gaussians=3000", "D=3,m=3,t=0,polynomial=no-linear")
    assert record.claims[-1].metrics["weight_error_median"] < 0.01


def test_a_search_that_does_not_arrive_says_so() -> None:
    record = played("threshold-plane:starts=1,steps=3,gaussians=200", "D=5,m=3,t=2.5")
    assert record.status is paramid.Status.GAVE_UP


def test_two_inputs_need_few_steps() -> None:
    record = played("threshold-plane:steps=25,gaussians=1000", "D=2,m=2,t=0.5")
    assert record.metrics["angle_error"] < 0.02


def test_units_are_compared_by_what_they_hold() -> None:
    teacher = registry.task("threshold:").draw(0)
    assert isinstance(teacher, Thresholded)
    assert isinstance(teacher.units, Units)
