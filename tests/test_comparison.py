"""Comparisons resume: nothing twice, nothing lost, whatever stops them."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import paramid
from paramid import Status
from paramid.cli import main
from paramid.records.record import Outcome
from paramid.records.store import Store
from paramid.running import suites
from paramid.running.cell import plan_cell
from paramid.running.compare import Comparison
from paramid.running.progress import LineProgress, Progress
from paramid.words.naming import UsageError

GRID = {"methods": ["spm", "truth"], "tasks": ["shallow:D=5,m=2", "shallow:D=6,m=3"], "seeds": 2}


class Counting(Progress):
    """Counts what is started."""

    def __init__(self) -> None:
        self.count = 0

    def started(self, cell: object) -> None:
        self.count += 1


def play(store: Path, **options: object) -> int:
    """How many cells a comparison really ran."""
    comparison = Comparison.planned(GRID["methods"], GRID["tasks"], range(2), store=store, workers=2, **options)
    counting = Counting()
    comparison.run_missing(counting)
    return counting.count


def test_a_comparison_is_a_frame_and_runs_once(tmp_path: Path) -> None:
    frame = paramid.compare(**GRID, store=tmp_path / "s", workers=2)
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 8
    assert set(frame["status"]) == {"finished"}
    assert (frame[frame.method == "truth"]["error"] == 0).all()
    assert play(tmp_path / "s") == 0


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(UsageError, match="a whole number from 0 was wanted"):
        plan_cell("spm", "shallow:D=5,m=2", seed=seed)
    with pytest.raises(UsageError, match="a whole number from 0 was wanted"):
        suites.grid(["spm"], ["shallow:D=5,m=2"], [0, seed])


def test_integers_of_numpy_are_integers(tmp_path: Path) -> None:
    assert plan_cell("spm", "shallow:D=5,m=2", seed=np.int64(3)) == plan_cell("spm", "shallow:D=5,m=2", seed=3)
    assert len(paramid.compare(["truth"], ["shallow:D=5,m=2"], np.int64(2), store=tmp_path)) == 2


def test_an_unknown_limit_is_named() -> None:
    with pytest.raises(UsageError, match="unknown option 'tme_limit'; did you mean time_limit"):
        paramid.run("truth", "shallow:D=5,m=2", tme_limit=3)


def test_retry_and_fresh_run_again(tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert play(store) == 8
    assert play(store, retry=[Status.RAISED]) == 0
    assert play(store, retry=[Status.FINISHED]) == 8
    assert play(store, fresh=True) == 8
    assert len(Store(store).records()) == 8


def test_what_run_kept_of_an_interrupted_cell_runs_again(tmp_path: Path) -> None:
    play(tmp_path / "s")
    store = Store(tmp_path / "s").open()
    store.add(Outcome(replace(store.records()[0], status=Status.INTERRUPTED), b""))
    assert play(tmp_path / "s") == 1


def test_a_damaged_record_alone_runs_again(tmp_path: Path) -> None:
    play(tmp_path / "s")
    next((tmp_path / "s" / "cells").iterdir()).write_text("{")
    assert play(tmp_path / "s") == 1


def test_progress_lines_tell_done_running_left_and_eta(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    comparison = Comparison.planned(GRID["methods"], GRID["tasks"], range(2), store=tmp_path / "s", workers=2)
    comparison.run_missing(LineProgress(sys.stdout))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "8 cells"
    assert len(lines) == 9
    assert all(word in lines[3] for word in ("[3/8]", "running", "left", "ETA"))


COMMAND = [
    sys.executable, "-m", "paramid", "compare", "--methods", "spm", "spectral-norm", "truth",
    "--tasks", "shallow:D=5,m=2", "shallow:D=6,m=3", "--seeds", "10", "--workers", "2",
]  # fmt: skip


def start(store: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--store", str(store)],
        env={**os.environ, "PARAMID_MARK": str(store)},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test run in the background may ignore it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def alive(store: Path) -> list[str]:
    """Processes that a comparison into `store` left behind."""
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"PARAMID_MARK={store}\0".encode() in (folder / "environ").read_bytes()
        except OSError:
            continue
        if marked:
            left.append((folder / "cmdline").read_text())
    return left


@pytest.mark.slow
@pytest.mark.parametrize("times", [5, pytest.param(20, marks=pytest.mark.kills)])
def test_killing_a_comparison_loses_and_doubles_nothing(times: int, tmp_path: Path) -> None:
    store, chance, kills = tmp_path / "s", random.Random(0), 0
    (store / "cells").mkdir(parents=True)
    while kills < times:
        running = start(store)
        time.sleep(chance.uniform(0.2, 7))
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        else:  # it was faster: begin again with an empty folder
            for path in (*(store / "cells").iterdir(), *(store / "claims").iterdir()):
                path.unlink()
        kills += 1
        running.communicate()
    finished = start(store)
    said = finished.communicate()[1]
    assert finished.returncode == 0, said
    names = [path.name for path in (store / "cells").iterdir()]
    assert len(names) == 60
    assert len({name.rpartition("-")[0] for name in names}) == 60
    assert len(Store(store).records()) == 60
    again = start(store)
    assert "60 cells, 60 already in the store" in again.communicate()[1]
    assert not alive(store)


@pytest.mark.slow
def test_ctrl_c_leaves_a_store_that_resumes(tmp_path: Path) -> None:
    running = start(tmp_path / "s")
    assert any("[2/60]" in line for line in iter(running.stderr.readline, ""))
    running.send_signal(signal.SIGINT)
    said = running.communicate()[1]
    assert running.returncode == 130, said
    assert said.splitlines()[-1] == "paramid: stopped; the same command goes on from here"
    kept = Store(tmp_path / "s").records()
    assert 2 <= len(kept) < 60
    assert {r.status for r in kept} == {Status.FINISHED}


def test_a_suite_spreads_over_options() -> None:
    made = suites.spread(["a:x={x},y={y}", "b:y={y}", "c"], {"x": [1, 2], "y": [0.5, 1]})
    assert made == ["a:x=1,y=0.5", "a:x=1,y=1", "a:x=2,y=0.5", "a:x=2,y=1", "b:y=0.5", "b:y=1", "c"]


@pytest.mark.parametrize("name", suites.suites())
def test_every_suite_can_be_planned(name: str) -> None:
    suite = suites.suite(name)
    assert suite.version >= 1
    assert len(suite.cells()) == len({c.key() for c in suite.cells()}) > 0


def test_a_key_knows_neither_the_machine_nor_how_a_number_was_written(tmp_path: Path) -> None:
    def keys(limit: float, workers: int) -> set[str]:
        options = {"store": tmp_path, "workers": workers, "time_limit": limit}
        return set(Comparison.planned(["spm"], ["shallow:D=5,m=2"], range(1), **options).cells)

    assert keys(60, 1) == keys(60.0, 2) != keys(61, 1)


def test_a_record_says_when_it_was_finished() -> None:
    told = paramid.run("truth", "shallow:D=2,m=1", judge_inputs=10).provenance
    begun, ended = (datetime.fromisoformat(str(told[name])) for name in ("started", "finished"))
    assert begun <= ended


def test_a_suite_may_be_a_file_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[grid]]\nmethods = ["truth"]\ntasks = ["shallow:D={D},m=1"]\nover = {D = [2, 3]}\nseeds = [0, 4]\n'
    )
    suite = suites.suite(file)
    assert (suite.name, suite.version, [c.seed for c in suite.cells()]) == ("mine", 1, [0, 4, 0, 4])
    assert main(["compare", "--suite", str(file), "--store", str(tmp_path / "s")]) == 0
    assert "shallow:D=3,m=1" in capsys.readouterr().out


def test_a_grid_names_lists_of_methods() -> None:
    both = '[methods]\nshallow = ["spm", "sgd:lr={lr}"]\n[[grid]]\nmethods = ["truth", "shallow"]\ntasks = ["shallow"]'
    made = suites.read_suite("mine", f"{both}\nover = {{ lr = [0.1, 0.2] }}")
    assert made.grids[0].methods == ("truth", "spm", "sgd:lr=0.1", "sgd:lr=0.2")
    assert made.grids[0].tasks == ("shallow",)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, "cannot be read: No such file"),
        ("[methods]\nall = 'spm'\n[[grid]]\ntasks = ['shallow']", "methods.all are 'spm'; a list of names"),
        ("[methods]\nall = ['spm']\n[[grid]]\ntasks = ['shallow']", "grid 1 has no methods"),
        ("grid = 3", r"has no \[\[grid\]\]"),
        ("[[grid]]\ntasks = ['shallow']", "grid 1 has no methods; a list of names was wanted"),
        ("[[grid]]\nmethods = ['spm']", "grid 1 has no tasks"),
        ("[[grid]]\nmethods = 'spm'", "methods are 'spm'; a list of names was wanted"),
        ("[[grid]]\nmethods = ['spm']\ntasks = ['shallow']\nseeds = 'two'", "seeds is 'two'; a whole number"),
        ("[[grid]]\nmethods = ['spm']\ntasks = ['shallow']\nseeds = [-1]", "a seed is -1; a whole number from 0"),
        ("[[grid]]\nmethods = ['spm']\ntasks = ['shallow']\nover = {D = 3}", "options with lists of values"),
        ("[[grid]]\nmethods = ['spm']\ntasks = ['shallow:D={D}']\nover = {m = [3]}", "no values of D"),
        ("[[grid]]\nmethods = ['spm']\ntasks = ['shallow']\ntime_limit = 'long'", "time_limit is 'long'"),
        ("[[gird]]", "unknown key gird; did you mean grid"),
        ("version = 'x'\n[[grid]]\nmethods = ['spm']\ntasks = ['shallow']", "version is 'x'"),
        ("[[grid", "suite mine: "),
    ],
)
def test_a_suite_that_cannot_be_meant_is_one_line(text: str | None, wanted: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=wanted) as said:
        suites.suite(file).cells()
    assert "\n" not in str(said.value)
