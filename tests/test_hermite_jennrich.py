"""Exact coefficients give the network to rounding, samples give it to their noise, and noise gives nothing."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from paramid import Access, Claim, Directions, Function, GiveUp, Network, Run, Spec
from paramid.methods.hermite import relu_scalars
from paramid.methods.hermite.function_check import missed, told
from paramid.methods.hermite.moment_estimates import Moments
from paramid.methods.hermite_jennrich import HermiteJennrich, distinct
from paramid.oracle.counting import CountingOracle
from paramid.tasks.biased_relu import BiasedRelu, ReluNetwork
from paramid.words import hermite
from paramid.words.neuron_distances import assign, distances

F64 = torch.float64
CPU = torch.device("cpu")
Black = Callable[[Tensor], Tensor]


def spec_of(d: int, m: int | None, **options: object) -> Spec:
    known = {"norms": "unit", "output_bias": "zero", "samples": 20_000} | options
    return Spec(inputs=d, widths=(m,), activations=("relu", "identity"), **known)  # type: ignore[arg-type]


def play(method: HermiteJennrich, teacher: Black, spec: Spec, seed: int = 0) -> tuple[list[Claim], str]:
    """The claims, and why it gave up if it did."""
    assert method.declines(spec) is None
    oracle = CountingOracle(teacher, spec, access=method.access, seed=seed, device=CPU)
    claims: list[Claim] = []
    try:
        claims.extend(method.identify(oracle, Run.seeded(seed)))
    except GiveUp as reason:
        return claims, str(reason)
    return claims, ""


def drawn(task: BiasedRelu, method: HermiteJennrich, seed: int = 0) -> tuple[list[Claim], str, ReluNetwork]:
    teacher = task.draw(seed)
    return *play(method, teacher, task.spec, seed), teacher


def last_network(claims: list[Claim]) -> Network:
    return [c for c in claims if isinstance(c, Network)][-1]


def parameter_error(truth: Network, found: Network, free: bool = False) -> float:
    """max over matched units of ‖w - w̃‖ + |a - ã| + |b - b̃|, for a joint sign of (w, b) where it is free."""
    if found.widths != truth.widths:
        return math.inf

    def gaps(sign: int) -> Tensor:
        (w, a), (v, c) = truth.weights, found.weights
        b, e = truth.biases[0], found.biases[0]
        return distances(w, sign * v) + (a - c.T).abs() + (b[:, None] - sign * e).abs()

    cost = torch.minimum(gaps(1), gaps(-1)) if free else gaps(1)
    return float(cost[assign(cost)].max())


def dependent_triple() -> ReluNetwork:
    """Σ_S a w = 0 and Σ_S a b = 0: turning the units of S changes no value."""
    h = math.sqrt(0.5)
    w = torch.tensor([[1.0, 0.0, -h], [0.0, 1.0, -h]], dtype=F64)
    b = torch.tensor([0.7, -0.3, -0.4 * h], dtype=F64)
    return ReluNetwork.shallow(w, b, "relu", torch.tensor([1.0, 1.0, math.sqrt(2)], dtype=F64))


# Exact coefficients


@pytest.mark.parametrize(("D", "m", "s_min"), [(5, 5, 0.25), (10, 10, 0.05), (6, 3, 0.25), (1, 1, 0.1)])
@pytest.mark.parametrize("signs", relu_scalars.RULES)
@pytest.mark.parametrize("seed", [0, 1])
def test_as_many_units_as_inputs_are_told_to_rounding(D: int, m: int, s_min: float, signs: str, seed: int) -> None:
    claims, reason, teacher = drawn(
        BiasedRelu(D=D, m=m, s_min=s_min), HermiteJennrich(moments="exact", signs=signs), seed
    )
    assert [type(c) for c in claims] == [Directions, Network], reason
    assert parameter_error(teacher, last_network(claims)) < 1e-8


@pytest.mark.parametrize(("order", "D", "m"), [(2, 4, 8), (2, 5, 12), (3, 3, 8)])
@pytest.mark.parametrize("seed", [0, 1])
def test_more_units_than_inputs_are_told_but_for_signs(order: int, D: int, m: int, seed: int) -> None:
    method = HermiteJennrich(moments="exact", order=order)
    claims, reason, teacher = drawn(BiasedRelu(D=D, m=m, s_min=0.01), method, seed)
    assert not reason
    assert parameter_error(teacher, last_network(claims), free=True) < 1e-8
    x = Run.seeded(3).normal(500, D)
    end = claims[-1]
    assert isinstance(end, Network | Function)
    torch.testing.assert_close(end(x), teacher(x))


@pytest.mark.parametrize(("order", "D", "m"), [(2, 4, 8), (3, 3, 8)])
def test_their_signs_are_decided_by_the_affine_rest(order: int, D: int, m: int) -> None:
    method = HermiteJennrich(moments="exact", order=order, signs="midpoint")
    claims, _, teacher = drawn(BiasedRelu(D=D, m=m, s_min=0.01), method)
    assert [type(c) for c in claims] == [Directions, Network]
    assert parameter_error(teacher, last_network(claims)) < 1e-8


@pytest.mark.parametrize(("order", "m"), [(1, 5), (2, 8)])
@pytest.mark.parametrize("known", [True, False])
def test_roots_of_the_polynomials_lose_no_unit(order: int, m: int, known: bool) -> None:
    task = BiasedRelu(D=5, m=m, biases="roots", known=known, s_min=0.1)
    claims, reason, teacher = drawn(task, HermiteJennrich(moments="exact", order=order))
    assert not reason
    assert parameter_error(teacher, last_network(claims), free=order > 1) < 1e-8


class Perturbed:
    """A teacher whose coefficients are off by `size`."""

    def __init__(self, teacher: ReluNetwork, size: float) -> None:
        self.teacher, self.size = teacher, size

    def __call__(self, x: Tensor) -> Tensor:
        return self.teacher(x)

    def moments(self, order: int) -> Tensor:
        off = Run.seeded(order).normal(1, hermite.entries(self.teacher.inputs, order))[0]
        return self.teacher.moments(order) + self.size * off


def test_the_error_is_linear_in_that_of_the_coefficients() -> None:
    teacher = BiasedRelu(D=5, m=4, weights="orthonormal").draw(0)
    errors = []
    for size in (1e-13, 1e-11):
        claims, _ = play(HermiteJennrich(moments="exact"), Perturbed(teacher, size), spec_of(5, 4))
        errors.append(parameter_error(teacher, last_network(claims)))
    assert math.log10(errors[1] / errors[0]) / 2 == pytest.approx(1, abs=0.3)


def test_coefficients_of_something_else_are_given_up() -> None:
    """The rank is full and no network explains it."""
    teacher = Perturbed(BiasedRelu(D=4, m=3).draw(0), 0.3)
    _, reason = play(HermiteJennrich(moments="exact"), teacher, spec_of(4, 3))
    assert "misses" in reason


@pytest.mark.parametrize("signs", relu_scalars.RULES)
def test_signs_that_do_not_matter_are_claimed_by_nobody(signs: str) -> None:
    teacher = dependent_triple()
    claims, reason = play(HermiteJennrich(moments="exact", order=2, signs=signs), teacher, spec_of(2, 3))
    assert not reason
    assert parameter_error(teacher, last_network(claims), free=True) < 1e-8
    x = Run.seeded(3).normal(500, 2)
    end = claims[-1]
    assert isinstance(end, Function)
    torch.testing.assert_close(end(x), teacher(x))


def test_units_that_look_affine_are_left_out_of_the_count() -> None:
    task = BiasedRelu(D=4, m=4, biases="large", N=20_000)
    claims, reason, _ = drawn(task, HermiteJennrich(control=2))
    end = claims[-1]
    assert reason or isinstance(end, Function)


# Samples


@pytest.mark.parametrize(("control", "bar"), [(-1, 2.0), (2, 0.3)])
def test_samples_give_the_network_to_their_noise(control: int, bar: float) -> None:
    task = BiasedRelu(D=5, m=3, weights="orthonormal", N=100_000)
    claims, _, teacher = drawn(task, HermiteJennrich(control=control, signs="midpoint"))
    assert parameter_error(teacher, last_network(claims)) < bar


def test_labels_of_pure_noise_are_given_up() -> None:
    def noise(x: Tensor) -> Tensor:
        return torch.sin(1e6 * x[:, :1])

    for spec in (spec_of(4, 3), spec_of(4, None), spec_of(4, 3, noise=1.0)):
        _, reason = play(HermiteJennrich(control=2), noise, spec)
        assert reason


def test_an_unknown_number_of_units_is_counted() -> None:
    task = BiasedRelu(D=5, m=3, weights="orthonormal", N=100_000, known=False, bias=0.8)
    claims, _, _ = drawn(task, HermiteJennrich(control=2))
    assert last_network(claims).widths == (3,)


def test_label_noise_is_no_misfit_and_hides_none() -> None:
    f = BiasedRelu(D=3, m=2).draw(0)
    x = Run.seeded(0).normal(50_000, 3)
    y = f(x) + 0.1 * Run.seeded(1).normal(50_000, 1)
    v, c = torch.zeros(3, dtype=F64), torch.zeros(1, dtype=F64)
    assert missed([(x, y)], f, v, c, 0.0) > 0.05
    assert missed([(x, y)], f, v, c, 0.1) < 0.05
    assert missed([(x[:50], y[:50])], f, v, c, 10.0) == math.inf


def test_a_network_is_told_when_neither_a_weight_nor_signs_could_be_others() -> None:
    f = BiasedRelu(D=3, m=2, biases="0.5--1.5", bias=0).draw(0)
    assert told(f, 1e-4, Run.seeded(0))
    assert not told(f, 1e-2, Run.seeded(0))  # the second unit is seldom awake
    assert not told(dependent_triple(), 0.0, Run.seeded(0))


# Stages


def exact_moments(f: Network, orders: range) -> Moments:
    tensors = hermite.shallow_tensors(f.weights[0], f.biases[0], f.weights[1][:, 0], "relu", orders)
    return Moments(f.inputs, tensors, dict.fromkeys(orders, 0.0))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_scalars_take_the_sign_of_their_columns(order: int) -> None:
    f = BiasedRelu(D=4, m=4, biases="0-1--1-1.7320508075688772").draw(0)
    signs = torch.tensor([1.0, -1, -1, 1], dtype=F64)
    b, a = relu_scalars.recover_scalars(exact_moments(f, range(9)), f.weights[0] * signs, order)
    torch.testing.assert_close(b, f.biases[0] * signs)
    torch.testing.assert_close(a, f.weights[1][:, 0])


def test_the_midpoint_decides_signs_that_the_printed_rule_loses() -> None:
    wrong = {"printed": 0, "midpoint": 0}
    for seed in range(30):
        f = BiasedRelu(D=8, m=8, bias=2.5, weights="orthonormal").draw(seed)
        run, signs = Run.seeded(seed), torch.ones(8, dtype=F64)
        signs[::2] = -1
        b = f.biases[0] * signs + 0.02 * run.normal(1, 8)[0]
        first = exact_moments(f, range(2)).tensors[1] + 0.01 * run.normal(1, 8)[0]
        for rule in wrong:
            found = relu_scalars.fix_signs(first, f.weights[0] * signs, b, f.weights[1][:, 0], rule=rule)
            wrong[rule] += int((found != signs).sum())
    assert wrong["midpoint"] == 0
    assert wrong["printed"] > 0


def test_copies_of_a_direction_are_one_and_the_highest_stays() -> None:
    w = torch.tensor([[1.0, -0.999, 0.0], [0.0, -0.01, 1.0]], dtype=F64)
    heights = torch.tensor([1.0, 5.0, 2.0], dtype=F64)
    assert distinct(w, heights, 0.3).tolist() == w[:, [1, 2]].tolist()
    assert distinct(w, heights, 1e-3).shape[1] == 3


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (spec_of(4, 5), "5 units exceed"),
        (spec_of(4, 3, samples=5), "5 samples are too few"),
        (spec_of(4, 3, outputs=2), "one linear output"),
        (spec_of(4, 3, input_law="uniform"), "standard normal inputs"),
        (spec_of(400, 3), "doubles"),
        (Spec(inputs=4, widths=(3,), activations=("tanh", "identity")), "not of tanh"),
        (Spec(inputs=4, widths=(3, 2), activations=("relu", "relu", "identity")), "one hidden layer"),
    ],
)
def test_it_declines_what_it_cannot_do(spec: Spec, why: str) -> None:
    assert why in str(HermiteJennrich().declines(spec))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"order": 4}, "order is 4"),
        ({"moments": "some"}, "samples or exact"),
        ({"tries": 0}, "tries is 0"),
        ({"N": 1}, "N is 1"),
        ({"control": -2}, "control is -2"),
        ({"signs": "luck"}, "printed or midpoint"),
    ],
)
def test_options_are_checked(options: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        HermiteJennrich(**options)  # type: ignore[arg-type]


def test_it_asks_for_what_it_declares() -> None:
    assert HermiteJennrich().access == {Access.SAMPLES}
    assert HermiteJennrich(moments="exact").access == {Access.MOMENTS}
