"""Planted rank-ones are found; the first layer is told by its score far away, until the sphere is too large."""

import pytest
import torch

from paramid import Access, Run
from paramid.contracts import registry
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.layers import first_layer_scores
from paramid.methods.spans import gram_span, subspace, symmetric
from paramid.oracle.counting import CountingOracle
from paramid.oracle.protocol import AccessRefused

CPU = torch.device("cpu")


def ascended(matrices: torch.Tensor, d: int, count: int, run: Run) -> torch.Tensor:
    p = subspace.projector(matrices, False, d)
    return first_layer_scores.candidates(p, count, run, starts=100, step=1.5, steps=500, threshold=0.999, tol=1e-10)


def test_planted_rank_ones_are_found_once_each_and_nothing_in_a_random_span() -> None:
    run = Run.seeded(0)
    u = run.sphere(6, 8)
    found = ascended(span_of_squares(u.T), 8, 6, run)
    assert len(found) == 6
    torch.testing.assert_close((found @ u.T).abs().amax(0), torch.ones(6, dtype=run.dtype), rtol=0, atol=1e-9)
    assert not len(ascended(torch.linalg.qr(run.normal(36, 6))[0], 8, 6, run))


@pytest.mark.parametrize(("radius", "separates"), [(30.0, True), (1e-3, False)])
def test_far_scores_tell_the_first_layer_and_near_ones_do_not(radius: float, separates: bool) -> None:
    run, teacher = Run.seeded(1), registry.task("pyramid:D=12,widths=10-6-4,output=identity").draw(1)
    packed = symmetric.pack(teacher.hessian(radius * run.sphere(400, 12))).flatten(0, 1)
    far = gram_span.streamed(packed.split(100)).projector(10, 12)
    first, second, _ = (v[0] / v[0].norm(dim=0) for v in teacher.slopes(torch.zeros(1, 12, dtype=run.dtype)))
    score = first_layer_scores.scores(far, torch.cat([first, second], 1).T)
    assert (float(score[:10].min()) > float(score[10:].max()) + 0.03) == separates
    assert not separates or first_layer_scores.two_groups(score, 10).tolist() == [1.0] * 10 + [2.0] * 6


def test_copies_of_outputs_are_left_out_whatever_their_sign() -> None:
    run = Run.seeded(2)
    u = run.sphere(5, 9)
    near = u[:2] + 1e-2 * run.normal(2, 9)
    outputs = -near / near.norm(dim=1, keepdim=True)
    assert torch.equal(first_layer_scores.apart(u, outputs, 0.2), u[2:])


def test_streamed_rows_have_the_spectrum_of_kept_ones() -> None:
    rows = Run.seeded(3).normal(40, 10)
    kept, streamed = gram_span.spectrum(rows), gram_span.streamed(rows.split(7))
    torch.testing.assert_close(kept.values, streamed.values)
    a, b = kept.basis(4), streamed.basis(4)
    torch.testing.assert_close(a @ a.T, b @ b.T)


def test_labels_are_told_to_those_who_declared_them() -> None:
    task = registry.task("pyramid:D=7,widths=6-4-3")
    teacher = task.draw(0)
    slopes = [v[0] for v in teacher.slopes(torch.zeros(1, 7, dtype=torch.float64))]
    columns = torch.cat([-2 * slopes[1], slopes[0], slopes[2]], 1)
    for access in (frozenset({Access.LABELS}), frozenset({Access.QUERIES})):
        oracle = CountingOracle(teacher, task.spec, access=access, seed=0, device=CPU)
        if Access.LABELS in access:
            assert oracle.label(columns).tolist() == [2.0] * 4 + [1.0] * 6 + [3.0] * 3
        else:
            with pytest.raises(AccessRefused, match="labels were asked for"):
                oracle.label(columns)
