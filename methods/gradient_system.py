"""The linearised gradient of a shallow network: its normal equations by preconditioned conjugate gradients.

For ∇f(x_i) = Σ_k a_k g'(z_ik) w_k, with G = g'(z), H = g''(z) (rows, m) and a change p = (V, v, α) of (W, b, a),

    (1)  J p  = G (aV + αW)ᵀ + (H ∘ (XV + v)) (aW)ᵀ,
    (2)  Jᵀ r = (a A + XᵀB, 1ᵀB, 1ᵀ(A ∘ W)),   A = rᵀG,  B = H ∘ (r aW).

A neuron with w = l u sees its changes along u, b and a in the single output direction u,

    (3)  with φ_i = (a (g' + l⟨u, x_i⟩ g''), a l g'', l g'),  Σ_i φ_i φ_iᵀ,
    (4)  and those across u with the weight d = a² Σ_i (g'² + l² g''² |x_i across u|² / (D - 1)).

The preconditioner inverts the blocks (3) and (4) neuron by neuron, and across u the one large eigenvalue e that all
neurons share, that of d^-½ aGᵀG a d^-½ with eigenvector v. What is pinned (norms, outer weights) is projected out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from paramid import Activation, Spec

ROWS = 2**19  # numbers of G a block holds
HELD = 2**25  # numbers of G and H kept between products; more of them are computed anew each time


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
    """J at `theta` = (W, b, a), rows (D + 2, m), over the points `x`; with damping, JᵀJ + λ diag."""

    x: Tensor
    theta: Tensor
    g: Activation
    pinned: Pinned
    held: tuple[tuple[Tensor, Tensor, Tensor], ...]

    @classmethod
    def at(cls, x: Tensor, theta: Tensor, g: Activation, pinned: Pinned) -> "System":
        """The system with its slopes at hand where they fit."""
        bare = cls(x, theta, g, pinned, ())
        return cls(x, theta, g, pinned, tuple(bare.blocks()) if 2 * len(x) * theta.shape[1] <= HELD else ())

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """W, b, a."""
        return split(self.theta)

    def blocks(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """(X, G, H) in blocks of rows."""
        if self.held:
            yield from self.held
            return
        w, b, _ = self.parts
        for rows in self.x.split(max(1, ROWS // w.shape[1])):
            z = torch.addmm(b, rows, w)
            yield rows, self.g(z, 1), self.g(z, 2)

    def forward(self, block: tuple[Tensor, Tensor, Tensor], p: Tensor) -> Tensor:
        """(1) on a block of rows."""
        (x, slope, bend), (w, _, a), (v_w, v_b, v_a) = block, self.parts, split(p)
        return slope @ (a * v_w + v_a * w).T + (bend * torch.addmm(v_b, x, v_w)) @ (a * w).T

    def backward(self, block: tuple[Tensor, Tensor, Tensor], r: Tensor) -> Tensor:
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


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """(3) and (4) at a system; `damping` is λ."""

    unit: Tensor  # u, (D, m)
    across: Tensor  # d (1 + λ)
    along: Tensor  # Cholesky factors of (3), (m, 3, 3)
    shared: Tensor  # v
    shrink: float  # 1/e - 1
    free: Tensor  # 1 where (u, b, a) are free, 0 where they are pinned
    diagonal: Tensor  # what λ multiplies, (D + 2, m)

    @classmethod
    def of(cls, system: System, damping: float) -> "Preconditioner":
        """The blocks summed over the rows, and e by a few power steps."""
        (w, _, a), tiny = system.parts, torch.finfo(system.x.dtype).tiny
        length = w.norm(dim=0).clamp(min=tiny)
        unit = w / length
        moments = sum(block_moments(k, unit, length, a) for k in system.blocks())
        assert isinstance(moments, Tensor)
        gram, slopes, bends = moments[:, :9].unflatten(1, (3, 3)), moments[:, 9], moments[:, 10]
        d = (slopes + bends).clamp(min=tiny)
        diagonal = torch.stack([*[d] * len(w), gram[:, 1, 1], gram[:, 2, 2]])
        shared, e = top(system, a * d.rsqrt())
        shrink = 1 / max(float(e + (bends / d).mean()), 1.0) - 1
        free = torch.tensor([not system.pinned.norms, True, not system.pinned.outer], device=w.device).to(w.dtype)
        damped = gram + damping * torch.diag_embed(torch.stack([d, gram[:, 1, 1], gram[:, 2, 2]], 1))
        return cls(unit, d * (1 + damping), factor(damped, free), shared, shrink, free, diagonal)

    def project(self, p: Tensor) -> Tensor:
        """`p` without what is pinned."""
        v_w, v_b, v_a = split(p)
        v_w = v_w - (1 - self.free[0]) * self.unit * (self.unit * v_w).sum(0)
        return torch.cat([v_w, v_b[None], self.free[2] * v_a[None]])

    def __call__(self, p: Tensor) -> Tensor:
        """The preconditioned, projected `p`."""
        v_w, v_b, v_a = split(p)
        inside = (self.unit * v_w).sum(0)
        y = (v_w - self.unit * inside) * self.across.rsqrt()
        y = (y + self.shrink * torch.outer(y @ self.shared, self.shared)) * self.across.rsqrt()
        y = y - self.unit * (self.unit * y).sum(0)
        three = torch.cholesky_solve((torch.stack([inside, v_b, v_a], 1) * self.free)[:, :, None], self.along)[:, :, 0]
        inside, v_b, v_a = (three * self.free).unbind(1)
        return torch.cat([y + self.unit * inside, v_b[None], v_a[None]])


def split(theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """W, b, a of rows (D + 2, m)."""
    return theta[:-2], theta[-2], theta[-1]


def block_moments(block: tuple[Tensor, Tensor, Tensor], unit: Tensor, length: Tensor, a: Tensor) -> Tensor:
    """Of every neuron the nine sums (3) and the two of (4), (m, 11)."""
    x, slope, bend = block
    s, bent = x @ unit, length * bend
    phi = [a * (slope + s * bent), a * bent, length * slope]
    away = ((x * x).sum(1, keepdim=True) - s * s) / max(1, len(unit) - 1)
    sums = [(p * q).sum(0) for p in phi for q in phi]
    return torch.stack([*sums, a * a * (slope * slope).sum(0), a * a * (bent * bent * away).sum(0)], 1)


def factor(gram: Tensor, free: Tensor) -> Tensor:
    """Cholesky factors of the blocks (3), with ones where nothing is free."""
    gram = gram * torch.outer(free, free) + torch.diag(1 - free)
    diagonal = gram.diagonal(dim1=1, dim2=2)
    floor = torch.finfo(gram.dtype).tiny
    return torch.linalg.cholesky(gram + torch.diag_embed(1e-4 * diagonal + floor))


def top(system: System, scale: Tensor, steps: int = 12) -> tuple[Tensor, Tensor]:
    """The top eigenvector of scale GᵀG scale, and its eigenvalue."""
    v = torch.sign(scale) / len(scale) ** 0.5
    e = torch.ones_like(v[0])
    for _ in range(steps):
        y = sum((slope.T @ (slope @ (scale * v)) for _, slope, _ in system.blocks()), torch.zeros_like(v)) * scale
        e = y.norm().clamp(min=torch.finfo(y.dtype).tiny)
        v = y / e
    return v, e


def solve(system: System, r: Tensor, *, damping: float, tol: float, most: int) -> tuple[Tensor, int]:
    """The p with (JᵀJ + λ diag) p = Jᵀ r to relative tolerance `tol`, and the number of products it took."""
    inverse = Preconditioner.of(system, damping)
    residual = inverse.project(system.adjoint(r))
    solution = torch.zeros_like(residual)
    z = p = inverse(residual)
    energy = start = (residual * z).sum()
    count = 0
    while count < most and float(energy) > tol * tol * float(start):
        product = inverse.project(system.normal(p) + damping * inverse.diagonal * p)
        count += 1
        rate = energy / (p * product).sum()
        solution, residual = solution + rate * p, residual - rate * product
        z = inverse(residual)
        energy, before = (residual * z).sum(), energy
        p = z + (energy / before) * p
    return solution, count
