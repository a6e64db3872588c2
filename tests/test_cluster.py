"""A cluster's records are those of this machine: scheduler and workers in this process, cells behind walls as ever."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
from distributed import LocalCluster, Worker, get_worker
from distributed import Status as State

from paramid.cli import main
from paramid.contracts import plugins
from paramid.records.record import Record
from paramid.running.cell import plan_cell
from paramid.running.compare import Comparison
from paramid.running.crews import orders, workshop
from paramid.running.crews.cluster import Cluster
from paramid.running.crews.connection import try_to_reach
from paramid.running.crews.crew import CrewError
from paramid.running.crews.dispatch import left
from paramid.running.crews.placement import Placement
from paramid.running.progress import Progress
from paramid.words.naming import UsageError
from paramid.words.status import Status

pytestmark = pytest.mark.filterwarnings("ignore:::distributed", "ignore:::tornado", "ignore::ResourceWarning")

PLUGIN = Path(__file__).with_name("misbehaving.py")
plugins.add_plugin(PLUGIN)
TASK = "shallow:D=4,m=2,N=1000"
HOWS = ("raises", "declines", "segfaults", "greedy", "nan")
METHODS = ["truth", "random", "spm:refine=none", *(f"misbehaving:how={how}" for how in HOWS)]


class Said(Progress):
    """What was said, and cells as they end."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ends: list[Record | str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def ended(self, cell: object, record: Record | str) -> None:
        self.ends.append(record)


class Here:
    """A scheduler and workers of this process."""

    def __init__(self, made: Any) -> None:
        self._made, self.address, self.workers = made, made.scheduler_address, dict[str, Any]()
        self.addresses = [listener.contact_address for listener in made.scheduler.listeners]

    def join(self, *names: str, slots: int = 2, at: str = "", **options: Any) -> None:
        async def begin() -> Any:
            return [
                await Worker(at or self.address, name=name, nthreads=slots, memory_limit=0, **options) for name in names
            ]

        self.workers |= dict(zip(names, self._made.sync(begin), strict=True))

    def stick(self, name: str) -> None:
        """Have a worker begin to close and never end, as beside a nanny that stands still; it says that it lives."""
        worker = self.workers[name]

        async def close() -> None:
            worker.stuck = asyncio.Event()
            worker.preloads.teardown = worker.stuck.wait
            worker.closing = asyncio.create_task(worker.close(timeout=0, executor_wait=False))

        self._made.sync(close)

    def pause(self, name: str) -> None:
        """Have a worker begin nothing more, as when it has no memory to spare."""

        async def pause() -> None:
            self.workers[name].status = State.paused

        self._made.sync(pause)

    def retire(self, name: str) -> None:
        """Have a worker go as at the end of its lifetime."""
        self._made.sync(self.workers.pop(name).close_gracefully)

    def leave(self, name: str) -> None:
        """Nothing is waited for and nobody is told why, as when it is killed."""
        worker = self.workers.pop(name)

        async def die() -> None:
            worker.batched_stream.abort()
            if hasattr(worker, "stuck"):
                worker.stuck.set()
            await worker.close(timeout=0, executor_wait=False, nanny=False, reason="killed")

        self._made.sync(die)


@contextmanager
def cluster(*names: str, **given: Any) -> Iterator[Here]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options = {"protocol": "tcp://", "dashboard_address": None, "silence_logs": logging.CRITICAL, **given}
    with LocalCluster(n_workers=0, processes=False, **options) as made:
        here = Here(made)
        here.join(*names)
        yield here
        for name in list(here.workers):
            here.leave(name)


def planned(store: Path, **options: object) -> Comparison:
    given = {"time_limit": 20.0, "query_limit": 1000, "judge_inputs": 10, "workers": 2, "store": store}
    return Comparison.planned(METHODS, [TASK], range(1), **{**given, **options})


def known(records: list[Record]) -> dict[str, str]:
    """What must not depend on where a cell ran, bit by bit; as text, in which what is no number equals itself."""
    said = ("status", "reason", "threads", "metrics", "stats", "queries", "samples", "derivatives", "moments")
    claims = {r.key: [c.metrics for c in r.claims] for r in records}
    return {r.key: repr([claims[r.key], *(getattr(r, name) for name in said)]) for r in records}


def test_a_cluster_gives_the_records_of_this_machine_though_a_worker_dies(tmp_path: Path) -> None:
    local = planned(tmp_path / "a")
    local.run_missing(Progress())
    with cluster("one", "two") as here:

        class Killing(Said):
            def ended(self, cell: object, record: Record | str) -> None:
                super().ended(cell, record)
                if len(self.ends) == 3:
                    here.leave("one")

        elsewhere = Killing()
        there = planned(tmp_path / "b", cluster=here.address)
        there.run_missing(elsewhere)
    assert known(there.results()) == known(local.results())
    assert len(elsewhere.ends) == len(METHODS) == len(list((tmp_path / "b" / "cells").iterdir()))
    assert {r.provenance["worker"] for r in there.results()} == {"one", "two"}
    assert all({"host", "cpu", "dask", "run", "walls", "commit"} <= r.provenance.keys() for r in there.results()[2:])
    claims = [{p.name: p.read_bytes() for p in (tmp_path / name / "claims").iterdir()} for name in "ab"]
    assert claims[0] == claims[1]
    assert claims[0]


class Doing(Said):
    """Does something once so many cells have started."""

    def __init__(self, count: int, what: Callable[[], object]) -> None:
        super().__init__()
        self._left, self._what = count, what

    def started(self, cell: object) -> None:
        self._left -= 1
        if self._left == 0:
            threading.Timer(1.0, self._what).start()


@pytest.mark.parametrize("how", ["stick", "retire", "leave"])
def test_what_ran_on_a_worker_that_goes_runs_elsewhere_and_only_deaths_blame_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    made: list[Placement] = []

    class Watched(Placement):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr("paramid.running.crews.cluster.Placement", Watched)
    slow = ["misbehaving:how=dawdles"]
    options = {"time_limit": 3.0, "judge_inputs": 10, "store": tmp_path}
    with cluster("one", "two") as here:
        there = Comparison.planned(slow, [TASK], range(4), cluster=here.address, **options)
        there.run_missing(said := Doing(4, lambda: getattr(here, how)("one")))
    assert [record.status for record in there.results()] == [Status.TIMED_OUT] * 4
    assert {record.provenance["worker"] for record in there.results()} == {"two"}
    assert len(said.ends) == 4
    assert sorted((+made[0].deaths).values()) == ([1, 1] if how == "leave" else [])


def test_what_a_paused_worker_has_not_begun_runs_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paramid.running.crews.dispatch.LOOK", 3.0)  # cells are given before anybody sees it
    with cluster("one", "two") as here:

        class Pausing(Said):
            def started(self, cell: object) -> None:
                here.pause("one")

        there = Comparison.planned(["truth"], [TASK], range(4), cluster=here.address, store=tmp_path)
        there.run_missing(Pausing())
    assert [record.provenance["worker"] for record in there.results()] == ["two"] * 4


@pytest.mark.parametrize(
    ("noted", "gone_in_order"),
    [("add", False), ("add running", False), ("add closing_gracefully", True), ("add running closing", True),
     ("add closing_gracefully running", False), ("add closing remove add", False), ("", False)],
)  # fmt: skip
def test_who_left_is_told_from_who_died(noted: str, gone_in_order: bool) -> None:
    events = {name: {"action": f"{name}-worker"} for name in ("add", "remove")}
    other = [{"action": "missing-data"}, "what somebody else noted"]
    change = {"action": "worker-status-change", "prev-status": "?"}
    assert left([*(events.get(w, {**change, "status": w}) for w in noted.split()), *other]) is gone_in_order


def other_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have workers whose names say so be of another paramid."""

    def harness(given: str) -> str:
        return f"has paramid 0, the caller {given}" if get_worker().name.startswith("old") else ""

    monkeypatch.setattr(workshop, "_other", harness)


def test_other_source_is_refused_at_first_and_left_out_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other_source(monkeypatch)
    with cluster("old") as here:
        words = ["compare", "--methods", "truth", "--tasks", TASK, "--cluster", here.address]
        assert main([*words, "--store", str(tmp_path / "a")]) == 2
        told = capsys.readouterr().err
        assert "is left out: has paramid 0, the caller" in told
        assert "were wanted, with the source of the caller" in told
        here.leave("old")
        late = Comparison.planned(["truth"], [TASK], range(6), store=tmp_path / "b", cluster=here.address)

        class Joining(Said):
            def ended(self, cell: object, record: Record | str) -> None:
                super().ended(cell, record)
                if len(self.ends) == 1:
                    here.join("older")
                    time.sleep(2)  # until somebody looks

        here.join("good", slots=1)
        late.run_missing(said := Joining())
    assert len(late.results()) == 6
    assert {r.provenance["worker"] for r in late.results()} == {"good"}
    assert [("old" in line or "left out" in line) for line in said.lines].count(True) == 1


def test_all_left_out_ends_the_command_and_nobody_there_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paramid.running.crews.cluster.ANSWER", 0.5)
    other_source(monkeypatch)
    with cluster() as here:

        class Joining(Said):
            def say(self, line: str) -> None:
                super().say(line)
                if line == "waiting for workers":
                    here.join("old")

        there = Comparison.planned(["truth"], [TASK], range(1), store=tmp_path / "a", cluster=here.address)
        said = Joining()
        with pytest.raises(CrewError, match=r"every worker of .* was left out"):
            there.run_missing(said)
    assert said.lines[0] == "waiting for workers"
    assert len(said.lines) == 2


def test_a_workers_own_trouble_is_no_ending_of_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, *given: object) -> None:
        raise OSError(28, "No space left on device")

    with cluster("one", "two") as here:
        supervisor = workshop.Bench._supervisor

        def choosy(bench: Any, *given: Any) -> Any:
            return full(bench) if bench._name == "one" else supervisor(bench, *given)

        monkeypatch.setattr(workshop.Bench, "_supervisor", choosy)
        there = Comparison.planned(["truth", "random"], [TASK], range(3), store=tmp_path, cluster=here.address)
        there.run_missing(said := Said())
    assert len(there.results()) == 6
    assert [line for line in said.lines if "left out" in line] == [
        line for line in said.lines if "worker one at" in line and "No space left on device" in line
    ]


def test_nobody_there_and_no_dask_are_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("paramid.running.crews.connection.PATIENCE", 1.0)
    words = ["compare", "--methods", "truth", "--tasks", TASK, "--store", str(tmp_path), "--cluster"]
    assert main([*words, "tcp://127.0.0.1:1"]) == 2
    assert main([*words, str(tmp_path / "none.json")]) == 2
    monkeypatch.setitem(sys.modules, "distributed", None)
    for name in ("cluster", "connection", "dispatch"):
        monkeypatch.delitem(sys.modules, f"paramid.running.crews.{name}")
    assert main([*words, "local"]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("paramid:")]
    assert [line.startswith("paramid: no Dask scheduler at ") for line in told[:2]] == [True, True]
    assert told[2] == "paramid: --cluster needs Dask: pip install 'paramid[cluster]'"


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.9\r\n"])
def test_what_is_no_scheduler_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, greeting: bytes) -> None:
    monkeypatch.setattr("paramid.running.crews.connection.PATIENCE", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent, ExitStack() as stack:

        def greet() -> None:
            stack.enter_context(end := silent.accept()[0])
            end.sendall(greeting)

        threading.Thread(target=greet, daemon=True).start()
        with pytest.raises(UsageError, match=r"no Dask scheduler at tcp://.*: .") as refused:
            try_to_reach(f"tcp://127.0.0.1:{silent.getsockname()[1]}")
    assert "\n" not in str(refused.value)


def test_what_is_waited_for_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster("one") as here:
        cells = [plan_cell("truth", TASK, device=device) for device in ("cpu", "cuda")]
        with Cluster(here.address, workers=1, threads=1, facts={}, say=(said := Said()).say) as crew:
            for cell in cells * 2:
                crew.takes(cell)
                assert not list(crew.ended(0.1))
            monkeypatch.setattr("paramid.running.crews.cluster.PATIENCE", -1.0)
            assert not list(crew.ended(0.1))
    awaited = "waiting for workers with --resources gpu=1"
    assert said.lines == [awaited, awaited, f"waiting for the scheduler at {here.address}, which does not answer"]


def test_parts_are_disjoint_and_all(tmp_path: Path) -> None:
    whole = list(planned(tmp_path).cells)
    parts = [list(planned(tmp_path, part=f"{i}/3").cells) for i in (1, 2, 3)]
    assert sorted(key for part in parts for key in part) == sorted(whole)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for wrong in ("0/3", "4/3", "1", "a/b", "1/0"):
        with pytest.raises(UsageError, match="I/N with I from 1 to N"):
            planned(tmp_path, part=wrong)


def test_a_plug_in_travels_with_what_lies_beside_it(tmp_path: Path) -> None:
    file, helper = tmp_path / "mine" / "travels.py", tmp_path / "mine" / "helper_that_travels" / "inner.py"
    helper.parent.mkdir(parents=True)
    helper.write_text("STEP = 2\n")
    (helper.parent / "__init__.py").write_text("")
    text = PLUGIN.read_text().replace('"misbehaving":', '"travels":')
    file.write_text(f"import sys; sys.path.append({str(file.parent)!r})\nfrom helper_that_travels import inner\n{text}")
    plugins.add_plugin(file)
    cell = plan_cell("travels:how=well", TASK)
    packed, files = orders.packed(cell)
    assert set(files) == {"travels.py", "helper_that_travels/__init__.py", "helper_that_travels/inner.py"}
    assert packed.method_plugins == ("travels.py",)
    order = orders.Order(key="k", cell=packed, seed=0, threads=1, hidden=(), sources=orders.sources(cell), files=files)
    there = orders.unpacked(order, tmp_path / "there")
    assert Path(str(there.method_plugins[0])).read_bytes() == file.read_bytes()
    assert there == orders.unpacked(order, tmp_path / "there")
    assert replace(there, method_plugins=()) == replace(cell, method_plugins=())
    assert list(order.sources) == ["paramid.tasks.shallow"]


def test_all_of_the_source_is_compared() -> None:
    assert "another" in workshop._other("0.0 (another)")
    assert workshop._other(orders.harness()) == ""
    names = [name for name, _ in orders._modules("paramid")]
    assert "running/crews/orders.py" in names
    assert not any(name.startswith(("methods/", "tasks/")) for name in names)
    assert any(name == "shallow.py" for name, _ in orders._modules("paramid.tasks"))
