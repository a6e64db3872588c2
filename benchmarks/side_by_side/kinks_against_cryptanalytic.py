"""The published extraction of ReLU networks and ours, before the same teachers in turns: queries, seconds and bits.

Both run in this process, on one thread unless told otherwise, and which of them is first changes with the seed. A
network counts where the judge identifies it; medians are over the seeds where both do, seconds without judging.

python benchmarks/side_by_side/kinks_against_cryptanalytic.py [--tasks D=10,widths=4 …] [--first 100] [--seeds 5]
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import torch

from paramid import GiveUp, Network, Run
from paramid.contracts import registry
from paramid.oracle.counting import CountingOracle

SIDES = ("kinks", "cryptanalytic")
TASKS = ("D=10,widths=4", "D=20,widths=10", "D=10,widths=5-5")
COSTS = ("queries", "seconds", "bits")


@dataclass(frozen=True)
class Outcome:
    """What one method did before one teacher."""

    identified: bool
    queries: float
    seconds: float
    bits: float
    reason: str = ""


def outcome(name: str, options: str, seed: int) -> Outcome:
    """Of one method before the teacher of that seed."""
    task, method = registry.task(f"relu:{options}"), registry.method(name)
    teacher, run = task.draw(seed), Run.seeded(seed)
    oracle = CountingOracle(teacher, task.spec, access=method.access, seed=seed, device=run.device)
    last, reason = None, ""
    begin = time.perf_counter()
    try:
        for claim in method.identify(oracle, run):
            last = claim
    except GiveUp as error:
        reason = str(error)
    seconds = time.perf_counter() - begin
    if not isinstance(last, Network):
        return Outcome(False, oracle.usage.queries, seconds, 0.0, reason)
    metrics = task.judge(last, teacher)
    reason = "" if metrics["identified"] else "a wrong network"
    return Outcome(bool(metrics["identified"]), oracle.usage.queries, seconds, metrics["bits"], reason)


def compared(options: str, seeds: Sequence[int], methods: Sequence[str]) -> None:
    """Print both before the teachers of those seeds."""
    told = dict[str, list[Outcome]]({name: [] for name in methods})
    for seed in seeds:
        for name in methods if seed % 2 else methods[::-1]:
            told[name].append(outcome(name, options, seed))
    both = [place for place in range(len(seeds)) if all(told[name][place].identified for name in methods)]
    print(f"relu:{options}, seeds {seeds[0]} to {seeds[-1]}: {len(both)} of {len(seeds)} identified by both")
    middle = dict[str, list[float]]()
    for name in methods:
        middle[name] = [median(getattr(told[name][place], cost) for place in both or [0]) for cost in COSTS]
        found = sum(made.identified for made in told[name])
        queries, seconds, bits = middle[name]
        print(f"  {name:<24} {found} of {len(seeds)}   {queries:>9,.0f} queries {seconds:8.2f} s {bits:6.1f} bits")
    ours, other = (middle[name] for name in methods)
    ratios = f"{other[0] / ours[0]:.1f} times the queries and {other[1] / ours[1]:.1f} times the seconds"
    print(f"  {methods[1]} takes {ratios} of {methods[0]}, for {other[2] - ours[2]:+.1f} bits")
    for name in methods:
        for seed, made in zip(seeds, told[name], strict=True):
            if made.reason:
                print(f"    {name}, seed {seed}: {made.reason}; {made.queries:,} queries, {made.seconds:.1f} s")


def main(arguments: list[str] | None = None) -> None:
    """Print every task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=TASKS, help="options of the task relu")
    parser.add_argument("--methods", nargs=2, default=SIDES)
    for name, value in (("first", 100), ("seeds", 5), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    outcome(given.methods[0], "D=5,widths=3", 0)  # what is imported on first use is not timed
    outcome(given.methods[1], "D=5,widths=3", 0)
    for options in given.tasks:
        compared(options, range(given.first, given.first + given.seeds), tuple(given.methods))


if __name__ == "__main__":
    main()
