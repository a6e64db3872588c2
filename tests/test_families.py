"""Families of other kinds fit the contract without a change in the harness (see families.py)."""

import importlib
import sys
from pathlib import Path

import pytest

import paramid
from paramid.contracts import plugins, registry
from paramid.contracts.method import declined

FILE = Path(__file__).with_name("families.py")
plugins.add_plugin(FILE)
families = sys.modules["paramid_plugin_families"]


def last(method: str, task: str, **options: object) -> paramid.Record:
    return paramid.run(method, task, seed=3, throw=True, judge_inputs=1000, **options)


@pytest.mark.parametrize(("method", "task"), families.PAIRS.items())
def test_each_method_solves_its_own_family(method: str, task: str) -> None:
    record = last(method, task)
    assert record.status is paramid.Status.FINISHED
    headline = registry.task(task).headline
    errors = [c.metrics[headline] for c in record.claims if headline in c.metrics]
    assert errors[-1] < (0.02 if task == "toy-features" else 1e-8)


@pytest.mark.parametrize("method", families.METHODS)
@pytest.mark.parametrize("task", families.TASKS)
def test_a_method_declines_what_is_not_its_own(method: str, task: str) -> None:
    reason = declined(registry.method(method), registry.task(task))
    assert (reason is None) == (families.PAIRS[method] == task)


@pytest.mark.parametrize("task", families.TASKS)
def test_the_controls_stand_before_every_family(task: str) -> None:
    truth, guess = last("truth", task), last("random", task)
    if task != "toy-threshold":  # its directions are the axes, whatever the seed
        assert truth.metrics["error"] == 0
        assert guess.metrics["error"] > 0.01
        assert not guess.metrics.get("identified", 0)


def test_the_scale_of_a_relu_is_free() -> None:
    record = last("first-moment", "toy-relu")
    assert record.metrics["exact"] == 1
    assert (record.samples, record.moments) == (1000, 1)


def test_a_function_is_judged_by_its_output() -> None:
    record = last("bisection", "toy-threshold")
    assert [c.kind for c in record.claims] == ["Directions", "Function"]
    assert record.metrics["output_error"] == 0


def test_features_improve_from_claim_to_claim() -> None:
    errors = [c.metrics["feature_error"] for c in last("growing-least-squares", "toy-features").claims]
    assert errors == sorted(errors, reverse=True)
    assert len(errors) == 3


def test_an_undocumented_metric_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families.ToyFeatures, "metrics", {})
    with pytest.raises(ValueError, match="feature_error"):
        last("growing-least-squares", "toy-features")


def test_a_plugin_runs_in_its_own_process() -> None:
    record = paramid.run("growing-least-squares", "toy-features", seed=3)
    here = last("growing-least-squares", "toy-features")
    assert record.metrics["feature_error"] == pytest.approx(here.metrics["feature_error"])  # threads differ


def test_a_plugin_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    with pytest.raises(ValueError, match=r"broken\.py cannot be imported: ModuleNotFoundError"):
        plugins.add_plugin(broken)
    importlib.invalidate_caches()
    assert registry.task("toy-gram").headline == "gram_error"
