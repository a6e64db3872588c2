"""A commit is called worse where that can be defended, and named where it cannot be measured."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from paramid import cli
from paramid.running import suites
from paramid.running.cell import Cell
from paramid.statistics import commit_regressions
from paramid.statistics.commit_regressions import FAILED, SAME, UNKNOWN, WORSE, Pair
from paramid.words.naming import UsageError

ROOT = Path(__file__).parents[1]


def made(**changes: object) -> dict[str, object]:
    error = changes.pop("error", 1e-5)
    metrics = {"error": error, "identified": float(error < 1e-2)}
    plain = {"status": "finished", "reason": "", "seconds": 1.0, "queries": 100, "samples": 0, "derivatives": 0}
    return {**plain, "moments": 0, "peak_mb": 300.0, "metrics": metrics, **changes}


def pair(rounds: int = 1, seeds: int = 3, **changes: object) -> Pair:
    base = {seed: [made() for _ in range(rounds)] for seed in range(seeds)}
    return Pair("cell", base, {seed: [made(**changes) for _ in range(rounds)] for seed in range(seeds)})


@pytest.mark.parametrize(
    ("changes", "quantity", "verdict"),
    [
        ({}, "error", SAME),
        ({"error": 1.2e-5}, "error", SAME),
        ({"error": 1e-9}, "error", SAME),
        ({"error": 3e-5}, "error", WORSE),
        ({"error": 1.41}, "error", WORSE),
        ({"error": "Infinity", "metrics": {}}, "error", WORSE),
        ({"status": "timed_out", "metrics": {}}, "error", WORSE),
        ({"queries": 101}, "queries", WORSE),
        ({"queries": 99}, "queries", SAME),
        ({"queries": 50, "samples": 51}, "queries", WORSE),
        ({"seconds": 2.0}, "seconds", WORSE),
        ({"seconds": 1.2}, "seconds", SAME),
        ({"seconds": 0.5}, "seconds", SAME),
        ({"peak_mb": 500.0}, "peak_mb", WORSE),
        ({"peak_mb": 340.0}, "peak_mb", SAME),
    ],
)
def test_verdicts(changes: dict[str, object], quantity: str, verdict: str) -> None:
    if changes.get("error") == "Infinity":
        changes = {"metrics": {}}
    (found,) = commit_regressions.findings(pair(rounds=3, **changes), [quantity])
    assert found.verdict == verdict, found


def test_rounding_is_no_regression() -> None:
    both = pair(error=3e-14)
    for records in both.base.values():
        records[0]["metrics"]["error"] = 4e-15
    assert commit_regressions.judge_error(both)[0] == SAME


def test_one_seed_that_got_better_is_no_regression() -> None:
    both = pair(error=1e-4)
    both.head[1][0]["metrics"]["error"] = 9e-6
    assert commit_regressions.judge_error(both)[0] == SAME


@pytest.mark.parametrize(("noise", "verdict"), [(0.02, SAME), (1.5, UNKNOWN)])
def test_noise_is_no_alarm(noise: float, verdict: str) -> None:
    rng, told = np.random.default_rng(0), []
    for _ in range(20):
        both = pair(rounds=3)
        for side in (both.base, both.head):
            for records in side.values():
                for one in records:
                    one["seconds"] = float(np.exp(noise * rng.normal()))
        told.append(commit_regressions.judge_seconds(both)[0])
    assert told.count(WORSE) == 0
    assert told.count(verdict) >= 10


def test_a_slow_step_is_seen_through_noise() -> None:
    rng, both = np.random.default_rng(1), pair(rounds=5)
    for factor, side in ((1.0, both.base), (2.0, both.head)):
        for records in side.values():
            for one in records:
                one["seconds"] = factor * float(np.exp(0.2 * rng.normal()))
    assert commit_regressions.judge_seconds(both)[0] == WORSE


def test_what_was_not_measured_is_said() -> None:
    both = pair()
    both.base[2] = [{"status": "no record", "reason": "unknown method 'new'"}]
    (found,) = commit_regressions.findings(both, ["error", "queries"])
    assert (found.verdict, found.words) == (FAILED, "base, seed 2: no record: unknown method 'new'")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits of this project; the second forgets a neuron."""
    for folder in ("harness", "methods", "tasks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "right")
    file = tmp_path / "methods" / "spans" / "hessian_pipeline.py"
    text, whole = file.read_text(encoding="utf-8"), "yield Network.shallow(w, shifts, name)"
    assert whole in text
    file.write_text(text.replace(whole, "yield Network.shallow(w[:, 1:], shifts[1:], name)"), encoding="utf-8")
    git("commit", "-am", "wrong")
    return tmp_path


@pytest.mark.slow
def test_a_forgotten_neuron_is_found_between_two_commits(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sides = [commit_regressions.unpack(c, tmp_path_factory.mktemp("side"), repository) for c in ("HEAD~1", "HEAD")]
    cells = [Cell(method="spectral-norm:refine=none", task="shallow:D=6,m=3", seed=0, time_limit=30)]
    (both,) = commit_regressions.measured_pairs(*sides, cells, 1, lambda _: None)
    found = {f.quantity: f for f in commit_regressions.findings(both, ["error", "queries"])}
    assert found["error"].verdict == WORSE
    assert not commit_regressions.unmeasured(Pair("same", both.base, both.base))
    with pytest.raises(UsageError, match="is no commit"):
        commit_regressions.unpack("nowhere", repository, repository)


def test_the_command_names_a_commit_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["regress", "nowhere", "HEAD", "--repository", str(ROOT)]) == 2
    assert "'nowhere' is no commit" in capsys.readouterr().err


def unknown_before() -> Pair:
    both = pair()
    both.base[0] = [{"status": "no record", "reason": "unknown method 'new'"}]
    return both


@pytest.mark.parametrize(
    ("both", "words", "code", "suite"),
    [
        (pair(seconds=9.0, peak_mb=9000.0), ["--quick"], 0, "regress-quick"),
        (pair(seconds=9.0), [], 1, "regress"),
        (pair(peak_mb=9000.0), ["--suite", "smoke"], 1, "smoke"),
        (pair(queries=101), ["--quick"], 1, "regress-quick"),
        (unknown_before(), ["--quick"], 4, "regress-quick"),
    ],
)
def test_the_quick_form_judges_what_no_load_changes(
    both: Pair, words: list[str], code: int, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[Cell]] = []

    def measured_pairs(_base: Path, _head: Path, cells: Sequence[Cell], *_: object) -> Iterator[Pair]:
        asked.append(cells)
        yield both

    monkeypatch.setattr(commit_regressions, "unpack", lambda *_: Path())
    monkeypatch.setattr(commit_regressions, "measured_pairs", measured_pairs)
    assert cli.main(["regress", "before", "after", *words]) == code
    assert asked == [suites.suite(suite).cells()]


def test_a_commit_that_cannot_even_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "paramid").mkdir()
    (tmp_path / "paramid" / "__init__.py").write_text("raise OSError('broken on purpose')")
    with commit_regressions.cell_runner(tmp_path) as record:
        for _ in range(2):
            assert record(CELL) == {"status": "no record", "reason": "OSError: broken on purpose"}


FLAT = {  # of a commit whose harness had no folders
    "__init__": "",
    "naming": "class UsageError(Exception): pass",
    "record": "from json import dumps as dump",
    "plans": "def cell(**asked): return asked",
    "supervisor": """
from types import SimpleNamespace
class Forkserver:
    def __init__(self, threads): pass
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def run(self, cell, key, facts): return SimpleNamespace(record=SimpleNamespace(to_json=lambda: {"flat": cell}))
""",
}


def test_a_commit_without_folders_runs_by_its_own_modules(tmp_path: Path) -> None:
    (tmp_path / "paramid").mkdir()
    for name, text in FLAT.items():
        (tmp_path / "paramid" / f"{name}.py").write_text(text)
    with commit_regressions.cell_runner(tmp_path) as record:
        assert record(CELL)["flat"]["task"] == CELL.task


def test_a_cell_that_a_commit_does_not_know_is_named_and_the_next_one_runs() -> None:
    with commit_regressions.cell_runner(ROOT / ".none") as record:
        unknown = record(Cell(method="nobody", task="shallow", seed=0))
        assert (unknown["status"], "unknown method 'nobody'" in str(unknown["reason"])) == ("no record", True)
        assert record(CELL)["status"] == "finished"


CELL = Cell(method="truth", task="shallow:D=3,m=2", seed=0, time_limit=30)
