"""`expand-cluster` finds widths and neurons where students have lost nothing, and gives up elsewhere."""

from dataclasses import replace

import pytest
import torch

from paramid import Access, GiveUp, Network, Run, Task, task
from paramid.methods.expand_cluster import ExpandCluster
from paramid.oracle.counting import CountingOracle
from paramid.words.spec import Spec

CPU = torch.device("cpu")
EXACT = ExpandCluster(training="lm", rho=2, cut="gap")
QUICK = ExpandCluster(students=4, epochs=20, again=10)


def played(method: ExpandCluster, family: Task, seed: int = 0) -> tuple[list[Network], list[dict[str, float]], str]:
    """The claims, their metrics, and the reason for giving up, if any."""
    teacher = family.draw(seed)
    assert method.declines(family.spec) is None
    oracle = CountingOracle(teacher, family.spec, access=frozenset({Access.SAMPLES}), seed=seed, device=CPU)
    claims, reason = list[Network](), ""
    try:
        for claim in method.identify(oracle, Run.seeded(seed)):
            assert claim.problem(family.spec) is None
            claims.append(claim)
    except GiveUp as error:
        reason = str(error)
    return claims, [family.judge(claim, teacher) for claim in claims], reason


@pytest.mark.parametrize(
    "name",
    [
        "shallow:D=3,m=2,N=150,outer=free",
        "shallow:D=3,m=2,N=150,activation=logistic,outer=free",
        "shallow:D=3,m=2,N=150,activation=softplus",
        "relu:D=4,widths=2,N=200",
        "relu:D=4,widths=2,outputs=2,N=200",
    ],
)
def test_neurons_that_students_share_are_the_teachers(name: str) -> None:
    _, told, reason = played(EXACT, task(name))
    assert (told[-1]["exact"], reason) == (1, "")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_width_that_is_not_told_is_found(seed: int) -> None:
    claims, told, reason = played(EXACT, task("shallow:D=3,m=3,N=400,outer=free,known=false"), seed)
    assert (claims[-1].widths, told[-1]["exact"], reason) == ((3,), 1, "")


@pytest.mark.slow
def test_layers_are_collapsed_one_after_the_other() -> None:
    _, told, reason = played(EXACT, task("trained:widths=3-2,steps=300,N=1500"))
    assert (told[-1]["exact"], reason) == (1, "")


@pytest.mark.slow
def test_the_published_training_comes_near_and_says_what_it_is() -> None:
    """As published but for shorter training: its network is near, or given up for what least squares would move."""
    _, told, reason = played(ExpandCluster(epochs=8000, again=3000), task("shallow:D=3,m=2,N=500,outer=free"))
    assert told[-1]["weight_error"] < 1e-2 or "would move" in reason or "clusters" in reason


def test_too_few_samples_are_fitted_and_given_up() -> None:
    _, told, reason = played(EXACT, task("shallow:D=4,m=3,N=30,outer=free"))
    assert not told[-1]["identified"]
    assert "samples held back" in reason or "in common" in reason or "are left in layer" in reason


def test_students_that_learn_nothing_are_given_up() -> None:
    _, told, reason = played(QUICK, task("shallow:D=4,m=3,N=300"))
    assert told
    assert reason


def test_a_teacher_told_to_be_narrower_is_given_up() -> None:
    family = task("shallow:D=3,m=3,N=300,outer=free")
    spec = replace(family.spec, widths=(2,))
    oracle = CountingOracle(family.draw(0), spec, access=EXACT.access, seed=0, device=CPU)
    claims = EXACT.identify(oracle, Run.seeded(0))
    with pytest.raises(GiveUp, match="clusters"):
        assert all(claim.problem(spec) is None for claim in claims)


def test_labels_without_a_teacher_have_no_width() -> None:
    family = task("shallow:D=3,m=2,N=60,outer=free,known=false,noise=5")
    _, _, reason = played(EXACT, family)
    assert "fit no better than fewer" in reason


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"activations": ("square", "identity")}, "square cannot be told apart"),
        ({"activations": ("sine", "identity")}, "half turns would split the clusters of sine"),
        ({"widths": (3, 3), "activations": ("relu", "relu", "identity")}, "below one hidden layer alone"),
        ({"activations": ("tanh", "tanh")}, "needs linear outputs"),
        ({"activations": ("features", "identity")}, "cannot build a student of features"),
        ({"widths": (10**6,)}, "doubles of 8 bytes"),
    ],
)
def test_what_it_cannot_cluster_is_declined(told: dict[str, object], match: str) -> None:
    spec: Spec = replace(task("shallow:D=3,m=2").spec, **told)
    assert match in str(ExpandCluster().declines(spec))
    assert ExpandCluster().declines(replace(spec, widths=(None,), activations=("tanh", "identity"))) is None


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"training": "sgd"}, "adam or lm was wanted"),
        ({"cut": "knee"}, "most or gap was wanted"),
        ({"students": 3}, "2 neurons a cluster were wanted"),
        ({"rho": 0.5}, "at least 1 was wanted"),
        ({"N": 0}, "a positive number was wanted"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ExpandCluster(**options)
