"""Rank-one directions of one span: the descents of `sphere-lm` and the ascents of `spm`, from the same starts in turns.

The span is what `sphere-lm`'s lattices see of a random teacher, and both sides get the same projector. A direction
counts once, where an end comes within 1e-2 of a teacher's weight vector. Times are those of the search alone: the span
costs both the same.

python benchmarks/side_by_side/directions.py [--D 50] [--m 1000] [--starts 400] [--spm-starts 400] [--threads 1]
"""

import argparse
import math
import time
from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from paramid import Run, task
from paramid.methods.spans import power_ascent, sphere_search
from paramid.methods.spans.subspace import Projector
from paramid.methods.sphere_lm import SphereLM
from paramid.methods.spm import SubspacePowerMethod
from paramid.oracle.counting import CountingOracle

CLOSE = 1e-2
SHARE = 50  # starts in a turn
LM, SPM = SphereLM(), SubspacePowerMethod()


@dataclass
class Side:
    """What one side did: ends, starts and seconds so far."""

    name: str
    ends: Tensor
    starts: int = 0
    seconds: float = 0.0

    def add(self, ends: Tensor, starts: int, seconds: float) -> None:
        """Take one more turn into account."""
        self.ends, self.starts, self.seconds = (
            torch.cat([self.ends, ends]),
            self.starts + starts,
            self.seconds + seconds,
        )

    def rate(self, w: Tensor) -> float:
        """Distinct true directions a second."""
        return distinct_true(self.ends, w) / self.seconds

    def told(self, w: Tensor) -> str:
        """One line of it."""
        return (
            f"{self.name}: {self.starts} starts in {self.seconds:.2f} s, {distinct_true(self.ends, w)} distinct true"
            f" directions, {self.rate(w):.3g} a second"
        )


def distinct_true(ends: Tensor, w: Tensor) -> int:
    """How many unit columns of `w` some row of `ends` comes close to, up to sign."""
    return int((2 - 2 * (ends @ w).abs() < CLOSE**2).any(0).sum()) if len(ends) else 0


def ascents(p: Projector, u: Tensor, threshold: float) -> Tensor:
    """Where `spm` ends from the rows of `u`, as far as it accepts them."""
    ends = power_ascent.ascend(p, u, step=SPM.step, steps=SPM.steps, tol=SPM.tol)
    return ends[p.energy(ends) > threshold]


def compare(p: Projector, u: Tensor, spm_starts: int, *, accept: float, threshold: float) -> tuple[Side, Side]:
    """Both sides from the rows of `u`, the second from the first `spm_starts` of them."""
    lm, spm = Side("sphere-lm", u[:0]), Side("spm      ", u[:0])
    for number, (one, two) in enumerate(zip_longest(u.split(SHARE), u[:spm_starts].split(SHARE)), 1):
        begin = time.perf_counter()
        ends, _ = sphere_search.visited(p, u[:0], one, accept=accept, steps=LM.steps)
        lm.add(ends, len(one), time.perf_counter() - begin)
        if two is not None and len(two):
            begin = time.perf_counter()
            spm.add(ascents(p, two, threshold), len(two), time.perf_counter() - begin)
        print(f"  turn {number}: {lm.seconds:.2f} s and {spm.seconds:.2f} s so far", flush=True)
    return lm, spm


def main(arguments: list[str] | None = None) -> None:
    """Print both rates, the times to all directions, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("D", 50), ("m", 1000), ("starts", 400), ("threads", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--spm-starts", type=int, help="fewer than --starts, where time is short")
    given = parser.parse_args(arguments)
    d, m, count = given.D, given.m, min(given.spm_starts or given.starts, given.starts)
    torch.set_num_threads(given.threads)
    shallow, run = task(f"shallow:D={d},m={m}"), Run.seeded(given.seed)
    teacher = shallow.draw(given.seed)
    oracle = CountingOracle(teacher, shallow.spec, access=LM.access, seed=given.seed, device=run.device)
    spectrum, _ = LM.spanned(oracle, run)
    p, gap, basis, w = spectrum.projector(m, d), spectrum.gap(m), spectrum.basis(m), teacher.weights[0]
    print(f"D={d} m={m}, {given.threads} thread(s), a span with gap {gap:.0f}: {len(p.matrices)} matrices in P")
    threshold = 0.99 if m >= 0.4 * d * d else 0.9  # the method's own rule
    accept = sphere_search.acceptance(gap, p)
    lm, spm = compare(p, run.sphere(given.starts, d), count, accept=accept, threshold=threshold)
    begin = time.perf_counter()
    found = sphere_search.search(p, basis, m, run, gap=gap, batch=LM.batch, steps=LM.steps)
    seconds = time.perf_counter() - begin
    print(lm.told(w), spm.told(w), sep="\n")
    ratio = lm.rate(w) / spm.rate(w) if spm.rate(w) else math.inf
    print(f"true directions a second: {ratio:.1f} times as many (bar: 8)")
    right = distinct_true(found.directions, w)
    print(f"sphere-lm: {right} of {m} directions in {seconds:.2f} s, measured, from {found.starts} starts")
    needed = math.ceil(5 * m * math.log(max(d, 2)))
    total = needed * spm.seconds / spm.starts
    print(f"spm      : ⌈5 m ln D⌉ = {needed} starts would take {total:.0f} s, EXTRAPOLATED from {spm.starts} of them")
    print(f"all directions: {total / seconds:.1f} times as fast (bar: 30)")


if __name__ == "__main__":
    main()
