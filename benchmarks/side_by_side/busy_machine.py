"""What a run costs beside as many spinning processes as there are cores, against the same run on the idle machine.

Idle and busy runs in turns, medians of their seconds, on one thread and on two; and on two threads that wait as OpenMP
has them wait by itself, which is why `--threads` gives them a short spin.

python benchmarks/side_by_side/busy_machine.py [--rounds 3] [--own-spin]
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from paramid.records.machine import cores

WORDS = ("run", "sphere-lm", "shallow:D=30,m=360", "--json")
OWN = "30000000000"  # turns, where nobody says otherwise
LONGEST = 400.0  # seconds of a run that waits


def seconds(threads: int, spin: str | None) -> float:
    """The method's seconds in one run of the command line."""
    environment = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    if spin is not None:
        environment["GOMP_SPINCOUNT"] = spin
    command = [sys.executable, "-m", "paramid", *WORDS, "--threads", str(threads), "--time-limit", str(LONGEST)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=environment)
    record = json.loads(done.stdout)
    return float(record["seconds"])


@contextmanager
def busy() -> Iterator[None]:
    """As many spinning processes as there are cores."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores())]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def measure(threads: int, rounds: int, spin: str | None) -> tuple[float, float]:
    """The median seconds idle and busy."""
    idle, beside = [], []
    for _ in range(rounds):
        idle.append(seconds(threads, spin))
        with busy():
            beside.append(seconds(threads, spin))
    return median(idle), median(beside)


def main() -> None:
    """Print a line for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind (default: 3)")
    parser.add_argument("--own-spin", action="store_true", help="also with OpenMP's own way of waiting: minutes")
    given = parser.parse_args()
    kinds = [(1, None, ""), (2, None, ""), *([(2, OWN, ", OpenMP's own spin")] if given.own_spin else [])]
    for threads, spin, told in kinds:
        idle, beside = measure(threads, given.rounds, spin)
        print(f"{threads} threads{told}: idle {idle:.2f} s, busy {beside:.2f} s, {beside / idle:.2f} times", flush=True)


if __name__ == "__main__":
    main()
