"""Norms and rough shifts of the first layer from how its neurons cross, each alone, far out.

Through a crossing of neuron j and along its unit direction u, with s = ⟨u, x⟩ all others stand still, and

    (1)  f = F(y),   y = tanh(l s + b),   F smooth: f ≈ Σ_{n≤N} c_n T_n(y),

with l and b common to all crossings of the neuron, c each crossing's own. Tails fall as e^(-2l|s|) whatever F is: N = 5
tells l to 1e-3, and from there N = 12 to 1e-6; at once it would find other l that fit. Least squares over (log l, b),
c eliminated, Levenberg-Marquardt with two slopes.
A crossing that merged with another spoils l for all: each is then fitted alone, and those near the median are kept.
A change of b is nearly a Moebius map of y, which F absorbs: b is taken from N = 1, to a few tenths.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid.methods.faces.crossings import Crossings
from paramid.methods.spans.output_differences import Values

MOST = 8  # crossings of a neuron
GLANCE, POINTS = 27, 41  # to see where the neuron is at work, and there
AT_WORK = 1e-5  # changes of f, in units of the largest, that the window shows
LOW, HIGH = 5, 12  # N
GOOD = 1e-5  # relative residual of crossings that are pure, with high N
ALIKE = 0.05  # of l between crossings of one neuron
LONGEST = 0.3
NORMS = tuple(0.35 * 1.25**k for k in range(11))  # the grid: l in units of 12 over the window's length,
ASIDE = tuple(0.5 * k for k in range(-5, 6))  # and the pre-activation where f is steepest
KEPT = 3  # of its places


@dataclass(frozen=True)
class Curves:
    """Crossings along u: s (k, points), f in its own units (k, points, outputs), centres and lengths (k,)."""

    s: Tensor
    values: Tensor
    centres: Tensor
    lengths: Tensor

    def at(self, rows: Tensor) -> "Curves":
        """Some of them."""
        return Curves(self.s[rows], self.values[rows], self.centres[rows], self.lengths[rows])


@dataclass(frozen=True)
class Sigmoid:
    """l and b of (1) and the root mean square of what it leaves of each crossing."""

    norm: float
    shift: float
    residual: float


def sigmoid(f: Values, neuron: Crossings) -> Sigmoid:
    """L and a rough b of one neuron."""
    curves = observed(f, neuron)
    start = 12 / float(curves.lengths.median())
    centre = float(curves.centres.median())
    found = best(curves, start, centre)
    for _ in range(3):
        kept = alike(curves, found, start)
        if found.residual < GOOD or not 3 <= len(kept) < len(curves.s):
            break
        curves = curves.at(kept)
        found = best(curves, found.norm, float(curves.centres.median()))
    return Sigmoid(found.norm, fit(curves, found.norm, found.shift, 1, free_norm=False).shift, found.residual)


def best(curves: Curves, norm: float, centre: float) -> Sigmoid:
    """The best fit from the best places of a grid: from elsewhere steps may end at two thirds of l."""
    grid = [(times * norm, aside - centre * times * norm) for times in NORMS for aside in ASIDE]
    grid.sort(key=lambda place: float(left(curves, place[0], place[1], LOW).norm()))
    found = min((fit(curves, place[0], place[1]) for place in grid[:KEPT]), key=lambda q: q.residual)
    return fit(curves, found.norm, found.shift, HIGH)


def observed(f: Values, neuron: Crossings) -> Curves:
    """The purest crossings, each in the window in which the neuron is at work."""
    u, few = neuron.normals[0], neuron.at(slice_of(neuron))
    t = few.reach[:, None] * torch.linspace(-1, 1, GLANCE, dtype=u.dtype, device=u.device)
    change = changes(f, few, u, t)
    working = change > AT_WORK * change.amax(1, keepdim=True)
    first = (working.to(u.dtype).argmax(1) - 1).clamp(min=0)
    last = (GLANCE - working.flip(1).to(u.dtype).argmax(1)).clamp(max=GLANCE - 1)
    low, high = t.gather(1, first[:, None]), t.gather(1, last[:, None])
    t = (low + high) / 2 + (high - low) / 2 * torch.linspace(-1, 1, POINTS, dtype=u.dtype, device=u.device)
    y = valued(f, few, u, t)
    steepest = (y[:, 1:] - y[:, :-1]).abs().amax(2).argmax(1)[:, None]
    away = few.places @ u
    centred = y - y.mean(1, keepdim=True)
    size = centred.flatten(1).norm(dim=1)[:, None, None]
    return Curves(away[:, None] + t, centred / size, away + t.gather(1, steepest)[:, 0], (high - low)[:, 0])


def slice_of(neuron: Crossings) -> Tensor:
    """The first few rows: crossings come purest first."""
    return torch.arange(min(MOST, len(neuron.reach)), dtype=torch.int64, device=neuron.reach.device)


def valued(f: Values, neuron: Crossings, u: Tensor, t: Tensor) -> Tensor:
    """F at distances `t` (k, points) along u from the crossings, (k, points, outputs)."""
    return f((neuron.places[:, None, :] + t[:, :, None] * u).flatten(0, 1)).view(*t.shape, -1)


def changes(f: Values, neuron: Crossings, u: Tensor, t: Tensor) -> Tensor:
    """How much f changes from one distance to the next."""
    y = valued(f, neuron, u, t)
    return (y[:, 1:] - y[:, :-1]).abs().amax(2)


def alike(curves: Curves, found: Sigmoid, start: float) -> Tensor:
    """The crossings which alone tell about the same l, and no worse than others."""
    alone = []
    for row in torch.arange(len(curves.s), dtype=torch.int64, device=curves.s.device).split(1):
        one = curves.at(row)
        starts = ((norm, -float(one.centres) * norm) for norm in (found.norm, start))
        alone.append(min((fit(one, *begin) for begin in starts), key=lambda q: q.residual))
    norms, left = (curves.s.new_tensor([getattr(q, name) for q in alone]) for name in ("norm", "residual"))
    near = (norms / norms.median() - 1).abs() < ALIKE
    return (near & (left < 10 * left.median() + 1e-9)).nonzero()[:, 0]


def fit(
    curves: Curves, norm: float, shift: float, degree: int = LOW, *, free_norm: bool = True, steps: int = 30
) -> Sigmoid:
    """Levenberg-Marquardt on (1) from (l, b), or on b alone."""
    scale = curves.s.new_tensor([float(free_norm), 1.0])
    r, damping, tiny = left(curves, norm, shift, degree), 1e-4, 1e-6
    for _ in range(steps):
        by_norm = (left(curves, norm * (1 + tiny), shift, degree) - r) / tiny
        by_shift = (left(curves, norm, shift + tiny, degree) - r) / tiny
        slopes = torch.stack([by_norm, by_shift], 1) * scale
        normal = slopes.T @ slopes
        raised = normal + torch.diag(damping * normal.diagonal() + 1 - scale) + 1e-300 * torch.diag(scale)
        step, wrong = torch.linalg.solve_ex(raised, -slopes.T @ r)
        if int(wrong) or not bool(step.isfinite().all()):
            break
        by, on = step.clamp(-LONGEST, LONGEST).tolist()
        after = left(curves, norm * math.exp(by), shift + on, degree)
        if float(after @ after) < float(r @ r):
            norm, shift, r, damping = norm * math.exp(by), shift + on, after, damping / 5
        else:
            damping *= 8
        if damping > 1e6 or max(abs(by), abs(on)) < 1e-9:
            break
    return Sigmoid(norm, shift, float(r.norm()) / math.sqrt(len(curves.s)))


def left(curves: Curves, norm: float, shift: float, degree: int) -> Tensor:
    """What the best c of (1) leave, flat."""
    y = torch.tanh(norm * curves.s + shift)
    powers = [torch.ones_like(y), y]
    while len(powers) <= degree:
        powers.append(2 * y * powers[-1] - powers[-2])
    q = torch.linalg.qr(torch.stack(powers[: degree + 1], 2))[0]
    return (curves.values - q @ (q.mT @ curves.values)).flatten()
