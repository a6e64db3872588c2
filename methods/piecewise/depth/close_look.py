"""Inputs at which a network of fewer kinks than neurons may be wrong: where a neuron switches that hardly ever does.

(1)  where what stands for neurons without kinks is least: beyond the law's tail such a neuron may rest;
(2)  where the last hidden layer's inputs are extreme in some direction: there a dead neuron may wake;
(3)  any.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paramid.methods.piecewise.depth import membership
from paramid.methods.piecewise.depth import stack as stacks
from paramid.methods.piecewise.depth.polish import Weights
from paramid.methods.piecewise.line_kinks import Array

POOL, PARTS = 30_000, 8  # inputs looked at, near and far; parts that (2) and (3) come in
LEAST, DIRECTIONS, NEAR, FAR = 100, 1000, 4000, 1000  # of (1) for each neuron, of (2), and of (3)


def suspicious(net: Weights, found: int, source: np.random.Generator) -> Iterator[Array]:
    """Part by part, for a network whose last hidden layer has that many neurons with kinks, which come first."""
    inputs = net.w[0].shape[1]
    pools = source.standard_normal((POOL, inputs)), membership.scattered(POOL, inputs, source)
    yield np.concatenate([least(net, found, pool) for pool in pools])
    near, far = pools
    rest = [*(extremes(net, pool, source) for pool in pools), near[:NEAR], far[:FAR]]
    yield from np.array_split(source.permutation(np.concatenate(rest)), PARTS)


def least(net: Weights, found: int, x: Array) -> Array:
    """(1), among many points."""
    z = net.hidden(x) @ net.w[-2][found:].T
    return x[np.unique(np.argsort(z, axis=0)[:LEAST])]


def extremes(net: Weights, x: Array, source: np.random.Generator) -> Array:
    """(2), among many points."""
    h = net.hidden(x).astype(np.float32)
    towards = source.standard_normal((DIRECTIONS, h.shape[1]), np.float32)
    towards /= np.maximum(h.std(0), np.float32(stacks.FLAT))
    parts = [(part @ h.T).argmax(1) for part in np.array_split(towards, 1 + DIRECTIONS // 100)]
    return x[np.unique(np.concatenate(parts))]
