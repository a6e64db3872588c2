"""How large a cluster one scheduler and one command can feed: cells that sleep on workers that only pretend.

    (1)  cores = seconds of a cell / CPU seconds that a cell costs the busier of scheduler and command.

python -m benchmarks.side_by_side.cluster                           100 000 planned cells on 200 workers of 5 slots
python -m benchmarks.side_by_side.cluster --claim 30 --workers 4    outcomes of 30 MB: what the scheduler has to carry
python -m benchmarks.side_by_side.cluster --pairs 20                a trivial cell here and on a real cluster, in turns
"""

import argparse
import asyncio
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import dask
from distributed import Worker

from paramid.records.record import Outcome, Record
from paramid.records.store import Store
from paramid.running.cell import Cell, plan_cell
from paramid.running.compare import Comparison
from paramid.running.crews import workshop
from paramid.running.progress import Progress
from paramid.words.status import Status

TASK = "shallow:D=2,m=1,activation=relu"
LENGTHS = (0.1, 1.0, 10.0)  # seconds of a cell, for (1)
PRETEND = "pretend"  # first word of the command that is the workers' process
QUIET = {
    **dict.fromkeys((f"distributed.worker.memory.{part}" for part in ("target", "spill", "pause", "terminate")), False),
    "distributed.admin.system-monitor.interval": "600s",
    "distributed.worker.profile.enabled": False,
}


def pretending(address: str, workers: int, slots: int, seconds: float, claim: int) -> None:
    """Workers that sleep instead of performing, all in this process."""
    dask.config.set(QUIET)

    def perform(_: str, order: bytes) -> Outcome:
        time.sleep(seconds)
        metrics = {f"metric_{number}": 0.1 * number for number in range(12)}
        record = Record(
            key=pickle.loads(order).key, method="truth", task=TASK, seed=0, device="cpu", threads=1,
            budget={}, status=Status.FINISHED, metrics=metrics, printed="x" * 500,
        )  # fmt: skip
        return Outcome(record, os.urandom(claim))

    workshop.perform = perform

    async def work() -> None:
        made = [await Worker(address, nthreads=slots, name=f"w{n}", memory_limit=0) for n in range(workers)]
        await asyncio.gather(*(worker.finished() for worker in made))

    asyncio.run(work())


@dataclass
class Used:
    """CPU seconds and resident megabytes of a process."""

    cpu: float
    mb: float

    @classmethod
    def by(cls, pid: int) -> "Used":
        """Until now."""
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        ticks = os.sysconf("SC_CLK_TCK")
        return cls((int(words[11]) + int(words[12])) / ticks, pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


class Watch(Progress):
    """Counts cells for so many seconds after the first, and what they cost."""

    def __init__(self, scheduler: int, seconds: float, most: int) -> None:
        self.pids, self.seconds, self.most = (scheduler, os.getpid()), seconds, most
        self.count, self.begun = 0, 0.0
        self.peaks = [Used.by(pid).mb for pid in self.pids]
        self.first = [Used.by(pid) for pid in self.pids]
        self.before = self.first

    def ended(self, cell: Cell, record: Record | str) -> None:
        """Count it."""
        if not self.begun:
            self.begun, self.before = time.monotonic(), [Used.by(pid) for pid in self.pids]
        self.count += 1
        if self.count % 100 == 0:
            self.look()
        if time.monotonic() - self.begun > self.seconds or self.count >= self.most:
            self.look()
            raise KeyboardInterrupt

    def look(self) -> None:
        """Take what has been used."""
        self.now = [Used.by(pid) for pid in self.pids]
        self.peaks = [max(peak, used.mb) for peak, used in zip(self.peaks, self.now, strict=True)]

    def told(self) -> str:
        """CPU and memory of both, and (1)."""
        each = [(now.cpu - was.cpu) / self.count for now, was in zip(self.now, self.before, strict=True)]
        (scheduler, command), rate = each, self.count / (time.monotonic() - self.begun)
        feeds = ", ".join(f"{length / max(each):,.0f} at {length:g} s" for length in LENGTHS)
        return (
            f"{self.count} cells, {rate:.0f}/s: scheduler {1e3 * scheduler:.2f} ms of CPU a cell,"
            f" {self.first[0].mb:.0f} -> {self.peaks[0]:.0f} MB; command {1e3 * command:.2f} ms,"
            f" {self.first[1].mb:.0f} -> {self.peaks[1]:.0f} MB\ncores that it can feed: {feeds}"
        )


@contextmanager
def scheduler(folder: Path) -> Iterator[tuple[str, int]]:
    """One of its own, by the file with its address, and its process."""
    file = folder / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with subprocess.Popen([sys.executable, "-m", "dask", "scheduler", *words], stderr=subprocess.DEVNULL) as process:
        try:
            while not file.exists() or not file.read_text():
                time.sleep(0.1)
            yield str(file), process.pid
        finally:
            process.terminate()


def simulated(options: argparse.Namespace, folder: Path) -> None:
    """Run planned cells on pretended workers for a while."""
    one = plan_cell("truth", TASK, judge_inputs=10)
    cells = {f"{number:024x}": replace(one, seed=number) for number in range(options.planned)}
    with scheduler(folder) as (file, pid):
        words = [PRETEND, file, options.workers, options.slots, options.seconds, options.claim * 10**6]
        command = [sys.executable, "-m", "benchmarks.side_by_side.cluster", *map(str, words)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as workers:
            try:
                watch = Watch(pid, options.measured, options.most)
                with suppress(KeyboardInterrupt):
                    Comparison(cells, Store(folder / "store"), 1, 1, cluster=file).run_missing(watch)
                print(watch.told())
            finally:
                workers.terminate()


class Ends(Progress):
    """When cells ended."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def ended(self, cell: Cell, record: Record | str) -> None:
        """Take it."""
        self.times.append(time.monotonic())


def pairs(count: int, folder: Path) -> None:
    """Seconds of a trivial cell here and on workers that are processes of this machine, many cells at once."""
    took: dict[str | None, list[float]] = {None: [], "local": []}
    for turn in range(3):
        for where, each in took.items():
            store = folder / f"{where}-{turn}"
            given = {"store": store, "workers": 2, "judge_inputs": 10, "cluster": where}
            comparison = Comparison.planned(["truth"], [TASK], range(count), **given)
            comparison.run_missing(ends := Ends())
            each += [(ends.times[-1] - ends.times[1]) / (len(ends.times) - 2)]
    here, there = (1e3 * median(each) for each in took.values())
    print(f"a trivial cell: here {here:.1f} ms, on a cluster {there:.1f} ms, {there - here:+.1f} ms")


def main() -> None:
    """Print what was measured."""
    if sys.argv[1:2] == [PRETEND]:
        file, *numbers, seconds, claim = sys.argv[2:]
        address = json.loads(Path(file).read_text())["address"]
        return pretending(address, *map(int, numbers), float(seconds), int(claim))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planned", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--slots", type=int, default=5, help="of a worker")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a cell")
    parser.add_argument("--measured", type=float, default=20.0, help="seconds of cells")
    parser.add_argument("--most", type=int, default=10**9, help="cells that are measured")
    parser.add_argument("--claim", type=int, default=0, metavar="MB", help="of each outcome")
    parser.add_argument("--pairs", type=int, metavar="N", help="trivial cells, here and on a real cluster in turns")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.pairs:
            return pairs(options.pairs, Path(folder))
        return simulated(options, Path(folder))


if __name__ == "__main__":
    main()
