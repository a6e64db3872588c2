"""What dies on a cluster costs time and no record: real schedulers, nannies and workers, ended with kill -9.

`python -m pytest -m kills tests/test_cluster_kills.py` takes minutes. PARAMID_CELLS and PARAMID_KILLS say how many.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from paramid import Status
from paramid.contracts import plugins, registry
from paramid.records.record import Record
from paramid.running.compare import Comparison
from paramid.running.progress import Progress
from tests.test_cluster import known

pytestmark = [
    pytest.mark.kills,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.filterwarnings("ignore:::distributed", "ignore:::tornado", "ignore::ResourceWarning"),
]

PLUGIN = Path(__file__).with_name("misbehaving.py")
plugins.add_plugin(PLUGIN)
plugins.add_plugin(KILLING := PLUGIN.with_name("killing.py"))
ENDINGS = registry.load(registry.target("methods", "misbehaving")).ENDINGS
PATIENT = ("eats", "hoards", "shouts", "floods", "recurses", "grandchildren")
QUICK = [h for h, end in ENDINGS.items() if h == "hangs" or not (h in PATIENT or end is Status.TIMED_OUT)]
TASK = "shallow:D=4,m=2,N=100000"
LIMITS = {"time_limit": 10.0, "query_limit": 1000, "memory_limit": 4000.0, "judge_inputs": 10}
CELLS, KILLS = (int(os.environ.get(f"PARAMID_{name}", most)) for name, most in (("CELLS", 200), ("KILLS", 20)))


class Cluster:
    """A scheduler and workers, each a process started by hand and marked in its environment."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.mark, self.file = str(folder), folder / "scheduler.json"
        self.environment = {**os.environ, **environment, "PARAMID_MARK": self.mark, "PYTHON_MARK": self.mark}
        self.processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        words = ("dask", *words, "--scheduler-file", str(self.file))
        command = [str(Path(sys.executable).with_name(words[0])), *words[1:]]
        return subprocess.Popen(command, env=self.environment, start_new_session=True, **quiet)

    def join(self, count: int, slots: int) -> None:
        for _ in range(count):
            self.processes.append(self._start("worker", "--nthreads", str(slots), "--no-dashboard"))

    def marked(self, *texts: str) -> list[int]:
        """Processes of this cluster whose command line holds one of these texts."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode(errors="replace")
                ours = f"PARAMID_MARK={self.mark}\0".encode() in (folder / "environ").read_bytes()
                if ours and any(text in words for text in texts):
                    found.append(int(folder.name))
        return found

    def workers(self) -> list[int]:
        return self.marked("spawn_main")

    def servers(self) -> list[int]:
        """The fork servers of workers, and cells; what they inherit names no mark."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (folder / "cmdline").read_bytes()
                ours = f"PYTHON_MARK={self.mark}\0".encode() in (folder / "environ").read_bytes()
                if ours and b"fork_server" in words:
                    found.append(int(folder.name))
        return found

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path, workers: int = 2, slots: int = 2, **environment: str) -> Iterator[Cluster]:
    made = Cluster(folder, environment)
    try:
        made.join(workers, slots)
        yield made
    finally:
        made.end()
        assert soon(lambda: not made.servers(), 30), "processes were left"


def soon(true: Callable[[], bool], seconds: float) -> bool:
    """Whether it becomes true in time."""
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.1)
    return true()


class Counting(Progress):
    def __init__(self) -> None:
        self.ends: list[Record | str] = []

    def ended(self, cell: object, record: Record | str) -> None:
        self.ends.append(record)


def every_kind(store: Path, where: object, count: int = CELLS) -> Comparison:
    """So many cells, of every kind of ending; of those that take their time, one."""
    methods = [f"misbehaving:how={how}" for how in QUICK] + ["truth", "random"]
    seeds = range(-(-count // len(methods)))
    return Comparison.planned(methods, [TASK], seeds, store=store, workers=2, cluster=where, **LIMITS)


def assert_all_right(comparison: Comparison) -> None:
    records = comparison.results()
    assert len(records) == len(comparison.cells)
    names = Counter(path.name.rpartition("-")[0] for path in (comparison.store.folder / "cells").iterdir())
    assert set(names.values()) == {1}
    wanted = {r.key: ENDINGS.get(r.method.partition("how=")[2], Status.FINISHED) for r in records}
    assert [(r.method, r.status, r.reason) for r in records if r.status is not wanted[r.key]] == []


@pytest.mark.parametrize("victims", ["workers", "nannies"])
def test_kills_cost_no_record(tmp_path: Path, victims: str) -> None:
    chance, progress, over = random.Random(1), Counting(), threading.Event()
    killed: list[int] = []
    with cluster(tmp_path) as here:
        comparison = every_kind(tmp_path / "store", here.file)
        step = len(comparison.cells) / (KILLS + 1)

        def kill() -> None:
            for number in range(KILLS):
                while len(progress.ends) < step * (number + 0.5) and not over.wait(0.05):
                    pass
                while not over.is_set():
                    if pids := (here.workers() if victims == "workers" else here.marked("dask\0worker", "dask worker")):
                        os.kill(pid := chance.choice(pids), signal.SIGKILL)
                        killed.append(pid)
                        if victims == "nannies":
                            here.join(1, 2)
                        break
                    time.sleep(0.1)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            comparison.run_missing(progress)
        finally:
            over.set()
            killer.join()
    assert len(killed) == KILLS
    assert_all_right(comparison)


def command(here: Cluster, store: Path) -> subprocess.Popen[str]:
    given = [
        *("compare", "--plugin", str(PLUGIN), "--methods", "misbehaving:how=dawdles", "truth", "--tasks", TASK),
        *("--seeds", "4", "--time-limit", "300", "--cluster", str(here.file), "--store", str(store)),
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    interrupts = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    return subprocess.Popen([sys.executable, "-m", "paramid", *given], preexec_fn=interrupts, **pipes)


def cells_of(here: Cluster) -> int:
    """Processes that servers have forked: two servers each worker, and what is below them."""
    return len(here.servers())


def test_interrupts_and_kills_of_the_command_leave_a_store_that_resumes(tmp_path: Path) -> None:
    with cluster(tmp_path) as here:
        for number, ending in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            with command(here, tmp_path / "store") as process:
                assert soon(lambda: cells_of(here) > 6, 120)
                process.send_signal(number)
                begin = time.monotonic()
                assert process.wait(60) == ending
                took = time.monotonic() - begin
                said = process.stderr.read().splitlines() if process.stderr else []
            assert took < float(os.environ.get("PARAMID_PATIENCE", "5"))
            assert soon(lambda: cells_of(here) <= 4, 30), "cells were left"
            if number == signal.SIGINT:
                assert said[-1].startswith("paramid: stopped; the same command goes on")
        rest = Comparison.planned(["truth"], [TASK], range(4), store=tmp_path / "store", cluster=here.file)
        rest.run_missing(Progress())
        assert len(rest.results()) == 4


def test_a_lost_scheduler_ends_the_command_in_a_line(tmp_path: Path) -> None:
    with cluster(tmp_path) as here:
        with command(here, tmp_path / "store") as process:
            assert soon(lambda: cells_of(here) > 6, 120)
            here.processes[0].kill()
            begin = time.monotonic()
            assert process.wait(120) == 1
            assert time.monotonic() - begin < 40
            said = process.stderr.read().splitlines() if process.stderr else []
        assert re.fullmatch(r"paramid: the scheduler at .* is gone; \d+ cells were under way; .*", said[-1])
        assert not [line for line in said if "Traceback" in line]
        assert soon(lambda: not here.workers() and not here.servers(), 60)
    (tmp_path / "again").mkdir()
    with cluster(tmp_path / "again") as here:
        rest = every_kind(tmp_path / "store", here.file, 40)
        rest.run_missing(Progress())
        assert len(rest.results()) == len(rest.cells)


def test_a_worker_that_stands_still_doubles_nothing(tmp_path: Path) -> None:
    with cluster(tmp_path) as here:
        comparison, progress = every_kind(tmp_path / "store", here.file, 40), Counting()

        def stop() -> None:
            soon(lambda: len(progress.ends) > 5, 300)
            victim = here.workers()[0]
            os.kill(victim, signal.SIGSTOP)
            time.sleep(15)
            os.kill(victim, signal.SIGCONT)

        stopper = threading.Thread(target=stop)
        stopper.start()
        comparison.run_missing(progress)
        stopper.join()
    assert_all_right(comparison)


def test_killers_are_named_and_end_their_method_and_nothing_else(tmp_path: Path) -> None:
    with cluster(tmp_path, PARAMID_WALLS="") as here:
        methods, progress = ["killing", "truth", "random"], Counting()
        comparison = Comparison.planned(
            methods, [TASK], range(20), store=tmp_path / "store", cluster=here.file, judge_inputs=10, time_limit=60.0
        )
        comparison.run_missing(progress)
    assert Counter(r.method for r in comparison.results()) == {"truth": 20, "random": 20}
    named = [line for line in comparison.notes if "the 4 workers that ran it died" in line]
    assert len(named) in (3, 4)  # a fourth may have been under way
    assert all(line.startswith("killing before") for line in named)
    others = [line for line in comparison.notes if line not in named]
    assert set(others) == {"no more cells of killing are run: 3 of them ended their workers"}
    assert len(named) + len(others) == 20


def test_the_suite_quick_gives_the_same_records_everywhere(tmp_path: Path) -> None:
    options = {"suite": os.environ.get("PARAMID_SUITE", "quick"), "workers": 2}
    with cluster(tmp_path, slots=1) as here:
        records = []
        for name, where in (("a", None), ("b", "local"), ("c", here.file)):
            comparison = Comparison.planned((), (), store=tmp_path / name, cluster=where, **options)
            comparison.run_missing(Progress())
            records.append(comparison.results())
    assert {r.key for r in records[0]} == {r.key for r in records[1]} == {r.key for r in records[2]}
    by_clock = {
        r.key for made in records for r in made if r.seconds > r.budget["seconds"] / 2
    }  # nowhere twice the same
    assert len(by_clock) < len(records[0]) / 4
    first, second, third = (known([r for r in made if r.key not in by_clock]) for made in records)
    assert first == second == third
