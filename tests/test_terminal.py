"""What a person sees: tables that fit."""

import re
import sys
from pathlib import Path

import pytest

from paramid.cli import main
from paramid.records import text_tables
from paramid.records.published import publish
from tests.records import grid

PLUGIN = str(Path(__file__).with_name("misbehaving.py"))
TASK = "shallow:D=4,m=2,N=1000000"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


LONG = "pyramid:D=20,widths=12-8-4,activation=softplus,outer=free,precision=float32"
FITTING = [
    ("shallow:D=5,m=2", 200, list(text_tables.COLUMNS)),
    ("shallow:D=5,m=2", 65, list(text_tables.IMPORTANCE[:6])),
    (LONG, 75, list(text_tables.IMPORTANCE[:5])),
    (LONG, 45, list(text_tables.IMPORTANCE[:3])),
]


@pytest.mark.parametrize(("task", "width", "wanted"), FITTING)
def test_a_table_drops_columns_and_cuts_a_task_last(task: str, width: int, wanted: list[str]) -> None:
    whole = text_tables.grid(text_tables.rows(grid({"spm": 1e-5, "truth": 0.0}, (task, "shallow:D=6,m=3"))))
    cells = text_tables.fitting(whole, width)
    assert cells[0] == wanted
    assert len("  ".join(max(column, key=len) for column in zip(*cells, strict=True))) <= width
    assert (cells[1][0] == task) is (task != LONG)
    assert cells[1][0][0] + cells[1][0][-1] == task[0] + task[-1]


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("columns", [80, 110])
def test_a_table_on_a_terminal_fits_it(
    columns: int, colour: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(grid({"spm": 1e-5, "sgd": 0.5, "truth": 0.0}, ("shallow:D=5,m=2", LONG)), tmp_path, "x")
    for name, value in {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "" if colour else "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["table", "--records", str(tmp_path)]) == 0
    out, note = capsys.readouterr()
    lines = COLOUR.sub("", out).splitlines()
    assert len(lines) == 7
    assert max(map(len, lines)) <= columns
    assert f"not in {columns} columns: " in note
    assert ("\x1b[32m" in out) is colour
