"""What runs for the project elsewhere are thin calls of its own commands, and these do what they say."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paramid.records.publications.bundles import pack
from tests.forgeries import honest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
THIN = re.compile(r"\./\.ci/(\w+)( .*)?|make \S+")


def test_workflows_call_the_projects_own_commands_alone() -> None:
    assert [path.stem for path in WORKFLOWS] == ["bundle", "ci", "site"]
    for path in WORKFLOWS:
        for words in re.findall(r"- run: (.*)", path.read_text()):
            found = THIN.fullmatch(words)
            assert found, words
            assert found[1] is None or os.access(ROOT / ".ci" / found[1], os.X_OK)
        assert "run: |" not in path.read_text()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of the scripts alone, and this `paramid` for them to call."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "leaderboard").mkdir()
    (tmp_path / "paramid").write_text(f'#!/bin/sh\nexec {sys.executable} -m paramid "$@"\n')
    (tmp_path / "paramid").chmod(0o755)
    git(tmp_path, "init")
    committed(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def committed(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "--allow-empty", "-m", "x")


def called(folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PARAMID": str(folder / "paramid")}
    command = [str(folder / ".ci" / script), *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def test_bundles_of_a_pull_request_are_verified(checkout: Path) -> None:
    committed(checkout)
    assert "no bundle since HEAD~1" in called(checkout, "bundles").stdout
    lie = honest(error=1e-15)[:1]  # what nobody finds again
    (checkout / "lie.zip").write_bytes(pack(lie, {}))
    committed(checkout)
    done = called(checkout, "bundles", "HEAD~1")
    assert done.returncode == 1
    assert "disputed: spm" in done.stdout
    (checkout / "lie.zip").rename(checkout / "-\u00e9.zip")  # a name that is an option, quoted, and no new file
    committed(checkout)
    assert "disputed: spm" in called(checkout, "bundles", "HEAD~1").stdout


def test_a_submission_does_not_write_what_an_epoch_gave(checkout: Path) -> None:
    (checkout / "b.zip").write_bytes(b"")
    (checkout / "leaderboard" / "forged.jsonl").write_text("")
    committed(checkout)
    done = called(checkout, "bundles", "HEAD~1")
    assert done.returncode == 1
    assert done.stdout.startswith("leaderboard/forged.jsonl\nrefused:")


def test_the_site_is_what_the_command_writes(checkout: Path, tmp_path: Path) -> None:
    (checkout / "leaderboard" / "records").mkdir()
    shutil.copytree(ROOT / "benchmarks" / "results", checkout / "benchmarks" / "results")
    done = called(checkout, "site", str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").is_file()
