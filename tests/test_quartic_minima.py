"""Directions from planted second and fourth moments: one by one, all at once, on the sphere."""

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime
from torch import Tensor

from paramid import GiveUp, Run
from paramid.judging.spans_and_directions import score_directions
from paramid.methods.thresholds import quartic_minima as qm

F64 = torch.float64


def planted(d: int, m: int, seed: int, *, orthonormal: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """w, c, A and B of the docstring."""
    run = Run.seeded(seed)
    w = torch.linalg.qr(run.normal(d, m))[0] if orthonormal else run.sphere(m, d).T
    c = 0.5 + 1.5 * torch.rand(m, generator=run.generator, dtype=F64)
    return w, c, (w * c) @ w.T, torch.einsum("ai,bi,ci,di,i->abcd", w, w, w, w, c)


@pytest.mark.parametrize(("d", "m"), [(5, 5), (8, 5), (1, 1), (10, 10)])
@pytest.mark.parametrize("objective", ["one", "all"])
def test_planted_directions_and_coefficients(d: int, m: int, objective: str) -> None:
    w, c, a, b = planted(d, m, 0)
    given, run = qm.whitened(a, b, m), Run.seeded(1)
    options = {"margin": 8.0}
    found = (
        qm.one_by_one(given, run, **options) if objective == "one" else qm.at_once(given, run, gamma=0.01, **options)
    )
    assert score_directions(w, found.columns)["weight_error"] < 1e-6
    assert torch.allclose(found.coefficients.sort().values, c.sort().values, atol=1e-6)


def test_directions_on_the_sphere_need_no_second_moments() -> None:
    w, c, _, b = planted(6, 4, 0, orthonormal=True)
    found = qm.on_the_sphere(b, 4, Run.seeded(1))
    assert score_directions(w, found.columns)["weight_error"] < 1e-6
    assert torch.allclose(found.coefficients.sort().values, c.sort().values)


def test_a_margin_below_the_bound_leaves_no_minimum() -> None:
    _, _, a, b = planted(2, 2, 0)
    with pytest.raises(GiveUp, match="minima"):
        qm.one_by_one(qm.whitened(a, b, 2), Run.seeded(1), margin=0.45)


def test_noise_moves_directions_in_proportion() -> None:
    w, _, a, b = planted(5, 5, 0, orthonormal=True)
    run, errors = Run.seeded(2), []
    noise = run.normal(5, 125).reshape(5, 5, 5, 5)
    noise = sum(noise.permute(*p) for p in ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)))
    noise = noise + noise.transpose(0, 1) + noise.transpose(0, 2) + noise.transpose(0, 3)
    for size in (1e-4, 1e-3):
        found = qm.one_by_one(qm.whitened(a, b + size * noise, 5), Run.seeded(1), margin=8.0)
        errors.append(score_directions(w, found.columns)["weight_error"])
    assert 5 < errors[1] / errors[0] < 20


@pytest.mark.parametrize("name", ["lone", "joint"])
def test_gradients_are_differences(name: str) -> None:
    flat = np.random.default_rng(0).normal(size=(9, 9))
    flat = qm_symmetric(flat)
    at = np.random.default_rng(1).normal(size=3 if name == "lone" else 9)
    value = (lambda y: qm.lone(y, flat, 4.0)) if name == "lone" else (lambda y: qm.joint(y, flat, 4.0, 0.1))
    assert approx_fprime(at, lambda y: value(y)[0], 1e-7) == pytest.approx(value(at)[1], rel=1e-3, abs=1e-3)


def qm_symmetric(flat: np.ndarray) -> np.ndarray:
    from itertools import permutations

    full = flat.reshape(3, 3, 3, 3)
    return sum(full.transpose(p) for p in permutations(range(4))).reshape(9, 9) / 24


def test_too_few_directions_are_given_up() -> None:
    _, _, a, b = planted(5, 3, 0)
    with pytest.raises(GiveUp, match="directions of one sign"):
        qm.whitened(a - 1e-3 * torch.eye(5, dtype=F64), b, 5)


def test_signs_are_those_of_the_first_moment() -> None:
    w, c, a, b = planted(5, 5, 3)
    found = qm.one_by_one(qm.whitened(a, b, 5), Run.seeded(1), margin=8.0)
    signs = qm.signs(found, w @ c)
    assert torch.allclose(signs.abs(), torch.ones(5, dtype=F64), atol=1e-6)
    gaps = torch.cdist((found.columns * signs.sign()).T, w.T).min(dim=1).values
    assert float(gaps.max()) < 1e-6
