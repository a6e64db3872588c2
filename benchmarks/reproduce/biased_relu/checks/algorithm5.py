"""Algorithms 4 and 5 from samples where no suite has them: all parameters beside large biases, and l = 2.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Theorems 3.2 and 5.1, Corollary 3.3.
"""

from collections.abc import Mapping
from functools import cache
from statistics import median
from typing import NamedTuple

from torch import Tensor

from benchmarks.reproduce.biased_relu.checks.checked import Checked, empty_from
from benchmarks.reproduce.biased_relu.checks.large_biases import LARGE
from benchmarks.reproduce.biased_relu.records import STEEP, law
from paramid import Run
from paramid.methods.hermite.affine_part import consolidated
from paramid.methods.hermite.moment_estimates import PRINTED
from paramid.methods.relu_regression import ReluRegression, regressed
from paramid.tasks import relu_units
from paramid.tasks.biased_relu import BiasedRelu, ReluNetwork

ROWS = (100_000, 300_000, 1_000_000)
CHUNK = 50_000
OURS = 2  # the degree of the regression taken off first
MANY = BiasedRelu(D=4, m=6, s_min=0.2)
PERTURBED = BiasedRelu(D=4, m=6, weights="smoothed", tau=0.4)


class Answer(NamedTuple):
    """‖w - w̃‖ + |a - ã| + |b - b̃| but for signs of the worst unit that bends, what g misses of f, and g's units."""

    parameters: float
    missed: float
    units: int


def answer(task: BiasedRelu, order: int, control: int, rows: int, seed: int) -> Answer:
    """Algorithm 4 on the first half of the samples, least squares on the second."""
    f, run, method = task.draw(seed), Run.seeded(seed), ReluRegression(order=order, control=control)
    first, second, fresh = (drawn(f, n, run) for n in (rows // 2, rows // 2, 10_000))
    moments = method.estimated(first)
    units = method.network(moments, method.directions(moments, task.spec, run), task.spec, run)
    g = consolidated(*regressed(second, units, affine=True))
    [(x, y)] = fresh
    off = relu_units.score(f, units)["parameter_error_unsigned"]
    return Answer(off, float((g(x) - y).square().mean().sqrt()), g.widths[0])


def drawn(f: ReluNetwork, rows: int, run: Run) -> list[tuple[Tensor, Tensor]]:
    """Samples in chunks."""
    inputs = [run.normal(min(CHUNK, rows - start), f.inputs) for start in range(0, rows, CHUNK)]
    return [(x, f(x)) for x in inputs]


@cache
def answers(task: BiasedRelu, order: int, control: int, seeds: int) -> Mapping[int, list[Answer]]:
    """By N."""
    return {n: [answer(task, order, control, n, seed) for seed in range(seeds)] for n in ROWS}


def fall(errors: Mapping[int, float]) -> tuple[bool, str]:
    """Whether all of the medians fall by a law, and what they come to."""
    found = law(list(errors), list(errors.values()))
    falls = found is not None and found.points == len(errors) and found.exponent < STEEP
    told = ", ".join(f"{e:.2g}" for e in errors.values())
    return falls, f"{told} (N^{found.exponent:.2f})" if found and falls else f"{told} (no law)"


@cache
def all_parameters(seeds: int = 5) -> Checked:
    """Theorems 3.2 and 5.1, l = 1: a, b and w of the units with small biases beside large ones."""
    falls, said = {}, []
    for control, name in ((PRINTED, "the printed means"), (OURS, "`control=2`")):
        cells = answers(LARGE, 1, control, seeds)
        falls[control], told = fall({n: median(a.parameters for a in each) for n, each in cells.items()})
        said.append(f"by {name} {told}")
    numbers = (
        f"errors but for signs at {at()}, medians of {seeds} networks, are {'; '.join(said)}; G is empty where "
        f"ε ≥ 1/(m D B) = {empty_from(LARGE):.2g}"
    )
    return Checked(True if falls[PRINTED] else None, numbers)


@cache
def functions_of_order_two(seeds: int = 3) -> Checked:
    """Theorem 3.2 and Corollary 3.3, l = 2: the function, and at most m + 2 units."""
    falls, said, units = [], [], []
    for task, columns in ((MANY, "drawn columns"), (PERTURBED, f"perturbed ones, τ = {PERTURBED.tau:g},")):
        for control, name in ((PRINTED, "the printed means"), (OURS, "`control=2`")):
            cells = answers(task, 2, control, seeds)
            held, told = fall({n: median(a.missed for a in each) for n, each in cells.items()})
            falls += [held] if control == PRINTED else []
            units += [a.units for each in cells.values() for a in each]
            off = median(a.parameters for a in cells[max(cells)])
            said.append(f"of {columns} by {name} {told}, where parameters are off by {off:.1g}")
    numbers = (
        f"D = {MANY.D}, m = {MANY.m}: at {at()} functions miss, medians of {seeds} networks, {'; '.join(said)}; "
        f"{max(units)} units at most where {MANY.m + 2} are allowed"
    )
    return Checked(False if max(units) > MANY.m + 2 else True if all(falls) else None, numbers)


def at() -> str:
    """The N."""
    return f"N = {', '.join(f'{n:.0e}' for n in ROWS)}"
