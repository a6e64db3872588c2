"""The angle to a threshold unit and the search that brings it down, on one planted unit and on unions."""

import math

import pytest
import torch
from torch import Tensor

from paramid import Access, Run
from paramid.contracts import registry
from paramid.methods.thresholds import angle_search
from paramid.methods.thresholds.angle_search import (
    ACCEPTANCE,
    Search,
    crossing_tangents,
    estimate_tan_alpha,
    firing,
    refine_estimate,
)
from paramid.oracle.counting import CountingOracle


def union(d: int, t: float, seed: int = 0) -> tuple[CountingOracle, Tensor]:
    task = registry.task(f"threshold:D={d},m={d},t={t}")
    teacher = task.draw(seed)
    access, device = frozenset({Access.QUERIES}), torch.device("cpu")
    return CountingOracle(teacher, task.spec, access=access, seed=seed, device=device), teacher.columns


def tilted(w: Tensor, angle: float, run: Run) -> Tensor:
    v = run.normal(1, len(w))[0]
    v = v - (v @ w) * w
    return math.cos(angle) * w + math.sin(angle) * v / v.norm()


def angle(a: Tensor, b: Tensor) -> float:
    return 2 * math.asin(float((a - b).norm()) / 2)


def searched(oracle: CountingOracle, z: Tensor, run: Run, *, offsets: int = 200, **options: object) -> Search:
    tangents = crossing_tangents(firing(oracle, run), run, d=len(z), offsets=offsets, reach=5.5)
    return refine_estimate(tangents, z, run, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", [0.3, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("d", [5, 10])
def test_the_estimate_of_the_angle(d: int, alpha: float) -> None:
    oracle, w = union(d, 2.5)
    run = Run.seeded(1)
    fired, found = firing(oracle, run), []
    for _ in range(4):
        z = tilted(w[:, 0], alpha, run)
        found.append(estimate_tan_alpha(fired, z, run.normal(1000, d), reach=5.5) / math.tan(alpha))
    assert sum(found) / 4 == pytest.approx(1, abs=0.15)


def test_every_crossing_is_where_the_function_changes() -> None:
    oracle, w = union(5, 2.0)
    run = Run.seeded(0)
    base = 0.1 * run.normal(20, 5)
    base = base - torch.outer(base @ w[:, 0], w[:, 0])
    at = angle_search.crossings(firing(oracle, run), base, w[:, 0], low=0.0, high=5.0)
    assert torch.allclose((base + at[:, None] * w[:, 0]) @ w[:, 0], torch.full((20,), 2.0, dtype=torch.float64))
    assert oracle.usage.queries == 1 + 20 * angle_search.HALVINGS


@pytest.mark.slow
def test_the_corrected_rule_contracts() -> None:
    oracle, w = union(5, 2.5)
    run = Run.seeded(0)
    end = searched(oracle, tilted(w[:, 0], 0.1, run), run, tolerance=5e-4)
    assert angle(end.direction, w[:, 0]) < 1e-3


def test_a_few_perturbations_already_help() -> None:
    oracle, w = union(3, 2.5)
    run = Run.seeded(0)
    end = searched(oracle, tilted(w[:, 0], 0.1, run), run, iterations=16, offsets=60)
    assert angle(end.direction, w[:, 0]) < 0.08
    assert 0.2 < end.accepted / end.iterations < 0.8


def test_the_printed_rule_accepts_nothing() -> None:
    oracle, w = union(4, 2.5)
    run = Run.seeded(0)
    z = tilted(w[:, 0], 0.1, run)
    end = searched(oracle, z, run, stride=0.1, iterations=8, offsets=50, acceptance="printed")
    assert (end.accepted, end.iterations) == (0, 8)
    assert torch.equal(end.direction, z)


def test_rules_of_acceptance() -> None:
    assert ACCEPTANCE["corrected"](0.1, 5) == pytest.approx(0.0998)
    assert ACCEPTANCE["printed"](0.1, 5) == pytest.approx(0.0002)
