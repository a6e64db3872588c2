"""What the judge must not see, what it must not miss, and how far it can tell errors apart."""

import math
from contextlib import suppress
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import paramid
from paramid import Directions, Function, Gram, Network, Run, Subspace
from paramid.judging import claim_scores
from paramid.judging.metrics import Metrics, Unjudgeable
from paramid.judging.output_errors import score_outputs
from paramid.judging.spans_and_directions import gram, score_directions, score_subspace, span_of_squares
from paramid.running.inside_cell import peak_mb
from paramid.tasks.shallow import Shallow
from paramid.words.activations import ACTIVATIONS
from paramid.words.network import flip, permute, turn
from paramid.words.neuron_distances import distances, match

F64 = torch.float64
CAP = math.sqrt(2)
DISTANCES = ("weight_error", "bias_error", "bias_error_max", "outer_error")
MIRRORED = [name for name, g in ACTIVATIONS.items() if g.symmetry in ("odd", "complement") and g.degree is None]
sizes, seeds = st.integers(2, 7), st.integers(0, 10**6)
depths = st.integers(1, 3)
noises = st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3])


def orthonormal(d: int, m: int, seed: int) -> Tensor:
    return torch.linalg.qr(Run.seeded(seed).normal(d, d))[0][:, :m]


def shallow(d: int, m: int, seed: int, name: str = "tanh", *, outer: bool = False) -> Network:
    """Unit columns and shifts; outer weights 1, or free and far enough from 0 to have a sign."""
    run = Run.seeded(seed)
    a = run.normal(m, 1)
    a = a + 0.1 * torch.where(a < 0, -1.0, 1.0)
    return Network.shallow(run.sphere(m, d).T.contiguous(), run.normal(1, m)[0], name, a if outer else None)


def shuffled(network: Network, seed: int) -> Network:
    for layer, width in enumerate(network.widths):
        network = permute(network, layer, torch.randperm(width, generator=Run.seeded(seed + layer).generator))
    return network


def turned(network: Network, seed: int) -> Network:
    """Some signs of every hidden layer flipped, the outer ones too."""
    for layer, width in enumerate(network.widths):
        signs = Run.seeded(seed + layer).normal(1, width)[0].sign()
        signs[0] = -1
        network = flip(network, layer, signs)
    return network


def moved(network: Network, seed: int, e: float) -> Network:
    """Every hidden weight and shift shifted by at most about `e`."""
    run, m = Run.seeded(seed + 1), network.widths[0]
    w, b = network.weights[0], network.biases[0]
    w, b = w + e * run.normal(len(w), m) / len(w) ** 0.5, b + e * run.normal(1, m)[0]
    return network.with_layers([w, network.weights[1]], [b, network.biases[1]])


def changed(network: Network, **entries: Tensor) -> Network:
    """The network with some of its arrays replaced by name."""
    arrays = {**network.arrays(), **entries}
    depth = range(len(network.weights))
    return network.with_layers([arrays[f"W{k}"] for k in depth], [arrays[f"b{k}"] for k in depth])


def nothing_wrong(metrics: Metrics, within: float = 0.0) -> None:
    assert max(metrics[name] for name in DISTANCES) <= within
    for flag in ("identified", "exact", "recovered", "sign_accuracy"):
        assert metrics[flag] == 1, flag
    assert metrics["excess"] == 0


def never_rewarded(metrics: Metrics) -> None:
    assert metrics["identified"] == 0
    assert metrics["exact"] == 0


# --- what leaves the function as it is -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACTIVATIONS)
@given(depth=depths, size=sizes, seed=seeds)
def test_the_truth_is_exact(grow: Any, name: str, depth: int, size: int, seed: int) -> None:
    truth = grow((4, *[size] * depth, 2), (name,) * depth, seed)
    metrics = claim_scores.score(truth, truth.copy())
    nothing_wrong(metrics)
    assert metrics["bits"] == 53
    if depth > 1:
        assert [metrics[f"weight_error_{layer}"] for layer in range(1, depth + 1)] == [0.0] * depth


@pytest.mark.parametrize("name", ACTIVATIONS)
@given(depth=depths, size=sizes, seed=seeds)
def test_the_judge_is_blind_to_order(grow: Any, name: str, depth: int, size: int, seed: int) -> None:
    truth = grow((4, *[size] * depth, 2), (name,) * depth, seed)
    nothing_wrong(claim_scores.score(truth, shuffled(truth, seed)), within=1e-14)  # norms are summed in another order


@pytest.mark.parametrize("name", MIRRORED)
@given(depth=depths, size=sizes, seed=seeds)
def test_the_judge_is_blind_to_joint_signs(grow: Any, name: str, depth: int, size: int, seed: int) -> None:
    truth = grow((4, *[size] * depth, 2), (name,) * depth, seed)
    nothing_wrong(claim_scores.score(truth, shuffled(turned(truth, seed), seed)), within=1e-13)


@given(depth=depths, size=sizes, seed=seeds)
def test_the_judge_is_blind_to_half_turns_of_a_sine(grow: Any, depth: int, size: int, seed: int) -> None:
    truth = grow((4, *[size] * depth, 2), ("sine",) * depth, seed)
    claim = truth
    for layer in range(depth):
        claim = turn(claim, layer, torch.arange(size, dtype=F64) - 2)
    nothing_wrong(claim_scores.score(truth, shuffled(turned(claim, seed), seed)), within=1e-13)


@given(d=st.integers(3, 8), seed=seeds)
def test_the_judge_sees_the_outer_sign_of_a_sine(d: int, seed: int) -> None:
    truth = Network.shallow(orthonormal(d, 2, seed), Run.seeded(seed).normal(1, 2)[0], "sine")
    metrics = claim_scores.score(truth, changed(truth, b0=truth.biases[0] + math.pi))
    assert metrics["outer_error"] == pytest.approx(2)
    never_rewarded(metrics)


@pytest.mark.parametrize("name", sorted(set(MIRRORED) - {"sine"}))
@given(d=st.integers(3, 8), seed=seeds, data=st.data())
def test_the_judge_sees_signs_where_the_outer_weights_are_pinned(name: str, d: int, seed: int, data: Any) -> None:
    m = data.draw(st.integers(1, d))
    wrong = data.draw(st.integers(1, m))
    truth = Network.shallow(orthonormal(d, m, seed), Run.seeded(seed).normal(1, m)[0], name)
    signs = torch.ones(m, dtype=F64)
    signs[:wrong] = -1
    claim = changed(truth, W0=truth.weights[0] * signs, b0=truth.biases[0] * signs)
    metrics = claim_scores.score(truth, shuffled(claim, seed))
    assert metrics["weight_error"] == pytest.approx(CAP, rel=1e-12)
    assert metrics["recovered"] == pytest.approx(1 - wrong / m)
    assert metrics["sign_accuracy"] == pytest.approx(1 - wrong / m)
    never_rewarded(metrics)


@given(d=sizes, m=sizes, seed=seeds)
def test_an_even_neuron_has_no_sign(d: int, m: int, seed: int) -> None:
    truth = shallow(d, m, seed, "square")
    metrics = claim_scores.score(truth, shuffled(turned(truth, seed), seed))
    nothing_wrong(metrics, within=1e-13)


@pytest.mark.parametrize("name", ["relu", "square"])
@given(d=sizes, m=sizes, seed=seeds)
def test_the_scale_of_a_homogeneous_neuron_is_free(name: str, d: int, m: int, seed: int) -> None:
    truth = shallow(d, m, seed, name, outer=True)
    c = Run.seeded(seed + 1).normal(1, m)[0].exp()
    outer = truth.weights[1] / c[:, None] ** ACTIVATIONS[name].degree
    claim = changed(truth, W0=truth.weights[0] * c, b0=truth.biases[0] * c, W1=outer)
    nothing_wrong(claim_scores.score(truth, claim), within=1e-12)


def test_a_square_split_in_two_is_the_same_square() -> None:
    truth = shallow(3, 2, 0, "square")
    halves = permute(truth, 0, torch.tensor([0, 1, 0, 1]))
    claim = changed(halves, W0=halves.weights[0] / CAP, b0=halves.biases[0] / CAP)
    metrics = Shallow(D=3, m=2, activation="square").judge(claim, truth)
    assert metrics["excess"] == 2
    assert metrics["error"] == metrics["gram_error"] <= 1e-14


def test_the_scale_of_a_tanh_is_not_free() -> None:
    truth = shallow(3, 2, 0, outer=True)
    claim = changed(truth, W0=2 * truth.weights[0], b0=2 * truth.biases[0], W1=truth.weights[1] / 2)
    assert claim_scores.score(truth, claim)["weight_error"] == pytest.approx(1)


@given(d=sizes, m=sizes, seed=seeds)
def test_squares_may_be_rotated_among_each_other(d: int, m: int, seed: int) -> None:
    truth = shallow(d, m, seed, "square")
    lifted = torch.cat([truth.weights[0], truth.biases[0][None]]) @ orthonormal(m, m, seed + 1)
    task = Shallow(D=d, m=m, activation="square")
    metrics = task.judge(changed(truth, W0=lifted[:-1], b0=lifted[-1]), truth)
    assert metrics["error"] == metrics["gram_error"] <= 1e-14
    assert metrics["exact"] == metrics["identified"] == 1
    bent = task.judge(changed(truth, W0=1.1 * lifted[:-1], b0=lifted[-1]), truth)
    assert bent["error"] > 1e-2
    never_rewarded(bent)


def test_opposite_neurons_keep_their_signs_in_any_order() -> None:
    w = orthonormal(3, 2, 0)
    truth = Network.shallow(torch.cat([w, -w[:, :1]], 1), torch.tensor([0.1, 0.2, 0.3], dtype=F64), "tanh")
    nothing_wrong(claim_scores.score(truth, permute(truth, 0, torch.tensor([2, 1, 0]))))


# --- what is never rewarded ------------------------------------------------------------------------------------------


@given(d=sizes, m=sizes, seed=seeds)
def test_one_neuron_claimed_twice_is_not_two(d: int, m: int, seed: int) -> None:
    truth = shallow(d, m, seed)
    order = torch.arange(m)
    order[0] = m - 1
    w = truth.weights[0]
    claim = changed(truth, W0=w[:, order], b0=truth.biases[0][order])
    metrics = Shallow(D=d, m=m).judge(shuffled(claim, seed), truth)
    nearest = min(float((w[:, i] - w[:, j]).norm()) for i in range(m) for j in range(i))
    assert metrics["error"] >= min(nearest, CAP) - 1e-12
    assert metrics["exact"] == 0
    assert metrics["identified"] == 0 or nearest < 1e-2


@given(d=sizes, m=sizes, extra=st.integers(1, 3), seed=seeds, copies=st.booleans())
def test_neurons_in_excess_cost_everything(d: int, m: int, extra: int, seed: int, copies: bool) -> None:
    truth, other = shallow(d, m, seed), shallow(d, extra, seed + 1)
    source = permute(truth, 0, torch.arange(extra) % m) if copies else other
    silent = torch.zeros(extra, 1, dtype=F64)  # the function stays the same
    claim = changed(
        truth,
        W0=torch.cat([truth.weights[0], source.weights[0]], 1),
        b0=torch.cat([truth.biases[0], source.biases[0]]),
        W1=torch.cat([truth.weights[1], silent]),
    )
    metrics = Shallow(D=d, m=m).judge(shuffled(claim, seed), truth)
    assert metrics["excess"] == extra
    assert metrics["error"] == CAP
    never_rewarded(metrics)


@given(d=sizes, m=sizes, extra=st.integers(1, 3), seed=seeds)
def test_directions_in_excess_cost_everything(d: int, m: int, extra: int, seed: int) -> None:
    truth = shallow(d, m, seed)
    w = truth.weights[0]
    claim = Directions(torch.cat([w, -w[:, torch.arange(extra) % m]], 1))
    metrics = Shallow(D=d, m=m).judge(claim, truth)
    assert (metrics["weight_error"], metrics["excess"], metrics["error"]) == (0, extra, CAP)
    assert claim.problem(Shallow(D=d, m=m).spec) == f"{m + extra} directions claimed, the teacher has {m} neurons"


@given(d=st.integers(3, 8), seed=seeds, data=st.data())
def test_a_missing_neuron_costs_the_square_root_of_two(d: int, seed: int, data: Any) -> None:
    m = data.draw(st.integers(2, 6))
    kept = data.draw(st.integers(1, m - 1))
    truth = shallow(d, m, seed)
    order = torch.randperm(m, generator=Run.seeded(seed).generator)[:kept]
    metrics = Shallow(D=d, m=m).judge(permute(truth, 0, order), truth)
    assert metrics["error"] == metrics["weight_error"] == metrics["bias_error_max"] == CAP
    assert metrics["bias_error"] == pytest.approx(CAP * (m - kept) ** 0.5)
    assert metrics["recovered"] == pytest.approx(kept / m)
    assert metrics["excess"] == 0
    never_rewarded(metrics)


@given(d=sizes, m=sizes, seed=seeds)
def test_a_neuron_far_from_all_is_both_missing_and_in_excess(d: int, m: int, seed: int) -> None:
    truth = shallow(d, m, seed)
    scale = torch.ones(m, dtype=F64)
    scale[0] = 10
    metrics = Shallow(D=d, m=m).judge(shuffled(changed(truth, W0=truth.weights[0] * scale), seed), truth)
    assert metrics["error"] == metrics["weight_error"] == metrics["bias_error"] == CAP
    assert metrics["excess"] == 1
    never_rewarded(metrics)


@given(seed=seeds, layer=st.integers(0, 1))
def test_a_neuron_missing_inside_is_charged_to_its_layer(grow: Any, seed: int, layer: int) -> None:
    truth = grow((5, 4, 3, 1), ("tanh", "tanh"), seed)
    metrics = claim_scores.score(truth, permute(truth, layer, torch.arange(1, truth.widths[layer])))
    assert metrics["weight_error"] == metrics[f"weight_error_{layer + 1}"] == CAP
    never_rewarded(metrics)


@pytest.mark.parametrize("key", ["W0", "b0", "W1", "b1"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers_are_refused_at_the_door(key: str, bad: float) -> None:
    truth = shallow(4, 3, 0)
    value = truth.arrays()[key].clone()
    value.view(-1)[-1] = bad
    claim = changed(truth, **{key: value})
    assert claim.problem(Shallow(D=4, m=3).spec) == f"{key} holds 1 non-finite values"
    with pytest.raises(ValueError, match=f"^estimate: {key} holds non-finite values$"):
        paramid.judge(truth, claim)


@pytest.mark.parametrize("kind", [Directions, Gram, Subspace])
def test_claims_of_other_kinds_hold_numbers_too(kind: type) -> None:
    size = 10 if kind is Subspace else 4
    problem = kind(torch.full((size, 4), math.nan, dtype=F64)).problem(Shallow(D=4, m=4).spec)
    assert problem is not None
    assert problem.endswith(f"holds {4 * size} non-finite values")


@pytest.mark.parametrize(
    "key",
    [
        "W0",
        "b0",
        "W1",
        "b1",
    ],
)
def test_the_judge_itself_does_not_reward_nan(key: str) -> None:
    truth = shallow(4, 3, 0)
    claim = changed(truth, **{key: torch.full_like(truth.arrays()[key], math.nan)})
    with suppress(ValueError):  # a refusal is as good
        never_rewarded(claim_scores.score(truth, claim))


@pytest.mark.parametrize("huge", [1e100, 1e200])
def test_huge_squares_have_no_bits(huge: float) -> None:
    truth = shallow(4, 3, 0, "square")
    metrics = claim_scores.score(truth, changed(truth, W0=huge * truth.weights[0]))
    never_rewarded(metrics)
    assert metrics["bits"] < 0
    assert metrics["gram_error"] > 1


# --- how far ---------------------------------------------------------------------------------------------------------


@given(d=sizes, m=sizes, seed=seeds, e=noises, name=st.sampled_from(["tanh", "erf", "logistic", "softplus"]))
def test_small_noise_is_measured_without_a_floor(d: int, m: int, seed: int, e: float, name: str) -> None:
    truth = shallow(d, m, seed, name)
    gap = truth.weights[0][:, :, None] - truth.weights[0][:, None]
    claim = moved(truth, seed, e)
    metrics = claim_scores.score(truth, shuffled(claim, seed))
    away, shift = claim.weights[0] - truth.weights[0], (claim.biases[0] - truth.biases[0]).abs()
    if float((gap.norm(dim=0) + 9 * torch.eye(m, dtype=F64)).min()) < 0.1:
        return  # two neurons that nearly coincide may be exchanged
    assert metrics["weight_error"] == pytest.approx(float(away.norm(dim=0).max()), rel=1e-10)
    assert metrics["bias_error"] == pytest.approx(float(shift.norm()), rel=1e-10)
    assert metrics["bias_error_max"] == pytest.approx(float(shift.max()), rel=1e-10)
    assert metrics["bits"] == pytest.approx(-math.log2(max(float(away.abs().max()), float(shift.max()))))
    assert metrics["exact"] == (metrics["bits"] > -math.log2(1e-8))


@given(d=sizes, m=sizes, seed=seeds, e=noises)
def test_directions_are_measured_without_a_floor_up_to_sign(d: int, m: int, seed: int, e: float) -> None:
    w = orthonormal(max(d, m), m, seed)
    claim = w + e * Run.seeded(seed + 1).normal(len(w), m) / len(w)
    signs = Run.seeded(seed + 2).normal(1, m)[0].sign()
    order = torch.randperm(m, generator=Run.seeded(seed).generator)
    metrics = claim_scores.score(Directions(w), Directions((claim * signs)[:, order]))
    assert metrics["weight_error"] == pytest.approx(float((claim - w).norm(dim=0).max()), rel=1e-10)
    assert metrics["recovered"] == 1


@given(e=noises, key=st.sampled_from(["W1", "b1"]), seed=seeds)
def test_the_outer_layer_counts_too(e: float, key: str, seed: int) -> None:
    truth = shallow(4, 3, seed, outer=True)
    value = truth.arrays()[key].clone()
    value.view(-1)[0] += e
    metrics = claim_scores.score(truth, changed(truth, **{key: value}))
    assert metrics["outer_error"] == pytest.approx(e, rel=1e-3)
    assert metrics["bits"] == pytest.approx(-math.log2(e), rel=1e-3)
    assert metrics["exact"] == (e < 1e-8)


@given(d=sizes, m=sizes, seed=seeds)
def test_a_right_network_with_wrong_shifts_is_not_identified(d: int, m: int, seed: int) -> None:
    truth = shallow(d, m, seed, outer=True)
    for claim in (
        changed(truth, b0=truth.biases[0] + 0.1),
        changed(truth, b1=truth.biases[1] + 0.1),
        changed(truth, W1=truth.weights[1] * (1 + 1 / float(truth.weights[1].abs().min()))),
    ):
        never_rewarded(claim_scores.score(truth, claim))


@given(m=st.integers(1, 6), extra=st.integers(0, 1), d=st.integers(2, 4), seed=seeds, free=st.booleans())
def test_the_matching_is_the_best_of_all_permutations(m: int, extra: int, d: int, seed: int, free: bool) -> None:
    run = Run.seeded(seed)
    n = min(m + extra, 6)
    a, b = run.normal(d, m) * 0.7, run.normal(d, n) * 0.7
    gaps = np.linalg.norm(a.numpy()[:, :, None] - b.numpy()[:, None], axis=0)
    sums = np.linalg.norm(a.numpy()[:, :, None] + b.numpy()[:, None], axis=0)
    cost = np.minimum(np.minimum(gaps, sums) if free else gaps, CAP)
    best = min(permutations(range(n), m), key=lambda p: cost[range(m), p].sum())
    rows, columns, signs = match(a, b, None if free else torch.zeros(m, n, dtype=torch.bool))
    found = CAP * (m - len(rows)) + float((a[:, rows] - b[:, columns] * signs).norm(dim=0).sum())
    assert found == pytest.approx(cost[range(m), best].sum(), rel=1e-12)
    assert len(set(columns.tolist())) == len(columns)
    if free:
        wanted = max(cost[range(m), best])
        assert claim_scores.score(Directions(a), Directions(b))["weight_error"] == pytest.approx(wanted, rel=1e-12)


@given(m=st.integers(1, 5), seed=seeds)
def test_all_pairs_of_columns_are_compared_without_a_floor(m: int, seed: int) -> None:
    w = orthonormal(60, m, seed)  # torch.cdist changes its ways from 26 columns on
    w = w.repeat(1, 30)
    away = 1e-12 * Run.seeded(seed).sphere(w.shape[1], len(w)).T
    wanted = ((w + away) - w).norm(dim=0)
    torch.testing.assert_close(distances(w, w + away).diagonal(), wanted, rtol=1e-10, atol=0)


@given(d=sizes, m=sizes, seed=seeds)
def test_wrong_shifts_cost_no_directions(d: int, m: int, seed: int) -> None:
    truth = shallow(d, m, seed)
    metrics = claim_scores.score(truth, shuffled(changed(truth, b0=truth.biases[0] + 5), seed))
    assert metrics["weight_error"] == metrics["excess"] == 0
    assert metrics["bias_error_max"] == pytest.approx(5)
    never_rewarded(metrics)


def test_a_small_neuron_of_the_wrong_sign_is_not_identified() -> None:
    w = 1e-3 * orthonormal(3, 2, 0)
    truth = Network.shallow(w, torch.zeros(2, dtype=F64), "tanh")
    metrics = claim_scores.score(truth, changed(truth, W0=w * torch.tensor([1.0, -1.0], dtype=F64)))
    assert metrics["weight_error"] == pytest.approx(2e-3)
    assert metrics["sign_accuracy"] == 0.5
    never_rewarded(metrics)


def test_shifts_decide_between_neurons_of_one_direction() -> None:
    w = orthonormal(3, 1, 0).repeat(1, 3)
    truth = Network.shallow(w, torch.tensor([0.1, 0.2, 0.3], dtype=F64), "softplus")
    nothing_wrong(claim_scores.score(truth, permute(truth, 0, torch.tensor([2, 0, 1]))))


# --- subspaces, Gram matrices, outputs -----------------------------------------------------------------------------


@given(n=st.integers(3, 9), seed=seeds, angle=st.sampled_from([1e-12, 1e-6, 0.3, 1.5]), data=st.data())
def test_a_tilted_subspace_is_off_by_its_sine(n: int, seed: int, angle: float, data: Any) -> None:
    k = data.draw(st.integers(1, n - 1))
    frame = orthonormal(n, n, seed)
    tilted = frame[:, :k].clone()
    tilted[:, 0] = math.cos(angle) * frame[:, 0] + math.sin(angle) * frame[:, k]
    mixed = tilted @ (Run.seeded(seed + 1).normal(k, k) + 4 * torch.eye(k, dtype=F64))
    metrics = claim_scores.score(Subspace(frame[:, :k]), Subspace(mixed))
    assert metrics["subspace_error"] == pytest.approx(math.sin(angle), rel=1e-6, abs=1e-13)
    assert metrics["subspace_error_frobenius"] == pytest.approx(CAP * math.sin(angle), rel=1e-6, abs=1e-13)


@given(n=st.integers(3, 9), seed=seeds, data=st.data())
def test_a_subspace_of_another_dimension_is_off_by_whole_axes(n: int, seed: int, data: Any) -> None:
    k, other = data.draw(st.lists(st.integers(1, n), min_size=2, max_size=2, unique=True))
    frame = orthonormal(n, n, seed)
    metrics = claim_scores.score(Subspace(frame[:, :k]), Subspace(frame[:, :other]))
    assert metrics["subspace_error"] == pytest.approx(1)
    assert metrics["subspace_error_frobenius"] == pytest.approx(abs(k - other) ** 0.5)


@given(d=sizes, seed=seeds)
def test_a_vector_claimed_twice_does_not_span_two(d: int, seed: int) -> None:
    truth = orthonormal(d + 3, 2, seed)
    with pytest.raises(Unjudgeable, match="dependent"):
        claim_scores.score(Subspace(truth), Subspace(truth[:, [0, 0]]))


@given(d=sizes, seed=seeds)
def test_the_span_of_squares_holds_every_square(d: int, seed: int) -> None:
    w = shallow(d, d, seed).weights[0]
    basis = span_of_squares(w)
    i, j = torch.triu_indices(d, d)
    packed = w[i] * w[j] * torch.tensor([1.0 if a == b else CAP for a, b in zip(i, j, strict=True)], dtype=F64)[:, None]
    torch.testing.assert_close(basis @ (basis.T @ packed), packed, rtol=0, atol=1e-13)


@given(d=sizes, m=sizes, seed=seeds)
def test_a_square_network_is_its_gram_matrix(d: int, m: int, seed: int) -> None:
    network = shallow(d, m, seed, "square", outer=True)
    network = changed(network, b1=torch.tensor([0.7], dtype=F64))
    x = Run.seeded(seed).normal(5, d)
    one = torch.cat([x, torch.ones(5, 1, dtype=F64)], 1)
    q = gram(network)
    torch.testing.assert_close((one @ q * one).sum(1, keepdim=True), network(x), rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(q, q.T)


@given(d=sizes, seed=seeds, e=st.sampled_from([1e-12, 1e-6, 1e-3, 1.0]))
def test_the_gram_error_is_relative(d: int, seed: int, e: float) -> None:
    a = Run.seeded(seed).normal(d, d)
    q = a + a.T
    metrics = claim_scores.score(Gram(q), Gram((1 + e) * q))
    assert metrics["gram_error"] == pytest.approx(e, rel=1e-3)
    assert metrics["identified"] == (e < 1e-2)
    assert metrics["exact"] == (e < 1e-8)
    with pytest.raises(Unjudgeable, match=f"shape .{d - 1}, {d - 1}.; .{d}, {d}. was wanted"):
        claim_scores.score(Gram(q), Gram(q[1:, 1:]))


@given(seed=seeds, chunk=st.integers(1, 50))
def test_output_errors_are_the_worst_over_all_chunks(seed: int, chunk: int) -> None:
    truth, x = shallow(3, 4, seed), Run.seeded(seed).normal(50, 3)
    claim = changed(truth, b1=truth.biases[1] - 0.25)
    metrics = score_outputs(truth, claim, x.split(chunk))
    assert metrics["output_error"] == pytest.approx(0.25)
    assert metrics["output_error_relative"] == pytest.approx(0.25 / float(truth(x).abs().max()))
    bump = score_outputs(truth, lambda t: truth(t) + 3.0 * (t[:, :1] == x[7, 0]), x.split(chunk))
    assert bump["output_error"] == pytest.approx(3)
    assert score_outputs(truth, truth, x.split(chunk))["output_error_relative"] == 0


def test_nothing_but_zero_is_right_before_a_teacher_of_zeros() -> None:
    x = [torch.ones(3, 2, dtype=F64)]
    errors = [score_outputs(lambda t: 0 * t, lambda t, c=c: c * t, x) for c in (0, 1)]
    assert [e["output_error_relative"] for e in errors] == [0, math.inf]


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (lambda y: y[:, 0], r"gave a tensor \(5,\) for 5 rows; \(5, 1\) was wanted"),
        (lambda y: y[:1], r"gave a tensor \(1, 1\) for 5 rows"),
        (lambda y: y.numpy(), "gave a ndarray for 5 rows"),
        (lambda y: y * math.nan, "non-finite values"),
        (lambda y: y / 0, "non-finite values"),
    ],
)
def test_a_function_that_answers_otherwise_cannot_be_judged(answer: Any, wanted: str) -> None:
    truth = shallow(3, 2, 0)
    with pytest.raises(Unjudgeable, match=wanted):
        score_outputs(truth, lambda x: answer(truth(x)), [torch.ones(5, 3, dtype=F64)])


# --- kinds, types, sizes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", [Directions(torch.eye(2)), Gram(torch.eye(2)), Subspace(torch.eye(3))])
def test_kinds_are_not_compared_with_each_other(claim: Any) -> None:
    with pytest.raises(Unjudgeable, match=f"{type(claim).__name__} cannot be judged against a Network"):
        claim_scores.score(shallow(2, 2, 0), claim)


def test_a_task_names_the_kinds_it_can_judge() -> None:
    task = Shallow(D=3, m=2)
    with pytest.raises(Unjudgeable, match="claimed a Gram; this task can judge Network, Directions, Subspace"):
        task.judge(Gram(torch.eye(4, dtype=F64)), task.draw(0))
    assert task.judge(Function(torch.sin), task.draw(0)) == {}


@pytest.mark.parametrize("other", [shallow(4, 2, 0), shallow(3, 2, 0, "erf")])
def test_networks_of_other_architectures_cannot_be_judged(other: Network) -> None:
    with pytest.raises(Unjudgeable, match="cannot be judged against 3-1 with"):
        claim_scores.score(shallow(3, 2, 0), other)


@pytest.mark.parametrize("kind", [Network, Directions, Subspace])
def test_claims_in_single_precision_are_judged(kind: type) -> None:
    task = Shallow(D=5, m=3)
    truth = task.truth(task.draw(0), kind)
    if isinstance(truth, Network):
        single: Any = truth.to("cpu", torch.float32)
    else:
        single = kind(*(value.float() for value in truth.arrays().values()))
    assert task.judge(single.copy(), task.draw(0)).get("error", 0) < 1e-6


def test_a_thousand_neurons_are_judged_in_bounded_memory() -> None:
    truth = shallow(50, 1000, 0)
    before = peak_mb()
    metrics = claim_scores.score(truth, shuffled(truth, 1))
    assert peak_mb() - before < 2000
    nothing_wrong(metrics)


# --- paramid.judge ---------------------------------------------------------------------------------------------------

W = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -1.0]])  # 2 inputs, 3 neurons
B, A, ONE, ZERO = np.array([0.1, -0.2, 0.3]), np.ones(3), np.ones((3, 1)), np.zeros(1)
back = slice(None, None, -1)


@pytest.mark.parametrize(
    "given_as",
    [
        (W, B),
        [W, B],
        (W, B, A),
        (W, B, ONE),
        (W[:, back], B[back], A[back]),
        (np.asfortranarray(W), B),
        (np.ascontiguousarray(W.T).T, B),
        (torch.from_numpy(np.ascontiguousarray(W.T)).T, torch.from_numpy(B).requires_grad_()),
        ([W, ONE], [B, ZERO]),
        ((W, ONE), (B, ZERO)),
        ([torch.from_numpy(W), ONE], [B, torch.zeros(1)]),
        (W, B.tolist()),
        Network.shallow(torch.from_numpy(W), torch.from_numpy(B), "tanh"),
    ],
)
def test_networks_come_in_many_forms(given_as: Any) -> None:
    for pair in ((given_as, (W, B)), ((W, B), given_as)):
        metrics = paramid.judge(*pair)
        nothing_wrong(metrics)
        assert metrics["output_error"] <= 1e-14


def test_the_activation_decides_what_is_the_same() -> None:
    flipped = (-W, -B, -A)
    assert paramid.judge((W, B), flipped)["weight_error"] == 0
    assert paramid.judge((W, B), flipped, activation="softplus")["weight_error"] > 1
    assert paramid.judge((W, B), (3 * W, 3 * B, A / 3), activation="relu")["exact"] == 1
    deep = ([W, W.T, np.ones((2, 1))], [B, np.zeros(2), ZERO])
    assert paramid.judge(deep, deep, activation="erf")["weight_error_2"] == 0


def test_what_is_judged_is_not_written_to() -> None:
    w, b, a = W.copy(), B.copy(), A.copy()
    paramid.judge((w, b, a), (w[:, back], b[back]), activation="relu")
    assert all(map(np.array_equal, (w, b, a), (W, B, A)))


def crooked(*given_as: Any, wanted: str) -> Any:
    return pytest.param(given_as[0] if len(given_as) == 1 else given_as, wanted)


@pytest.mark.parametrize(
    ("estimate", "wanted"),
    [
        crooked(None, wanted="a NoneType; a Network, .* was wanted"),
        crooked("WB", wanted="a str; a Network"),
        crooked(W, wanted="a ndarray; a Network"),
        crooked((W,), wanted="a tuple; a Network"),
        crooked(W, B, A, A, wanted="a tuple; a Network"),
        crooked(W, "x", wanted="holds a str; arrays of real numbers were wanted"),
        crooked(object(), B, wanted="holds a object; arrays of real numbers"),
        crooked(W * np.nan, B, wanted="W0 holds non-finite values"),
        crooked(W, B + np.inf, wanted="b0 holds non-finite values"),
        crooked(W, B[:, None], wanted="layer 0: weights"),
        crooked(W[0], B, wanted="layer 0: weights"),
        crooked(W, B[:2], A, wanted="layer 0"),
        crooked(W.T, B, wanted="layer 0: weights"),
        crooked(W[:1], B, wanted="a network 1-1 with .* cannot be judged against 2-1"),
        crooked([W, ONE], [B], wanted="2 weights, 1 biases"),
        crooked([W, A], [B, ZERO], wanted="layer 1: weights"),
        crooked([], [], wanted="0 weights, 0 biases"),
        crooked(W, B, np.ones((3, 2)), wanted="a network 2-2 with"),
        crooked(W, B, np.ones(2), wanted="3"),
        crooked(W[:, :0], B[:0], wanted="0"),
        crooked(W, 0.0, wanted="layer 0"),
        crooked(W, None, wanted="arrays of real numbers"),
        crooked([1.0], [1.0], wanted="layer 0"),
        crooked(torch.from_numpy(W + 1j), B, wanted="numbers"),
        crooked(W + 1j, B, wanted="numbers"),
    ],
)
def test_what_cannot_be_meant_is_one_line(estimate: Any, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted) as said:
        paramid.judge((W, B), estimate)
    assert "\n" not in str(said.value)


def test_the_role_and_the_activation_are_named() -> None:
    with pytest.raises(ValueError, match=r"^truth is a NoneType"):
        paramid.judge(None, (W, B))
    with pytest.raises(ValueError, match="unknown activation 'tahn'; did you mean tanh"):
        paramid.judge((W, B), (W, B), activation="tahn")


def test_a_claim_keeps_its_own_words_apart() -> None:
    truth = shallow(3, 2, 0)
    assert claim_scores.score(truth, replace(truth, stats={"weight_error": 7.0}))["weight_error"] == 0


def test_a_zero_direction_is_no_cheaper_than_silence() -> None:
    truth = shallow(4, 3, 0).weights[0]
    silent = score_directions(truth, truth[:, :2])
    assert score_directions(truth, truth * torch.tensor([1.0, 1.0, 0.0], dtype=F64)) | {"excess": 0.0} == silent


@pytest.mark.parametrize("basis", [torch.zeros(10, 2, dtype=F64), torch.ones(10, 2, dtype=F64)])
def test_a_dependent_basis_is_refused(basis: torch.Tensor) -> None:
    truth = span_of_squares(shallow(4, 2, 0).weights[0])
    with pytest.raises(Unjudgeable, match="2 columns of the basis are dependent"):
        score_subspace(truth, basis)


def test_layers_take_no_third_part_and_lists_are_matrices() -> None:
    with pytest.raises(ValueError, match="estimate has 3 parts; with a list of layers"):
        paramid.judge((W, B), ([W, A], [B, ZERO], ["relu"]))
    assert paramid.judge((W, B), (W.tolist(), B.tolist()))["exact"] == 1


def test_a_network_without_hidden_layers_has_nothing_to_compare() -> None:
    linear = Network((torch.eye(2, dtype=F64),), (torch.zeros(2, dtype=F64),), ("identity",))
    with pytest.raises(Unjudgeable, match="without hidden layers"):
        claim_scores.score(linear, linear)
