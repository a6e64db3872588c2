"""What cannot fit is refused with the arithmetic."""

import pytest

from paramid import Spec
from paramid.oracle.samples import Samples
from paramid.running.cell import plan_cell
from paramid.words import memory_limits
from paramid.words.naming import UsageError


def test_the_arithmetic_is_told() -> None:
    reason = memory_limits.refusal({"weights": (1000, 10**7)}, 16e9)
    assert reason == "1,000 x 10,000,000 (weights) doubles of 8 bytes are 80.0 GB; 16.0 GB are there"
    assert memory_limits.refusal({"weights": (1000, 10**6)}, 16e9) is None


def test_least_counts_every_layer_and_the_matching() -> None:
    spec = Spec(inputs=5, widths=(7, None), activations=("tanh", "tanh", "identity"))
    assert memory_limits.least(spec) == {
        "weights 1": (5, 7), "weights 2": (7, 1), "weights 3": (1, 1), "distances between neurons": (7, 7),
    }  # fmt: skip


def test_a_cell_that_cannot_fit_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cannot fit in memory: 10 x 9,000,000 \(weights 1\)"):
        plan_cell("spm", "shallow:D=10,m=9000000", seed=0)
    plan_cell("spm", "shallow:D=10,m=2000", seed=0, memory_limit=300.0)
    with pytest.raises(UsageError, match="are there"):
        plan_cell("spm", "shallow:D=10,m=7000", seed=0, memory_limit=300.0)


def test_samples_that_cannot_fit_are_not_gathered() -> None:
    def never(*_: object) -> None:
        raise AssertionError

    with pytest.raises(MemoryError, match=r"1,000,000,000,000 x 11 \(samples\)"):
        Samples(10**12, 11, 100, never, never).tensors()


def test_a_limit_below_what_torch_takes_is_refused() -> None:
    with pytest.raises(UsageError, match="memory_limit is 10 MB; torch alone takes 256 and more"):
        plan_cell("spm", "shallow:D=5,m=2", seed=0, memory_limit=10)
