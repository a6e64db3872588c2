"""What several test files share."""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pytest
import torch
from hypothesis import settings

from paramid import Network, Run
from paramid.contracts import plugins, registry

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


@pytest.fixture(autouse=True)
def _plugins_of_a_test_are_its_own() -> Iterator[None]:
    """What a test registers is gone after it; what a file of tests registers when it is read stays."""
    added, files = {group: dict(names) for group, names in registry._added.items()}, list(plugins._plugin_files)
    classes, modules, described = list(plugins._classes), set(sys.modules), dict(registry._described)
    yield
    registry._described.clear()
    registry._described.update(described)
    for group, names in added.items():
        registry._added[group] = names
    plugins._plugin_files[:], plugins._classes[:] = files, classes
    registry.broken.clear()
    for name in set(sys.modules) - modules:
        if name.startswith("paramid_plugin_"):
            del sys.modules[name]
