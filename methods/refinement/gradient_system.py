"""The linearised gradient of a shallow network, in blocks of rows.

For ∇f(x_i) = Σ_k a_k g'(z_ik) w_k, with G = g'(z), H = g''(z) (rows, m) and a change p = (V, v, α) of (W, b, a),

    (1)  J p  = G (aV + αW)ᵀ + (H ∘ (XV + v)) (aW)ᵀ,
    (2)  Jᵀ r = (a A + XᵀB, 1ᵀB, 1ᵀ(A ∘ W)),   A = rᵀG,  B = H ∘ (r aW).

and beside a free linear part of f, a constant in ∇f, rows of J count less their mean:

    (3)  J p - mean = (G - mean G) (aV + αW)ᵀ + (H ∘ (XV + v) - 1ᵀ(mean XᵀH ∘ V) - v mean H) (aW)ᵀ.

One-sided differences of step h are gradients and h/2 times the second derivatives along the same inputs, to order h².
With T = g'''(z) they add to (1) and (2)

    (4)  h/2 ((T ∘ (XV + v)) (aW²)ᵀ + H (2aW∘V + αW²)ᵀ),
    (5)  h/2 (2aW∘C + XᵀE, 1ᵀE, 1ᵀ(C ∘ W²)),   C = rᵀH,  E = T ∘ (r aW²).

G, H and T are kept while they are small and computed anew for every product where they are not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from paramid import Activation, Spec

ROWS = 2**19  # numbers of G a block holds
HELD = 2**25  # numbers of G and H kept between products; more of them are computed anew each time
Block = tuple[Tensor, Tensor, Tensor, Tensor]  # X, G, H, T; T is empty where the step is 0


class Pinned(NamedTuple):
    """Which parameters a spec leaves no freedom, and whether a linear part beyond the neurons' has none."""

    norms: bool
    outer: bool
    linear: bool = True

    @classmethod
    def by(cls, spec: Spec) -> "Pinned":
        """What the spec says of norms and outer weights."""
        return cls(spec.norms == "unit", spec.outer == "ones")


@dataclass(frozen=True, eq=False)
class System:
    """J at `theta` = (W, b, a), rows (D + 2, m), over the points `x`."""

    x: Tensor
    theta: Tensor
    g: Activation
    pinned: Pinned
    step: float = 0.0  # h of one-sided differences
    held: tuple[Block, ...] = ()
    means: Tensor | None = None  # of XᵀH, H and G over the rows, (D + 2, m), where (3) holds

    @classmethod
    def at(cls, x: Tensor, theta: Tensor, g: Activation, pinned: Pinned, step: float = 0.0) -> "System":
        """The system with its slopes at hand where they fit."""
        system = cls(x, theta, g, pinned, step)
        if not pinned.linear:
            system = replace(system, means=system.row_means())
        return replace(system, held=tuple(system.blocks())) if 2 * len(x) * theta.shape[1] <= HELD else system

    def row_means(self) -> Tensor:
        """What (3) subtracts."""
        sums = (torch.cat([x.T @ bend, bend.sum(0)[None], slope.sum(0)[None]]) for x, slope, bend, _ in self.blocks())
        return sum(sums, torch.zeros_like(self.theta)) / len(self.x)

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """W, b, a."""
        return split(self.theta)

    def blocks(self) -> Iterator[Block]:
        """(X, G, H, T) in blocks of rows."""
        if self.held:
            yield from self.held
            return
        w, b, _ = self.parts
        for rows in self.x.split(max(1, ROWS // w.shape[1])):
            z = torch.addmm(b, rows, w)
            slope = self.g(z, 1) if self.means is None else self.g(z, 1) - self.means[-1]
            yield rows, slope, self.g(z, 2), self.g(z, 3) if self.step else z[:0]

    def forward(self, block: Block, p: Tensor) -> Tensor:
        """(1), with (4), or (3) on a block of rows."""
        (x, slope, bend, third), (w, _, a), (v_w, v_b, v_a) = block, self.parts, split(p)
        moved = torch.addmm(v_b, x, v_w)
        found = slope @ (a * v_w + v_a * w).T + (bend * moved) @ (a * w).T
        if self.step:
            more = (third * moved) @ (a * w * w).T + bend @ (2 * a * w * v_w + v_a * w * w).T
            found = found + self.step / 2 * more
        return found if self.means is None else found - (a * w) @ (self.means[:-1] * p[:-1]).sum(0)

    def backward(self, block: Block, r: Tensor) -> Tensor:
        """(2), with (5), on a block of rows, whose sum over all blocks is 0 where (3) holds."""
        (x, slope, bend, third), (w, _, a) = block, self.parts
        along, b = r.T @ slope, bend * (r @ (a * w))
        across = along
        if self.step:
            bent = self.step / 2 * (r.T @ bend) * w
            b = b + self.step / 2 * third * (r @ (a * w * w))
            along, across = along + bent, along + 2 * bent
        return torch.cat([a * across + x.T @ b, b.sum(0)[None], (along * w).sum(0)[None]])

    def normal(self, p: Tensor) -> Tensor:
        """JᵀJ p."""
        return sum((self.backward(k, self.forward(k, p)) for k in self.blocks()), torch.zeros_like(p))

    def adjoint(self, r: Tensor) -> Tensor:
        """Jᵀ r."""
        r = r if self.means is None else r - r.mean(0)
        sizes = [len(k[0]) for k in self.blocks()] if self.held else max(1, ROWS // self.theta.shape[1])
        pairs = zip(self.blocks(), r.split(sizes), strict=True)
        return sum((self.backward(k, rows) for k, rows in pairs), torch.zeros_like(self.theta))


def split(theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """W, b, a of rows (D + 2, m)."""
    return theta[:-2], theta[-2], theta[-1]
