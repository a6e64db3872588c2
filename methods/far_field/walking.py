"""Hyperplanes under noise, by following them from far away towards 0.

A direction known to δ leaves the shift unknown to Rδ. Only the tilt towards 0 matters: with x on the hyperplane, u its
direction, e the unit vector from x along the hyperplane towards 0, and c(d) the offset along u at which the crossing at
x + d e is found,

    (1)  c(d) = θ d,   u ← (u - θ e) / ‖u - θ e‖,

θ by least squares over d = 8 · 1.6^k, each looked for where the θ so far expects it. The profile of every crossing is
fitted with the length that is known; one whose outer weights are not those of the neuron is that of another, which is
in the way, and does not count.
"""

import torch
from torch import Tensor

from paramid import Activation
from paramid.methods.far_field import profiles
from paramid.methods.far_field.neurons import Neurons
from paramid.methods.spans.output_differences import Values

FIRST, GROWTH, LAST = 8.0, 1.6, 60.0  # steps d, and how near 0 they end
LOOK = 31  # values of a crossing on the way
FINAL = 161  # and of the last profile
REACH = 12.0  # of both, over l
LIKE, NEAR = 0.25, 9.0  # outer weights may be off by so much of theirs, an offset by so much over l
PAST, ASIDE = 0.03, 6.0  # of d, and over l: a step past another neuron
TRIES = 150


def walked(f: Values, found: Neurons, g: Activation) -> Neurons:
    """The neurons with hyperplanes by (1), and their profiles again."""
    length = found.w.norm(dim=1)
    u = found.w / length[:, None]
    x = found.at + offsets(f, found.at, u, length, found.a, g)[0][:, None] * u
    along = (u * x).sum(1, keepdim=True) * u - x
    far = along.norm(dim=1)
    e = along / far[:, None]
    u = u - tilts(f, x, u, e, far, length, found.a, g)[:, None] * e
    u = u / u.norm(dim=1, keepdim=True)
    data = profiles.window(f, x, u, torch.zeros_like(length), REACH / length, FINAL)
    told = profiles.profiles(data, g)
    w = told.length[:, None] * u
    return Neurons(w, told.shift - (w * x).sum(1), told.a, x, told.left / told.bend, found.seen, found.missed)


def tilts(f: Values, x: Tensor, u: Tensor, e: Tensor, far: Tensor, length: Tensor, a: Tensor, g: Activation) -> Tensor:
    """θ of (1), (k,)."""
    d, theta = torch.full_like(far, FIRST), torch.zeros_like(far)
    weighted, weight = torch.zeros_like(far), torch.zeros_like(far)
    for _ in range(TRIES):
        rows = (d < far - LAST).nonzero()[:, 0]
        if not len(rows):
            break
        step = d[rows]
        there = x[rows] + step[:, None] * (e[rows] + theta[rows, None] * u[rows])
        c, like = offsets(f, there, u[rows], length[rows], a[rows], g)
        good = (like - 1).abs() < LIKE
        good &= c.abs() < NEAR / length[rows]
        seen = torch.where(good, step * (c + theta[rows] * step), 0.0)
        weighted, weight = weighted.index_add(0, rows, seen), weight.index_add(0, rows, good * step.square())
        theta = torch.where(weight > 0, weighted / weight, theta)
        past = step + torch.maximum(ASIDE / length[rows], PAST * step)
        d = d.index_copy(0, rows, torch.where(good, GROWTH * step, past))
    return theta


def offsets(f: Values, x: Tensor, u: Tensor, length: Tensor, a: Tensor, g: Activation) -> tuple[Tensor, Tensor]:
    """Where along u a crossing of known length is, and how large its outer weights are against a."""
    data = profiles.window(f, x, u, torch.zeros_like(length), REACH / length, LOOK)
    told = profiles.profiles(data, g, held=REACH)
    return -told.shift / told.length, (told.a * a).sum(1) / a.square().sum(1)
