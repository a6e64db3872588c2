"""Coefficients from samples: the closed forms within their noise, the order of the error, and bounded memory."""

import math
import subprocess
import sys

import pytest
import torch
from torch import Tensor

from paramid import Access, Network, Run, Spec
from paramid.methods.hermite import moment_estimates
from paramid.oracle.counting import CountingOracle
from paramid.oracle.samples import Samples
from paramid.words import hermite

F64 = torch.float64


def planted(d: int, m: int, seed: int = 0, reach: float = 1.5) -> Network:
    """A network of unit neurons, biases within ±reach, outer weights of either sign."""
    run = Run.seeded(seed)
    draws = torch.rand(2, m, generator=run.generator, dtype=F64)
    outer = (0.5 + draws[0]) * torch.sign(run.normal(1, m)[0])
    return Network.shallow(run.sphere(m, d).T, reach * (2 * draws[1] - 1), "relu", outer)


def samples_of(f: Network, n: int, seed: int = 0) -> Samples:
    spec = Spec(inputs=f.inputs, widths=f.widths, activations=f.activations)
    access = frozenset({Access.SAMPLES})
    return CountingOracle(f, spec, access=access, seed=seed, device=torch.device("cpu")).sample(n)


def truth(f: Network, orders: tuple[int, ...]) -> dict[int, Tensor]:
    return hermite.shallow_tensors(f.weights[0], f.biases[0], f.weights[1][:, 0], "relu", orders)


def distance(found: moment_estimates.Moments, f: Network, k: int) -> float:
    gap = found.tensors[k] - truth(f, (k,))[k]
    return math.sqrt(float(hermite.multiplicities(f.inputs, k) @ gap**2))


@pytest.mark.parametrize(("d", "orders"), [(3, (0, 1, 2, 3, 4, 5, 6)), (1, (4, 6)), (4, (3,)), (2, (7,))])
@pytest.mark.parametrize("control", [-1, None])
def test_products_and_traces_are_the_mean_of_the_features(d: int, orders: tuple[int, ...], control: int | None) -> None:
    samples = samples_of(planted(d, 3), 300)
    x, y = samples.tensors()
    found = moment_estimates.estimate(samples, orders, control=control)
    assert set(found.tensors) == set(found.noise) == set(orders)
    assert found.rows == 300
    for k in orders:
        torch.testing.assert_close(found.tensors[k], (hermite.features(x, k) * y).mean(dim=0))
        assert found.full(k).shape == (d,) * k


def test_regression_puts_its_own_coefficients_into_the_low_orders() -> None:
    """A quadratic is told exactly, whatever the sample."""
    run = Run.seeded(3)
    x, q = run.normal(200, 4), run.normal(4, 4)
    y = 2 - x[:, 0] + torch.einsum("ri,ij,rj->r", x, q, x)
    found = moment_estimates.estimate([(x[:90], y[:90, None]), (x[90:], y[90:, None])], (0, 1, 2, 3, 4))
    torch.testing.assert_close(found.full(2), q + q.T)
    torch.testing.assert_close(found.full(1), torch.tensor([-1.0, 0, 0, 0], dtype=F64))
    torch.testing.assert_close(found.full(0), 2 + q.trace())
    assert max(float(found.tensors[k].abs().max()) for k in (3, 4)) < 1e-10
    assert max(found.noise.values()) < 1e-10


@pytest.mark.parametrize("control", [-1, 2])
def test_the_error_falls_as_one_over_the_root_of_n_and_the_halves_tell_it(control: int) -> None:
    f = planted(4, 3)
    few, many = (moment_estimates.estimate(samples_of(f, n), (1, 2, 3, 4), control=control) for n in (4000, 256_000))
    for k in (2, 3, 4):
        assert -0.8 < math.log(distance(many, f, k) / distance(few, f, k), 64) < -0.25
        true_noise = moment_estimates.spectral(many.tensors[k] - truth(f, (k,))[k], 4, k, 1)
        assert 0.4 < many.noise[k] / true_noise < 2.5


def test_what_is_known_is_no_noise() -> None:
    f = planted(5, 4)
    samples = samples_of(f, 20_000)
    printed, regressed, modelled = (
        moment_estimates.estimate(samples, (3, 4), control=c, model=g) for c, g in ((-1, None), (2, None), (2, f))
    )
    for k in (3, 4):
        assert distance(regressed, f, k) < distance(printed, f, k) / 2
        assert distance(modelled, f, k) < 1e-12
    shifted = Network(f.weights, (f.biases[0], f.biases[1] + 1), f.activations)
    low = moment_estimates.estimate(samples, (0,), control=-1, model=shifted)
    assert distance(low, f, 0) < 1e-12


def test_few_rows_are_no_error() -> None:
    one = moment_estimates.estimate(samples_of(planted(4, 3), 1), (2, 3))
    assert one.rows == 1
    assert one.noise[3] == math.inf
    assert bool(torch.isfinite(one.tensors[3]).all())


def test_exact_coefficients_come_from_the_oracle() -> None:
    f = planted(3, 2)

    class Teacher:
        def __call__(self, x: Tensor) -> Tensor:
            return f(x)

        def moments(self, order: int) -> Tensor:
            return truth(f, (order,))[order]

    spec = Spec(inputs=3, widths=(2,), activations=f.activations)
    oracle = CountingOracle(Teacher(), spec, access=frozenset({Access.MOMENTS}), seed=0, device=torch.device("cpu"))
    found = moment_estimates.exact(oracle, (3, 4, 3))
    assert oracle.usage.moments == 2
    assert found.noise == {3: 0.0, 4: 0.0}
    assert distance(found, f, 4) == 0


PEAK = """
import resource, sys, torch
from paramid import Run
from paramid.methods.hermite import moment_estimates
d, k, n = map(int, sys.argv[1:])
run = Run.seeded(0)
x = run.normal(n, d)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
moment_estimates.estimate([(x, x[:, :1].relu())], (k,))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3)
"""


@pytest.mark.parametrize(("d", "k"), [(20, 4), (6, 6)])
def test_features_are_never_held_at_once(d: int, k: int) -> None:
    rows = 20_000  # their features of order 4 alone would be 1.4 GB
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(d), str(k), str(rows)], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 300


def test_sizes_that_cannot_be_held_are_refused_with_the_arithmetic() -> None:
    assert moment_estimates.refusal(20, 4) is None
    assert "doubles" in str(moment_estimates.refusal(300, 6))
