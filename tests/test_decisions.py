"""Decisions as an access: what crosses, what is counted, what is drawn for them."""

import pytest
import torch

import paramid
from paramid import Access, Network, Spec
from paramid.oracle.counting import CountingOracle
from paramid.oracle.protocol import AccessRefused, BudgetSpent
from paramid.tasks.relu import Relu, felt
from paramid.words.network import normalise

DECISIONS = frozenset({Access.DECISIONS})


def network(outputs: int) -> Network:
    run = paramid.Run.seeded(3)
    return Network.shallow(run.normal(4, 5), run.normal(1, 5)[0], "tanh", run.normal(5, outputs))


def oracle(outputs: int = 1, access: frozenset[Access] = DECISIONS, limit: int | None = None) -> CountingOracle:
    spec = Spec(inputs=4, widths=(5,), outputs=outputs, activations=("tanh", "identity"))
    device = torch.device("cpu")
    return CountingOracle(network(outputs), spec, access=access, seed=0, device=device, query_limit=limit)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_decision_is_the_largest_output_or_the_sign_of_the_only_one(outputs: int) -> None:
    asked, x = oracle(outputs), paramid.Run.seeded(5).normal(200, 4)
    y, told = network(outputs)(x), asked.decide(x)
    assert told.shape == (200, 1)
    assert told.dtype == torch.float64
    assert torch.equal(told[:, 0], (y[:, 0] > 0).double() if outputs == 1 else y.argmax(1).double())
    assert set(told.unique().tolist()) == set(range(max(2, outputs)))
    assert asked.usage.snapshot() == {"queries": 200, "samples": 0, "derivatives": 0, "moments": 0}


def test_who_is_granted_decisions_sees_no_values_and_the_other_way_round() -> None:
    x = torch.zeros(1, 4, dtype=torch.float64)
    with pytest.raises(AccessRefused, match="queries were asked for; task and method agreed on decisions"):
        oracle().query(x)
    with pytest.raises(AccessRefused, match="decisions were asked for; task and method agreed on queries"):
        oracle(access=frozenset({Access.QUERIES})).decide(x)
    with pytest.raises(BudgetSpent, match="3 queries asked, 2 granted"):
        oracle(limit=2).decide(x.expand(3, 4))


@pytest.mark.parametrize(
    "options", [{"widths": (3,)}, {"widths": (8, 4)}, {"widths": (5,), "law": "adam", "steps": 50}]
)
def test_both_decisions_are_drawn_and_the_scale_is_one(options: dict[str, object]) -> None:
    task = Relu(D=6, decisions=True, **options)  # type: ignore[arg-type]
    drawn, plain = task.draw(2), Relu(D=6, **options).draw(2)  # type: ignore[arg-type]
    assert float(drawn(felt(6)).mean()) == pytest.approx(0, abs=1e-12)
    assert 0.2 < float((drawn(felt(6)) > 0).double().mean()) < 0.8
    assert float(normalise(drawn).weights[-1].norm()) == pytest.approx(1)
    x = paramid.Run.seeded(0).normal(9, 6)
    slopes = (drawn(x) - drawn(-x)) / (plain(x) - plain(-x))
    assert float(slopes.min()) == pytest.approx(float(slopes.max()))
    assert float(slopes.min()) > 0
    assert task.access == DECISIONS
    assert task.spec.outer == "unit"


def test_decisions_are_those_of_one_output() -> None:
    with pytest.raises(ValueError, match="decisions are those of one output"):
        Relu(outputs=2, decisions=True)


def test_methods_that_need_values_are_declined() -> None:
    record = paramid.run("kinks", "relu:D=4,widths=3,decisions=true")
    assert record.status is paramid.Status.DECLINED
    assert record.reason == "needs queries; the task grants decisions"
