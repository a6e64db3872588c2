"""What the wall costs, beside an oracle in the method's own process: a call, a row, a cell. D = 50, m = 50.

python -m benchmarks.side_by_side.wall [--cells 50]
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import ClassVar

import torch

from paramid import Access, Function, Oracle, Run, Spec
from paramid.contracts import plugins, registry
from paramid.oracle.counting import CountingOracle
from paramid.running.cell import plan_cell
from paramid.running.supervisor import Supervisor

TASK = "shallow:D=50,m=50"
SIZES = {1: 2000, 1000: 300, 100_000: 12}  # rows a call, and how many calls are timed
ROUNDS = 5


@dataclass(frozen=True)
class Stopwatch:
    """Times its own queries: the median of every size, as words of its claim."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        """Never."""

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Function]:
        """Ask and time."""
        yield Function(lambda x: x[:, :1], stats={str(n): seconds for n, seconds in timed(oracle, run)})


def timed(oracle: Oracle, run: Run) -> Iterator[tuple[int, float]]:
    """The median seconds of a call, by its rows."""
    for rows, calls in SIZES.items():
        x = run.normal(rows, oracle.spec.inputs)
        oracle.query(x)
        yield rows, median(seconds(lambda x=x: oracle.query(x)) for _ in range(calls))


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def here() -> dict[int, float]:
    """The same before an oracle of this process."""
    task = registry.task(TASK)
    oracle = CountingOracle(
        task.draw(0), task.spec, access=frozenset({Access.QUERIES}), seed=0, device=torch.device("cpu")
    )
    return dict(timed(oracle, Run.seeded(0)))


def cell(supervisor: Supervisor, method: str, task: str) -> float:
    """Seconds from asking for a cell to its record."""
    planned = plan_cell(method, task, judge_inputs=1)
    return seconds(lambda: supervisor.run(planned, "key", {}))


def bare() -> None:
    """A fork of a process with torch in it, and its end."""
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)


def main() -> None:
    """Print both sides, in turns, and their difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=50)
    count = parser.parse_args().cells
    torch.set_num_threads(1)
    plugins.add_plugin(Path(__file__))
    with Supervisor(threads=1) as supervisor:
        planned = plan_cell("stopwatch", TASK, judge_inputs=1)
        sides = []
        for _ in range(ROUNDS):
            there = supervisor.run(planned, "key", {}).record
            sides.append((here(), {int(n): s for n, s in there.stats.items()}))
        print(f"walls: {there.provenance['walls']}")
        for rows in SIZES:
            mine, theirs = (median(side[rows] for side in column) for column in zip(*sides, strict=True))
            more = theirs - mine
            print(
                f"{rows:>7,} rows a call: here {1e6 * mine:10.1f} us, behind the wall {1e6 * theirs:10.1f} us, "
                f"{1e6 * more:+9.1f} us, {100 * more / mine:+6.1f} %, {1e9 * more / rows:+9.1f} ns a row"
            )
        smallest = [(cell(supervisor, "spm", "shallow:D=2,m=1,activation=relu"), seconds(bare)) for _ in range(count)]
        cells, forks = (median(column) for column in zip(*smallest, strict=True))
        print(f"a cell {cells:.4f} s, a bare fork {forks:.4f} s, difference {cells - forks:.4f} s")


METHODS = {"stopwatch": Stopwatch}

if __name__ == "__main__":
    main()
