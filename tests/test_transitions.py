"""Logistic fits on the rising branch, and the figures that show them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.reproduce.quadratic import shares as quadratic
from benchmarks.reproduce.transitions import crossing, crossing_interval, losses, rising, shares
from paramid import Status
from paramid.pictures.svg import svg
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
    drawn = svg(shares({"a panel": ("k", {"one": [(1.0, 0.0), (2.0, 1.0)], "two": [(1.0, 0.0), (2.0, 0.1)]})}, 10))
    assert ">one ½ at 1.50</text>" in drawn
    assert ">two</text>" in drawn
    assert "ends at k = 3 1e-6" in svg(losses({"a panel": {"k = 3": [(1, 1.0), (1000, 1e-6)]}}, "RMSE"))


def test_intervals_of_a_crossing_hold_it_and_shrink_with_trials() -> None:
    few, many = (crossing_interval(curve(7.3, 1.0), trials) for trials in (5, 500))
    assert few[0] < many[0] < 7.3 < many[1] < few[1]
    assert math.isnan(crossing_interval([(1.0, 0.0), (2.0, 0.3)], 10)[0])


def record(k: int, worst: float, how: str = "polish=lm", seed: int = 700) -> Record:
    """Ten starts of which the worst fits a share of the teachers."""
    told = [{"fitted": share, "fitted_nearly": share} for share in (0.0, 0.0, worst, *[1.0] * 9)]
    stages = [Stage("Network", 1.0, 0, 0, 0, 0, metrics) for metrics in told]
    return Record(
        key="k", method=f"overparam-gd:starts=10,train=both,iterations=9,{how}", seed=seed, device="cpu", threads=1,
        budget={}, task=f"quadratic:D=20,k={k},N=100,instances=5", status=Status.GAVE_UP, claims=tuple(stages),
    )  # fmt: skip


PANEL = quadratic.PANELS[2]


def test_the_page_counts_the_worst_start() -> None:
    flipped = record(6, 0.0, "v0=rademacher,polish=lm")
    records = [record(5, 0.0), record(5, 0.2, seed=701), record(6, 1.0), record(7, 1.0), flipped]
    assert quadratic.counts(records, PANEL, quadratic.SETTLED_ONES) == {5: (1, 10), 6: (5, 5), 7: (5, 5)}
    assert quadratic.counts(records, PANEL, quadratic.SETTLED) == {6: (0, 5)}
    assert quadratic.counts(records, quadratic.PANELS[0], quadratic.SETTLED) == {}
    text = "\n".join(quadratic.text(records))
    assert f"| {PANEL.title} | descent, then Levenberg-Marquardt, v = 1, L < 1e-8 | k = 5.5 | 5." in text
    assert "| 5 | 1.00 | - | - | 0.10 [0.02, 0.40] |" in text


def test_descents_are_told_apart_by_step_kicks_and_polish() -> None:
    ways = ("v0=rademacher,step=curvature,kicks=0", "v0=rademacher", "v0=rademacher,polish=lm", "polish=lm")
    records = [record(6, share, how) for how, share in zip(ways, (0.2, 0.4, 0.6, 0.8), strict=True)]
    read = {r: quadratic.counts(records, PANEL, r) for r in quadratic.READINGS}
    assert [seen[6][0] for seen in read.values() if seen] == [3, 3, 4, 4, 1, 2]


def profile(*shares: float, nearly: Sequence[float] = ()) -> dict[str, list[Record]]:
    """Widths from 4 on; `nearly` are the shares of the higher level, where they are others."""
    records = [record(k, p, "v0=rademacher,polish=lm") for k, p in enumerate(shares, 4)]
    for r, share in zip(records, nearly or shares, strict=True):
        r.claims[-quadratic.STARTS].metrics["fitted_nearly"] = share
    return {"landscape-3": records}


def test_crossings_are_judged_by_their_interval() -> None:
    agree = quadratic.crossing_agrees(PANEL, profile(0.0, 0.0, 1.0, 1.0))
    assert agree[0] is True
    assert "printed 5.5, 10 teachers, which is within the interval of descent, then" in agree[1]
    late = quadratic.crossing_agrees(PANEL, profile(0.0, 0.0, 0.0, 0.0, 1.0, 1.0))
    assert late[0] is False
    assert late[1].endswith("within the interval of no reading of ours")
    near = quadratic.crossing_agrees(replace(PANEL, crossing=6.05), profile(0.0, 0.0, 1.0, 1.0))
    assert near[0] is None
    assert quadratic.crossing_agrees(PANEL, {"landscape-3": []})[0] is None


def test_a_crossing_outside_of_what_was_run_is_told_by_its_side() -> None:
    never, always = profile(0.0, 0.0, 0.2), profile(0.8, 1.0, 1.0)
    assert quadratic.crossing_agrees(PANEL, never)[0] is False
    assert "past 6" in quadratic.crossing_agrees(PANEL, never)[1]
    assert quadratic.crossing_agrees(replace(PANEL, crossing=9.0), never)[0] is None
    assert quadratic.crossing_agrees(PANEL, always)[0] is False
    assert "before 4" in quadratic.crossing_agrees(PANEL, always)[1]
    assert quadratic.crossing_agrees(replace(PANEL, crossing=3.0), always)[0] is None


def test_levels_that_do_not_say_the_same_decide_nothing() -> None:
    told = profile(0.0, 0.0, 0.0, 0.0, 1.0, 1.0, nearly=(0.0, 0.0, 1.0, 1.0, 1.0, 1.0))
    seen = [quadratic.counts(told["landscape-3"], PANEL, reading) for reading in quadratic.LEVEL_BY_LEVEL]
    assert [quadratic.agrees(PANEL, places) for places in seen] == [False, True]
    assert quadratic.crossing_agrees(PANEL, told)[0] is None
    assert quadratic.unsettled(told["landscape-3"], PANEL, quadratic.SETTLED) == "4.0%"


def test_seeds_stand_beside_each_other() -> None:
    early, late = (profile(*shares)["landscape-3"] for shares in ((0.0, 1.0, 1.0), (0.0, 0.0, 1.0)))
    (told,) = quadratic.seed_by_seed([*early, *(replace(r, seed=701) for r in late)])
    assert "k = 4.5" in told
    assert told.split(", k = 5.5")[1].endswith("of seed 701.")
    assert list(quadratic.seed_by_seed(early)) == []


def test_trapped_starts_end_always_where_ten_teachers_without_one_are_unlikely() -> None:
    panel = replace(PANEL, always=6)
    assert quadratic.always_from(panel, profile(0.0, 0.0, 1.0, 1.0))[0] is True
    assert quadratic.always_from(panel, profile(0.0, 0.0, 1.0, 0.8))[0] is None
    assert quadratic.always_from(panel, profile(0.0, 0.0, 1.0, 0.2))[0] is False
    assert quadratic.always_from(panel, profile(0.0, 0.0, 1.0, 0.2, nearly=(0.0, 0.0, 1.0, 1.0)))[0] is None
    assert quadratic.always_from(panel, profile(0.0, 0.0))[0] is None


def test_one_reading_of_all_panels_is_looked_for() -> None:
    records = []
    for panel in quadratic.PANELS:
        others = ",".join(f"{name}={text}" for name, text in panel.others.items())
        for x in (int(panel.crossing) - 1, int(panel.crossing), int(panel.crossing) + 1, int(panel.crossing) + 2):
            share, task = float(x > panel.crossing), f"quadratic:{panel.axis}={x},{others},N=100,instances=5"
            records.append(replace(record(1, share, "v0=rademacher,polish=lm"), task=task))
    assert quadratic.one_reading({"landscape-3": records})[0] is True
    records = [
        replace(record(1, 0.0, "v0=rademacher,polish=lm"), task=r.task) if "k=12,D=10," in r.task else r
        for r in records
        if "k=13,D=10," not in r.task
    ]
    held, told = quadratic.one_reading({"landscape-3": records})
    assert held is False
    assert told.endswith("Figure 2a")
    assert quadratic.one_reading({"landscape-3": []})[0] is None


def test_growth_is_decided_where_intervals_do_not_meet() -> None:
    assert quadratic.rises(PANEL, profile(0.0, 0.0, 1.0, 1.0))[0] is True
    assert quadratic.rises(PANEL, profile(0.0, 0.4, 0.6))[0] is None
    assert quadratic.rises(PANEL, profile(0.0, 1.0, 0.0))[0] is False
