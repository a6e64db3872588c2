"""Weights that no kink has shown: few unknowns, fitted alone on points that feel them, until fresh ones agree.

A weight that makes its neuron inactive wherever both could be active is felt nowhere: then any value that low will do,
and points where a higher one would be felt tell that it is low.
"""

from __future__ import annotations

import numpy as np

from paramid.methods.piecewise.depth import membership, polish
from paramid.methods.piecewise.depth import stack as stacks
from paramid.methods.piecewise.depth.polish import Weights
from paramid.methods.piecewise.line_kinks import Array, Flags, Places, Values

POOL, GUESSES, EACH = 2000, 4, 5  # points looked at; weights guessed; points kept for each weight and guess
CANDIDATES, EXTREME = 20_000, 3  # points looked at, and kept at either end for each weight
ROUNDS, RESTARTS, DAMPING = 12, 10, 1e-3
ENOUGH = 1e-7  # of G: what the rest of the network, before its polish, may be off


def filled(
    f: Values, net: Weights, unseen: Flags, told: tuple[Array, Array], size: float, source: np.random.Generator
) -> Weights:
    """The network with its unseen weights fitted, as far as they are felt, to what was told and to fresh values."""
    at = np.flatnonzero(unseen)
    spread = 1.5 * float(np.median([np.abs(w).mean() for w in net.w[1:-1]]))
    vector = net.vector()
    guesses = [net.like(with_weights(vector, at, spread, source)) for _ in range(GUESSES)]
    known = met(net, unseen, told[0])
    fresh = np.concatenate([extreme(net, unseen, source), *(felt(guess, unseen, source) for guess in guesses)])
    x = np.concatenate([told[0][known][:POOL], fresh])
    values = np.concatenate([told[1][known][:POOL], f(fresh)])
    for _ in range(ROUNDS):
        for restart in range(RESTARTS):
            start = net if not restart else net.like(with_weights(vector, at, spread, source))
            found = polish.fitted(start, x, values, unseen, DAMPING)
            if polish.off(found, x, values) < polish.off(net, x, values):
                net = found
            if polish.off(net, x, values) < ENOUGH * size:
                break
        else:
            break  # nothing fits: the rest of the network is wrong
        fresh = np.concatenate([extreme(net, unseen, source), felt(net, unseen, source)])
        new = f(fresh)
        if polish.off(net, fresh, new) < ENOUGH * size:
            break
        x, values = np.concatenate([x, fresh]), np.concatenate([values, new])
    return net


def with_weights(vector: Array, at: Places, spread: float, source: np.random.Generator) -> Array:
    """Parameters with others there, at random."""
    vector = vector.copy()
    vector[at] = spread * source.standard_normal(len(at))
    return vector


def felt(net: Weights, unseen: Flags, source: np.random.Generator) -> Array:
    """Points where those weights of the network are felt most."""
    x = membership.scattered(POOL, net.w[0].shape[1], source)
    slope = np.abs(polish.jacobian(net, x, unseen)[1]).max(1) / stacks.size(x)[:, None]
    best = np.argsort(-slope, axis=0)[:EACH]
    return x[np.unique(best[np.take_along_axis(slope, best, 0) > 0])]


def extreme(net: Weights, unseen: Flags, source: np.random.Generator) -> Array:
    """For every unseen weight w on h > 0 the points where it most decides on which side its neuron z is.

    That is where the least and where the largest weight makes it active: where (z - w h) / h is largest and smallest.
    """
    x = membership.scattered(CANDIDATES, net.w[0].shape[1], source)
    below, chosen, masks = x, [], net.like(unseen.astype(np.float64))
    for w, b, mask in zip(net.w[:-1], net.b[:-1], masks.w[:-1], strict=True):
        z = below @ w.T + b
        for neuron, j in np.argwhere(mask):
            on = np.flatnonzero(below[:, j] > 0)
            order = on[np.argsort(z[on, neuron] / below[on, j] - w[neuron, j])]
            chosen += [order[:EXTREME], order[-EXTREME:]]
        below = np.maximum(z, 0)
    return x[np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *chosen]))]


def met(net: Weights, unseen: Flags, x: Array) -> Flags:
    """The points where a neuron is active that has an unseen weight above it."""
    found, masks = np.zeros(len(x), bool), net.like(unseen.astype(np.float64))
    for layer, (w, b) in enumerate(zip(net.w[:-1], net.b[:-1], strict=True)):
        found |= (x[:, masks.w[layer].any(0)] > 0).any(1) & (layer > 0)
        x = np.maximum(x @ w.T + b, 0)
    return found
