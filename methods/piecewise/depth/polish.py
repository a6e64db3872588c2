"""All parameters of a ReLU network at once, from values: Gauss-Newton where every parameter is felt, and a certificate.

    (1)  min Σ_i w_i² |f(x_i) - f_θ(x_i)|²,   w = 1 / (1 + |x| / √D),

with the largest weight of each hidden neuron held (its factor is nobody's to see). Near the solution f_θ is linear in
each parameter, as long as no point changes its pattern, and one step is enough. Every parameter has to be felt at some
of the points:

    (2)  for each of them the points of a pool where |∂f_θ/∂θ_p| is largest,

or the residual vanishes at wrong weights. The same choice from a fresh pool certifies what was found; a
parameter that is felt nowhere in it is not determined there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from paramid.methods.piecewise.depth import membership
from paramid.methods.piecewise.depth import stack as stacks
from paramid.methods.piecewise.line_kinks import Array, Flags, Values

POOL, PART = 6000, 500  # points of (2), and how many at once
ITERATIONS, DAMPINGS = 30, 8
DAMPING, LEAST_DAMPING, MORE, LESS = 1e-14, 1e-15, 30.0, 30.0
NOTHING = 1e-8  # of the most that a neuron of a layer sends on
SLOW, SLOWLY = 1.5, 2  # a step that gains less; how many of them end it


class Weights(NamedTuple):
    """A network: weights (neurons, below) and biases of every layer."""

    w: tuple[Array, ...]
    b: tuple[Array, ...]

    def __call__(self, x: Array) -> Array:
        """Its values."""
        x = np.maximum(self.hidden(x) @ self.w[-2].T + self.b[-2], 0)
        return np.asarray(x @ self.w[-1].T + self.b[-1], dtype=np.float64)

    def hidden(self, x: Array) -> Array:
        """What its last hidden layer is shown."""
        for w, b in zip(self.w[:-2], self.b[:-2], strict=True):
            x = np.maximum(x @ w.T + b, 0)
        return x

    def vector(self) -> Array:
        """All parameters, layer by layer: weights row by row, then biases."""
        return np.concatenate([part.ravel() for pair in zip(self.w, self.b, strict=True) for part in pair])

    def like(self, vector: Array) -> Weights:
        """With other parameters."""
        ends = np.cumsum([part.size for pair in zip(self.w, self.b, strict=True) for part in pair])[:-1]
        parts = np.split(vector, ends)
        w = tuple(part.reshape(w.shape) for part, w in zip(parts[::2], self.w, strict=True))
        return Weights(w, tuple(parts[1::2]))


def jacobian(net: Weights, x: Array, free: Flags | None = None) -> tuple[Array, Array]:
    """Values (points, outputs) and their derivatives by all free parameters (points, outputs, parameters)."""
    of = net.like(np.ones(len(net.vector())) if free is None else free.astype(np.float64))
    below, active = [x], []
    for w, b in zip(net.w[:-1], net.b[:-1], strict=True):
        z = below[-1] @ w.T + b
        active.append(z > 0)
        below.append(np.maximum(z, 0))
    values = below[-1] @ net.w[-1].T + net.b[-1]
    above = np.broadcast_to(np.eye(len(net.b[-1])), (len(x), len(net.b[-1]), len(net.b[-1])))
    parts: list[Array] = []
    for layer in range(len(net.w) - 1, -1, -1):
        neurons, places = np.nonzero(of.w[layer])
        parts += [above[:, :, np.flatnonzero(of.b[layer])], above[:, :, neurons] * below[layer][:, None, places]]
        if layer:
            above = (above @ net.w[layer]) * active[layer - 1][:, None]
    return values, np.concatenate(parts[::-1], axis=2)


def needed(net: Weights) -> Weights:
    """Without hidden neurons that send nothing on."""
    w, b = list(net.w), list(net.b)
    for layer in range(len(w) - 1):
        sent = np.abs(w[layer + 1]).max(0) * np.linalg.norm(np.hstack([w[layer], b[layer][:, None]]), axis=1)
        keep = sent > NOTHING * sent.max()
        w[layer], b[layer], w[layer + 1] = w[layer][keep], b[layer][keep], w[layer + 1][:, keep]
    return Weights(tuple(w), tuple(b))


def held(net: Weights) -> Flags:
    """The parameters of (1) that are not free: the largest weight of every hidden neuron."""
    fixed = [np.zeros(part.shape, bool) for pair in zip(net.w, net.b, strict=True) for part in pair]
    for w, mask in zip(net.w[:-1], fixed[::2], strict=False):
        mask[np.arange(len(w)), np.abs(w).argmax(1)] = True
    return np.concatenate([mask.ravel() for mask in fixed])


def fitted(net: Weights, x: Array, values: Array, free: Flags | None = None, damping: float = DAMPING) -> Weights:
    """(1) by Gauss-Newton steps that are damped where they do not gain."""
    free = ~held(net) if free is None else free
    vector, weight = net.vector(), 1 / stacks.size(x)
    now = linearised(net, x, values, weight, free)
    slow = 0
    for _ in range(ITERATIONS):
        for _ in range(DAMPINGS):
            step = solved(now.normal, now.slope, damping)
            if step is not None:
                trial = vector.copy()
                trial[free] += step / now.length
                then = linearised(net.like(trial), x, values, weight, free)
                if then.loss < now.loss:
                    break
            damping = max(damping * MORE, 100 * DAMPING)
        else:
            break
        slow += now.loss < SLOW * then.loss
        vector, now, damping = trial, then, max(damping / LESS, LEAST_DAMPING)
        if slow >= SLOWLY or not now.loss:
            break
    return net.like(vector)


class Linearised(NamedTuple):
    """Normal equations of (1) with columns of length 1."""

    normal: Array
    slope: Array
    length: Array
    loss: float


def linearised(net: Weights, x: Array, values: Array, weight: Array, free: Flags) -> Linearised:
    """(1) about a network."""
    found, j = jacobian(net, x, free)
    left = ((values - found) * weight[:, None]).ravel()
    j = (j * weight[:, None, None]).reshape(len(left), -1)
    length = np.linalg.norm(j, axis=0)
    length = np.where(length > 0, length, 1)
    j /= length
    return Linearised(j.T @ j, j.T @ left, length, float(left @ left))


def solved(normal: Array, slope: Array, damping: float) -> Array | None:
    """The damped step, if there is one."""
    try:
        return np.asarray(cho_solve(cho_factor(normal + damping * np.eye(len(normal))), slope), dtype=np.float64)
    except LinAlgError:
        return None


def telling(net: Weights, source: np.random.Generator, more: int = 0) -> tuple[Array, Flags]:
    """(2), with the first `more` of the pool, and the parameters that are felt nowhere in it."""
    x = membership.scattered(POOL, net.w[0].shape[1], source)
    weight = 1 / stacks.size(x)
    best, where = np.zeros(len(net.vector())), np.zeros(len(net.vector()), dtype=np.intp)
    for start in range(0, POOL, PART):
        part = slice(start, start + PART)
        felt = np.abs(jacobian(net, x[part])[1]).max(1) * weight[part, None]
        at = felt.argmax(0)
        most = felt[at, np.arange(len(best))]
        where = np.where(most > best, at + start, where)
        best = np.maximum(best, most)
    chosen = np.unique(np.concatenate([np.arange(more), where[best > 0]]))
    return x[chosen], best == 0


def off(net: Weights, x: Array, values: Array) -> float:
    """The largest weighted difference of (1)."""
    return float((np.abs(values - net(x)).max(1, initial=0) / stacks.size(x)).max(initial=0))


class Certified(NamedTuple):
    """The network that fits all points so far and fresh ones, if there is one, and these points with their values."""

    net: Weights | None
    x: Array
    values: Array


def certified(
    f: Values, net: Weights, x: Array, values: Array, bound: float, source: np.random.Generator, rounds: int = 4
) -> Certified:
    """Fit to the points and to fresh ones that feel every parameter, until those agree before they are fitted to."""
    net = fitted(net, x, values)
    for _ in range(rounds):
        if off(net, x, values) > bound:
            break
        fresh, _ = telling(net, source)
        told = f(fresh)
        if off(net, fresh, told) <= bound:
            return Certified(net, x, values)
        x, values = np.concatenate([x, fresh]), np.concatenate([values, told])
        net = fitted(net, x, values)
    return Certified(None, x, values)
