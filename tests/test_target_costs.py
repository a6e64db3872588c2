"""From records to places: what counts as reached, who stands where, and what is missing."""

import math

import numpy as np
import pytest

from paramid.records.selection import assisted, entrants
from paramid.statistics.ranking import expected_cost, standings
from paramid.statistics.target_costs import board, boards, spent, target_costs
from paramid.words.status import Status
from tests.records import declined, failed, grid, made

TASKS = ("shallow:D=5,m=2", "shallow:D=6,m=3")


def test_a_target_is_reached_at_the_first_claim_within_it() -> None:
    assert spent(made(error=1e-5), "seconds") == (2.0, (1.0, 2.0))  # 3e-3 after 1 s, 1e-5 after 2 s
    assert spent(made(error=1e-5), "queries") == (1000.0, (500.0, 1000.0))
    assert spent(made(error=1e-16), "seconds") == (2.0, (1.0, 1.0, 1.0))
    assert spent(made(error=0.5), "seconds") == (2.0, ())


@pytest.mark.parametrize("status", Status)
def test_claims_stand_where_a_run_ended_or_was_cut_off(status: Status) -> None:
    stands = status in (Status.FINISHED, Status.TIMED_OUT, Status.BUDGET_SPENT)
    assert len(spent(made(status=status), "seconds")[1]) == (2 if stands else 0)


def test_a_board_is_the_strongest_access_that_was_counted() -> None:
    assert board([made(access="samples"), made(access="queries")]) == "queries"
    assert board([made(access="moments"), made(access="samples")]) == "moments"
    assert board([declined(method="spm")]) == "derivatives"  # nothing was counted: what its source names
    assert board([declined(method="of-somebody-else")]) is None
    groups = entrants([made("sgd", access="samples"), made("spm"), made("truth"), made("random")])
    assert {kind: list(ours) for kind, ours in boards(groups).items()} == {"samples": ["sgd"], "queries": ["spm"]}


def test_the_newest_record_of_a_cell_stands_for_each_device() -> None:
    old = made(error=1e-1)
    new = made(error=1e-9, provenance={"finished": "2026-11-19"})
    groups = entrants([new, old, made(device="cuda")])
    assert groups["spm"] == [new]
    assert list(groups) == ["spm", "spm on cuda"]


def test_assistance_is_read_from_the_name() -> None:
    assert assisted("entangled:assisted=true")
    assert not assisted("entangled:assisted=false")
    assert not assisted("entangled")


def test_missing_seeds_cost_the_most_that_anybody_spent() -> None:
    records = [made("a", seed=0), made("b", seed=0, seconds=4.0), made("b", seed=1, seconds=8.0)]
    table = target_costs(entrants(records), "seconds")
    assert table.spent.shape == (2, 1, 2, 3)
    assert table.spent[0, 0, 1].tolist() == [8.0] * 3
    assert not table.hit[0, 0, 1].any()
    assert expected_cost(table.spent, table.hit)[0, 0, 0] == 1.0 + 8.0


def test_tasks_that_all_decline_are_on_no_board() -> None:
    records = [made("a", TASKS[0]), declined(method="a", task=TASKS[1]), made("b", TASKS[0])]
    assert target_costs(entrants(records), "seconds").tasks == TASKS[:1]
    alone = target_costs(entrants([declined(method="a")]), "seconds")
    assert (alone.tasks, standings(alone)) == ((), [])
    assert standings(target_costs({}, "seconds")) == []


def test_failures_are_worst_and_ties_share_a_place() -> None:
    records = grid({"a": 1e-9, "b": 1e-9}, TASKS)
    records += [failed(method="c", task=t, seed=s) for t in TASKS for s in range(3)]
    placed = {s.method: s for s in standings(target_costs(entrants(records), "seconds"))}
    assert placed["a"].rank == placed["b"].rank == 1.5
    assert placed["a"].group == placed["b"].group == 1
    assert (placed["c"].score, placed["c"].rank, placed["c"].group) == (0.0, 3.0, 2)


def test_one_seed_of_one_task_is_enough() -> None:
    placed = standings(target_costs(entrants([made("a", error=1e-9), made("b", error=1e-3)]), "seconds"))
    assert [s.method for s in placed] == ["a", "b"]
    assert not any(math.isnan(v) for s in placed for v in (s.score, *s.score_interval, *s.rank_interval))


def test_an_order_of_records_changes_nothing() -> None:
    records = grid({"a": 1e-9, "b": 1e-5}, TASKS)
    one, two = (target_costs(entrants(r), "queries") for r in (records, records[::-1]))
    assert one.methods == two.methods
    assert np.array_equal(one.spent, two.spent)
