"""All of one hidden layer at once, up to one factor, from points where it vanishes.

With the signs of all p_j = ⟨n_j, x⟩ + b_j known, as rough planes tell them,

    (1)  0 = f(x) = ½ Σ_j ⟨θ_j, (x, 1)⟩ sign p_j(x) + ⟨A, (x, 1)⟩,   θ_j = α_j (n_j, b_j),

is linear and homogeneous in (θ, A), and enough points of the boundary leave one solution, the last singular vector: the
only one where the singular value before it is far above the last. The factor is such that Σ_j α_j² = 1. At first the
points are those of the planes of pieces,

    (2)  x_0 and x_0 + e_i, the e_i orthogonal to g: there the function of x_0's own signs vanishes, wherever they are,

and, once the network is roughly known, points beside every bend, on either side of its plane, each to the last bit:

    (3)  where the rough network vanishes on a segment near a bend, halved in between a little below and above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from paramid import GiveUp
from paramid.methods.decisions import boundary
from paramid.methods.decisions.boundary import Decide
from paramid.methods.decisions.polylines import Pieces
from paramid.methods.piecewise import sign_regression
from paramid.methods.piecewise.line_kinks import EPS, Array, Flags, Values
from paramid.methods.piecewise.planes import Planes

POWERS = 6  # of inverse iteration
GAP = 1e-2  # the last singular value over the one before it
EACH, SPARE = 1.5, 4  # points of a neuron and side, for each of D + 1 unknowns, and more
LEAST, MOST = 0.05, 3.0  # distances from a bend
OFF = 1e-6  # of a point's size: what is nearer to a plane is on neither side of it
TRIES, POOL = 20, 4  # for points on one side of a plane; how many times as many segments are looked at


@dataclass(frozen=True)
class Vanishing:
    """Planes with α (m, 1), the affine part (1, D + 1), and how well (1) holds."""

    planes: Planes
    affine: Array
    residual: float

    def __call__(self, x: Array) -> Array:
        """Its values."""
        p = np.abs(x @ self.planes.n.T + self.planes.b)
        return np.asarray(0.5 * p @ self.planes.alpha[:, 0] + x @ self.affine[0, :-1] + self.affine[0, -1])


def vanishing(x: Array, like: Array, rough: Planes, inputs: Array, positive: Flags) -> Vanishing:
    """(1) at points with the signs of those `like` them; f's own sign by decisions on `inputs`."""
    lifted = np.hstack([x, np.ones((len(x), 1))])
    signs = np.hstack([sign_regression.sides(rough, like), np.ones((len(x), 1))])
    weighted = lifted / np.linalg.norm(lifted, axis=1, keepdims=True)
    matrix = (signs[:, :, None] * weighted[:, None]).reshape(len(x), signs.shape[1] * lifted.shape[1])
    if len(matrix) < matrix.shape[1]:
        raise GiveUp(f"the boundary shows {len(matrix)} equations of {matrix.shape[1]} unknowns")
    solution, ratio, residual = last(np.asarray(np.linalg.qr(matrix, mode="r")))
    if ratio > GAP:
        raise GiveUp(f"the boundary leaves more than one network: {ratio:.1e} between the last singular values")
    theta = solution.reshape(signs.shape[1], -1)
    theta /= 2 * np.linalg.norm(theta[:-1, :-1])
    found = Vanishing(sign_regression.as_planes(2 * theta[None, :-1], rough), theta[-1:], residual)
    if np.sum(found(inputs) * (2 * positive - 1)) < 0:
        found = Vanishing(found.planes._replace(alpha=-found.planes.alpha), -found.affine, residual)
    return found


def last(r: Array) -> tuple[Array, float, float]:
    """The last singular vector of a triangle, its singular value over the one before it, and over the largest entry."""
    size = float(np.abs(r).max())
    diagonal = np.diag(r)
    r = r + np.diag(np.where(np.abs(diagonal) < EPS * size, EPS * size, 0))
    block = np.linalg.qr(np.cos(np.arange(2.0 * len(r))).reshape(-1, 2))[0]
    for _ in range(POWERS):
        block = np.linalg.qr(solve_triangular(r, solve_triangular(r, block, trans="T")))[0]
    _, sizes, v = np.linalg.svd(r @ block, full_matrices=False)
    return block @ v[1], float(sizes[1] / sizes[0]), float(sizes[1] / size)


def of_pieces(x: Array, tangent: Array, source: np.random.Generator) -> tuple[Array, Array]:
    """(2): points, and those whose signs they have."""
    g = tangent[:, :-1]
    frame = np.concatenate([g[:, :, None], source.standard_normal((*g.shape, g.shape[1] - 1))], axis=2)
    aside = np.linalg.qr(frame)[0].transpose(0, 2, 1)
    aside[:, 0] = 0
    return (x[:, None] + aside).reshape(-1, x.shape[1]), np.repeat(x, x.shape[1], 0)


def beside_bends(decide: Decide, rough: Vanishing, pieces: Pieces, about: float, source: np.random.Generator) -> Array:
    """(3) for every neuron and side; the rough network is right to `about` of a point's size."""
    enough = int(EACH * (rough.planes.n.shape[1] + 1)) + SPARE
    x, across = zeros(rough, rough.planes, pieces, enough, source)
    off = about * (1 + np.linalg.norm(x, axis=1, keepdims=True)) * across
    good = boundary.crosses(decide, x, off, np.ones(len(x)))
    return boundary.halved(decide, x[good] - off[good], x[good] + off[good])


def zeros(f: Values, planes: Planes, pieces: Pieces, count: int, source: np.random.Generator) -> tuple[Array, Array]:
    """Where a network vanishes near bends, on either side of every plane, and which way it grows there."""
    ends = pieces.last[pieces.ended]
    nearest = np.abs(ends @ planes.n.T + planes.b).argmin(1)
    found = [(ends[:0], ends[:0])]
    for j in range(len(planes.n)):
        if len(near := ends[nearest == j]):
            found += [one_side(f, planes, j, towards, near, count, source) for towards in (-1.0, 1.0)]
    x, across = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return x, across


def one_side(
    f: Values,
    planes: Planes,
    j: int,
    towards: float,
    near: Array,
    count: int,
    source: np.random.Generator,
) -> tuple[Array, Array]:
    """Those on one side of plane j."""
    low, high = [], []
    for _ in range(TRIES):
        centre = near[source.integers(len(near), size=POOL * count)]
        size = np.exp(source.uniform(np.log(LEAST), np.log(MOST), (len(centre), 1))) / np.sqrt(near.shape[1])
        a, c = (centre + size * source.standard_normal(centre.shape) for _ in range(2))
        there = [towards * (x @ planes.n[j] + planes.b[j]) > 0 for x in (a, c)]
        use = there[0] & there[1] & (f(a) <= 0) & (f(c) > 0)
        low.append(a[use])
        high.append(c[use])
        if sum(map(len, low)) >= count:
            break
    a, c = np.concatenate(low)[:count], np.concatenate(high)[:count]
    x = boundary.halved(lambda at: f(at) > 0, a, c)
    clear = (np.abs(x @ planes.n.T + planes.b) > OFF * (1 + np.linalg.norm(x, axis=1))[:, None]).all(1)
    return x[clear], ((c - a) / np.linalg.norm(c - a, axis=1, keepdims=True))[clear]
