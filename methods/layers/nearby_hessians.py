"""Hessians of all outputs at antipodal offsets ±p from one point a_0, as `gauge_labels` wants them.

Asked for at every point they cost d² + d + 1 values each. But all that is used of them is linear in p, so that the
second and third derivatives at a_0 do as well,

    (1)  H(a_0 ± p) = H ± T p,

and these come from one lattice of C(d+3, 3) values f(a_0 + h c), c ∈ N^d, |c| ≤ 3: its differences (1) and (2) of
`lattices`, one-sided. Each is off by h/2 times sums of the next. That is little for T, as derivatives of even order are
small where shifts are; it is much for H, and T takes it off:

    (2)  H_ij = Δ_i Δ_j f / h² - h/2 (T_iij + T_ijj),   ∂_i f = Δ_i f / h - h/2 H_ii.

Rounding ε leaves ε/h³ in T, whose entries fall with d like d^(-3/2): so that

    (3)  h = √d ε^¼.

At a_0 itself no direction has turned yet, and H is not blurred at all; but it is small. In

    (4)  p = r e_n,   r = ‖H‖ / ‖T‖ by the mean square of their rows,

both weigh something.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Activation, Run
from paramid.methods.spans import lattices, output_differences, symmetric
from paramid.methods.spans.output_differences import Values

RADIUS = 0.23  # of the points of pairs in units of the interval on which g'' is monotone
COHERENT = 0.3  # over the error of differences: truncation tilts the span without widening it


@dataclass(frozen=True)
class Nearby:
    """Offsets (points, d) from `base`, packed Hessians there, (points, outputs, ·), and the order of their error."""

    base: Tensor
    offsets: Tensor
    packed: Tensor
    error: float

    @property
    def sharpest(self) -> float:
        """The largest gap of their span that may be one."""
        return COHERENT / self.error


def asked(
    f: Values,
    base: Tensor,
    widths: tuple[int, ...],
    g: Activation,
    run: Run,
    *,
    noise: float,
    pairs: int,
    reach: float = math.inf,
    ahead: bool = False,
) -> Nearby:
    """Hessians asked for at every point, pairs enough for the neurons of `widths`, none further than `reach`.

    Exact values may be asked `ahead` of points alone.
    """
    h = output_differences.BENT_AHEAD if ahead else output_differences.hessian_step(noise)
    rank = min(f(base[None]).shape[1], widths[-1])
    e = run.sphere(max(pairs, math.ceil(sum(widths) / rank)), len(base))
    offsets = min(max(RADIUS * g.monotone, 2 * h), reach - 1.5 * h) * torch.cat([e, -e])
    bent = output_differences.hessians_ahead if ahead else output_differences.packed_hessians
    return Nearby(base, offsets, bent(f, base + offsets, h), h if ahead else h**2)


def told(f: Values, base: Tensor, *, h: float) -> tuple[Nearby, Tensor]:
    """Hessians (1) of a lattice (2), and the gradients (d, outputs)."""
    gradients, second, third = derivatives(f, base, h)
    r = size(second) / size(third)
    e = torch.eye(len(base), dtype=base.dtype, device=base.device)
    packed = torch.cat([second + r * third, second - r * third])
    return Nearby(base, r * torch.cat([e, -e]), packed, h), gradients


def derivatives(f: Values, base: Tensor, h: float) -> tuple[Tensor, Tensor, Tensor]:
    """∂f (d, outputs), packed H (outputs, ·) and the packed slices T_··n (d, outputs, ·) by (2)."""
    triples, place = lattices.corners(len(base), base.device)
    values = lattices.values(f, base, h, triples)
    first, second, third = [], [], []
    for y in values.unbind(1):  # the cube of one output is what is large
        bend, *turns = lattices.differences(y[place], h)
        turn = torch.stack(turns)
        twice = turn.diagonal(dim1=0, dim2=1)  # T_iij at (j, i)
        bend = bend - h / 2 * (twice + twice.T)
        first.append((y[place[1:, 0, 0]] - y[0]) / h - h / 2 * bend.diagonal())
        second.append(symmetric.pack(bend))
        third.append(symmetric.pack(turn))
    return torch.stack(first, 1), torch.stack(second), torch.stack(third, 1)


def size(packed: Tensor) -> float:
    """The root mean square of the rows' norms."""
    return max(float(packed.square().sum(-1).mean().sqrt()), torch.finfo(packed.dtype).tiny)


def step(d: int, reach: float) -> float:
    """The h of (3), no point of the lattice further than `reach` from its base."""
    return min(math.sqrt(d) * output_differences.ROUNDING**0.25, reach / 3)
