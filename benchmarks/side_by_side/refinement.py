"""Joint refinement alone: from parameters that are off by a tenth to rounding, from parameters off by 1 to a refusal.

python benchmarks/side_by_side/refinement.py [--D 30] [--m 360] [--threads 1]
"""

import argparse
import time
from collections import deque

import torch

from paramid import Access, GiveUp, Network, Run, task
from paramid.judging.aligned_networks import score_network
from paramid.methods.refinement import joint_refinement
from paramid.oracle.counting import CountingOracle


def off(teacher: Network, size: float, run: Run) -> Network:
    """Every weight vector off by `size`, in a random direction, and every shift by `size` either way."""
    (w, a), b = teacher.weights, teacher.biases[0]
    sign = run.normal(1, len(b))[0].sign()
    moved = w + size * run.sphere(len(b), len(w)).T
    return Network.shallow(moved / moved.norm(dim=0), b + size * sign, teacher.activations[0], a[:, 0])


def refined(name: str, size: float, seed: int) -> None:
    """Print what comes of it."""
    shallow, run = task(name), Run.seeded(seed)
    teacher = shallow.draw(seed)
    oracle = CountingOracle(teacher, shallow.spec, access=frozenset({Access.QUERIES}), seed=seed, device=run.device)
    rough, refusal = off(teacher, size, run), ""
    claims: deque[Network] = deque(maxlen=2)
    begin = time.perf_counter()
    try:
        claims.extend(joint_refinement.refine(oracle, rough, run=run))
    except GiveUp as reason:
        refusal = str(reason)
    seconds = time.perf_counter() - begin
    steps = max((int(c.stats.get("steps", 0)) for c in claims), default=0)
    print(f"off by {size:g}: {steps} steps, {oracle.usage.queries:,} queries, {seconds:.1f} s")
    if refusal:
        print(f"  gave up: {refusal}")
    else:
        scores = score_network(teacher, claims[-1])
        print(f"  weights right to {scores['weight_error']:.1e}, shifts to {scores['bias_error_max']:.1e}")


def main(arguments: list[str] | None = None) -> None:
    """Print both cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("D", 30), ("m", 360), ("threads", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    for size in (0.1, 1.0):
        refined(f"shallow:D={given.D},m={given.m}", size, given.seed)


if __name__ == "__main__":
    main()
