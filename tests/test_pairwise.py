"""Pairs of runs on planted cases: who wins, what is no pair, and how often nothing planted is called significant."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from paramid.records.record import Record
from paramid.statistics.pairwise import holm, sign_test, wins
from tests.records import declined, failed, made

TASKS = ("shallow:D=5,m=2", "shallow:D=20,m=36")


def runs(method: str, error: float = 1e-6, seeds: int = 5, **told: object) -> list[Record]:
    return [made(method, t, s, error, **told) for t in TASKS for s in range(seeds)]


def test_who_solves_beats_who_does_not_at_any_cost() -> None:
    found = wins({"a": runs("a", rows=10**6, seconds=29.0), "b": runs("b", 0.5, rows=10, seconds=0.1)}, "queries")
    assert found.won.tolist() == [[0, 10], [0, 0]]
    assert found.ahead.tolist() == [[False, True], [False, False]]
    assert found.p[0, 1] == pytest.approx(2 / 2**10)


@pytest.mark.parametrize("over", ["seconds", "queries"])
def test_of_two_that_solve_the_cheaper_wins(over: str) -> None:
    found = wins({"a": runs("a", rows=999, seconds=1.999), "b": runs("b")}, over)
    assert found.won.tolist() == [[0, 10], [0, 0]]


def test_nobody_wins_where_nobody_solves_or_costs_are_equal() -> None:
    none = wins({"a": runs("a", 0.5, rows=1), "b": runs("b", 0.9)}, "queries")
    equal = wins({"a": runs("a"), "b": runs("b", seconds=2.00001)}, "seconds")
    for found in (none, equal):
        assert (found.won.sum(), found.met[0, 1], found.p[0, 1], found.ahead.any()) == (0, 10, 1.0, False)


def test_unequal_budgets_secrets_and_seeds_are_no_pairs() -> None:
    ours = runs("a")
    richer = {"seconds": 120.0, "queries": None, "memory_mb": None}
    for theirs in (runs("b", 0.5, budget=richer), runs("b", 0.5, secret="ab")):
        assert wins({"a": ours, "b": theirs}, "queries").met[0, 1] == 0
    again = [dataclasses.replace(r, budget=richer) for r in ours]
    assert wins({"a": [*ours, *again], "b": runs("b", 0.5)}, "queries").met[0, 1] == 10
    assert wins({"a": ours, "b": runs("b", 0.5, seeds=3)}, "queries").met[0, 1] == 6


def test_a_declined_run_is_no_pair_and_a_failed_one_is() -> None:
    ours = runs("a")
    theirs = [declined(method="b", task=TASKS[0], seed=s) for s in range(5)]
    theirs += [failed(method="b", task=TASKS[1], seed=s) for s in range(5)]
    found = wins({"a": ours, "b": theirs}, "seconds")
    assert (found.met[0, 1], found.won[0, 1]) == (5, 5)


def test_seconds_of_two_machines_do_not_compare_and_solving_does() -> None:
    elsewhere = {"provenance": {"cpu": "Another"}}
    assert wins({"a": runs("a", seconds=0.1), "b": runs("b", **elsewhere)}, "seconds").won.sum() == 0
    assert wins({"a": runs("a"), "b": runs("b", 0.5, **elsewhere)}, "seconds").won[0, 1] == 10
    assert wins({"a": runs("a", rows=9), "b": runs("b", **elsewhere)}, "queries").won[0, 1] == 10


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (5, 0), (9, 4), (4, 9), (700, 640)])
def test_the_sign_test_is_the_binomial_one(won: int, lost: int) -> None:
    wanted = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert sign_test(np.array(won), np.array(lost)) == pytest.approx(wanted, rel=1e-9)


def test_holm_stops_at_the_first_that_is_not_small_enough() -> None:
    p = np.ones((4, 4))
    for (i, j), value in {(0, 1): 0.008, (0, 2): 0.009, (0, 3): 0.012, (1, 2): 0.017, (1, 3): 0.03}.items():
        p[i, j] = p[j, i] = value
    every = ~np.eye(4, dtype=bool)
    assert np.triu(holm(p, every)).sum() == 3 + 0  # 0.05/6, 0.05/5, 0.05/4; then 0.017 > 0.05/3
    some = every.copy()
    some[2, 3] = some[3, 2] = False  # five pairs met: 0.05/5 … 0.05/2 and 0.03 ≤ 0.05/1
    assert np.triu(holm(p, some)).sum() == 5


def test_a_matrix_of_equals_calls_somebody_ahead_in_one_of_twenty_at_most() -> None:
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(200):
        costs = rng.lognormal(size=(4, 12))
        equals = {
            f"m{i}": [made(f"m{i}", TASKS[0], s, seconds=c) for s, c in enumerate(row)] for i, row in enumerate(costs)
        }
        false += bool(wins(equals, "seconds").ahead.any())
    assert false / 200 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


def test_a_planted_leader_leads_everybody() -> None:
    found = wins({n: runs(n, seconds=c) for n, c in {"slow": 3.0, "fast": 1.0, "middle": 2.0}.items()}, "seconds")
    assert found.ahead.tolist() == [[False, False, False], [True, False, True], [True, False, False]]
