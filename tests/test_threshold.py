"""Threshold units under a polynomial: teachers, their exact moments, and the judge."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

import paramid
from paramid import Directions, Network
from paramid.contracts import registry
from paramid.words import hermite
from paramid.words.spec import Access
from paramid.words.threshold_units import Thresholded, Units, coefficients, monomials, subsets

F64 = torch.float64


def grid(d: int, t: float) -> tuple[Tensor, Tensor]:
    """Nodes and weights of E[·] over N(0, I_d), cut where steps and kinks along the axes are."""
    x, w = np.polynomial.legendre.leggauss(60)
    pieces = [(-9.0, t), (t, 9.0)]
    nodes = np.concatenate([(b - a) / 2 * x + (a + b) / 2 for a, b in pieces])
    weights = np.concatenate([(b - a) / 2 * w for a, b in pieces]) * np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)
    points = torch.tensor(list(product(nodes, repeat=d)), dtype=F64)
    return points, torch.tensor(list(product(weights, repeat=d)), dtype=F64).prod(dim=1)


def along_axes(teacher: Thresholded) -> Thresholded:
    return replace(teacher, columns=torch.eye(len(teacher.thresholds), dtype=F64))


@pytest.mark.parametrize("name", ["step", "relu", "sigmoid", "exponential", "abs", "cosh"])
def test_coefficients_are_those_of_the_unit(name: str) -> None:
    t = 0.0 if name in ("abs", "cosh") else 1.2
    x, w = grid(1, t)
    unit = Thresholded(*(torch.ones(s, dtype=F64) for s in ((1, 1), 1, 1, (1, 1), (1, 1))), name, 0.7)
    values = replace(unit, thresholds=torch.tensor([t], dtype=F64)).activated(x)[:, 0]
    for u, h in zip(coefficients(name, t, 5, 0.7), hermite.polynomials(x[:, 0], 5), strict=True):
        assert u == pytest.approx(float((w * values) @ h), abs=1e-9)


@pytest.mark.parametrize("name", ["linear", "or", "intersection", "pairs", "monotone", "no-linear"])
@pytest.mark.parametrize("unit", ["step", "relu"])
@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_exact_moments_are_integrals(name: str, unit: str, order: int) -> None:
    teacher = along_axes(registry.task(f"threshold:D=2,m=2,t=0.8,activation={unit},polynomial={name}").draw(3))
    x, w = grid(2, 0.8)
    integral = (w * teacher(x)[:, 0]) @ hermite.features(x, order)
    assert torch.allclose(teacher.moments(order), integral, atol=1e-8)


def test_moments_turn_with_the_weights() -> None:
    teacher = registry.task("threshold:D=4,m=3,polynomial=monotone").draw(0)
    turned = hermite.unfold(teacher.moments(4), 4, 4)
    flat = hermite.unfold(along_axes(teacher).moments(4), 3, 4)
    assert torch.allclose(torch.einsum("ijkl,ai,bj,ck,dl", flat, *[teacher.columns] * 4), turned)


def test_linear_moments_need_no_orthonormal_weights() -> None:
    task = registry.task("threshold:D=3,m=3,t=1,activation=relu,polynomial=linear,weights=random,coefficients=free")
    teacher, x = task.draw(1), torch.randn(400_000, 3, generator=torch.Generator().manual_seed(0), dtype=F64)
    rows = hermite.features(x, 2) * teacher(x)
    assert float(((teacher.moments(2) - rows.mean(0)) / rows.std(0) * math.sqrt(len(x))).abs().max()) < 4


def test_moments_are_granted_where_they_have_a_closed_form() -> None:
    granted = {
        text: Access.MOMENTS in registry.task(f"threshold:{text}").access
        for text in ("", "weights=random", "weights=random,polynomial=linear", "weights=mild,polynomial=pairs")
    }
    assert list(granted.values()) == [True, False, True, False]


@pytest.mark.parametrize(("name", "value"), [("or", [0, 1, 1, 1]), ("intersection", [1, 0, 0, 0])])
def test_unions_and_intersections(name: str, value: list[float]) -> None:
    teacher = along_axes(registry.task(f"threshold:D=2,m=2,t=1,polynomial={name}").draw(0))
    x = torch.tensor([[0, 0], [2, 0], [0, 2], [2, 2]], dtype=F64)
    assert teacher(x)[:, 0].tolist() == value
    assert teacher.units.coefficients.tolist() == [1 if name == "or" else -1] * 2


@pytest.mark.parametrize("kappa", [2.0, 8.0])
def test_random_weights_keep_their_condition(kappa: float) -> None:
    for seed in range(5):
        w = registry.task(f"threshold:D=10,m=10,weights=random,kappa={kappa}").draw(seed).columns
        assert float(torch.linalg.cond(w)) <= kappa * (1 + 1e-9)
        assert torch.allclose(w.norm(dim=0), torch.ones(10, dtype=F64))


def test_blocks_are_disjoint_and_of_one_size() -> None:
    w = registry.task("threshold:D=12,m=4,t=1,activation=exponential,weights=blocks").draw(0).columns
    assert w.sum(dim=0).tolist() == [3.0] * 4
    assert w.sum(dim=1).tolist() == [1.0] * 12


@pytest.mark.parametrize(
    "text", ["m=6", "m=6,weights=mild", "t=-1", "activation=abs", "weights=blocks", "polynomial=cubic", "N=0"]
)
def test_what_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"wanted|mixes"):
        registry.task(f"threshold:{text}")


def judged(claim: object, text: str = "threshold:D=4,m=3") -> dict[str, float]:
    task = registry.task(text)
    return task.judge(claim, task.draw(0))


def test_the_judge_is_blind_to_order_and_sees_signs() -> None:
    truth = registry.task("threshold:D=4,m=3").draw(0).units
    order = torch.tensor([2, 0, 1])
    same = judged(Units(truth.columns[:, order], truth.thresholds, truth.coefficients))
    assert (same["error"], same["exact"], same["identified"]) == (0, 1, 1)
    turned = judged(Units(-truth.columns, truth.thresholds, truth.coefficients))
    assert (turned["error"], turned["sign_accuracy"], turned["identified"]) == (0, 0, 0)


def test_angles_thresholds_and_coefficients_are_told_apart() -> None:
    truth, turn = registry.task("threshold:D=4,m=3").draw(0).units, 0.1
    w = truth.columns.clone()
    w[:, 0] = math.cos(turn) * w[:, 0] + math.sin(turn) * w[:, 1]
    off = judged(Units(w, truth.thresholds + 0.02, truth.coefficients - 0.03))
    assert off["angle_error"] == pytest.approx(turn)
    assert off["weight_error"] == pytest.approx(2 * math.sin(turn / 2))
    assert (off["threshold_error"], off["coefficient_error"]) == (pytest.approx(0.02), pytest.approx(0.03))
    assert judged(Directions(w[:, :2]))["angle_error"] == pytest.approx(math.pi / 2)


def test_the_scale_of_a_relu_unit_is_free() -> None:
    text = "threshold:D=3,m=2,activation=relu,polynomial=linear"
    truth = registry.task(text).draw(0).units
    assert judged(Units(2 * truth.columns, 2 * truth.thresholds, truth.coefficients / 2), text)["exact"] == 1


@pytest.mark.parametrize(("unit", "degree"), [("step", 0), ("relu", 1), ("abs", 1)])
def test_weights_of_any_length_are_the_same_function_where_units_allow(unit: str, degree: int) -> None:
    text = f"threshold:D=3,m=2,t={0 if unit == 'abs' else 2},activation={unit},polynomial=monotone"
    truth, by = registry.task(text).draw(0), torch.tensor([3.0, 0.5], dtype=F64)
    longer = replace(truth, columns=truth.columns * by, thresholds=truth.thresholds * by)
    assert judged(replace(longer, slopes=truth.slopes / by**degree), text)["exact"] == 1
    assert judged(longer, text)["exact"] == (degree == 0)


def test_units_of_another_kind_are_no_claim() -> None:
    task = registry.task("threshold:D=4,m=3")
    assert "'step' of rate 1 were wanted" in str(replace(task.draw(0), unit="relu").problem(task.spec))


def test_a_polynomial_is_judged_as_a_function() -> None:
    teacher = registry.task("threshold:D=4,m=3").draw(0)
    sets = subsets(3, range(1, 4), teacher.columns)  # 1 - Π(1 - X_i), multiplied out
    signs = 2 * (sets.sum(dim=1) % 2) - 1
    out = Thresholded(teacher.columns, teacher.thresholds, signs, *monomials(sets), "step")
    assert judged(out)["exact"] == 1
    assert judged(replace(out, scales=0.9 * signs))["polynomial_error"] > 0.05


def test_a_linear_polynomial_over_relus_is_a_network() -> None:
    task = registry.task("threshold:D=4,m=3,activation=relu,polynomial=linear")
    truth = task.truth(task.draw(0), Network)
    assert isinstance(truth, Network)
    assert (judged(truth, str_of(task))["exact"], judged(truth, str_of(task))["angle_error"]) == (1, 0)
    assert task.spec.shallow


def str_of(task: object) -> str:
    return "threshold:D=4,m=3,activation=relu,polynomial=linear"


def test_a_claim_with_another_shape_is_no_claim() -> None:
    w = torch.zeros(4, 2, dtype=F64)
    spec = registry.task("threshold:D=4,m=3").spec
    assert "wanted" in str(Units(w, w[0], w[:, 0]).misfit(spec))
    assert "4 units" in str(Units(w.new_zeros(4, 4), w.new_zeros(4), w.new_zeros(4)).misfit(spec))


@pytest.mark.parametrize("method", ["sphere-lm", "spm", "spectral-norm", "sgd"])
def test_methods_for_networks_decline_polynomials(method: str) -> None:
    record = paramid.run(method, "threshold:D=4,m=3,N=1000", throw=True)
    assert record.status is paramid.Status.DECLINED
