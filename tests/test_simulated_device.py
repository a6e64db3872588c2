"""Every method on a device that is not the CPU: its tensors follow the run, and it claims the same."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests import device_families, on_two_devices, simulated_device
from tests.contract_pairs import PAIRS

pytestmark = pytest.mark.skipif(
    not simulated_device.available(), reason="this torch has no devices that are written in Python"
)
VARIANTS = [  # what takes other code than those pairs
    ("threshold-boundary:source=samples", "threshold:D=4,m=3,N=20000"),
    ("sphere-lm", "shallow:D=5,m=4,activation=softplus"),
    ("sphere-lm:route=few-rows", "shallow:D=5,m=7"),
    ("far-lines", "shallow:D=5,m=3,noise=1e-6,outer=free"),
    ("peel", "trained:widths=5-3,steps=100"),
    ("kinks", "relu:D=6,widths=4-3"),
    ("threshold-graph", "threshold:D=6,m=3,N=20000,activation=exponential,polynomial=monotone,weights=blocks"),
]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ProcessPoolExecutor]:
    """A process that has the device."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=on_two_devices.begin) as pool:
        yield pool


@pytest.mark.parametrize("name", device_families.REFUSED)
def test_the_device_refuses_what_cuda_refuses(elsewhere: ProcessPoolExecutor, name: str) -> None:
    assert elsewhere.submit(device_families.refused, "REFUSED", name).result()


@pytest.mark.parametrize("name", device_families.TAKEN)
def test_the_device_takes_what_cuda_takes(elsewhere: ProcessPoolExecutor, name: str) -> None:
    assert not elsewhere.submit(device_families.refused, "TAKEN", name).result()


@pytest.mark.parametrize("name", device_families.SAME)
def test_the_device_computes_what_the_cpu_computes(elsewhere: ProcessPoolExecutor, name: str) -> None:
    assert elsewhere.submit(device_families.same, name).result()


def test_another_machine_rounds_in_the_last_bit_and_turns_eigenvectors(elsewhere: ProcessPoolExecutor) -> None:
    moved = {
        name: elsewhere.submit(device_families.moved_by_rounding, name).result()
        for name in ("a contraction", "special functions", "an order", "rows copied", "eigenvectors")
    }
    assert 0 < moved["a contraction"] < 1e-14
    assert 0 < moved["special functions"] < 1e-14
    assert moved["an order"] == moved["rows copied"] == 0
    assert moved["eigenvectors"] > 0.1


@pytest.mark.parametrize(("method", "task"), PAIRS + VARIANTS)
def test_a_method_claims_the_same_bits_on_a_device(elsewhere: ProcessPoolExecutor, method: str, task: str) -> None:
    assert elsewhere.submit(on_two_devices.differences, method, task).result() == []


@pytest.mark.parametrize(("method", "task"), PAIRS)
def test_a_method_ends_alike_on_another_machine(elsewhere: ProcessPoolExecutor, method: str, task: str) -> None:
    here, there = elsewhere.submit(on_two_devices.ends, method, task, 1).result()
    assert there["status"] == here["status"]
    assert there["metrics"].get("identified") == here["metrics"].get("identified")
