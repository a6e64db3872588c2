"""Sums of biased ReLUs from the same number of samples: hermite-fused, CP-ALS and SGD on a few sizes.

python benchmarks/side_by_side/hermite_methods.py [--sizes 5x3 5x5 8x4 10x5 8x8 15x5] [--N 50000] [--seeds 2]
"""

import argparse
import math
from statistics import median

import torch

import paramid
from paramid import Record

SIZES = ("5x3", "5x5", "8x4", "10x5", "8x8", "15x5")


def methods(rows: int, steps: int) -> dict[str, str]:
    """The three, asking for as many samples as are granted."""
    return {
        "hermite-fused": "hermite-fused",
        "cp-als": "cp-als:control=2,starts=2,iterations=300",
        "sgd": f"sgd:optimizer=adam,N={rows},steps={steps}",
    }


def error(records: list[Record]) -> float:
    """The median error of a parameter, of the last network claimed."""
    found = [[c.metrics["error"] for c in r.claims if "error" in c.metrics] for r in records]
    return median(errors[-1] if errors else math.inf for errors in found)


def right(records: list[Record]) -> int:
    """How many are identified."""
    return sum(r.metrics.get("identified") == 1 for r in records)


def wrong(records: list[Record]) -> int:
    """How many let another network stand as their answer."""
    standing = [r for r in records if r.status is paramid.Status.FINISHED and r.claims[-1].kind == "Network"]
    return sum(r.metrics["identified"] != 1 for r in standing)


def row(records: list[Record]) -> str:
    """Error, seconds, how many are identified, how many are wrong and stand."""
    seconds = median(r.seconds for r in records)
    return f"{error(records):8.1e} {seconds:6.1f} s {right(records)}/{len(records)} right {wrong(records)} wrong"


def main(arguments: list[str] | None = None) -> None:
    """Print a row for every size and method, and who is ahead where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="DxM")
    for name, value in (("N", 50_000), ("seeds", 2), ("steps", 20_000), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    exact: dict[str, list[str]] = {}
    fast: dict[str, list[str]] = {}
    for size in given.sizes:
        d, m = size.split("x")
        task = f"biased-relu:D={d},m={m},s_min=0.2,N={given.N}"
        made = {}
        for name, method in methods(given.N, given.steps).items():
            made[name] = [paramid.run(method, task, seed=s, throw=True) for s in range(given.seeds)]
            print(f"{size:>6} {name:<14} {row(made[name])}", flush=True)
        exact.setdefault(min(made, key=lambda name: error(made[name])), []).append(size)
        most = max(map(right, made.values()))
        able = [name for name in made if right(made[name]) == most > 0]
        if able:
            quickest = min(able, key=lambda name: median(r.seconds for r in made[name]))
            fast.setdefault(quickest, []).append(size)
    for about, ahead in (("most exact", exact), ("quickest of those right most often", fast)):
        print(f"{about}: " + "; ".join(f"{name} on {', '.join(sizes)}" for name, sizes in ahead.items()))


if __name__ == "__main__":
    main()
