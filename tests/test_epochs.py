"""An epoch, played by two sides in two checkouts: open, submit, verify, close, audit; and whoever cheats is caught."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paramid.cli import main
from paramid.records.publications import epochs, lines
from paramid.records.publications.bundles import Bundle
from paramid.records.publications.door import Untrusted
from paramid.records.publications.lines import line, of_records
from paramid.records.publications.published import read
from paramid.running import suites
from paramid.running.verification import submissions
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret
from tests.records import FACTS, made

EPOCH = epochs.Epoch(name="e", suite="smoke", version=1, seeds=None, opened="2026-11-20", commitment="0" * 64)
FILE = Path("leaderboard") / "epochs" / "e.json"
RECORDS = Path("leaderboard") / "records"
RUN = ["--epoch", "e", "--workers", "1", "--to", str(RECORDS), "--store", "../store"]


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The maintainers' checkout, with an epoch that is open, and the submitter's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    (ours / "leaderboard").mkdir(parents=True)
    git(ours, "init")
    monkeypatch.chdir(ours)
    assert main(["epoch", "open", "e", "--suite", "smoke"]) == 0
    git(ours, "add", "-A")
    git(ours, "commit", "-m", "open")
    git(tmp_path, "clone", str(ours), str(theirs))
    return ours, theirs


def test_the_secret_is_outside_and_for_one_person(sides: tuple[Path, Path], tmp_path: Path) -> None:
    kept = tmp_path / "config" / "paramid" / "epochs" / "e.secret"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.read_bytes().hex() not in git(sides[0], "show", "HEAD")
    assert Secret.given(kept).fingerprint == epochs.existing("e", FILE.parent).commitment


def test_both_sides_of_an_epoch(
    sides: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = sides
    monkeypatch.chdir(theirs)
    assert main(["submit", "spm", "--epoch", "e", "--out", "spm.zip"]) == 0
    monkeypatch.chdir(ours)
    assert main(["verify", str(theirs / "spm.zip"), *RUN]) == 0
    said = capsys.readouterr()
    assert "1 of 1 cells to run, 1 at once: at most 0:00:30" in said.err
    assert "1 records of epoch e" in said.out
    assert main(["verify", str(theirs / "spm.zip"), *RUN]) == 1
    assert "spm is in epoch e already: every method once" in capsys.readouterr().err
    assert main(["audit", "--records", ".", "--share", "1"]) == 0
    assert "its teacher was drawn from a secret that is not shown here" in capsys.readouterr().out
    assert main(["epoch", "close", "e"]) == 0
    git(ours, "add", "-A")
    git(ours, "commit", "-m", "close")
    assert main(["verify", str(theirs / "spm.zip"), "--epoch", "e"]) == 1
    assert "epoch e was closed on" in capsys.readouterr().err
    git(theirs, "pull")
    monkeypatch.chdir(theirs)
    assert main(["audit", "--records", ".", "--share", "1"]) == 0
    assert "1 verified, 0 disputed, 0 left open, of 1; 0 problems" in capsys.readouterr().out
    for change, words in CHEATS.items():
        git(theirs, "reset", "--hard")
        change(theirs)
        assert main(["audit", "--records", ".", "--share", "1"]) == 1
        assert words in capsys.readouterr().out


def republished(folder: Path, seed: int | None = None, **told: object) -> None:
    """The maintainers' file anew, with something that they chose."""
    (file,) = (folder / RECORDS).iterdir()
    found = read(file)
    records = [replace(r, **({} if seed is None else {"seed": seed}), **told) for r in found.records.values()]
    digests = of_records(map(lines.fingerprint, records))
    (entry,) = found.entries
    entry = replace(entry, records=digests, secret=str(records[0].secret))
    file.write_text(line("entry", entry) + "".join(line("record", r) for r in records))


def another_secret(folder: Path) -> None:
    """The epoch's file, as if it had been opened with another secret."""
    told = json.loads((folder / FILE).read_text())
    other = Secret(b"x" * 32)
    (folder / FILE).write_text(json.dumps({**told, "commitment": other.fingerprint, "secret": other.value.hex()}))


CHEATS: dict[Callable[[Path], None], str] = {
    lambda folder: republished(folder, seed=7): "seed 7 (cpu, seconds 30, judged at 10000) is no cell of suite smoke",
    lambda folder: republished(
        folder, budget={"seconds": 60.0}
    ): "seed 0 (cpu, seconds 60, judged at 10000) is no cell",
    lambda folder: republished(folder, secret="1" * 64): "were not drawn from the epoch's secret",
    another_secret: "and was '",
}


def test_a_maintainer_who_changes_the_secret_is_caught(
    sides: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ours, theirs = sides
    monkeypatch.chdir(theirs)
    assert main(["submit", "spm", "--epoch", "e", "--out", "spm.zip"]) == 0
    monkeypatch.chdir(ours)
    other = tmp_path / "other"
    other.write_bytes(b"y" * 32)
    for words in (["epoch", "close", "e", "--secret", str(other)], ["verify", "../theirs/spm.zip", *RUN]):
        assert main([*words, *(["--secret", str(other)] if words[0] == "verify" else [])]) in (1, 2)
        assert "the secret that epoch e was opened with" in capsys.readouterr().err
    FILE.write_text(
        FILE.read_text().replace(epochs.existing("e", FILE.parent).commitment, Secret(b"y" * 32).fingerprint)
    )
    git(ours, "commit", "-am", "nobody will see")
    assert main(["verify", "../theirs/spm.zip", *RUN, "--secret", str(other)]) == 1
    assert "when it was first committed" in capsys.readouterr().err
    (ours / ".git").rename(tmp_path / "gone")  # without a history the bundle knows
    assert main(["verify", "../theirs/spm.zip", *RUN, "--secret", str(other)]) == 1
    assert "to another secret of that name" in capsys.readouterr().err


METHOD = """
from dataclasses import dataclass
from typing import ClassVar
from paramid import Access, GiveUp
@dataclass(frozen=True)
class Mine:
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})
    def declines(self, spec): return None
    def identify(self, oracle, run):
        raise GiveUp("nothing")
        yield
METHODS = {"mine": Mine}
"""


def test_a_submitter_who_changes_the_source_is_caught(sides: tuple[Path, Path]) -> None:
    ours, theirs = sides
    (theirs / "mine.py").write_text(METHOD)

    def paramid(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        told = [sys.executable, "-m", "paramid", *words, "--plugin", str(theirs / "mine.py")]
        return subprocess.run(told, cwd=folder, capture_output=True, text=True, timeout=120, env=dict(os.environ))

    assert paramid(theirs, "submit", "mine", "--epoch", "e", "--out", "mine.zip").returncode == 0
    (theirs / "mine.py").write_text(METHOD.replace('"nothing"', '"nothing at all"'))
    done = paramid(ours, "verify", str(theirs / "mine.zip"), *RUN)
    assert done.returncode == 1
    assert "mine: the code here is not the code that made its records" in done.stderr
    assert not RECORDS.exists()


def test_teachers_depend_on_secret_epoch_and_frozen_source() -> None:
    secrets = {
        replace(EPOCH, name=name).drawn(value, frozen).value
        for name in "ab" for value in (b"1" * 32, b"2" * 32) for frozen in ("x", "y")
    }  # fmt: skip
    assert len(secrets) == 8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"secret": "ab"}, "closed by showing its secret"),
        ({"closed": "2026-11-21", "secret": "ab" * 32}, "not the one whose hash it was opened with"),
        ({"commitment": "x"}, "commitment is 'x'"),
        ({"version": "1"}, "version is '1'"),
        ({"more": 1}, "a field of the epoch is 'more'"),
    ],
)
def test_an_epochs_file_is_believed_in_nothing(change: dict[str, object], words: str) -> None:
    told = {name: getattr(EPOCH, name) for name in epochs.FIELDS}
    assert epochs.parse(json.dumps(told)) == EPOCH
    with pytest.raises(Untrusted, match=words):
        epochs.parse(json.dumps({**told, **change}))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["epoch", "open"], "a name such as 2026-12 was wanted"),
        (["epoch", "open", "e"], "epoch e is in leaderboard/epochs already"),
        (["epoch", "open", "../x"], "letters, digits, dots and dashes"),
        (["epoch", "open", "f", "--suite", "none"], "one that everybody has was wanted"),
        (["epoch", "open", "f", "--secret", "inside"], "the secret would be in the repository"),
        (["epoch", "close", "f"], "no epoch f in leaderboard/epochs: there are e"),
        (["verify", "x.zip", "--to", "y"], "--epoch NAME was wanted"),
        (["submit", "--epoch", "e", "--out", "b.zip"], "a METHOD or --suite NAME was wanted"),
    ],
)
def test_what_cannot_be_meant_is_one_line(
    words: list[str], told: str, sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_a_suite_for_some_methods_has_their_cells_alone() -> None:
    whole = suites.suite("standard")
    some = whole.of(["spm", "sgd:lr=0.1"])
    assert {c.method for c in some.cells()} == {"spm", "sgd:lr=0.1"}
    assert {c.task for c in some.cells() if c.method == "sgd:lr=0.1"} == {c.task for c in whole.cells()}
    own = {(c.task, c.seed, c.time_limit) for c in whole.cells() if c.method == "spm"}
    assert {(c.task, c.seed, c.time_limit) for c in some.cells() if c.method == "spm"} == own
    assert {c.seed for c in whole.of(["spm"], 5).cells()} == set(range(5))


def merged_beside(folder: Path) -> None:
    """Another secret's file, first committed on a branch where none was, and kept when that was merged."""
    git(folder, "branch", "-m", "main")
    git(folder, "switch", "--orphan", "beside")
    FILE.parent.mkdir(parents=True)
    FILE.write_text(json.dumps({name: getattr(EPOCH, name) for name in epochs.FIELDS}))
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "beside")
    git(folder, "merge", "--allow-unrelated-histories", "-s", "ours", "-m", "merged", "main")


def never_an_epoch(folder: Path) -> None:
    """A file that was a list when it was first committed."""
    kept = FILE.read_text()
    git(folder, "switch", "--orphan", "anew")
    FILE.parent.mkdir(parents=True)
    for text in ("[1]", kept):
        FILE.write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-m", "anew")


@pytest.mark.parametrize(
    ("rewrite", "words"),
    [(merged_beside, "and was 2 when it was first"), (never_an_epoch, "epoch e was none when it was first committed")],
)
def test_a_history_that_was_written_around_the_first_commit_is_named(
    rewrite: Callable[[Path], None], words: str, sides: tuple[Path, Path]
) -> None:
    assert epochs.changed(epochs.existing("e", FILE.parent), FILE.parent) == ""
    rewrite(sides[0])
    assert words in epochs.changed(epochs.existing("e", FILE.parent), FILE.parent)


def test_a_secret_is_of_one_epoch(sides: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "config" / "paramid" / "epochs" / "e.secret"
    assert main(["epoch", "open", "f", "--secret", str(kept)]) == 2
    assert "is the secret of epoch e; another was wanted" in capsys.readouterr().err
    (tmp_path / "link").symlink_to(sides[0])
    assert main(["epoch", "open", "f", "--secret", str(tmp_path / "link" / "secret")]) == 2
    assert "the secret would be in the repository" in capsys.readouterr().err


def test_a_method_has_one_name(sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    bundle = Bundle({"methods": {"sgd:lr=0.10": {}}}, {}, ())
    epoch = epochs.existing("e", FILE.parent)
    with pytest.raises(UsageError, match="and enters by that name alone"):
        submissions.Submission.planned(epoch, bundle, Secret(b"x" * 32), store=Path("s"), workers=1, threads=1)


def test_nothing_runs_where_nothing_could_be_published(
    sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("x")
    for words in (["verify", "none.zip", "--epoch", "e"], ["audit"]):
        assert main([*words, "--to", "file"]) == 2
        assert "--to is file; a folder was wanted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": {"gone": {}}}, "unknown method 'gone'"),
        ({"suite": "gone"}, "suite gone is not here"),
        ({"version": 99}, "the epoch has version 99"),
    ],
)
def test_cells_that_are_not_known_here_are_no_fault_of_an_entry(change: dict[str, object], words: str) -> None:
    told = {"suite": "smoke", "version": suites.suite("smoke").version, "methods": {"spm": {}}, **change}
    entry = lines.Entry(
        epoch="e", commitment="", frozen="", secret="", count=0, records="", machine="", made="", **told
    )  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=words):
        submissions.misfits(replace(EPOCH, suite=entry.suite, version=entry.version), entry, [])


def test_methods_that_could_read_the_secret_are_named() -> None:
    told = {"spm": "processes, mounts, user", "sgd": "processes", "truth": "none"}
    records = [made(method=m, provenance={**FACTS, "walls": walls}) for m, walls in told.items()]
    assert submissions.unhidden(records) == "without the wall `mounts` these could read the secret's file: sgd"
    assert submissions.unhidden([records[0], records[2]]) == ""


def test_a_cell_that_is_missing_is_named() -> None:
    entry = lines.Entry(epoch="e", commitment="", suite="smoke", version=2, methods={"spm": {}}, frozen="",
                        secret="1" * 64, count=0, records="", machine="", made="")  # fmt: skip
    epoch = replace(EPOCH, version=suites.suite("smoke").version)
    assert "has no record of spm" in submissions.misfits(epoch, entry, [])[0]
