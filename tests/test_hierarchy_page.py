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
    exponents,
    freeze,
    hard,
    theorem1_setting,
    turns,
    verdicts,
)
from benchmarks.reproduce.hierarchy.page import EVERY
from benchmarks.reproduce.hierarchy.statements import symmetric_tensors, theorems_by_training
from benchmarks.reproduce.source_items import Judged, Made, judged
from paramid import Run, Status
from paramid.records.record import Record
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


def verdict(judge: Callable[[Made], Judged], made: Made) -> bool | None:
    """As the page has it, undecided where the judge finds too few records."""
    return judged(next(item for item in EVERY if item.judge is judge), made)[0]


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
        "H.2",
        "5.1",
        "Footnote 8",
        "Footnotes 11 and 25",
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


def test_algorithm_1_is_learnt_where_all_its_runs_are_right_and_within_epsilon() -> None:
    told = {"feature_error_2": 1e-5, "feature_error_3": 1e-3, "output_rmse": 1e-4}
    good = records_of("bfc-algorithm1", lambda *_: told)
    far = [replace(r, metrics=told | {"output_rmse": 1e-1}) for r in good]
    lost = records_of("bfc-algorithm1", lambda *_: {}, ended=Status.GAVE_UP)
    some = [replace(r, reason="layer 3 was never trained") if r.seed else g for r, g in zip(lost, good, strict=True)]
    for judge in (algorithm1.every_layer, algorithm1.by_sgd, algorithm1.on_example("§6.1")):
        assert judge({"bfc-algorithm1": good})[0] is True
        assert judge({"bfc-algorithm1": far})[0] is None
        assert judge({"bfc-algorithm1": []})[0] is None
        held, numbers = judge({"bfc-algorithm1": some})
        assert held is None
        assert "layer … was never trained" in numbers
    assert algorithm1.every_layer({"bfc-algorithm1": good})[1].startswith("E(f - y)² ≤ ε² in 40 of 40 runs")
    assert algorithm1.honest({"bfc-algorithm1": lost})[0] is None


@pytest.mark.parametrize(("ends", "held"), [((1e-4, 1e-4), True), ((1e-1, 1e-1), False), ((1e-4, 1e-1), None)])
def test_s_2_is_corrected_where_it_is_better_than_layer_2_alone(ends: tuple[float, float], held: bool | None) -> None:
    def told(method: str, _: str) -> Metrics:
        return {"feature_error_2": 1e-2 if method == "densenet-layerwise" else ends[0]}

    made = records_of("bfc-algorithm1", told)
    made = [
        replace(r, metrics={"feature_error_2": ends[1]}) if r.seed and r.method == algorithm1.NAME else r for r in made
    ]
    lost = next(r for r in made if r.method == algorithm1.NAME)
    held_now, numbers = algorithm1.corrected(
        {"bfc-algorithm1": [replace(lost, metrics={"feature_error_2": 1.0}), *made]}
    )
    assert held_now is held
    assert "of 41 runs 40 distilled layer 2" in numbers


def test_examples_are_corrected_where_adam_corrects_them_too() -> None:
    def told(adam: float) -> Callable[[str, str], Metrics]:
        errors = {"densenet-layerwise": 0.5, "densenet-lm": 1e-20, "densenet-joint": adam}
        return lambda method, _: {"feature_error_2": errors.get(method, 1.0)}

    judge = algorithm1.example("(1.2)")
    assert judge({"bfc-algorithm1": records_of("bfc-algorithm1", told(0.1))})[0] is True
    assert judge({"bfc-algorithm1": records_of("bfc-algorithm1", told(0.6))})[0] is None


def test_exponents_that_are_not_known_decide_nothing() -> None:
    lost = {"bfc": records_of("bfc", lambda *_: {}, ended=Status.TIMED_OUT)}
    for judge in (exponents.forward, exponents.passes_add_powers, exponents.noise_is_squared):
        assert verdict(judge, lost) is None
    assert exponents.law({0: 2.1, 1: 2.05, 2: 2.08}, 2.0) is True
    assert exponents.law({0: 1.1, 1: 1.0, 2: 1.05}, 2.0) is False
    assert exponents.law({0: 1.5, 1: 2.0, 2: 2.1}, 2.0) is None


@pytest.mark.parametrize(("staged", "held"), [(1.0, True), (5.0, False), (1.6, None)])
def test_pretraining_is_compared_seed_by_seed(staged: float, held: bool | None) -> None:
    made = records_of("bfc", lambda m, _: {"error": 1e-5 if "scratch" in m else 1e-5 * staged})
    noisy = [
        replace(r, metrics={"error": r.metrics["error"] / 1.1**r.seed}) if "scratch" in r.method else r for r in made
    ]
    assert verdicts.pretraining_is_no_matter({"bfc": noisy if held is None else made})[0] is held


def test_a_gap_matters_where_every_learner_loses_without_it() -> None:
    def told(alone: float) -> Callable[[str, str], Metrics]:
        return lambda _, task: {"identified": alone if "1.0-1.0" in task else 1.0}

    assert verdicts.gap_matters({"bfc": records_of("bfc", told(1.0))})[0] is False
    lost = records_of("bfc", told(0.0))
    assert verdicts.gap_matters({"bfc": lost})[0] is None  # 3 of 3 against 0 of 3 at L = 3 is no proof
    held, numbers = verdicts.gap_matters({"bfc": [replace(r, status=Status.TIMED_OUT) for r in lost]})
    assert held is None
    assert "0 of 0 and 0 of 0, 10 stopped" in numbers


def test_kernels_need_more_where_all_of_them_leave_more() -> None:
    def told(best: float) -> Callable[[str, str], Metrics]:
        return lambda method, _: {"error": best if method.startswith("kernel:features") else 1e-20}

    assert verdicts.nets_need_fewer({"bfc": records_of("bfc", told(1e-20))})[0] is False
    every_kernel = records_of("bfc", lambda method, _: {"error": 0.1 if method.startswith("kernel") else 1e-20})
    assert verdicts.nets_need_fewer({"bfc": every_kernel})[0] is True


def test_small_errors_with_wrong_features_are_looked_for() -> None:
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
    once = [
        replace(r, metrics={"error": 1.0}) if r.seed == 0 and "freeze=3-2" in r.method else r
        for r in good["bfc-freeze"]
    ]
    held, numbers = freeze.deeper_is_better({"bfc-freeze": once})
    assert held is None
    assert "in 9 of 11 pairs" in numbers
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

    assert hard.nets_need_fewer({"bfc-hard": records_of("bfc-hard", told)})[0] is False

    def usual(method: str, task: str) -> Metrics:
        return told(method, task) if method.startswith("densenet") else {"error": 0.5}

    assert hard.nets_need_fewer({"bfc-hard": records_of("bfc-hard", usual)})[0] is True
    assert hard.warm_start({"bfc-hard": records_of("bfc-hard", usual)})[0] is True

    def warm(method: str, task: str) -> Metrics:
        return usual(method, task) if "start=regression" in method else {"error": 0.5}

    assert hard.warm_start({"bfc-hard": records_of("bfc-hard", warm)})[0] is False
    held, numbers = hard.theorem({"bfc-hard": records_of("bfc-hard", usual)})
    assert held is None
    assert "N ≤ 35" in numbers


def test_kernels_in_turn_are_judged_at_every_depth() -> None:
    records = records_of("bfc", lambda *_: {"feature_error_2": 1e-9, "identified": 1.0, "error": 1e-9})
    held, numbers = turns.kernels_in_turn({"bfc": records})
    assert held is False
    assert "10 of 10 at L = 4 with a gap; 5 of 5 at L = 4 without one; 2 of 2 at L = 5 with a gap" in numbers
    deep = [replace(r, metrics={"identified": 0.0}) if "ks=3-2-2-2" in r.task else r for r in records]
    assert turns.kernels_in_turn({"bfc": deep})[0] is None
    assert turns.turns_work({"bfc": deep})[0] is True
    assert turns.turns_work({"bfc": records_of("bfc", lambda *_: {"identified": 0.0})})[0] is False


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
    once = symmetric_tensors.symmetrised(m, 3)
    torch.testing.assert_close(symmetric_tensors.symmetrised(once, 3), once)
    assert not torch.allclose(once, m)


def test_coefficients_are_those_of_the_polynomial() -> None:
    m, z = Run.seeded(0).normal(3, 3), torch.tensor([[2.0, 5.0]], dtype=torch.float64)
    products = symmetric_tensors.star(z)
    monomials = [16.0, 40.0, 100.0, 250.0, 625.0]  # z_1⁴, z_1³ z_2, z_1² z_2², z_1 z_2³, z_2⁴
    value = sum(c * v for c, v in zip(symmetric_tensors.coefficients(m, 2), monomials, strict=True))
    assert value == pytest.approx(float(products[0] @ m @ products[0]))


def test_widths_of_theorem_1_are_below_those_of_the_teachers() -> None:
    assert theorem1_setting.widest(64, 2) == pytest.approx(2)
    assert theorem1_setting.least_gap(16, 2) == pytest.approx(0.5)
    assert theorem1_setting.wider() == len(theorem1_setting.TEACHERS)


def test_widths_that_are_wrong_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for found, held in (((4, 2), True), ((4, 3), None), ((4,), None)):
        monkeypatch.setattr(theorems_by_training, "widths", lambda *_, found=found: found)
        assert theorems_by_training.finds_widths({})[0] is held
