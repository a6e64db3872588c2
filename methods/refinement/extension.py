"""From a network known on a few inputs to all of them, by square systems.

Everything is known of f on the d-dimensional space of the rows of V: v_k = V w_k and τ_k. For a unit c across it

    (1)  f(y_i V + t c) = Σ_k g(z_ik + t ⟨w_k, c⟩),   z_ik = ⟨v_k, y_i⟩ + τ_k,   i = 1 … N,

are N equations for the m numbers ⟨w_k, c⟩, N a few percent above m, with the same y_i for all D - d orthonormal c.
Newton's method from 0 solves them in a few steps. The matrix t g'(z + t ⟨w, c⟩) differs little from t g'(z), whose
triangular factor, one for all c, preconditions the conjugate gradients that find a step, in float32; residuals are in
float64. Where they lead nowhere, a shorter t makes (1) as linear as is wanted, and its solution is the start for t.

Where norms are known to be 1, they check all of it.
"""

import math

import torch
from torch import Tensor

from paramid import Network, Oracle, Run
from paramid.methods.spans.activation_derivatives import width
from paramid.words.activations import activation

EXTRA, MARGIN = 1.1, 5  # equations for an unknown, and beyond
SPREAD, STEP = 2.5, 0.5  # of y and t, in widths of the activation
STEPS, PRODUCTS, TOLERANCE = 12, 60, 1e-4
GAINING = 0.5  # a step that leaves more of the residual was the last
SOLVED = 1e-9  # of the values' size may be left
SHORTER = (8.0, 64.0)  # times shorter than t


def extended(oracle: Oracle, inside: Network, frame: Tensor, run: Run) -> Network:
    """The network on all inputs, from that on y ↦ f(y V) with V the orthonormal rows of `frame`."""
    g = activation(inside.activations[0])
    d, m = inside.weights[0].shape
    across = complement(frame, run)
    y = SPREAD * width(g) * run.normal(math.ceil(EXTRA * m) + MARGIN, d)
    t, z = STEP * width(g), inside.preactivations(y)[0]
    factor = torch.linalg.qr(t * g(z, 1), mode="r")[1].float()
    start = torch.zeros_like(z[0])

    def along(c: Tensor) -> Tensor:
        values = oracle.query(y @ frame + t * c)[:, 0]
        found, left = solved(values, z, t, factor, inside, start)
        for shorter in SHORTER:
            if left < SOLVED * float(values.norm()):
                break
            h = t / shorter
            near, _ = solved(oracle.query(y @ frame + h * c)[:, 0], z, h, factor / shorter, inside, start)
            found, left = solved(values, z, t, factor, inside, near)
        return found

    rest = torch.stack([along(c) for c in across])
    return inside.with_layers((frame.T @ inside.weights[0] + across.T @ rest, inside.weights[1]), inside.biases)


def complement(frame: Tensor, run: Run) -> Tensor:
    """Orthonormal rows across those of `frame`."""
    d, inputs = frame.shape
    q = torch.linalg.qr(torch.cat([frame, run.normal(inputs - d, inputs)]).T)[0].T
    return q[d:]


def solved(values: Tensor, z: Tensor, t: float, factor: Tensor, inside: Network, start: Tensor) -> tuple[Tensor, float]:
    """The ⟨w_k, c⟩ of (1), (m,), by steps from `start`, and the size of what is left."""
    g = activation(inside.activations[0])
    found = start
    left, last = values - g(z + t * found).sum(1), math.inf
    for _ in range(STEPS):
        size = float(left.norm())
        if not size < GAINING * last:
            break
        slopes = (t * g(z + t * found, 1)).float()
        new = found + size * step(slopes, (left / max(size, 1e-300)).float(), factor).to(z.dtype)
        after = values - g(z + t * new).sum(1)
        if float(after.norm()) < size:
            found, left = new, after
        last = size
    return found, float(left.norm())


def step(slopes: Tensor, left: Tensor, factor: Tensor) -> Tensor:
    """The least squares solution of slopes · p = left, by conjugate gradients preconditioned with R of `factor`."""

    def into(p: Tensor) -> Tensor:
        return torch.linalg.solve_triangular(factor, p[:, None], upper=True)[:, 0]

    def back(r: Tensor) -> Tensor:
        return torch.linalg.solve_triangular(factor.T, (slopes.T @ r)[:, None], upper=False)[:, 0]

    found, s = torch.zeros_like(factor[0]), back(left)
    p, energy = s, float(s.square().sum())
    start = energy
    for _ in range(PRODUCTS):
        if not energy > TOLERANCE**2 * start:
            break
        q = slopes @ into(p)
        rate = energy / float(q.square().sum())
        found, left = found + rate * p, left - rate * q
        s = back(left)
        energy, before = float(s.square().sum()), energy
        p = s + energy / before * p
    return into(found)
