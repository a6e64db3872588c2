"""Lattices of order n give all differences up to it for one value a point, and rows of the span in them."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
import torch
from torch import Tensor

from paramid import Access, Network, Run, task
from paramid.methods.spans import simplex_lattices, symmetric_tensors
from paramid.methods.spans.gram_span import spectrum
from paramid.oracle.counting import CountingOracle

CPU = torch.device("cpu")
sizes = pytest.mark.parametrize(("d", "n", "s"), [(3, 4, 2), (3, 6, 3), (2, 7, 4)])


def teacher_of(d: int, m: int, seed: int = 0) -> Network:
    found = task(f"shallow:D={d},m={m}").draw(seed)
    assert isinstance(found, Network)
    return found


@sizes
def test_every_point_is_asked_for_once(d: int, n: int, s: int) -> None:
    family = task(f"shallow:D={d},m=2")
    oracle = CountingOracle(family.draw(0), family.spec, access=frozenset({Access.QUERIES}), seed=0, device=CPU)
    lattice = simplex_lattices.simplex(d, n, s, CPU)
    simplex_lattices.values(oracle, torch.zeros(d, dtype=torch.float64), 0.1, lattice)
    assert oracle.usage.queries == math.comb(d + n, n) == simplex_lattices.points_of(d, n)
    assert len(lattice.counts.unique(dim=0)) == oracle.usage.queries


def test_differences_are_what_their_definition_says() -> None:
    d, n, run = 3, 4, Run.seeded(0)
    lattice = simplex_lattices.simplex(d, n, 2, CPU)
    f = run.normal(1, len(lattice.counts))[0]
    at = {tuple(c.tolist()): float(v) for c, v in zip(lattice.counts, f, strict=True)}

    def difference(k: tuple[int, ...], c: tuple[int, ...]) -> float:
        if not k:
            return at[c]
        ahead = tuple(x + (i == k[0]) for i, x in enumerate(c))
        return difference(k[1:], ahead) - difference(k[1:], c)

    found, start = lattice.differences(f, 1.0), 0
    for j in range(n + 1):
        for place, k in enumerate(symmetric_tensors.indices(d, j, CPU).tolist()):
            assert float(found[start + place]) == pytest.approx(difference(tuple(k), (0,) * d), abs=1e-12)
        start += math.comb(d + j - 1, j)


@sizes
@pytest.mark.parametrize(("both_sides", "order"), [(False, 1), (True, 2)])
def test_the_error_of_the_rows_falls_with_the_order_promised(
    d: int, n: int, s: int, both_sides: bool, order: int
) -> None:
    teacher, lattice = teacher_of(d, 4), simplex_lattices.simplex(d, n, s, CPU)
    x = 0.5 * Run.seeded(0).normal(1, d)[0]
    exact, steps, errors = torch.cat(lattice.exact_rows(teacher, x)), [0.04, 0.02], []
    for h in steps:
        sides = (h, -h) if both_sides else (h,)
        tensors = [lattice.differences(simplex_lattices.values(teacher, x, side, lattice), side) for side in sides]
        errors.append(float((torch.cat(lattice.rows(torch.stack(tensors).mean(0))) - exact).norm() / exact.norm()))
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.25)


@sizes
def test_exact_rows_lie_in_the_span_and_nothing_less_does(d: int, n: int, s: int) -> None:
    m = 3
    teacher, lattice = teacher_of(d, m), simplex_lattices.simplex(d, n, s, CPU)
    rows = torch.cat(lattice.exact_rows(teacher, torch.zeros(d, dtype=torch.float64)))
    assert len(rows) == math.comb(d + n - s, n - s)
    assert spectrum(rows).gap(m) > 1e6
    assert spectrum(rows).gap(m - 1) < 1e3


def test_rows_are_partial_derivatives_in_whatever_order_they_are_taken() -> None:
    teacher, lattice = teacher_of(2, 3), simplex_lattices.simplex(2, 4, 2, CPU)
    x = Run.seeded(1).normal(1, 2)[0]

    def partial(k: tuple[int, ...]) -> Tensor:
        at = x.clone().requires_grad_()
        y = teacher(at[None])[0, 0]
        for i in k:
            y = torch.autograd.grad(y, at, create_graph=True)[0][i]
        return y.detach()

    for q, rows in enumerate(lattice.exact_rows(teacher, x)):
        along, across = (symmetric_tensors.weights(2, j, CPU, torch.float64) for j in (q, 2))
        for a, j in enumerate(symmetric_tensors.indices(2, q, CPU).tolist()):
            for b, i in enumerate(combinations_with_replacement(range(2), 2)):
                place = int(symmetric_tensors.ranks(torch.tensor(i)))
                expected = float(partial((*j, *i)) * along[a] * across[place])
                assert float(rows[a, place]) == pytest.approx(expected, abs=1e-9), (q, a, b)
