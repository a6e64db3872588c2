"""First norms, shifts, outer weights and signs of a shallow network whose directions are known up to sign.

For f(x) = Σ_k a_k g(l_k⟨u_k, x⟩ + τ_k) + c with unit u_k, and differences Δ_n of order n = 2, 3 along u_k at a few
Gaussian base points x_j, blind to c and to all that is linear,

    (1)  T_n,jk = Δ_n f = Σ_i ⟨u_k, u_i⟩ⁿ C_n,ji + O(h²),
    (2)  C_n,ji = a_i Δ_n (t ↦ g(l_i t + τ_i)) at ⟨u_i, x_j⟩.

With Hadamard powers G_n of the Gram matrix C_n = G_n⁻¹ T_n, and every neuron is a curve fit of its own: a grid over
(l, τ) with a linear in it, then least squares. l < 0 says that the direction points the wrong way. Several base points
decide what one cannot: g'' of tanh is not monotone beyond τ = 0.66.

Where a is free and g(-t) is a constant minus g(t), (a, w, τ) and (-a, -w, -τ) are the same and only l > 0 is tried.
So it is with signs that (2) cannot see, as those of softplus: they are as the directions came, see `linear_parts`.
"""

from dataclasses import dataclass
from math import factorial
from typing import NamedTuple

import torch
from torch import Tensor

from paramid import Activation, GiveUp, Network, Oracle, Run, activation
from paramid.methods.refinement.matched_differences import noise_level
from paramid.methods.spans.linear_parts import hidden

SHIFTS, NORMS = (3.0, 61), (0.2, 4.0, 41)  # the grid: reach and count
KEPT = 4  # starts of a neuron that are polished
BATCH = 2**21  # doubles of curves held at once


class Fit(NamedTuple):
    """Of every neuron l, τ, a and the squared misfit, (m,); or of every candidate, (m, candidates)."""

    norm: Tensor
    shift: Tensor
    outer: Tensor
    cost: Tensor

    def network(self, directions: Tensor, name: str) -> Network:
        """The network of these fits over their directions."""
        return Network.shallow(directions * self.norm, self.shift, name, self.outer)


@dataclass(frozen=True, eq=False)
class Curves:
    """Weighted C_n (m, 2J) and their weights, at s = ⟨u_k, x_j⟩ (m, J)."""

    data: Tensor
    weights: Tensor
    s: Tensor
    h: float
    g: Activation
    free_outer: bool

    def split(self, rows: int) -> list["Curves"]:
        """The same in pieces of so many neurons."""
        parts = zip(self.data.split(rows), self.weights.split(rows), self.s.split(rows), strict=True)
        return [Curves(*part, self.h, self.g, self.free_outer) for part in parts]

    def residuals(self, norm: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
        """What (2) leaves of the data, (m, candidates, 2J), with the best a, (m, candidates)."""
        curve = profile(self.g, norm[:, :, None], shift[:, :, None], self.s[:, None, :], self.h)
        curve = curve * self.weights[:, None, :]
        a = torch.ones_like(norm)
        if self.free_outer:
            size = curve.square().sum(2).clamp(min=torch.finfo(curve.dtype).tiny)
            a = (curve * self.data[:, None, :]).sum(2) / size
        return self.data[:, None, :] - a[:, :, None] * curve, a

    def at(self, norm: Tensor, shift: Tensor) -> Fit:
        """The fit with these norms and shifts."""
        residual, a = self.residuals(norm, shift)
        return Fit(norm, shift, a, residual.square().sum(2))


def first_network(oracle: Oracle, directions: Tensor, *, run: Run, points: int = 8) -> Network:
    """A rough network over unit columns `directions` (D, m); 4m + 1 queries at each of the points.

    Signs that curvature does not show are as the directions came.
    """
    spec, g = oracle.spec, activation(oracle.spec.activation)
    noise = max(spec.noise, noise_level(oracle, run, spread=1.0))
    h = min(max((10 * noise) ** 0.2, 1e-3), 0.5)  # where noise / h³ meets h²
    x = run.normal(points, spec.inputs)
    curves = observed(oracle, x, directions, h, g)
    free_norm, at_once = spec.norms != "unit", max(1, BATCH // (2 * points * SHIFTS[1] * NORMS[2]))
    mirrored = hidden(g) or (curves.free_outer and g.symmetry in ("odd", "complement"))
    fits = [both_ways(part, free_norm, mirrored) for part in curves.split(at_once)]
    upright, turned = (Fit(*map(torch.cat, zip(*way, strict=True))) for way in zip(*fits, strict=True))
    turn = turned.cost < upright.cost
    chosen = Fit(*(torch.where(turn, b, a) for a, b in zip(upright, turned, strict=True)))
    return chosen.network(directions, spec.activation)


def observed(oracle: Oracle, x: Tensor, directions: Tensor, h: float, g: Activation) -> Curves:
    """C_n of (1); its rows weigh 1/n! over how much G_n⁻¹ lets errors grow."""
    gram, data, weights = directions.T @ directions, [], []
    for n, differences in zip((2, 3), directional(oracle, x, directions.T, h), strict=True):
        inverse, trouble = torch.linalg.inv_ex(gram**n)
        if bool(trouble):
            raise GiveUp("two directions are the same")
        weight = 1 / (factorial(n) * inverse.norm(dim=1))
        data.append((inverse @ differences.T) * weight[:, None])
        weights.append(weight[:, None].expand(-1, len(x)))
    return Curves(torch.cat(data, 1), torch.cat(weights, 1), directions.T @ x.T, h, g, oracle.spec.outer != "ones")


def directional(oracle: Oracle, x: Tensor, along: Tensor, h: float) -> tuple[Tensor, Tensor]:
    """T_2 and T_3 of (1), (J, m)."""
    steps = h * torch.tensor([1.0, -1.0, 2.0, -2.0], device=x.device, dtype=x.dtype)
    second, third = [], []
    for at in x:
        points = (at + steps[:, None, None] * along).flatten(0, 1)
        f = torch.cat([oracle.query(at[None]), *map(oracle.query, points.split(2**14))])[:, 0]
        middle, (up, down, up2, down2) = f[0], f[1:].reshape(4, -1)
        second.append((up - 2 * middle + down) / h**2)
        third.append((up2 - 2 * up + 2 * down - down2) / (2 * h**3))
    return torch.stack(second), torch.stack(third)


def profile(g: Activation, norm: Tensor, shift: Tensor, s: Tensor, h: float) -> Tensor:
    """The same differences of t ↦ g(l t + τ) at s: Δ_2 then Δ_3, (…, 2J)."""
    z, step = norm * s + shift, norm * h
    up, down = g(z + step), g(z - step)
    second = (up - 2 * g(z) + down) / h**2
    return torch.cat([second, (g(z + 2 * step) - 2 * up + 2 * down - g(z - 2 * step)) / (2 * h**3)], -1)


def both_ways(curves: Curves, free_norm: bool, mirrored: bool) -> tuple[Fit, Fit]:
    """The best fits with l > 0 and with l < 0, or twice the first where they are mirror images."""
    low, high, count = NORMS if free_norm else (1.0, 1.0, 1)
    like = curves.data
    norms = low * (high / low) ** torch.linspace(0, 1, count, device=like.device, dtype=like.dtype)
    shifts = torch.linspace(-SHIFTS[0], SHIFTS[0], SHIFTS[1], device=like.device, dtype=like.dtype)
    sides = (1,) if mirrored else (1, -1)
    fits = (polished(curves, gridded(curves, side * norms, shifts), free_norm) for side in sides)
    best = [Fit(*(t[:, 0] for t in least(fit, 1))) for fit in fits]
    return best[0], best[-1]


def gridded(curves: Curves, norms: Tensor, shifts: Tensor) -> Fit:
    """Of every norm the best shift, and of the norms the best few."""
    mesh = [t.expand(len(curves.s), -1, -1).flatten(1) for t in torch.meshgrid(norms, shifts, indexing="ij")]
    every = Fit(*(t.unflatten(1, (len(norms), len(shifts))).flatten(0, 1) for t in curves.at(*mesh)))
    return least(Fit(*(t.unflatten(0, (-1, len(norms)))[:, :, 0] for t in least(every, 1))), min(KEPT, len(norms)))


def least(fit: Fit, count: int) -> Fit:
    """The candidates of least misfit, best first."""
    order = fit.cost.argsort(1)[:, :count]
    return Fit(*(t.gather(1, order) for t in fit))


def polished(curves: Curves, fit: Fit, free_norm: bool, steps: int = 25, tiny: float = 1e-5) -> Fit:
    """Levenberg-Marquardt on log |l| and τ (the shift alone where norms are pinned), a eliminated, slopes numerical."""
    scale = torch.tensor([float(free_norm), 1.0], device=fit.norm.device, dtype=fit.norm.dtype)
    identity = torch.eye(2, device=scale.device, dtype=scale.dtype)
    damping = torch.full_like(fit.cost, 1e-3)
    for _ in range(steps):
        r, _ = curves.residuals(fit.norm, fit.shift)
        by_norm = (curves.residuals(fit.norm * (1 + tiny), fit.shift)[0] - r) / tiny
        by_shift = (curves.residuals(fit.norm, fit.shift + tiny)[0] - r) / tiny
        slopes = torch.stack([by_norm, by_shift], -1) * scale
        normal = slopes.mT @ slopes
        ridge = damping[..., None, None] * torch.diag_embed(normal.diagonal(dim1=-2, dim2=-1)) + 1e-30 * identity
        system = normal + ridge + torch.diag(1 - scale)
        step = -torch.linalg.solve_ex(system, slopes.mT @ r[..., None]).result[..., 0]  # a singular one gains nothing
        step = step.clamp(-0.5, 0.5)
        after = curves.at(fit.norm * torch.exp(step[..., 0]), fit.shift + step[..., 1])
        gained = after.cost < fit.cost
        fit = Fit(*(torch.where(gained, b, a) for a, b in zip(fit, after, strict=True)))
        damping = torch.where(gained, damping / 5, damping * 5).clamp(1e-9, 1e9)
    return fit
