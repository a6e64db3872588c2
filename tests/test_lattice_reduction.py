"""Reduced is reduced, of the same lattice; planted short vectors are found, and where none are, none is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramid.methods.spans.lattice_reduction import Array, Integers, reduced


def knapsack(d: int, m: int, bits: int, seed: int, *, planted: bool = True) -> tuple[Integers, Array]:
    """Rows that hold signs as their shortest vector, and the signs; or rows of equations that nothing solves."""
    rng = np.random.default_rng(seed)
    w, s = rng.standard_normal((m, d)), rng.choice([-1.0, 1.0], m)
    y = s @ w if planted else rng.standard_normal(d)
    return np.hstack([np.eye(m + 1), np.rint(2.0**bits * np.vstack([w, -y]))]).astype(np.int64), s


def signs(basis: Integers, m: int) -> list[Integers]:
    return [row[:m] * row[m] for row in basis if (np.abs(row[: m + 1]) == 1).all()]


@given(n=st.integers(1, 8), size=st.sampled_from([3, 100, 10**6]), seed=st.integers(0, 10**6))
def test_size_and_neighbours_are_as_they_should_and_the_lattice_is_the_same(n: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    basis = np.hstack([np.eye(n, dtype=np.int64), rng.integers(-size, size + 1, (n, 3))])
    found = reduced(basis)
    r = np.linalg.qr(found.T)[1]
    diagonal = np.abs(np.diag(r))
    assert (np.abs(np.triu(r, 1)) <= (0.5 + 1e-6) * diagonal[:, None]).all()
    assert (diagonal[1:] ** 2 + np.diag(r, 1) ** 2 >= 0.989 * diagonal[:-1] ** 2).all()
    assert abs(round(float(np.linalg.det(found[:, :n])))) == 1
    assert np.array_equal(found[:, :n] @ basis, found)


def test_the_first_vector_is_as_short_as_the_theorem_says() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        basis = rng.integers(-50, 51, (3, 3))
        combinations = np.stack(np.meshgrid(*[np.arange(-6, 7)] * 3), -1).reshape(-1, 3)
        found = reduced(basis)
        lengths = np.linalg.norm(combinations[combinations.any(1)] @ found, axis=1)
        assert np.linalg.norm(found[0]) <= lengths.min() / 0.74 + 1e-9


@pytest.mark.parametrize(("d", "m", "bits"), [(1, 1, 10), (1, 8, 30), (4, 20, 24), (10, 30, 12), (10, 40, 36)])
def test_planted_signs_are_found(d: int, m: int, bits: int) -> None:
    basis, s = knapsack(d, m, bits, seed=1)
    before = basis.copy()
    assert any(np.array_equal(found, s) for found in signs(reduced(basis), m))
    assert np.array_equal(basis, before)


def test_integers_stay_exact_beyond_what_doubles_hold() -> None:
    basis, s = knapsack(12, 36, 45, seed=3)
    found = reduced(basis)
    assert np.array_equal(found[:, :37].astype(object) @ basis.astype(object), found)
    assert any(np.array_equal(row, s) for row in signs(found, 36))


def test_where_nothing_was_planted_nothing_is_found() -> None:
    basis, _ = knapsack(10, 30, 12, seed=1, planted=False)
    assert not signs(reduced(basis), 30)


@pytest.mark.slow
def test_four_signs_an_equation() -> None:
    basis, s = knapsack(20, 80, 36, seed=2)
    assert np.array_equal(signs(reduced(basis), 80)[0], s)
