"""What a supervised cell costs beyond a bare forked child: medians of 50 of each, in turns.

python benchmarks/side_by_side/cell_overhead.py
"""

import os
import time
from statistics import median

from paramid.running.cell import plan_cell
from paramid.running.supervisor import Supervisor

COUNT = 50


def supervised(server: Supervisor) -> float:
    """Seconds from asking for a trivial cell to its record."""
    planned = plan_cell("truth", "shallow:D=2,m=1", seed=0, judge_inputs=1)
    begin = time.perf_counter()
    server.run(planned, "key", {})
    return time.perf_counter() - begin


def bare() -> float:
    """Seconds for a fork of a process with torch in it, and its end."""
    begin = time.perf_counter()
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return time.perf_counter() - begin


def main() -> None:
    """Print both medians and their difference."""
    with Supervisor(threads=1) as server:
        supervised(server)
        pairs = [(supervised(server), bare()) for _ in range(COUNT)]
    cells, forks = (median(column) for column in zip(*pairs, strict=True))
    print(f"supervised cell {cells:.4f} s, bare fork {forks:.4f} s, difference {cells - forks:.4f} s")


if __name__ == "__main__":
    main()
