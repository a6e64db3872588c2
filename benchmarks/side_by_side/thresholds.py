"""One unit of a union of halfspaces from an angle of 0.1: the search for its angle beside the fit of its plane.

python benchmarks/side_by_side/thresholds.py [--D 5] [--t 2.5] [--iterations 300] [--threads 1]
"""

import argparse
import math
import time

import torch
from torch import Tensor

from paramid import Access, Run, run, task
from paramid.methods.thresholds import angle_search, boundary_planes
from paramid.oracle.counting import CountingOracle


def tilted(w: Tensor, angle: float, randomness: Run) -> Tensor:
    """A unit vector at that angle from w."""
    v = randomness.normal(1, len(w))[0]
    v = v - (v @ w) * w
    return math.cos(angle) * w + math.sin(angle) * v / v.norm()


def gap(found: Tensor, w: Tensor) -> str:
    """The angle between unit vectors."""
    return f"{2 * math.asin(min(1.0, float((found - w).norm()) / 2)):.1e}"


def main(arguments: list[str] | None = None) -> None:
    """Print both, and the method that needs no start."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("D", 5), ("t", 2.5), ("iterations", 300), ("offsets", 200), ("threads", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=type(value), default=value)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    name = f"threshold:D={given.D},m={given.D},t={given.t}"
    family, randomness = task(name), Run.seeded(given.seed)
    teacher = family.draw(given.seed)
    w = teacher.columns[:, 0]
    z = tilted(w, 0.1, randomness)

    def oracle() -> CountingOracle:
        access = frozenset({Access.QUERIES})
        return CountingOracle(teacher, family.spec, access=access, seed=given.seed, device=randomness.device)

    counted, begin = oracle(), time.perf_counter()
    fired = angle_search.firing(counted, randomness)
    tangents = angle_search.crossing_tangents(fired, randomness, d=given.D, offsets=given.offsets, reach=given.t + 3)
    end = angle_search.refine_estimate(tangents, z, randomness, iterations=given.iterations, tolerance=1e-3)
    spent = counted.usage.queries
    print(f"RefineEstimate: 0.1 -> {gap(end.direction, w)} in {end.iterations} iterations, {spent:,} queries, "
          f"{time.perf_counter() - begin:.2f} s")  # fmt: skip
    counted, begin = oracle(), time.perf_counter()
    fired = angle_search.firing(counted, randomness)
    point, direction = boundary_planes.first_changes(fired, z[None], given.t + 3)
    normal = boundary_planes.plane_at(fired, point[0], direction[0], randomness)
    mine = counted.usage.queries
    told = "no plane" if normal is None else gap(normal, w)
    print(
        f"plane: 0.1 -> {told}, {mine:,} queries, {time.perf_counter() - begin:.2f} s: {spent / mine:.0f} times fewer"
    )
    record = run("threshold-boundary", name, seed=given.seed, throw=True, judge_inputs=1000)
    print(f"threshold-boundary: all {given.D} units and P from nothing, {record.metrics['angle_error']:.1e}, "
          f"{record.queries:,} queries")  # fmt: skip


if __name__ == "__main__":
    main()
