"""Matched differences: data and student seen through the same difference quotient, so that truncation cancels.

For f(x) = Σ_k a_k g(⟨w_k, x⟩ + b_k) + c and a step h,

    (1)  Y_ij = (f(x_i + h e_j) - f(x_i - h e_j)) / 2h,
    (2)  S_ij = Σ_k a_k (g(z_ik + h w_jk) - g(z_ik - h w_jk)) / 2h,   z_ik = ⟨w_k, x_i⟩ + b_k.

Y - S has no bias, however large h is: rounding and noise fall as 1/h. The difference in (2) is an odd function of
s = h w_jk on |s| <= r, so with p positive Chebyshev nodes s_q of [-r, r] and their odd Lagrange polynomials L_q,

    (3)  S = Σ_q (g(z + s_q) - g(z - s_q)) a L_q(hW)ᵀ / 2h,

which needs g at 2p instead of 2D places, to rounding: for analytic g the error falls like (r/ρ)^(2p).

One side, (f(x_i + h e_j) - f(x_i)) / h, costs half as many values for √2 σ / h in place of (4). Its student is

    (3')  S = Σ_q (g(z + s_q) L_q⁺ - g(z - s_q) L_q⁻ - g(z) (L_q⁺ - L_q⁻)) a / h,   L_q^± = L_q(hW) (1 ± hW / s_q) / 2.

Y and S of the same network differ by the noise σ of the values alone,

    (4)  rms(Y - S) = σ / √2h,

    (5)  σ: along a line with tiny steps a smooth f has no eighth difference; any there is, over √C(16, 8), is it.

Reference for (5): Moré & Wild, Estimating computational noise, SIAM J. Sci. Comput. 33 (2011).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Activation, Oracle, Run

BATCH = 2**20  # doubles of points or pre-activations held at once
CLEAN = 1e-11  # noise above it is met with large steps
REACH, LONG_REACH = 0.1, 1.0  # the largest h |w_jk| without and with noise
NODES = 12  # most nodes of (3)
BINOMIAL = [math.comb(8, i) * (-1.0) ** i for i in range(9)]


@dataclass(frozen=True, eq=False)
class Data:
    """What was seen: gradients Y at x with step h, values at x, and the noise of a value."""

    x: Tensor
    gradients: Tensor
    values: Tensor
    h: float
    noise: float
    both_sides: bool = True

    @property
    def floor(self) -> float:
        """(4), or its like for one side."""
        return self.noise / (math.sqrt(2) * self.h) * (1 if self.both_sides else 2)


def look(oracle: Oracle, weights: Tensor, run: Run, *, points: int, spread: float, both_sides: bool = True) -> Data:
    """Data at Gaussian points, with a step as long as the noise asks for; `weights` only set its scale."""
    x = spread * run.normal(points, len(weights))
    values = oracle.query(x)[:, 0]
    rounding = torch.finfo(x.dtype).eps / 4 * float(values.abs().max())
    noise = max(oracle.spec.noise, rounding, noise_level(oracle, run, spread=spread))
    h = (REACH if noise < CLEAN else LONG_REACH) / float(weights.abs().max())
    gradients = observe(oracle, x, h) if both_sides else observe_ahead(oracle, x, h, values)
    return Data(x, gradients, values, h, noise, both_sides)


def observe(oracle: Oracle, x: Tensor, h: float) -> Tensor:
    """Y of (1), (rows, inputs), from 2D queries a row."""
    d = x.shape[1]
    e = h * torch.eye(d, device=x.device, dtype=x.dtype)
    offsets = torch.cat([e, -e])
    found = []
    for rows in x.split(max(1, BATCH // offsets.numel())):
        f = oracle.query((rows[:, None, :] + offsets).flatten(0, 1))[:, 0].reshape(len(rows), 2, d)
        found.append((f[:, 0] - f[:, 1]) / (2 * h))
    return torch.cat(found)


def observe_ahead(oracle: Oracle, x: Tensor, h: float, values: Tensor) -> Tensor:
    """The same of one side, from D queries a row and the `values` at the rows."""
    d = x.shape[1]
    e = h * torch.eye(d, device=x.device, dtype=x.dtype)
    found = []
    for rows, here in zip(x.split(size := max(1, BATCH // e.numel())), values.split(size), strict=True):
        f = oracle.query((rows[:, None, :] + e).flatten(0, 1))[:, 0].reshape(len(rows), d)
        found.append((f - here[:, None]) / h)
    return torch.cat(found)


def fitted(data: Data, w: Tensor, b: Tensor, a: Tensor, g: Activation) -> Tensor:
    """S for what was seen."""
    return (student if data.both_sides else student_ahead)(data.x, w, b, a, g, data.h)


def student_ahead(x: Tensor, w: Tensor, b: Tensor, a: Tensor, g: Activation, h: float) -> Tensor:
    """S of one side by (3'), (rows, inputs)."""
    radius = h * float(w.abs().max())
    nodes = enough_nodes(g, radius, w)
    sides = [
        (a * part * (1 + h * w / s) / (2 * h), a * part * (1 - h * w / s) / (2 * h))
        for s, part in zip(nodes, odd_lagrange(nodes, h * w), strict=True)
    ]
    found = []
    for rows in x.split(max(1, BATCH // w.shape[1])):
        z = torch.addmm(b, rows, w)
        here, total = g(z), torch.zeros_like(rows)
        for s, (up, down) in zip(nodes.tolist(), sides, strict=True):
            total.addmm_(g(z + s) - here, up.T).addmm_(g(z - s) - here, down.T, alpha=-1)
        found.append(total)
    return torch.cat(found)


def student(x: Tensor, w: Tensor, b: Tensor, a: Tensor, g: Activation, h: float) -> Tensor:
    """S of (2) by (3), (rows, inputs)."""
    radius = h * float(w.abs().max())
    nodes = enough_nodes(g, radius, w)
    lagrange = [a * part / (2 * h) for part in odd_lagrange(nodes, h * w)]
    found = []
    for rows in x.split(max(1, BATCH // w.shape[1])):
        z = torch.addmm(b, rows, w)
        total = torch.zeros_like(rows)
        for s, part in zip(nodes.tolist(), lagrange, strict=True):
            total.addmm_(g(z + s) - g(z - s), part.T)
        found.append(total)
    return torch.cat(found)


def enough_nodes(g: Activation, radius: float, like: Tensor) -> Tensor:
    """As few Chebyshev nodes as reach rounding in (3), tried out on a grid of z."""
    z = torch.linspace(-6, 6, 49, device="cpu", dtype=like.dtype)[:, None]
    s = torch.linspace(0, radius, 8, device="cpu", dtype=like.dtype)
    exact = g(z + s) - g(z - s)
    for count in range(2, NODES + 1):
        nodes = chebyshev(count, radius, z)
        guess = (g(z + nodes) - g(z - nodes)) @ torch.stack(odd_lagrange(nodes, s))
        if float((guess - exact).abs().max()) < 4e-16 * max(1.0, float(g(z).abs().max())):
            break
    return nodes.to(like.device)


def chebyshev(count: int, radius: float, like: Tensor) -> Tensor:
    """The positive ones of 2 `count` Chebyshev nodes of [-radius, radius]."""
    angles = (torch.arange(count, device=like.device, dtype=like.dtype) + 0.5) * (math.pi / (2 * count))
    return radius * torch.cos(angles)


def odd_lagrange(nodes: Tensor, s: Tensor) -> list[Tensor]:
    """L_q(s): odd polynomials, 1 at their own node and 0 at the others."""
    squares, found = nodes**2, []
    for q, own in enumerate(nodes):
        part = s / own
        for r, other in enumerate(squares):
            part = part if r == q else part * ((s * s - other) / (squares[q] - other))
        found.append(part)
    return found


def noise_level(oracle: Oracle, run: Run, *, spread: float, lines: int = 16, step: float = 1e-3) -> float:
    """The standard deviation of the values' noise or rounding, by (5) from 9 queries a line."""
    d = oracle.spec.inputs
    x, u = spread * run.normal(lines, d), run.sphere(lines, d)
    places = step * torch.arange(-4, 5, device=x.device, dtype=x.dtype)
    f = oracle.query((x[:, None, :] + places[:, None] * u[:, None, :]).flatten(0, 1))[:, 0].reshape(lines, 9)
    left = f @ torch.tensor(BINOMIAL, device=x.device, dtype=x.dtype)
    return float(left.square().mean().sqrt()) / math.sqrt(math.comb(16, 8))
