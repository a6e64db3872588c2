"""The ground of the public subspace power method: a span of random rank-ones that is given exactly, in turns.

Both sides start from the same uniform points, as many as the search needs to find all. `spm`'s ascents run until they
move by less than 1e-12, or for 1000 steps.

python benchmarks/side_by_side/rank_ones.py [--D 30] [--m 300] [--threads 1]
"""

import argparse
import time

import torch
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import score_directions, span_of_squares
from paramid.methods.spans import power_ascent, sphere_search, subspace
from paramid.methods.spans.subspace import Projector
from paramid.methods.sphere_lm import SphereLM
from paramid.methods.spm import SubspacePowerMethod

SHARE = 50  # starts in a turn
LM, SPM = SphereLM(), SubspacePowerMethod()


def compare(p: Projector, u: Tensor, *, accept: float) -> tuple[float, float, Tensor]:
    """Seconds of descents and of ascents from the rows of `u`, and Φ at the ends of the ascents."""
    descending, ascending, energies = 0.0, 0.0, []
    for rows in u.split(SHARE):
        times = [time.perf_counter()]
        sphere_search.visited(p, u[:0], rows, accept=accept, steps=LM.steps)
        times.append(time.perf_counter())
        ends = power_ascent.ascend(p, rows, step=SPM.step, steps=SPM.steps, tol=SPM.tol)
        times.append(time.perf_counter())
        descending, ascending = descending + times[1] - times[0], ascending + times[2] - times[1]
        energies.append(p.energy(ends))
    return descending, ascending, torch.cat(energies)


def main(arguments: list[str] | None = None) -> None:
    """Print the error of all directions, and both times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("D", 30), ("m", 300), ("threads", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args(arguments)
    d, m, run = given.D, given.m, Run.seeded(given.seed)
    torch.set_num_threads(given.threads)
    w = run.sphere(m, d).T
    span = subspace.leading_span(span_of_squares(w).T, m, d)
    p = span.projector()
    begin = time.perf_counter()
    found = sphere_search.search(p, span.basis, m, run, gap=span.gap, batch=LM.batch, steps=LM.steps)
    seconds = time.perf_counter() - begin
    error = score_directions(w, found.directions.T)["weight_error"]
    print(f"d={d}, {m} rank-ones, {given.threads} thread(s)")
    print(f"sphere-lm: {len(found.directions)} of {m}, from {found.starts} starts in {seconds:.2f} s")
    print(f"largest error of a direction: {error:.1e} (bar: 1e-13)")
    lm, spm, energies = compare(p, run.sphere(found.starts, d), accept=sphere_search.acceptance(span.gap, p))
    print(f"{found.starts} uniform starts: descents {lm:.2f} s, ascents {spm:.2f} s")
    print(f"ascents that arrived: {(energies > 1 - 1e-9).double().mean():.0%} at a rank-one to 1e-9")
    print(f"descents in {lm / spm:.3f} of the time (bar: 0.2)")


if __name__ == "__main__":
    main()
