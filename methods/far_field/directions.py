"""The direction of the one neuron that switches in a crossing.

All others being affine there, gradients at two points of it differ by

    (1)  ∇f(x) - ∇f(x') = (g'(z) - g'(z')) w aᵀ,   a matrix (D, outputs) of rank one.

They are taken before it, behind it, and where f is steepest against its own mean inside: a step shows in the middle, a
bend at the ends. Two neurons that switch at once leave a second singular value. Where g has a kink, differences across
it are wrong: both ends must do, and of a single output it is the profile that says whether one neuron switches.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid.methods.far_field.crossings import Line, asked
from paramid.methods.spans.output_differences import SPREAD, Values, gradients

NARROW = 4.0  # crossings are looked at on so much at least
LOOK = 33  # values that tell where it is steepest
PURE = 1e-3  # σ_2 / σ_1 of (1) without noise
IMPURE = 0.2  # the most that noise may make of it


@dataclass(frozen=True)
class Switches:
    """Points inside of crossings, unit directions, and how far along these a crossing goes."""

    x: Tensor  # (k, D)
    u: Tensor  # (k, D)
    reach: Tensor  # (k,)


def switches(
    f: Values, line: Line, found: Tensor, *, h: float, noise: float, unit: float, smooth: bool = True
) -> Switches:
    """The crossings (k, 2) in which (1) has rank one; those that are longer than the line's radius are left out."""
    found = found[found[:, 1] - found[:, 0] < line.radius]
    if not len(found):
        return Switches(line.at(found[:, 0]), line.at(found[:, 0]), found[:, 0])
    width, centre = (found[:, 1] - found[:, 0]).clamp(min=NARROW), found.mean(1)
    inside = steepest(f, line, centre, width)
    x = line.at(torch.stack([centre - width, inside, centre + width], 1))
    d = x.shape[2]
    slopes = gradients(f, x.flatten(0, 1), torch.eye(d, dtype=x.dtype, device=x.device), h).view(len(x), 3, d, -1)
    before, here, behind = slopes.unbind(1)
    differences = torch.cat([here - before, behind - before, here - behind], 2) if smooth else behind - before
    whole = differences.isfinite().flatten(1).all(1)
    x, width, differences = x[whole], width[whole], differences[whole]
    u, s, _ = torch.linalg.svd(differences, full_matrices=False)
    drowned = 2 * SPREAD * noise / h * (math.sqrt(d) + math.sqrt(differences.shape[2]))
    second = s[:, 1] if s.shape[1] > 1 else torch.zeros_like(s[:, 0])
    placed = 2 * SPREAD * unit * x[:, 1].norm(dim=1) / h
    pure = (second < (PURE + placed) * s[:, 0] + drowned) & (placed < IMPURE) & (drowned < IMPURE * s[:, 0])
    u = u[pure, :, 0]
    return Switches(x[pure, 1], u, width[pure] * (u @ line.direction).abs())


def steepest(f: Values, line: Line, centre: Tensor, width: Tensor) -> Tensor:
    """The t inside each crossing around which f differs most from its mean slope, (k,)."""
    t = centre[:, None] + width[:, None] * torch.linspace(-0.5, 0.5, LOOK, dtype=width.dtype, device=width.device)
    steps = asked(f, line, t.flatten()).view(len(t), LOOK, -1).diff(dim=1)
    k = (steps - steps.median(1, keepdim=True).values).abs().amax(2).nan_to_num().argmax(1)
    return (t.gather(1, k[:, None]) + t.gather(1, k[:, None] + 1))[:, 0] / 2
