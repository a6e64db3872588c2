"""What a person sees: displays that fit and end their last line, tables that fit, Ctrl-C that says what is true."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from paramid.cli import COMMANDS, main
from paramid.records import text_tables
from paramid.records.provenance import mixed_seconds
from paramid.records.publications.published import publish
from paramid.running.cell import Cell
from paramid.running.progress import ELSEWHERE, LineProgress, LiveProgress, remaining
from paramid.words.status import Status
from tests.records import failed, grid, made

PLUGIN = str(Path(__file__).with_name("misbehaving.py"))
TASK = "shallow:D=4,m=2,N=1000000"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


LONG = "pyramid:D=20,widths=12-8-4,activation=softplus,outer=free,precision=float32"
FITTING = [
    ("shallow:D=5,m=2", 200, [c for c in text_tables.COLUMNS if c not in text_tables.SHOWN]),  # no record has limits
    ("shallow:D=5,m=2", 65, list(text_tables.IMPORTANCE[:6])),
    (LONG, 75, list(text_tables.IMPORTANCE[:5])),
    (LONG, 45, list(text_tables.IMPORTANCE[:4])),
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


@pytest.mark.parametrize(
    ("spent", "ended", "left", "workers", "seconds"),
    [(0.0, 0, 9, 2, None), (10.0, 5, 4, 2, 4.0), (10.0, 5, 1, 8, 2.0), (10.0, 5, 0, 2, 0.0), (70.0, 5, 4, 2, 28.0)],
)
def test_the_time_left(spent: float, ended: int, left: int, workers: int, seconds: float | None) -> None:
    assert remaining(spent, ended, left, workers) == seconds


@pytest.mark.parametrize("width", [40, 80, 140])
def test_the_display_never_wraps(width: int) -> None:
    display, stream = LiveProgress(), io.StringIO()
    display.total, display.workers = 9, 2
    cells = [Cell(method="spm", task=f"{LONG},seed={n}", seed=n, time_limit=60.0) for n in range(7)]
    for cell in cells[2:]:
        display.started(cell)
        display.ended(cell, failed(Status.RAISED, reason="RuntimeError: [bold]planned[/] " * 9))
    for cell in cells[:2]:
        display.started(cell)
    Console(file=stream, width=width).print(display.display())
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1 + 3 + 2
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("[5/9]")
    assert width < 80 or "5 failed, 2 running, 2 left, ETA 0:00:00" in lines[0]
    assert all("spm raised: RuntimeError" in line for line in lines[1:4])
    assert all("0 of 60 s  spm" in line for line in lines[4:])


def test_lines_end_and_a_cell_of_another_command_tells_nothing_of_the_pace() -> None:
    stream = io.StringIO()
    lines, cell = LineProgress(stream), Cell(method="spm", task=TASK, seed=0)
    lines.begin(3, 1, 1)
    lines.ended(cell, ELSEWHERE)
    lines.started(cell)
    lines.ended(cell, made())
    assert stream.getvalue().startswith(
        "3 cells, 1 already in the store\n"
        f"[2/3] spm  {TASK}  seed 0: made by another command  (0 running, 1 left, ETA -)\n[3/3]"
    )
    assert stream.getvalue().endswith("(0 running, 0 left, ETA 0:00:00)\n")


@pytest.mark.parametrize(("workers", "told"), [(2, "0:00:00, w0: 1, w1: 1)"), (5, "5 workers: 1 to 1 cells each)")])
def test_lines_tell_what_each_worker_of_a_cluster_did(workers: int, told: str) -> None:
    lines, cell = LineProgress(stream := io.StringIO()), Cell(method="spm", task=TASK, seed=0)
    lines.begin(workers, 0, 1)
    for number in range(workers):
        lines.started(cell)
        lines.ended(cell, made(provenance={"worker": f"w{number}"}))
    lines.say("worker w9 is left out: it has no disk")
    *_, last, said = stream.getvalue().splitlines()
    assert last.endswith(told)
    assert said == "paramid: worker w9 is left out: it has no disk"


def test_seconds_of_several_kinds_of_machines_are_told() -> None:
    one, controls = grid({"spm": 1e-5}, ("shallow:D=5,m=2",)), [made("truth", threads=8)]
    assert mixed_seconds([*one, *controls]) == ""
    other = made(provenance={"cpu": "Another"})
    assert mixed_seconds([*one, other]).startswith("seconds come from 2 kinds of machines")
    assert mixed_seconds([*one, other, made(threads=2)]).startswith("seconds come from 3 kinds")


def on_pty(*words: str, interrupt: str = "", **env: str) -> tuple[int, str]:
    """The exit code of a command on a terminal of its own, and all that it wrote; Ctrl-C after a word of it."""
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-m", "paramid", *words],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", "COLUMNS": "80", **env},
    )  # fmt: skip
    os.close(theirs)
    wrote = b""
    while True:
        try:
            wrote += os.read(ours, 65_536)
        except OSError:  # nobody has it open any more
            break
        if interrupt and interrupt.encode() in wrote:
            started.send_signal(signal.SIGINT)
            interrupt = ""
    os.close(ours)
    return started.wait(), wrote.decode()


HANGS = ("--plugin", PLUGIN, "--methods", "misbehaving:how=hangs", "truth", "--tasks", TASK, "--workers", "2",
         "--time-limit", "30")  # fmt: skip


def test_ctrl_c_ends_the_display_and_its_last_line(tmp_path: Path) -> None:
    code, wrote = on_pty("compare", *HANGS, "--store", str(tmp_path), interrupt="1 running, 0 left")
    assert code == 130
    last = wrote.splitlines()[-2:]
    assert "2 cells, 1 finished, 1 left, in 0:00:" in last[0]
    assert last[1] == "paramid: stopped; the same command goes on from here"
    assert wrote.endswith("\r\n")
    assert "Traceback" not in wrote


def test_a_dumb_terminal_gets_lines(tmp_path: Path) -> None:
    code, wrote = on_pty("compare", *HANGS, "--store", str(tmp_path), "--time-limit", "0.1", TERM="dumb")
    assert code == 0
    assert "[2/2] " in wrote
    assert "\x1b" not in wrote


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "nothing was kept"),
        (("--store", "s", "--claim", "c.npz"), "its record is in s and its last claim is in c.npz"),
    ],
)
def test_ctrl_c_in_run_says_what_is_true(
    more: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("run", "misbehaving:how=hangs", TASK, "--plugin", PLUGIN, "--time-limit", "30")
    code, wrote = on_pty(*words, *more, interrupt="1 claims so far")
    assert code == 130
    assert wrote.splitlines()[-1] == f"paramid: stopped; {told}"
    assert wrote.count("   1 Network after") == 1
    assert wrote.count("interrupted: the run was stopped by its user") == 1
    assert [path.exists() for path in (tmp_path / "s", tmp_path / "c.npz")] == [bool(more)] * 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("verify x.zip", "; nothing was published; with --epoch the same command goes on from here"),
        ("regress HEAD~1 HEAD", "; nothing was kept"),
        ("board", "; the site is not finished"),
        ("compare --suite smoke", "; the same command goes on from here"),
        ("table", ""),
    ],
)
def test_every_command_says_what_ctrl_c_leaves(
    line: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(COMMANDS[line.split()[0]], "act", stop)
    assert main(line.split()) == 130
    assert capsys.readouterr().err == f"paramid: stopped{told}\n"
