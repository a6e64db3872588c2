"""How the time of every kernel grows with its size, against the power that counting its products gives.

python -m benchmarks.growth [--results DIR/MACHINE] [--tolerance 0.4]

Times of the newest commit among ASV's results, or, without --results, the best of a few calls here and now.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks import kernels

CALLS = 5
Times = dict[str, dict[float, float]]  # kernel -> size -> seconds


def every() -> dict[str, type[kernels.Kernel]]:
    """The kernels by name."""
    made = {n: k for n, k in vars(kernels).items() if isinstance(k, type) and issubclass(k, kernels.Kernel)}
    return {name: kernel for name, kernel in made.items() if kernel is not kernels.Kernel}


def timed(chosen: Mapping[str, type[kernels.Kernel]]) -> Times:
    """The best of a few calls of every kernel, on the CPU."""
    return {name: {float(size): best(kernel(), size) for size in kernel.params[0]} for name, kernel in chosen.items()}


def best(kernel: kernels.Kernel, size: int) -> float:
    """Seconds of the fastest call, the first being a warm-up."""
    kernel.setup(size, "cpu")
    try:
        kernel.time_kernel(size, "cpu")
        seconds = []
        for _ in range(CALLS):
            begin = time.perf_counter()
            kernel.time_kernel(size, "cpu")
            seconds.append(time.perf_counter() - begin)
    finally:
        kernel.teardown(size, "cpu")
    return min(seconds)


def recorded(folder: Path) -> Times:
    """The CPU's times of the newest commit that has any; `folder` is a machine's."""
    from paramid.statistics import asv_results

    for commit in reversed([c for c in asv_results.read(folder.parent) if c.machine == folder.name]):
        made: Times = {}
        for k, seconds in commit.values.items():
            size, _, device = k.line.partition(", ")
            if k.quantity == "time" and device == "cpu" and math.isfinite(seconds):
                made.setdefault(k.subject, {})[float(size)] = seconds
        if made:
            return made
    return {}


def report(times: Times, powers: Mapping[str, float], tolerance: float) -> str:
    """A line for every kernel, and those that are off."""
    from paramid.pictures.scaling import exponent

    lines, off = [], []
    for name, power in powers.items():
        if len(seconds := times.get(name, {})) < 2:
            lines.append(f"{name:<18} not timed")
            continue
        found = exponent(seconds)
        shown = "  ".join(f"{size:g}: {1e3 * s:.3g} ms" for size, s in sorted(seconds.items()))
        lines.append(f"{name:<18} grows with power {found:.2f}, expected {power:g}   ({shown})")
        off += [name] if abs(found - power) > tolerance else []
    return "\n".join([*lines, f"off by more than {tolerance:g}: {', '.join(off) or 'none'}"])


def main(words: list[str] | None = None) -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="default: all")
    parser.add_argument("--results", type=Path, help="a machine's folder of ASV results")
    parser.add_argument("--tolerance", type=float, default=0.4)
    options = parser.parse_args(words)
    chosen = {name: kernel for name, kernel in every().items() if name in (options.kernels or every())}
    times = timed(chosen) if options.results is None else recorded(options.results)
    print(report(times, {name: kernel.power for name, kernel in chosen.items()}, options.tolerance))


if __name__ == "__main__":
    main()
