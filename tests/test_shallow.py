"""The family's options: what is drawn, what is told, what an oracle shows, and what the judge does not mind."""

from dataclasses import replace

import pytest
import torch

import paramid
from paramid import Access, Network, task
from paramid.contracts import registry
from paramid.oracle.counting import CountingOracle
from paramid.tasks.shallow import Shallow
from paramid.words import naming
from paramid.words.network import flip, read_as
from paramid.words.random_streams import generator, shifts, unit_columns
from paramid.words.spec import UNKNOWN

F64 = torch.float64


def test_unit_teachers_are_the_draws_they_always_were() -> None:
    source = generator(3, "teacher")
    w, tau = unit_columns(5, 7, source, F64), shifts("uniform", 0.5, 7, source, F64)
    teacher = Shallow(D=5, m=7).draw(3)
    assert torch.equal(teacher.weights[0], w)
    assert torch.equal(teacher.biases[0], tau)
    assert torch.equal(teacher.weights[1], torch.ones(7, 1, dtype=F64))
    assert torch.equal(teacher.biases[1], torch.zeros(1, dtype=F64))


def test_free_teachers_share_directions_and_shifts_and_fill_the_rest() -> None:
    unit, free = Shallow(D=5, m=2000).draw(3), Shallow(D=5, m=2000, outer="free").draw(3)
    norms, a = free.weights[0].norm(dim=0), free.weights[1][:, 0]
    torch.testing.assert_close(free.weights[0] / norms, unit.weights[0])
    assert torch.equal(free.biases[0], unit.biases[0])
    for size in (norms, a.abs()):
        assert 0.5 <= float(size.min()) < 0.51
        assert 1.99 < float(size.max()) <= 2
        assert float(size.mean()) == pytest.approx(1.25, abs=0.05)
    assert float((a > 0).double().mean()) == pytest.approx(0.5, abs=0.05)
    assert float(torch.corrcoef(torch.stack([norms, a.abs(), a.sign()])).triu(1).abs().max()) < 0.1
    assert len({float(Shallow(D=5, m=2, outer="free").draw(seed).biases[1]) for seed in range(9)}) == 9


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("", ((4,), "ones", "unit", "zero", "float64")),
        (",outer=free", ((4,), "free", "free", "free", "float64")),
        (",known=false", ((None,), "ones", "unit", "zero", "float64")),
        (",precision=float32", ((4,), "ones", "unit", "zero", "float32")),
    ],
)
def test_the_spec_tells_what_is_public(options: str, told: tuple[object, ...]) -> None:
    spec = task(f"shallow:D=3,m=4{options}").spec
    assert (spec.widths, spec.outer, spec.norms, spec.output_bias, spec.precision) == told


@pytest.mark.parametrize(("name", "value"), [("outer", "twos"), ("precision", "float16")])
def test_unknown_choices_are_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is '{value}'"):
        naming.settings(registry.task(f"shallow:{name}={value}"))


def test_values_are_rounded_to_single_precision_and_the_teacher_is_not() -> None:
    shallow = Shallow(D=3, m=4, precision="float32", N=50)
    kinds = frozenset({Access.QUERIES, Access.SAMPLES})
    teacher = shallow.draw(0)
    oracle = CountingOracle(teacher, shallow.spec, access=kinds, seed=0, device=torch.device("cpu"))
    x, y = oracle.sample(50).tensors()
    for values in (y, oracle.query(x)):
        assert values.dtype == F64
        assert torch.equal(values, teacher(x).float().double())
        assert not torch.equal(values, teacher(x))


@pytest.mark.parametrize("name", ["tanh", "erf", "logistic"])
def test_the_judge_does_not_mind_the_joint_sign_of_a_free_neuron(name: str) -> None:
    shallow = Shallow(D=4, m=6, outer="free", activation=name)
    teacher = shallow.draw(1)
    turned = flip(teacher, 0, torch.tensor([1, -1, -1, 1, -1, 1], dtype=F64))
    metrics = shallow.judge(turned, teacher)
    assert (metrics["exact"], metrics["identified"], metrics["sign_accuracy"]) == (1, 1, 1)
    assert metrics["error"] < 1e-15


def test_the_judge_minds_half_a_sign() -> None:
    shallow = Shallow(D=4, m=6, outer="free")
    (w, a), biases = shallow.draw(1).weights, shallow.draw(1).biases
    turned = a * torch.tensor([[-1.0], *[[1.0]] * 5], dtype=F64)
    metrics = shallow.judge(Network((w, turned), biases, ("tanh", "identity")), shallow.draw(1))
    assert (metrics["exact"], metrics["identified"]) == (0, 0)
    assert metrics["error"] > 1


@pytest.mark.parametrize("options", ["outer=free", "known=false", "outer=free,known=false", "precision=float32"])
def test_the_controls_and_every_method_stand_before_it(options: str) -> None:
    name = f"shallow:D=5,m=3,{options}"
    truth = paramid.run("truth", name, throw=True, judge_inputs=100)
    assert (truth.metrics["error"], truth.metrics["exact"]) == (0, 1)
    assert not paramid.run("random", name, throw=True, judge_inputs=100).metrics["identified"]
    for method in ("sgd:N=50,steps=20", "spm", "spectral-norm"):
        record = paramid.run(method, name, throw=True, judge_inputs=100)
        assert record.status.name in ("FINISHED", "DECLINED", "GAVE_UP")


def test_where_the_number_is_not_told_too_many_neurons_are_a_claim_and_an_error() -> None:
    shallow = Shallow(D=4, m=3, known=False)
    teacher = shallow.draw(0)
    more = Network.shallow(
        torch.cat([teacher.weights[0], torch.eye(4, 1, dtype=F64)], 1), torch.zeros(4, dtype=F64), "tanh"
    )
    assert more.problem(shallow.spec) is None
    metrics = shallow.judge(more, teacher)
    assert (metrics["excess"], metrics["identified"]) == (1, 0)
    assert more.problem(Shallow(D=4, m=3).spec)


def test_an_activation_left_open_is_judged_by_what_the_claim_says_of_it() -> None:
    family = Shallow(D=4, m=3, activation="logistic", outer="free", known_activation=False)
    teacher = family.draw(0)
    assert family.spec.activation == UNKNOWN
    mine = read_as(teacher, ("tanh", "identity"))
    assert mine is not None
    assert family.judge(mine, teacher)["identified"] == 1
    wrong = family.judge(replace(teacher, activations=("erf", "identity")), teacher)
    assert (wrong["identified"], wrong["recovered"], wrong["excess"]) == (0, 0, 0)
