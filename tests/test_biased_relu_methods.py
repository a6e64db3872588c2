"""Every method before sums of biased ReLUs: what it lets stand as its answer is the teacher, or no network at all."""

import pytest

import paramid
from paramid import Record, Status, task
from paramid.contracts import registry
from paramid.contracts.method import declined

THOROUGH = ("hermite-fused", "hermite-fused:order=2")
QUICK = (
    "hermite-jennrich",
    "hermite-jennrich:control=2",
    "hermite-jennrich:order=2,control=2",
    "hermite-fused:rounds=0",
    "cp-als:control=2,starts=1,iterations=100",
    "relu-regression",
)
HARD = (
    "biased-relu:D=3,m=2,N=2000",
    "biased-relu:D=4,m=4,biases=large,N=2000",
    "biased-relu:D=4,m=3,biases=3,N=2000",
    "biased-relu:D=4,m=3,noise=0.1,N=2000",
    "biased-relu:D=4,m=3,known=false,N=2000",
)


def wrong(record: Record) -> bool:
    """A network that stands as the answer and is not the teacher."""
    stands = record.status is Status.FINISHED and record.claims[-1].kind == "Network"
    return stands and record.metrics["identified"] != 1


def stands(method: str, teacher: str, seed: int) -> None:
    record = paramid.run(method, teacher, seed=seed, throw=True, judge_inputs=100)
    assert record.status in (Status.FINISHED, Status.GAVE_UP, Status.DECLINED)
    assert not wrong(record), record.metrics


@pytest.mark.parametrize("method", QUICK)
@pytest.mark.parametrize("teacher", HARD)
def test_no_wrong_network_stands(method: str, teacher: str) -> None:
    for seed in (0, 1):
        stands(method, teacher, seed)


@pytest.mark.slow
@pytest.mark.parametrize("method", THOROUGH)
@pytest.mark.parametrize("teacher", HARD)
def test_no_wrong_network_stands_after_a_refinement(method: str, teacher: str) -> None:
    for seed in (0, 1):
        stands(method, teacher, seed)


@pytest.mark.parametrize("method", ["hermite-jennrich", "hermite-fused", "cp-als"])
def test_exact_coefficients_give_exact_networks(method: str) -> None:
    record = paramid.run(f"{method}:moments=exact", "biased-relu:D=4,m=3,weights=orthonormal,N=1", throw=True)
    assert record.metrics["parameter_error"] < (1e-5 if method == "cp-als" else 1e-12)
    assert record.metrics["identified"] == 1
    assert (record.samples, record.queries) == (0, 0)
    assert record.moments > 0


def test_the_baseline_learns_a_unit_or_stands_by_one_of_the_wrong_sign() -> None:
    ends = [
        paramid.run("sgd:optimizer=adam,N=2000,steps=2000", "biased-relu:D=2,m=1,N=2000", seed=s, throw=True)
        for s in (2, 0)
    ]
    assert [r.metrics["identified"] for r in ends] == [1, 0]
    assert ends[0].metrics["parameter_error"] < 1e-2
    assert [wrong(r) for r in ends] == [False, True]


@pytest.mark.parametrize("method", ["spm", "spectral-norm", "sphere-lm"])
def test_methods_that_need_curvature_say_so(method: str) -> None:
    reason = declined(registry.method(method), task("biased-relu"))
    assert reason is not None
    assert "derivative" in reason
    assert "relu" in reason
