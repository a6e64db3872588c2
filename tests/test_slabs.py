"""The angle to a threshold unit from slabs of samples, beside the same by queries, and what is no progress."""

import math

import pytest
import torch
from torch import Tensor

import paramid
from paramid import Run
from paramid.contracts import registry
from paramid.methods.thresholds import slabs

F64 = torch.float64


def planted(alpha: float, rows: int = 200_000, d: int = 5) -> tuple[slabs.Rows, Tensor, Tensor]:
    """Samples near the plane of a unit of a union, its direction, and one at that angle."""
    run, teacher = Run.seeded(0), registry.task(f"threshold:D={d},m={d}").draw(0)
    x, w = run.normal(rows, d), teacher.columns[:, 0]
    v = run.normal(1, d)[0]
    v = v - (v @ w) * w
    z = math.cos(alpha) * w + math.sin(alpha) * v / v.norm()
    return slabs.near([(x, teacher(x))], z[:, None], 2.5, 0.0, 0.0)[0], w, z


@pytest.mark.parametrize("alpha", [0.3, 0.1])
def test_slabs_tell_the_angle(alpha: float) -> None:
    rows, _, z = planted(alpha, rows=1_000_000)
    assert slabs.tan_alpha(rows, z, 2.5, 0.05) == pytest.approx(math.tan(alpha), rel=0.25)


def test_thick_slabs_are_off_by_a_factor_that_is_the_same_for_all_angles() -> None:
    found = []
    for alpha in (0.2, 0.05):
        rows, _, z = planted(alpha, rows=1_000_000)
        found.append(slabs.tan_alpha(rows, z, 2.5, slabs.WIDE * math.tan(alpha)) / math.tan(alpha))
    assert found[1] == pytest.approx(found[0], rel=0.3)


def test_fewer_samples_end_the_search_earlier() -> None:
    rows, _, _ = planted(0.1, rows=50_000)
    assert slabs.tangents(rows, 2.5)(0.3)
    assert slabs.tangents(rows, 2.5)(0.01) is None


def test_held_samples_tell_progress_from_none() -> None:
    rows, w, z = planted(0.1)
    seen, held = slabs.halves(rows)
    assert len(seen.x) + len(held.x) == len(rows.x)
    assert slabs.closer(held, z, w, 2.5)
    assert not slabs.closer(held, w, z, 2.5)
    assert not slabs.closer(held, z, z, 2.5)


def test_training_samples_sharpen_stage_1_and_are_drawn_once() -> None:
    record = paramid.run("threshold-correlation:stage=2,angles=samples", "threshold:D=3,m=2,N=300000", throw=True)
    errors = [c.metrics["angle_error"] for c in record.claims]
    assert errors[-1] < errors[0] / 2
    assert (record.queries, record.samples) == (0, 300_000)


def test_noise_that_thresholds_stand_above_leaves_slabs_as_they_are() -> None:
    method = "threshold-correlation:stage=2,angles=samples"
    record = paramid.run(method, "threshold:D=3,m=2,N=300000,noise=0.1", throw=True)
    errors = [c.metrics["angle_error"] for c in record.claims]
    assert errors[-1] < errors[0] / 2


@pytest.mark.parametrize(
    ("method", "task", "reason"),
    [
        ("stage=2", "noise=0.1", "takes noise for firing"),
        ("stage=2,angles=samples", "noise=0.1,activation=relu,polynomial=linear", "takes noise for firing"),
        ("stage=2,angles=samples", "t=5,activation=sigmoid,polynomial=linear", "silent below"),
    ],
)
def test_what_slabs_cannot_tell_is_declined(method: str, task: str, reason: str) -> None:
    record = paramid.run(f"threshold-correlation:{method}", f"threshold:{task}", throw=True)
    assert record.status is paramid.Status.DECLINED
    assert reason in record.reason


def test_slabs_are_of_samples() -> None:
    with pytest.raises(ValueError, match="angles=samples"):
        registry.method("threshold-correlation:angles=samples,source=queries")


def test_constant_functions_are_given_up_by_noisy_correlations() -> None:
    task = "threshold:D=4,m=3,t=3.5,N=20000,noise=1.0"
    record = paramid.run("threshold-correlation", task, throw=True)
    assert record.status is paramid.Status.GAVE_UP
