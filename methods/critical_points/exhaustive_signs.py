"""Which way each neuron of the last hidden layer looks: all 2^m answers, each with the output layer that fits it best.

    (1)  f(x) = Σ_k u_k max(0, σ_k z_k(x)) + c  for σ ∈ {±1}^m, by least squares in u and c; the least residual wins.

All columns max(0, ±z_k) are multiplied with each other once: a fit is then a system of m + 1 equations, from that
table. What that rounds away is decided between the best few by fits on the columns themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from paramid.methods.piecewise.line_kinks import Array, Places

CHUNK = 2**20  # numbers in memory at once
BEST = 16  # patterns that are fitted again
RIDGE = 1e-14  # for units that are active nowhere


def signs(z: Array, y: Array) -> Array:
    """±1 for each row by (1), from pre-activations (points, m) and values (points,)."""
    m = z.shape[1]
    columns = np.hstack([np.maximum(z, 0), np.maximum(-z, 0), np.ones((len(z), 1))])
    columns /= np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    table, target = columns.T @ columns + RIDGE * np.eye(2 * m + 1), columns.T @ y
    together, best, least = max(1, CHUNK // (m + 1) ** 2), np.empty(0, dtype=np.intp), np.empty(0)
    for begin in range(0, 2**m, together):
        numbers = np.arange(begin, min(begin + together, 2**m))
        best, least = np.append(best, numbers), np.append(least, -explained(table, target, chosen(numbers, m)))
        few = np.argsort(least, kind="stable")[:BEST]
        best, least = best[few], least[few]
    left = [residual(columns[:, which], y) for which in chosen(best, m)]
    return np.where(chosen(best[np.argmin(left)][None], m)[0, :m] < m, 1.0, -1.0)


def chosen(numbers: Places, m: int) -> Places:
    """The columns of patterns, (patterns, m + 1): the bits of a number are the neurons that are turned."""
    turned = numbers[:, None] >> np.arange(m) & 1
    return np.hstack([np.arange(m) + m * turned, np.full((len(numbers), 1), 2 * m)])


def explained(table: Array, target: Array, which: Places) -> Array:
    """How much of |f|² each of the patterns explains."""
    b = target[which]
    u = np.linalg.solve(table[which[:, :, None], which[:, None, :]], b[..., None])[..., 0]
    return np.asarray((b * u).sum(1))


def residual(columns: Array, y: Array) -> float:
    """What a pattern leaves of f."""
    return float(np.linalg.norm(y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]))
