"""Cells find workers, and nobody is blamed for a death beside which nothing of it ran."""

from collections import Counter

import pytest

from paramid.running.cell import Cell
from paramid.running.crews.placement import MOST, PROVEN, Placement, Worker


def cell(method: str = "spm", device: str = "cpu", seed: int = 0) -> Cell:
    return Cell(method=method, task="shallow:D=5,m=2", seed=seed, device=device)


def placement(*workers: Worker) -> Placement:
    made = Placement()
    made.workers = {worker.name: worker for worker in workers}
    return made


def give(here: Placement, **cells: Cell) -> dict[str, str]:
    here.waiting.update(cells)
    return {key: address for key, _, address in here.placed()}


def test_cells_spread_and_never_exceed_the_slots() -> None:
    here = placement(Worker("a", 2), Worker("b", 4))
    assert here.room("cpu") == 6
    places = give(here, **{str(n): cell(seed=n) for n in range(7)})
    assert Counter(places.values()) == {"a": 2, "b": 4}
    assert here.room("cpu") == -1
    here.ended("0", places["0"])
    assert list(here.placed()) == [("6", cell(seed=6), places["0"])]


def test_cuda_cells_go_where_a_gpu_is_and_take_a_slot_too() -> None:
    here = placement(Worker("plain", 4), Worker("gpu", 3, gpus=2))
    assert here.room("cuda") == 2
    assert set(give(here, one=cell(device="cuda"), two=cell(device="cuda")).values()) == {"gpu"}
    assert give(here, three=cell(device="cuda")) == {}
    del here.waiting["three"]
    assert here.room("cpu") == 5


def test_a_worker_that_is_leaving_takes_nothing_and_blames_nobody() -> None:
    here = placement(Worker("a", 2))
    give(here, one=cell())
    here.workers["a"].accepts = False
    assert here.room("cpu") == 0
    assert here.gone("a", died=False) == []
    assert here.waiting == {"one": cell()}
    assert here.deaths["one"] == 0


def die_until_named(here: Placement, key: str) -> list[str]:
    """Have the worker die on which that cell is, again and again; with what else was on it the last time."""
    for number in range(4 * MOST):
        placed = {of: address for of, _, address in here.placed()}
        where = next((a for a, worker in here.workers.items() if key in worker.cells), None)
        if where is None:  # others that were beside it are alone first
            for of, address in placed.items():
                here.ended(of, address)
            continue
        beside = [other for other in here.workers[where].cells if other != key]
        over = here.gone(where, died=True)
        here.workers[f"{where}-{number}"] = Worker(where, 4)
        if over:
            assert [named for named, *_ in over] == [key]
            return beside
    raise AssertionError("it was never named")


def test_a_killer_is_named_alone_and_innocents_beside_it_are_not() -> None:
    here = placement(Worker("a", 4))
    give(here, killer=cell("bad"), one=cell(), two=cell(), three=cell())
    assert die_until_named(here, "killer") == []
    assert here.killers == {"bad": 1}
    for _ in range(4):
        for key, _, address in list(here.placed()):
            here.ended(key, address)
    assert not here.waiting
    assert max(here.deaths[innocent] for innocent in ("one", "two", "three")) < MOST
    assert here.room("cpu") == 4


def test_proven_killers_end_the_cells_of_their_method_and_no_others() -> None:
    here = placement(Worker("a", 1))
    for number in range(PROVEN):
        give(here, **{f"k{number}": cell("bad", seed=number)})
        if number == PROVEN - 1:
            here.waiting |= {"rest": cell("bad", seed=9), "good": cell("good")}
            over = []
            while not over:
                list(here.placed())
                over = here.gone(next(iter(here.workers)), died=True)
                here.workers["again"] = Worker("a", 1)
            assert [key for key, *_ in over] == [f"k{number}", "rest"]
        else:
            die_until_named(here, f"k{number}")
    assert "no more cells of bad" in here.refused(cell("bad"))
    assert here.refused(cell("good")) == ""
    assert set(here.waiting) <= {"good"}


def kept_for_a_suspect() -> Placement:
    """A worker with something to do, kept for the cell that waits for it."""
    here = placement(Worker("a", 2))
    give(here, one=cell())
    here.deaths["suspect"] = 2
    assert give(here, suspect=cell("bad")) == {}
    assert here.workers["a"].kept_for == "suspect"
    return here


def test_a_worker_is_not_kept_for_a_cell_that_went_elsewhere() -> None:
    here = kept_for_a_suspect()
    here.workers["a"].accepts = False  # it has no memory to spare
    here.workers["b"] = Worker("b", 1)
    assert [address for *_, address in here.placed()] == ["b"]
    here.workers["a"].accepts = True
    here.ended("suspect", "b")
    assert list(here.placed()) == []
    assert here.room("cpu") == 2


def test_a_worker_is_not_kept_for_a_cell_that_is_not_run_any_more() -> None:
    here = kept_for_a_suspect()
    here.killers["bad"] = PROVEN
    here.workers["b"] = Worker("b", 1)
    assert [key for key, _ in here.gone("b", died=True)] == ["suspect"]
    assert give(here, two=cell(seed=2)) == {"two": "a"}


@pytest.mark.parametrize("slots", [0, 1])
def test_a_suspect_waits_for_a_worker_of_its_own(slots: int) -> None:
    here = placement(Worker("a", slots), Worker("b", 2))
    here.deaths["suspect"] = 2
    give(here, one=cell(), two=cell(), three=cell())
    kept = give(here, suspect=cell("spm", seed=7))
    if kept:  # a worker had nothing to do
        return
    alone = next(a for a, worker in here.workers.items() if worker.kept_for == "suspect")
    for key in list(here.workers[alone].cells):
        assert "suspect" not in {k for k, *_ in here.placed()}
        here.ended(key, alone)
    assert ("suspect", cell("spm", seed=7), alone) in list(here.placed())
    assert here.workers[alone].room("cpu") == 0
