"""Lattice reduction: short vectors among the integer combinations of given rows.

A basis b_0, b_1, … with B = Q R, its vectors the columns of B and R upper triangular, is reduced when

    (1)  |R_jk| <= R_jj / 2 for j < k,                                (size)
    (2)  R_k+1,k+1² + R_k,k+1² >= δ R_kk²                             (Lovász)

for some δ < 1: then its first vector is at most (δ - 1/4)^((1-n)/2) times as long as the shortest of the lattice, and
in practice 1.02ⁿ times as long as one expects in a random lattice. Multiples of earlier vectors are taken from later
ones for (1), and neighbours that violate (2) exchanged, until none do: all even or all odd pairs at once, several
times by rotations of R before it is computed anew from the basis. That is exact: sums and products of integers
are taken modulo 2^64, whatever the size of those in between.

References: Lenstra, Lenstra & Lovász, Factoring polynomials with rational coefficients, Math. Ann. 261 (1982);
Villard, Parallel lattice basis reduction, ISSAC 1992.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
ROUNDS = 12  # of exchanges between two factorisations
ENOUGH = 5000  # factorisations: a hundred times what a hundred dimensions need


def reduced(basis: Integers, *, delta: float = 0.99) -> Integers:
    """The reduced basis of the lattice of the independent integer rows of `basis`."""
    b = basis.copy()
    for _ in range(ENOUGH):
        r: Array = np.linalg.qr(b.T.astype(np.float64))[1]
        shorten(r, b, 0, len(b))
        if not exchanged(r, b, delta):
            break
    return b


def shorten(r: Array, b: Integers, low: int, high: int) -> None:
    """(1) for low <= j < k < high by nearest planes: both halves, then the later one against the earlier.

    What is subtracted has been shortened before, or multiples would grow exponentially with the dimension.
    """
    if high - low < 2:
        return
    middle = (low + high) // 2
    shorten(r, b, low, middle)
    shorten(r, b, middle, high)
    for j in range(middle - 1, low - 1, -1):
        mu = np.rint(r[j, middle:high] / r[j, j])
        if mu.any():
            r[: j + 1, middle:high] -= np.outer(r[: j + 1, j], mu)
            b[middle:high] -= np.outer(mu.astype(np.int64), b[j])


def exchanged(r: Array, b: Integers, delta: float) -> bool:
    """Whether any neighbours violated (2); those that did are exchanged."""
    some = False
    for parity in range(ROUNDS):
        k = np.arange(parity % 2, len(b) - 1, 2)
        mu = np.rint(r[k, k + 1] / r[k, k])
        beside = r[k, k + 1] - mu * r[k, k]
        worse = r[k + 1, k + 1] ** 2 + beside**2 < delta * r[k, k] ** 2
        if worse.any():
            some = True
            exchange(r, b, k[worse], mu[worse])
    return some


def exchange(r: Array, b: Integers, k: NDArray[np.intp], mu: Array) -> None:
    """b_k and b_k+1 - μ b_k change places, and rows k and k+1 of R are rotated until it is triangular again."""
    b[k], b[k + 1] = b[k + 1] - mu.astype(np.int64)[:, None] * b[k], b[k]
    r[:, k], r[:, k + 1] = r[:, k + 1] - mu * r[:, k], r[:, k]
    length = np.hypot(r[k, k], r[k + 1, k])
    c, s = (r[k, k] / length)[:, None], (r[k + 1, k] / length)[:, None]
    r[k], r[k + 1] = c * r[k] + s * r[k + 1], c * r[k + 1] - s * r[k]
