"""The refinement on samples: its derivatives, its end at rounding or noise, and its chunks."""

import pytest
import torch
from torch import Tensor

from paramid import Network, Run, activation
from paramid.methods.refinement import sample_refinement
from paramid.methods.refinement.gradient_system import Pinned
from paramid.methods.refinement.unit_descent import parameters

NAMES = ["relu", "softplus", "tanh", "logistic", "erf"]
UNIT = Pinned(norms=True, outer=False)
Chunks = list[tuple[Tensor, Tensor]]


def network(name: str = "relu", d: int = 3, m: int = 3, seed: int = 0) -> Network:
    run = Run.seeded(seed)
    a = torch.where(run.normal(1, m)[0] < 0, -1.0, 1.0) * (1 + 0.3 * run.normal(1, m)[0].tanh())
    return Network.shallow(run.sphere(m, d).T, run.normal(1, m)[0].tanh(), name, a)


def rough(truth: Network, size: float) -> Network:
    run, (w, a), (b, c) = Run.seeded(9), truth.weights, truth.biases
    w = w + size * run.normal(*w.shape)
    return truth.with_layers(
        (w / w.norm(dim=0), a + size * run.normal(*a.shape)), (b + size * run.normal(1, len(b))[0], c)
    )


def samples(truth: Network, rows: int, chunk: int = 1000, noise: float = 0.0) -> Chunks:
    run = Run.seeded(5)
    x = run.normal(rows, truth.inputs)
    y = truth(x) + noise * run.normal(rows, 1)
    return list(zip(x.split(chunk), y.split(chunk), strict=True))


def error(found: Network, truth: Network) -> float:
    return float((parameters(found) - parameters(truth)).abs().max())


@pytest.mark.parametrize("name", NAMES)
def test_slope_and_gram_are_those_of_the_stacked_residuals(name: str) -> None:
    truth = network(name)
    pairs, theta = samples(truth, 50, 7), parameters(rough(truth, 0.1))
    x, y = (torch.cat(part) for part in zip(*pairs, strict=True))

    def residual(at: Tensor) -> Tensor:
        return (y[:, 0] - activation(name)(x @ at[:3] + at[3]) @ at[4]) / 50**0.5

    r, j = residual(theta), -torch.autograd.functional.jacobian(residual, theta).flatten(1)
    normal = sample_refinement.normal_equations(pairs, theta, activation(name))
    assert normal.loss == pytest.approx(float(r @ r))
    torch.testing.assert_close(normal.slope.flatten(), j.T @ r)
    torch.testing.assert_close(normal.gram, j.T @ j)


@pytest.mark.parametrize("name", NAMES)
def test_labels_without_noise_are_fitted_to_rounding(name: str) -> None:
    truth = network(name)
    found = sample_refinement.refine(samples(truth, 2000), rough(truth, 0.03), pinned=UNIT)
    assert error(found.network, truth) < 1e-11
    assert found.rms < 1e-13
    assert found.error < 1e-11


def test_pinned_outer_weights_stay() -> None:
    free = network("tanh")
    truth = Network.shallow(free.weights[0], free.biases[0], "tanh")
    start = rough(truth, 0.03)
    found = sample_refinement.refine(samples(truth, 500), start, pinned=Pinned(norms=True, outer=True)).network
    assert error(found, truth) < 1e-12
    assert torch.equal(found.weights[1], torch.ones_like(found.weights[1]))


def test_noise_is_met_at_the_rate_of_its_samples() -> None:
    truth, errors, told = network(), [], []
    for rows in (1000, 16000):
        found = sample_refinement.refine(samples(truth, rows, noise=0.1), rough(truth, 0.05), pinned=UNIT)
        errors.append(error(found.network, truth))
        told.append(found.error)
        assert found.rms == pytest.approx(0.1, rel=0.1)
        assert errors[-1] < 4 * told[-1]
    assert told[0] / told[1] == pytest.approx(4, rel=0.2)
    assert errors[1] < errors[0]


def test_chunks_and_a_limit_change_nothing_but_the_rows() -> None:
    truth = network()
    start, theta = rough(truth, 0.1), parameters(rough(truth, 0.1))
    one, many = samples(truth, 600, 600), samples(truth, 600, 77)
    g = activation("relu")
    whole, parts = (sample_refinement.normal_equations(pairs, theta, g) for pairs in (one, many))
    torch.testing.assert_close(whole.gram, parts.gram)
    short, limited = samples(truth, 600, 77)[:2], sample_refinement.normal_equations(many, theta, g, 2 * 77)
    torch.testing.assert_close(sample_refinement.normal_equations(short, theta, g).gram, limited.gram)
    assert sample_refinement.weighed(many, 100)[0] == 100
    assert sample_refinement.residual(one, start) == pytest.approx(sample_refinement.residual(many, start))


def test_a_unit_without_a_kink_in_sight_is_uncertain_or_counted() -> None:
    """The negative control: b = -6 is silent, b = 6 is an affine function."""
    truth = network()
    silent = truth.with_layers(
        truth.weights, (torch.tensor([-6.0, 0.2, 0.1], dtype=torch.float64, device="cpu"), truth.biases[1])
    )
    assert sample_refinement.refine(samples(silent, 500), silent, pinned=UNIT).error == float("inf")
    assert sample_refinement.bends(samples(silent, 500), silent)[0] == 0
