"""Learners of DenseNets before planted teachers: who corrects backwards, who says that nothing was found."""

import math

import pytest
import torch

import paramid
from paramid import Record, Run, Spec, Status
from paramid.contracts import registry
from paramid.methods import kernel
from paramid.methods.hierarchy import arc_cosine, densenet

SMALL = "hierarchy:D=5,ks=2-1"
LEARNERS = ("densenet-lm", "densenet-als", "densenet-joint", "densenet-algorithm1", "densenet-layerwise")


def played(method: str, task: str, seed: int = 0) -> Record:
    return paramid.run(method, task, seed=seed, throw=True, judge_inputs=500)


def features(record: Record) -> list[float]:
    """The errors of S_2, claim by claim."""
    return [claim.metrics["feature_error_2"] for claim in record.claims]


@pytest.mark.parametrize("seed", range(3))
def test_every_weight_is_found_to_rounding(seed: int) -> None:
    record = played("densenet-lm", f"{SMALL},N=150", seed)
    assert record.status is Status.FINISHED
    assert (record.metrics["exact"], record.metrics["identified"]) == (1, 1)
    assert record.metrics["error"] < 1e-25
    assert record.metrics["row_error_2"] < 1e-11
    assert features(record)[0] > 1e10 * features(record)[-1]


def test_three_layers_are_corrected_step_by_step() -> None:
    record = played("densenet-lm", "hierarchy:D=5,ks=2-2-1,alphas=1-0.2-0.04,truncate=2.5,N=800", 1)
    two, three, four, plain = features(record)
    assert two > 5 * three > 25 * four
    assert plain < 1e-24
    assert record.metrics["exact"] == 1


@pytest.mark.parametrize("freeze", ["2-2", "3-2", "3-3"])
def test_layers_that_stay_are_not_corrected(freeze: str) -> None:
    """The less stays the better; where nothing does, all is found (above)."""
    task = "hierarchy:D=5,ks=2-2-1,alphas=1-0.2-0.04,truncate=2.5,N=800"
    record = played(f"densenet-lm:freeze={freeze}", task, 1)
    assert record.status is Status.GAVE_UP
    before = features(record)[int(freeze[0]) - 2]
    assert features(record)[-1] == before > 1e-5
    assert [c.metrics.get("feature_error_4") is not None for c in record.claims][-1]
    with pytest.raises(ValueError, match="l >= f >= 2 was wanted"):
        registry.method("densenet-lm:freeze=2-3")


def test_a_start_by_regression_finds_the_hard_class_where_random_ones_fail() -> None:
    """Appendix I's class: W_2 is sparse, and so is what random starts see of it."""
    task = "hierarchy:D=20,ks=1-1,graph=all,weights=sparse,alphas=1-0.3,N=3000"
    for seed in range(3):
        record = played("densenet-lm:start=regression", task, seed)
        assert record.metrics["error"] < 1e-20
    blind = [played("densenet-lm:starts=1", task, seed).metrics["error"] for seed in range(3)]
    assert max(blind) > 1e-4


def test_interpolation_is_given_up() -> None:
    """17 weights and 14 samples: nothing is left on those, and everything on others."""
    record = played("densenet-lm", f"{SMALL},N=15")
    assert record.status is Status.GAVE_UP
    assert "misses samples" in record.reason
    assert record.metrics["error"] > 1e-2


@pytest.mark.parametrize("seed", range(2))
def test_a_student_that_is_too_narrow_gives_up(seed: int) -> None:
    record = played("densenet-lm:ks=1-1", f"{SMALL},N=300", seed)
    assert record.status is Status.GAVE_UP
    assert record.metrics["identified"] == 0


def test_the_error_goes_as_the_square_of_the_noise() -> None:
    errors = [features(played("densenet-lm", f"{SMALL},N=2000,noise={n}"))[-1] for n in (1e-3, 1e-2)]
    assert math.log10(errors[1] / errors[0]) == pytest.approx(2, abs=0.2)


def test_noise_that_hides_a_layer_is_said() -> None:
    record = played("densenet-lm", f"{SMALL},N=500,noise=3")
    assert record.status is Status.GAVE_UP


def test_strict_layers_leave_the_features_as_they_are() -> None:
    record = played("densenet-layerwise:N=5000", SMALL)
    before, after = features(record)
    assert before == after > 1e-4
    assert record.metrics["error"] < record.claims[0].metrics["error"]


def test_refit_and_distil_gain_two_powers_of_the_gap_a_pass() -> None:
    passes = {gap: features(played("densenet-als", f"{SMALL},alphas=1-{gap},N=1500")) for gap in (0.2, 0.05)}
    assert passes[0.2][1] == passes[0.2][0]  # refitted, and not distilled yet
    slopes = [math.log(a / b, 4) for a, b in zip(passes[0.2], passes[0.05], strict=True)]
    for at, wanted in ((0, 2), (2, 4), (3, 6)):
        assert slopes[at] == pytest.approx(wanted, abs=0.7)


@pytest.mark.parametrize("seed", [0, 1])
def test_refit_and_distil_correct_four_layers(seed: int) -> None:
    """Two layers have products of inputs in common there: the lower one is corrected by what the upper one says."""
    task = "hierarchy:D=6,ks=3-2-1,alphas=1-0.2-0.04,truncate=2.5"
    record = played("densenet-als:passes=12", task, seed)
    errors = features(record)
    assert errors[-1] < 1e-3 * errors[4] < errors[0]
    assert record.metrics["feature_error_4"] < 1e-2


def test_without_a_gap_refit_and_distil_gives_up() -> None:
    assert played("densenet-als", f"{SMALL},alphas=1-5,N=1500").status is Status.GAVE_UP


@pytest.mark.parametrize("schedule", ["staged", "scratch"])
def test_joint_training_corrects(schedule: str) -> None:
    record = played(f"densenet-joint:schedule={schedule},steps=700,N=4000", SMALL)
    alone = features(played("densenet-layerwise:N=4000", SMALL))[0]
    assert features(record)[-1] < 0.2 * alone
    assert record.metrics["error"] < 1e-2


def test_a_rate_that_is_too_large_is_said() -> None:
    record = played("densenet-joint:optimizer=sgd,lr=1e200,steps=50,N=500", SMALL)
    assert record.status is Status.GAVE_UP
    assert "diverged" in record.reason


@pytest.mark.slow
def test_algorithm_1_distils_and_then_corrects() -> None:
    record = played("densenet-algorithm1:steps=2000,N=4000", SMALL)
    first, distilled, *_ = features(record)
    assert first == 1  # heads alone
    assert distilled < 0.2
    assert features(record)[-1] < distilled / 10
    assert record.metrics["error"] < 1e-3


def test_kernels_regress_a_polynomial_and_claim_a_function() -> None:
    record = played("kernel:degree=8,N=300", "hierarchy:D=1,ks=1-1")
    assert record.claims[-1].kind == "Function"
    assert record.metrics["error"] < 1e-6
    assert set(record.metrics) == {"error", "relative_mse", "output_error", "output_error_relative", "output_rmse"}


def test_kernels_without_features_miss_what_kernels_with_them_see() -> None:
    task = "hierarchy:D=8,ks=2,alphas=1"
    seeing, blind = (
        played(f"kernel:{k},N=200", task).metrics["error"] for k in ("features=squares,degree=2", "degree=4")
    )
    assert seeing < 1e-6
    assert blind > 0.1


def test_the_tangent_kernel_is_that_of_the_jacobian() -> None:
    spec, run = registry.task(SMALL).spec, Run.seeded(0)
    net, a, b = kernel.tangent_net(spec, 3, run), run.normal(4, 5), run.normal(6, 5)
    left, right = (densenet.jacobian(net, x, [2, 3])[1] for x in (a, b))
    torch.testing.assert_close(kernel.tangent(net, a, b), left @ right.T / 3)


@pytest.mark.parametrize("layers", [1, 2])
def test_kernels_of_wide_networks_are_the_means_over_random_ones(layers: int) -> None:
    """Ours against many random networks: values for the process, gradients for the tangent kernel."""
    run, width, draws = Run.seeded(1), 400, 60
    a, b = run.normal(2, 3), run.normal(3, 3)
    z = torch.nn.functional.pad(torch.cat([a, b]), (0, 1), value=1.0)
    process, tangent = torch.zeros(5, 5, dtype=run.dtype), torch.zeros(5, 5, dtype=run.dtype)
    for _ in range(draws):
        sizes = [4, *[width] * layers]
        weights = [run.normal(n, m).requires_grad_() for n, m in zip(sizes, [*sizes[1:], 1], strict=True)]
        h = z / 2
        for n, w in enumerate(weights):
            h = h @ w if n == 0 else (2 / width) ** 0.5 * h.relu() @ w
        process += h.detach() @ h.detach().T / draws
        rows = [torch.cat([g.flatten() for g in torch.autograd.grad(v, weights, retain_graph=True)]) for v in h[:, 0]]
        tangent += torch.stack(rows) @ torch.stack(rows).T / draws
    ours, over = arc_cosine.kernels(a, b, layers)
    assert float((over - tangent[:2, 2:]).norm() / over.norm()) < 0.15
    assert float((ours - process[:2, 2:]).norm() / ours.norm()) < 0.5


@pytest.mark.parametrize("name", ["rbf", "poly", "nngp", "relu-ntk"])
def test_every_kernel_stands_before_other_families(name: str) -> None:
    assert played(f"kernel:kernel={name},N=200", "shallow:D=3,m=2").metrics["output_error_relative"] < 0.5


@pytest.mark.parametrize("method", LEARNERS)
def test_other_families_are_declined(method: str) -> None:
    reason = registry.method(method).declines(Spec(inputs=3, widths=(2,), activations=("tanh", "identity")))
    assert "quadratic DenseNet" in str(reason)


@pytest.mark.parametrize(
    ("method", "task", "said"),
    [
        ("densenet-lm:ks=3-2-1", SMALL, "3 widths were given for 2 layers"),
        ("densenet-als", f"{SMALL},N=30", "do not fix"),
        ("densenet-layerwise", f"{SMALL},N=30", "do not fix"),
        ("densenet-lm", f"{SMALL},N=1", "too few"),
        ("densenet-lm", "hierarchy:D=2000,ks=60-60", "doubles"),
        ("kernel:N=10000000", SMALL, "doubles"),
    ],
)
def test_what_cannot_be_done_is_declined(method: str, task: str, said: str) -> None:
    reason = registry.method(method).declines(registry.task(task).spec)
    assert said in str(reason)


@pytest.mark.parametrize("method", ["sphere-lm", "spm", "spectral-norm", "sgd"])
def test_learners_of_networks_decline_densenets(method: str) -> None:
    for task in ("hierarchy", "hierarchy:ks=3,alphas=1"):
        assert registry.method(method).declines(registry.task(task).spec)
