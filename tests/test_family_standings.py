"""Standings of a family by an access: on records in which the answer was planted."""

import math
from dataclasses import replace

import numpy as np
import pytest

from paramid.records.record import Record
from paramid.records.selection import entrants
from paramid.statistics.family_standings import Table, leader, tables
from paramid.statistics.sizes import weights
from paramid.words.status import Status
from tests.records import declined, failed, grid, made

SHALLOW = ("shallow:D=5,m=2", "shallow:D=10,m=5", "shallow:D=20,m=36")
DEEP = ("pyramid:D=8,widths=6-4-3", "pyramid:D=20,widths=12-8-4")


def table(records: list[Record], family: str = "shallow", kind: str = "queries") -> Table:
    return tables(entrants(records))[family][kind]


def planted() -> list[Record]:
    """A specialist of each family, one that does all of it ten times as dear, and one that solves nothing."""
    records = grid({"spm": 1e-9}, SHALLOW) + grid({"peel": 1e-9}, DEEP)
    records += [declined(method="spm", task=t, seed=s) for t in DEEP for s in range(3)]
    records += [declined(method="peel", task=t, seed=s) for t in SHALLOW for s in range(3)]
    every = SHALLOW + DEEP
    records += [made("sphere-lm", t, s, 1e-9, rows=10_000, seconds=20.0) for t in every for s in range(3)]
    return records + [made("entangled", t, s, 0.3, rows=10) for t in every for s in range(3)]


@pytest.mark.parametrize(("family", "who", "tasks"), [("shallow", "spm", 3), ("pyramid", "peel", 2)])
def test_a_specialist_leads_its_family(family: str, who: str, tasks: int) -> None:
    found = table(planted(), family)
    first = leader(found)
    assert first is not None
    assert (first.method, len(first.solved), first.accepted, first.standing.group) == (who, tasks, tasks, 1)
    assert [row.method for row in found.rows] == [who, "sphere-lm"]
    assert found.rows[1].times_best == {"seconds": pytest.approx(10), "queries": pytest.approx(10)}


def test_who_declines_a_family_does_not_stand_in_it() -> None:
    both = tables(entrants(planted()))
    assert {m for m in ("spm", "peel") if m in str(both["pyramid"]["queries"].rows)} == {"peel"}
    assert "peel" not in both["shallow"]["queries"].nothing


def test_who_solves_nothing_leads_nowhere() -> None:
    found = table(planted())
    assert found.nothing == ("entangled",)
    alone = table(grid({"spm": 0.3, "sphere-lm": 0.1}, SHALLOW))
    assert (alone.rows, leader(alone)) == ((), None)
    seldom = [made("spm", t, s, 1e-9 if s == 0 else 0.3) for t in SHALLOW for s in range(3)]
    assert (len(table(seldom).rows), leader(table(seldom))) == (1, None)


def test_an_error_within_the_target_that_the_judge_does_not_call_identified_reaches_nothing() -> None:
    wrong = [replace(r, metrics=m, claims=(replace(r.claims[1], metrics=m),))
             for r in grid({"spm": 1e-9}, SHALLOW) for m in [{"error": 1e-9, "identified": 0.0}]]  # fmt: skip
    found = table([*wrong, *grid({"sphere-lm": 1e-3}, SHALLOW)])
    assert (found.nothing, [row.method for row in found.rows]) == (("spm",), ["sphere-lm"])


def test_who_gave_up_with_the_right_claim_is_in_no_group_with_a_leader() -> None:
    withdrawn = [made("spm", t, s, 1e-9, rows=1, status=Status.GAVE_UP) for t in SHALLOW for s in range(3)]
    lucky = [made("sphere-lm", SHALLOW[0], 0, 1e-3), *(failed(method="sphere-lm", task=t, seed=1) for t in SHALLOW)]
    first, second = table(withdrawn + lucky).rows
    assert (first.method, second.method, second.standing.score) == ("sphere-lm", "spm", 0.0)
    assert first.standing.group < second.standing.group


def test_unequal_budgets_are_not_seeds() -> None:
    first, last = ({"finished": f"2026-11-{day}T12:00:00+00:00"} for day in (18, 19))
    budgets = [({"seconds": 30.0}, first, 0.3, "a"), ({"seconds": 300.0}, last, 1e-9, "b")]
    records = [made("spm", t, 0, e, budget=b, provenance=p, key=k + t) for t in SHALLOW for b, p, e, k in budgets]
    assert table(records).rows[0].runs == (3, 3)
    assert table(records).costs.spent.shape[2] == 1


@pytest.mark.parametrize(("seeds", "least", "most"), [(3, 0, 5), (50, 18, 20)])
def test_ten_per_cent_split_groups_at_fifty_seeds_and_not_at_three(seeds: int, least: int, most: int) -> None:
    rng, tasks, split = np.random.default_rng(0), [f"shallow:D={d},m=2" for d in range(4, 10)], 0
    for _ in range(20):
        rows = np.exp(0.3 * rng.normal(size=(2, 6, seeds))) * 1e5 * np.array([0.9, 1.0])[:, None, None]
        found = table([
            made(m, t, s, 1e-9, rows=int(rows[i, j, s]))
            for i, m in enumerate(("spm", "peel")) for j, t in enumerate(tasks) for s in range(seeds)
        ])  # fmt: skip
        split += [(row.method, row.standing.group) for row in found.rows] == [("spm", 1), ("peel", 2)]
    assert least <= split <= most


def test_a_task_is_solved_where_more_than_half_of_its_runs_are() -> None:
    half = [made("spm", SHALLOW[0], 0), failed(method="spm", task=SHALLOW[0], seed=1)]
    most = [made("spm", SHALLOW[1], s) for s in (0, 1)] + [failed(method="spm", task=SHALLOW[1], seed=2)]
    (row,) = table(half + most).rows
    assert (row.solved, row.accepted, row.runs) == ((SHALLOW[1],), 2, (3, 5))


def test_what_it_took_is_said_of_solved_runs_and_beside_the_limits() -> None:
    told = {"error": 1e-6, "identified": 1.0, "rows_per_parameter": 20.0, "bound": 5e-7}
    records = [made("spm", SHALLOW[0], s, 1e-6, rows=100, metrics=told) for s in range(3)]
    (row,) = table([*records, failed(method="spm", task=SHALLOW[0], seed=3, rows=9)]).rows
    assert (row.error, row.cost["queries"], row.rows_per_parameter, row.times_bound) == (1e-6, 100, 20, 2)
    (bare,) = table(grid({"spm": 1e-9}, SHALLOW)).rows
    assert math.isnan(bare.rows_per_parameter)
    assert math.isnan(bare.times_bound)


def test_access_is_that_of_the_family_and_decisions_have_a_table_of_their_own() -> None:
    passive = [made("sgd", t, s, 1e-3, access="samples") for t in SHALLOW for s in range(3)]
    asks = [made("sgd", t, s, 1e-3) for t in DEEP for s in range(3)]
    signs = [made("boundary-bends", "relu:D=10,widths=5,decisions=true", s) for s in range(3)]
    found = tables(entrants([*passive, *asks, *signs]))
    assert [(name, list(by)) for name, by in found.items()] == [
        ("pyramid", ["queries"]), ("relu", ["decisions"]), ("shallow", ["samples"]),
    ]  # fmt: skip


def test_sizes_follow_the_name() -> None:
    named = {"shallow:D=5,m=2": 10, "pyramid:D=8,widths=6-4-3": 84, "quadratic:D=10,k=3": 30, "hierarchy:D=7,N=9": 7}
    assert {name: weights(name) for name in named} == named
