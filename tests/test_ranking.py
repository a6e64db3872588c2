"""Intervals and places: against closed forms, scipy, and planted differences."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from paramid.pictures.profile import corners
from paramid.statistics import intervals, ranking
from paramid.statistics.target_costs import TargetCosts


@pytest.mark.parametrize(("successes", "target_costs"), [(0, 3), (3, 3), (1, 5), (40, 50), (500, 1000)])
def test_wilson_is_scipys(successes: int, target_costs: int) -> None:
    ours = intervals.wilson(successes, target_costs)
    theirs = stats.binomtest(successes, target_costs).proportion_ci(0.95, method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert intervals.wilson(0, 0) == (0.0, 1.0)


def test_medians_count_failures_as_worst() -> None:
    assert intervals.median([3.0, 1.0, 2.0]) == 2.0
    assert intervals.median([1.0, math.nan, 2.0]) == 2.0
    assert intervals.median([1.0, math.inf]) == math.inf
    assert intervals.median_interval([0.5]) == (0.5, 0.5)
    assert intervals.median_interval([math.inf] * 4) == (math.inf, math.inf)
    with pytest.raises(ValueError, match="no values"):
        intervals.median([])


def test_a_median_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    inside = [low <= 0 <= high for low, high in (intervals.median_interval(rng.normal(size=25)) for _ in range(300))]
    assert 0.9 < np.mean(inside) < 0.99


def test_the_median_interval_is_scipys() -> None:
    values = np.random.default_rng(2).normal(size=30)
    theirs = stats.bootstrap((values,), np.median, method="percentile", n_resamples=4000, rng=3).confidence_interval
    low, high = intervals.median_interval(values)
    assert low == pytest.approx(theirs.low, abs=0.1)
    assert high == pytest.approx(theirs.high, abs=0.1)


def test_a_median_interval_is_blind_to_the_order_of_seeds() -> None:
    values = np.random.default_rng(5).normal(size=12)
    assert intervals.median_interval(values) == intervals.median_interval(values[::-1])
    assert intervals.median_interval([1.0, 2.0, math.inf])[1] == math.inf


def planted(costs: np.ndarray, hit: np.ndarray | None = None) -> TargetCosts:
    """Costs (methods, tasks, seeds) with one target, all of them reached unless said."""
    names = tuple("abcdefgh"[: costs.shape[0]])
    reached = np.ones(costs.shape, bool) if hit is None else hit
    return TargetCosts(names, tuple(map(str, range(costs.shape[1]))), costs[..., None], reached[..., None])


def test_expected_cost_is_total_over_successes() -> None:
    spent = np.array([[2.0, 4.0, 6.0], [2.0, 4.0, np.nan]])[..., None]
    hit = np.array([[True, False, True], [False, False, False]])[..., None]
    assert ranking.expected_cost(spent, hit)[:, 0].tolist() == [6.0, math.inf]


def test_a_score_is_the_integral_of_the_profile() -> None:
    costs = np.array([[[1.0, 5.0], [math.inf, 9.0]], [[10.0, 1.0], [math.inf, math.inf]]])
    stairs = [pairwise(corners(ratios.ravel())) for ratios in ranking.ratios(costs)]
    areas = [sum(height * math.log(b / a) for (a, height), (b, _) in steps) / math.log(1000) for steps in stairs]
    assert ranking.scores(costs) == pytest.approx(areas)


def test_what_was_free_is_cheapest_and_what_nobody_reached_counts_for_none() -> None:
    costs = np.array([[[0.0, np.inf]], [[5.0, np.inf]]])
    assert ranking.scores(costs) == pytest.approx([0.5, 0.0])
    free, dear = (corners(ratios.ravel()) for ratios in ranking.ratios(costs))
    assert (free, dear) == ([(1.0, 0.5), (1000.0, 0.5)], [(1.0, 0.0), (1000.0, 0.0)])


def test_resampled_scores_are_those_of_resampled_tables() -> None:
    rng = np.random.default_rng(6)
    costs = np.exp(rng.normal(size=(3, 5, 4)))
    costs[:, 2, 2:] = np.nan  # a task of two seeds
    target_costs = planted(costs, rng.random(costs.shape) < 0.7)
    drawn = ranking.resampled_scores(target_costs, 4000)
    made = []
    for _ in range(4000):
        task = rng.integers(5, size=5)
        seed = np.stack(
            [rng.integers(2 if t == 2 else 4, size=4 if t != 2 else 2).repeat(1 if t != 2 else 2) for t in task]
        )
        made.append(
            ranking.scores(
                ranking.expected_cost(
                    target_costs.spent[:, task[:, None], seed], target_costs.hit[:, task[:, None], seed]
                )
            )
        )
    assert drawn.mean(axis=0) == pytest.approx(np.mean(made, axis=0), abs=0.01)
    assert drawn.std(axis=0) == pytest.approx(np.std(made, axis=0), abs=0.01)


def test_ranks_are_scipys() -> None:
    values = np.array([0.3, 0.9, 0.3, 0.1, 0.9, 0.9])
    assert ranking.ranks(values).tolist() == stats.rankdata(-values).tolist()


@pytest.mark.parametrize(("seeds", "least", "most"), [(3, 0, 5), (50, 18, 20)])
def test_ten_per_cent_are_seen_at_fifty_seeds_and_not_at_three(seeds: int, least: int, most: int) -> None:
    rng, separated = np.random.default_rng(0), 0
    for _ in range(20):
        costs = np.exp(0.3 * rng.normal(size=(2, 6, seeds)))
        costs[0] *= 0.9
        first, second = ranking.standings(planted(costs), draws=400)
        separated += (first.method, second.group) == ("a", 2)
    assert least <= separated <= most


def test_equal_methods_share_a_place() -> None:
    costs = np.ones((3, 4, 2))
    placed = ranking.standings(planted(costs))
    assert [(s.rank, s.group, s.score) for s in placed] == [(2.0, 1, 1.0)] * 3


def test_all_failed_one_seed_and_missing_cells() -> None:
    costs = np.ones((3, 4, 3))
    costs[:, 1, 1:] = np.nan  # a task of one seed
    costs[2, 3] = np.nan  # never run
    hit = np.ones(costs.shape, bool)
    hit[1] = False  # a method that never arrives
    placed = {s.method: s for s in ranking.standings(planted(costs, hit))}
    assert placed["a"].score == 1.0
    assert placed["b"].score == 0.0
    assert placed["c"].score == 0.75
    assert placed["b"].rank == 3.0
    assert placed["b"].rank_interval[1] == 3.0
    assert placed["b"].group == max(s.group for s in placed.values())


def test_the_same_records_give_the_same_intervals() -> None:
    costs = np.random.default_rng(4).random((4, 5, 3))
    assert ranking.standings(planted(costs)) == ranking.standings(planted(costs))
