"""Derivatives of every output from one lattice: as near as promised, from so many values, told as Hessians around."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd.functional import hessian, jacobian

from paramid.methods.layers import nearby_hessians
from paramid.methods.spans import symmetric
from paramid.tasks.pyramid import Pyramid

TEACHER = Pyramid(D=5, widths=(4, 3, 2), output="identity").draw(0)
BASE = torch.linspace(-0.1, 0.2, 5, dtype=torch.float64)


def exact_hessians(x: Tensor) -> Tensor:
    every = [hessian(lambda a, k=k: TEACHER(a[None])[0, k], x, create_graph=True) for k in range(2)]
    return symmetric.pack(torch.stack(every))


@pytest.mark.parametrize(("which", "order"), [("gradients", 2), ("second", 2), ("third", 1)])
def test_the_error_falls_with_the_order_promised(which: str, order: int) -> None:
    exact = {
        "gradients": jacobian(lambda a: TEACHER(a[None])[0], BASE).T,
        "second": exact_hessians(BASE).detach(),
        "third": jacobian(exact_hessians, BASE).movedim(2, 0),
    }
    steps, names, errors = [0.016, 0.008, 0.004, 0.002], list(exact), []
    for h in steps:
        found = nearby_hessians.derivatives(TEACHER, BASE, h)[names.index(which)]
        errors.append(float((found - exact[which]).norm()))
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.2)


def test_hessians_around_a_point_take_one_lattice() -> None:
    asked: list[Tensor] = []

    def f(x: Tensor) -> Tensor:
        asked.append(x)
        return TEACHER(x)

    nearby, _ = nearby_hessians.told(f, BASE, h=1e-3)
    assert len(torch.cat(asked)) == len(torch.cat(asked).unique(dim=0)) == math.comb(8, 3)
    small = 1e-3 / float(nearby.offsets.norm(dim=1).max())
    middle = (nearby.packed[:5] + nearby.packed[5:]) / 2
    for n in range(5):
        there = middle[n] + small * (nearby.packed[n] - middle[n])
        torch.testing.assert_close(there, exact_hessians(BASE + small * nearby.offsets[n]).detach(), rtol=0, atol=1e-5)


def test_no_point_is_further_than_the_reach() -> None:
    assert 3 * nearby_hessians.step(10**8, 0.2) <= 0.2 + 1e-12
