"""Every registered method before every registered task: a new entry is tested the day it is listed."""

import pytest
import torch

import paramid
from paramid import Network, Spec
from paramid.authoring import check
from paramid.contracts import descriptions, registry
from paramid.words import naming
from tests.contract_pairs import IDENTIFYING, METHODS, PAIRS, TASKS, play


@pytest.mark.parametrize(("method", "task"), PAIRS)
def test_a_pair_ends_with_a_judged_claim(method: str, task: str) -> None:
    events, claims = play(method, task)
    end = events[-1]
    assert end["status"] in ("finished", "gave_up"), end
    assert claims
    told = [e["metrics"] for e in events if e["event"] == "claim"]
    assert any(told) or "output_error" in end["metrics"]  # functions have outputs alone


@pytest.mark.parametrize(("method", "task"), PAIRS)
def test_one_seed_is_one_record(method: str, task: str) -> None:
    first, second = play(method, task), play(method, task)
    assert first == second
    assert play(method, task, seed=2) != first


@pytest.mark.parametrize("method", IDENTIFYING)
def test_every_method_keeps_its_contract(method: str) -> None:
    checked = paramid.check(method)
    assert not checked.problems, str(checked)
    assert {f.probe for f in checked.findings} == set(check.PROBES)


@pytest.mark.parametrize("method", IDENTIFYING)
def test_every_method_declines_what_it_was_not_made_for(method: str) -> None:
    odd = Spec(inputs=3, widths=(None, None), outputs=2, activations=("step", "step", "polynomial"))
    assert isinstance(registry.method(method).declines(odd), str)


@pytest.mark.parametrize("task", TASKS)
def test_the_truth_scores_zero_and_a_guess_is_not_identified(task: str) -> None:
    truth, guess = (play(name, task)[0] for name in ("truth", "random"))
    last = [e for e in truth if e["event"] == "claim"][-1]["metrics"] | truth[-1]["metrics"]
    assert (last["error"], last["exact"], last["identified"]) == (0, 1, 1)
    assert last["output_error"] == 0
    assert not [e for e in guess if e["event"] == "claim"][-1]["metrics"]["identified"]


@pytest.mark.parametrize("text", [*METHODS, *TASKS])
def test_names_survive_the_round_trip(text: str) -> None:
    group = "methods" if text in METHODS else "tasks"
    canonical = registry.canonical(group, text)
    assert registry.canonical(group, canonical) == canonical
    first, second = (getattr(registry, group[:-1])(t) for t in (text, canonical))
    assert naming.settings(first) == naming.settings(second)


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
def test_spm_identifies_every_monotone_activation(name: str) -> None:
    record = paramid.run("spm", f"shallow:D=6,m=4,activation={name}", throw=True)
    assert record.metrics["identified"] == 1


def test_squares_are_judged_by_their_gram_matrix() -> None:
    task = registry.task("shallow:D=4,m=6,activation=square")
    teacher = task.draw(0)
    turn = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64))[0]
    rotated = Network.shallow(teacher.weights[0] @ turn, teacher.biases[0] @ turn, "square")
    assert task.judge(rotated, teacher)["exact"] == 1


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize(("method", "task"), PAIRS)
def test_a_gpu_ends_alike(method: str, task: str) -> None:
    here, there = (play(method, task, device=device)[0][-1] for device in ("cpu", "cuda"))
    assert there["status"] == here["status"]
    assert there["metrics"].get("identified") == here["metrics"].get("identified")


@pytest.mark.parametrize("group", ["methods", "tasks"])
def test_what_is_listed_without_an_import_is_so(group: str) -> None:
    load = registry.method if group == "methods" else registry.task
    listed = {entry.name: entry for entry in descriptions.entries(group)}
    for name in registry.BUILT_IN[group]:
        access = getattr(load(name), "access", frozenset())
        assert {kind.value for kind in access} <= set(listed[name].access), name
        assert listed[name].doc.endswith("."), name
