"""Which way each neuron of a layer looks in polynomial time, from its rows z = w h + b up to sign (EUROCRYPT 2024).

*Equations*, where inputs can move all m neurons of the layer: with M their gradients at x and moves δ of 1e-6,

    (1)  f(x + δ) - f(x) = Σ_j c_j (M δ)_j for m moves; a small c_j is an inactive neuron, a large one an active one.

*Wiggle*, in the middle, 200 votes a neuron: at a point where z_k = 0, found without queries, with Δ the input move that
moves h along row k by 1e-8, as far as inputs reach,

    (2)  |f(x + Δ) - f(x)| > |f(x - Δ) - f(x)| votes for +, where f is straight on both halves.

*Last*, below a linear output: with a move dx that raises z_k from -ε to 0,

    (3)  c_k = [f(x + 2dx) - 2 f(x + dx) + f(x)] / ε is the weight of neuron k whichever way it looks,
    (4)  f = Σ_k c_k [s_k max(0, z_k) + (1 - s_k) max(0, -z_k)] + c on m + 1 inputs gives s_k, near to 0 or 1.

Where the papers are left: with all |c_j| of (1) of one size all are active, and where all are rounding, as they may be
in small networks, it is tried elsewhere; the least sure tenth of (2) is not voted on again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramid import GiveUp
from paramid.methods.critical_points.known_layers import Known, Layer

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramid.methods.piecewise.line_kinks import Array, Places, Values

MOVE, FELT, ALIKE, TRIES = 1e-6, 1e-5, 1e3, 20  # of (1)
VOTES, ROUNDS, SHORT, NOTHING = 200, 20, 1e-8, 1e-13  # of (2)
STRAIGHT, HALF, PLACES = 1e-10, 1e-4, 7
RAISED, AGAIN, WHOLE = 1e-8, 3, 0.3  # of (3) and (4)
STEPS, RESTARTS, AT_ONCE, ON_PLANE, TINY = 100, 4, 20, 1e-6, 1e-12


def controlled(inputs: int, widths: tuple[int, ...], place: int) -> bool:
    """Whether inputs move all neurons of that hidden layer, one of the first two, at will."""
    return place < 2 and widths[place] <= min((inputs, *widths)[: place + 1])


def signs(f: Values, known: Known, rows: Layer, way: str, source: np.random.Generator) -> Array:
    """±1 for each row, by `equations`, `wiggle` or `last`."""
    ways: dict[str, Callable[[Values, Known, Layer, np.random.Generator], Array]] = {
        "equations": by_equations,
        "wiggle": by_wiggles,
        "last": below_output,
    }
    return ways[way](f, known, rows, source)


def by_equations(f: Values, known: Known, rows: Layer, source: np.random.Generator) -> Array:
    """(1) at ones, or where the units below are at 1; elsewhere if nothing is felt there."""
    below = known.layers[-1] if known.layers else Layer(np.eye(known.inputs), np.zeros(known.inputs))
    wanted: Array = np.ones(len(below.b))
    for _ in range(TRIES):
        x = np.asarray(np.linalg.lstsq(below.w, wanted - below.b, rcond=None)[0], dtype=np.float64)
        moves = source.uniform(-MOVE, MOVE, (len(rows.b), known.inputs))
        y = f(np.concatenate([x[None], x + moves]))[:, 0]
        c = np.abs(np.linalg.lstsq(moves @ (rows.w @ known.slopes(x[None])[0]).T, y[1:] - y[0], rcond=None)[0])
        if c.max() > FELT:
            active = (c > np.exp(np.log(np.maximum(c, 1e-300)).mean())) | (c.max() < ALIKE * c.min())
            return np.where(active == (rows(known.hidden(x[None]))[0] > 0), 1.0, -1.0)
        wanted = source.uniform(0, 2, len(below.b))
    raise GiveUp(f"layer {len(known.layers) + 1} is not felt at {TRIES} inputs")


def by_wiggles(f: Values, known: Known, rows: Layer, source: np.random.Generator) -> Array:
    """The majority of (2) for every neuron."""
    return np.array([np.sign(votes(f, known, rows, k, source).sum() + 0.5) for k in range(len(rows.b))])


def votes(f: Values, known: Known, rows: Layer, k: int, source: np.random.Generator) -> Array:
    """±1 from 200 points where neuron k switches."""
    cast = np.empty(0)
    for _ in range(ROUNDS):
        x = critical(known, rows, k, VOTES - len(cast), source)
        x, move = wiggles(known, rows.w[k], x)
        good = straight(f, x, move)
        x, move = x[good], move[good]
        y = f(np.concatenate([x, x + move, x - move]))[:, 0].reshape(3, -1)
        more = np.abs(y[1] - y[0]) - np.abs(y[2] - y[0])
        cast = np.append(cast, np.sign(more[np.abs(more) >= NOTHING]))
        if len(cast) >= VOTES:
            return cast
    raise GiveUp(f"{len(cast)} wiggles of neuron {k + 1} of layer {len(known.layers) + 1} tell anything")


def wiggles(known: Known, w: Array, x: Array) -> tuple[Array, Array]:
    """Δ of (2) at every point where there is one."""
    move = np.zeros_like(x)
    for number, slope in enumerate(known.slopes(x)):
        inverse = np.linalg.pinv(slope, rcond=1e-10)
        reached = slope @ (inverse @ w)
        reached[np.abs(reached) < TINY] = 0
        move[number] = SHORT * (inverse @ reached) / max(float(np.linalg.norm(reached)), 1e-300)
    felt = move.any(1)
    return x[felt], move[felt]


def straight(f: Values, x: Array, move: Array) -> Array:
    """Whether f is linear on either side, 1e-4 far."""
    direction = move / np.linalg.norm(move, axis=1, keepdims=True)
    t = HALF * np.arange(1, PLACES + 1) / PLACES
    places = np.stack([t, -t])[:, :, None, None]
    y = f((x + places * direction).reshape(-1, x.shape[1]))[:, 0].reshape(2, PLACES, len(x))
    return np.asarray((np.abs(np.diff(y, 2, axis=1)) < STRAIGHT).all((0, 1)))


def below_output(f: Values, known: Known, rows: Layer, source: np.random.Generator) -> Array:
    """(3) and (4)."""
    m = len(rows.b)
    c = np.array([outgoing(f, known, rows, k, source) for k in range(m)])
    x = source.uniform(-1, 1, (m + 1, known.inputs))
    z = rows(known.hidden(x))
    left = f(x)[:, 0] - np.maximum(-z, 0) @ c
    s = np.linalg.lstsq(np.hstack([z * c, np.ones((m + 1, 1))]), left, rcond=None)[0][:-1]
    if np.abs(s - (s > 0.5)).max() > WHOLE:
        raise GiveUp(
            f"the signs of layer {len(known.layers) + 1} are no whole numbers: its weights are not precise enough"
        )
    return np.where(s > 0.5, 1.0, -1.0)


def outgoing(f: Values, known: Known, rows: Layer, k: int, source: np.random.Generator) -> float:
    """The weight (3) of neuron k."""
    for _ in range(AGAIN):
        x = critical(known, rows, k, 1, source)
        if not len(x):
            continue
        z, gradient = preactivation(known, rows, k, x)
        dx = RAISED * gradient[0] / np.square(gradient[0]).sum()
        points = x[0] - z[0] / RAISED * dx + np.array([[-1.0], [0.0], [1.0]]) * dx
        if (known.pattern(points) == known.pattern(x)).all():
            y = f(points)[:, 0]
            return float(y[2] - 2 * y[1] + y[0]) / RAISED
    raise GiveUp(f"no input was found where neuron {k + 1} of layer {len(known.layers) + 1} switches")


def critical(known: Known, rows: Layer, k: int, count: int, source: np.random.Generator) -> Array:
    """At most that many points where neuron k switches: Newton's steps from [-1, 1]^d, halved while it gets worse."""
    found = np.empty((0, known.inputs))
    for restart in range(RESTARTS):
        x = source.uniform(-1, 1, (max(count - len(found), AT_ONCE), known.inputs))
        for _ in range(STEPS * 2**restart):
            z, gradient = preactivation(known, rows, k, x)
            if (np.abs(z) < ON_PLANE).all():
                break
            step = -z[:, None] * gradient / np.maximum(np.square(gradient).sum(1), TINY)[:, None]
            x = x + gentle(known, rows, k, x, step)
        good = np.abs(preactivation(known, rows, k, x)[0]) < ON_PLANE
        found = np.concatenate([found, x[good]])
        if len(found) >= count:
            break
    found = found[:count]
    z, gradient = preactivation(known, rows, k, found)
    return found - z[:, None] * gradient / np.square(gradient).sum(1)[:, None]


def gentle(known: Known, rows: Layer, k: int, x: Array, step: Array) -> Array:
    """The steps, halved while the neuron is further from switching after them."""
    z = np.abs(preactivation(known, rows, k, x)[0])
    for _ in range(20):
        worse: Places = np.flatnonzero(np.abs(preactivation(known, rows, k, x + step)[0]) > z)
        if not len(worse):
            break
        step[worse] /= 2
    return step


def preactivation(known: Known, rows: Layer, k: int, x: Array) -> tuple[Array, Array]:
    """Of neuron k, and its gradient, at points."""
    w = np.broadcast_to(rows.w[k], (len(x), known.units))
    return known.hidden(x) @ rows.w[k] + rows.b[k], known.pulled(x, w)
