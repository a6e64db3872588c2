"""Either form of the projector gives the same terms; descents end at rank-ones and polishing reaches rounding."""

import pytest
import torch
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import sphere_descent, subspace
from paramid.methods.spans.subspace import Projector

forms = pytest.mark.parametrize("complement", [False, True])


def planted(d: int, m: int, complement: bool, seed: int = 0) -> tuple[Tensor, Projector]:
    w = Run.seeded(seed).sphere(m, d)
    span = subspace.leading_span(span_of_squares(w.T).T, m, d)
    return w, subspace.projector(span.rest if complement else span.basis, complement, d)


@pytest.mark.parametrize(("d", "m"), [(2, 1), (5, 4), (7, 20)])
def test_both_forms_give_the_same_terms(d: int, m: int) -> None:
    u = Run.seeded(1).sphere(9, d)
    one, two = (sphere_descent.terms(planted(d, m, complement)[1], u) for complement in (False, True))
    for name in ("energy", "normal", "right"):
        torch.testing.assert_close(getattr(one, name), getattr(two, name), rtol=0, atol=1e-13)


@forms
def test_the_terms_are_the_derivatives_of_the_energy(complement: bool) -> None:
    """On the sphere the gradient of E is 4r, and N is that of the linearised residual: 4N = JᵀJ."""
    _, p = planted(5, 6, complement)
    u = Run.seeded(1).sphere(4, 5)
    now, tangent, h = sphere_descent.terms(p, u), Run.seeded(2).normal(4, 5), 1e-6
    tangent = tangent - (tangent * u).sum(1, keepdim=True) * u
    up, down = (sphere_descent.terms(p, sphere_descent.moved(u, -s * tangent)).energy for s in (h, -h))
    torch.testing.assert_close((up - down) / (2 * h), 4 * (now.right * tangent).sum(1), rtol=1e-6, atol=1e-8)
    assert (now.normal @ u[:, :, None]).abs().max() < 1e-14
    assert torch.linalg.eigvalsh(now.normal).min() > -1e-14


@forms
def test_chunks_do_not_change_the_terms(complement: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    _, p = planted(5, 6, complement)
    u = Run.seeded(1).sphere(11, 5)
    whole = sphere_descent.terms(p, u)
    monkeypatch.setattr(sphere_descent, "CHUNK", 100)
    monkeypatch.setattr(sphere_descent, "FEWEST", 3)
    parts = sphere_descent.terms(p, u)
    torch.testing.assert_close(parts.normal, whole.normal)
    torch.testing.assert_close(parts.right, whole.right)


@forms
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_descents_end_at_planted_directions(complement: bool, dtype: torch.dtype) -> None:
    w, p = planted(12, 30, complement)
    p = Projector(p.matrices.to(dtype), complement)
    u = Run.seeded(1).sphere(200, 12).to(dtype)
    ends, taken = sphere_descent.descend(p, u, accept=1e-5, hopeless=0.02, steps=40)
    assert len(ends) > 100
    assert 200 < taken < 200 * 40
    assert (ends.double() @ w.T).abs().amax(1).min() > 1 - 1e-5


@forms
def test_where_nothing_is_planted_nothing_is_accepted(complement: bool) -> None:
    basis = torch.linalg.qr(Run.seeded(0).normal(78, 78))[0]
    p = subspace.projector(basis[:, 30:] if complement else basis[:, :30], complement, 12)
    ends, _ = sphere_descent.descend(p, Run.seeded(1).sphere(100, 12), accept=1e-5, hopeless=0.02, steps=40)
    assert len(ends) == 0


@forms
def test_polishing_converges_to_rounding(complement: bool) -> None:
    w, p = planted(15, 60, complement)
    ends, last = sphere_descent.polish(p, (w + 1e-3 * Run.seeded(1).sphere(60, 15)).float())
    signs = (ends * w).sum(1, keepdim=True).sign()
    assert last.max() < 1e-12
    assert (ends * signs - w).norm(dim=1).max() < 1e-13


def test_starts_are_not_written_to_and_none_is_no_trouble() -> None:
    _, p = planted(5, 6, False)
    u = Run.seeded(1).sphere(11, 5)
    before = u.clone()
    sphere_descent.descend(p, u, accept=1e-5, hopeless=0.02, steps=5)
    sphere_descent.polish(p, u)
    assert torch.equal(u, before)
    assert sphere_descent.polish(p, u[:0])[0].shape == (0, 5)
    assert sphere_descent.descend(p, u[:0], accept=1e-5, hopeless=0.02, steps=5)[0].shape == (0, 5)


def test_a_step_uphill_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly damped and far from any rank-one some full steps lead uphill: those rows stay where they are."""
    _, p = planted(8, 28, True)
    u = Run.seeded(3).sphere(300, 8)
    before = sphere_descent.terms(p, u)
    step = sphere_descent.newton(before, u, torch.full_like(u[:, 0], 1e-5))
    uphill = sphere_descent.terms(p, sphere_descent.moved(u, step)).energy > before.energy
    monkeypatch.setattr(sphere_descent, "DAMPING", 1e-5)
    monkeypatch.setattr(sphere_descent, "SMALL", 1e9)  # every row arrives with its first step
    ends, taken = sphere_descent.descend(p, u, accept=9.0, hopeless=9.0, steps=1)
    assert taken == len(ends) == 300
    assert 3 < uphill.sum() < 290
    assert torch.equal(ends[uphill], u[uphill])
    assert (sphere_descent.terms(p, ends).energy <= before.energy).all()


@pytest.mark.parametrize(
    ("images", "rows"), [(0, 2**19), (100, 5242), (13750, 38), (105000, 32), (2**22, 8), (2**26, 1)]
)
def test_rows_at_once_are_bounded_by_memory(images: int, rows: int) -> None:
    assert sphere_descent.at_once(images) == rows
