"""What every method would ask of a GPU: kernels, waits and copies a cell, counted on the simulated device.

python -m benchmarks.side_by_side.device_traffic [--methods spm kinks] [--lines 5]     from the root of the repository

A wait is a value that the host needs before it goes on; kernels are queued. `--lines` names the busiest ones.
"""

import argparse
import collections
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests import on_two_devices, simulated_device
from tests.contract_pairs import PAIRS, play

ROOT = Path(__file__).parents[2]


class Asked(NamedTuple):
    """What one cell asked of the device."""

    method: str
    task: str
    traffic: simulated_device.Traffic


def cells(methods: list[str]) -> Iterator[Asked]:
    """Every pair of the contract tests whose method has one of the names."""
    for method, task in PAIRS:
        if not methods or method.partition(":")[0] in methods:
            with simulated_device.listening(ROOT) as traffic:
                play(method, task, device="cuda")
            yield Asked(method, task, traffic)


def row(asked: Asked) -> str:
    """A line of the table."""
    t = asked.traffic
    counts = (t.kernels.total(), t.waits.total(), t.uploads.total(), t.bytes_up, t.bytes_down)
    return f"| {asked.method} | {asked.task} | {' | '.join(f'{c:,}' for c in counts)} |"


def busiest(places: collections.Counter[tuple[str, str]], most: int) -> Iterator[str]:
    """The lines that ask most often."""
    for (line, what), count in places.most_common(most):
        yield f"    {count:>8,}  {line}  {what}"


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="the N lines with most waits and uploads")
    options = parser.parse_args(arguments)
    on_two_devices.begin()
    print("| method | task | kernels | waits | uploads | bytes up | bytes down |\n|---|---|---|---|---|---|---|")
    for asked in cells(options.methods):
        print(row(asked), flush=True)
        for places in (asked.traffic.waits, asked.traffic.uploads):
            print(*busiest(places, options.lines), sep="\n", end="\n" if options.lines else "")


if __name__ == "__main__":
    main()
