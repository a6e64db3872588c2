"""The wall: a method in a process of its own sees what it would see in this one, and nothing else."""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import paramid
from paramid import Status, UsageError
from paramid.contracts import plugins, registry
from paramid.records.record import Record
from paramid.running.cell import plan_cell
from paramid.running.inside_cell import execute, unpack
from paramid.running.supervisor import Supervisor
from paramid.running.transcript import Transcript
from paramid.wall import jail
from paramid.words import random_streams, secrets
from tests import asking
from tests.test_contracts import PAIRS

plugins.add_plugin(Path(asking.__file__))
SMALL = "shallow:D=6,m=3"


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Supervisor]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with Supervisor(threads=1) as server:
        yield server
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("method", "task"), [*PAIRS, ("boundary-bends", "relu:D=5,widths=5,decisions=true")])
def test_a_claim_through_the_wall_is_that_of_an_oracle_here(method: str, task: str, supervisor: Supervisor) -> None:
    cell = plan_cell(method, task, seed=1, judge_inputs=500)
    here = Transcript(cell, 1)
    execute(cell, here.add, throw=True)
    outcome = supervisor.run(cell, "", {})
    mine = here.outcome("", {})
    assert outcome.record.status is mine.record.status
    for a, b in zip(mine.record.claims, outcome.record.claims, strict=True):
        assert (a.kind, a.queries, a.samples, a.derivatives, a.moments) == (
            b.kind,
            b.queries,
            b.samples,
            b.derivatives,
            b.moments,
        )
        assert a.metrics == b.metrics
    assert mine.record.metrics == outcome.record.metrics
    if mine.claim:
        left, right = unpack(mine.claim), unpack(outcome.claim)
        assert all(np.array_equal(left[name], right[name]) for name in left)


def ended(supervisor: Supervisor, how: str, rows: int, **limits: float) -> Record:
    return supervisor.run(plan_cell(f"asks:rows={rows},how={how}", SMALL, **limits), "", {}).record


ENDS = {
    "hangs": (Status.TIMED_OUT, {"time_limit": 2.0}),  # long enough for a busy machine to ask them all
    "segfaults": (Status.CRASHED, {"time_limit": 20.0}),
    "kills_itself": (Status.CRASHED, {"time_limit": 20.0}),
    "leaves": (Status.EXITED, {"time_limit": 20.0}),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "times"),
    [*((how, 20 if how == "hangs" else 100) for how in ENDS), pytest.param("hangs", 100, marks=pytest.mark.kills)],
)
def test_every_row_is_known_whatever_ends_a_method(how: str, times: int, supervisor: Supervisor) -> None:
    status, limits = ENDS[how]
    rows = [1 + 37 * n % 101 for n in range(times)]
    with ThreadPoolExecutor(4 if how == "hangs" else 2) as pool:  # who hangs needs nobody
        records = list(pool.map(lambda n: ended(supervisor, how, n, **limits), rows))
    assert [r.queries for r in records] == rows
    assert {r.status for r in records} == {status}
    assert all(r.claims[-1].kind == "Function" and "output_error" in r.metrics for r in records)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["eats", "shares"])
def test_every_row_is_known_where_memory_ended_it(how: str, supervisor: Supervisor) -> None:
    record = ended(supervisor, how, 11, time_limit=60.0, memory_limit=600.0)
    if how == "shares" and "cgroup memory" not in str(record.provenance["walls"]):
        assert record.status in (Status.OUT_OF_MEMORY, Status.TIMED_OUT)  # addresses alone are limited
    else:
        assert record.status is Status.OUT_OF_MEMORY
    assert record.queries == 11


def youngest(pid: int) -> int:
    """The end of the line: of the methods' server the method's own process."""
    return youngest(below[-1]) if (below := jail.children(pid)) else pid


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("times", range(5))
def test_every_row_is_known_where_somebody_killed_it(times: int) -> None:
    cell = plan_cell(f"asks:rows={3 + times}", SMALL)
    with Supervisor(threads=1) as own, ThreadPoolExecutor(1) as pool:
        asked = threading.Event()
        running = pool.submit(own.run, cell, "", {}, lambda record: record.claims and asked.set())
        assert asked.wait(60)
        time.sleep(0.3)
        os.kill(youngest(own._processes[0].pid), signal.SIGKILL)
        record = running.result().record
    assert (record.status, record.queries) == (Status.CRASHED, 3 + times)
    assert "SIGKILL" in record.reason


@pytest.mark.slow
@pytest.mark.parametrize("times", range(5))
def test_every_row_is_known_where_the_user_stopped_it(times: int) -> None:
    cell = plan_cell(f"asks:rows={3 + times}", SMALL)
    with Supervisor(threads=1) as own, ThreadPoolExecutor(1) as pool:
        asked = threading.Event()
        running = pool.submit(own.run, cell, "", {}, lambda record: record.claims and asked.set())
        assert asked.wait(60)
        time.sleep(0.3)
        own.stop()
        record = running.result().record
    assert (record.status, record.queries) == (Status.INTERRUPTED, 3 + times)


def needle(content: bytes | float) -> int:
    """Eight bytes, as a search is told of them."""
    plain = struct.pack("<d", content) if isinstance(content, float) else content
    return int.from_bytes(plain, "little") * asking.HASH % 2**64


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_of_teacher_seed_or_secret_is_in_the_methods_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_TOKEN_OF_SOMEBODY", "that no method may see")
    (tmp_path / "secret").write_bytes(secret := os.urandom(32))
    seed = 0x1A2B3C4D5E6F7081
    drawn = secrets.drawn_seed(secret, SMALL, seed)
    teacher = registry.task(SMALL).draw(drawn)
    hidden = [float(w) for value in teacher.arrays().values() for w in value.flatten()]
    told = {needle(w) for w in hidden if w not in (0.0, 1.0)}
    told |= {needle(secret[at : at + 8]) for at in (0, 8, 16, 24)}
    told |= {needle(number.to_bytes(8, "little")) for number in (seed, drawn)}
    known = needle(asking.KNOWN.to_bytes(8, "little"))
    method = f"searches:needles={'-'.join(map(str, sorted({*told, known})))}"
    record = paramid.run(method, SMALL, seed=seed, secret=tmp_path / "secret")
    assert record.status is Status.FINISHED, (record.reason, record.printed)
    found = {int(number) for number, hit in record.stats.items() if hit}
    assert found == {known}
    assert record.secret == secrets.fingerprint(secret)
    assert "A_TOKEN_OF_SOMEBODY" not in record.printed
    (line,) = (line for line in record.printed.splitlines() if line.startswith("DESCRIPTORS"))
    assert line.count("socket:") == 1
    assert "secret" not in line


def test_teachers_of_a_secret_are_the_same_again_and_others_under_another(tmp_path: Path) -> None:
    def errors(secret: bytes, folder: str) -> pd.Series:
        made = paramid.compare("random", "shallow:D=4,m=2", 3, store=tmp_path / folder, secret=secret)
        return made["error"]

    first, again, other = errors(b"a" * 32, "1"), errors(b"a" * 32, "2"), errors(b"b" * 32, "3")
    assert list(first) == list(again)
    assert list(first) != list(other)


@pytest.mark.slow
def test_what_a_method_says_that_it_needs_it_has_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        method = f"needs:port={listening.getsockname()[1]}"
        first, second = (paramid.run(method, SMALL) for _ in range(2))
    assert (first.status, second.status) == (Status.FINISHED, Status.FINISHED), first.reason
    assert (first.stats["before"], second.stats["before"]) == (0, 1)
    walls = str(first.provenance["walls"]).split(", ")
    assert "no network: it was needed" in walls
    assert "network" not in walls


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["", "user,pids", "user,network,calls", "user,mounts,pids", "disk,ipc"])
def test_fewer_walls_change_what_is_walled_off_and_nothing_else(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARAMID_WALLS", wanted)
    record = paramid.run("spm", SMALL, time_limit=60.0)
    assert (record.status, record.metrics["identified"]) == (Status.FINISHED, 1), record.reason
    stands = set(str(record.provenance["walls"]).split(", ")) - {"processes", "privileges"}
    assert stands <= set(wanted.split(","))
    assert "mounts" in stands or not stands & {"pids", "disk"}
    assert record.cpu_seconds > 0


def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has 5 bytes; at least 32 were wanted"):
        paramid.run("truth", "shallow:D=4,m=2", secret=b"short")
    with pytest.raises(UsageError, match="No such file"):
        paramid.run("truth", "shallow:D=4,m=2", secret=tmp_path / "nothing")


def test_streams_of_a_drawn_seed_fill_the_whole_state() -> None:
    seed = secrets.drawn_seed(b"a" * 32, "task", 0)
    words = [random_streams.generator(seed, "teacher").get_state()[24:].view(torch.int64)[:624] for _ in range(2)]
    assert torch.equal(*words)
    assert len(words[0].unique()) > 600
    other = random_streams.generator(seed, "samples").get_state()[24:].view(torch.int64)[:624]
    assert not (words[0] == other).any()
    assert random_streams.number(seed, "method") < 2**63


def test_the_server_of_methods_has_never_heard_of_judge_or_tasks() -> None:
    told = "import paramid.wall.keeper, sys; print(*(m for m in sys.modules if m.startswith('paramid.')))"
    held = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.split()
    assert "paramid.wall.method_process" in held
    unknown = ("paramid.judging", "paramid.tasks", "paramid.records", "paramid.running", "paramid.oracle.counting")
    assert not [module for module in held if module.startswith((*unknown, "paramid.wall.serving", "paramid.methods"))]
