"""What several test files share."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
import torch
from hypothesis import settings

from paramid import Network, Run

settings.register_profile("paramid", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("paramid")

Grow = Callable[[Sequence[int], Sequence[str], int], Network]


@pytest.fixture(scope="session")
def grow() -> Grow:
    """Random networks: sizes from the inputs to the outputs, hidden activations, seed; the output is linear."""

    def network(sizes: Sequence[int], hidden: Sequence[str], seed: int) -> Network:
        run = Run.seeded(seed)
        pairs = list(pairwise(sizes))
        weights = [run.normal(a, b) / a**0.5 for a, b in pairs]
        biases = [run.normal(1, b)[0] / 2 for _, b in pairs]
        weights[-1] += 0.1 * torch.where(weights[-1] < 0, -1.0, 1.0)  # an outer weight near 0 has no sign
        return Network(tuple(weights), tuple(biases), (*hidden, "identity"))

    return network
