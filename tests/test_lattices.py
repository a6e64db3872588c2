"""Lattices give elements of the span, with an error of the order promised, and query every point once."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from paramid import Access, Network, Run, task
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import lattices, symmetric
from paramid.oracle.counting import CountingOracle

CPU = torch.device("cpu")
sides = pytest.mark.parametrize("both_sides", [False, True])


class Remembering(CountingOracle):
    """Keeps the points it was asked for."""

    asked: list[Tensor]

    def query(self, x: Tensor, /) -> Tensor:
        self.asked = [*getattr(self, "asked", []), x]
        return super().query(x)


def teacher_and_oracle(name: str, seed: int = 0) -> tuple[Network, Remembering]:
    family = task(name)
    teacher = family.draw(seed)
    return teacher, Remembering(teacher, family.spec, access=frozenset({Access.QUERIES}), seed=seed, device=CPU)


def exact_rows(teacher: Network, x: Tensor) -> Tensor:
    """H and the slices of the third derivative, by the network's own weights."""
    w, z = teacher.weights[0], teacher.preactivations(x)[0]
    t = torch.tanh(z)
    g2, g3 = -2 * t * (1 - t * t), (1 - t * t) * (6 * t * t - 2)
    hessians = torch.einsum("bk,ik,jk->bij", g2, w, w)[:, None]
    thirds = torch.einsum("bk,ik,jk,lk->blij", g3, w, w, w)
    return symmetric.pack(torch.cat([hessians, thirds], 1).flatten(0, 1))


@pytest.mark.parametrize(("both_sides", "order", "h"), [(False, 1, 1e-3), (True, 2, 1e-2)])
def test_the_error_falls_with_the_order_promised(both_sides: bool, order: int, h: float) -> None:
    teacher, oracle = teacher_and_oracle("shallow:D=4,m=6")
    x = Run.seeded(0).normal(3, 4)
    exact, steps = exact_rows(teacher, x), [8 * h, 4 * h, 2 * h, h]
    errors = [float((lattices.lattice_rows(oracle, x, h=s, both_sides=both_sides) - exact).norm()) for s in steps]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.1)
    assert errors[-1] < 1e-2 * exact.norm()


@sides
def test_a_cubic_form_is_differentiated_exactly_and_a_line_to_nothing(both_sides: bool) -> None:
    _, oracle = teacher_and_oracle("shallow:D=3,m=1")
    oracle._teacher = lambda x: x[:, :1] * x[:, 1:2] * x[:, 2:] + 5 * x.sum(1, keepdim=True) + 1
    found = lattices.lattice_rows(oracle, torch.zeros(1, 3, dtype=torch.float64), h=0.5, both_sides=both_sides)
    expected = torch.zeros(4, 3, 3, dtype=torch.float64)
    for a, b, c in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        expected[1 + a, b, c] = expected[1 + a, c, b] = 1
    torch.testing.assert_close(found, symmetric.pack(expected), rtol=0, atol=1e-12)


@sides
@pytest.mark.parametrize("d", [1, 2, 5])
def test_every_point_is_asked_for_once(d: int, both_sides: bool) -> None:
    _, oracle = teacher_and_oracle(f"shallow:D={d},m=1")
    lattices.lattice_rows(oracle, Run.seeded(0).normal(3, d), h=0.1, both_sides=both_sides)
    points = 2 * math.comb(d + 3, 3) - 1 if both_sides else math.comb(d + 3, 3)
    assert oracle.usage.queries == 3 * points == 3 * lattices.points_of(d, both_sides)
    assert len(torch.cat(oracle.asked).unique(dim=0)) == 3 * points


def test_batches_do_not_change_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    _, oracle = teacher_and_oracle("shallow:D=4,m=3")
    x = Run.seeded(0).normal(2, 4)
    whole = lattices.lattice_rows(oracle, x, h=0.1, both_sides=True)
    monkeypatch.setattr(lattices, "BATCH", 40)
    torch.testing.assert_close(lattices.lattice_rows(oracle, x, h=0.1, both_sides=True), whole)


@sides
@pytest.mark.parametrize(("count", "d"), [(1, 8), (4, 8), (9, 8), (40, 8), (200, 12)])
def test_rows_are_had_in_the_cheaper_way_and_lie_in_the_span(count: int, d: int, both_sides: bool) -> None:
    teacher, oracle = teacher_and_oracle(f"shallow:D={d},m=5")
    rows = lattices.sample_rows(oracle, Run.seeded(0), count, both_sides=both_sides)
    bases = max(3, math.ceil(count / (d + 1)))
    assert len(rows) >= count
    assert oracle.usage.queries == min(count * (d * d + d + 1), bases * lattices.points_of(d, both_sides))
    span = span_of_squares(teacher.weights[0])
    assert (rows - rows @ span @ span.T).norm() < (1e-4 if both_sides else 2e-2) * rows.norm()


@pytest.mark.parametrize("noise", [1e-8, 1e-5])
def test_under_noise_the_step_is_near_the_best(noise: float) -> None:
    def error(h: float | None) -> float:
        teacher, oracle = teacher_and_oracle(f"shallow:D=6,m=5,noise={noise}")
        rows = lattices.sample_rows(oracle, Run.seeded(0), 12, both_sides=True, h=h)
        span = span_of_squares(teacher.weights[0])
        return float((rows - rows @ span @ span.T).norm() / rows.norm())

    assert error(None) < 2 * min(error(h) for h in (0.01, 0.03, 0.1, 0.2, 0.5))


@pytest.mark.parametrize("d", [6, 14])
@sides
def test_without_noise_the_step_is_near_the_best(d: int, both_sides: bool) -> None:
    def error(h: float | None) -> float:
        teacher, oracle = teacher_and_oracle(f"shallow:D={d},m={2 * d}")
        rows = lattices.sample_rows(oracle, Run.seeded(0), 3 * d + 3, both_sides=both_sides, h=h)
        span = span_of_squares(teacher.weights[0])
        return float((rows - rows @ span @ span.T).norm() / rows.norm())

    assert error(None) < 3 * min(error(h) for h in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2))
