"""Both stencils are exact on quadratics and of second order elsewhere, and cost exactly what they say."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Access, Network, Run, task
from paramid.methods.spans import hessians, symmetric
from paramid.oracle.counting import CountingOracle

stencils = pytest.mark.parametrize("stencil", hessians.STENCILS)
CPU = torch.device("cpu")


def teacher_and_oracle(name: str, seed: int = 0) -> tuple[Network, CountingOracle]:
    shallow = task(name)
    teacher = shallow.draw(seed)
    both = frozenset({Access.QUERIES, Access.DERIVATIVES})
    return teacher, CountingOracle(teacher, shallow.spec, access=both, seed=seed, device=CPU)


def slope(steps: list[float], errors: list[float]) -> float:
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@stencils
@pytest.mark.parametrize("name", ["shallow:D=5,m=4", "shallow:D=7,m=12,activation=softplus"])
def test_the_error_is_of_second_order_in_the_step(stencil: str, name: str) -> None:
    teacher, oracle = teacher_and_oracle(name)
    x = Run.seeded(0).normal(6, teacher.inputs)
    exact = symmetric.pack(teacher.hessian(x)[:, 0])
    steps = [0.1, 0.05, 0.02, 0.01]
    errors = [float((hessians.sample_hessians(oracle, x, h=h, stencil=stencil) - exact).norm()) for h in steps]
    assert slope(steps, errors) == pytest.approx(2, abs=0.1)
    assert errors[-1] < 1e-3 * exact.norm()


@stencils
@given(d=st.integers(1, 7), m=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_quadratics_are_differentiated_exactly(stencil: str, d: int, m: int, seed: int) -> None:
    teacher, oracle = teacher_and_oracle(f"shallow:D={d},m={m},activation=square", seed)
    x = Run.seeded(seed).normal(3, d)
    exact = symmetric.pack(teacher.hessian(x)[:, 0])
    found = hessians.sample_hessians(oracle, x, h=0.5, stencil=stencil)
    torch.testing.assert_close(found, exact, rtol=0, atol=1e-11)


@stencils
@pytest.mark.parametrize(("d", "thesis", "symmetric"), [(1, 3, 3), (4, 33, 21), (7, 99, 57)])
def test_every_hessian_costs_its_stencil_and_no_point_twice(stencil: str, d: int, thesis: int, symmetric: int) -> None:
    points = thesis if stencil == "thesis" else symmetric
    _, oracle = teacher_and_oracle(f"shallow:D={d},m=1")
    x = Run.seeded(0).normal(5, d)
    hessians.sample_hessians(oracle, x, h=0.1, stencil=stencil)
    assert oracle.usage.queries == 5 * points == 5 * (2 * d * d + 1 if stencil == "thesis" else d * d + d + 1)
    assert len(hessians.offsets(d, 0.1, stencil, x).unique(dim=0)) == points


@stencils
def test_batches_do_not_change_the_hessians(stencil: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, oracle = teacher_and_oracle("shallow:D=4,m=3")
    x = Run.seeded(0).normal(7, 4)
    exact, whole = hessians.exact_hessians(oracle, x), hessians.sample_hessians(oracle, x, h=0.1, stencil=stencil)
    asked = oracle.usage.queries
    monkeypatch.setattr(hessians, "BATCH", 300)
    torch.testing.assert_close(hessians.sample_hessians(oracle, x, h=0.1, stencil=stencil), whole)
    torch.testing.assert_close(hessians.exact_hessians(oracle, x), exact)
    assert oracle.usage.queries == 2 * asked


def test_exact_hessians_are_the_oracles_and_cost_a_row_each() -> None:
    teacher, oracle = teacher_and_oracle("shallow:D=6,m=5")
    x = Run.seeded(0).normal(9, 6)
    assert torch.equal(symmetric.unpack(hessians.exact_hessians(oracle, x), 6), exactly_symmetric(teacher, x))
    assert oracle.usage.snapshot() == {"queries": 0, "samples": 0, "derivatives": 9, "moments": 0}


def exactly_symmetric(teacher: Network, x: Tensor) -> Tensor:
    """The upper triangles, mirrored, after one round trip through √2."""
    return symmetric.unpack(symmetric.pack(teacher.hessian(x)[:, 0]), x.shape[1])


def test_the_points_asked_for_are_not_written_to() -> None:
    _, oracle = teacher_and_oracle("shallow:D=4,m=3")
    x = Run.seeded(0).normal(7, 4)
    before = x.clone()
    hessians.sample_hessians(oracle, x, h=0.1)
    assert torch.equal(x, before)
