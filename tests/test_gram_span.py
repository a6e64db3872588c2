"""The smaller Gram matrix gives the span of an SVD, and the first gap its dimension or nothing."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import gram_span


def planted(d: int, m: int, count: int, error: float = 0.0, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random rows of the span of m rank-ones, off by `error`, and that span."""
    run = Run.seeded(seed)
    span = span_of_squares(run.sphere(m, d).T)
    return run.normal(count, m) @ span.T + error * run.normal(count, len(span)), span


@pytest.mark.parametrize(("m", "count"), [(1, 4), (5, 8), (5, 60), (20, 27), (20, 60)])
def test_the_span_is_that_of_the_svd(m: int, count: int) -> None:
    rows, _ = planted(8, m, count, 1e-3)
    spectrum = gram_span.spectrum(rows)
    _, values, v = torch.linalg.svd(rows, full_matrices=False)
    torch.testing.assert_close(spectrum.values[: len(values)], values, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(spectrum.basis(m) @ spectrum.basis(m).T, v[:m].T @ v[:m], rtol=0, atol=1e-8)
    torch.testing.assert_close(spectrum.basis(m).T @ spectrum.basis(m), torch.eye(m, dtype=rows.dtype))


@pytest.mark.parametrize(("m", "count", "complement"), [(5, 8, False), (5, 60, False), (20, 27, False), (20, 60, True)])
def test_the_projector_keeps_the_fewer_matrices_at_hand(m: int, count: int, complement: bool) -> None:
    rows, span = planted(8, m, count)
    p = gram_span.spectrum(rows).projector(m, 8)
    assert (p.complement, len(p.matrices)) == (complement, 36 - m if complement else m)
    w, other = Run.seeded(0).sphere(m, 8), Run.seeded(1).sphere(1, 8)
    torch.testing.assert_close(p.energy(w), torch.ones(m, dtype=w.dtype))
    assert p.energy(other) < 0.999
    assert span.shape == (36, m)


@given(d=st.integers(4, 7), share=st.floats(0.01, 1), seed=st.integers(0, 10**6))
def test_the_first_gap_is_the_dimension(d: int, share: float, seed: int) -> None:
    m = max(1, round(share * d * (d - 1) / 2))
    rows, _ = planted(d, m, 2 * m + 4, 1e-6, seed)
    assert gram_span.spectrum(rows).first_gap(300, 1.3) == m


def test_a_second_drop_is_not_taken_for_the_gap() -> None:
    """The next order of the truncation spans m dimensions more, and the drop after it is the sharper one."""
    rows, _ = planted(9, 6, 40, 3e-7)
    others, _ = planted(9, 6, 40, seed=1)
    values = gram_span.spectrum(rows + 1e-3 * others)
    assert values.gap(12) > values.gap(6) > 100
    assert values.first_gap(30, 1.3) == 6


def test_a_weak_neuron_is_not_taken_for_error() -> None:
    run = Run.seeded(0)
    span = span_of_squares(run.sphere(3, 6).T)
    strengths = torch.tensor([1.0, 1.0, 0.01], dtype=torch.float64)
    values = gram_span.spectrum(run.normal(12, 3) * strengths @ span.T + 1e-7 * run.normal(12, 21))
    assert values.gap(2) > 30
    assert values.first_gap(30, 1.3) == 3


@pytest.mark.parametrize("count", [20, 60])
def test_noise_has_no_gap(count: int) -> None:
    assert gram_span.spectrum(Run.seeded(0).normal(count, 36)).first_gap(30, 1.3) is None


def test_a_gap_is_not_believed_with_hardly_more_rows_than_dimensions() -> None:
    rows, _ = planted(8, 10, 17, 1e-6)
    assert gram_span.spectrum(rows).first_gap(30, 1.3) == 10
    assert gram_span.spectrum(rows[:16]).first_gap(30, 1.3) is None


def test_rows_of_nothing_have_no_gap_and_do_not_fail() -> None:
    spectrum = gram_span.spectrum(torch.zeros(7, 6, dtype=torch.float64))
    assert spectrum.first_gap(30, 1.3) is None


def test_rounding_is_no_gap() -> None:
    """What eigenvalues of a Gram matrix say below 1e-8 of the largest singular value is noise."""
    rows, _ = planted(6, 4, 30)
    assert gram_span.spectrum(rows).gap(4) < 1e9
    assert gram_span.spectrum(rows).first_gap(30, 1.3) == 4
