"""What the judge of ReLU sums must not see, what it must not miss, and what hidden units leave of themselves."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import paramid
from paramid import Directions, Function, Network, Run, task
from paramid.judging.metrics import Unjudgeable
from paramid.judging.output_errors import score_outputs
from paramid.tasks.biased_relu import BiasedRelu
from paramid.tasks.relu_units import Units, score, visible
from paramid.words import random_streams
from paramid.words.network import permute

F64 = torch.float64
seeds, sizes = st.integers(0, 10**6), st.integers(2, 6)


def relus(w: Tensor, b: Tensor, a: Tensor) -> Network:
    return Network.shallow(w, b, "relu", a)


def drawn(d: int, m: int, seed: int) -> Network:
    run = Run.seeded(seed)
    a = run.normal(1, m)[0]
    return relus(run.sphere(m, d).T.contiguous(), run.normal(1, m)[0], a + 0.3 * a.sign())


def tensor(*values: object) -> Tensor:
    return torch.tensor(values, dtype=F64)


def turned(network: Network, *which: int) -> Network:
    signs = torch.ones(network.widths[0], dtype=F64)
    signs[list(which)] = -1
    return relus(network.weights[0] * signs, network.biases[0] * signs, network.weights[1][:, 0])


def joined(*networks: Network) -> Network:
    columns = torch.cat([n.weights[0] for n in networks], 1)
    return relus(columns, torch.cat([n.biases[0] for n in networks]), torch.cat([n.weights[1] for n in networks])[:, 0])


def gap(a: Network, b: Network) -> float:
    x = Run.seeded(7).normal(1000, a.inputs)
    return float((a(x) - b(x)).abs().max())


HALF = math.sqrt(0.5)
TRIPLE = relus(tensor([1, 0, -HALF], [0, 1, -HALF]), tensor(0.7, -0.3, -0.4 * HALF), tensor(1, 1, math.sqrt(2)))


# --- what leaves the function as it is -------------------------------------------------------------------------------


@given(d=sizes, m=sizes, seed=seeds)
def test_order_and_scale_are_free(d: int, m: int, seed: int) -> None:
    truth, run = drawn(d, m, seed), Run.seeded(seed + 1)
    c = run.normal(1, m)[0].exp()
    order = torch.randperm(m, generator=run.generator)
    assert score(truth, truth)["parameter_error"] == 0
    assert score(truth, permute(truth, 0, order))["parameter_error"] < 1e-14
    w, a = truth.weights
    metrics = score(truth, permute(relus(w * c, truth.biases[0] * c, a[:, 0] / c), 0, order))
    assert metrics["parameter_error"] < 1e-13
    assert (metrics["identified"], metrics["exact"], metrics["affine_error"]) == (1, 1, 0)


def test_a_dependent_triple_may_be_turned_and_only_as_a_whole() -> None:
    assert gap(TRIPLE, turned(TRIPLE, 0, 1, 2)) < 1e-14
    metrics = score(TRIPLE, turned(TRIPLE, 0, 1, 2))
    assert metrics["parameter_error"] < 1e-15
    assert (metrics["identified"], metrics["exact"], metrics["sign_accuracy"]) == (1, 1, 1)
    for part in ((0,), (1, 2), (0, 2)):
        metrics = score(TRIPLE, turned(TRIPLE, *part))
        assert metrics["parameter_error"] > 1.4
        assert metrics["parameter_error_unsigned"] < 1e-15
        assert (metrics["identified"], metrics["exact"]) == (0, 0)


@given(seed=seeds)
def test_a_triple_among_other_units_may_be_turned_and_they_may_not(seed: int) -> None:
    flat = joined(TRIPLE, drawn(2, 2, seed))
    whole = permute(turned(flat, 0, 1, 2), 0, torch.randperm(5, generator=Run.seeded(seed).generator))
    assert gap(flat, whole) < 1e-13
    assert score(flat, whole)["parameter_error"] < 1e-13
    assert score(flat, turned(flat, 0, 1, 2, 3))["parameter_error"] > 0.1


@given(defect=st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_a_set_that_almost_depends_costs_what_turning_it_changes(defect: float) -> None:
    truth = relus(TRIPLE.weights[0], TRIPLE.biases[0] + tensor(defect, 0, 0), TRIPLE.weights[1][:, 0])
    metrics = score(truth, turned(truth, 0, 1, 2))
    assert metrics["parameter_error"] == metrics["affine_error"] == pytest.approx(defect, rel=1e-4)
    assert metrics["exact"] == float(defect < 1e-8)
    assert metrics["bits"] <= -math.log2(0.99 * defect)


@given(d=sizes, m=sizes, seed=seeds)
def test_signs_of_generic_units_count(d: int, m: int, seed: int) -> None:
    truth = drawn(d, m, seed)
    metrics = score(truth, turned(truth, 0))
    assert gap(truth, turned(truth, 0)) > 1e-3
    assert metrics["parameter_error"] > 1e-2
    assert metrics["parameter_error_unsigned"] == 0
    assert metrics["identified"] == 0


# --- what an error costs ---------------------------------------------------------------------------------------------


@given(d=sizes, m=sizes, seed=seeds, e=st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_the_error_is_the_sum_of_a_units_three_errors(d: int, m: int, seed: int, e: float) -> None:
    truth, run = drawn(d, m, seed), Run.seeded(seed + 1)
    w, a = truth.weights
    moved = w + e * run.normal(d, m)
    moved = moved / moved.norm(dim=0)
    b, outer = truth.biases[0] + e * run.normal(1, m)[0], a[:, 0] + e * run.normal(1, m)[0]
    expected = (w - moved).norm(dim=0) + (truth.biases[0] - b).abs() + (a[:, 0] - outer).abs()
    metrics = score(truth, relus(moved, b, outer))
    assert metrics["parameter_error"] == pytest.approx(float(expected.max()), rel=1e-4)
    assert metrics["parameter_error_unsigned"] == pytest.approx(float(expected.max()), rel=1e-4)


@given(d=sizes, m=sizes, seed=seeds)
def test_silence_costs_sqrt_2_and_the_scalars_and_nonsense_no_more(d: int, m: int, seed: int) -> None:
    truth = drawn(d, m, seed)
    (w, a), b = truth.weights, truth.biases[0]
    silence = math.sqrt(2) + a[:, 0].abs() + b.abs()
    missing = score(truth, permute(truth, 0, torch.arange(m - 1)))
    assert missing["parameter_error"] == pytest.approx(float(silence[-1]))
    wild = score(truth, relus(w, 1e200 * b, 1e200 * a[:, 0]))
    assert wild["parameter_error"] <= float(silence.max()) * (1 + 1e-12)
    more = score(truth, joined(truth, drawn(d, 1, seed + 1)))
    assert more["parameter_error"] == pytest.approx(float(silence.max()))
    for metrics in (missing, wild, more):
        assert (metrics["identified"], metrics["exact"]) == (0, 0)


@given(d=sizes, m=sizes, seed=seeds)
def test_one_unit_claimed_twice_is_not_two(d: int, m: int, seed: int) -> None:
    truth = drawn(d, m, seed)
    order = torch.arange(m)
    order[0] = m - 1
    assert score(truth, permute(truth, 0, order))["identified"] == 0


@given(seed=seeds)
def test_another_network_is_not_identified(seed: int) -> None:
    relu = BiasedRelu(D=4, m=3)
    assert relu.judge(relu.truth(relu.draw(seed + 1), Network), relu.draw(seed))["identified"] == 0


# --- units that no sample shows --------------------------------------------------------------------------------------

LARGE = BiasedRelu(D=6, m=6, biases="large", weights="orthonormal")


def parts(truth: Network) -> tuple[Network, Tensor]:
    """The units that are seen, and the affine function of the others."""
    seen = Units.of(truth).seen
    assert seen.tolist() == [False] * 3 + [True] * 3
    w, b, a = truth.weights[0], truth.biases[0], truth.weights[1][:, 0]
    function = torch.cat([w, b[None]]) @ (a * (~seen & (b > 0)))
    return permute(truth, 0, seen.nonzero()[:, 0]), function


def pair(function: Tensor) -> Network:
    """σ(z) - σ(-z) = z."""
    v, c = function[:-1, None], function[-1:]
    return relus(torch.cat([v, -v], 1), torch.cat([c, -c]), tensor(1, -1))


@given(seed=seeds)
def test_the_sum_of_hidden_units_may_be_said_in_other_words(seed: int) -> None:
    truth = LARGE.draw(seed)
    seen, function = parts(truth)
    said = joined(pair(function), seen)
    assert gap(truth, said) < 1e-12
    metrics = LARGE.judge(said, truth)
    assert metrics["error"] == metrics["parameter_error"] < 1e-12
    assert (metrics["identified"], metrics["exact"], metrics["excess"]) == (1, 1, 0)
    whole = LARGE.judge(LARGE.truth(truth, Network), truth)
    assert (whole["error"], whole["exact"]) == (0, 1)


@given(seed=seeds)
def test_the_sum_of_hidden_units_may_not_be_left_out(seed: int) -> None:
    truth = LARGE.draw(seed)
    seen, function = parts(truth)
    metrics = LARGE.judge(seen, truth)
    expected = float(function[:-1].norm() + function[-1].abs())
    assert metrics["parameter_error"] == metrics["affine_error"] == pytest.approx(expected)
    assert metrics["weight_error"] < 1e-14
    assert metrics["identified"] == 0


def test_nonsense_about_hidden_units_costs_no_more_than_silence() -> None:
    truth = LARGE.draw(0)
    seen, function = parts(truth)
    wild = LARGE.judge(joined(pair(1e9 * function), seen), truth)
    assert wild["affine_error"] > 1e8
    silence = max(float(Units.of(seen).silence.max()), float(function[:-1].norm() + function[-1].abs()))
    assert wild["error"] == pytest.approx(silence)
    assert wild["identified"] == 0


@given(seed=seeds, unit=st.integers(0, 2))
def test_an_affine_sum_takes_up_a_turned_unit(seed: int, unit: int) -> None:
    truth = LARGE.draw(seed)
    seen, function = parts(truth)
    lifted = torch.cat([seen.weights[0], seen.biases[0][None]])[:, unit] * seen.weights[1][unit]
    said = joined(pair(function + lifted), turned(seen, unit))
    assert gap(truth, said) < 1e-12
    assert LARGE.judge(said, truth)["exact"] == 1
    other = LARGE.judge(joined(pair(function), turned(seen, unit)), truth)
    assert (other["identified"], other["exact"]) == (0, 0)


def test_where_nothing_is_hidden_an_affine_part_is_in_excess() -> None:
    truth = drawn(3, 2, 0)
    said = joined(truth, pair(tensor(1, 0, 0, 1)))
    assert (score(truth, said)["excess"], score(truth, said)["identified"]) == (2, 0)
    biased = Network(truth.weights, (truth.biases[0], tensor(0.2)), truth.activations)
    assert score(truth, biased)["parameter_error"] == pytest.approx(0.2)
    assert score(truth, biased)["identified"] == 0


def test_directions_are_those_that_can_be_seen() -> None:
    truth = LARGE.draw(0)
    columns = LARGE.truth(truth, Directions)
    assert LARGE.judge(Directions(-truth.weights[0][:, 3:]), truth)["weight_error"] == 0
    assert torch.equal(columns.columns, truth.weights[0][:, 3:])
    alone = BiasedRelu(D=3, m=2, biases="6-7").draw(0)
    assert Units.of(alone).seen.tolist() == [True, False]


# --- how many can be seen --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bias", "seen"), [(0, 3), (2.5, 3), (3.5, 2), (6, 2)])
def test_a_unit_sinks_into_the_noise_as_its_bias_grows(bias: float, seen: int) -> None:
    relu = task(f"biased-relu:D=6,m=3,biases={bias},N=200000,weights=orthonormal")
    assert relu.judge(relu.draw(0), relu.draw(0))["visible"] == seen


def test_more_samples_show_more_units_and_noise_fewer() -> None:
    network = BiasedRelu(D=5, m=5, bias=3).draw(2)
    counts = [visible(network, samples=n, noise=0.0, order=1) for n in (10, 10**3, 10**5, 10**9)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 5
    assert visible(network, samples=10**4, noise=10.0, order=1) == 0


# --- claims of another kind ------------------------------------------------------------------------------------------


def test_what_cannot_be_compared_is_refused() -> None:
    relu = BiasedRelu(D=3, m=2)
    truth = relu.draw(0)
    for claim in (Network.shallow(truth.weights[0], truth.biases[0], "tanh"), drawn(4, 2, 0)):
        with pytest.raises(Unjudgeable, match="were wanted"):
            relu.judge(claim, truth)
    assert relu.judge(Function(truth), truth) == {}


def test_outputs_are_compared_in_the_mean() -> None:
    truth = drawn(3, 2, 0)
    x = random_streams.normal(1000, 3, random_streams.generator(0), torch.device("cpu"), F64)
    shifted = Network(truth.weights, (truth.biases[0], tensor(0.5)), truth.activations)
    metrics = score_outputs(truth, shifted, x.split(300))
    assert metrics["output_rmse"] == pytest.approx(0.5)
    assert metrics["output_error"] == pytest.approx(0.5)


@pytest.mark.parametrize("options", ["D=4,m=6,s_min=0.1", "D=4,m=4,biases=large", "D=4,m=3,known=false", "D=1,m=1"])
def test_the_controls_stand_before_it(options: str) -> None:
    truth = paramid.run("truth", f"biased-relu:{options}", throw=True, judge_inputs=100)
    assert (truth.metrics["error"], truth.metrics["exact"], truth.metrics["identified"]) == (0, 1, 1)
    assert not paramid.run("random", f"biased-relu:{options}", throw=True, judge_inputs=100).metrics["identified"]
