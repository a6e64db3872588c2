"""Where a far line crosses the hyperplanes of neurons: the pieces on which f is not affine.

On x(t) = p + t v with t = R tan φ, ‖p‖ = R, p ⟂ v, hyperplanes ⟨w_k, x⟩ + b_k = 0 are crossed evenly in φ, mostly far
from each other, and each within a few units. With values y and slopes s at the ends of a piece of length τ, by
differences of step h, f is not affine on it where

    (1)  |s_1 - s_0| > ε_s   or   |y_1 - y_0 - τ (s_0 + s_1) / 2| > ε_f + τ ε_s / 100:

bends show in the first, steps in the second; neither ε is below what rounding makes of it, which grows as 1 / cos φ
where f does. Such pieces are halved down to a length of 2; neighbours make a crossing.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import GiveUp, Run
from paramid.methods.spans.output_differences import BATCH, Values

EDGE = 0.02  # of φ, to ±π/2
LENGTH, STEP = 2.0, 2.0  # of the last pieces, and of slopes
CROWDED = 0.5  # of the first pieces of a line: with more crossed there is no far field
GAP = 1.5  # lengths between pieces of one crossing, at most
TAILS = 100.0  # slopes of (1) that saturated neurons leave are smaller by so much


class Crowded(GiveUp):
    """Crossings cover a line: farther out they might not."""


@dataclass(frozen=True)
class Line:
    """x(t) = p + t v."""

    origin: Tensor
    direction: Tensor
    radius: float

    def at(self, t: Tensor) -> Tensor:
        """The points of `t`, with the inputs as a last dimension."""
        return self.origin + t[..., None] * self.direction


@dataclass(frozen=True)
class Limits:
    """ε_s and ε_f of (1), and their least at t = 0."""

    slope: float
    step: float
    least: float


def random_line(inputs: int, radius: float, run: Run) -> Line:
    """A line at distance `radius` from 0."""
    q = torch.linalg.qr(run.normal(inputs, 2))[0]
    return Line(radius * q[:, 0], q[:, 1], radius)


def crossings(f: Values, line: Line, cells: int, limits: Limits) -> Tensor:
    """The first and last t of every crossing, (crossings, 2), in order."""
    ends = math.pi / 2 - EDGE
    angles = torch.linspace(-ends, ends, cells + 1, dtype=line.origin.dtype, device=line.origin.device)
    readings = read(f, line, line.radius * angles.tan())
    pieces, short = torch.stack([readings[:-1], readings[1:]], 1), readings.new_zeros(0, 2)
    if float(bent(pieces, limits, line.radius).double().mean()) > CROWDED:
        raise Crowded(f"f is affine on less than half of a line at distance {line.radius:g} from 0")
    while len(pieces):
        pieces = pieces[bent(pieces, limits, line.radius)]
        done = pieces[:, 1, 0] - pieces[:, 0, 0] <= LENGTH
        short, pieces = torch.cat([short, pieces[done, :, 0]]), pieces[~done]
        if len(pieces):
            middle = read(f, line, pieces[:, :, 0].mean(1))
            pieces = torch.cat([torch.stack([pieces[:, 0], middle], 1), torch.stack([middle, pieces[:, 1]], 1)])
    return joined(short[short[:, 0].argsort()])


def asked(f: Values, line: Line, t: Tensor) -> Tensor:
    """Values at the points of `t` (points,), (points, outputs)."""
    return torch.cat([f(line.at(part)) for part in t.split(max(1, BATCH // len(line.origin)))])


def read(f: Values, line: Line, t: Tensor) -> Tensor:
    """t, values and slopes, (points, 1 + 2 outputs)."""
    y, up, down = asked(f, line, torch.cat([t, t + STEP, t - STEP])).view(3, len(t), -1).unbind(0)
    return torch.cat([t[:, None], y, (up - down) / (2 * STEP)], 1)


def bent(pieces: Tensor, limits: Limits, radius: float) -> Tensor:
    """Which pieces (1) takes for crossed; where values are not finite none is."""
    left, right = pieces.unbind(1)
    length, outputs = right[:, :1] - left[:, :1], (pieces.shape[2] - 1) // 2
    y0, s0, y1, s1 = (
        left[:, 1 : 1 + outputs],
        left[:, 1 + outputs :],
        right[:, 1 : 1 + outputs],
        right[:, 1 + outputs :],
    )
    bend, step = (s1 - s0).abs(), (y1 - y0 - length * (s0 + s1) / 2).abs()
    least = limits.least * (1 + (pieces[:, :, 0].abs().amax(1, keepdim=True) / radius).square()).sqrt()
    slope, jump = least.clamp(min=limits.slope), least.clamp(min=limits.step)
    return ((bend > slope) | (step > jump + length * (least + limits.slope / TAILS))).any(1)


def joined(pieces: Tensor) -> Tensor:
    """Neighbouring pieces (pieces, 2), in order, as one."""
    if not len(pieces):
        return pieces
    apart = pieces[1:, 0] > pieces[:-1, 1] + GAP * LENGTH + 1e-6 * pieces[:-1, 1].abs()
    yes = apart.new_ones(1)
    return torch.stack([pieces[torch.cat([yes, apart]), 0], pieces[torch.cat([apart, yes]), 1]], 1)
