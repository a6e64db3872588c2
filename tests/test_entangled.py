"""Deep pyramids: by the thesis' method up to its plateau, by gauge labels to rounding; neither claims in error."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import paramid
from paramid import EntangledWeights, GiveUp, Network, Run
from paramid.contracts import registry
from paramid.oracle.counting import CountingOracle
from paramid.records.record import Record

PYRAMID, FOUR = "pyramid:D=10,widths=8-5-4,output=identity", "pyramid:D=20,widths=20-14-9-6,output=identity"
THESIS = "entangled:derivatives=exact,epochs=1,N=640,steps=300"
NEITHER = [
    "pyramid:D=8,widths=6-7-9-3",
    "pyramid:D=12,widths=10-6-4,shift=0",
    "pyramid:D=12,widths=10-6-4,noise=0.01",
    "shallow:D=6,m=3",
]


class Remembering(CountingOracle):
    """An oracle that remembers how far away it was asked."""

    furthest = 0.0

    def query(self, x: Tensor, /) -> Tensor:
        self.furthest = max(self.furthest, float(x.norm(dim=1).max()))
        return super().query(x)


def oracle_of(task: str, method: str, **wrong: object) -> tuple[Network, Remembering]:
    family = registry.task(task)
    spec = replace(family.spec, **wrong) if wrong else family.spec
    teacher, access = family.draw(1), registry.method(method).access
    return teacher, Remembering(teacher, spec, access=access, seed=1, device=torch.device("cpu"))


def labelled(record: Record) -> dict[str, float]:
    return [c.metrics for c in record.claims if c.kind == "EntangledWeights"][-1]


@pytest.mark.parametrize("output", ["identity", "tanh"])
def test_gauge_identifies_within_its_ball(output: str) -> None:
    task = f"pyramid:D=12,widths=10-6-4,output={output}"
    teacher, oracle = oracle_of(task, "entangled-gauge")
    assert not registry.method("entangled-gauge").declines(oracle.spec)
    *_, weights, network = registry.method("entangled-gauge").identify(oracle, Run.seeded(1))
    assert registry.task(task).judge(network, teacher)["exact"] == 1
    assert isinstance(weights, EntangledWeights)
    assert registry.task(task).judge(weights, teacher)["layers_right"] == 1
    assert oracle.furthest < 0.2


@pytest.mark.parametrize(("task", "bound"), [("pyramid:D=8,widths=6-4-3", 2.9), ("pyramid:D=12,widths=14-6-4", 2.4)])
def test_gauge_takes_few_rows_for_a_parameter(task: str, bound: float) -> None:
    record = paramid.run("entangled-gauge", task, seed=1, throw=True, judge_inputs=100)
    assert record.metrics["exact"] == 1
    assert record.metrics["rows_per_parameter"] < bound


def test_gauge_asks_for_hessians_under_noise() -> None:
    record = paramid.run(
        "entangled-gauge", "pyramid:D=8,widths=6-4-3,noise=1e-10", seed=13, throw=True, judge_inputs=100
    )
    assert record.metrics["identified"] == 1
    assert record.queries > 80 * (8 * 8 + 8 + 1)


def test_another_try_is_at_another_point_of_the_ball() -> None:
    _, oracle = oracle_of(PYRAMID, "entangled-gauge", widths=(7, 6))
    with pytest.raises(GiveUp):
        list(registry.method("entangled-gauge:tries=2").identify(oracle, Run.seeded(1)))
    assert oracle.usage.queries == 2 * math.comb(13, 3)
    assert 0.19 < oracle.furthest <= 0.2


@pytest.mark.parametrize("widths", ["14-6-4", "9-11-5", "10-12-11-8"])
def test_gauge_identifies_layers_wider_than_what_feeds_them(widths: str) -> None:
    record = paramid.run("entangled-gauge", f"pyramid:D=12,widths={widths}", seed=1, throw=True, judge_inputs=100)
    assert (record.status.name, record.metrics["exact"]) == ("FINISHED", 1)


@pytest.mark.slow
def test_gauge_tells_three_hidden_layers() -> None:
    record = paramid.run("entangled-gauge", FOUR, seed=2, throw=True)
    assert (record.metrics["exact"], labelled(record)["layers_right"]) == (1, 1)


@pytest.mark.parametrize("method", ["entangled-gauge:tries=1", THESIS])
@pytest.mark.parametrize("widths", [(7, 6), (8, 4), (6, 5)])
def test_wrong_widths_are_given_up(method: str, widths: tuple[int, ...]) -> None:
    _, oracle = oracle_of(PYRAMID, method, widths=widths)
    with pytest.raises(GiveUp):
        list(registry.method(method).identify(oracle, Run.seeded(1)))


@pytest.mark.slow
def test_the_thesis_ends_on_a_plateau_and_says_so() -> None:
    record = paramid.run(THESIS, PYRAMID, seed=1, throw=True)
    metrics = labelled(record)
    assert (record.status.key, metrics["layers_right"], metrics["false_positives"]) == ("gave_up", 1, 0)
    assert "errors of directions stay" in record.reason
    assert 1e-4 < metrics["entangled_error_1"] < 5e-2
    assert metrics["entangled_error_3"] < 1e-6
    assert 1e-3 < record.metrics["output_error_relative"] < 0.3
    assert not record.metrics["identified"]


@pytest.mark.slow
def test_a_full_refinement_goes_on_from_the_plateau() -> None:
    record = paramid.run(f"{THESIS},refine=full", PYRAMID, seed=1, throw=True)
    assert (record.metrics["exact"], record.queries) == (1, 0)


@pytest.mark.slow
def test_more_layers_need_the_labels_of_the_oracle() -> None:
    assert "assisted=true" in paramid.run(THESIS, FOUR, throw=True).reason
    record = paramid.run(f"{THESIS},assisted=true", FOUR, seed=1, throw=True)
    assert (record.stats["assisted"], labelled(record)["layers_right"]) == (1, 1)
    assert "labels" in {access.value for access in registry.method("entangled:assisted=true").access}


@pytest.mark.slow
def test_directions_alone_do_without_a_shape() -> None:
    record = paramid.run("entangled:until=directions,steps=100", "pyramid:D=8,widths=9-3-2", throw=True)
    assert (record.status.key, record.claims[-1].kind) == ("finished", "EntangledWeights")


def test_near_points_follow_either_law_of_the_thesis() -> None:
    spec = registry.task("pyramid:D=10,widths=8-5-4").spec
    normal = registry.method("entangled:radius=0.01")
    sphere = registry.method("entangled:radius=0.01,points=sphere")
    x, y = (m.near(spec, Run.seeded(1)).norm(dim=1) for m in (normal, sphere))
    assert (len(x), len(y)) == (4 * 17, 20 * 5)
    assert torch.allclose(y, torch.full_like(y, 0.01))
    assert 1e-4 < x.std() < 1e-2 < 1.2 * x.mean()
    assert len(replace(sphere, locations=7).near(spec, Run.seeded(1))) == 7


@pytest.mark.parametrize("method", ["entangled", "entangled-gauge"])
@pytest.mark.parametrize("task", NEITHER)
def test_what_neither_can_do_is_declined(method: str, task: str) -> None:
    assert registry.method(method).declines(registry.task(task).spec)


@pytest.mark.parametrize("method", ["entangled", "entangled-gauge"])
def test_activations_without_a_bend_are_declined(method: str) -> None:
    spec = replace(registry.task(PYRAMID).spec, activations=("relu", "relu", "identity"))
    assert "relu" in (registry.method(method).declines(spec) or "")
