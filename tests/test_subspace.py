"""The span of planted squares is recovered, and its projector says the same in both of its forms."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import score_subspace, span_of_squares
from paramid.methods.spans import subspace, symmetric
from paramid.methods.spans.subspace import leading_span, projector

dimensions, seeds = st.integers(3, 8), st.integers(0, 10**6)


def planted(d: int, m: int, seed: int, count: int) -> tuple[Tensor, Tensor]:
    """Unit columns, and random combinations of their packed squares as rows."""
    run = Run.seeded(seed)
    w = run.sphere(m, d).T
    return w, run.normal(count, m) @ symmetric.squares(w.T)


@pytest.mark.parametrize(
    ("d", "m", "count"), [(6, 4, 4), (6, 4, 10), (6, 4, 40), (6, 15, 20), (6, 15, 60), (1, 1, 1), (3, 3, 6)]
)
def test_the_planted_span_is_recovered_from_few_and_from_many_rows(d: int, m: int, count: int) -> None:
    w, rows = planted(d, m, 1, count)
    span = leading_span(rows, m, d)
    assert span.basis.shape[1] == m
    assert score_subspace(span_of_squares(w), span.basis)["subspace_error"] < 1e-9


@given(d=dimensions, seed=seeds, extra=st.integers(0, 30))
def test_basis_and_rest_are_together_one_orthonormal_basis(d: int, seed: int, extra: int) -> None:
    span = leading_span(planted(d, d, seed, d + extra)[1], d, d)
    both = torch.cat([span.basis, span.rest], dim=1)
    torch.testing.assert_close(both.T @ both, torch.eye(d * (d + 1) // 2, dtype=both.dtype), rtol=0, atol=1e-12)


def test_the_span_is_that_of_the_largest_singular_values_and_the_gap_is_theirs() -> None:
    frame = torch.linalg.qr(Run.seeded(0).normal(10, 10))[0]
    rows = torch.tensor([0.1, 7.0, 3.0, 0.5, 9.0], dtype=torch.float64)[:, None] * frame[:5]
    span = leading_span(rows, 3, 4)
    assert span.gap == pytest.approx(3.0 / 0.5)
    assert score_subspace(frame[[1, 2, 4]].T, span.basis)["subspace_error"] < 1e-12
    assert leading_span(rows, 5, 4).gap == math.inf


def test_small_singular_values_survive_many_rows() -> None:
    w, rows = planted(5, 4, 0, 200)
    w, rows = w, rows + 1e-10 * Run.seeded(1).normal(200, 15)
    assert leading_span(rows, 4, 5).gap == pytest.approx(1e10, rel=0.9)


@given(d=dimensions, m=st.integers(1, 6), seed=seeds)
def test_a_projector_and_its_complement_agree(d: int, m: int, seed: int) -> None:
    span = leading_span(planted(d, m, seed, m)[1], m, d)
    inside, outside = projector(span.basis, False, d), projector(span.rest, True, d)
    u = Run.seeded(seed + 1).sphere(9, d)
    torch.testing.assert_close(inside.energy(u), outside.energy(u))
    torch.testing.assert_close(inside.pull(u), outside.pull(u))


@pytest.mark.parametrize("m", [3, 8])
def test_rows_are_answered_alike_alone_and_in_batches(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    p, u = leading_span(Run.seeded(0).normal(12, 10), m, 4).projector(), Run.seeded(1).sphere(23, 4)
    energy, pull = p.energy(u), p.pull(u)
    monkeypatch.setattr(subspace, "CHUNK", 60)
    monkeypatch.setattr(subspace, "FEWEST", 1)
    assert p.at_once in (5, 7)
    torch.testing.assert_close(p.energy(u), energy)
    torch.testing.assert_close(p.pull(u), pull)


@pytest.mark.parametrize(("m", "complement", "columns"), [(2, False, 2), (5, False, 5), (6, True, 4), (9, True, 1)])
def test_the_projector_takes_the_form_with_fewer_columns(m: int, complement: bool, columns: int) -> None:
    p = leading_span(Run.seeded(0).normal(12, 10), m, 4).projector()
    assert (p.complement, p.matrices.shape) == (complement, (columns, 4, 4))


@given(d=st.integers(4, 8), seed=seeds)
def test_energy_is_the_quadratic_form_of_the_inverse_gram_matrix(d: int, seed: int) -> None:
    w, _ = planted(d, d, seed, d)
    p = projector(span_of_squares(w), False, d)
    u = Run.seeded(seed + 1).sphere(9, d)
    b = (u @ w) ** 2
    wanted = (b * torch.linalg.solve((w.T @ w) ** 2, b.T).T).sum(1)
    torch.testing.assert_close(p.energy(u), wanted, rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(p.energy(w.T), torch.ones(d, dtype=w.dtype))


@given(d=dimensions, m=st.integers(1, 5), seed=seeds)
def test_the_gradient_of_energy_is_four_times_the_pull(d: int, m: int, seed: int) -> None:
    p = projector(leading_span(planted(d, m, seed, m)[1], m, d).basis, False, d)
    run, h = Run.seeded(seed + 1), 1e-5
    u, along = run.sphere(9, d), run.normal(9, d)
    difference = (p.energy(u + h * along) - p.energy(u - h * along)) / (2 * h)
    torch.testing.assert_close(difference, 4 * (p.pull(u) * along).sum(1), rtol=1e-6, atol=1e-7)


@given(d=dimensions, m=st.integers(1, 5), seed=seeds)
def test_the_pull_is_the_projected_square_applied_to_its_root(d: int, m: int, seed: int) -> None:
    basis = leading_span(planted(d, m, seed, m)[1], m, d).basis
    u = Run.seeded(seed + 1).sphere(1, d)
    projected = symmetric.unpack(basis @ (basis.T @ symmetric.squares(u)[0]), d)
    torch.testing.assert_close(projector(basis, False, d).pull(u)[0], projected @ u[0])
    torch.testing.assert_close(projector(basis, False, d).energy(u)[0], projected.square().sum())


@pytest.mark.parametrize(("k", "d", "rows"), [(2, 4, 2**14), (275, 50, 32), (2**14, 2**10, 1), (0, 4, subspace.CHUNK)])
def test_rows_at_once_are_worth_a_reading_and_bounded_by_memory(k: int, d: int, rows: int) -> None:
    matrices = torch.zeros(1, dtype=torch.float64).expand(k, d, d)
    assert subspace.Projector(matrices, True).at_once == rows
