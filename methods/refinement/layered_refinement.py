"""All weights and shifts of a layered network at once, from values, to the rounding of its oracle.

Levenberg-Marquardt on r = f(x_i) - y_i over the parameters θ_l = (W_l; b_l) of every layer. With Y_l the inputs of
layer l and a column of ones, δ_l = ∂f/∂z_l by backpropagation, the Jacobian of row i is Y_l,i ⊗ δ_l,i, so that

    (1)  (JᵀJ)_(l,a,b),(l',a',b') = Σ_i Y_l,ia Y_l',ia' (δ_l,i ᵀδ_l',i)_bb'

is one product of matrices for every pair of layers, as cheap as for a single output. Steps (JᵀJ + λ diag) p = -Jᵀr
reuse a factor as long as they pay (Jᵀr is cheap, by backpropagation): close to the solution one factor is enough for
every digit. λ is 0 at first, falls when steps succeed and rises from 1e-6 when they fail.

It ends at the noise or the rounding of the values, or where nothing lowers the residual any more.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Network, Run, activation
from paramid.methods.refinement.backprop import loss_gradient

ROWS = 2**22  # doubles of (1)'s factors at once
PAYS = 5.0  # the least gain of a step that lets the next one reuse its factor
AT_FLOOR = 3.0  # residuals up to so many times the floor are believed
UNIT = 2.0**-52


@dataclass(frozen=True)
class Fit:
    """A network, the root mean square of its residual, what noise and rounding explain of it, the factors it took."""

    network: Network
    rms: float
    floor: float
    factors: int
    factor: Tensor | None = None

    @property
    def believed(self) -> bool:
        """Whether nothing but noise and rounding is left."""
        return self.rms <= AT_FLOOR * self.floor


def fit(network: Network, x: Tensor, y: Tensor, *, noise: float, steps: int = 40) -> Fit:
    """The end of (1) from `network` on values `y` at `x`."""
    floor = max(noise, 16 * UNIT * float(y.square().mean().sqrt()))
    now, damping = Fit(network, misfit(network, x, y), floor, 0), 0.0
    for _ in range(steps):
        normal = normal_matrix(now.network, x)
        while True:
            factor = factored(normal, damping)
            new = now if factor is None else chord(now, factor, x, y)
            if new.rms < now.rms or (factor is not None and now.believed) or damping > 1e3:
                break
            damping = max(1e-6, 30 * damping)
        gain = now.rms / max(new.rms, 1e-300)
        now = Fit(new.network, new.rms, floor, now.factors + 1, factor)
        if now.believed or gain < 1.0 + 1e-4:
            break
        damping = 0.0 if damping < 1e-9 else damping / 30
    return now


def chord(now: Fit, factor: Tensor, x: Tensor, y: Tensor) -> Fit:
    """Steps with one factor as long as each gains much."""
    while True:
        new = moved(now.network, torch.cholesky_solve(-slope(now.network, x, y)[:, None], factor)[:, 0])
        then = Fit(new, misfit(new, x, y), now.floor, now.factors)
        if not then.rms < now.rms:
            return now
        gain, now = now.rms / max(then.rms, 1e-300), then
        if gain < PAYS:
            return now


def normal_matrix(network: Network, x: Tensor) -> Tensor:
    """JᵀJ of (1), (parameters, parameters), layer after layer, weights before shifts."""
    sizes = [(w.shape[0] + 1) * w.shape[1] for w in network.weights]
    ends = torch.tensor([0, *sizes], device="cpu").cumsum(0).tolist()
    total = x.new_zeros(ends[-1], ends[-1])
    widest = max((w.shape[0] + 1) ** 2 + w.shape[1] ** 2 for w in network.weights)
    for rows in x.split(max(1, ROWS // widest)):
        fed, delta = parts(network, rows)
        for i in range(len(sizes)):
            for j in range(i, len(sizes)):
                total[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] += block(fed[i], delta[i], fed[j], delta[j])
    for i in range(1, len(sizes)):
        total[ends[i] : ends[i + 1], : ends[i]] = total[: ends[i], ends[i] : ends[i + 1]].T
    return total


def parts(network: Network, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Y_l (rows, inputs of l + 1) and δ_l (rows, outputs, width) for every layer."""
    ones, z = torch.ones_like(x[:, :1]), network.preactivations(x)
    fed = [x, *(activation(name)(t) for name, t in zip(network.activations, z[:-1], strict=False))]
    return [torch.cat([t, ones], 1) for t in fed], network.sensitivities(x)


def block(fed: Tensor, delta: Tensor, other_fed: Tensor, other_delta: Tensor) -> Tensor:
    """The block of (1) between two layers."""
    (a, b), (c, d) = (fed.shape[1], delta.shape[2]), (other_fed.shape[1], other_delta.shape[2])
    left = (fed[:, :, None] * other_fed[:, None, :]).flatten(1)
    right = (delta.transpose(1, 2) @ other_delta).flatten(1)
    return (left.T @ right).view(a, c, b, d).transpose(1, 2).reshape(a * b, c * d)


def factored(normal: Tensor, damping: float) -> Tensor | None:
    """The Cholesky factor of JᵀJ + λ diag, or None where there is none."""
    raised = normal.clone()
    raised.diagonal().mul_(1 + damping)
    factor, failed = torch.linalg.cholesky_ex(raised)
    return None if int(failed) else factor


def slope(network: Network, x: Tensor, y: Tensor) -> Tensor:
    """Jᵀr, by backpropagation."""
    _, by_weights, by_biases = loss_gradient(network, x, y)
    return (
        len(x) / 2 * torch.cat([torch.cat([w, b[None]]).flatten() for w, b in zip(by_weights, by_biases, strict=True)])
    )


def moved(network: Network, p: Tensor) -> Network:
    """The network with its parameters moved by `p`."""
    weights, biases, place = [], [], 0
    for w, b in zip(network.weights, network.biases, strict=True):
        step = p[place : place + w.numel() + b.numel()].view(w.shape[0] + 1, -1)
        weights.append(w + step[:-1])
        biases.append(b + step[-1])
        place += step.numel()
    return network.with_layers(weights, biases)


def misfit(network: Network, x: Tensor, y: Tensor) -> float:
    """The root mean square of r; infinite where it is no number."""
    rms = float((network(x) - y).square().mean().sqrt())
    return rms if math.isfinite(rms) else math.inf


def uncertainty(found: Fit, x: Tensor, y: Tensor, run: Run) -> float:
    """Twice what a draw of noise, of the floor's size or the residual's, moves a parameter by at most."""
    if found.factor is None:
        return math.inf
    drawn = max(found.floor, found.rms) * run.normal(*y.shape)
    p = torch.cholesky_solve(-slope(found.network, x, found.network(x) + drawn)[:, None], found.factor)
    return 2 * float(p.abs().max())
