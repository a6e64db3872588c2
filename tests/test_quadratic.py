"""The family `quadratic`: what is planted, what is public, and how fits and matrices are judged."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from paramid import Access, Function, Gram, Network, Subspace
from paramid.judging.metrics import Unjudgeable
from paramid.oracle.counting import CountingOracle
from paramid.tasks.quadratic import Quadratic, forms, grams, mean_square, nearest
from paramid.words.spec import LearnerSpec

CPU, F64 = torch.device("cpu"), torch.float64


def samples(family: Quadratic, seed: int = 0) -> tuple[Tensor, Tensor]:
    access = frozenset({Access.SAMPLES})
    oracle = CountingOracle(family.draw(seed), family.spec, access=access, seed=seed, device=CPU)
    return oracle.sample(family.spec.samples).tensors()


@pytest.mark.parametrize(
    "family",
    [Quadratic(), Quadratic(D=3, k=5), Quadratic(D=4, k=3, instances=3, signs="mixed"), Quadratic(k=12, rank=2)],
)
def test_the_truth_scores_zero_and_another_teacher_does_not(family: Quadratic) -> None:
    teacher, other = family.draw(0), family.draw(1)
    for kind in family.kinds:
        scores = family.judge(family.truth(teacher, kind), teacher)
        assert (scores["error"], scores["exact"], scores["identified"], scores["fitted"]) == (0, 1, 1, 1)
        assert scores["test_error"] == 0
        assert scores["training_rmse"] < 1e-14
        assert family.judge(family.truth(other, kind), teacher)["identified"] == 0


def test_every_instance_is_a_teacher_of_its_own() -> None:
    family = Quadratic(D=4, k=3, instances=2)
    x, y = samples(family)
    m = grams(family.draw(0).network)
    assert y.shape == (20, 2)
    assert torch.allclose(torch.einsum("ni,oij,nj->no", x, m[:, :4, :4], x), y)
    assert float(m[:, -1].abs().max()) == 0
    assert not torch.allclose(m[0], m[1])


def test_squares_are_judged_by_their_matrix_alone() -> None:
    """Turned columns, split neurons and neurons too many are the same function."""
    family = Quadratic(D=4, k=6, rank=3)
    teacher = family.draw(0)
    w = teacher.network.weights[0]
    turned = torch.cat([w @ torch.linalg.qr(torch.randn(3, 3, dtype=F64, generator=torch.Generator()))[0], 0 * w], 1)
    claim = Network.shallow(turned, torch.zeros(6, dtype=F64), "square")
    assert family.judge(claim, teacher)["exact"] == 1
    off = Network.shallow(turned * 1.01, torch.zeros(6, dtype=F64), "square")
    assert family.judge(off, teacher)["gram_error"] == pytest.approx(0.0201)


def test_errors_of_several_instances_are_medians_and_shares() -> None:
    family = Quadratic(D=3, k=3, instances=3)
    teacher = family.draw(0)
    truth = grams(teacher.network)
    off = truth * torch.tensor([1.0, 1.001, 3.0], dtype=F64)[:, None, None]
    scores = family.judge(Gram(off), teacher)
    assert scores["gram_error"] == scores["error"] == pytest.approx(1e-3)
    assert scores["gram_error_max"] == pytest.approx(2)
    assert (scores["exact"], scores["identified"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert scores["fitted"] == pytest.approx(1 / 3)


def test_the_training_error_is_of_the_samples_that_a_method_sees() -> None:
    """Label noise included: it is what the truth leaves, and a fit through nothing leaves the labels."""
    family = Quadratic(D=4, k=2, noise=0.3, N=50)
    teacher, (x, y) = family.draw(3), samples(family, 3)
    scores = family.judge(teacher.network, teacher)
    assert scores["training_rmse"] == pytest.approx(float(((teacher(x) - y) ** 2).mean() / 2) ** 0.5, rel=1e-12)
    nothing = family.judge(Function(lambda rows: torch.zeros_like(rows[:, :1])), teacher)
    assert nothing["training_rmse"] == pytest.approx(float((y**2).mean() / 2) ** 0.5, rel=1e-12)
    assert nothing["test_error"] == 1


def test_the_test_error_of_squares_is_exact() -> None:
    q = torch.randn(3, 5, 5, dtype=F64, generator=torch.Generator().manual_seed(0))
    x = torch.randn(200_000, 4, dtype=F64, generator=torch.Generator().manual_seed(1))
    drawn = forms(q + q.mT, x).square().mean(0)
    assert torch.allclose(drawn, mean_square(q + q.mT), rtol=0.02)


def test_random_labels_have_no_teacher() -> None:
    family = Quadratic(D=4, k=3, labels="random", N=5000, instances=2)
    x, y = samples(family)
    assert float(y.mean().abs()) < 0.05
    assert float(y.std()) == pytest.approx(1, rel=0.05)
    assert float((x.T @ y).abs().max()) / 5000 < 0.06
    scores = family.judge(family.truth(family.draw(0), Network), family.draw(0))
    assert set(scores) == {"error", "training_rmse", "fitted", "fitted_nearly"}
    assert scores["error"] == pytest.approx(1 / math.sqrt(2), rel=0.05)


def test_softplus_is_sharp_and_judged_by_its_fit() -> None:
    family = Quadratic(D=3, k=2, activation="softplus", b=4.0)
    teacher, (x, y) = family.draw(0), samples(Quadratic(D=3, k=2, activation="softplus", b=4.0))
    w = teacher.network.weights[0] / 4
    assert torch.allclose(y[:, 0], (torch.log1p(torch.exp(4 * x @ w)) / 4).sum(1))
    scores = family.judge(teacher.network, teacher)
    assert scores["error"] == scores["training_rmse"] < 1e-14
    assert (scores["exact"], scores["test_error"]) == (1, 0)
    several = Quadratic(D=3, k=2, activation="softplus", instances=2)
    scores = several.judge(several.draw(0).network, several.draw(0))
    assert set(scores) == {"error", "training_rmse", "fitted", "fitted_nearly", "test_error"}
    with pytest.raises(Unjudgeable, match="claimed a Gram"):
        family.judge(Gram(torch.eye(4, dtype=F64)), teacher)


@pytest.mark.parametrize(("rank", "k"), [(4, 2), (8, 6)])
def test_a_learner_too_narrow_cannot_be_told_the_truth(rank: int, k: int) -> None:
    family = Quadratic(D=5, k=k, rank=rank, signs="mixed")
    teacher = family.draw(0)
    best = family.truth(teacher, Network)
    assert isinstance(best, Network)
    assert best.misfit(family.spec) is None
    left = float(torch.linalg.eigvalsh(grams(teacher.network)[0, :5, :5]).abs().sort().values[: max(0, 5 - k)].norm())
    missed = float((grams(nearest(teacher.network, k)) - grams(teacher.network)).norm())
    assert missed == pytest.approx(left, abs=1e-12)


def test_the_spec_tells_the_learners_width_and_not_the_teachers() -> None:
    known = Quadratic(D=5, k=4, rank=2).spec
    assert isinstance(known, LearnerSpec)
    assert (known.widths, known.outer, known.samples, known.shift) == ((4,), "ones", 30, 0)
    assert known == Quadratic(D=5, k=4, rank=3).spec
    several = Quadratic(D=5, k=4, instances=3, activation="softplus").spec
    assert (several.widths, several.outputs, several.instances, several.sharpness) == ((12,), 3, 3, 10.0)
    assert Quadratic(signs="mixed").spec.outer == Quadratic(labels="random").spec.outer == "free"
    assert replace(several).sharpness == 10.0


@pytest.mark.parametrize(
    ("claim", "match"),
    [
        (Gram(torch.eye(3, dtype=F64)), r"matrices \(1, 3, 3\); \(1, 5, 5\) were wanted"),
        (Subspace(torch.eye(10, dtype=F64)), "claimed a Subspace"),
    ],
)
def test_claims_of_another_kind_or_size_are_refused(claim: Gram | Subspace, match: str) -> None:
    family = Quadratic(D=4, k=2)
    with pytest.raises(Unjudgeable, match=match):
        family.judge(claim, family.draw(0))


def test_matrices_are_one_for_each_output() -> None:
    spec = Quadratic(D=2, k=1, instances=2).spec
    assert Gram(torch.zeros(2, 3, 3)).misfit(spec) is None
    assert "3 matrices claimed, the teacher has 2 outputs" in str(Gram(torch.zeros(3, 3, 3)).misfit(spec))
    assert "a square one was wanted" in str(Gram(torch.zeros(2, 3, 4)).misfit(spec))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"D": 0}, "D is 0; at least 1"),
        ({"N": 0}, "N is 0; at least 1"),
        ({"noise": -1.0}, "noise is -1.0; at least 0"),
        ({"activation": "tanh"}, "square or softplus was wanted"),
        ({"labels": "shuffled"}, "planted or random was wanted"),
        ({"signs": "negative"}, "positive or mixed was wanted"),
        ({"b": 0.0}, "b is 0.0; a positive number"),
        ({"labels": "random", "noise": 0.1}, "belong to planted labels"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Quadratic(**options)
