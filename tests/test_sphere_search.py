"""The search finds all that was planted, neighbours too, once each, and nothing where nothing was planted."""

import pytest
import torch
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import gram_span, sphere_search, symmetric
from paramid.methods.spans.sphere_search import Found


def found_in(w: Tensor, seed: int = 1, gap: float = 1e8) -> Found:
    """The search in the exact span of unit rows `w`."""
    m, d = w.shape
    squares = span_of_squares(w.T).T
    spectrum = gram_span.spectrum(
        torch.cat([squares, squares.new_zeros(max(0, d * (d + 1) // 2 - m), squares.shape[1])])
    )
    return sphere_search.search(spectrum.projector(m, d), spectrum.basis(m), m, Run.seeded(seed), gap=gap)


def distances(found: Tensor, w: Tensor) -> Tensor:
    """From every planted direction to the nearest that was found, up to sign, and each found one used once."""
    signs = (found @ w.T).sign()
    apart = (found[:, None] * signs[:, :, None] - w).norm(dim=2)
    assert len(apart.argmin(0).unique()) == len(w)
    return apart.amin(0)


@pytest.mark.parametrize(
    ("d", "m"), [(1, 1), (2, 1), (3, 1), (3, 3), (4, 6), (7, 1), (8, 12), (8, 27), (12, 30), (12, 60)]
)
def test_every_planted_direction_is_found_once_to_rounding(d: int, m: int) -> None:
    w = Run.seeded(d).sphere(m, d)
    found = found_in(w)
    assert found.directions.shape == (m, d)
    assert distances(found.directions, w).max() < 1e-11
    assert found.steps >= found.starts >= 1


def test_three_hundred_of_thirty_dimensions_are_found_to_rounding() -> None:
    w = Run.seeded(0).sphere(300, 30)
    assert distances(found_in(w).directions, w).max() < 1e-13


@pytest.mark.parametrize("apart", [0.3, 0.1, 0.03])
def test_close_neighbours_are_both_found(apart: float) -> None:
    w = Run.seeded(0).sphere(6, 5)
    w = torch.cat([w, (w[:1] + apart * Run.seeded(1).sphere(1, 5))])
    w = w / w.norm(dim=1, keepdim=True)
    assert distances(found_in(w).directions, w).max() < 1e-8


def test_what_was_found_is_not_visited_again() -> None:
    w, run = Run.seeded(0).sphere(12, 8), Run.seeded(1)
    p = sphere_search.Projector(symmetric.unpack(torch.linalg.qr(span_of_squares(w.T))[0].T, 8), False)
    first, taken = sphere_search.visited(p, w[:0], run.sphere(200, 8), accept=1e-10, steps=25)
    assert distances(first, w).max() < 1e-11
    assert taken >= 200
    later, _ = sphere_search.visited(p, w[:5], run.sphere(200, 8), accept=1e-10, steps=25)
    assert distances(later, w[5:]).max() < 1e-11
    assert len(later) == 7


def test_in_a_random_span_nothing_is_found() -> None:
    basis = torch.linalg.qr(Run.seeded(0).normal(36, 10))[0]
    p = sphere_search.Projector(symmetric.unpack(basis.T, 8), False)
    assert sphere_search.search(p, basis, 10, Run.seeded(1), gap=1e3).directions.shape == (0, 8)


def test_acceptance_is_stricter_the_wider_the_gap_and_the_smaller_the_complement() -> None:
    def p(k: int, complement: bool) -> sphere_search.Projector:
        return sphere_search.Projector(torch.zeros(k, 8, 8, dtype=torch.float64), complement)

    assert sphere_search.acceptance(1e3, p(9, True)) == pytest.approx(0.3 * 9 / 36 / 1e6)
    assert sphere_search.acceptance(1e3, p(3, True)) < sphere_search.acceptance(1e2, p(9, True))
    assert sphere_search.acceptance(2.0, p(9, False)) == sphere_search.SPURIOUS / 2
    assert sphere_search.acceptance(torch.inf, p(9, False)) > 0


def test_what_remains_is_in_the_span_and_orthogonal_to_what_was_found() -> None:
    w, run = Run.seeded(0).sphere(12, 7), Run.seeded(1)
    basis = span_of_squares(w.T)
    matrices = sphere_search.remaining(basis, w[:9], 5, run)
    packed = symmetric.pack(matrices)
    assert torch.einsum("kd,bde,ke->bk", w[:9], matrices, w[:9]).abs().max() < 1e-9
    torch.testing.assert_close(packed @ basis @ basis.T, packed)


def test_a_single_missing_direction_is_the_eigenvector_it_starts_from() -> None:
    """Orthonormal directions: what remains is the missing one's square, and spread starts see its sign."""
    w = torch.eye(4, dtype=torch.float64)
    matrices = sphere_search.remaining(span_of_squares(w), w[:3], 6, Run.seeded(0))
    u = sphere_search.seeds(matrices, Run.seeded(1), spread=False)
    torch.testing.assert_close(u.abs(), w[3:].expand(6, 4))
    spread = sphere_search.seeds(matrices, Run.seeded(1), spread=True)
    torch.testing.assert_close(spread.norm(dim=1), torch.ones(6, dtype=u.dtype))
    assert (u - spread).norm(dim=1).max() > 1e-6


def test_distinct_rows_are_kept_once_up_to_sign() -> None:
    u = Run.seeded(0).sphere(4, 6)
    near = u[1] + 1e-3 * u[2]
    ends = torch.stack([u[0], u[1], -u[1], near / near.norm(), u[2], -u[3]])
    assert torch.equal(sphere_search.distinct(u[:1], ends), torch.stack([u[1], u[2], -u[3]]))
    assert len(sphere_search.distinct(u[:0], ends)) == 4
    assert len(sphere_search.distinct(u, ends)) == 0
