"""Records as tables, for a terminal and for pandas."""

import csv
import io
import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import paramid
from paramid.board.rerun_command import command
from paramid.board.summary import Summary
from paramid.cli import main
from paramid.records import text_tables
from paramid.records.publications import published
from paramid.records.publications.published import publish
from paramid.records.record import Record, dump
from paramid.records.selection import newest
from paramid.records.store import Store
from paramid.words.naming import UsageError
from tests.records import FACTS, declined, grid, made

TASK = "shallow:D=5,m=2"
SHORT = {"seconds": 1.0, "queries": None, "memory_mb": None}


def later(record: Record, **told: object) -> Record:
    """The same cell, made a day after; with another budget under another key."""
    facts = {**FACTS, "finished": "2026-11-19T12:00:00.000+00:00"}
    return replace(record, **{"provenance": facts, "key": f"{record.key}-later", **told})  # type: ignore[arg-type]


def kept(folder: Path, records: Iterable[Record]) -> Path:
    """A store that holds the records."""
    (folder / "cells").mkdir(parents=True)
    for r in records:
        (folder / "cells" / f"{r.key}-1.json").write_text(dump(r.to_json()))
    return folder


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if not line.startswith("-")]


def test_two_budgets_of_a_cell_are_two_rows_and_never_two_seeds() -> None:
    first = [made(seed=s) for s in range(2)]
    records = newest([*first, *(later(r, budget=SHORT) for r in first)], each_budget=True)
    rows = text_tables.rows(records)
    assert [(r["budget"], r["cells"]) for r in rows] == [("30 s", 2), ("1 s", 2)]
    assert lines(text_tables.render(rows, "text"))[0][:4] == ["task", "method", "budget", "identified"]
    one_budget = text_tables.render(text_tables.rows(first), "text")
    assert "budget" not in one_budget


def test_plots_and_the_board_take_the_newest_of_a_seed_whatever_it_was_granted() -> None:
    first = [made(seed=s, seconds=2.0) for s in range(2)]
    again = later(first[0], budget=SHORT, seconds=0.5)
    assert sorted(r.seconds for r in newest([again, *first])) == [0.5, 2.0]
    assert sorted(r.seconds for r in Summary([again, *first]).records) == [0.5, 2.0]


def test_what_was_declined_has_no_share() -> None:
    rows = text_tables.rows([*(declined(seed=s) for s in range(2)), made("sgd")])
    assert [r["method"] for r in rows] == ["sgd", "spm"]  # the declined comes last
    told = lines(text_tables.render(rows, "text"))[-1]
    assert told == [TASK, "spm", *["-"] * 7, "declined"]
    assert not text_tables.best(rows, 5)[1:]


def test_devices_are_told_apart_where_there_are_two() -> None:
    rows = text_tables.rows([made(), made(device="cuda")])
    assert lines(text_tables.render(rows, "text"))[0][2] == "device"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return kept(tmp_path / "s", [*grid({"spm": 1e-5, "sgd": 0.5, "truth": 0.0}, (TASK, "shallow:D=9,m=2")), declined()])


def table(capsys: pytest.CaptureFixture[str], *words: object) -> list[list[str]]:
    assert main(["table", *map(str, words)]) == 0
    return lines(capsys.readouterr().out)


def test_a_table_of_chosen_rows_and_columns_in_a_chosen_order(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--tasks", "shallow:D=9", "--methods", "sgd", "spm", "--columns", "method")
    assert table(capsys, "--store", store, *words) == [["method"], ["spm"], ["sgd"]]
    told = table(capsys, "--store", store, "--sort", "identified", "error", "--columns", "method", "error", "cells")
    assert [row[0] for row in told[1:]] == ["(truth)", "(truth)", "spm", "spm", "sgd", "sgd"]
    plain = main(["table", "--store", str(store), "--columns", "task", "method", "--format", "csv"])
    assert (plain, capsys.readouterr().out.splitlines()[0]) == (0, "task,method")


def test_any_metric_is_a_column_and_others_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    records = [made(metrics={"error": 1.0, "identified": 0.0, "bits": 9.0}), made(seed=1)]
    rows = text_tables.rows(records, ["bits"])
    assert rows[0]["bits"] == math.inf  # half of the cells have none
    with pytest.raises(UsageError, match="no column 'bit'; did you mean bits"):
        text_tables.rows(records, ["bit"])


def test_what_is_better_where_it_is_higher_falls() -> None:
    records = [made(m, metrics={"error": 1.0, "bits": b, "recovered": b / 50}) for m, b in (("a", 9.0), ("b", 40.0))]
    rows = text_tables.rows(records, ["bits", "recovered"])
    for column in ("bits", "recovered"):
        assert [r["method"] for r in text_tables.ordered(rows, [column])] == ["b", "a"]


def test_rows_sort_with_the_missing_last() -> None:
    rows = text_tables.rows([declined(), made("a", error=1e-3), made("b", error=1e-9)])
    assert [r["method"] for r in text_tables.ordered(rows, ["seconds", "error"])] == ["b", "a", "spm"]
    assert [r["method"] for r in text_tables.ordered(rows, ["method"])] == ["a", "b", "spm"]


def test_a_row_of_several_threads_is_made_again_with_them() -> None:
    assert command([made(threads=2)]).endswith("--threads 2 --time-limit 30")
    assert "--threads" not in command([made()])


def test_a_store_is_a_tidy_frame(store: Path, tmp_path: Path) -> None:
    frame = paramid.load(store)
    assert len(frame) == 18
    assert set(frame) >= {"method", "task", "seed", "status", "time_limit", "seconds", "error", "task.D", "key"}
    assert frame.groupby("task.D").size().to_dict() == {5.0: 9, 9.0: 9}
    claims = paramid.load(store, claims=True)
    assert claims.groupby("claim").size().to_dict() == {1: 17, 2: 17}  # the declined cell has none
    assert paramid.load(str(store)).equals(paramid.load(Store(store).records()).loc[:, list(frame)])


def test_a_damaged_record_is_a_warning_and_the_rest_a_frame(store: Path) -> None:
    next((store / "cells").iterdir()).write_text("{")
    with pytest.warns(UserWarning, match="cannot be read"):
        assert len(paramid.load(store)) == 17


def test_published_records_are_a_frame_too(tmp_path: Path) -> None:
    records = grid({"spm:step=1.5": 1e-5}, (TASK,))
    path, _ = publish(records, tmp_path / "leaderboard" / "records", "x")
    for where in (path, tmp_path / "leaderboard" / "records", tmp_path):
        assert paramid.load(where or "")["method.step"].tolist() == [1.5] * 3
    assert paramid.load(records[0]).shape[0] == 1
    assert list(paramid.load([])) == ["method", "task", "seed", "device", "key"]
    with pytest.raises(UsageError, match="no records at"):
        paramid.load(tmp_path / "nothing")
    with pytest.raises(UsageError, match="3 was given; records, or where they are, were wanted"):
        paramid.load(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"a name\.jsonl was wanted"):
        paramid.load(Path(__file__))


def test_the_word_published_means_what_came_with_paramid(capsys: pytest.CaptureFixture[str]) -> None:
    ours = Path(__file__).parents[1] / "leaderboard" / "records"
    assert published.whereabouts("published") == ours
    assert published.whereabouts(ours.parents[1]) == ours
    assert main(["table", "--records", "published", "--best", "1", "--tasks", "quadratic", "--format", "json"]) == 0
    assert {r["task"] for r in json.loads(capsys.readouterr().out)} >= {"quadratic:D=10,k=10"}


def test_a_board_shows_mine_beside_the_published(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(grid({"sphere-lm": 1e-15}, (TASK,)), tmp_path / "records", "x")
    words = ["board", "--store", str(store), "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert "from 15 records that stand, of 21 (" in capsys.readouterr().out
    with next((tmp_path / "out").rglob("*.csv")).open() as file:
        assert {"sphere-lm", "spm"} <= {r["method"] for r in csv.DictReader(io.StringIO(file.read()))}
