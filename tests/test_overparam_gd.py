"""`overparam-gd` fits, says when a fit is an identification, and ends honestly where it is none."""

from dataclasses import replace

import pytest
import torch

from paramid import Access, GiveUp, Network, Run, Spec, Task
from paramid.methods.overparam_gd import OverparamGD, visible
from paramid.oracle.counting import CountingOracle
from paramid.tasks.quadratic import Quadratic
from paramid.tasks.shallow import Shallow

CPU = torch.device("cpu")
LM = OverparamGD(iterations=300, polish="lm")


def played(method: OverparamGD, family: Task, seed: int = 0) -> tuple[list[dict[str, float]], str]:
    """The metrics of every claim, and the reason for giving up, if any."""
    teacher = family.draw(seed)
    assert method.declines(family.spec) is None
    oracle = CountingOracle(teacher, family.spec, access=frozenset({Access.SAMPLES}), seed=seed, device=CPU)
    told, reason = [], ""
    try:
        for claim in method.identify(oracle, Run.seeded(seed)):
            assert isinstance(claim, Network)
            assert claim.problem(family.spec) is None
            told.append(family.judge(claim, teacher))
    except GiveUp as error:
        reason = str(error)
    return told, reason


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 80), (5, 185)])
def test_exact_width_is_identified_from_twice_the_freedom(k: int, n: int) -> None:
    """20 teachers of D = 20, best of 4 starts of gradient descent alone, N ≥ 2.05 degrees of freedom: 95 % ≤ 1e-9."""
    family = Quadratic(D=20, k=k, N=n, instances=20)
    assert n / visible(family.spec) >= 2.05
    told, _ = played(OverparamGD(train="weights"), family)
    assert told[-1]["exact"] >= 0.95
    assert told[-1]["gram_error"] < 1e-9


def test_exact_width_alone_is_identified_and_vouched_for() -> None:
    told, reason = played(OverparamGD(), Quadratic(D=8, k=2, N=40))
    assert (told[-1]["exact"], reason) == (1, "")


@pytest.mark.parametrize("k", [12, 24])
def test_full_rank_from_half_the_samples_fits_and_is_not_identified(k: int) -> None:
    told, reason = played(LM, Quadratic(D=12, k=k, rank=12, N=39))
    assert told[-1]["training_rmse"] < 1e-6
    assert told[-1]["gram_error"] > 0.3
    assert reason == "fits 39 samples, which leave 78 numbers of the network open: fits, not identified"


def test_over_parameterised_learners_are_identified_from_more_samples_than_numbers() -> None:
    told, reason = played(LM, Quadratic(D=6, k=9, rank=2, N=26))
    assert told[-1]["gram_error"] < 1e-10
    assert reason == ""


def test_random_labels_are_fitted_where_weights_outnumber_them() -> None:
    """v = ±1: L = 0 with k D = 2 N; v = 1: never below the floor of outputs that cannot be negative."""
    family, both = Quadratic(D=8, k=10, N=30, labels="random"), replace(LM, v0="balanced", train="weights")
    told, reason = played(both, family)
    assert told[-1]["training_rmse"] < 1e-12
    assert "which leave 36 numbers" in reason
    alone, _ = played(replace(LM, train="weights"), family)
    assert alone[-1]["training_rmse"] > 0.3


def test_softplus_fits_in_the_papers_regime_and_says_so() -> None:
    told, reason = played(LM, Quadratic(D=5, k=9, N=30, activation="softplus"))
    assert told[-1]["fitted"] == 1
    assert told[-1]["test_error"] > 1e-3
    assert "which leave 54 numbers of the network open" in reason


def test_ends_are_claimed_from_the_worst_start_to_the_best_after_snapshots() -> None:
    told, _ = played(
        replace(LM, starts=6, iterations=100), Quadratic(D=5, k=5, N=25, activation="softplus", instances=2)
    )
    assert len(told) == 3 + 6
    ends = [metrics["fitted"] for metrics in told[3:]]
    assert ends == sorted(ends)
    losses = [metrics["training_rmse"] for metrics in told[:3]]
    assert losses == sorted(losses, reverse=True)


def test_a_learner_too_narrow_gives_up() -> None:
    told, reason = played(LM, Quadratic(D=6, k=1, rank=3, N=60))
    assert told[-1]["gram_error"] > 0.1
    assert "1 of 1 fits leave up to" in reason


@pytest.mark.parametrize(("noise", "said"), [(1e-3, ""), (1.0, "noise moves the fit by about")])
def test_label_noise(noise: float, said: str) -> None:
    told, reason = played(LM, Quadratic(D=6, k=2, N=200, noise=noise))
    assert reason.startswith(said)
    assert bool(told[-1]["identified"]) == (not said)


def test_the_error_is_proportional_to_the_noise() -> None:
    errors = [played(LM, Quadratic(D=6, k=2, N=200, noise=s))[0][-1]["gram_error"] for s in (1e-5, 1e-3)]
    assert errors[1] / errors[0] == pytest.approx(100, rel=0.1)


def test_labels_of_another_structure_are_not_explained() -> None:
    """A net of softplus behind the spec of squares."""
    family, other = Quadratic(D=5, k=5, N=60), Quadratic(D=5, k=5, N=60, activation="softplus")
    oracle = CountingOracle(other.draw(0), family.spec, access=frozenset({Access.SAMPLES}), seed=0, device=CPU)
    with pytest.raises(GiveUp, match="a minimum that is none, or slow"):
        list(LM.identify(oracle, Run.seeded(0)))


@pytest.mark.parametrize(("d", "m", "shift"), [(5, 3, 0.5), (4, 12, 0.5), (4, 3, 0.0)])
def test_shallow_squares_with_shifts(d: int, m: int, shift: float) -> None:
    family = Shallow(D=d, m=m, shift=shift, activation="square")
    told, reason = played(LM, family)
    assert (told[-1]["exact"], reason) == (1, "")


def test_the_step_of_the_curvature_descends() -> None:
    told, _ = played(OverparamGD(step="curvature", iterations=1000), Quadratic(D=5, k=2, N=30))
    losses = [metrics["training_rmse"] for metrics in told[:4]]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-2 * losses[0]


def test_a_share_of_the_constant_step_takes_as_many_more_steps() -> None:
    """The flow is the same: ten steps of a tenth are one of a whole, to first order in the step."""
    whole, tenth = (
        played(OverparamGD(step="curvature", step_scale=s, iterations=10), Quadratic(D=5, k=2, N=30))[0]
        for s in (1e-3, 1e-4)
    )
    start = whole[0]["training_rmse"]
    assert tenth[1]["training_rmse"] == pytest.approx(start, rel=1e-4)
    assert whole[1]["training_rmse"] < start * (1 - 1e-3)


SPEC = Quadratic(D=6, k=3).spec


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"outputs": 2}, "one linear output"),
        ({"widths": (3, 3), "activations": ("square", "square", "identity")}, "one hidden layer"),
        ({"activations": ("tanh", "identity")}, "needs squares, or softplus without shifts"),
        ({"activations": ("softplus", "identity"), "shift": 0.5}, "softplus without shifts"),
        ({"widths": (None,)}, "needs to know the learner's width"),
        ({"output_bias": "free"}, "trains no output bias"),
        ({"samples": 10**9}, "samples"),
        ({"inputs": 3000, "widths": (3000,)}, "doubles of 8 bytes"),
    ],
)
def test_it_declines_with_a_reason(changes: dict[str, object], reason: str | None) -> None:
    spec: Spec = replace(SPEC, **changes)
    said = LM.declines(spec)
    assert said is None if reason is None else reason in str(said)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"v0": "zeros"}, "ones or rademacher or balanced was wanted"),
        ({"train": "none"}, "auto or both or weights was wanted"),
        ({"step": "armijo"}, "bold or curvature was wanted"),
        ({"polish": "newton"}, "none or lm was wanted"),
        ({"starts": 0}, "starts is 0; a positive number was wanted"),
        ({"init": -1.0}, "init is -1.0; a positive number was wanted"),
        ({"step_scale": 0.0}, "step_scale is 0.0; a positive number was wanted"),
        ({"descent": "newton"}, "gradient or trust or cubic was wanted"),
        ({"kicks": -1}, "kicks is -1; at least 0 was wanted"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        OverparamGD(**options)
