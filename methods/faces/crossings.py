"""Neurons of the first layer on far lines, where they switch one at a time: directions, and several crossings of each.

On a line x(t) = p + t v, p = R q_1 and v = q_2 with q_1, q_2 orthonormal and R ≫ 1, a sigmoidal first layer is
saturated but for short pieces around its hyperplanes: f is a staircase.

    (1)  t = R tan φ on an even grid of |φ| < π/2, over which crossings are spread evenly,
    (2)  cells over which f changes are halved down to a few units; adjacent ones are a group,
    (3)  f(x) = F(⟨w_j, x⟩) where neuron j is at work alone: the steepest place of a group shows w_j, and that and both
         its ends that it is alone                                                                      (lone_neurons).

What (3) refuses are crossings that merged; on another line they lie apart. Every crossing of a neuron shows another
pattern of signs of all others, and so another function of it.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.layers import lone_neurons
from paramid.methods.spans.output_differences import Values

RADIUS = 3e4
EDGE = math.pi / 2 - 0.02  # of φ in (1)
CELLS = 8  # of (1) for each neuron
FLOOR = 1e-4  # changes of f, whose size is 1, that are looked into
CHANGING, LONG = 0.3, 20  # cells over which f changes, in all: of a staircase only few of the first ones, and short
SHORT = 2.0  # length of the cells where (2) ends
PURE = 1e-4  # impurity of (3)
SAME = 1e-2  # distance of unit vectors that are one neuron's
FIRST_LINES, ENOUGH = 6, 3  # lines before neurons are counted; crossings of a neuron that suffice
FAINTER = 2  # lines after which changes ten times smaller are looked into as well


@dataclass(frozen=True)
class Crossings:
    """Places (k, D) on hyperplanes, normals (k, D), how far around the neuron is at work and the impurity, (k,)."""

    places: Tensor
    normals: Tensor
    reach: Tensor
    impurity: Tensor

    def at(self, rows: Tensor) -> "Crossings":
        """Some of them."""
        return Crossings(self.places[rows], self.normals[rows], self.reach[rows], self.impurity[rows])

    def joined(self, new: "Crossings") -> "Crossings":
        """These and others."""
        return Crossings(
            torch.cat([self.places, new.places]),
            torch.cat([self.normals, new.normals]),
            torch.cat([self.reach, new.reach]),
            torch.cat([self.impurity, new.impurity]),
        )


def first_neurons(f: Values, inputs: int, width: int, run: Run, *, lines: int = 16) -> list[Crossings]:
    """The crossings of every neuron, purest first, on as many lines as it takes and at most `lines`."""
    seen, neurons = none(run.normal(0, inputs)), list[Crossings]()
    for line in range(1, lines + 1):
        q = torch.linalg.qr(run.normal(inputs, 2))[0].T
        floor = FLOOR * 10.0 ** -min(max(0, line - FIRST_LINES) // FAINTER, 3)
        seen = seen.joined(crossed(f, RADIUS * q[0], q[1], CELLS * max(12, width), floor, run))
        if line >= FIRST_LINES:
            neurons = [n for n in sorted_out(seen) if len(n.reach) >= ENOUGH]
            if len(neurons) >= width or not neurons:
                break
    return neurons


def none(empty: Tensor) -> Crossings:
    """No crossings yet."""
    return Crossings(empty, empty, empty[:, 0], empty[:, 0])


def crossed(f: Values, p: Tensor, v: Tensor, cells: int, floor: float, run: Run) -> Crossings:
    """What (2) and (3) find on one line."""
    ends = groups(f, p, v, cells, floor)
    ends = ends[ends[:, 1] - ends[:, 0] < RADIUS / 3]
    if not len(ends):
        return none(p.new_empty(0, len(p)))
    x = transitions(f, p, v, ends)
    u, slope, here = lone_neurons.ridges(f, x[:, 1])
    off = [lone_neurons.aside(f, x[:, 1], u, here, run)]
    off += [lone_neurons.aside(f, x[:, k], u, f(x[:, k]), run) for k in (0, 2)]
    length = (ends[:, 1] - ends[:, 0]).clamp(min=2 * SHORT)
    found = Crossings(x[:, 1], u, length * (u @ v).abs(), torch.stack(off).amax(0) / slope)
    return found.at(found.impurity < PURE)


def groups(f: Values, p: Tensor, v: Tensor, cells: int, floor: float) -> Tensor:
    """Both ends of every group of (2) on p + t v, (groups, 2)."""
    t = RADIUS * torch.linspace(-EDGE, EDGE, cells + 1, dtype=p.dtype, device=p.device).tan()
    y = f(p + t[:, None] * v)
    left, right, below, above = t[:-1], t[1:], y[:-1], y[1:]
    small = list[Tensor]()
    while len(left):
        changing = (above - below).abs().amax(1) > floor
        if int(changing.sum()) > (cells * CHANGING if not small else cells * LONG):
            return t.new_empty(0, 2)
        long = changing & (right - left > SHORT)
        small.append(torch.stack([left, right], 1)[changing & ~long])
        left, right, below, above = left[long], right[long], below[long], above[long]
        middle = (left + right) / 2
        y = f(p + middle[:, None] * v) if len(middle) else below
        left, right = torch.cat([left, middle]), torch.cat([middle, right])
        below, above = torch.cat([below, y]), torch.cat([y, above])
    found = torch.cat(small)
    return merged(found[found[:, 0].argsort()])


def merged(cells: Tensor) -> Tensor:
    """Adjacent cells, in order, as one."""
    apart = cells[1:, 0] > cells[:-1, 1] + 1.5 * SHORT
    first = torch.cat([apart.new_ones(min(1, len(cells))), apart])
    last = torch.cat([apart, apart.new_ones(min(1, len(cells)))])
    return torch.stack([cells[first, 0], cells[last, 1]], 1)


def transitions(f: Values, p: Tensor, v: Tensor, ends: Tensor, points: int = 25) -> Tensor:
    """Where every group begins, is steepest and ends, (groups, 3, D)."""
    even = torch.linspace(0, 1, points, dtype=p.dtype, device=p.device)
    t = ends[:, :1] - SHORT + even * (ends[:, 1:] - ends[:, :1] + 2 * SHORT)
    y = f((p + t[:, :, None] * v).flatten(0, 1)).view(*t.shape, -1)
    change = (y[:, 1:] - y[:, :-1]).abs().amax(2)
    steep = change > 0.2 * change.amax(1, keepdim=True)
    begin = steep.to(p.dtype).argmax(1)
    end = points - 1 - steep.flip(1).to(p.dtype).argmax(1)
    top = change.argmax(1)
    rows = torch.arange(len(t), dtype=torch.int64, device=p.device)
    chosen = torch.stack([t[rows, begin], (t[rows, top] + t[rows, top + 1]) / 2, t[rows, end]], 1)
    return p + chosen[:, :, None] * v


def sorted_out(seen: Crossings) -> list[Crossings]:
    """Crossings of equal normals, which turn to the purest one's side: a neuron each."""
    left, neurons = seen.at(seen.impurity.argsort()), []
    while len(left.reach):
        along = left.normals @ left.normals[0]
        mine = along.abs() > 1 - SAME**2 / 2
        neuron = left.at(mine)
        neurons.append(
            Crossings(neuron.places, neuron.normals * along[mine].sign()[:, None], neuron.reach, neuron.impurity)
        )
        left = left.at(~mine)
    return neurons
