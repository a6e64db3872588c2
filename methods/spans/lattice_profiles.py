"""Signs, norms and shifts of neurons from the rows of a lattice, their directions known up to sign.

The rows R_q (simplex_lattices) of a network with neurons σ_k l_k u_k, |u_k| = 1, σ_k = ±1, are sums of φ_s(u_k):

    (1)  e_qk = ⟨φ_q(u_k), C_qk⟩,   C_q = R_q Φᵀ G⁻¹,   Φ = φ_s(U),   G_kl = ⟨u_k, u_l⟩^s,
    (2)  e_qk ≈ (σl)^(s+q) g^(s+q)(σl⟨u_k, x⟩ + τ),   q = 0 … n - s,

a curve fit in (l, τ) for each neuron and sign, least squares over what g^(s+q) is typically, times l^(s+q): a grid,
then Levenberg-Marquardt. One-sided differences are those of the point x + (s+q) h u³ / 2 across u rather than of x, as
long as nothing corrects them. The misfit tells wrong neurons (near 1) from true ones; both signs' fits are kept.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from paramid import Activation
from paramid.methods.spans.activation_derivatives import derivatives, width
from paramid.methods.spans.symmetric_tensors import powers

NORMS, SHIFTS = (0.12, 1.0, 30), 61  # the grid
SPACING = 0.005  # widths between the places of a table
FAINTEST, BEYOND = 0.06, 1.2  # norms, shifts beside what the grid reaches: what is further off is no neuron
STEPS = 12
RIDGE = 1e-12


class Fit(NamedTuple):
    """Of every neuron σ l, τ and the squared misfit, (m,)."""

    norm: Tensor
    shift: Tensor
    cost: Tensor

    def where(self, keep: Tensor, other: "Fit") -> "Fit":
        """These where `keep`, else the others."""
        return Fit(*(torch.where(keep, a, b) for a, b in zip(self, other, strict=True)))

    def at(self, rows: Tensor) -> "Fit":
        """Some of the neurons."""
        return Fit(*(t[rows] for t in self))


@dataclass(frozen=True, eq=False)
class Curves:
    """(1) as `data` (bases, orders, m), at `places` ⟨u_k, x⟩ of the same shape, of the derivatives from `first` on."""

    data: Tensor
    places: Tensor
    first: int
    g: Activation

    @property
    def orders(self) -> Tensor:
        """S + q, (orders, 1)."""
        count = self.data.shape[1]
        return torch.arange(self.first, self.first + count, device=self.data.device, dtype=self.data.dtype)[:, None]

    def typical(self) -> Tensor:
        """The root mean squares of g^(s+q) on ±1.5 widths, and of one more derivative, (orders + 1, 1)."""
        z = 1.5 * width(self.g) * torch.linspace(-1, 1, 61, device=self.data.device, dtype=self.data.dtype)
        found = derivatives(self.g, z, self.first + len(self.orders))[self.first :]
        return torch.stack([t.square().mean().sqrt() for t in found])[:, None]


def estimates(rows: list[Tensor], u: Tensor, s: int) -> Tensor:
    """(1) from the rows of every q, (orders, m)."""
    right = powers(u, s)
    gram = (u @ u.T) ** s + RIDGE * torch.eye(len(u), device=u.device, dtype=u.dtype)
    factor = torch.linalg.cholesky(gram)
    found = [(powers(u, q) * torch.cholesky_solve((r @ right.T).T, factor)).sum(1) for q, r in enumerate(rows)]
    return torch.stack(found)


def fits(curves: Curves, *, pinned: bool, reach: float) -> tuple[Fit, Fit]:
    """The better fit of every neuron and that with the other sign; `pinned` norms are 1, shifts tried up to `reach`."""
    upright, turned = (polished(curves, gridded(curves, side, pinned, reach), pinned, reach) for side in (1.0, -1.0))
    better = upright.cost <= turned.cost
    return upright.where(better, turned), turned.where(better, upright)


def gridded(curves: Curves, side: float, pinned: bool, reach: float) -> Fit:
    """The best of a grid over norms and shifts, by tables of the derivatives."""
    like, typical = curves.data, curves.typical()[:-1]
    low, high, count = NORMS if not pinned else (1.0, 1.0, 1)
    norms = torch.linspace(low, high, count, device=like.device, dtype=like.dtype).repeat_interleave(SHIFTS)
    t = torch.linspace(-reach, reach, SHIFTS, device=like.device, dtype=like.dtype).repeat(count)
    step = SPACING * width(curves.g)
    furthest = int((float(curves.places.abs().max()) + reach) / step) + 2
    z = step * torch.arange(-furthest, furthest + 1, device=like.device, dtype=like.dtype)
    tables = derivatives(curves.g, z, curves.first + len(typical) - 1)[curves.first :]
    cost = like.new_zeros(like.shape[2], len(t))
    for data, places in zip(like, curves.places, strict=True):
        for j, (e, y) in enumerate(zip(data, places, strict=True)):
            at = torch.round((side * norms * y[:, None] + t) / step).long() + furthest
            scaled = e[:, None] / (side * norms) ** int(curves.orders[j])
            cost += ((scaled - tables[j][at]) / typical[j]).square()
    best = cost.argmin(1)
    return Fit(side * norms[best], t[best], cost.gather(1, best[:, None])[:, 0])


def polished(curves: Curves, start: Fit, pinned: bool, reach: float) -> Fit:
    """Levenberg-Marquardt on (σl, τ), on τ alone where norms are `pinned`, from the fits of a grid, little beyond."""
    scale = curves.typical()[:-1] * start.norm.abs() ** curves.orders
    fit = start._replace(cost=residuals(curves, start, scale)[0].square().sum((0, 1)))
    damping = torch.full_like(fit.cost, 1e-3)
    for _ in range(STEPS):
        r, by_norm, by_shift = residuals(curves, fit, scale)
        a, b, c = ((p * q).sum((0, 1)) for p, q in ((by_norm, by_norm), (by_shift, by_shift), (by_norm, by_shift)))
        a, b, c = a * (1 + damping) + RIDGE, b * (1 + damping) + RIDGE, c * (not pinned)
        right_norm, right_shift = (by_norm * r).sum((0, 1)) * (not pinned), (by_shift * r).sum((0, 1))
        whole = a * b - c * c
        move = ((b * right_norm - c * right_shift) / whole).clamp(-0.1, 0.1)
        slide = ((a * right_shift - c * right_norm) / whole).clamp(-0.2, 0.2)
        new = Fit(fit.norm + move, fit.shift + slide, fit.cost)
        new = new._replace(cost=residuals(curves, new, scale)[0].square().sum((0, 1)))
        norm = new.norm * start.norm.sign()
        near = (norm > FAINTEST) & (norm < BEYOND) & (new.shift.abs() < BEYOND * reach)
        better = near & (new.cost < fit.cost)
        fit = new.where(better, fit)
        damping = torch.where(better, damping / 5, damping * 5).clamp(1e-9, 1e9)
    return fit


def residuals(curves: Curves, fit: Fit, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What (2) leaves, and the slopes of its right side by σl and τ, all over `scale`."""
    j = curves.orders
    z = fit.norm * curves.places + fit.shift
    tables = [derivatives(curves.g, z[:, i], int(k) + 1) for i, k in enumerate(j)]
    here = torch.stack([t[-2] for t in tables], 1)
    next_one = torch.stack([t[-1] for t in tables], 1)
    power = fit.norm**j / scale
    by_norm = j / fit.norm * power * here + power * next_one * curves.places
    return curves.data / scale - power * here, by_norm, power * next_one
