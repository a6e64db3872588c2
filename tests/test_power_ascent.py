"""Power ascent climbs, ends at planted rank-ones, and what is no rank-one does not pass the threshold."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import power_ascent, subspace, symmetric
from paramid.methods.spans.subspace import Projector, leading_span, projector

seeds = st.integers(0, 10**6)


def planted(d: int, m: int, seed: int) -> tuple[Tensor, Projector]:
    w = Run.seeded(seed).sphere(m, d).T
    return w, leading_span(span_of_squares(w).T, m, d).projector()


def ends(p: Projector, starts: int, *, step: float = 1.0, steps: int = 3000) -> Tensor:
    return power_ascent.ascend(p, Run.seeded(99).sphere(starts, p.matrices.shape[2]), step=step, steps=steps, tol=1e-13)


@pytest.mark.parametrize(("m", "step"), [(30, 1.0), (30, 2.0), (45, 2.0)])
def test_every_start_ends_at_a_planted_direction(m: int, step: float) -> None:
    w, p = planted(12, m, 0)
    u = ends(p, 300, step=step)
    assert (u @ w).abs().amax(1).min() > 1 - 1e-9
    torch.testing.assert_close(p.energy(u), torch.ones(300, dtype=u.dtype))


@pytest.mark.parametrize("complement", [False, True])
def test_all_planted_directions_are_found_once_in_both_forms(complement: bool) -> None:
    w, _ = planted(12, 30, 0)
    span = leading_span(span_of_squares(w).T, 30, 12)
    p = projector(span.rest if complement else span.basis, complement, 12)
    u = ends(p, 373)
    found = power_ascent.distinct(u, p.energy(u), threshold=0.9, most=60)
    assert sorted((found @ w).abs().argmax(1).tolist()) == list(range(30))


@given(d=st.integers(2, 7), m=st.integers(1, 9), seed=seeds, step=st.sampled_from([0.25, 0.5, 1.0]))
def test_energy_never_falls_whatever_the_span(d: int, m: int, seed: int, step: float) -> None:
    size = d * (d + 1) // 2
    span = leading_span(Run.seeded(seed).normal(size, size), min(m, size - 1), d)
    p, u = span.projector(), Run.seeded(seed + 1).sphere(20, d)
    for _ in range(40):
        after = power_ascent.ascend(p, u, step=step, steps=1, tol=0.0)
        assert (p.energy(after) - p.energy(u)).min() > -1e-13
        u = after


@pytest.mark.parametrize("complement", [False, True])
def test_one_step_is_half_a_gradient_of_the_energy(complement: bool) -> None:
    p = projector(leading_span(Run.seeded(0).normal(9, 10), 4, 4).basis, False, 4)
    u, step = Run.seeded(1).sphere(5, 4).requires_grad_(), 0.7
    (gradient,) = torch.autograd.grad(p.energy(u).sum(), u)
    after = u.detach() + step / 2 * gradient
    span = leading_span(symmetric.pack(p.matrices), 4, 4)
    same = projector(span.rest, True, 4) if complement else p
    found = power_ascent.ascend(same, u.detach(), step=step, steps=1, tol=0.0)
    torch.testing.assert_close(found, after / after.norm(dim=1, keepdim=True))


def test_ascent_stays_on_the_sphere_and_does_not_write_to_its_starts() -> None:
    _, p = planted(6, 4, 0)
    starts = Run.seeded(1).sphere(10, 6)
    before = starts.clone()
    u = power_ascent.ascend(p, starts, step=1.0, steps=7, tol=0.0)
    assert torch.equal(starts, before)
    torch.testing.assert_close(u.norm(dim=1), torch.ones(10, dtype=u.dtype))
    assert (u - starts).norm(dim=1).min() > 1e-2


def test_starts_do_not_see_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    _, p = planted(6, 8, 0)
    together = ends(p, 40, steps=50)
    monkeypatch.setattr(subspace, "CHUNK", 36 * 7 * 8)
    monkeypatch.setattr(subspace, "FEWEST", 1)
    torch.testing.assert_close(ends(p, 40, steps=50), together)
    assert len(ends(p, 40, steps=0)) == 40


def test_a_start_that_has_arrived_stays_while_the_others_move_on() -> None:
    w, p = planted(6, 8, 0)
    starts = torch.cat([w.T[:1], Run.seeded(1).sphere(5, 6)])
    u = power_ascent.ascend(p, starts, step=1.0, steps=2000, tol=1e-12)
    torch.testing.assert_close(u[0], w[:, 0])
    assert (u[1:] @ w).abs().amax(1).min() > 1 - 1e-9


@pytest.mark.parametrize("weight", [0.02, 0.05])
def test_the_spurious_maximum_of_lemma_2_19_is_rejected_by_the_threshold(weight: float) -> None:
    w, u = torch.eye(5, dtype=torch.float64)[:2]
    mixture = (1 - weight) ** 0.5 * symmetric.squares(w) - weight**0.5 * symmetric.squares(u)
    p = projector(mixture[:, None], False, 5)
    near_u = u + 0.05 * Run.seeded(0).normal(8, 5)
    starts = torch.cat([near_u, Run.seeded(1).normal(8, 5) * 0.05 + w])
    found = power_ascent.ascend(p, starts / starts.norm(dim=1, keepdim=True), step=1.0, steps=20000, tol=1e-13)
    spurious = torch.tensor([weight] * 8 + [1 - weight] * 8, dtype=torch.float64)
    torch.testing.assert_close(p.energy(found), spurious, rtol=0, atol=1e-6)
    kept = power_ascent.distinct(found, p.energy(found), threshold=0.9, most=5)
    torch.testing.assert_close(kept.abs(), w[None], rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_nothing_was_planted_nothing_is_found(seed: int) -> None:
    span = leading_span(Run.seeded(seed).normal(78, 78), 30, 12)
    p = span.projector()
    u = ends(p, 200)
    assert len(power_ascent.distinct(u, p.energy(u), threshold=0.99, most=30)) == 0
    assert p.energy(u).max() > 0.5  # it did climb


HEAPS = torch.tensor([[1.0, 0.0], [-1.0, 0.001], [0.0, 1.0], [0.001, -1.0], [0.6, 0.8]], dtype=torch.float64)
QUALITY = torch.tensor([0.95, 0.97, 0.99, 0.98, 0.5], dtype=torch.float64)


@pytest.mark.parametrize(
    ("threshold", "most", "kept"),
    [(0.0, 5, [2, 1, 4]), (0.9, 5, [2, 1]), (0.9, 1, [2]), (0.97, 5, [2]), (0.99, 5, []), (0.0, 0, [])],
)
def test_the_best_of_every_heap_is_kept_best_first(threshold: float, most: int, kept: list[int]) -> None:
    found = power_ascent.distinct(HEAPS, QUALITY, threshold=threshold, most=most)
    assert torch.equal(found, HEAPS[kept].reshape(-1, 2))


@given(n=st.integers(1, 40), d=st.integers(1, 4), seed=seeds)
def test_no_two_that_are_kept_are_the_same_and_none_that_is_new_is_lost(n: int, d: int, seed: int) -> None:
    run = Run.seeded(seed)
    u, quality = run.sphere(n, d), run.normal(n, 1)[:, 0]
    kept = power_ascent.distinct(u, quality, threshold=-10.0, most=n, same=0.9)
    cosines = (kept @ kept.T).abs() - torch.eye(len(kept), dtype=u.dtype)
    assert cosines.max() < 0.9
    assert (u @ kept.T).abs().amax(1).min() >= 0.9 - 1e-12
