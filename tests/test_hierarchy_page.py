"""The page beside the paper of backward feature correction: what records say of its statements."""

import math
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from benchmarks.reproduce.hierarchy import (
    algorithm1,
    algorithm1_lines,
    correlations,
    freeze,
    hard,
    theorems,
    verdicts,
)
from benchmarks.reproduce.hierarchy.page import EVERY
from paramid import Run, Status
from paramid.records.record import Record, Stage
from paramid.running import suites

Metrics = dict[str, float]


def records_of(suite: str, told: Callable[[str, str], Metrics], *, ended: Status = Status.FINISHED) -> list[Record]:
    """The suite's cells with these metrics, by method and task."""
    return [
        Record(
            key="k", method=c.method, task=c.task, seed=c.seed, device="cpu", threads=1, budget={}, status=ended,
            seconds=1.0, metrics=told(c.method, c.task),
        )
        for c in suites.suite(suite).cells()
    ]  # fmt: skip


def test_every_number_of_the_paper_is_named() -> None:
    told = " ".join(item.source for item in EVERY)
    figures = {int(n) for n in re.findall(r"\d+", " ".join(t for t in told.split("Figure") if t))}
    assert set(range(1, 15)) <= figures
    for name in (
        "Theorem 1",
        "Theorem 2",
        "Theorem 3",
        "Theorem 4",
        "I.1",
        "I.3",
        "I.6",
        "I.7",
        "I.5",
        "(1.2)",
        "(3.3)",
        "I.4",
        "I.2",
        "H.1",
        "C.1",
        "C.2",
        "C.3",
        "C.4",
        "C.5",
        "C.6",
        "C.7",
        "B.1",
        "B.2",
        "B.3",
        "B.4",
        "F.3",
        "F.4",
        "5.1",
        "Remark 2.1",
        "Remark 3.1",
        "Remark 3.2",
        "Remark 6.1",
    ):
        assert name in told
    assert all(item.judge or item.word for item in EVERY)


def test_a_finished_run_that_is_off_is_told() -> None:
    good = records_of("bfc-algorithm1", lambda *_: {"feature_error_2": 1e-5, "feature_error_3": 1e-3})
    assert algorithm1.honest({"bfc-algorithm1": good})[0]
    bad = [replace(good[0], metrics={"feature_error_2": 1.0}), *good[1:]]
    held, numbers = algorithm1.honest({"bfc-algorithm1": bad})
    assert held is False
    assert numbers.startswith("1 of 48 finished runs")
    given_up = [replace(bad[0], status=Status.GAVE_UP), *good[1:]]
    assert algorithm1.honest({"bfc-algorithm1": given_up})[0] is True


def test_algorithm_1_is_learnt_where_all_its_runs_are() -> None:
    told = {"feature_error_2": 1e-5, "feature_error_3": 1e-3}
    good = records_of("bfc-algorithm1", lambda *_: told)
    lost = records_of("bfc-algorithm1", lambda *_: {}, ended=Status.GAVE_UP)
    some = [replace(r, reason="layer 3 was never trained") if r.seed else g for r, g in zip(lost, good, strict=True)]
    for judge in (algorithm1.every_layer, algorithm1.by_sgd, algorithm1.on_example("§6.1")):
        assert judge({"bfc-algorithm1": good})[0] is True
        assert judge({"bfc-algorithm1": []})[0] is None
        held, numbers = judge({"bfc-algorithm1": some})
        assert held is None
        assert "layer … was never trained" in numbers
    assert algorithm1.every_layer({"bfc-algorithm1": good})[1].startswith("40 of 40 runs learn every layer")
    assert algorithm1.honest({"bfc-algorithm1": lost})[0] is None


def test_exponents_that_are_not_known_decide_nothing() -> None:
    lost = {"bfc": records_of("bfc", lambda *_: {}, ended=Status.TIMED_OUT)}
    for judge in (verdicts.forward, verdicts.passes_add_powers, verdicts.noise_is_squared):
        assert judge(lost)[0] is None
    assert verdicts.near(2.1, 2.0) is True
    assert verdicts.near(1.0, 2.0) is False


def test_zero_loss_with_wrong_features_is_looked_for() -> None:
    good = records_of("bfc", lambda *_: {"error": 1e-20, "feature_error_2": 1e-20})
    assert verdicts.wrong_at_zero({"bfc": good})[0] is None
    one = replace(good[0], metrics={"error": 1e-20, "feature_error_2": 1.0})
    held, numbers = verdicts.wrong_at_zero({"bfc": [one, *good[1:]]})
    assert held is True
    assert f"of {len(good)} nets" in numbers


def test_a_class_of_graphs_that_is_not_learnt_decides_nothing() -> None:
    good = {"bfc-freeze": records_of("bfc-freeze", lambda *_: {"identified": 1.0})}
    assert freeze.any_graph(good)[0] is True
    lost = {"bfc-freeze": records_of("bfc-freeze", lambda *_: {"identified": 0.0})}
    assert freeze.any_graph(lost)[0] is None


def test_every_line_of_algorithm_1_is_compared() -> None:
    lines = {n for line, *_ in algorithm1_lines.LINES for n in re.findall(r"\d+", line.partition("§")[0])}
    spans = {str(n) for n in (14, 15)}  # named by 13 to 16
    nothing = {str(n) for n in (11, 17, 19)}  # ends of loops
    assert lines | spans | nothing == {str(n) for n in range(1, 24)}
    text = "\n".join(algorithm1_lines.text())
    assert f"| {algorithm1_lines.OURS.batch}" not in text
    assert f"a batch of {algorithm1_lines.OURS.batch}" in text


def frozen(method: str, _: str) -> Metrics:
    """Nets that are the worse the more of their layers stay."""
    told = method.partition("freeze=")[2].split(",")[0]
    return {"error": 1e-2 * int(told[-1]) / int(told[0]) if told else 1e-20, "feature_error_2": 1e-3}


def test_the_grid_of_layers_that_stay_is_judged_by_its_order() -> None:
    good = {"bfc-freeze": records_of("bfc-freeze", frozen)}
    assert freeze.correction_is_needed(good)[0]
    assert freeze.deeper_is_better(good)[0]
    same = {"bfc-freeze": records_of("bfc-freeze", lambda *_: {"error": 1e-3, "feature_error_2": 1e-3})}
    assert freeze.correction_is_needed(same)[0] is False
    assert freeze.deeper_is_better(same)[0] is False
    text = "\n".join(freeze.text(good["bfc-freeze"]))
    assert "fix ≤ l - 2, train the rest | 4 | 2 |" in text


def test_samples_needed_have_their_exponent() -> None:
    assert hard.needed({100: 1.0, 200: 1e-9, 400: 1e-3, 800: 1e-9, 1600: 1e-9}, 1e-8) == 800
    assert hard.needed({100: 1.0}, 1e-8) == math.inf
    assert hard.exponent([8, 16, 32], [100, 400, 1600]) == pytest.approx(2)
    assert math.isnan(hard.exponent([8, 16, 32], [100, 400, math.inf]))


def test_kernels_that_learn_the_hard_class_are_a_verdict_too() -> None:
    def told(method: str, task: str) -> Metrics:
        few = float(method.partition("N=")[2].split(",")[0])
        inputs = float(task.partition("D=")[2].split(",")[0])
        return {"error": 1e-10 if few > 5 * inputs else 1.0}

    assert hard.kernels_fail({"bfc-hard": records_of("bfc-hard", told)})[0] is False

    def usual(method: str, task: str) -> Metrics:
        return told(method, task) if method.startswith("densenet") else {"error": 0.5}

    assert hard.kernels_fail({"bfc-hard": records_of("bfc-hard", usual)})[0] is True
    assert hard.warm_start({"bfc-hard": records_of("bfc-hard", usual)})[0] is True


def test_kernels_in_turn_are_judged_at_every_depth() -> None:
    records = records_of("bfc", lambda *_: {"feature_error_2": 1e-9, "identified": 1.0, "error": 1e-9})
    held, numbers = verdicts.kernels_in_turn({"bfc": records})
    assert held is False
    assert "10 of 10 at L = 4 with a gap, 5 of 5 at L = 4 without, 2 of 2 at L = 5 with a gap" in numbers


def test_correlations_are_those_of_rows() -> None:
    w = Run.seeded(0).normal(3, 40)
    assert correlations.correlation(w, 2 * w) == pytest.approx(1)
    assert correlations.correlation(w, torch.cat([-w[:1], w[1:]])) == pytest.approx(1 / 3)
    assert abs(correlations.correlation(w, Run.seeded(1).normal(3, 40))) < 0.5


@pytest.mark.parametrize(
    ("started", "held"),
    [((0.1, 0.12, 0.11), True), ((0.6, 0.62, 0.61), False), ((0.1, 0.4, 0.6), None)],
)
def test_far_from_the_start_is_judged_by_an_interval(
    monkeypatch: pytest.MonkeyPatch, started: tuple[float, ...], held: bool | None
) -> None:
    told = (correlations.Moved("hierarchy", "Adam", 2, (0.95, 0.96, 0.94), started),)
    monkeypatch.setattr(correlations, "measured", lambda: told)
    assert correlations.far_from_start({})[0] is held
    assert correlations.local({})[0] is True


def test_symmetrising_twice_is_symmetrising_once() -> None:
    m = Run.seeded(0).normal(6, 6)
    once = theorems.symmetrised(m, 3)
    torch.testing.assert_close(theorems.symmetrised(once, 3), once)
    assert not torch.allclose(once, m)


def test_gains_need_a_claim_before_and_after() -> None:
    claims = tuple(
        Stage(kind="DenseNet", seconds=1.0, queries=0, samples=1, derivatives=0, moments=0, metrics=m)
        for m in ({"feature_error_2": 1e-2}, {"feature_error_2": 1e-5, "feature_error_3": 1e-3})
    )
    one = records_of("bfc-algorithm1", lambda *_: {"feature_error_2": 1e-5, "feature_error_3": 1e-3})[0]
    held, numbers = algorithm1.corrected({"bfc-algorithm1": [replace(one, claims=claims)]})
    assert held
    assert "1000 to 1.0e+03 times over 1 finished runs" in numbers
