"""All weights and shifts of a layered network at once, from values, to the rounding of its oracle or to its noise.

Levenberg-Marquardt on r = f(x_i) - y_i over the parameters θ_l = (W_l; b_l) of every layer,

    (1)  (Q JᵀJ Q + λ diag) p = -Q Jᵀr,   Q onto what is free,

with JᵀJ and Q of `limits.information`. Steps reuse a factor as long as they pay (Jᵀr is cheap, by backpropagation):
close to the solution one factor is enough for every digit. λ begins at the relative residual, at most 0.1, falls
tenfold when steps succeed and rises when they fail: far away an undamped step may leave the basin.

Residuals down at the noise or the rounding of the values are believed, but the end is where nothing is gained any more:
at three times the noise a network may be a hundred times further off than its values allow.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Network, limits
from paramid.limits.information import ALL, moving, normal_matrix, still
from paramid.methods.refinement.backprop import loss_gradient
from paramid.words.network import shaped

PAYS = 5.0  # the least gain of a step that lets the next one reuse its factor
AT_FLOOR = 3.0  # residuals up to so many times the floor are believed
GAINED = 1.0 + 1e-4  # less is nothing
DAMPED = 0.1  # λ far away
NONE = 1e-12  # λ below it is 0
LONGEST = 0.5  # of a step, over the length of a neuron's weights and shift
UNIT = 2.0**-52


@dataclass(frozen=True)
class Fit:
    """A network, the root mean square of its residual, what noise and rounding explain of it, the factors it took."""

    network: Network
    rms: float
    floor: float
    factors: int

    @property
    def believed(self) -> bool:
        """Whether nothing but noise and rounding is left."""
        return self.rms <= AT_FLOOR * self.floor


def fit(network: Network, x: Tensor, y: Tensor, *, noise: float, steps: int = 60, free: Collection[str] = ALL) -> Fit:
    """The end of (1) from `network` on values `y` at `x`; what is not `free` stays as it is."""
    size = float(y.square().mean().sqrt())
    now = Fit(network, misfit(network, x, y), max(noise, 16 * UNIT * size), 0)
    damping = min(DAMPED, now.rms / max(float((y - y.mean(0)).square().mean().sqrt()), UNIT))
    for _ in range(steps):
        normal, fixed = normal_matrix(now.network, x), still(now.network, free)
        normal, _ = moving(normal, fixed)
        while True:
            factor = factored(normal, damping)
            new = now if factor is None else chord(now, factor, fixed, x, y, free)
            if new.rms < now.rms or damping > 1e3:
                break
            damping = max(1e-9, 10 * damping)
        gain = now.rms / max(new.rms, 1e-300)
        now = replace(new, factors=now.factors + 1)
        if not gain > GAINED or (now.rms < now.floor and not noise):
            break
        damping = damping / 10 if damping > NONE else 0.0
    return now


def chord(now: Fit, factor: Tensor, fixed: Tensor, x: Tensor, y: Tensor, free: Collection[str]) -> Fit:
    """Steps with one factor as long as each gains much."""
    while True:
        p = torch.cholesky_solve(-slope(now.network, x, y)[:, None], factor)[:, 0]
        new = moved(now.network, shortened(now.network, p - fixed @ (fixed.T @ p)), free)
        then = replace(now, network=new, rms=misfit(new, x, y))
        if not then.rms < now.rms:
            return now
        gain, now = now.rms / max(then.rms, 1e-300), then
        if gain < PAYS:
            return now


def shortened(network: Network, p: Tensor) -> Tensor:
    """`p`, no longer than moves a neuron by `LONGEST` of its length: one that says little may run away unseen."""
    step = shaped(network, p)
    layers = zip(network.weights[:-1], network.biases[:-1], step.weights, step.biases, strict=False)
    reach = [(torch.cat([v, c[None]]).norm(dim=0) / torch.cat([w, b[None]]).norm(dim=0)).max() for w, b, v, c in layers]
    return p * min(1.0, LONGEST / max(float(torch.stack(reach).max()), UNIT))


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


def moved(network: Network, p: Tensor, free: Collection[str] = ALL) -> Network:
    """The network with its parameters moved by `p`; columns keep their lengths where norms are not free."""
    step = shaped(network, p)
    weights = [w + s for w, s in zip(network.weights, step.weights, strict=True)]
    if "norms" not in free:
        kept = zip(weights[:-1], network.weights, strict=False)
        weights[:-1] = [w * (old.norm(dim=0) / w.norm(dim=0)) for w, old in kept]
    return network.with_layers(weights, [b + s for b, s in zip(network.biases, step.biases, strict=True)])


def misfit(network: Network, x: Tensor, y: Tensor) -> float:
    """The root mean square of r; infinite where it is no number."""
    rms = float((network(x) - y).square().mean().sqrt())
    return rms if math.isfinite(rms) else math.inf


def error_bound(found: Fit, x: Tensor, free: Collection[str] = ALL) -> float:
    """The Cramér-Rao bound of the largest error of a parameter, from values as far off as noise or residual are."""
    return limits.bound(found.network, x, max(found.floor, found.rms), free)
