"""What somebody who attacked the wall and its supervision found, and what has become of it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

import paramid
from paramid import Network, Run, Status
from paramid.commands.arguments import say
from paramid.commands.show import describe
from paramid.contracts import plugins, registry
from paramid.records import keys, text_tables
from paramid.records.escaping import for_terminal
from paramid.records.record import Record
from paramid.records.store import Store
from paramid.running import inside_cell, supervision, surveyor
from paramid.running.cell import plan_cell
from paramid.running.compare import CHANGED, Comparison
from paramid.running.progress import LineProgress, Progress
from paramid.running.supervision import Supervision
from paramid.running.transcript import Transcript
from paramid.wall import frames, jail
from paramid.wall.cgroups import Group
from paramid.wall.frames import Kind, Link
from paramid.wall.keeper import Keeper
from paramid.words import secrets
from paramid.words.densenet import DenseNet
from paramid.words.naming import UsageError
from paramid.words.random_streams import Normals
from tests.records import made

SMALL = "shallow:D=4,m=2"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
PLUGIN = """
import os, time, threading
from dataclasses import dataclass
from typing import ClassVar
from paramid import Access, Function
ROWS = 5
{head}
@dataclass(frozen=True)
class Guest:
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({{Access.QUERIES}})
    def declines(self, spec): return None
    def identify(self, oracle, run):
        oracle.query(run.normal(ROWS, oracle.spec.inputs))
        {body}
        yield Function(lambda x: x[:, :1])
METHODS = {{"guest": Guest}}
"""


def guest(folder: Path, *, head: str = "", body: str = "pass") -> Path:
    file = folder / f"guest_of_{folder.name}.py"  # what a process knows of a file's source it knows by its name
    file.write_text(PLUGIN.format(head=head, body=body))
    return file


def run(folder: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paramid", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, **options)


@pytest.fixture(autouse=True)
def _nothing_is_left_of_a_survey() -> Iterator[None]:
    yield
    surveyor.rest()


# What one sees must not tell the next


def test_the_noise_of_a_drawn_seed_is_no_stream_that_can_be_followed() -> None:
    """Two hundred numbers of a Mersenne Twister tell all that follow; here every draw is a hash of its own."""
    drawn = secrets.drawn_seed(b"a" * 32, "task", 0)
    first, second = (Normals(drawn, "noise") for _ in range(2))
    a = [first(torch.Size((2000, 1)), torch.float64) for _ in range(2)]
    b = [second(torch.Size((2000, 1)), torch.float64) for _ in range(2)]
    assert torch.equal(a[0], b[0])
    assert torch.equal(a[1], b[1])
    assert not torch.equal(a[0], a[1])
    assert first._source is None
    every = torch.cat(a)
    assert abs(float(every.mean())) < 0.1
    assert float(every.std()) == pytest.approx(1, abs=0.1)
    assert float((every**4).mean()) == pytest.approx(3, abs=0.5)


# What is judged is bounded


def test_the_judge_takes_as_few_rows_as_a_wide_claim_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside_cell, "JUDGE_CHUNK", 2**12)
    task, seen = registry.task(f"{SMALL},known=false"), []

    def watched(x: torch.Tensor) -> torch.Tensor:
        seen.append(len(x))
        return x[:, :1]

    source = torch.Generator().manual_seed(0)
    inside_cell.judge_outputs(task.draw(0), watched, task, 100, source, width=2**8)
    assert max(seen) == 2**4


def test_students_of_a_hierarchy_have_a_width_that_can_be_judged() -> None:
    spec, run = registry.task("hierarchy:D=5,ks=2-1,N=400").spec, Run.seeded(0)
    wide = DenseNet((run.normal(1500, 5),), (run.normal(1, 1500),), ((1,),), (1.0,))
    assert "features of width 1500 claimed" in str(wide.misfit(spec))
    many = DenseNet((run.normal(3, 5),), (run.normal(1500, 3),), ((1,),), (1.0,))
    assert "more squares than span" in str(many.misfit(spec))


def test_all_that_is_not_the_method_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(supervision.time, "monotonic", lambda: clock[0])
    ours, theirs = socket.socketpair()
    transcript = Transcript(plan_cell("spm", SMALL, time_limit=3.0), 1)
    output: Any = None
    watched = Supervision(ours, output, transcript, threading.Event(), lambda: None, 60.0)
    for _ in range(5):
        for event, seconds in (("working", 0.5), ("judging", 100.0)):
            watched._take_event({"event": event}, b"")
            assert watched._patience() > 0
            clock[0] += seconds
    watched._take_event({"event": "working"}, b"")
    watched._take_event({"event": "judging"}, b"")
    assert 0 < watched._patience() < 200
    clock[0] += 200
    assert watched._patience() < 0
    for end in (ours, theirs):
        end.close()


# The link


def test_an_answer_that_there_is_no_room_for_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = socket.socketpair()
    warden, method = Link(left, 100), Link(right)
    warden.send(Kind.VALUES, array=torch.ones(50, 1, dtype=torch.float64))
    warden.send(Kind.VALUES, array=torch.ones(2, 1, dtype=torch.float64))
    with monkeypatch.context() as full:
        full.setattr(
            frames.torch, "empty", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("can't allocate memory"))
        )
        with pytest.raises(MemoryError, match="no room for an answer of"):
            method.receive()
    assert method.receive().content.shape == (2, 1)
    for end in (left, right):
        end.close()


def test_two_threads_of_a_method_may_ask_at_once(tmp_path: Path) -> None:
    body = (
        "asked = lambda: [oracle.query(run.normal(1, oracle.spec.inputs)) for _ in range(200)]; "
        "every = [threading.Thread(target=asked) for _ in range(4)]; "
        "[t.start() for t in every]; [t.join() for t in every]"
    )
    paramid.add_plugin(guest(tmp_path, body=body))
    record = paramid.run("guest", SMALL)
    assert (record.status, record.queries) == (Status.FINISHED, 805), record.reason


@pytest.mark.parametrize(("later", "still"), [(1.01, True), (1.2, False)])
def test_what_worked_while_it_was_to_stand_still_is_seen_by_its_clock(later: float, still: bool) -> None:
    class Clock(Group):
        def cpu_seconds(self) -> float:
            return readings.pop(0)

    readings = [1.0, later]
    channel, other = socket.socketpair()
    keeper = Keeper(channel, 0, Clock(), own_namespace=False)
    keeper.stood = keeper.used()
    assert keeper.still() is still
    assert keeper.awoke is not still
    for end in (channel, other):
        end.close()


# The jail


@LINUX
def test_devices_may_be_opened_by_everybody_and_a_tmpdir_may_be_anywhere(tmp_path: Path) -> None:
    paramid.add_plugin(guest(tmp_path, body="print('sticky', bool(os.stat('/dev').st_mode & 0o1000))"))
    plain = paramid.run("guest", SMALL)
    if "disk" not in str(plain.provenance["walls"]):
        pytest.skip("this machine grants no disk of its own")
    assert "sticky False" in plain.printed
    there = Path("/dev/shm") / f"paramid-test-{os.getpid()}"
    there.mkdir()
    try:
        told = {**os.environ, "TMPDIR": str(there)}
        done = run(tmp_path, "run", "spm", SMALL, "--json", env=told)
        walls = Record.from_json(json.loads(done.stdout)).provenance["walls"]
    finally:
        there.rmdir()
    assert walls == plain.provenance["walls"]


@pytest.mark.skipif(os.geteuid() != 0, reason="is somebody else for a moment, which root can be")
def test_who_is_not_root_has_namespaces_in_one_of_users_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail.os, "geteuid", lambda: 65534)
    assert jail.coherent(["network", "disk", "mounts", "calls"]) == ("calls",)
    assert jail.coherent(["user", "mounts", "disk", "calls"]) == ("user", "mounts", "disk", "calls")


@LINUX
def test_memory_of_children_that_nobody_waits_for_is_in_the_peak(tmp_path: Path) -> None:
    head = "import signal"
    body = (
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN); r, w = os.pipe(); "
        "os.fork() or (len(b'x' * 2**29), os.write(w, b'.'), os._exit(0)); os.read(r, 1)"
    )
    paramid.add_plugin(guest(tmp_path, head=head, body=body))
    record = paramid.run("guest", SMALL)
    if "cgroup memory" not in str(record.provenance["walls"]):
        pytest.skip("nobody counts the memory of a whole cell here")
    assert record.peak_mb > 500


# Plug-ins


def test_a_cell_whose_source_changed_since_the_plan_has_no_record(tmp_path: Path) -> None:
    file = guest(tmp_path)
    surveyor.survey(file)
    planned = Comparison.planned(["guest"], [SMALL], store=tmp_path / "store")
    file.write_text(file.read_text().replace("ROWS = 5", "ROWS = 77"))
    endings = []

    class Told(Progress):
        def ended(self, cell: object, record: Record | None) -> None:
            endings.append(record)

    planned.run_missing(Told())
    assert [(r.status, r.reason) for r in endings] == [(Status.INTERRUPTED, CHANGED)]
    assert planned.results() == []
    again = Comparison.planned(["guest"], [SMALL], store=tmp_path / "store")
    assert set(again.cells) != set(planned.cells)
    again.run_missing(Told())
    assert [r.queries for r in again.results()] == [77]


def test_a_key_knows_the_packages_above_a_module_and_the_neighbours_of_a_file(tmp_path: Path) -> None:
    file = guest(tmp_path, head="import helper_of_a_test.inner")
    (tmp_path / "helper_of_a_test").mkdir()
    parts = [tmp_path / "helper_of_a_test" / name for name in ("__init__.py", "inner.py")]
    for part in parts:
        part.write_text("A = 1\n")
    plugins.note_file(file)
    hashes = [keys.source_hash(plugins.plugin_module(file))]
    for part in parts:
        part.write_text("A = 2 + 1\n")
        hashes.append(keys.source_hash(plugins.plugin_module(file)))
    assert len(set(hashes)) == 3


def test_a_plug_in_that_dies_after_it_was_asked_is_named(tmp_path: Path) -> None:
    surveyor.survey(guest(tmp_path, head="threading.Timer(0.5, os._exit, (0,)).start()"))
    time.sleep(1.5)
    with pytest.raises(UsageError, match="its process ended"):
        plan_cell("guest", SMALL)


@LINUX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_killed_leaves_no_plug_in_behind(number: signal.Signals, tmp_path: Path) -> None:
    file, scratch = guest(tmp_path, head="time.sleep(3600)"), tmp_path / "scratch"
    scratch.mkdir()
    words = [sys.executable, "-m", "paramid", "run", "guest", SMALL, "--plugin", str(file)]
    command = subprocess.Popen(
        words,
        env={**os.environ, "TMPDIR": str(scratch)},
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # tests under nohup ignore it
    )
    until = time.monotonic() + 60
    while not surveys(file) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    command.send_signal(number)
    command.wait()
    while (surveys(file) or list(scratch.glob("paramid-*"))) and time.monotonic() < until:
        time.sleep(0.1)
    assert not surveys(file)
    assert not [left.name for left in scratch.glob("paramid-*")]


def surveys(file: Path) -> list[str]:
    """The processes that import a plug-in."""
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(place.read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [line for line in lines if "paramid.wall.survey" in line and str(file) in line]


@dataclass(frozen=True)
class Told:
    """Options whose text can mean something else."""

    note: str = ""
    names: tuple[str, ...] = ()
    maybe: str | None = None
    version: ClassVar[int] = 1
    access: ClassVar = frozenset()

    def declines(self, spec: object) -> str | None:
        return None

    def identify(self, oracle: object, run: object) -> Iterator[Network]:
        yield from ()


@pytest.mark.parametrize("odd", [Told(note="a,names=b"), Told(names=("a-b",)), Told(maybe="none"), Told(note=" a ")])
def test_a_class_that_cannot_be_told_by_name_is_refused(odd: Told) -> None:
    with pytest.raises(UsageError):
        plugins.name_of("methods", odd)
    assert plugins.name_of("methods", Told(note="b")) == "told:note=b"


# Commands


def test_a_record_is_kept_although_nobody_reads(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "paramid", "run", "spm", SMALL, "--store", "store"]
    subprocess.run(words, cwd=tmp_path, stdout=writing, stderr=subprocess.DEVNULL, timeout=120, check=False)
    os.close(writing)
    (record,) = Store.existing(tmp_path / "store").records()
    assert record.metrics["identified"] == 1


def test_what_a_method_printed_cannot_rule_a_terminal() -> None:
    shown = for_terminal("\x1b[2J\x1b[Hfinished\x9b31m\x1b]0;title\x07\n\tidentified\n")
    assert "\x1b" not in shown
    assert shown.endswith("\n\tidentified\n")


def test_words_of_others_are_inert_where_they_arrive(capsys: pytest.CaptureFixture[str]) -> None:
    evil = made(reason="\x1b]0;x\x07 <b>|", method="=cmd|'/C calc'!A0", printed="\x9b2J", traceback="\u202ex")
    rows = text_tables.rows([evil])
    for shown in (describe(evil), *(text_tables.render(rows, form) for form in ("text", "markdown", "csv"))):
        assert not set(shown) & set("\x1b\x07\x9b\u202e")
    assert ",'=cmd|" in text_tables.render(rows, "csv").replace("\n", ",")
    assert r"=cmd\|'/C calc'!A0" in text_tables.render(rows, "markdown")
    LineProgress(sys.stderr).ended(plan_cell("truth", SMALL), evil)
    say(evil.reason)
    assert "\x1b" not in capsys.readouterr().err


ODD = {
    **dict.fromkeys(("provenance", "budget", "claims", "metrics", "seconds", "queries", "threads")),
    **{"peak_mb": "much", "reason": 3, "obstacles": [1], "printed": [], "secret": 5, "status": ["finished"]},
    **{"samples": -1, "judge_inputs": 10**400, "cpu_seconds": "NaN", "stats": [], "moments": True},
}


@pytest.mark.parametrize("name", ODD)
def test_a_record_with_an_odd_field_is_none(name: str) -> None:
    good = made(error=0.1).to_json()
    assert Record.from_json(good).metrics["error"] == 0.1
    with pytest.raises(ValueError, match=r"\w"):
        Record.from_json({**good, name: ODD[name]})
    with pytest.raises(ValueError, match=r"\w"):
        Record.from_json({**good, "metrics": {"error": 10**400}})


@pytest.mark.parametrize("limit", [{"time_limit": 3e6}, {"memory_limit": 1e14}, {"query_limit": 2**60}])
def test_limits_beyond_any_use_are_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="or none at all"):
        plan_cell("spm", SMALL, **limit)
    with pytest.raises(UsageError, match="characters; at most"):
        plan_cell(Told(note="a" * 70_000), SMALL)


def test_a_function_that_gives_no_numbers_is_a_malformed_claim(tmp_path: Path) -> None:
    for number, body in enumerate(("raise Silent()", "return x.to('meta')[:, :1]")):
        folder = tmp_path / f"odd_function_{number}"
        folder.mkdir()
        head = "class Silent(Exception):\n    def __str__(self): raise RuntimeError\ndef odd(x):\n    " + body
        file = guest(folder, head=head, body="yield Function(odd)")
        file.write_text(file.read_text().replace('"guest"', f'"odd-{number}"'))
        paramid.add_plugin(file)
        assert paramid.run(f"odd-{number}", SMALL).status is Status.MALFORMED_CLAIM
