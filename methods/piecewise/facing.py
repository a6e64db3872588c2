"""Which way each neuron of the only hidden layer looks: bits that the linear part of f shows, and nothing else.

α max(0, p) and its mirror image α max(0, -p) differ by α p, so that planes and jumps leave open which is there. With
f = ½ Σ_j α_j |p_j| + A and p_j = ⟨n_j, x⟩ + b_j,

    (1)  Σ_j σ_j α_j n_jᵀ = ½ Σ_j α_j n_jᵀ - A_x,   σ_j = 1 for a mirrored neuron, 0 for the others:

outputs times inputs equations, and no query can give more.

    (2)  Rank m: σ by least squares. A σ between 0 and 1 is a neuron *and* its mirror image on one plane.
    (3)  m less than twice the rank: 0 ≤ σ ≤ 1 has this one solution with high probability, and a linear programme it.
    (4)  Otherwise 2 σ - 1 is a short vector of a lattice (spans.linear_parts).

The output's bias is what remains of A's constant then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from paramid import GiveUp
from paramid.methods.piecewise.line_kinks import Array
from paramid.methods.piecewise.planes import Planes
from paramid.methods.spans.linear_parts import combination

ROUNDED = 1e-5  # a σ of (2) nearer to a whole number is one
SHARE, MOST = 100.0, 0.2  # or nearer than so many residuals of what the neuron sends on, but no more than this
HOLDS = 1e-6  # of the largest coefficient: what (1) may leave after rounding
RANK = 1e-10
EACH, EVERYWHERE = 2, 6  # fresh points at every plane, on both of its sides, and anywhere
SIZES, NEAREST = (0.5, 2.0), 1e-3  # of their lengths; of their distances from the plane, up to 1
KNOWN = 1e-13  # of the largest coefficient: what (1) is known to, for lattices


class Layer(NamedTuple):
    """Σ_j α_j max(0, ⟨n_j, x⟩ + b_j) + c."""

    n: Array
    b: Array
    alpha: Array
    c: Array

    def __call__(self, x: Array) -> Array:
        """Its values."""
        return np.maximum(x @ self.n.T + self.b, 0) @ self.alpha + self.c


def faced(planes: Planes, affine: Array, residual: float) -> Layer:
    """The layer whose planes and affine part (outputs, inputs + 1) these are."""
    lifted = np.hstack([planes.n, planes.b[:, None]])
    left = 0.5 * lifted.T @ planes.alpha - affine.T  # (inputs + 1, outputs)
    columns = (planes.alpha.T[:, None] * planes.n.T[None]).reshape(affine[:, :-1].size, len(planes.n))
    sigma = mirrored(columns, left[:-1].T.ravel(), residual) if len(planes.n) else np.zeros(0)
    c = (sigma * planes.b) @ planes.alpha - left[-1]
    turn = np.where(sigma == 1, -1.0, 1.0)
    both = np.flatnonzero((sigma != 0) & (sigma != 1))
    share = np.where((sigma == 0) | (sigma == 1), 1.0, 1 - sigma)
    return Layer(
        np.vstack([planes.n * turn[:, None], -planes.n[both]]),
        np.concatenate([planes.b * turn, -planes.b[both]]),
        np.vstack([planes.alpha * share[:, None], planes.alpha[both] * sigma[both, None]]),
        c,
    )


def mirrored(columns: Array, y: Array, residual: float) -> Array:
    """The σ of (1)."""
    m, largest = columns.shape[1], float(np.abs(columns).max())
    sigma, _, rank, _ = np.linalg.lstsq(columns, y, rcond=RANK)
    if rank == m:
        whole = np.rint(sigma)
        near = np.clip(SHARE * residual / np.linalg.norm(columns, axis=0), ROUNDED, MOST)
        return np.where((np.abs(sigma - whole) < near) & (np.abs(whole - 0.5) < 1), whole, sigma)
    if m < 2 * rank:
        solved = linprog(np.zeros(m), A_eq=columns / largest, b_eq=y / largest, bounds=[(0, 1)] * m, method="highs")
        if solved.x is not None and np.abs(columns @ np.rint(solved.x) - y).max() < HOLDS * largest:
            return np.rint(solved.x)
    signs = combination(columns / largest, (2 * y - columns.sum(1)) / largest, max(KNOWN, residual / largest))
    return (signs + 1) / 2


def felt(layer: Layer, source: np.random.Generator) -> Array:
    """Points near every plane, on both of its sides: where it is not as claimed, one of them is between the two."""
    m, d = layer.n.shape
    x = source.standard_normal((m, EACH, d)) * source.uniform(*SIZES, (m, EACH, 1))
    near = np.exp(source.uniform(np.log(NEAREST), 0, (m, EACH)))
    off = np.einsum("mki,mi->mk", x, layer.n) + layer.b[:, None]
    sides = [x + (towards * near - off)[..., None] * layer.n[:, None] for towards in (1.0, -1.0)]
    return np.concatenate([source.standard_normal((EVERYWHERE, d)), *(side.reshape(-1, d) for side in sides)])


def certain(layer: Layer, x: Array, values: Array, bound: Array) -> None:
    """Give up where fresh values are not the layer's."""
    off = np.abs(layer(x) - values).max(1)
    if (off > bound).any():
        raise GiveUp(f"fresh values differ from the network found by {off.max():.1e}")
