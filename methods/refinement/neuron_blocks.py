"""Normal equations of a `gradient_system` by conjugate gradients, preconditioned neuron by neuron.

A neuron with w = l u sees its changes along u, b and a in the single output direction u, those across u apart:

    (1)  Σ_i φ_i φ_iᵀ,  φ_i = (a (g' + l⟨u, x_i⟩ g''), a l g'', l g'),
    (2)  d = a² Σ_i (g'² + l² g''² |x_i across u|² / (D - 1)),

and all neurons share one large eigenvalue e across, that of d^-½ a GᵀG a d^-½ with eigenvector v, for which

    (3)  d^-½ (1 + (1/e - 1) v vᵀ) d^-½ stands for the inverse.

What is pinned (norms, outer weights) is projected out. With damping, JᵀJ + λ diag is solved, diag that of (1) and (2).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid.methods.refinement import conjugate_gradients
from paramid.methods.refinement.gradient_system import Block, System, split


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """(1) to (3) at a system; `damping` is λ."""

    unit: Tensor  # u, (D, m)
    across: Tensor  # d (1 + λ)
    along: Tensor  # Cholesky factors of (1), (m, 3, 3)
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


def block_moments(block: Block, unit: Tensor, length: Tensor, a: Tensor) -> Tensor:
    """Of every neuron the nine sums (1) and the two of (2), (m, 11)."""
    x, slope, bend, _ = block
    s, bent = x @ unit, length * bend
    phi = [a * (slope + s * bent), a * bent, length * slope]
    away = ((x * x).sum(1, keepdim=True) - s * s) / max(1, len(unit) - 1)
    sums = [(p * q).sum(0) for p in phi for q in phi]
    return torch.stack([*sums, a * a * (slope * slope).sum(0), a * a * (bent * bent * away).sum(0)], 1)


def factor(gram: Tensor, free: Tensor) -> Tensor:
    """Cholesky factors of the blocks (1), with ones where nothing is free."""
    gram = gram * torch.outer(free, free) + torch.diag(1 - free)
    diagonal = gram.diagonal(dim1=1, dim2=2)
    floor = torch.finfo(gram.dtype).tiny
    return torch.linalg.cholesky(gram + torch.diag_embed(1e-4 * diagonal + floor))


def top(system: System, scale: Tensor, steps: int = 12) -> tuple[Tensor, Tensor]:
    """The top eigenvector of scale GᵀG scale, and its eigenvalue."""
    v = torch.sign(scale) / len(scale) ** 0.5
    e = torch.ones_like(v[0])
    for _ in range(steps):
        y = sum((slope.T @ (slope @ (scale * v)) for _, slope, *_ in system.blocks()), torch.zeros_like(v)) * scale
        e = y.norm().clamp(min=torch.finfo(y.dtype).tiny)
        v = y / e
    return v, e


def solve(system: System, r: Tensor, *, damping: float, tol: float, most: int) -> tuple[Tensor, int]:
    """The p with (JᵀJ + λ diag) p = Jᵀ r to relative tolerance `tol`, and the number of products it took."""
    inverse = Preconditioner.of(system, damping)

    def normal(p: Tensor) -> Tensor:
        return inverse.project(system.normal(p) + damping * inverse.diagonal * p)

    return conjugate_gradients.solve(normal, inverse.project(system.adjoint(r)), inverse, tol=tol, most=most)
