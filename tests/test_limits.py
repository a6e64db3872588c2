"""The bound against dense algebra, against what least squares attains, and where nothing can be known."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import jacobian

import paramid
from paramid import Network, Run, limits
from paramid.limits import cramer_rao, information
from paramid.methods.refinement import layered_refinement
from paramid.words.network import shaped

F64 = torch.float64
PINS = [(), ("outer",), ("norms",), ("outer", "output_bias"), information.ALL]


def drawn(sizes: tuple[int, ...], name: str = "tanh", seed: int = 3) -> Network:
    run, pairs = Run.seeded(seed), list(pairwise(sizes))
    weights = tuple(run.normal(*pair) for pair in pairs)
    return Network(weights, tuple(run.normal(1, b)[0] for _, b in pairs), (name,) * (len(pairs) - 1) + ("identity",))


def flat(network: Network) -> Tensor:
    return torch.cat([torch.cat([w, b[None]]).flatten() for w, b in zip(network.weights, network.biases, strict=True)])


def free_basis(network: Network, free: tuple[str, ...]) -> Tensor:
    """Orthonormal columns of all that may move, from the null space of the constraints written out."""
    rows = []
    for layer, w in enumerate(network.weights[:-1]):
        for k in range(w.shape[1] if "norms" not in free else 0):
            zero = network.with_layers([0 * v for v in network.weights], [0 * v for v in network.biases])
            zero.weights[layer][:, k] = w[:, k]
            rows.append(flat(zero))
    last = torch.eye(len(flat(network)), dtype=F64)[
        -sum(p.numel() for p in (network.weights[-1], network.biases[-1])) :
    ]
    outer = network.weights[-1].numel()
    rows += [*last[:outer]] if "outer" not in free else []
    rows += [*last[outer:]] if "output_bias" not in free else []
    if not rows:
        return torch.eye(len(flat(network)), dtype=F64)
    return torch.linalg.svd(torch.stack(rows), full_matrices=True)[2][len(rows) :].T


@pytest.mark.parametrize("free", PINS, ids=str)
@pytest.mark.parametrize("sizes", [(3, 4, 1), (4, 3, 2, 2)])
def test_the_bound_is_that_of_the_jacobian_on_what_is_free(sizes: tuple[int, ...], free: tuple[str, ...]) -> None:
    network, x = drawn(sizes), 2 * Run.seeded(0).normal(120, sizes[0])
    j = jacobian(lambda p: shaped(network, p)(x).flatten(), flat(network))
    basis = free_basis(network, free)
    wanted = ((basis @ torch.linalg.inv(basis.T @ j.T @ j @ basis)) * basis).sum(1).sqrt()
    torch.testing.assert_close(flat(limits.cramer_rao.deviations(network, x, 1.0, free)), wanted, rtol=1e-6, atol=1e-7)
    assert limits.bound(network, x, 1e-3, free) == pytest.approx(1e-3 * float(wanted.max()), rel=1e-6)


def test_least_squares_attains_the_bound_and_nothing_far_below_it() -> None:
    network, sigma = drawn((3, 4, 1)), 1e-4
    ratios = []
    for seed in range(8):
        run = Run.seeded(seed)
        x = 2.5 * run.normal(400, 3)
        fit = layered_refinement.fit(network, x, network(x) + sigma * run.normal(400, 1), noise=sigma)
        error = 2.0 ** -paramid.judge(network, fit.network)["bits"]
        ratios.append(error / limits.bound(network, x, sigma))
    assert 0.3 < sorted(ratios)[4] < 3


def test_what_is_pinned_stays_and_more_is_known_of_the_rest() -> None:
    teacher = drawn((3, 4, 1))
    teacher = teacher.with_layers(
        [w / w.norm(dim=0) for w in teacher.weights[:1]] + [torch.ones(4, 1, dtype=F64)],
        [teacher.biases[0], 0 * teacher.biases[1]],
    )
    run = Run.seeded(1)
    x = 2 * run.normal(300, 3)
    moved = layered_refinement.moved(teacher, 0.05 * run.normal(1, 21)[0], ())
    start = moved.with_layers([moved.weights[0], teacher.weights[1]], [moved.biases[0], teacher.biases[1]])
    found = layered_refinement.fit(start, x, teacher(x), noise=0.0, free=())
    assert found.believed
    assert torch.equal(found.network.weights[1], teacher.weights[1])
    torch.testing.assert_close(found.network.weights[0].norm(dim=0), torch.ones(4, dtype=F64))
    assert paramid.judge(teacher, found.network)["exact"] == 1
    assert limits.bound(teacher, x, 1.0, ()) < limits.bound(teacher, x, 1.0)


@pytest.mark.parametrize(
    "network",
    [
        Network.shallow(
            torch.eye(3, 2, dtype=F64), torch.zeros(2, dtype=F64), "tanh", torch.tensor([1.0, 0], dtype=F64)
        ),
        Network.shallow(torch.ones(3, 2, dtype=F64), torch.zeros(2, dtype=F64), "tanh"),
    ],
    ids=["silent", "twins"],
)
def test_what_no_value_shows_has_no_bound(network: Network) -> None:
    assert limits.bound(network, Run.seeded(0).normal(100, 3), 1e-6) == math.inf


def test_the_length_of_a_relu_is_nobodys_to_know() -> None:
    network, x = drawn((3, 4, 1), "relu"), 2 * Run.seeded(0).normal(200, 3)
    assert limits.bound(network, x, 1.0) < 1e3


def test_fewer_values_than_parameters_have_no_bound_and_four_times_as_many_half_of_it() -> None:
    network, x = drawn((3, 4, 1)), 2 * Run.seeded(0).normal(20_000, 3)
    assert limits.bound(network, x[:15], 1.0) == math.inf
    assert limits.bound(network, x[:5000], 1.0) / limits.bound(network, x, 1.0) == pytest.approx(2, rel=0.1)


def test_the_best_spread_is_no_worse_than_others() -> None:
    network = drawn((5, 6, 3, 1))
    x = Run.seeded(4).normal(2000, 5)
    best = limits.bound(network, cramer_rao.best_spread(network) * x, 1.0)
    assert best < 1.5 * min(limits.bound(network, s * x, 1.0) for s in cramer_rao.SPREADS)


def test_no_step_lets_a_neuron_run_away() -> None:
    network = drawn((3, 4, 1))
    p = 100 * Run.seeded(0).normal(1, 21)[0]
    step = shaped(network, layered_refinement.shortened(network, p))
    moved = torch.cat([step.weights[0], step.biases[0][None]]).norm(dim=0)
    length = torch.cat([network.weights[0], network.biases[0][None]]).norm(dim=0)
    assert float((moved / length).max()) == pytest.approx(layered_refinement.LONGEST)
    assert torch.equal(layered_refinement.shortened(network, 1e-4 * p), 1e-4 * p)
