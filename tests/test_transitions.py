"""Logistic fits on the rising branch, and the figures that show them."""

import math

import pytest

from benchmarks.reproduce.quadratic import page as quadratic
from benchmarks.reproduce.transitions import crossing, losses, rising, shares
from paramid import Status
from paramid.records.record import Record, Stage


def curve(c: float, a: float) -> list[tuple[float, float]]:
    return [(float(x), 1 / (1 + math.exp(-a * (x - c)))) for x in range(20)]


@pytest.mark.parametrize(("c", "a"), [(7.3, 1.0), (11.4, 2.0), (5.5, 0.7)])
def test_a_planted_crossing_is_found(c: float, a: float) -> None:
    assert crossing(curve(c, a), 10) == (pytest.approx(c, abs=0.05), pytest.approx(a, rel=0.1))


def test_a_sharp_step_crosses_in_the_middle() -> None:
    assert crossing([(4, 0.0), (5, 0.0), (6, 1.0), (7, 1.0)], 10)[0] == pytest.approx(5.5, abs=0.05)


def test_only_the_rising_branch_is_fitted() -> None:
    profile = [(1.0, 1.0), (2.0, 0.9), (4.0, 0.0), (5.0, 0.0), (6.0, 1.0)]
    assert rising(profile) == profile[3:]
    assert crossing(profile, 10)[0] == pytest.approx(5.5, abs=0.05)


@pytest.mark.parametrize("points", [[(1.0, 0.0), (2.0, 0.3)], [(1.0, 1.0), (2.0, 1.0)], [(1.0, 0.0)]])
def test_shares_that_do_not_cross_have_no_crossing(points: list[tuple[float, float]]) -> None:
    assert math.isnan(crossing(points, 10)[0])


def test_figures_say_what_they_show() -> None:
    drawn = shares({"a panel": ("k", {"one": [(1.0, 0.0), (2.0, 1.0)], "two": [(1.0, 0.0), (2.0, 0.1)]})}, 10)
    assert "1/2 at 1.5" in drawn
    assert "two: no crossing" in drawn
    assert "ends at 1e-6" in losses({"a panel": {"k = 3": [(1, 1.0), (1000, 1e-6)]}}, "RMSE")


def record(k: int, worst: float, v0: str = "") -> Record:
    """Ten starts of which the worst fits a share of the teachers."""
    stages = [Stage("Network", 1.0, 0, 0, 0, 0, {"fitted": share}) for share in (0.0, 0.0, worst, *[1.0] * 9)]
    return Record(
        key="k", method=f"overparam-gd:starts=10{v0},train=both", seed=0, device="cpu", threads=1, budget={},
        task=f"quadratic:D=20,k={k},N=100,instances=5", status=Status.GAVE_UP, claims=tuple(stages),
    )  # fmt: skip


def test_the_page_counts_the_worst_start() -> None:
    records = [record(5, 0.0), record(5, 0.2), record(6, 1.0), record(7, 1.0), record(6, 0.0, ",v0=rademacher")]
    panel = "Figure 3a: squares, N = 100, D = 20"
    assert quadratic.profile(records, panel, "ones") == [(5, pytest.approx(0.1)), (6, 1.0), (7, 1.0)]
    assert quadratic.profile(records, panel, "rademacher") == [(6, 0.0)]
    assert quadratic.profile(records, "Figure 2a: softplus, N = 100, D = 10", "ones") == []
    text = "\n".join(quadratic.crossings(records))
    assert "| Figure 3a: squares, N = 100, D = 20 | v = 1 | k = 5.5 | 5." in text
