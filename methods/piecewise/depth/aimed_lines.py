"""Short lines where they tell what lines at random do not.

`unseen`: across the plane of a row where a neuron below has just become active that the row never met. For an entry
(l, j) that no kink has shown, points with

    (1)  q_l(x) = 0,   z_j(x) = δ ‖∇z_j‖ > 0,

by Newton's method in both from many starts, half of them near kinks of row l; a line through such a point along ∇q_l,
less its part along ∇z_j, crosses the row's plane near by, wherever the entry moves it to.

`beside`: near kinks of a neuron that is rarely met, a little aside along its plane, across it.

`sparse`: where few neurons are active, for a layer wider than the inputs: its gradients tell which way it looks, and
the kinks there show rows above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.depth import evidence, membership
from paramid.methods.piecewise.depth import stack as stacks
from paramid.methods.piecewise.depth.stack import FLAT, Rows, Stack, size
from paramid.methods.piecewise.line_kinks import Array, Flags, Lines, Places
from paramid.methods.piecewise.planes import Planes

TRIES, STEPS, GENTLE = (
    40,
    60,
    40,
)  # starts for an entry, steps of Newton's, and how many of them are shortened at random
DISTANCES = (0.03, 0.1, 0.3)  # δ
HALF = 0.4  # length of a line
LEAST_ASIDE, MOST_ASIDE = 0.05, 1.0  # of a kink's size
LOOKED_AT, SPARSEST = 5000, 10  # points looked at; times as many as are wanted are drawn from
FOUND, PARALLEL, FAR, NEAR = 1e-6, 1e-12, 20.0, 0.1


class Both(NamedTuple):
    """(1) at points: what is wanted to vanish, its gradients, and where it says anything."""

    off: Array  # (points, 2)
    gradients: Array  # (points, 2, inputs)
    apart: Flags
    clear: Flags
    others: Places  # unseen entries, of row l, that are met besides j


def unseen(stack: Stack, rows: Rows, kinks: Planes, source: np.random.Generator) -> Lines | None:
    """One line for every unseen entry of the rows that a point is found for."""
    entries = np.argwhere(~rows.seen)
    row, neuron = (np.repeat(part, TRIES) for part in entries.T)
    delta = source.choice(DISTANCES)
    x = starts(stack, rows, kinks, entries[:, 0], source)
    for step in range(STEPS):
        both = wanted(stack, rows, row, neuron, x, delta)
        left = residual(both)
        if step + 1 < STEPS:
            share = source.uniform(0.3, 1, (len(x), 1)) if step < GENTLE else 1.0
            x = x + share * (left > FLAT)[:, None] * moves(both, source)
    good = (left < FOUND) & both.clear & (stacks.size(x) < FAR)
    if not good.any():
        return None
    rank = np.lexsort((stacks.size(x), both.others, np.repeat(np.arange(len(entries)), TRIES)))
    rank = rank[good[rank]]
    first = rank[np.unique(rank // TRIES, return_index=True)[1]]
    z, q = both.gradients[first].transpose(1, 0, 2)
    share = np.einsum("pd,pd->p", q, z) / np.maximum(np.square(z).sum(1), FLAT**2)
    return evidence.near(x[first], q - share[:, None] * z, HALF)


def beside(kinks: Planes, source: np.random.Generator) -> Lines:
    """A line near every kink, across its plane."""
    aside = np.exp(source.uniform(np.log(LEAST_ASIDE), np.log(MOST_ASIDE), (len(kinks.b), 1))) * size(kinks.x)[:, None]
    move = source.standard_normal(kinks.x.shape)
    move -= np.einsum("kd,kd->k", move, kinks.n)[:, None] * kinks.n
    return Lines(kinks.x + aside * move / np.linalg.norm(move, axis=1, keepdims=True), aside * kinks.n)


def sparse(stack: Stack, count: int, source: np.random.Generator) -> Lines:
    """Lines through points where the last layer has few active neurons."""
    x = membership.scattered(LOOKED_AT, stack.inputs, source)
    fewest = np.argsort(stack.local(x).active.sum(1), kind="stable")[: SPARSEST * count]
    return evidence.near(x[source.permutation(fewest)[:count]], source.standard_normal((count, stack.inputs)), 1.0)


def starts(stack: Stack, rows: Rows, kinks: Planes, wanted_rows: Places, source: np.random.Generator) -> Array:
    """`TRIES` points for each of the rows, half of them near its kinks."""
    x = membership.scattered(TRIES * len(wanted_rows), stack.inputs, source)
    on = stack.rows(rows, kinks.x).distance() < membership.ON_PLANE * stacks.size(kinks.x)[:, None]
    for number, row in enumerate(wanted_rows):
        where = np.flatnonzero(on[:, row])
        if len(where):
            half = slice(number * TRIES, number * TRIES + TRIES // 2)
            chosen = kinks.x[source.choice(where, TRIES // 2)]
            x[half] = chosen + NEAR * source.standard_normal(chosen.shape)
    return x


def wanted(stack: Stack, rows: Rows, row: Places, neuron: Places, x: Array, delta: float) -> Both:
    """(1) at points, each with its own row and neuron."""
    each = np.arange(len(x))
    below, last = Stack(stack.inputs, stack.layers[:-1]), stack.layers[-1]
    here = below.local(x)
    z = stacks.preactivations(here, last, x)
    active = z.q > 0
    above = stacks.Local(
        z.gradient * active[:, :, None],
        (here.offset @ last.w.T + last.b) * active,
        active,
        np.any(z.vague, axis=1),
    )
    q = stacks.preactivations(above, rows, x)
    gradients = np.stack([z.gradient[each, neuron], q.gradient[each, row]], axis=1)
    length = z.length[each, neuron]
    off = np.stack([z.q[each, neuron] - delta * length, q.q[each, row]], axis=1)
    others = (active & ~rows.seen[row]).sum(1) - 1
    apart = np.linalg.det(gradients @ gradients.transpose(0, 2, 1)) > PARALLEL * np.square(gradients).sum(2).prod(1)
    return Both(off, gradients, apart, ~above.vague & active[each, neuron], others)


def residual(both: Both) -> Array:
    """How far a point is from (1)."""
    far = np.abs(both.off) / np.maximum(np.linalg.norm(both.gradients, axis=2), FLAT)
    return np.where(both.apart, far.max(1), np.inf)


def moves(both: Both, source: np.random.Generator) -> Array:
    """Newton's steps, and random ones where the two gradients are parallel."""
    inputs = both.gradients.shape[2]
    gram = both.gradients @ both.gradients.transpose(0, 2, 1)
    gram[~both.apart] = np.eye(2)
    move = -np.einsum("pbd,pb->pd", both.gradients, np.linalg.solve(gram, both.off[..., None])[..., 0])
    move[~both.apart] = 0.3 * source.standard_normal((int((~both.apart).sum()), inputs))
    return membership.shortened(move, np.sqrt(inputs))
