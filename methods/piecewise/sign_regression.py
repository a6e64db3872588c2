"""All planes of one hidden layer of ReLUs at once, by one linear least-squares problem on fresh points.

With p_j(x) = ⟨n_j, x⟩ + b_j and the signs of all p_j at every point known, as rough planes tell them,

    (1)  f(x) = ½ Σ_j ⟨θ_j, (x, 1)⟩ sign p_j(x) + ⟨A, (x, 1)⟩,   θ_j = α_j (n_j, b_j),

is linear in θ and A. Written with ReLUs instead of signs the columns would share x/2, and the condition grow with √m.

    (2)  a neuron needs more points on its rarer side than it has parameters, and two neurons whose signs nearly always
         agree need them on both sides of their planes, where these are farthest from all others,

or the residual vanishes at wrong weights. Rows are weighted by 1 / √(1 + |x|² / D). Few unknowns are solved for by
QR, many by LSMR, for which a product costs as much as a network's values, and again for the residual in long doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from paramid.methods.piecewise.line_kinks import Array, Places, Values
from paramid.methods.piecewise.planes import Planes, factors

RATIO, SPARE = 2.0, 10  # points for each unknown, and more
NARROW, WIDE = 0.7, 1.5  # of the standard deviation of points
OFF, UNSURE = 1e-6, 1e-2  # of a point's distance, from every plane: a rough one does not tell the sign nearer than that
AGAIN = 4
DENSE = 1500  # unknowns that QR is for
ROWS = 4096  # at a time
REFINED, ITERATIONS, TOLERANCE, SETTLED = 8, 600, 1e-5, 1e-14
CANDIDATES, BETWEEN = 512, 0.45  # points looked at on a plane; of the distance to the next plane


Solve = Callable[[Array], Array]  # a residual -> the change of θ and A


class Fit(NamedTuple):
    """θ of (1) as planes, A as (outputs, inputs + 1), and the largest weighted residual."""

    planes: Planes
    affine: Array
    residual: float


def fit(f: Values, planes: Planes, source: np.random.Generator) -> Fit:
    """(1) by least squares on points that meet (2), again where better planes tell other signs."""
    x = points(planes, source)
    values = f(x)
    for _ in range(AGAIN):
        found = solved(x, values, planes)
        before, planes = planes, found.planes
        if np.array_equal(sides(planes, x), sides(before, x)):
            break
    return found


def sides(planes: Planes, x: Array) -> Array:
    """The signs of all p_j."""
    return np.sign(x @ planes.n.T + planes.b)


def solved(x: Array, values: Array, planes: Planes) -> Fit:
    """(1) with the signs that these planes tell."""
    weight = 1 / np.sqrt(1 + np.square(x).mean(1))
    lifted = np.hstack([x, np.ones((len(x), 1))])
    signs = np.hstack([sides(planes, x), np.ones((len(x), 1))]) * weight[:, None]
    start = np.concatenate([halves(planes), np.zeros((values.shape[1], 1, lifted.shape[1]))], axis=1)
    start[:, -1] = affine_rest(lifted, signs, weight, values, start)
    solve = dense(lifted, signs) if start[0].size <= DENSE else matrix_free(lifted, signs)
    theta, residual = start, 0.0
    for output, y in enumerate((values * weight[:, None]).T):
        for _ in range(REFINED):
            change = solve(unexplained(y, lifted, signs, theta[output]))
            theta[output] += change
            if np.abs(change).max() < SETTLED * max(1.0, float(np.abs(theta[output]).max())):
                break
        residual = max(residual, float(np.abs(unexplained(y, lifted, signs, theta[output])).max()))
    return Fit(as_planes(2 * theta[:, :-1], planes), theta[:, -1], residual)


def halves(planes: Planes) -> Array:
    """½ α_j (n_j, b_j), (outputs, neurons, inputs + 1)."""
    return 0.5 * planes.alpha.T[:, :, None] * np.hstack([planes.n, planes.b[:, None]])


def affine_rest(lifted: Array, signs: Array, weight: Array, values: Array, start: Array) -> Array:
    """The affine function that the rough planes leave: where LSMR begins."""
    rest = [values[:, o] * weight - product(lifted, signs, start[o]) for o in range(len(start))]
    return np.asarray(np.linalg.lstsq(lifted * weight[:, None], np.stack(rest, 1), rcond=None)[0].T, dtype=np.float64)


def product(lifted: Array, signs: Array, theta: Array) -> Array:
    """(1) at the points, weighted."""
    return np.einsum("nj,nj->n", lifted @ theta.T, signs)


def unexplained(y: Array, lifted: Array, signs: Array, theta: Array) -> Array:
    """What (1) leaves of the values, in long doubles: the rounding of so many terms would show in θ."""
    left = np.empty(len(y))
    for low in range(0, len(y), ROWS):
        some = slice(low, low + ROWS)
        p = lifted[some].astype(np.longdouble) @ theta.T.astype(np.longdouble)
        left[some] = y[some] - (p * signs[some]).sum(1)
    return left


def dense(lifted: Array, signs: Array) -> Solve:
    """Least squares by one QR."""
    matrix = (signs[:, :, None] * lifted[:, None]).reshape(len(lifted), -1)
    q, r = np.linalg.qr(matrix)
    return lambda left: np.linalg.lstsq(r, q.T @ left, rcond=None)[0].reshape(signs.shape[1], -1)


def matrix_free(lifted: Array, signs: Array) -> Solve:
    """Least squares by LSMR."""
    shape = (signs.shape[1], lifted.shape[1])
    operator = LinearOperator(
        (len(lifted), shape[0] * shape[1]),
        matvec=lambda theta: product(lifted, signs, theta.reshape(shape)),
        rmatvec=lambda left: ((signs * left[:, None]).T @ lifted).ravel(),
        dtype=np.float64,
    )
    return lambda left: lsmr(operator, left, atol=TOLERANCE, btol=TOLERANCE, conlim=1e12, maxiter=ITERATIONS)[
        0
    ].reshape(shape)


def as_planes(theta: Array, rough: Planes) -> Planes:
    """θ as planes, oriented as the rough ones."""
    n, alpha = factors(theta[:, :, :-1].transpose(1, 0, 2))
    towards = np.where(np.einsum("ji,ji->j", n, rough.n) < 0, -1.0, 1.0)
    n, alpha = n * towards[:, None], alpha * towards[:, None]
    b = np.einsum("oj,jo->j", theta[:, :, -1], alpha) / np.square(alpha).sum(1)
    return rough._replace(n=n, b=b, alpha=alpha)


def points(planes: Planes, source: np.random.Generator) -> Array:
    """Points of (1) that meet (2)."""
    m, d = planes.n.shape
    enough = int(RATIO * (d + 1)) + 2
    x = scattered(planes, int(RATIO * (m + 1) * (d + 1)) + SPARE, source)
    for _ in range(3):
        x = np.concatenate([x, *rarer_sides(planes, x, enough, source)])
    signs = sides(planes, x)
    agree = np.abs(signs.T @ signs)
    np.fill_diagonal(agree, 0)
    close = np.flatnonzero((len(x) - agree < 4 * enough).any(1))
    return np.concatenate([x, *(beside(planes, int(j), source) for j in close)])


def scattered(planes: Planes, count: int, source: np.random.Generator) -> Array:
    """Gaussian points of many sizes, none near a plane."""
    d = planes.n.shape[1]
    most = max(WIDE, 2 * float(np.abs(planes.b).max(initial=0)))
    kept: list[Array] = []
    while sum(map(len, kept)) < count:
        size = np.exp(source.uniform(np.log(NARROW), np.log(most), (2 * count, 1)))
        kept.append(clear(planes, source.standard_normal((2 * count, d)) * size))
    return np.concatenate(kept)[:count]


def clear(planes: Planes, x: Array) -> Array:
    """Those that are on no plane, as far as it is known."""
    unsure = np.clip(planes.unsure, OFF, UNSURE) * (1 + np.linalg.norm(x, axis=1, keepdims=True))
    return x[(np.abs(x @ planes.n.T + planes.b) > unsure).all(1)]


def rarer_sides(planes: Planes, x: Array, enough: int, source: np.random.Generator) -> list[Array]:
    """Further points on the side of a neuron where there are too few."""
    side = x @ planes.n.T + planes.b > 0
    added = []
    for j, count in enumerate(side.sum(0)):
        if (lacking := enough - min(count, len(x) - count)) <= 0:
            continue
        n, towards = planes.n[j], 1.0 if 2 * count < len(x) else -1.0
        near = source.standard_normal((2 * lacking, len(n))) * source.uniform(NARROW, WIDE, (2 * lacking, 1))
        depth = towards * (np.abs(source.standard_normal(2 * lacking)) + 1e-3)
        near += (depth - near @ n - planes.b[j])[:, None] * n
        added.append(clear(planes, near)[:lacking])
    return added


def beside(planes: Planes, j: int, source: np.random.Generator) -> Array:
    """D + 1 points on either side of a plane, at the point of it that is farthest from all others."""
    n, d = planes.n[j], planes.n.shape[1]
    x = source.standard_normal((CANDIDATES, d)) * source.choice([0.5, 1.0, 2.0], (CANDIDATES, 1))
    x -= (x @ n + planes.b[j])[:, None] * n
    others: Places = np.flatnonzero(np.arange(len(planes.n)) != j)
    size = 1 + np.sqrt(np.square(x).mean(1))
    away = np.minimum(np.abs(x @ planes.n[others].T + planes.b[others]).min(1, initial=np.inf), size)
    best = int(np.argmax(away / size))
    step = BETWEEN * away[best]
    sides = [x[best] + towards * 0.5 * away[best] * n for towards in (1.0, -1.0)]
    return np.concatenate([np.vstack([middle, middle + step * np.eye(d)]) for middle in sides])
