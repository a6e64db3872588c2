"""Above the last hidden layer f is linear: what its neurons send on, which way they look, and the rest.

With c_l the jump of f's gradient over a kink of row l by the length of ∇q_l,

    (1)  f - Σ_l c_l max(0, q_l) = ⟨λ, h⟩ + const,   λ = -Σ_l σ_l c_l ρ_l,   σ_l = 1 for a mirrored neuron,

as c max(0, q) = c max(0, -q) + c q: `facing` tells σ as for one hidden layer. c is read from kinks, not from (1): of a
neuron that rarely switches few pieces tell.

A neuron that never switches has no kink. If it is dead, nothing is missing; if it is always active it adds to λ what no
σ explains, and as many neurons as λ's rest has ranks take its place, with a bias that keeps them active: the function
is the same. Then σ is not determined by values; the one for which such a neuron is active most easily is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np

from paramid import GiveUp
from paramid.methods.piecewise import facing
from paramid.methods.piecewise.depth import membership
from paramid.methods.piecewise.depth import stack as stacks
from paramid.methods.piecewise.depth.evidence import Evidence
from paramid.methods.piecewise.depth.stack import Rows, Stack
from paramid.methods.piecewise.line_kinks import Array, Flags, Values
from paramid.methods.piecewise.planes import Gradients

ON_PLANE = 1e-7
WHOLE = 1e-2  # a σ nearer to a whole number is one
NOTHING = 1e-6  # of λ
RANK = 1e-12
ENOUGH, LOOKED_AT = 2, 4000  # values for each unknown of (1); points among which clear ones are looked for
SETTLING = 10  # reweighted least squares
ALL, STARTS = 14, 20  # neurons: all choices of σ are looked at; with more, how many at random
MOST = 500  # choices at once
ALWAYS = 4.0  # times the least value of a neuron that takes an always active one's place: its bias


class Top(NamedTuple):
    """The last hidden layer, oriented, and the output layer, (outputs, neurons) and (outputs,)."""

    rows: Rows
    w: Array
    b: Array


def top(f: Values, stack: Stack, rows: Rows, seen: Evidence, missing: int, source: np.random.Generator) -> Top:
    """(1), with at most `missing` neurons that never switch."""
    sends = jumps(stack, rows, seen)
    x, values = enough(f, stack, rows, seen.pieces, source)
    rows, left = resting(stack, rows, sends, x, values)
    sigma = mirrored(rows, sends, left, missing, source)
    bypass = rest_of(rows.w, sends, left.linear, sigma) * (left.h.max(0) > 0)[:, None]
    found = Top(rows.turned(np.where(sigma == 1, -1.0, 1.0)), sends.T, left.constant + (sigma * rows.b) @ sends)
    if missing and np.abs(bypass).max() > NOTHING * np.abs(left.linear).max():
        found = with_always_active(found, bypass, left.h, missing)
    return found


def resting(stack: Stack, rows: Rows, sends: Array, x: Array, values: Array) -> tuple[Rows, Rest]:
    """Rows with unseen entries turned so that they are at rest where these matter, as far as (1) tells; and (1)."""
    found = rest(stack, rows, sends, x, values)
    for row in np.flatnonzero(~rows.seen.all(1)):
        turned = rows.turned(np.where(np.arange(len(rows.b)) == row, -1.0, 1.0))
        other = rest(stack, turned, sends, x, values)
        if other.off < found.off:
            rows, found = turned, other
    return rows, found


def jumps(stack: Stack, rows: Rows, seen: Evidence) -> Array:
    """What every row sends on, c of (1) (rows, outputs), from its best kink."""
    kinks = seen.kinks
    z = stack.rows(rows, kinks.x)
    on = np.abs(z.q) < ON_PLANE * stacks.size(kinks.x)[:, None] * z.length
    sends = np.zeros((len(rows.b), kinks.alpha.shape[1]))
    for row in range(len(rows.b)):
        of_it = np.flatnonzero(on[:, row] & kinks.good)
        clear = of_it[~z.vague[of_it, row]]
        if not len(of_it):
            raise GiveUp(f"no kink tells what neuron {row} of the last hidden layer sends on")
        of_it = clear if len(clear) else of_it
        best = of_it[np.argmin(kinks.unsure[of_it])]
        sends[row] = kinks.alpha[best] / z.length[best, row]
    return sends


def enough(f: Values, stack: Stack, rows: Rows, pieces: Gradients, source: np.random.Generator) -> tuple[Array, Array]:
    """Points and values: pieces, and where these are few, further ones."""
    clear = ~stack.local(pieces.x).vague
    x, values = pieces.x[clear], pieces.f[clear]
    lacking = ENOUGH * (len(rows.b) + stack.width + 1) - int((~stack.rows(rows, x).vague.any(1)).sum())
    if lacking > 0:
        more = membership.scattered(LOOKED_AT, stack.inputs, source)
        vague = stack.rows(rows, more).vague.sum(1)
        more = more[np.argsort(vague, kind="stable")[:lacking]]
        x, values = np.concatenate([x, more]), np.concatenate([values, f(more)])
    return x, values


class Rest(NamedTuple):
    """λ (below, outputs) and the constant of (1), h where it holds, and the sum of what it leaves."""

    linear: Array
    constant: Array
    h: Array
    off: float


def rest(stack: Stack, rows: Rows, sends: Array, x: Array, values: Array) -> Rest:
    """(1) by least squares.

    Rows are taken to be at rest where an unseen entry matters; where they are not (1) is off, and those points are left
    out, which the least sum of absolute differences finds.
    """
    h, weight, z = stack(x), 1 / stacks.size(x)[:, None], stack.rows(rows, x)
    left = (values - np.where(z.vague, 0, np.maximum(z.q, 0)) @ sends) * weight
    matrix = np.hstack([h, np.ones((len(h), 1))]) * weight
    scale = max(float(np.abs(left).max(initial=0)), float(np.finfo(np.float64).tiny))
    left, length = left / scale, np.linalg.norm(matrix, axis=0)
    matrix = matrix / np.where(length > 0, length, 1)
    trust = np.ones(len(x))
    for _ in range(SETTLING if z.vague.any() else 1):
        found = np.linalg.lstsq(matrix * trust[:, None], left * trust[:, None], rcond=RANK)[0]
        off = np.abs(left - matrix @ found).max(1)
        trust = 1 / np.sqrt(np.maximum(off, NOTHING))
    right = off < 10 * max(NOTHING, float(np.median(off)))
    found = np.linalg.lstsq(matrix[right], left[right], rcond=RANK)[0]
    found = scale * found / np.where(length > 0, length, 1)[:, None]
    return Rest(found[:-1], found[-1], h[right], scale * float(off.sum()))


def rest_of(w: Array, sends: Array, linear: Array, sigma: Array) -> Array:
    """What σ leaves of λ, (below, outputs)."""
    return np.asarray(linear + (w.T * sigma) @ sends, dtype=np.float64)


def mirrored(rows: Rows, sends: Array, left: Rest, missing: int, source: np.random.Generator) -> Array:
    """The σ of (1), where h is felt; where neurons may be missing that leave a rest, the likeliest.

    Rows with unseen entries are taken to be turned rightly; if that does not come out whole, their columns are not
    used.
    """
    felt, why = left.h.max(0) > 0, "which way the last hidden layer's neurons look does not come out whole"
    for columns in dict.fromkeys((tuple(felt), tuple(felt & rows.seen.all(0)))):
        use = np.array(columns)
        if not use.any():
            continue
        equations = -(sends.T[:, None] * rows.w.T[None, use]).reshape(-1, len(rows.b))
        try:
            sigma = facing.mirrored(equations, left.linear[use].T.ravel(), 0.0)
        except GiveUp as error:
            why = str(error)
            continue
        whole = np.clip(np.rint(sigma), 0, 1)
        turned = (whole == 1) & ~(rows.seen | ~use).all(1)
        if np.abs(sigma - whole).max(initial=0) < WHOLE and not turned.any():
            return whole
    if not missing or not use.any():
        raise GiveUp(why)
    return likeliest(rows.w[:, use], np.all(rows.seen[:, use], axis=1), sends, left.linear[use], left.h[:, use], source)


def likeliest(w: Array, may: Flags, sends: Array, linear: Array, h: Array, source: np.random.Generator) -> Array:
    """The σ that leave what a single neuron sends on that needs the least bias to be active at all h.

    Only neurons that `may` are turned: with an unseen entry it is not known what that would leave. With few neurons all
    choices are looked at; else, from the shortest rest and at random, one σ at a time is turned while that helps.
    """
    free = np.flatnonzero(may)

    def left(sigma: Array) -> Array:
        rests = linear + np.einsum("kl,lb,lo->kbo", sigma, w[free], sends[free], optimize=True)
        return np.concatenate([needed(part, h) for part in np.array_split(rests, 1 + len(rests) // MOST)])

    if len(free) <= ALL:
        every = np.array(list(product((0.0, 1.0), repeat=len(free))))
        best = every[np.argmin(left(every))]
    else:
        equations = -(sends[free].T[:, None] * w[free].T[None]).reshape(-1, len(free))
        first = np.clip(np.rint(np.linalg.lstsq(equations, linear.T.ravel(), rcond=RANK)[0]), 0, 1)
        starts = [first, *source.integers(0, 2, (STARTS, len(free))).astype(np.float64)]
        best = min((climbed(start, left) for start in starts), key=lambda sigma: float(left(sigma[None])[0]))
    found = np.zeros(len(w))
    found[free] = best
    return found


def climbed(sigma: Array, left: Callable[[Array], Array]) -> Array:
    """One σ at a time is turned while that leaves less."""
    least = float(left(sigma[None])[0])
    while True:
        trials = np.abs(sigma - np.eye(len(sigma)))
        each = left(trials)
        if each.min() >= least:
            return sigma
        sigma, least = trials[int(each.argmin())], float(each.min())


def needed(rests: Array, h: Array) -> Array:
    """For each of (k, below, outputs): the bias that a neuron needs to be active at all h, in its typical values.

    Much is added where one neuron is too few.
    """
    u, sizes, _ = np.linalg.svd(rests, full_matrices=False)
    z = u[:, :, 0] @ h.T
    least = np.maximum(0, np.minimum(-z.min(1), z.max(1))) / np.maximum(np.abs(z).mean(1), RANK)
    return np.asarray(least + sizes[:, 1:].sum(1) / np.maximum(sizes[:, 0] * RANK, RANK), dtype=np.float64)


def with_always_active(found: Top, bypass: Array, h: Array, missing: int) -> Top:
    """The bypass (below, outputs) as neurons that are active at all h."""
    u, sizes, v = np.linalg.svd(bypass, full_matrices=False)
    rank = int((sizes > NOTHING * sizes[0]).sum())
    if rank > missing:
        raise GiveUp(f"{missing} neurons never switch; what is left takes {rank}")
    z = h @ u[:, :rank]
    towards = np.where(-z.min(0) <= z.max(0), 1.0, -1.0)
    w, sends = (u[:, :rank] * towards).T, (sizes[:rank, None] * v[:rank]).T * towards
    b = ALWAYS * np.maximum(1.0, -(z * towards).min(0))
    rows = found.rows
    together = Rows(np.vstack([rows.w, w]), np.append(rows.b, b), np.vstack([rows.seen, np.ones_like(w, bool)]))
    return Top(together, np.hstack([found.w, sends]), found.b - sends @ b)
