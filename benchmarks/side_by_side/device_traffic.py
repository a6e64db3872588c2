"""What every method would ask of a GPU: kernels, waits and copies a cell, counted on the simulated device.

python -m benchmarks.side_by_side.device_traffic [--methods spm kinks] [--lines 5] [--page]     from the root

A wait is a value that the host needs before it goes on; kernels are queued. `--lines` names the busiest lines, `--page`
writes docs/gpu.md, from small cells and larger ones.
"""

import argparse
import collections
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests import on_two_devices, simulated_device
from tests.contract_pairs import PAIRS, play

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gpu.md"
LAUNCH, WAIT = 5e-6, 20e-6  # seconds that a kernel and a wait take at least, as is usual of GPUs: not measured here
HOSTS = ("kinks", "cryptanalytic", "boundary-bends")  # methods that compute in numpy
LARGER = [
    ("spm", "shallow:D=30,beta=1.5"),
    ("spectral-norm", "shallow:D=20,m=40"),
    ("sphere-lm", "shallow:D=30,m=300"),
    ("far-lines", "shallow:D=20,m=60,outer=free"),
    ("hermite-fused", "biased-relu:D=20,m=10,N=200000"),
    ("sgd", "shallow:D=20,m=40"),
    ("student", "shallow:D=10,m=20"),
    ("peel", "pyramid:D=20,widths=12-8-4"),
    ("entangled-gauge", "pyramid:D=20,widths=12-8-4"),
    ("kinks", "relu:D=40,widths=20"),
    ("overparam-gd", "quadratic:D=20,k=10"),
    ("densenet-lm", "hierarchy"),
    ("threshold-correlation", "threshold:D=10,m=10,t=2.5,N=200000"),
    ("kernel:N=2000", "hierarchy"),
]


class Asked(NamedTuple):
    """What one cell asked of the device, and the seconds of a processor that it takes without one."""

    method: str
    task: str
    traffic: simulated_device.Traffic
    seconds: float

    @property
    def least(self) -> float:
        """The seconds that launches and waits alone take on a GPU."""
        return LAUNCH * self.traffic.kernels.total() + WAIT * self.traffic.waits.total()


def asked(pairs: Iterable[tuple[str, str]]) -> Iterator[Asked]:
    """The cells, one after the other."""
    for method, task in pairs:
        began = time.process_time()
        play(method, task)
        seconds = time.process_time() - began
        with simulated_device.listening(ROOT) as traffic:
            play(method, task, device="cuda")
        yield Asked(method, task, traffic, seconds)


HEAD = (
    "| method | task | kernels | waits | uploads | MB up | MB down | seconds here | launches and waits | at most |",
    f"|{'---|' * 10}",
)


def row(cell: Asked) -> str:
    """A line of the table."""
    t = cell.traffic
    counts = " | ".join(f"{c.total():,}" for c in (t.kernels, t.waits, t.uploads))
    moved = " | ".join(f"{b / 1e6:.2g}" for b in (t.bytes_up, t.bytes_down))
    times = f"{cell.seconds:.2g} | {cell.least:.2g} | {cell.seconds / cell.least:.2g} times"
    return f"| {cell.method} | {cell.task} | {counts} | {moved} | {times} |"


def busiest(places: collections.Counter[tuple[str, str]], most: int) -> Iterator[str]:
    """The lines that ask most often."""
    for (line, what), count in places.most_common(most):
        yield f"    {count:>8,}  {line}  {what}"


PAGE_TEXT = """# On a GPU

*Written by `python -m benchmarks.side_by_side.device_traffic --page`; change that script, not this page.*

`--device cuda` puts every tensor of a run on the GPU; the teacher is drawn and claims are judged on the CPU, with the
same numbers. **No second on a real GPU was measured by us.** What is known comes from a device that
`tests/simulated_device.py` makes of the CPU: its tensors obey CUDA's rules (nothing of the CPU among them, its own
generators, only kernels that CUDA has), and every method claims the CPU's bits on it. Under another machine's rounding,
with last bits off and eigenvectors turned around, every method ends with the same status and verdict. The tests marked
`gpu` ask that of a real one: `python -m pytest -m gpu`.

What it does not show: speed, memory of the device, how CUDA's solvers converge, what is asynchronous.

## What a cell asks of the device

A kernel takes at least some {launch:g} µs to launch, and a wait for a value {wait:g} µs. Their sum, *launches and
waits* in seconds, is what no GPU goes below. *Seconds here* are of one core; their ratio is how many times quicker a
GPU could be *at most*, if its kernels took no time. Below 1 it is slower.

### Small cells, those of the tests

{small}

### Larger ones

{larger}

## Who would gain

Of the small cells of methods that compute on the device {small_gains} of {small_count} could gain anything: the others
are bound by launches. Of the larger ones {gains} of {count} could be more than twice as quick:
{who}.
What has as many kernels at any size, and more work in each, gains with size.

{hosts} compute in numpy on the CPU, wherever the teacher is: a GPU would answer their queries and no more, and their
ratios above say nothing. What goes through neurons one by one (`far-lines`, `peel`) has more kernels with size.

## Behind the wall

A method's process holds its tensors on the device; the teacher is in another process, on the CPU. Points of a query go
from the device to the CPU, which is a wait, through a pipe and back, and values up to the device again.
`python -m benchmarks.side_by_side.wall` measures the pipe. The oracle looks once at the points of every query, to
refuse what is no number: that is one more wait, and counted above.
"""


def page(small: list[Asked], larger: list[Asked]) -> str:
    """docs/gpu.md."""
    mine = [cell for cell in larger if cell.method not in HOSTS]
    gains = [cell for cell in mine if cell.seconds > 2 * cell.least]
    told = (f"`{c.method}` before `{c.task}` ({c.seconds / c.least:.2g} times at most)" for c in gains)
    return PAGE_TEXT.format(
        launch=LAUNCH * 1e6,
        wait=WAIT * 1e6,
        small="\n".join([*HEAD, *map(row, small)]),
        larger="\n".join([*HEAD, *map(row, larger)]),
        small_gains=sum(c.seconds > c.least for c in small if c.method not in HOSTS),
        small_count=sum(c.method not in HOSTS for c in small),
        gains=len(gains),
        count=len(mine),
        who=",\n".join(told) or "none",
        hosts=", ".join(f"`{name}`" for name in HOSTS),
    )


def main(arguments: list[str] | None = None) -> None:
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="the N lines with most waits and uploads")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    on_two_devices.begin()
    if options.page:
        PAGE.write_text(page(list(asked(PAIRS)), list(asked(LARGER))))
        return
    print(*HEAD, sep="\n")
    for cell in asked(p for p in PAIRS if not options.methods or p[0].partition(":")[0] in options.methods):
        print(row(cell), flush=True)
        for places in (cell.traffic.waits, cell.traffic.uploads):
            print(*busiest(places, options.lines), sep="\n", end="\n" if options.lines else "")


if __name__ == "__main__":
    main()
