"""Rules of docs/biased-relu.md that choose a verdict, each on a case where it has to say the other."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest
import torch

from benchmarks.reproduce.biased_relu import judges, records
from benchmarks.reproduce.biased_relu.checks import (
    algorithm5,
    error_growth,
    exact_coefficients,
    large_biases,
    noisy_scalars,
    regression_as_printed,
    two_more_units,
    unit_signs,
)
from benchmarks.reproduce.biased_relu.checks.algorithm5 import Answer
from benchmarks.reproduce.biased_relu.checks.checked import bound, empty_from
from paramid import Status
from paramid.records.record import Record, Stage
from paramid.running import suites
from paramid.running.cell import Cell
from paramid.tasks.biased_relu import BiasedRelu


def stage(kind: str, **metrics: float) -> Stage:
    return Stage(kind=kind, seconds=1.0, queries=0, samples=0, derivatives=0, moments=0, metrics=metrics)


def told(cell: Cell, *claims: Stage) -> Record:
    return Record(
        key="k", method=cell.method, task=cell.task, seed=cell.seed, device="cpu", threads=1, budget={},
        status=Status.FINISHED, seconds=2.0, queries=10, peak_mb=100.0, metrics={}, claims=claims,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("direction", "total", "right"), [(0.005, 0.15, True), (0.02, 0.05, False), (0.005, 0.3, False)]
)
def test_signs_left_free_are_counted_by_the_same_cuts(direction: float, total: float, right: bool) -> None:
    cell = suites.suite("relu-samples").cells()[0]
    network = stage("Network", identified=0.0, parameter_error_unsigned=total)
    assert records.but_for_signs(told(cell, stage("Directions", weight_error=direction), network)) is right


def test_errors_of_which_the_theorems_say_something_are_counted() -> None:
    assert bound(BiasedRelu(D=5, m=5)) == 2
    assert bound(BiasedRelu(D=8, m=7, biases="large")) == 7
    assert empty_from(BiasedRelu(D=5, m=5)) == pytest.approx(0.02)
    cells = [c for c in suites.suite("relu-samples").cells() if "D=10,m=5" in c.task and "moments" not in c.method]
    for error, inside in ((0.009, "24 of 24"), (0.011, "0 of 24")):
        made = [told(c, stage("Network", parameter_error=error, identified=1.0)) for c in cells]
        held, numbers = judges.sampled(1)({"relu-samples": made})
        assert held
        assert f"1/(m D B) is 0.01 at D = 10, m = 5, and errors of {inside} runs are below" in numbers


def test_a_bias_that_errors_grow_with_is_told_from_one_they_do_not() -> None:
    cells = [c for c in suites.suite("relu-samples").cells() if "D=6,m=3" in c.task]
    grown = [told(c, stage("Network", parameter_error=0.01 + float("biases=3.5" in c.task))) for c in cells]
    held, numbers = judges.against_bias({"relu-samples": grown})
    assert held
    assert "10 of 12 are below 1/(m D B)" in numbers
    flat = [told(c, stage("Network", parameter_error=0.01)) for c in cells]
    assert judges.against_bias({"relu-samples": flat})[0] is False


def test_two_medians_are_no_law_of_functions() -> None:
    cells = [c for c in suites.suite("relu-affine").cells() if "N=10000," not in f"{c.task},"]
    made = [
        replace(told(c), metrics={"output_rmse": 0.2 if "N=1000000" in c.task else 0.25 if "N=400000" in c.task else 1})
        for c in cells
    ]
    assert judges.learnt({"relu-affine": made})[0] is None


def test_an_affine_part_that_is_a_constant_has_no_pair_of_units() -> None:
    told = two_more_units.consolidated_units()
    assert told.constant == pytest.approx(told.constant_left)
    assert told.constant > 0.1
    assert max(told.drawn, told.turned) < 1e-12
    assert not two_more_units.printed_pair().holds
    assert two_more_units.number_of_units().holds


def test_the_bounds_of_the_robust_scalars_can_hold_and_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    assert noisy_scalars.farthest(-1, 0.1, 2.0) == pytest.approx(0.46, abs=0.01)
    assert noisy_scalars.farthest(-1, 0.2, 7.0) == 0
    assert not noisy_scalars.relative_bound().holds
    assert noisy_scalars.meant_bounds().holds
    assert not noisy_scalars.condition().holds
    monkeypatch.setattr(noisy_scalars, "CASES", ((1e-6, 1.0),))
    assert noisy_scalars.condition.__wrapped__().holds
    monkeypatch.setattr(noisy_scalars, "all_cases", lambda: (noisy_scalars.Off(-1.0, 1.1, 0.1),))
    assert noisy_scalars.relative_bound.__wrapped__().holds
    assert not noisy_scalars.meant_bounds.__wrapped__().holds


def test_growth_of_errors_is_judged_where_the_theorem_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(exponent: float, factor: float, *_: object) -> Mapping[float, float]:
        return {level: factor * level**exponent for level in error_growth.LEVELS}

    for exponent, factor, holds in ((1.0, 9.0, True), (0.5, 0.1, False), (1.0, 1e4, False)):
        monkeypatch.setattr(error_growth, "errors_of_coefficients", partial(planted, exponent, factor))
        assert error_growth.grown(error_growth.FULL, 1).holds is holds
    assert error_growth.large_terms().holds
    monkeypatch.setattr(error_growth, "least_singular_value", lambda *_: 1e6)  # (74) would promise terms that are small
    assert not error_growth.large_terms.__wrapped__().holds


def test_lost_units_are_found_in_the_other_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exact_coefficients.fourth_tensor_alone().holds
    assert exact_coefficients.higher_roots().holds
    assert exact_coefficients.roots_of(3) == pytest.approx([-(3**0.5), 0, 3**0.5])
    monkeypatch.setattr(exact_coefficients, "ROUNDING", 1e-20)
    assert not exact_coefficients.higher_roots.__wrapped__().holds
    assert not exact_coefficients.fourth_tensor_alone.__wrapped__().holds


def test_units_that_are_off_leave_what_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    left = regression_as_printed.Left(low=1.0, high=2.0, exponent=0.5, share=0.1)
    monkeypatch.setattr(regression_as_printed, "left_by", lambda _: left)
    assert not regression_as_printed.units_that_are_off.__wrapped__().holds
    monkeypatch.setattr(regression_as_printed, "left_by", lambda _: left._replace(exponent=1.0, share=2.0))
    assert not regression_as_printed.units_that_are_off.__wrapped__().holds
    x, (w, b, a) = (
        torch.randn(5, 3, dtype=torch.float64),
        (torch.eye(3, dtype=torch.float64), torch.ones(3), torch.ones(3)),
    )
    assert regression_as_printed.features(x, w, b, a, regression_as_printed.EIGHT).shape == (5, 8 * 3 + 3 + 1)


def test_margins_and_tails_can_hold_and_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not unit_signs.printed_margin().holds
    monkeypatch.setattr(unit_signs, "WIDTHS", (1,))  # √m is m
    assert unit_signs.printed_margin.__wrapped__().holds
    assert unit_signs.tail_bound().holds
    monkeypatch.setattr(unit_signs, "AT_LEAST", 0.5)
    assert not unit_signs.tail_bound.__wrapped__().holds
    assert large_biases.unseen_kinks().holds
    monkeypatch.setattr(large_biases, "SELDOM", 1e-7)
    assert not large_biases.unseen_kinks.__wrapped__().holds


def test_algorithm_5_is_judged_by_the_printed_means(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(units: int, falls: tuple[int, ...], task: BiasedRelu, _: int, control: int, seeds: int) -> object:
        rate = 0.5 if control in falls else 0.0
        return {n: [Answer(20 / n**rate / 100, 20 / n**rate / 100, units)] * seeds for n in algorithm5.ROWS}

    both, ours = (-1, 2), (2,)
    for units, falls, told in ((8, both, True), (8, ours, None), (9, both, False)):
        monkeypatch.setattr(algorithm5, "answers", partial(planted, units, falls))
        assert algorithm5.functions_of_order_two.__wrapped__().holds is told
        assert algorithm5.all_parameters.__wrapped__().holds is (None if falls == ours else True)
