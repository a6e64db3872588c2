"""Rank-ones of order s are found in planted spans, in either form of the projector, and none where none is."""

import math

import pytest
import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans import sphere_descent, symmetric_tensors, tensor_search
from paramid.methods.spans.gram_span import spectrum
from paramid.methods.spans.tensor_search import TensorProjector

cases = pytest.mark.parametrize(("d", "m", "s"), [(4, 3, 2), (5, 10, 3), (6, 45, 3), (4, 25, 4)])


def planted(d: int, m: int, s: int, error: float = 0.0) -> tuple[Tensor, Tensor, TensorProjector, float]:
    run = Run.seeded(0)
    w = run.sphere(m, d)
    rows = run.normal(2 * math.comb(d + s - 1, s), m) @ symmetric_tensors.powers(w, s)
    found = spectrum(rows + error * run.normal(*rows.shape))
    return w, found.basis(m), tensor_search.projector(found, m, d, s), found.gap(m)


def searched(basis: Tensor, p: TensorProjector, m: int, known: Tensor, accept: float = 1e-6) -> tensor_search.Found:
    return tensor_search.search(
        p, basis, m, Run.seeded(1), accept=accept, known=known, patience=2000, batch=100, steps=30
    )


@cases
def test_all_planted_directions_are_found(d: int, m: int, s: int) -> None:
    w, basis, p, _ = planted(d, m, s)
    found = searched(basis, p, m, w[:0]).directions
    assert len(found) == m
    assert float((w @ found.T).abs().amax(1).min()) > 1 - 1e-8


def test_a_crude_span_gives_the_best_of_many_candidates() -> None:
    w, basis, p, gap = planted(6, 40, 3, error=0.03)
    found = searched(basis, p, 40, w[:0], accept=tensor_search.acceptance(gap)).directions
    assert ((w @ found.T).abs().amax(1) > 0.995).sum() >= 38


def test_known_directions_cost_hardly_a_start() -> None:
    w, basis, p, _ = planted(5, 10, 3)
    again = searched(basis, p, 10, w + 1e-3 * Run.seeded(2).normal(10, 5))
    assert again.starts <= 100 * tensor_search.SETTLE
    assert len(again.directions) == 10


def test_where_nothing_is_planted_nothing_is_found() -> None:
    basis = torch.linalg.qr(Run.seeded(0).normal(56, 56))[0]
    p = TensorProjector(symmetric_tensors.slices(basis[:, 20:], 6, 3), True, 3)
    assert not len(searched(basis[:, :20], p, 20, basis.new_empty(0, 6)).directions)


@cases
def test_both_forms_give_the_same_terms(d: int, m: int, s: int) -> None:
    rows = symmetric_tensors.powers(Run.seeded(0).sphere(m, d), s)
    whole = torch.linalg.svd(rows, full_matrices=True)[2].T
    u = Run.seeded(1).sphere(7, d)
    inside = TensorProjector(symmetric_tensors.slices(whole[:, :m], d, s), False, s)
    beyond = TensorProjector(symmetric_tensors.slices(whole[:, m:], d, s), True, s)
    one, two = (sphere_descent.terms(p, u) for p in (inside, beyond))
    for name in ("energy", "normal", "right"):
        torch.testing.assert_close(getattr(one, name), getattr(two, name), rtol=0, atol=1e-12)


def test_the_terms_are_the_derivatives_of_the_energy() -> None:
    """On the sphere the gradient of E is 2s r."""
    _, _, p, _ = planted(5, 10, 3)
    u, tangent, h = Run.seeded(1).sphere(4, 5), Run.seeded(2).normal(4, 5), 1e-6
    tangent = tangent - (tangent * u).sum(1, keepdim=True) * u
    up, down = (sphere_descent.terms(p, sphere_descent.moved(u, -side * tangent)).energy for side in (h, -h))
    right = sphere_descent.terms(p, u).right
    torch.testing.assert_close((up - down) / (2 * h), 6 * (right * tangent).sum(1), rtol=1e-6, atol=1e-8)
