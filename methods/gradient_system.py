"""The linearised gradient of a shallow network, in blocks of rows.

For ∇f(x_i) = Σ_k a_k g'(z_ik) w_k, with G = g'(z), H = g''(z) (rows, m) and a change p = (V, v, α) of (W, b, a),

    (1)  J p  = G (aV + αW)ᵀ + (H ∘ (XV + v)) (aW)ᵀ,
    (2)  Jᵀ r = (a A + XᵀB, 1ᵀB, 1ᵀ(A ∘ W)),   A = rᵀG,  B = H ∘ (r aW).

G and H are kept while they are small and computed anew for every product where they are not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from paramid import Activation, Spec

ROWS = 2**19  # numbers of G a block holds
HELD = 2**25  # numbers of G and H kept between products; more of them are computed anew each time
Block = tuple[Tensor, Tensor, Tensor]


class Pinned(NamedTuple):
    """Which parameters a spec leaves no freedom."""

    norms: bool
    outer: bool

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
    held: tuple[Block, ...]

    @classmethod
    def at(cls, x: Tensor, theta: Tensor, g: Activation, pinned: Pinned) -> "System":
        """The system with its slopes at hand where they fit."""
        bare = cls(x, theta, g, pinned, ())
        return cls(x, theta, g, pinned, tuple(bare.blocks()) if 2 * len(x) * theta.shape[1] <= HELD else ())

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """W, b, a."""
        return split(self.theta)

    def blocks(self) -> Iterator[Block]:
        """(X, G, H) in blocks of rows."""
        if self.held:
            yield from self.held
            return
        w, b, _ = self.parts
        for rows in self.x.split(max(1, ROWS // w.shape[1])):
            z = torch.addmm(b, rows, w)
            yield rows, self.g(z, 1), self.g(z, 2)

    def forward(self, block: Block, p: Tensor) -> Tensor:
        """(1) on a block of rows."""
        (x, slope, bend), (w, _, a), (v_w, v_b, v_a) = block, self.parts, split(p)
        return slope @ (a * v_w + v_a * w).T + (bend * torch.addmm(v_b, x, v_w)) @ (a * w).T

    def backward(self, block: Block, r: Tensor) -> Tensor:
        """(2) on a block of rows."""
        (x, slope, bend), (w, _, a) = block, self.parts
        along, b = r.T @ slope, bend * (r @ (a * w))
        return torch.cat([a * along + x.T @ b, b.sum(0)[None], (along * w).sum(0)[None]])

    def normal(self, p: Tensor) -> Tensor:
        """JᵀJ p."""
        return sum((self.backward(k, self.forward(k, p)) for k in self.blocks()), torch.zeros_like(p))

    def adjoint(self, r: Tensor) -> Tensor:
        """Jᵀ r."""
        sizes = [len(k[0]) for k in self.blocks()] if self.held else max(1, ROWS // self.theta.shape[1])
        pairs = zip(self.blocks(), r.split(sizes), strict=True)
        return sum((self.backward(k, rows) for k, rows in pairs), torch.zeros_like(self.theta))


def split(theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """W, b, a of rows (D + 2, m)."""
    return theta[:-2], theta[-2], theta[-1]
