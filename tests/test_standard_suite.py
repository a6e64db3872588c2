"""The suite `standard`: who stands where, how far its ladders go, and where its options come from."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from benchmarks.reproduce.tuning import chosen_by
from paramid.contracts import registry
from paramid.contracts.method import declined
from paramid.records.publications import epochs
from paramid.records.selection import options
from paramid.running import suites
from paramid.running.cell import Cell
from paramid.running.verification import submissions
from paramid.words.naming import Name

ROOT = Path(__file__).parents[1]
CELLS = suites.suite("standard").cells()
METHODS = sorted(set(registry.BUILT_IN["methods"]) - set(registry.CONTROLS))
FAMILIES = sorted(set(registry.BUILT_IN["tasks"]) - {"file"})  # which is its owner's


def of_family(family: str) -> list[Cell]:
    return [c for c in CELLS if Name.parse(c.task).base == family]


@cache
def declines(method: str, task: str) -> bool:
    return declined(registry.method(method), registry.task(task)) is not None


def test_every_method_and_every_family_is_in_it() -> None:
    for group, names in (("methods", METHODS), ("tasks", FAMILIES)):
        told = {Name.parse(c.method if group == "methods" else c.task).base for c in CELLS}
        missing = set(names) - told
        assert not missing, f"harness/suites/standard.toml lacks {', '.join(sorted(missing))}"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_method_stands_in_a_family_where_it_accepts_one_of_its_tasks(family: str) -> None:
    cells = of_family(family)
    asked = defaultdict(set)
    for c in cells:
        asked[c.method].add(c.task)
    controls = set(registry.CONTROLS)
    assert all(controls <= {c.method for c in cells if c.task == task} for task in {c.task for c in cells})
    idle = [m for m, tasks in asked.items() if m not in controls and all(declines(m, t) for t in tasks)]
    assert not idle, f"declines all that it is asked: {', '.join(idle)}"
    absent = set(METHODS) - {Name.parse(m).base for m in asked}
    left_out = [m for m in sorted(absent) if not all(declines(m, c.task) for c in cells)]
    assert not left_out, f"would accept a task of {family}: {', '.join(left_out)}"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_a_ladder(family: str) -> None:
    cells = of_family(family)
    seeds = defaultdict(set)
    for c in cells:
        seeds[c.task].add(c.seed)
    rungs = [t for t in seeds if "noise" not in options(t)]
    assert len(rungs) >= 5
    assert max(map(len, seeds.values())) == 10
    assert max(c.time_limit or 1e9 for c in cells) <= 60
    if "noise" in registry.described("tasks", family).settings:
        assert len({options(t)["noise"] for t in seeds if "noise" in options(t)}) >= 3
    lines = defaultdict(set)
    for task in rungs:
        for option in options(task):
            name = Name.parse(task)
            lines[option, tuple(o for o in name.options if o[0] != option)].add(task)
    assert max(map(len, lines.values())) >= 4, "no growth over one option, all others being the same"


def test_a_task_is_on_one_rung() -> None:
    seeds = defaultdict(set)
    for c in CELLS:
        seeds[c.task, c.time_limit].add(c.seed)
    assert len(seeds) == len({task for task, _ in seeds})
    assert len(CELLS) == len({(c.method, c.task, c.seed) for c in CELLS})


def test_the_suite_of_every_epoch_is_kept() -> None:
    known, _ = epochs.read(ROOT / "leaderboard" / "epochs")
    assert known
    for epoch in known.values():
        assert submissions.suite_of(epoch).version == epoch.version


def test_the_tuned_rows_are_the_choices_of_the_page() -> None:
    candidates = {c.method for c in suites.suite("tuning").cells() if Name.parse(c.method).options}
    published = {"sgd:optimizer=adam"}  # a row of its own
    choices = chosen_by((ROOT / "docs" / "tuning.md").read_text(encoding="utf-8"))
    assert choices
    for family in FAMILIES:
        wanted = {choice for (place, _), choice in choices.items() if place == family and Name.parse(choice).options}
        listed = {c.method for c in of_family(family)} & candidates
        assert listed - published == wanted - published, family


def test_tuning_has_one_budget_for_all_on_seeds_of_its_own() -> None:
    cells = suites.suite("tuning").cells()
    assert {(c.time_limit, c.seed) for c in cells} == {(10, 100), (10, 101)}
    rivals = defaultdict(set)
    for c in cells:
        rivals[Name.parse(c.task).base, Name.parse(c.method).base].add(c.method)
    assert {len(mine) for mine in rivals.values()} == {6}
    assert all(method in mine for (_, method), mine in rivals.items())
    assert not {c.seed for c in CELLS} & {c.seed for c in cells}
    assert re.search(r"six configurations", (ROOT / "docs" / "tuning.md").read_text(encoding="utf-8"))
