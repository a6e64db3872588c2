"""Planted wrong signs are turned back, missing neurons found, junk replaced, and what is right stays."""

import pytest
import torch
from torch import Tensor

from paramid import Network, Run, activation
from paramid.methods.refinement import matched_differences, neuron_repair
from paramid.methods.refinement.matched_differences import Data

M, D = 40, 6


def planted(pinned: bool, seed: int = 0) -> tuple[Network, Data]:
    run = Run.seeded(seed)
    norms = torch.ones(M, dtype=run.dtype) if pinned else 0.3 + 0.6 * torch.sigmoid(run.normal(1, M)[0])
    w, b = (norms[:, None] * run.sphere(M, D)).T, 0.4 * torch.tanh(run.normal(1, M)[0])
    teacher, h = Network.shallow(w, b, "tanh"), 0.1
    x = 2.5 * run.normal(2 * M, D)
    one = torch.ones(M, dtype=run.dtype)
    gradients = matched_differences.student_ahead(x, w, b, one, activation("tanh"), h)
    return teacher, Data(x, gradients, teacher(x)[:, 0], h, 1e-15, both_sides=False)


def rough(teacher: Network, run: Run, by: float = 5e-3) -> Network:
    w = teacher.weights[0] + by * run.normal(D, M)
    return teacher.with_layers(
        (w, teacher.weights[1]), (teacher.biases[0] + by * run.normal(1, M)[0], teacher.biases[1])
    )


def mirrored(network: Network) -> Network:
    return network.with_layers((-network.weights[0], network.weights[1]), (-network.biases[0], network.biases[1]))


def farthest(found: Network, teacher: Network) -> float:
    one, two = (torch.cat([n.weights[0], n.biases[0][None]]).T.contiguous() for n in (teacher, found))
    distance: Tensor = torch.cdist(one, two).amin(1)
    return float(distance.max())


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("wrong", [0, 1, 15])
def test_wrong_signs_are_told_and_no_others(pinned: bool, wrong: int) -> None:
    teacher, data = planted(pinned)
    near = rough(teacher, Run.seeded(1))
    which = torch.arange(M) < wrong
    one, two = (neuron_repair.exchanged(a, b, which) for a, b in ((near, mirrored(near)), (mirrored(near), near)))
    assert torch.equal(neuron_repair.turned(data, one, two, pinned), which)


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("count", [1, 3])
def test_missing_neurons_are_found(pinned: bool, count: int) -> None:
    teacher, data = planted(pinned)
    fewer = neuron_repair.without(teacher, torch.arange(M) < count)
    found = neuron_repair.completed(data, fewer, count, pinned, Run.seeded(1))
    assert found.widths == (M,)
    assert farthest(found, teacher) < 1e-6


def test_a_poor_fit_of_the_wrong_sign_is_found_anew() -> None:
    teacher, data = planted(False)
    w, b = teacher.weights[0].clone(), teacher.biases[0].clone()
    w[:, 3], b[3] = -0.6 * w[:, 3], b[3] + 0.5
    bad = teacher.with_layers((w, teacher.weights[1]), (b, teacher.biases[1]))
    assert farthest(neuron_repair.replaced(data, bad, False, Run.seeded(1)), teacher) < 1e-6


def test_a_neuron_that_is_none_makes_room_for_the_one_that_lacks() -> None:
    teacher, data = planted(False)
    w, b = teacher.weights[0].clone(), teacher.biases[0].clone()
    w[:, 3], b[3] = 1e-2 * torch.ones(D, dtype=w.dtype), 1.0
    bad = teacher.with_layers((w, teacher.weights[1]), (b, teacher.biases[1]))
    assert farthest(neuron_repair.replaced(data, bad, False, Run.seeded(1)), teacher) < 1e-6


def test_small_errors_everywhere_are_nobodys() -> None:
    teacher, data = planted(True)
    near = rough(teacher, Run.seeded(1))
    assert neuron_repair.replaced(data, near, True, Run.seeded(1)) is near


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("missing", [0, 2])
def test_neurons_are_added_where_some_lack_and_nowhere_else(pinned: bool, missing: int) -> None:
    teacher, data = planted(pinned)
    fewer = neuron_repair.without(rough(teacher, Run.seeded(1), 1e-4), torch.arange(M) < missing)
    found = neuron_repair.extended(data, fewer, pinned, Run.seeded(1))
    assert found.widths == (M,)
    assert farthest(found, teacher) < 1e-2
