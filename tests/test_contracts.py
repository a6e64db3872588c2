"""Every registered method before every registered task: a new entry is tested the day it is listed."""

from collections.abc import Iterator

import pytest
import torch

import paramid
from paramid import Network, Spec
from paramid.authoring import check
from paramid.contracts import descriptions, registry
from paramid.contracts.controls import Control
from paramid.contracts.method import declined
from paramid.running.cell import plan_cell
from paramid.running.inside_cell import execute
from paramid.words import naming

# Sizes at which a second is enough; an entry that is not named here runs with its defaults.
SMALL = {
    "entangled": "entangled:steps=200,epochs=1,N=640",
    "sgd": "sgd:N=200,steps=300",
    "student": "student:starts=5,N=300",
    "expand-cluster": "expand-cluster:epochs=30,again=20,N=300",
    "hermite-fused": "hermite-fused:rounds=1,N=5000",
    "cp-als": "cp-als:starts=1,iterations=50",
    "threshold-plane": "threshold-plane:starts=1,steps=20,gaussians=500",
    "shallow": "shallow:D=6,m=3",
    "biased-relu": "biased-relu:D=5,m=3,N=2000",
    "relu": "relu:D=6,widths=3",
    "pyramid": "pyramid:D=8,widths=6-4-3",
    "threshold": "threshold:D=4,m=3,N=20000",
    "quadratic": "quadratic:D=5,k=3",
    "overparam-gd": "overparam-gd:iterations=500",
    "gram-moments": "gram-moments:N=1000",
    "densenet-joint": "densenet-joint:steps=100",
    "densenet-algorithm1": "densenet-algorithm1:steps=600",
    "kernel": "kernel:N=100",
    "convnet": "convnet:epochs=2",
    "images": "images:N=200",
    "hierarchy": "hierarchy:D=5,ks=2-1,N=400",
    "trained": "trained:widths=3,steps=100",
}
METHODS = [SMALL.get(name, name) for name in registry.BUILT_IN["methods"]]
TASKS = [SMALL.get(name, name) for name in registry.BUILT_IN["tasks"]]
IDENTIFYING = [m for m in METHODS if not isinstance(registry.method(m), Control)]


def play(method: str, task: str, seed: int = 1) -> tuple[list[dict[str, object]], list[bytes]]:
    """The events of a cell without its clock, and the claims."""
    events, bodies = [], []

    def emit(event: dict[str, object], body: bytes = b"") -> None:
        events.append({k: v for k, v in event.items() if k not in ("seconds", "peak_mb")})
        bodies.append(body)

    execute(plan_cell(method, task, seed=seed, judge_inputs=500), emit, throw=True)
    return events, [b for b in bodies if b]


def pairs() -> Iterator[tuple[str, str]]:
    for method in IDENTIFYING:
        for task in TASKS:
            if declined(registry.method(method), registry.task(task)) is None:
                yield method, task


PAIRS = list(pairs())


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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize(("method", "task"), PAIRS)
def test_a_gpu_sees_the_same_teacher_and_ends_alike(method: str, task: str) -> None:
    here, there = (paramid.run(method, task, device=device) for device in ("cpu", "cuda"))
    assert here.queries == there.queries
    assert here.metrics["error"] == pytest.approx(there.metrics["error"], rel=0.1, abs=1e-6)


@pytest.mark.parametrize("group", ["methods", "tasks"])
def test_what_is_listed_without_an_import_is_so(group: str) -> None:
    load = registry.method if group == "methods" else registry.task
    listed = {entry.name: entry for entry in descriptions.entries(group)}
    for name in registry.BUILT_IN[group]:
        access = getattr(load(name), "access", frozenset())
        assert {kind.value for kind in access} <= set(listed[name].access), name
        assert listed[name].doc.endswith("."), name
