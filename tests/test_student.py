"""`student` is exact where samples tell its teacher, and gives up where they do not."""

from dataclasses import replace

import pytest
import torch

from paramid import Access, GiveUp, Network, Run, Task, task
from paramid.methods.student import Student
from paramid.oracle.counting import CountingOracle
from paramid.words.spec import Spec

CPU = torch.device("cpu")


def played(method: Student, family: Task, seed: int = 0) -> tuple[list[dict[str, float]], str, int]:
    """The metrics of every claim, the reason for giving up, if any, and the samples taken."""
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
    return told, reason, oracle.usage.samples


@pytest.mark.parametrize(
    "name",
    [
        "shallow:D=4,m=3",
        "shallow:D=4,m=3,outer=free",
        "shallow:D=5,m=4,activation=logistic,outer=free",
        "shallow:D=4,m=3,activation=softplus",
        "shallow:D=3,m=6",  # more neurons than D(D-1)/2
        "relu:D=6,widths=3",
        "trained:widths=3,steps=100",
        "relu:D=4,widths=3,outputs=3",
        "pyramid:D=6,widths=4-3",
    ],
)
def test_teachers_of_many_kinds_are_exact(name: str) -> None:
    told, reason, _ = played(Student(), task(name))
    assert (told[-1]["exact"], reason) == (1, "")


@pytest.mark.parametrize("options", [{"optimizer": "lbfgs"}, {"optimizer": "bfgs"}, {"descent": "none"}])
def test_other_second_phases_are_exact(options: dict[str, str]) -> None:
    told, reason, _ = played(Student(starts=40, **options), task("shallow:D=4,m=2"))
    assert (told[-1]["exact"], reason) == (1, "")


def test_the_flow_of_the_paper_leads_there_too() -> None:
    told, reason, _ = played(Student(starts=3, descent="flow"), task("shallow:D=3,m=2"))
    assert (told[-1]["exact"], reason) == (1, "")


@pytest.mark.parametrize("name", ["shallow:D=4,m=2,outer=free", "shallow:D=4,m=2,outer=free,activation=logistic"])
def test_a_wider_student_is_merged_to_its_teacher(name: str) -> None:
    told, reason, _ = played(Student(rho=1.5), task(name))
    assert (told[-1]["exact"], reason) == (1, "")


def test_twice_the_parameters_are_enough_and_as_many_are_not() -> None:
    """15 parameters of 3 neurons; a tenth of the samples is held back."""
    told, reason, asked = played(Student(), task("shallow:D=4,m=3,N=32"))
    assert (told[-1]["exact"], reason, asked) == (1, "", 32)
    told, reason, _ = played(Student(), task("shallow:D=4,m=3,N=15"))
    assert not told[-1]["identified"]
    assert "13 values do not tell 15 parameters" in reason


def test_a_student_too_narrow_gives_up() -> None:
    family = task("shallow:D=4,m=4,outer=free")
    narrow, method = replace(family.spec, widths=(3,)), Student(starts=20)
    oracle = CountingOracle(family.draw(0), narrow, access=method.access, seed=0, device=CPU)
    with pytest.raises(GiveUp, match=r"the best of 20 starts: .* is left of the values of samples held back"):
        list(method.identify(oracle, Run.seeded(0)))


def test_noise_is_met_at_the_rate_of_its_samples() -> None:
    errors = []
    for rows in (500, 8000):
        told, reason, _ = played(Student(starts=20), task(f"shallow:D=4,m=2,noise=0.01,N={rows}"))
        assert reason == ""
        errors.append(told[-1]["weight_error"])
    assert 1.5 < errors[0] / errors[1] < 12


def test_too_much_noise_is_given_up() -> None:
    _, reason, _ = played(Student(starts=20), task("shallow:D=4,m=2,noise=0.5,N=300"))
    assert "uncertain by" in reason


def test_rare_kinks_are_given_up() -> None:
    """A neuron of the second layer that no sample reaches."""
    _, reason, _ = played(Student(), task("relu:D=5,widths=3-3"))
    assert "layer 2 bends at" in reason


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"widths": (None,)}, "number of neurons"),
        ({"activations": ("square", "identity")}, "square cannot be told apart"),
        ({"activations": ("identity", "identity")}, "identity cannot be told apart"),
        ({"activations": ("features", "identity")}, "cannot build a student of features"),
        ({"widths": (), "activations": ("tanh",)}, "needs a hidden layer"),
        ({"widths": (10**6,)}, "doubles of 8 bytes"),
    ],
)
def test_what_it_cannot_learn_is_declined(told: dict[str, object], match: str) -> None:
    spec: Spec = replace(task("shallow:D=3,m=2").spec, **told)
    assert match in str(Student().declines(spec))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"optimizer": "adam"}, "lm or lbfgs or bfgs was wanted"),
        ({"descent": "sgd"}, "adam or flow or none was wanted"),
        ({"rho": 0.5}, "at least 1 was wanted"),
        ({"starts": 0}, "a positive number was wanted"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Student(**options)
