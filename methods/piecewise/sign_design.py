"""All planes of one hidden layer of ReLUs from as many values as there are unknowns, where inputs outnumber neurons.

With the signs s_j of all p_j(x) = ⟨n_j, x⟩ + b_j, f is linear in θ_j = α_j (n_j, b_j) and A (sign_regression). Fewer
neurons than inputs take any signs, and far from all planes:

    (1)  x_r = N⁺ (p_r - b),   p_rj = s_rj μ_r,

which needs N on few directions only: planes of f on a subspace of little more than m of them will do. Around every x_r
f is linear where all p_j stay on their sides, so that the values

    (2)  f(x_r + h_r v_i) = c_r + h_r ⟨g_r, v_i⟩,   v_i = Σ_l q_il t_l,   i = 0..D,

tell g_r and c_r by one system for all r: t_l are the columns of N⁺ and a basis of what is orthogonal to them, q the
cosines of the discrete transform, orthogonal to each other and to constants and at most √2. Then M (θ, A) = (g_r, c_r)
with M = [½ s, 1]. Its m + 1 rows of signs are those of a determinant as large as flips of single signs make it, so that
errors average out. A plane that is far away is crossed in one row only, where everything is farther.
All sums x_r + h_r v_i are exact: both are multiples of h_r 2⁻⁴⁰.
"""

from __future__ import annotations

import numpy as np

from paramid.methods.piecewise.line_kinks import Array, Flags, Values
from paramid.methods.piecewise.planes import Planes
from paramid.methods.piecewise.sign_regression import Fit, as_planes

GRID = 2.0**40
MARGIN, LEAST = 2.0, 0.25  # μ: of the middle |b|, and at least
FAR = 4.0  # times μ: a plane farther than that is crossed only once
ACROSS, ALONG, UNKNOWN = (
    0.5,
    1.0,
    0.05,
)  # of μ: how far v moves every p, moves along all planes, and where none is known
REFINED = 3
SHRINK, TRIES = 8.0, 3  # v, where it was too much
AWAY = 8.0  # times μ √D: points farther away are not worth it
BETTER = 1 + 1e-6  # a flip makes the determinant so much larger


def fit(f: Values, planes: Planes, basis: Array, source: np.random.Generator) -> Fit | None:
    """All planes, from those on the span of the first columns of a `basis`; None where they are too close."""
    m, known = planes.n.shape
    signs, size = patterns(planes.b, source)
    low = centres(planes, signs, size)
    if low is None:
        return None
    h, v = size / size.min(), size.min() * moves(planes.n, basis)
    x = rounded(low @ basis[:, :known].T / h[:, None]) * h[:, None]
    for _ in range(TRIES):
        v = rounded(v)
        values = np.stack([f(centre + length * v) for centre, length in zip(x, h, strict=True)])
        theta, rest = np.zeros((values.shape[2], m + 1, len(v))), values
        for _ in range(REFINED):
            theta += solved(rest, x, v, h, signs)
            rest = values - predicted(theta, x, v, h, signs)
        found = Fit(as_planes(theta[:, :m], lifted(planes, basis)), theta[:, m], float(np.abs(rest).max()))
        if clear(found.planes, x, v, h, signs):
            return found
        v = v / SHRINK
    return None


def lifted(planes: Planes, basis: Array) -> Planes:
    """Planes on the span of the first columns of `basis` as planes of the whole space."""
    along = basis[:, : planes.n.shape[1]].T
    return planes._replace(n=planes.n @ along, x=planes.x @ along)


def rounded(x: Array) -> Array:
    """On the grid."""
    return np.asarray(np.rint(x * GRID) / GRID, dtype=np.float64)


def patterns(b: Array, source: np.random.Generator) -> tuple[Array, Array]:
    """The s_r (m + 1, m + 1), the last of them 1 for A, and the μ_r."""
    m = len(b)
    least = max(LEAST, MARGIN * float(np.median(np.abs(b)))) if m else 1.0
    far = np.abs(b) > FAR * least
    size = np.full(m + 1, least)
    size[:m][far] = least * 2 ** np.ceil(np.log2(np.abs(b)[far] / least))
    usual, free = np.where(b < 0, -1.0, 1.0), np.ones((m + 1, m + 1), dtype=bool)
    free[:, np.append(far, True)] = False
    signs = np.ones(free.shape)
    signs[:, :m] = usual * (1 - 2 * np.eye(m + 1, m))
    while True:
        drawn = np.where(free, source.choice([-1.0, 1.0], free.shape), signs)
        if np.linalg.matrix_rank(drawn) > m:
            return telling(drawn, free), size


def telling(signs: Array, free: Flags) -> Array:
    """Signs with flips of those that are free, as long as they enlarge the determinant."""
    signs, inverse = signs.copy(), np.linalg.inv(signs)
    while True:
        factor = np.abs(1 - 2 * signs * inverse.T) * free
        i, j = np.unravel_index(np.argmax(factor), factor.shape)
        if factor[i, j] <= BETTER:
            return signs
        change = -2 * signs[i, j]
        signs[i, j] += change
        inverse -= np.outer(inverse[:, i], inverse[j]) * (change / (1 + change * inverse[j, i]))


def centres(planes: Planes, signs: Array, size: Array) -> Array | None:
    """(1), (m + 1, known directions); None where they are too far away."""
    m, known = planes.n.shape
    if m > known:
        return None
    s = signs[:, :m]
    least = np.where(s * planes.b > 0, np.abs(planes.b), 0) * (np.abs(planes.b) > FAR * size.min())
    wanted = s * np.maximum(size[:, None], least)
    x = (wanted - planes.b) @ np.linalg.pinv(planes.n).T
    return x if (np.linalg.norm(x, axis=1) < AWAY * size * np.sqrt(known)).all() else None


def moves(n: Array, basis: Array) -> Array:
    """The v_i of (2), (inputs + 1, inputs)."""
    (m, known), inputs = n.shape, len(basis)
    beside = np.linalg.svd(n)[2][m:].T
    t = np.zeros((inputs, inputs))
    t[:known, :m] = ACROSS * np.linalg.pinv(n)
    t[:known, m:known] = ALONG * beside
    t[known:, known:] = UNKNOWN * np.sqrt(known / max(inputs - known, 1)) * np.eye(inputs - known)
    angles = np.pi / (inputs + 1) * np.outer(np.arange(inputs + 1) + 0.5, np.arange(1, inputs + 1))
    return np.sqrt(2) * np.cos(angles) @ t.T @ basis.T


def solved(values: Array, x: Array, v: Array, h: Array, signs: Array) -> Array:
    """θ and A by (2), (outputs, m + 1, inputs + 1)."""
    rows, points, outputs = values.shape
    lifted = np.hstack([v, np.ones((points, 1))])
    local = np.linalg.solve(lifted, values.transpose(1, 0, 2).reshape(points, -1)).reshape(points, rows, outputs)
    local[:-1] /= h[:, None]
    local[-1] -= np.einsum("iro,ri->ro", local[:-1], x)
    half = signs * np.append(np.full(rows - 1, 0.5), 1.0)
    theta = np.linalg.solve(half, local.transpose(1, 0, 2).reshape(rows, -1))
    return theta.reshape(rows, points, outputs).transpose(2, 0, 1)


def predicted(theta: Array, x: Array, v: Array, h: Array, signs: Array) -> Array:
    """The values that θ and A make at all points."""
    half = signs * np.append(np.full(len(x) - 1, 0.5), 1.0)
    values = np.empty((len(x), len(v), len(theta)))
    for r, (centre, length, s) in enumerate(zip(x, h, half, strict=True)):
        at = np.hstack([centre + length * v, np.ones((len(v), 1))])
        values[r] = np.stack([at @ part.T @ s for part in theta], 1)
    return values


def clear(planes: Planes, x: Array, v: Array, h: Array, signs: Array) -> bool:
    """Whether all planes leave all points on the sides that were meant."""
    there = signs[:, :-1] * (x @ planes.n.T + planes.b)
    lean = np.abs(v @ planes.n.T).max(0, initial=0)
    return bool((there > h[:, None] * lean).all())
