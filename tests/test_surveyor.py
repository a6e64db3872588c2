"""What a plan must know of a plug-in is asked of a jailed process: its code never runs in the command."""

import subprocess
import sys
from pathlib import Path

import pytest

import paramid
from paramid import UsageError
from paramid.contracts import plugins, registry
from paramid.contracts.plugins import PluginError
from paramid.running import surveyor
from paramid.running.cell import plan_cell

HERE = Path(__file__).parent
CLASS = """
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from paramid import Access, Network, Oracle, Run, Spec

@dataclass(frozen=True)
class Mine:
    '''Guesses.'''
    steps: int = 3
    version: ClassVar[int] = 2
    access: ClassVar = frozenset({Access.QUERIES})
    def declines(self, spec: Spec) -> str | None: return None
    def identify(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        d, m = oracle.spec.inputs, oracle.spec.widths[0]
        yield Network.shallow(run.sphere(m, d).T, run.normal(1, m)[0], "tanh")

METHODS = {"mine": Mine}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "somebodys.py"
    file.write_text(text)
    return file


def test_a_plan_is_the_same_whether_it_is_asked_or_imported(tmp_path: Path) -> None:
    file = written(tmp_path, CLASS)
    surveyor.survey(file)
    assert "paramid_plugin_somebodys" not in sys.modules
    asked = plan_cell("mine:steps=5", "shallow:D=4,m=2")
    key = asked.key()
    assert asked.method_plugins == (str(file),)
    assert asked.plugins == ()
    plugins.add_plugin(file)
    assert "paramid_plugin_somebodys" in sys.modules
    imported = plan_cell("mine:steps=5", "shallow:D=4,m=2")
    assert (imported, imported.key()) == (asked, key)


def test_options_are_checked_there(tmp_path: Path) -> None:
    surveyor.survey(written(tmp_path, CLASS))
    with pytest.raises(UsageError, match="'stepps'"):
        plan_cell("mine:stepps=5", "shallow:D=4,m=2")
    with pytest.raises(UsageError, match="steps"):
        plan_cell("mine:steps=many", "shallow:D=4,m=2")


def test_a_task_of_a_plug_in_is_planned_and_run(tmp_path: Path) -> None:
    surveyor.survey(HERE / "slow_judge.py")
    record = paramid.run("truth", "slow-judge:D=4,m=2")
    assert record.metrics["exact"] == 1
    with pytest.raises(UsageError, match="cannot fit in memory"):
        plan_cell("truth", "slow-judge:D=4,m=100000000")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise RuntimeError('no')", "cannot be imported: RuntimeError: no"),
        ("import os; os._exit(3)", "its process ended"),
        ("import ctypes; ctypes.string_at(0)", "its process ended"),
        ("METHODS = {}", "neither METHODS nor TASKS holds anything"),
        ("METHODS = {'truth': int}", "method 'truth' is taken"),
        ("METHODS = {'a b': int}", "a word without"),
        (
            "import os\nfor fd in range(3, 4096):\n    try: os.write(fd, b'x' * 100)\n    except OSError: pass",
            "its process ended",
        ),
    ],
)
def test_a_broken_one_is_named(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=told):
        surveyor.survey(written(tmp_path, text))


def test_one_that_lies_about_names_is_refused(tmp_path: Path) -> None:
    lie = CLASS + (
        "\nfrom paramid.contracts import registry\n"
        "real = registry.described\n"
        "def described(group, text):\n"
        "    import dataclasses\n"
        "    return dataclasses.replace(real(group, text), canonical='spm:steps=5')\n"
        "registry.described = described\n"
    )
    surveyor.survey(written(tmp_path, lie))
    with pytest.raises(PluginError, match="describes mine"):
        plan_cell("mine", "shallow:D=4,m=2")


def test_what_it_does_to_the_command_is_done_elsewhere(tmp_path: Path) -> None:
    spoiling = "import sys\nif 'paramid.cli' in sys.modules:\n    print('I am in the command')\n    sys.exit(9)\n"
    file = written(tmp_path, spoiling + CLASS)
    words = [sys.executable, "-m", "paramid", "run", "mine", "shallow:D=4,m=2", "--plugin", str(file), "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "I am in" not in done.stdout + done.stderr


def test_one_file_is_one_plug_in(tmp_path: Path) -> None:
    file = written(tmp_path, CLASS)
    surveyor.survey(file)
    surveyor.survey(file)
    (tmp_path / "other").mkdir()
    with pytest.raises(PluginError, match="another name was wanted"):
        surveyor.survey(written(tmp_path / "other", CLASS))
    assert registry.names("methods")["mine"] == "paramid_plugin_somebodys:Mine"
    with pytest.raises(UsageError, match="a Python file was wanted"):
        surveyor.survey(tmp_path / "nothing.py")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("opt_einsum", [str(Path(sys.executable).with_name("paramid"))]),
        ("ordinary", [sys.executable, "-m", "paramid"]),
    ],
)
def test_a_plug_in_in_the_current_folder_is_imported_by_nobody_else(
    name: str, command: list[str], tmp_path: Path
) -> None:
    """Neither in the place of a package that torch looks for, nor to find out what it imports."""
    spoiling = "import os, sys\nif 'paramid.running.cell' in sys.modules:\n    os._exit(9)\n"
    file = tmp_path / f"{name}.py"
    file.write_text(f"{spoiling}{CLASS}\ntry:\n    from {name}.deeper import x\nexcept ImportError:\n    pass\n")
    words = [*command, "run", "mine", "shallow:D=4,m=2", "--plugin", file.name, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert '"status": "finished"' in done.stdout


@pytest.mark.parametrize("head", ["\ufeff", "# coding: latin-1\n# \u00e9\n"])
def test_a_file_in_another_encoding_has_a_key(head: str, tmp_path: Path) -> None:
    file = tmp_path / "somebodys.py"
    file.write_bytes((head + CLASS).encode("latin-1" if "coding" in head else "utf-8"))
    surveyor.survey(file)
    assert len(plan_cell("mine", "shallow:D=4,m=2").key()) == 24
