"""The command line, as its users type it."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paramid.cli import COMMANDS, build_parser, main
from paramid.records.publications.published import publish
from tests.records import grid

SMALL = "shallow:D=5,m=2"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_run_prints_one_strict_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "run", "spm", SMALL, "--seed", "3", "--json")
    record = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert list(record)[:16] == [
        "schema", "key", "method", "task", "seed", "device", "threads", "budget", "status", "reason",
        "seconds", "queries", "samples", "derivatives", "moments", "peak_mb",
    ]  # fmt: skip
    assert set(record) >= {"metrics", "claims", "stats", "provenance"}
    assert set(record["claims"][0]) == {"kind", "seconds", "queries", "samples", "derivatives", "moments", "metrics"}
    assert record["metrics"]["identified"] == 1


def test_run_writes_the_claim(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "claim.npz"
    said(capsys, "run", "spm", SMALL, "--claim", str(file), "--store", str(tmp_path / "s"))
    with np.load(file) as arrays:
        assert sorted(arrays.files) == ["W0", "W1", "b0", "b1"]
    assert len(list((tmp_path / "s" / "cells").iterdir())) == 1


def test_run_for_a_person_and_without_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "run", "spm", "shallow:D=5,m=11")
    assert code == 1
    assert "declined: the method said beforehand" in out
    assert "11 neurons exceed D(D-1)/2 = 10" in out


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("cli") / "s")
    assert (
        main(["compare", "--methods", "spm", "truth", "random", "--tasks", SMALL, "--seeds", "2", "--store", folder])
        == 0
    )
    return folder


def test_the_best_of_each_task_say_where_they_come_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = grid({"spm": 1e-5, "sgd": 0.5, "truth": 0.0, "sphere-lm": 1e-15}, ("shallow:D=5,m=2", "shallow:D=9,m=2"))
    publish(ours, tmp_path, "x")
    assert main(["table", "--records", str(tmp_path), "--best", "1", "--format", "markdown"]) == 0
    *table, blank, caption = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in table[2:]] == ["sphere-lm", "sphere-lm"]
    assert (blank, caption) == ("", "*18 records: 2026-11-18, commit c2a63318d4, 2 cores of A processor.*")
    assert main(["table", "--records", str(tmp_path), "--best", "0"]) == 2
    assert main(["table", "--records", str(tmp_path), "--leaders", "12", "--format", "markdown"]) == 0
    _, _, row, blank, same = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in row.split("|")[1:6]] == ["shallow", "queries", "sphere-lm", "ours", "2/2"]
    assert (blank, same) == ("", caption)


def test_the_table_comes_in_four_forms(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    forms = {
        form: said(capsys, "table", "--store", store, "--format", form)[1]
        for form in ("text", "markdown", "csv", "json")
    }
    lines = forms["text"].splitlines()
    assert lines[0].split()[:3] == ["task", "method", "identified"]
    assert [line.split()[1] for line in lines[2:]] == ["spm", "(truth)", "(random)"]
    assert forms["markdown"].startswith("| task")
    assert forms["csv"].splitlines()[0].startswith("task,method,device,budget,cells,identified,error")
    rows = json.loads(forms["json"])
    assert [(r["method"], r["identified"]) for r in rows] == [("spm", 1), ("truth", 1), ("random", 0)]


def test_show_tells_one_record_whole(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = next(p for p in (Path(store) / "cells").iterdir() if '"method": "spm"' in p.read_text()).stem
    code, out, _ = said(capsys, "show", key[:10], "--store", store)
    assert code == 0
    assert "provenance: paramid" in out
    assert "Subspace after" in out


def test_compare_again_runs_nothing(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"compare --methods spm truth random --tasks {SMALL} --seeds 2 --store {store}"
    code, out, err = said(capsys, *words.split())
    assert (code, err) == (0, "6 cells, 6 already in the store\n")
    assert out.startswith("task")


def test_lists_name_everything(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "list")[1]
    assert all(word in out for word in ("spm", "sgd", "spectral-norm", "shallow", "quick", "[samples]"))


BAD = [
    ("run spn shallow", "unknown method 'spn'; did you mean spm?"),
    ("run spm shalow", "unknown task 'shalow'; did you mean shallow?"),
    ("run spm:stepp=1 shallow", "spm has no option 'stepp'; did you mean step"),
    ("run spm:step=fast shallow", "spm:step is 'fast'; float was wanted"),
    ("run spm:step shallow", "'step' is not option=value"),
    ("run spm:refine=newton shallow", "refine is 'newton'; sgd or gn or none was wanted"),
    ("run sgd:lr=fast shallow", "lr is 'fast'; a number or auto was wanted"),
    ("run spm shallow:D=0", "D is 0; at least 1 was wanted"),
    ("run spm shallow:m=0", "m is 0; at least 1 was wanted"),
    ("run spm shallow:N=-5", "N is -5; at least 1 was wanted"),
    ("run spm shallow:shift=nan", "shift is nan; at least 0 was wanted"),
    ("run spm shallow:m=3,beta=1", "m and beta were both given"),
    ("run spm shallow:D=5,D=6", "gives an option twice"),
    ("run spm shallow:activation=tahn", "unknown activation 'tahn'; did you mean tanh"),
    ("run spm shallow:shift_law=cauchy", "unknown shift law 'cauchy'"),
    ("run spm shallow --seed -1", "seed is -1"),
    ("run spm shallow --seed one", "invalid int value: 'one'"),
    ("run spm shallow --time-limit 0", "time_limit is 0.0; a positive number was wanted"),
    ("run spm shallow --device cuda9", "invalid choice: 'cuda9'"),
    ("run spm", "the following arguments are required: TASK"),
    ("frobnicate", "invalid choice: 'frobnicate'"),
    ("", "required: COMMAND"),
    ("compare", "a suite, or methods and tasks, were wanted"),
    ("compare --suite quik", "unknown suite 'quik'; did you mean quick?"),
    ("compare --suite quick --tasks shallow", "a suite brings its own tasks"),
    ("compare --methods spm --tasks shallow --seeds 0", "a whole number from 1 was wanted"),
    ("compare --methods spm --tasks shallow --seeds 1000000", "= 1000000 cells; at most"),
    ("compare --suite smoke --retry finnished", "unknown status 'finnished'"),
    ("table --store /nowhere/at/all", "no store at"),
    ("list --plugin /nowhere.py", "a Python file was wanted"),
    ("list nothing", "invalid choice: 'nothing'"),
    ("list methods tasks", "unrecognized arguments: tasks"),
    ("run", "required: METHOD, TASK"),
    ("run '' shallow", "unknown method ''"),
    ("run SPM shallow", "unknown method 'SPM'; did you mean"),
    ("run spm:=1 shallow", "'=1' is not option=value"),
    ("run spm:step=,tol=1 shallow", "'step=' is not option=value"),
    ("run spm:step=-1 shallow", "step is -1.0; a positive number was wanted"),
    ("run spm:step=nan shallow", "step is nan; a positive number was wanted"),
    ("run spm:steps=2.5 shallow", "spm:steps is '2.5'; int was wanted"),
    ("run spm:derivatives=guess shallow", "derivatives is 'guess'; differences or exact was wanted"),
    ("run sgd:optimizer=adm shallow", "optimizer is 'adm'; sgd or adam was wanted"),
    ("run sgd:batch=0 shallow", "batch is 0; a positive number was wanted"),
    ("run truth:x=1 shallow", "truth has no option 'x'; it has none"),
    ("run spm shallow:D=-3", "D is -3; at least 1 was wanted"),
    ("run spm shallow:D=1e3.5", "shallow:D is '1e3.5'; int was wanted"),
    ("run spm shallow:D=inf", "shallow:D is 'inf'; int was wanted"),
    ("run spm shallow:m=two", "shallow:m is 'two'; int or none was wanted"),
    ("run spm shallow:beta=9", "beta is 9.0; a number from 0 to 4 was wanted"),
    ("run spm shallow:noise=-1", "noise is -1.0; at least 0 was wanted"),
    ("run spm shallow:noise=nan", "noise is nan; at least 0 was wanted"),
    ("run spm shallow:zzz=1", "shallow has no option 'zzz'; it has D=20, m=None, beta=None, activation=tanh"),
    ("compare --suite zzz", "unknown suite 'zzz'; `paramid list suites` names all"),
    ("run spm hermit", "unknown task 'hermit'; `paramid list tasks`"),
    ("run jennrich shallow", "unknown method 'jennrich'; did you mean hermite-jennrich?"),
    ("run spm shallow:act=tanh", "shallow has no option 'act'; did you mean"),
    ("run spm shallow:D=100000,m=100000000", "100,000 x 100,000,000 (weights 1)"),
    ("run spm shallow:D=10,m=1000000", "1,000,000 x 1,000,000 (distances between neurons)"),
    ("run spm shallow:D=99999999999999999999", "cannot fit in memory"),
    ("run spm shallow --memory-limit 0", "memory_limit is 0.0; a positive number was wanted"),
    ("run spm shallow --memory-limit nan", "memory_limit is nan; a positive number was wanted"),
    ("run spm shallow --time-limit inf", "time_limit is inf; a positive number was wanted"),
    ("run spm shallow --time-limit soon", "invalid float value: 'soon'"),
    ("run spm shallow --query-limit -1", "query_limit is -1; a positive number was wanted"),
    ("run spm shallow --query-limit 1.5", "invalid int value: '1.5'"),
    ("run spm shallow --claim /nowhere/at/all.npz", "a file in a folder that is there was wanted"),
    ("run spm shallow --claim /tmp", "--claim is /tmp; a file in a folder that is there was wanted"),
    ("compare --methods spm --tasks shallow:D=2,m=2 --seeds 99999 --workers 99999", "workers have"),
    ("new method torch", "torch.py would hide the module torch"),
    ("run spm shallow --frobnicate", "unrecognized arguments: --frobnicate"),
    ("compare --methods spm", "a suite, or methods and tasks, were wanted"),
    ("compare --methods spm --tasks shallow --workers 0", "a whole number from 1 was wanted"),
    ("compare --methods spm --tasks shallow --seeds -2", "a whole number from 1 was wanted"),
    (
        "compare --methods spm nope --tasks shallow",
        "unknown method 'nope'; `paramid list methods` names all, and --plugin FILE.py adds others",
    ),
    ("compare --suite smoke --format xml", "invalid choice: 'xml'"),
    ("show abc --store /nowhere/at/all", "no store at"),
    ("check spn", "unknown method 'spn'; did you mean spm?"),
    ("check truth", "truth is a control"),
    ("check", "required: METHOD"),
    ("new method", "required: NAME"),
    ("new judge x", "invalid choice: 'judge'"),
    ("new method spm", "method 'spm' is taken"),
    ("new method 9lives", "lower-case words joined by dashes were wanted"),
    ("new task shallow", "task 'shallow' is taken"),
    ("plot", "required: FIGURE"),
    ("plot pie", "invalid choice: 'pie'"),
    ("plot phase --store /nowhere/at/all", "no store at"),
    ("plot scaling --rows m", "scaling takes no --rows"),
    ("publish --store /nowhere/at/all", "no store at"),
    ("board --store /nowhere/at/all", "no store at"),
    ("board --records /nowhere/at/all", "no published records at"),
    ("board --store a --records b", "no published records at b"),
    ("table --records published --columns task eror", "no column 'eror'; did you mean error"),
    ("submit spm --store /nowhere/at/all --out x.zip", "no store at"),
    ("submit spm --out /nowhere/at/all.zip", "a file in a folder that exists was wanted"),
    ("submit spm", "required: --out"),
    ("verify /nowhere/at/all.zip", "no such file"),
    ("verify x.zip --sample 0", "a share above 0 and at most 1 was wanted"),
    ("verify", "required: BUNDLE"),
    ("table --records /nowhere/at/all", "no published records at"),
    ("describe spm:frob=1", "spm has no option 'frob'"),
    ("describe shallow:D=-3", "D is -3; at least 1 was wanted"),
    ("list tasks --pairs", "what to list was not wanted with it"),
    ("list --pairs --method ''", "unknown method ''"),
    ("compare --suite smoke --seeds 2", "a suite brings its own tasks and seeds"),
    ("run spm shallow --threads 100000", "threads is 100000; at most"),
    ("run spm shallow --threads 0", "threads is 0; a whole number from 1 was wanted"),
    ("run sphere-lm shallow:D=5,m=2,shift=inf", "shift is inf; a finite number from 0 was wanted"),
    ("table --records pyproject.toml", "is no file of published records: a name.jsonl was wanted"),
    ("verify /tmp", "/tmp: no such file"),
    ("identify README.md --inputs 6", "README.md is none of"),
    ("plot curves --out x.gif", "x.gif: a name that ends with .svg, .pdf or .png was wanted"),
    ("plot curves --out /nowhere/at/all.svg", "a file in a folder that exists was wanted"),
]


@pytest.mark.parametrize(("line", "wanted"), BAD)
def test_bad_input_is_one_line(line: str, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, *shlex.split(line))
    assert (code, out) == (2, "")
    assert err.startswith("paramid: ")
    assert wanted in err
    assert err.count("\n") == 1


def outside(words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A command in a shell of its own."""
    line = f"{shlex.quote(sys.executable)} -m paramid {words}"
    return subprocess.run(
        ["bash", "-c", line], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, errors="replace"
    )


@pytest.mark.parametrize(
    ("words", "env", "code", "wanted"),
    [
        ("list suites > /dev/full", {}, 1, "paramid: standard output: No space left on device\n"),
        ("list methods", {"PYTHONIOENCODING": "ascii"}, 0, ""),
        ("run spm shallow:D=3,m=2 | head -1", {}, 0, ""),
        ("compare --methods truth --tasks shallow:D=2,m=1 --store s 2>&-", {}, 0, ""),
        ("compare --methods truth --tasks shallow:D=2,m=1 --store s 2> >(true)", {}, 0, ""),
        ("run truth shallow:D=2,m=1 --store file", {}, 1, "cannot be written"),
        ("plot curves --store s --out /proc/x.svg", {}, 1, "/proc/x.svg"),
        ("board --store s --out file", {}, 2, "--out is file; a folder was wanted"),
    ],
)
def test_terminals_and_disks_that_fail_are_one_line(
    words: str, env: dict[str, str], code: int, wanted: str, tmp_path: Path, store: str
) -> None:
    (tmp_path / "file").write_text("mine")
    shutil.copytree(store, tmp_path / "s")
    done = outside(words, tmp_path, **env)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert wanted in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        ["bash", "-c", f"cd gone && rmdir ../gone && {sys.executable} -m paramid submit spm --out x.zip"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr


def test_the_table_of_bad_input_is_long() -> None:
    assert len({line for line, _ in BAD}) >= 60


def test_show_wants_one_record(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    for key, words in (("zzz", "'zzz' fits 0 records"), ("", "'' fits 6 records"), ("*", "'*' fits 0 records")):
        code, out, err = said(capsys, "show", key, "--store", store)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err


def commands() -> list[str]:
    return list(build_parser()._subparsers._group_actions[0].choices)


@pytest.mark.parametrize("command", commands())
def test_every_example_in_the_help_is_accepted(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    for example in capsys.readouterr().out.split("examples:\n")[1].strip().splitlines():
        build_parser().parse_args(shlex.split(example)[1:])


@pytest.mark.slow
def test_every_example_in_the_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert main(["epoch", "open", "2026-12", "--suite", "smoke", "--epochs", "leaderboard/epochs"]) == 0
    begin = "compare --methods spm spectral-norm --tasks shallow:D=20,m=8 shallow:D=20,m=12"
    noisy = "compare --methods sphere-lm --tasks shallow:D=10,m=5,noise=1e-06 shallow:D=10,m=5,noise=0.0001"
    assert main(begin.split()) == main(noisy.split()) == 0
    key = next((tmp_path / "paramid-store" / "cells").iterdir()).stem
    (tmp_path / "model.py").write_text(
        "import numpy as np\n\n\ndef f(x):\n    return np.tanh(x @ np.eye(8)[:, :5]).sum(1)\n"
    )
    ordered = [
        "list",
        "describe",
        "identify",
        "new",
        "run",
        "compare",
        "table",
        "show",
        "plot",
        "publish",
        "board",
        "submit",
        "verify",
        "audit",
        "epoch",
        "check",
    ]
    for command in ordered:
        for example in COMMANDS[command].EXAMPLE.splitlines():
            words = shlex.split(example)[1:]
            assert main([key.partition("-")[0] if word == "3f2a" else word for word in words]) == 0, example
    assert set(COMMANDS) == {*ordered, "regress"}  # which takes two commits: tests/test_commit_regressions.py
