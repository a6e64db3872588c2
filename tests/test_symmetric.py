"""Packing is an isometry from symmetric matrices onto vectors, in the order in which the judge reads them."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import symmetric

sizes, seeds = st.integers(1, 9), st.integers(0, 10**6)


def matrices(count: int, d: int, seed: int) -> Tensor:
    a = Run.seeded(seed).normal(count * d, d).reshape(count, d, d)
    return a + a.mT


@given(d=sizes, seed=seeds)
def test_unpack_undoes_pack(d: int, seed: int) -> None:
    a = matrices(4, d, seed)
    packed = symmetric.pack(a)
    assert packed.shape == (4, d * (d + 1) // 2)
    torch.testing.assert_close(symmetric.unpack(packed, d), a, rtol=1e-15, atol=0)


@given(d=sizes, seed=seeds)
def test_pack_undoes_unpack_so_that_no_entry_is_missing(d: int, seed: int) -> None:
    v = Run.seeded(seed).normal(4, d * (d + 1) // 2)
    torch.testing.assert_close(symmetric.pack(symmetric.unpack(v, d)), v, rtol=1e-15, atol=0)


@given(d=sizes, seed=seeds)
def test_unpacked_vectors_are_symmetric(d: int, seed: int) -> None:
    a = symmetric.unpack(Run.seeded(seed).normal(3, d * (d + 1) // 2), d)
    assert torch.equal(a, a.mT)


@given(d=sizes, seed=seeds)
def test_packing_keeps_inner_products(d: int, seed: int) -> None:
    a = matrices(5, d, seed)
    packed = symmetric.pack(a)
    wanted = torch.einsum("aij,bij->ab", a, a)
    torch.testing.assert_close(packed @ packed.T, wanted, rtol=0, atol=1e-13 * float(wanted.max()))


@given(d=sizes, seed=seeds)
def test_squares_are_the_packed_outer_products(d: int, seed: int) -> None:
    u = Run.seeded(seed).normal(6, d)
    torch.testing.assert_close(symmetric.squares(u), symmetric.pack(u[:, :, None] * u[:, None, :]))


def test_leading_dimensions_are_carried_along() -> None:
    u = Run.seeded(0).normal(6, 4)
    folded = symmetric.squares(u.reshape(2, 3, 4))
    assert torch.equal(folded, symmetric.squares(u).reshape(2, 3, 10))
    assert torch.equal(symmetric.unpack(folded, 4).flatten(0, 1), symmetric.unpack(folded.flatten(0, 1), 4))


@given(d=st.integers(2, 9), seed=seeds)
def test_the_judge_reads_the_same_order(d: int, seed: int) -> None:
    w = Run.seeded(seed).sphere(d, d).T
    basis, squares = span_of_squares(w), symmetric.squares(w.T).T
    torch.testing.assert_close(basis @ (basis.T @ squares), squares)


def test_the_order_is_the_upper_triangle_row_by_row() -> None:
    a = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]], dtype=torch.float64)
    root = 2**0.5
    wanted = torch.tensor([1.0, 2 * root, 3 * root, 4.0, 5 * root, 6.0], dtype=torch.float64)
    torch.testing.assert_close(symmetric.pack(a), wanted, rtol=1e-15, atol=0)
