"""The board of 50 000 records, of 50 methods before 100 tasks with ten seeds each: seconds to read, rank and write it.

python benchmarks/side_by_side/board_build.py [--methods 50] [--out FOLDER]     the folder keeps the site, to look at
"""

import argparse
import hashlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, pairwise, product
from pathlib import Path

from paramid.board import site
from paramid.board.summary import Summary
from paramid.records.publications import published
from paramid.records.record import Record

PUBLISHED = Path(__file__).parents[2] / published.FOLDER
TASKS = [f"shallow:D={d},m={m}" for d in range(5, 25) for m in range(1, 6)]
SEEDS = 10


def records(methods: int) -> Iterator[Record]:
    """What was published, over and over, under other names."""
    cells = product(range(methods), TASKS, range(SEEDS))
    for (method, task, seed), r in zip(cells, cycle(published.read(PUBLISHED).records.values()), strict=False):
        yield replace(
            r,
            key=hashlib.sha256(f"{method}-{task}-{seed}".encode()).hexdigest()[:24],
            method=f"m{method}",
            task=task,
            seed=seed,
            device="cpu",
        )


def main(arguments: list[str] | None = None) -> None:
    """Print the seconds of each part, and how large the site is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", type=int, default=50)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        published.publish(list(records(options.methods)), Path(scratch), "made")
        times = [time.perf_counter()]
        found = published.read(scratch).records.values()
        times.append(time.perf_counter())
        summary = Summary(found)
        times.append(time.perf_counter())
        made = site.build(summary)
        site.write(made, options.out or Path(scratch) / "site")
        times.append(time.perf_counter())
    read, ranked, written = (after - before for before, after in pairwise(times))
    print(f"{len(found):,} records: read {read:.1f} s, ranked {ranked:.1f} s, written {written:.1f} s;", end=" ")
    print(f"{times[-1] - times[0]:.1f} s in all, {sum(map(len, made.values())) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
