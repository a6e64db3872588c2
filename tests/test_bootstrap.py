"""A pass beside a student takes off of the truncation what the student knows of it."""

import pytest
import torch
from torch import Tensor

from paramid import Network, Run, task
from paramid.methods.spans import bootstrap, gram_span, simplex_lattices
from paramid.methods.spans.bootstrap import Search, Seen

CPU = torch.device("cpu")


def seen_of(teacher: Network, h: float = 0.02, both_sides: bool = False) -> Seen:
    lattice = simplex_lattices.simplex(6, 6, 3, CPU)
    return bootstrap.look(_Plain(teacher), 0.5 * Run.seeded(0).normal(1, 6), lattice, h=h, both_sides=both_sides)


class _Plain:
    """An oracle of nothing but values."""

    def __init__(self, network: Network) -> None:
        self.query = network.__call__
        self.spec = task("shallow:D=6,m=30").spec
        self.decide = self.sample = self.gradient = self.hessian = self.moments = self.label = network.__call__


def teacher_of(m: int = 30) -> Network:
    found = task(f"shallow:D=6,m={m}").draw(0)
    assert isinstance(found, Network)
    return found


def gap(seen: Seen, student: Network | None, m: int) -> float:
    return gram_span.spectrum(bootstrap.scaled(bootstrap.corrected(seen, student))).gap(m)


def moved(teacher: Network, by: float) -> Network:
    w, b = (
        teacher.weights[0] + by * Run.seeded(1).normal(6, 30),
        teacher.biases[0] + by * Run.seeded(2).normal(1, 30)[0],
    )
    return teacher.with_layers((w / w.norm(dim=0), teacher.weights[1]), (b, teacher.biases[1]))


def test_the_better_the_student_the_clearer_the_span() -> None:
    teacher = teacher_of()
    seen = seen_of(teacher)
    gaps = [gap(seen, student, 30) for student in (None, moved(teacher, 1e-2), moved(teacher, 1e-4), teacher)]
    assert gaps[0] < 3 * gaps[1] < gaps[2] < gaps[3]


def test_a_student_of_something_else_helps_nothing() -> None:
    seen, other = seen_of(teacher_of()), task("shallow:D=6,m=30").draw(7)
    assert isinstance(other, Network)
    assert gap(seen, other, 30) < 1.1 * gap(seen, None, 30)


def test_both_sides_leave_less_than_one() -> None:
    assert gap(seen_of(teacher_of(), both_sides=True), None, 30) > 3 * gap(seen_of(teacher_of()), None, 30)


@pytest.mark.parametrize("m", [10, 30])
def test_passes_find_all_neurons_ever_better(m: int) -> None:
    teacher, run = teacher_of(m), Run.seeded(0)
    seen, student, misfits = seen_of(teacher), None, []
    how = Search(m, "tanh", pinned=True, reach=1.0, batch=100, steps=25, patience=300)
    for _ in range(4):
        found = bootstrap.passed(seen, how, run, student)
        student = found.network("tanh")
        misfits.append(float(found.fit.cost.median()))
    assert misfits[-1] < 1e-2 * misfits[0]
    assert len(found.directions) == m
    assert nearest(student, teacher) < 1e-3


def nearest(found: Network | None, teacher: Network) -> float:
    assert found is not None
    one, two = (torch.cat([n.weights[0], n.biases[0][None]]).T.contiguous() for n in (teacher, found))
    distance: Tensor = torch.cdist(one, two).amin(1)
    return float(distance.max())


def test_turning_some_exchanges_their_fits_and_no_others() -> None:
    teacher, run = teacher_of(10), Run.seeded(0)
    how = Search(10, "tanh", pinned=True, reach=1.0, batch=100, steps=25, patience=300)
    found = bootstrap.passed(seen_of(teacher), how, run, None)
    which = torch.arange(len(found.directions)) == 2
    turned = found.turned(which)
    assert turned.fit.norm[2] == found.other.norm[2]
    assert turned.other.shift[2] == found.fit.shift[2]
    assert torch.equal(turned.fit.norm[~which], found.fit.norm[~which])


def test_lattices_grow_by_what_was_not_asked() -> None:
    teacher, asked = teacher_of(), []

    def query(x: Tensor) -> Tensor:
        asked.append(len(x))
        return teacher(torch.nn.functional.pad(x, (0, 6 - x.shape[1])))

    plain = _Plain(teacher)
    plain.query = query
    few, many = (simplex_lattices.simplex(d, 6, 3, CPU) for d in (4, 6))
    seen = bootstrap.look(plain, 0.5 * Run.seeded(0).normal(1, 4), few, h=0.02, both_sides=True)
    grown = bootstrap.grown(plain, seen, many)
    assert sum(asked) == 2 * simplex_lattices.points_of(6, 6)
    anew = bootstrap.look(plain, grown.bases, many, h=0.02, both_sides=True)
    torch.testing.assert_close(grown.values, anew.values, rtol=0, atol=1e-13)


@pytest.mark.parametrize("m", [10, 30])
def test_the_number_of_neurons_is_where_the_span_ends(m: int) -> None:
    teacher = teacher_of(m)
    spectrum = gram_span.spectrum(bootstrap.scaled(bootstrap.corrected(seen_of(teacher), teacher)))
    assert bootstrap.likely(spectrum, 0, 43) == 43
    assert bootstrap.likely(spectrum, m - 2, 43) == m
    assert bootstrap.likely(spectrum, m // 2, 43) < m
