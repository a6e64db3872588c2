"""Ascent on the spectral norm rises at every step and ends at planted rank-ones, and only there."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import spectral_ascent, symmetric


def random_span(d: int, m: int, seed: int) -> Tensor:
    return torch.linalg.qr(Run.seeded(seed).normal(d * (d + 1) // 2, m))[0]


@pytest.mark.parametrize(("m", "step"), [(8, 10.0), (22, 10.0), (8, 2.0)])
def test_every_start_ends_at_a_planted_direction(m: int, step: float) -> None:
    w = Run.seeded(0).sphere(m, 15).T
    c = Run.seeded(1).normal(60, m)
    u, top = spectral_ascent.ascend(span_of_squares(w), 15, c, step=step, steps=500, tol=1e-11)
    cosines = (u @ w).abs()
    assert cosines.amax(1).min() > 1 - 1e-9
    assert top.min() > 1 - 1e-9
    assert len(cosines.argmax(1).unique()) > m / 2


@given(d=st.integers(2, 6), m=st.integers(2, 6), seed=st.integers(0, 10**6), step=st.sampled_from([0.5, 2.0, 10.0]))
def test_the_largest_eigenvalue_rises_at_every_step(d: int, m: int, seed: int, step: float) -> None:
    m = min(m, d * (d + 1) // 2)
    basis, c = random_span(d, m, seed), Run.seeded(seed + 1).normal(6, m)
    tops = torch.stack(
        [spectral_ascent.ascend(basis, d, c, step=step, steps=n, tol=0.0)[1] for n in (0, 1, 2, 3, 5, 9)]
    )
    assert (tops[1] > tops[0]).all()
    assert tops.diff(dim=0).min() > -1e-13
    assert tops.max() <= 1 + 1e-12


def test_one_step_moves_towards_the_projected_square_of_the_eigenvector() -> None:
    basis, c, step = random_span(5, 4, 0), Run.seeded(1).normal(7, 4), 0.7
    u, _ = spectral_ascent.ascend(basis, 5, c, step=step, steps=0, tol=0.0)
    turned = torch.where(torch.einsum("ki,kij,kj->k", u, symmetric.unpack(c @ basis.T, 5), u)[:, None] < 0, -c, c)
    m = symmetric.unpack(turned / c.norm(dim=1, keepdim=True) @ basis.T, 5) + step * u[:, :, None] * u[:, None, :]
    projected = symmetric.pack(m) @ basis @ basis.T
    values = torch.linalg.eigvalsh(symmetric.unpack(projected / projected.norm(dim=1, keepdim=True), 5))
    torch.testing.assert_close(spectral_ascent.ascend(basis, 5, c, step=step, steps=1, tol=0.0)[1], values[:, -1])


def test_the_limit_is_a_fixed_point() -> None:
    basis = random_span(6, 7, 0)
    u, top = spectral_ascent.ascend(basis, 6, Run.seeded(1).normal(5, 7), step=10.0, steps=5000, tol=1e-13)
    c = symmetric.squares(u) @ basis
    torch.testing.assert_close(c.norm(dim=1), top)  # M = P(u uᵀ) / λ₁ has norm 1
    again, value = spectral_ascent.top_eigenvector(c / c.norm(dim=1, keepdim=True), basis, 6)
    torch.testing.assert_close(value, top)
    torch.testing.assert_close((again * u).sum(1).abs(), torch.ones(5, dtype=u.dtype))


def test_a_start_is_turned_so_that_its_largest_eigenvalue_in_size_is_positive() -> None:
    basis, c = random_span(5, 4, 0), Run.seeded(1).normal(7, 4)
    _, top = spectral_ascent.ascend(basis, 5, c, step=1.0, steps=0, tol=0.0)
    unit = c / c.norm(dim=1, keepdim=True)
    norms = torch.linalg.matrix_norm(symmetric.unpack(unit @ basis.T, 5), ord=2)
    torch.testing.assert_close(top, norms)


def test_opposite_starts_end_alike() -> None:
    basis, c = random_span(5, 4, 0), Run.seeded(1).normal(7, 4)
    (_, up), (_, down) = (spectral_ascent.ascend(basis, 5, start, step=2.0, steps=30, tol=0.0) for start in (c, -3 * c))
    torch.testing.assert_close(up, down)


def test_chunks_do_not_change_the_ends_and_starts_are_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    basis, c = random_span(5, 4, 0), Run.seeded(1).normal(9, 4)
    before = c.clone()
    u, top = spectral_ascent.ascend(basis, 5, c, step=10.0, steps=20, tol=1e-10)
    assert torch.equal(c, before)
    torch.testing.assert_close(u.norm(dim=1), torch.ones(9, dtype=u.dtype))
    monkeypatch.setattr(spectral_ascent, "CHUNK", 2 * len(basis))
    parts, tops = spectral_ascent.ascend(basis, 5, c, step=10.0, steps=20, tol=1e-10)
    torch.testing.assert_close(tops, top)
    torch.testing.assert_close((parts * u).sum(1).abs(), torch.ones(9, dtype=u.dtype))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_nothing_was_planted_nothing_is_near_rank_one(seed: int) -> None:
    c = Run.seeded(9).normal(60, 22)
    _, top = spectral_ascent.ascend(random_span(15, 22, seed), 15, c, step=10.0, steps=500, tol=1e-10)
    assert 0.3 < top.max() < 0.9
