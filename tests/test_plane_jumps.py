"""Jumps and bends of f across planes: what they are at a unit, and how they fall beside it."""

import math

import pytest
import torch
from torch import Tensor

import paramid
from paramid import Access, Run
from paramid.contracts import registry
from paramid.methods import threshold_plane
from paramid.methods.thresholds import plane_jumps
from paramid.oracle.counting import CountingOracle


def planted(unit: str, source: str, rows: int, t: float = 0.5) -> tuple[plane_jumps.Jumps, Tensor, float]:
    """The jumps of Σ_{i<j} X_i X_j over three units, a unit, and (4) at it."""
    task, run = registry.task(f"threshold:D=3,m=3,t={t},polynomial=no-linear,activation={unit}"), Run.seeded(0)
    teacher, x = task.draw(0), run.normal(rows, 3)
    oracle = CountingOracle(teacher, task.spec, access=frozenset({Access.QUERIES}), seed=0, device=torch.device("cpu"))
    mean = float(teacher.activated(x)[:, 1].mean())
    law = plane_jumps.density(t) * 2 * mean
    if source == "samples":
        return plane_jumps.by_samples(x, teacher(x)[:, 0], t, unit), teacher.columns[:, 0], law
    return plane_jumps.by_queries(oracle, x, t, unit), teacher.columns[:, 0], law


@pytest.mark.parametrize(
    ("unit", "source", "width"),
    [("step", "queries", 0.01), ("relu", "queries", 0.01), ("step", "samples", 0.05), ("relu", "samples", 0.25)],
)
def test_correlations_at_a_unit_are_the_derivative_of_the_polynomial(unit: str, source: str, width: float) -> None:
    jumps, w, law = planted(unit, source, 20_000 if source == "queries" else 400_000)
    value, error = jumps(width)(w)
    assert abs(value - law) < 4 * error + width * law
    assert error < law / 5


@pytest.mark.parametrize("unit", ["step", "relu"])
def test_beside_units_correlations_fall_with_the_width(unit: str) -> None:
    jumps, w, law = planted(unit, "queries", 5000)
    v = torch.linalg.svd(w[None])[2][1]
    z = math.cos(0.2) * w + math.sin(0.2) * v
    wide, narrow = (jumps(e)(z)[0] for e in (0.02, 0.01))
    assert abs(wide) < law / 3
    assert abs(narrow) < 0.7 * abs(wide)


def test_slabs_are_halved_while_they_hold_samples() -> None:
    assert plane_jumps.widths(6, 0.5, None, 0.0, "step") == [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625]
    assert len(plane_jumps.widths(6, 0.5, 10**5, 0.0, "step")) > len(plane_jumps.widths(6, 0.5, 10**5, 0.0, "relu"))
    assert not plane_jumps.widths(6, 0.5, 100, 0.0, "step")


def test_starts_avoid_what_is_known() -> None:
    run = Run.seeded(0)
    found = run.sphere(2, 4).T
    z = threshold_plane.start(found, run)
    assert float((found.T @ z).abs().max()) < 1e-12
    assert float(z.norm()) == pytest.approx(1)


def test_training_samples_show_planes_without_a_query() -> None:
    record = paramid.run("threshold-plane:source=samples", "threshold:D=2,m=2,t=0,N=100000", throw=True)
    assert record.status is paramid.Status.FINISHED
    assert record.metrics["angle_error"] < 0.2
    assert (record.queries, record.samples) == (0, 100_000)


@pytest.mark.parametrize("source", ["samples", "queries"])
def test_what_has_no_jump_is_given_up(source: str) -> None:
    task = registry.task("threshold:D=2,m=2,t=0,N=20000")
    access = frozenset({Access.QUERIES, Access.SAMPLES})
    oracle = CountingOracle(
        lambda x: x[:, :1].sin(),
        task.spec,
        access=access,
        seed=0,
        device=torch.device("cpu"),  # type: ignore[arg-type]
    )
    method = registry.method(f"threshold-plane:source={source},starts=2,steps=15,gaussians=500")
    with pytest.raises(paramid.GiveUp, match="planes"):
        list(method.identify(oracle, Run.seeded(0)))


def test_sigmoids_are_declined() -> None:
    record = paramid.run("threshold-plane", "threshold:t=5,activation=sigmoid,polynomial=linear", throw=True)
    assert "has none" in record.reason
