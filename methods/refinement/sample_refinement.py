"""All parameters of a shallow network from a rough guess to the noise or the rounding of passive samples.

    (1)  L(θ) = 1/N Σ_n (y_n - Σ_i a_i g(⟨w_i, x_n⟩ + b_i))²,
    (2)  ∂f = a_i g'(z_i) x,  a_i g'(z_i),  g(z_i)   by w_i, b_i, a_i,

minimised by Levenberg-Marquardt (`unit_descent`), whose normal equations are summed over the chunks in which samples
come: N is unbounded, memory is (D + 2)² m² and a block of rows. Steps end where what is left to gain is far below the
n σ²/N that a fit of n parameters makes of noise, or at the rounding of the values: noise-free labels are fitted exactly
once no sample lies between the true kink and the found one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from paramid import Network, activation
from paramid.methods.refinement.gradient_system import Pinned, split
from paramid.methods.refinement.unit_descent import Normal, descend, parameters, uncertainty

BLOCK = 2**20  # doubles of the Jacobian at a time
NEGLIGIBLE = 1e-4  # of n σ²/N
ROUNDING = 4.0  # eps a value
Pairs = Iterable[tuple[Tensor, Tensor]]
Pointwise = Callable[..., Tensor]  # (z, order of the derivative), as activations are


@dataclass(frozen=True, eq=False)
class Refined:
    """The network, the root of (1) on the rows it was fitted to, and how far its parameters may be off."""

    network: Network
    rms: float
    error: float


class Descended(NamedTuple):
    """θ, (1) to its second order there, and how many rows it was fitted to."""

    theta: Tensor
    normal: Normal
    rows: int


def refine(samples: Pairs, rough: Network, *, pinned: Pinned, most: int | None = None, steps: int = 50) -> Refined:
    """The minimum of (1) next to `rough`, on the first `most` rows; any registered activation, no output bias."""
    g = activation(rough.activations[0])
    found = descended(samples, parameters(rough), g, pinned=pinned, most=most, steps=steps)
    theta, normal = found.theta, found.normal
    error = uncertainty(theta, normal, pinned, variance=normal.loss / max(found.rows - theta.numel(), 1))
    return Refined(shallow(theta, rough), normal.loss**0.5, error)


def descended(
    samples: Pairs, theta: Tensor, g: Pointwise, *, pinned: Pinned, most: int | None = None, steps: int = 50
) -> Descended:
    """The minimum of (1) next to θ = (W, b, a), on the first `most` rows."""
    count, square = weighed(samples, most)
    eps = torch.finfo(theta.dtype).eps
    theta, normal = descend(
        theta,
        lambda at: normal_equations(samples, at, g, most),
        pinned=pinned,
        settled=NEGLIGIBLE * theta.numel() / count,
        floor=(ROUNDING * eps) ** 2 * square,
        steps=steps,
    )
    return Descended(theta, normal, count)


def normal_equations(samples: Pairs, theta: Tensor, g: Pointwise, most: int | None = None) -> Normal:
    """(1) and its first and second order by (2)."""
    w, b, a = split(theta)
    n, count, loss = theta.numel(), 0, 0.0
    slope, gram = theta.new_zeros(n), theta.new_zeros(n, n)
    for x, y in blocks(samples, max(1, BLOCK // n), most):
        z = torch.addmm(b, x, w)
        value, by_z = g(z), a * g(z, 1)
        jacobian = torch.cat([x[:, :, None] * by_z[:, None], by_z[:, None], value[:, None]], 1).flatten(1)
        rest = y[:, 0] - value @ a
        gram, slope = gram.addmm(jacobian.T, jacobian), slope + jacobian.T @ rest
        loss, count = loss + float(rest.square().sum()), count + len(x)
    return Normal(loss / count, (slope / count).view_as(theta), gram / count)


def residual(samples: Pairs, network: Network) -> float:
    """The root of (1)."""
    loss, count = 0.0, 0
    for x, y in blocks(samples, max(1, BLOCK // network.widths[0])):
        loss, count = loss + float((y - network(x)).square().sum()), count + len(x)
    return (loss / count) ** 0.5


def bends(samples: Pairs, network: Network) -> Tensor:
    """How many rows lie on the rarer side of every unit's kink, (m,)."""
    above = torch.zeros_like(network.biases[0])
    count = 0
    for x, _ in blocks(samples, max(1, BLOCK // network.widths[0])):
        above, count = above + (torch.addmm(network.biases[0], x, network.weights[0]) > 0).sum(0), count + len(x)
    return torch.minimum(above, count - above)


def weighed(samples: Pairs, most: int | None) -> tuple[int, float]:
    """How many rows there are, and the mean square of their values."""
    count, square = 0, 0.0
    for _, y in blocks(samples, BLOCK, most):
        count, square = count + len(y), square + float(y.square().sum())
    return count, square / count


def blocks(samples: Pairs, rows: int, most: int | None = None) -> Iterator[tuple[Tensor, Tensor]]:
    """The first `most` pairs, `rows` at a time."""
    left = most
    for x, y in samples:
        x, y = (x, y) if left is None else (x[:left], y[:left])
        yield from zip(x.split(rows), y.split(rows), strict=True)
        if left is not None and (left := left - len(x)) <= 0:
            return


def shallow(theta: Tensor, like: Network) -> Network:
    """The network of θ, with the activations of another."""
    w, b, a = split(theta)
    return Network.shallow(w, b, like.activations[0], a)
