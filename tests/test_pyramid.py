"""The family's shapes, what is drawn and told, and how entangled weights and deep networks are judged."""

import math
import re

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import jacobian

import paramid
from paramid import EntangledWeights, Subspace, task
from paramid.judging import claim_scores
from paramid.tasks.pyramid import Pyramid, contracted, entangled
from paramid.words.network import flip, permute

F64 = torch.float64
SMALL = Pyramid(D=8, widths=(6, 4, 3))


@pytest.mark.parametrize(
    ("total", "count", "c", "widths"),
    [(190, 2, 1.0, (95, 95)), (190, 2, 0.5, (127, 63)), (7, 1, 0.5, (7,)), (290, 3, 0.5, (166, 83, 41))],
)
def test_contracted_widths_are_those_of_the_thesis(total: int, count: int, c: float, widths: tuple[int, ...]) -> None:
    assert contracted(total, count, c) == widths
    shape = task(f"pyramid:D=100,layers={count + 1},m={total + 10},contraction={c}").shape
    assert shape == (*widths, 10)


def test_teachers_have_unit_columns_and_small_shifts() -> None:
    teacher = Pyramid(D=40, widths=(200, 200, 200), shift=0.1).draw(3)
    for w in teacher.weights:
        torch.testing.assert_close(w.norm(dim=0), torch.ones_like(w[0]))
    assert float(torch.cat(teacher.biases).std()) == pytest.approx(0.1, rel=0.05)
    assert (teacher.widths, teacher.outputs, teacher.activations) == ((200, 200), 200, ("tanh",) * 3)
    assert SMALL.spec.norms == "unit"
    assert Pyramid().shape == (50, 25, 10)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ("widths=5", "two layers and more"),
        ("widths=5-0-2", "two layers and more"),
        ("widths=5-3,layers=3,m=20", "one of them was wanted"),
        ("layers=3", "come together"),
        ("layers=4,m=12,contraction=0.1", "two layers and more"),
        ("activation=relu", "a smooth one"),
        ("output=logistic", "tanh or identity was wanted"),
        ("shift=-1", "shift is -1"),
        ("contraction=0", "contraction is 0"),
    ],
)
def test_options_without_sense_are_refused(options: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        task(f"pyramid:{options}")


def test_entangled_weights_are_the_gradients_of_the_preactivations() -> None:
    teacher = SMALL.draw(0)
    found = entangled(teacher)

    def all_z(x: Tensor) -> Tensor:
        return torch.cat([z[0] for z in teacher.preactivations(x[None])])

    torch.testing.assert_close(found.columns, jacobian(all_z, torch.zeros(8, dtype=F64)).T)
    assert found.layers.tolist() == [1] * 6 + [2] * 4 + [3] * 3


@pytest.mark.parametrize(("output", "dimensions"), [("tanh", 13), ("identity", 10)])
def test_hessians_lie_in_the_span_of_the_layers_that_bend(output: str, dimensions: int) -> None:
    family = Pyramid(D=8, widths=(6, 4, 3), output=output)
    teacher = family.draw(1)
    truth = family.truth(teacher, Subspace)
    assert truth.basis.shape[1] == dimensions
    hessians = teacher.hessian(torch.zeros(1, 8, dtype=F64))[0]
    i, j = torch.triu_indices(8, 8)
    packed = hessians[:, i, j] * torch.ones(len(i), dtype=F64).masked_fill_(i != j, math.sqrt(2))
    inside = packed @ truth.basis @ truth.basis.T
    assert float((packed - inside).norm() / packed.norm()) < 1e-12
    assert float((packed - packed @ truth.basis[:, :-1] @ truth.basis[:, :-1].T).norm() / packed.norm()) > 1e-6


def test_entangled_directions_are_judged_up_to_order_sign_and_length() -> None:
    teacher = SMALL.draw(2)
    truth = entangled(teacher)
    order = torch.randperm(13, generator=torch.Generator().manual_seed(0))
    signs = 3 * torch.ones(13, dtype=F64) - 4 * (torch.arange(13) % 2)
    metrics = SMALL.judge(EntangledWeights((truth.columns * signs)[:, order], truth.layers[order]), teacher)
    assert metrics["error"] == metrics["entangled_error"] < 1e-15
    assert (metrics["layers_right"], metrics["false_positives"]) == (1, 0)
    assert {f"entangled_error_{n}" for n in (1, 2, 3)} < set(metrics)


def test_wrong_labels_missing_and_false_directions_are_seen() -> None:
    teacher = SMALL.draw(2)
    truth = entangled(teacher)
    swapped = truth.layers.clone()
    swapped[0] = 2
    assert SMALL.judge(EntangledWeights(truth.columns, swapped), teacher)["layers_right"] == pytest.approx(12 / 13)
    metrics = SMALL.judge(EntangledWeights(truth.columns[:, :6], truth.layers[:6]), teacher)
    assert metrics["entangled_error_1"] < 1e-15
    assert metrics["entangled_error_2"] == pytest.approx(math.sqrt(2))
    assert metrics["layers_right"] == pytest.approx(6 / 13)
    twice = EntangledWeights(truth.columns[:, [0] * 13], truth.layers)
    assert SMALL.judge(twice, teacher)["entangled_error_1"] > 0.1
    strange = EntangledWeights(torch.eye(8, dtype=F64), torch.zeros(8, dtype=F64))
    assert SMALL.judge(strange, teacher)["false_positives"] > 0.5
    assert SMALL.judge(EntangledWeights(torch.zeros(8, 0, dtype=F64), torch.zeros(0, dtype=F64)), teacher)["error"] > 1


def test_shares_of_directions_are_told_by_layer_and_at_half_the_distance() -> None:
    teacher = SMALL.draw(2)
    truth = entangled(teacher)
    swapped = truth.layers.clone()
    swapped[[0, 6]] = swapped[[6, 0]]
    metrics = SMALL.judge(EntangledWeights(truth.columns, swapped), teacher)
    assert [metrics[f"assigned_{n}"] for n in (1, 2, 3)] == pytest.approx([5 / 6, 3 / 4, 1])
    assert (metrics["entangled_found"], metrics["entangled_strays"]) == (1, 0)
    unit = truth.columns / truth.columns.norm(dim=0)
    aside = torch.eye(8, dtype=F64)[:, 0] - unit[0, 0] * unit[:, 0]
    moved = unit.clone()
    moved[:, 0] += 0.07 * aside / aside.norm()
    metrics = SMALL.judge(EntangledWeights(moved[:, :9], truth.layers[:9]), teacher)
    assert (metrics["entangled_found"], metrics["entangled_strays"]) == pytest.approx((8 / 13, 1 / 9))
    assert metrics["false_positives"] == 0
    assert "assigned_3" not in metrics


def test_lengths_of_errors_and_shifts_are_those_of_the_thesis() -> None:
    teacher = SMALL.draw(2)
    (*biases, last) = teacher.biases
    raised = teacher.with_layers(teacher.weights, [-2 * biases[0], biases[1], last + 0.3])
    metrics = SMALL.judge(raised, teacher)
    assert [metrics[f"shift_error_{n}"] for n in (1, 2)] == pytest.approx([1, 0])
    x = torch.cat(list(SMALL.inputs(10_000)))
    gaps, lengths = (teacher(x) - raised(x)).norm(dim=1), teacher(x).norm(dim=1)
    assert metrics["mean_distance"] == pytest.approx(float(gaps.mean()))
    assert metrics["uniform_distance"] == pytest.approx(float(gaps.max() / lengths.max()))
    assert SMALL.judge(teacher, teacher)["mean_distance"] == 0


def test_a_network_is_judged_by_its_entangled_weights_as_well() -> None:
    teacher = SMALL.draw(2)
    metrics = SMALL.judge(teacher, teacher)
    assert (metrics["error"], metrics["entangled_error"], metrics["layers_right"]) == (0, 0, 1)
    turned = torch.cat([-teacher.weights[0][:, :1], teacher.weights[0][:, 1:]], 1)
    wrong = SMALL.judge(teacher.with_layers([turned, *teacher.weights[1:]], teacher.biases), teacher)
    assert wrong["error"] == wrong["weight_error"] != wrong["entangled_error"] > 1
    assert (wrong["entangled_error_1"], wrong["layers_right"]) == (0, pytest.approx(8 / 13))


@pytest.mark.parametrize(
    ("columns", "layers", "match"),
    [
        ((7, 3), [1, 1, 1], r"\(8, neurons\)"),
        ((8, 14), [1] * 14, "the teacher has 13"),
        ((8, 3), [1, 1], "layers have shape"),
        ((8, 3), [1, 1, 4], "from 0 to 3"),
        ((8, 3), [1, 1, 0.5], "from 0 to 3"),
    ],
)
def test_malformed_entangled_weights_are_named(columns: tuple[int, int], layers: list[float], match: str) -> None:
    claim = EntangledWeights(torch.ones(columns, dtype=F64), torch.tensor(layers, dtype=F64))
    assert re.search(match, str(claim.problem(SMALL.spec)))


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
@pytest.mark.parametrize("output", ["tanh", "identity"])
def test_the_judge_is_blind_to_order_and_joint_signs_of_deep_networks(name: str, output: str) -> None:
    family = Pyramid(D=12, widths=(10, 8, 8, 5), activation=name, output=output)
    teacher = claim = family.draw(5)
    source = torch.Generator().manual_seed(1)
    for layer, width in enumerate(teacher.widths):
        signs = torch.randn(width, generator=source, dtype=F64).sign()
        claim = permute(flip(claim, layer, signs), layer, torch.randperm(width, generator=source))
    metrics = family.judge(claim, teacher)
    assert max(metrics[n] for n in ("weight_error", "bias_error_max", "outer_error")) < 1e-14
    assert (metrics["exact"], metrics["identified"], metrics["sign_accuracy"]) == (1, 1, 1)
    half = claim.with_layers(claim.weights, [-claim.biases[0], *claim.biases[1:]])
    assert not family.judge(half, teacher)["exact"]


def test_a_small_error_in_any_layer_is_told_in_its_layer() -> None:
    family = Pyramid(D=12, widths=(10, 8, 8, 5))
    teacher = family.draw(5)
    for layer in range(3):
        weights = list(teacher.weights)
        weights[layer] = weights[layer] + 1e-5 * torch.eye(*weights[layer].shape, dtype=F64)
        metrics = claim_scores.score(teacher, teacher.with_layers(weights, teacher.biases))
        assert [metrics[f"weight_error_{n}"] > 0 for n in (1, 2, 3)] == [n == layer for n in range(3)]
        assert metrics[f"weight_error_{layer + 1}"] == pytest.approx(1e-5)


def test_the_baseline_trains_on_it_and_shallow_methods_decline() -> None:
    name = "pyramid:D=8,widths=6-4-3"
    record = paramid.run("sgd:N=200,steps=300", name, throw=True, judge_inputs=100)
    assert record.status.name == "FINISHED"
    for method in ("spm", "spectral-norm", "sphere-lm"):
        assert paramid.run(method, name, throw=True).status.name == "DECLINED"
