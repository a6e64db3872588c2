"""Packed symmetric tensors keep inner products, ranks count, and slots are filled as they are in the tensors."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Run
from paramid.methods.spans import symmetric, symmetric_tensors

CPU = torch.device("cpu")
sizes, orders = st.integers(1, 6), st.integers(1, 4)


def outer(u: Tensor, s: int) -> Tensor:
    whole = u
    for _ in range(s - 1):
        whole = whole[..., None] * u
    return whole


@given(d=sizes, s=st.integers(0, 5))
def test_every_multi_index_stands_at_its_rank(d: int, s: int) -> None:
    every = symmetric_tensors.indices(d, s, CPU)
    assert len(every) == math.comb(d + s - 1, s)
    assert torch.equal(every.sort(dim=1)[0], every)
    assert torch.equal(symmetric_tensors.ranks(every), torch.arange(len(every)))


@given(d=sizes, s=orders, seed=st.integers(0, 10**6))
def test_inner_products_are_powers_of_those_of_the_vectors(d: int, s: int, seed: int) -> None:
    u, v = Run.seeded(seed).normal(2, d), Run.seeded(seed + 1).normal(3, d)
    found = symmetric_tensors.powers(u, s) @ symmetric_tensors.powers(v, s).T
    torch.testing.assert_close(found, (u @ v.T) ** s)


def test_of_order_two_they_are_packed_matrices_in_another_order() -> None:
    u = Run.seeded(0).normal(4, 5)
    one, two = symmetric_tensors.powers(u, 2), symmetric.squares(u)
    torch.testing.assert_close(one.sort(dim=1)[0], two.sort(dim=1)[0])


@pytest.mark.parametrize("s", [2, 3, 4])
def test_all_slots_but_one_are_filled(s: int) -> None:
    run = Run.seeded(0)
    w, c, u = run.normal(6, 4), run.normal(6, 2), run.normal(3, 4)
    columns = symmetric_tensors.powers(w, s).T @ c
    found = symmetric_tensors.powers(u, s - 1) @ symmetric_tensors.slices(columns, 4, s).flatten(1)
    expected = torch.einsum("rk,kj,ki->rji", (u @ w.T) ** (s - 1), c, w)
    torch.testing.assert_close(found.view(3, 2, 4), expected)


@pytest.mark.parametrize("s", [2, 3, 4])
def test_all_slots_but_two_are_filled(s: int) -> None:
    run = Run.seeded(0)
    w, v = run.normal(1, 4)[0], run.normal(1, 4)
    found = symmetric_tensors.contracted(symmetric_tensors.powers(w[None], s), v, s)[0]
    torch.testing.assert_close(found, (v[0] @ w) ** (s - 2) * outer(w, 2))


def test_a_vector_is_no_matrix() -> None:
    with pytest.raises(ValueError, match="order 2 or more was wanted"):
        symmetric_tensors.contracted(torch.ones(1, 3), torch.ones(1, 3), 1)
