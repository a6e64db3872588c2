"""Keys follow content: a changed helper reruns those who use it, and nothing else matters."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paramid.records import keys
from paramid.running.cell import plan_cell

ROOT = Path(__file__).parents[1]
CELLS = {"sgd": "sgd", "spm": "spm", "spectral-norm": "spectral-norm"}
SCRIPT = """
import json, sys
from paramid.running.cell import plan_cell
print(json.dumps({m: plan_cell(m, "shallow:D=6,m=3", seed=0).key() for m in sys.argv[1:]}))
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The package as a plain folder, to be changed."""
    for source, place in (("harness", "paramid"), ("methods", "paramid/methods"), ("tasks", "paramid/tasks")):
        shutil.copytree(ROOT / source, tmp_path / place, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def keys_of(tree: Path, cwd: Path | None = None) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *CELLS],
        env=environment,
        cwd=cwd or tree,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def changed(tree: Path, file: str) -> set[str]:
    """The methods whose keys change with one line of `file`."""
    before = keys_of(tree)
    path = tree / file
    path.write_text(path.read_text() + "\nCHANGED = 1\n")
    after = keys_of(tree)
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("file", "reruns"),
    [
        ("paramid/methods/refinement/backprop.py", {"sgd"}),
        ("paramid/methods/spans/power_ascent.py", {"spm", "spectral-norm"}),
        ("paramid/methods/spans/spectral_ascent.py", {"spectral-norm"}),
        ("paramid/words/network.py", {"sgd", "spm", "spectral-norm"}),
        ("paramid/tasks/shallow.py", {"sgd", "spm", "spectral-norm"}),
        ("paramid/records/text_tables.py", set()),
        ("paramid/cli.py", set()),
    ],
)
def test_a_changed_file_reruns_those_who_use_it(tree: Path, file: str, reruns: set[str]) -> None:
    assert changed(tree, file) == reruns


def test_neither_folder_nor_time_nor_place_matters(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    before = keys_of(tree)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "deep"
    shutil.copytree(tree, elsewhere)
    for path in elsewhere.rglob("*.py"):
        os.utime(path, (1, 1))
    assert keys_of(elsewhere, cwd=Path("/")) == before
    assert before["sgd"] == plan_cell("sgd", "shallow:D=6,m=3", seed=0).key()


@pytest.mark.parametrize(
    "other",
    [
        {"method": "spm:step=1.5"},
        {"task": "shallow:D=6,m=4"},
        {"seed": 1},
        {"device": "cuda"},
        {"time_limit": 1.0},
        {"query_limit": 10},
        {"judge_inputs": 5},
    ],
    ids=str,
)
def test_everything_that_can_change_a_record_changes_the_key(other: dict[str, object]) -> None:
    base = {"method": "spm", "task": "shallow:D=6,m=3", "seed": 0}
    assert plan_cell(**base).key() != plan_cell(**{**base, **other}).key()


def test_a_name_has_one_key_however_it_is_written() -> None:
    written = ("spm", "spm:step=2", "spm:steps=1000,step=2.0", "spm:step=2.,h=1e-2")
    assert len({plan_cell(text, "shallow:D=6,m=3", seed=0).key() for text in written}) == 1


def test_imports_are_followed_through_the_package() -> None:
    reached = keys.transitive("paramid.methods.sgd")
    assert {
        "paramid.methods.refinement.backprop",
        "paramid.words.network",
        "paramid.words.activations",
        "paramid.words.random_streams",
    } <= reached
    assert not {"paramid.methods.spm", "paramid.cli", "paramid"} & reached
