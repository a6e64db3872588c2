"""The same cell on the CPU and on the simulated device, in a process that has that device."""

from functools import cache

import torch

from paramid.running.cell import Cell
from tests import simulated_device
from tests.contract_pairs import play


def begin() -> None:
    """Here "cuda" is the simulated device."""
    device = simulated_device.install()
    Cell.torch_device = property(lambda self: device if self.device == "cuda" else torch.device("cpu"))


@cache
def on_the_cpu(method: str, task: str) -> tuple[list[dict[str, object]], list[bytes]]:
    """The cell here."""
    return play(method, task)


def differences(method: str, task: str) -> list[str]:
    """What a cell tells otherwise on the device than on the CPU, to the bit."""
    (here, ours), (there, theirs) = on_the_cpu(method, task), play(method, task, device="cuda")
    events = [f"{mine} became {other}" for mine, other in zip(here, there, strict=False) if mine != other]
    lengths = [] if len(here) == len(there) else [f"{len(here)} events became {len(there)}"]
    return events + lengths + (["claims have other bits"] if ours != theirs else [])


def ends(method: str, task: str, seed: int) -> tuple[dict[str, object], dict[str, object]]:
    """How a cell ends here, and on a device that rounds unlike the CPU."""
    with simulated_device.rounding(seed):
        events, _ = play(method, task, device="cuda")
    return on_the_cpu(method, task)[0][-1], events[-1]
