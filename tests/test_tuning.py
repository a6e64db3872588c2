"""The choice among configurations: by teachers identified, targets reached and seconds, or else by errors."""

import pytest

from benchmarks.reproduce import pages
from benchmarks.reproduce.tuning import PAGE, chosen, chosen_by
from paramid.records.record import Record
from paramid.words.status import Status
from tests.records import made

TASK = "shallow:D=5,m=5"


def ran(method: str, error: float, seconds: float = 1.0, *, seeds: int = 2, **more: object) -> list[Record]:
    return [made(method, TASK, seed=100 + s, error=error, seconds=seconds, **more) for s in range(seeds)]


@pytest.mark.parametrize(
    ("rival", "wins"),
    [
        (ran("sgd:lr=0.1", 1e-3, 0.5), True),  # as good and quicker
        (ran("sgd:lr=0.1", 1e-3, 0.9), False),  # the first of equals
        (ran("sgd:lr=0.1", 1e-5, 9.0), True),  # one target more
        (ran("sgd:lr=0.1", 1e-5, status=Status.GAVE_UP), False),  # what was withdrawn reached nothing
        (ran("sgd:lr=0.1", 0.5, 0.1), False),  # quick and wrong
    ],
)
def test_the_best_identifies_reaches_and_is_quick(rival: list[Record], wins: bool) -> None:
    records = [*ran("sgd", 1e-3), *rival]
    assert chosen(records) == {("shallow", "sgd"): "sgd:lr=0.1" if wins else "sgd"}


def test_of_those_that_identify_nothing_the_nearest_is_chosen() -> None:
    records = [*ran("sgd", 0.5, 0.1), *ran("sgd:lr=0.1", 0.3, 9.0)]
    assert chosen(records) == {("shallow", "sgd"): "sgd:lr=0.1"}


def test_the_page_tells_its_choices() -> None:
    records = [*ran("sgd", 1e-3), *ran("sgd:lr=0.1", 1e-5), *ran("student", 1e-9)]
    text = "\n".join(pages.lines(PAGE, {"tuning": records}))
    assert chosen_by(text) == chosen(records) == {("shallow", "sgd"): "sgd:lr=0.1", ("shallow", "student"): "student"}
