"""A neuron's length, shift and outer weights from the profile of its crossing, by variable projection.

Along its direction u from a point x inside the crossing

    (1)  f(x + s u) = c_0 + c_1 s + a g(l s + z),   to rounding,

linear in c_0, c_1 and a. With s = S τ, |τ| ≤ 1, and P the projector off 1, τ and γ = P_(1,τ) g(λτ + ζ), steps in
log λ and ζ are those of

    (2)  r ≈ Σ_j P ∂_j g(λτ + ζ) a p_j,   r = P y,

Kaufman's Gauss-Newton, damped, from the best few nodes of a grid. All crossings are fitted at once.

The window first grows until what bends lies inside, then shrinks around it: a smooth tail alone would tell neither the
shift nor the outer weight of a neuron of exponential tail.

References: Golub & Pereyra, SIAM J. Numer. Anal. 10 (1973); Kaufman, BIT 15 (1975).
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Activation
from paramid.methods.spans.output_differences import BATCH, Values

POINTS = 61
FAINT = 1e-4  # second differences, against the largest of them, are no part of the bend
ROUNDS, MARGIN = 4, 3  # of windows, and points between the bend and the end of one
LEAST, MOST, LENGTHS, SHIFTS = 1.5, 40.0, 14, 17  # λ of the grid, from and to; ζ/λ in ±0.8
STARTS, STEPS = 3, 40
STILL, STUCK = 1e-11, 1e8
TINY = torch.finfo(torch.float64).tiny


@dataclass(frozen=True)
class Window:
    """Values y (k, points, outputs) at x + s u, s = centre + half τ."""

    x: Tensor
    u: Tensor
    centre: Tensor
    half: Tensor
    y: Tensor

    def take(self, rows: Tensor) -> "Window":
        """Some of the rows."""
        return Window(self.x[rows], self.u[rows], self.centre[rows], self.half[rows], self.y[rows])


@dataclass(frozen=True)
class Profiles:
    """l, z and a of (1), and what (1) leaves against what bends, root mean squares."""

    length: Tensor
    shift: Tensor
    a: Tensor  # (k, outputs)
    left: Tensor
    bend: Tensor


def grid(like: Tensor, points: int = POINTS) -> Tensor:
    """The τ of a window."""
    return torch.linspace(-1, 1, points, dtype=like.dtype, device=like.device)


def window(f: Values, x: Tensor, u: Tensor, centre: Tensor, half: Tensor, points: int = POINTS) -> Window:
    """Values on windows."""
    s = centre[:, None] + half[:, None] * grid(half, points)
    rows = max(1, BATCH // (points * x.shape[1]))
    parts = zip(x.split(rows), u.split(rows), s.split(rows), strict=True)
    y = torch.cat([f((at[:, None] + t[:, :, None] * along[:, None]).flatten(0, 1)) for at, along, t in parts])
    return Window(x, u, centre, half, y.view(len(x), points, -1))


def windows(f: Values, x: Tensor, u: Tensor, half: Tensor, noise: float) -> Window:
    """Windows in which all that bends lies, and not much else."""
    now = window(f, x, u, torch.zeros_like(half), half)
    for _ in range(ROUNDS):
        first, last = bend(now.y, noise)
        cut = (first < MARGIN) | (last >= POINTS - MARGIN)
        narrow = ~cut & (last - first < POINTS / 3)
        if not bool((cut | narrow).any()):
            break
        low, high = grid(half)[(first - MARGIN).clamp(min=0)], grid(half)[(last + MARGIN).clamp(max=POINTS - 1)]
        centre = now.centre + torch.where(narrow, now.half * (low + high) / 2, 0.0)
        width = torch.where(narrow, now.half * (high - low) / 2, torch.where(cut, 2 * now.half, now.half))
        rows = (cut | narrow).nonzero()[:, 0]
        now = placed(now, rows, window(f, x[rows], u[rows], centre[rows], width[rows]))
    return now


def placed(now: Window, rows: Tensor, new: Window) -> Window:
    """`now` with new windows at `rows`."""
    return replace(
        now,
        centre=now.centre.index_copy(0, rows, new.centre),
        half=now.half.index_copy(0, rows, new.half),
        y=now.y.index_copy(0, rows, new.y),
    )


def bend(y: Tensor, noise: float) -> tuple[Tensor, Tensor]:
    """The first and the last point at which second differences are not faint, (k,) each."""
    size = y.diff(n=2, dim=1).abs().amax(2)
    seen = size > (FAINT * size.amax(1, keepdim=True)).clamp(min=8 * noise)
    seen = seen | (size == size.amax(1, keepdim=True))
    places = torch.arange(1, POINTS - 1, device=y.device).expand(len(y), -1)
    return torch.where(seen, places, POINTS).amin(1), torch.where(seen, places, 0).amax(1)


def profiles(data: Window, g: Activation, held: float | None = None) -> Profiles:
    """The best l, z and a for every row, with z taken at the rows' own x; `held` is λ where it is known of all rows."""
    tau, count = grid(data.half, data.y.shape[1]), len(data.half)
    straight = torch.linalg.qr(torch.stack([torch.ones_like(tau), tau], 1))[0]
    y = data.y - straight @ (straight.T @ data.y)
    scale = y.square().sum((1, 2)).sqrt().clamp(min=TINY)
    y = y / scale[:, None, None]
    starts = started(y, tau, straight, g, held).transpose(0, 1).flatten(0, 1)
    free = tau.new_tensor([float(g.degree is None and held is None), 1.0])
    length, shift, cost, a = descended(y.repeat(STARTS, 1, 1), starts[:, 0], starts[:, 1], tau, straight, g, free)
    best = cost.view(STARTS, count).argmin(0) * count + torch.arange(count, device=y.device)
    found, root = length[best] / data.half, math.sqrt(data.y[0].numel())
    middle = shift[best] - found * data.centre
    return Profiles(found, middle, a[best] * scale[:, None], cost[best].sqrt() * scale / root, scale / root)


def started(y: Tensor, tau: Tensor, straight: Tensor, g: Activation, held: float | None) -> Tensor:
    """The best nodes (λ, ζ) of the grid, (k, starts, 2)."""
    lengths = (
        [held or 1.0]
        if held or g.degree is not None
        else [LEAST * (MOST / LEAST) ** (i / (LENGTHS - 1)) for i in range(LENGTHS)]
    )
    sides = (1.0, -1.0) if g.symmetry is None and g.tilt is None else (1.0,)
    places = [1.6 * i / (SHIFTS - 1) - 0.8 for i in range(SHIFTS)]
    nodes = tau.new_tensor([(side * size, place * size) for side in sides for size in lengths for place in places])
    gamma = g(nodes[:, :1] * tau + nodes[:, 1:])
    gamma = gamma - (gamma @ straight) @ straight.T
    gamma = gamma / gamma.norm(dim=1, keepdim=True).clamp(min=TINY)
    told = torch.einsum("ct,kto->kco", gamma, y).square().sum(2)
    return nodes[told.topk(STARTS, dim=1).indices]


def descended(
    y: Tensor, length: Tensor, shift: Tensor, tau: Tensor, straight: Tensor, g: Activation, free: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The ends of (2): λ, ζ, the sum of squares and a, a row for every start."""
    damping, still = torch.full_like(length, 1e-3), torch.zeros_like(length, dtype=torch.bool)
    cost, a, step = linearised(y, length, shift, damping, tau, straight, g, free)
    for _ in range(STEPS):
        new_length, new_shift = length * step[:, 0].exp(), shift + step[:, 1]
        new_cost, new_a, new_step = linearised(y, new_length, new_shift, damping / 5, tau, straight, g, free)
        better = (new_cost < cost) & ~still
        still = still | (better & (step.abs().amax(1) < STILL)) | (damping > STUCK)
        length, shift, cost = (
            torch.where(better, new, old) for new, old in ((new_length, length), (new_shift, shift), (new_cost, cost))
        )
        a = torch.where(better[:, None], new_a, a)
        damping = torch.where(better, damping / 5, 5 * damping)
        if bool(still.all()):
            break
        again = linearised(y, length, shift, damping, tau, straight, g, free)[2]
        step = torch.where(better[:, None], new_step, again)
    return length, shift, cost, a


def linearised(
    y: Tensor,
    length: Tensor,
    shift: Tensor,
    damping: Tensor,
    tau: Tensor,
    straight: Tensor,
    g: Activation,
    free: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """The sum of squares of r, a, and the damped step (log λ, ζ) of (2), where it is `free`."""
    t = length[:, None] * tau + shift[:, None]
    slope = g(t, 1)
    columns = torch.stack([g(t), length[:, None] * tau * slope, slope], 2)
    columns = columns - straight @ (straight.T @ columns)
    gamma, bent = columns[:, :, :1], columns[:, :, 1:]
    size = gamma.square().sum(1).clamp(min=TINY)
    a = (gamma.transpose(1, 2) @ y)[:, 0] / size
    r = y - gamma * a[:, None]
    bent = bent - gamma @ (gamma.transpose(1, 2) @ bent) / size[:, :, None]
    bent = bent * free
    normal = (bent.transpose(1, 2) @ bent) * a.square().sum(1)[:, None, None]
    right = (bent.transpose(1, 2) @ (r @ a[:, :, None]))[:, :, 0]
    diagonal = normal.diagonal(dim1=1, dim2=2)
    normal = normal + torch.diag_embed(damping[:, None] * diagonal + 1e-15 * diagonal.amax(1, keepdim=True) + TINY)
    step = torch.linalg.solve_ex(normal, right)[0].nan_to_num(0.0, 0.0, 0.0).clamp(-0.5, 0.5)
    return r.square().sum((1, 2)).nan_to_num(math.inf), a, step
