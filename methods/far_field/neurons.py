"""Neurons as far lines show them: which of them a line must cross, which it did cross, and which it shows first.

A neuron found on one line crosses the next at

    (1)  t = -(⟨w, p⟩ + b) / ⟨w, v⟩,

so that a crossing there is no news, and says that the neuron is one: two that merged on a line do not meet (1) again.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from paramid import Activation, GiveUp, Run, Spec, activation
from paramid.methods.far_field import choice, crossings, directions, profiles
from paramid.methods.far_field.crossings import Crowded, Limits, Line
from paramid.methods.far_field.directions import Switches
from paramid.methods.far_field.outlook import Outlook
from paramid.methods.spans.output_differences import Values
from paramid.words.spec import UNKNOWN

SLACK, UNSURE = 3.0, 0.1  # t of (1) may be off by so much, and by so much over ⟨w, v⟩
CELLS, FEWEST = 40, 12  # pieces of a line a neuron, for so many at least
FARTHER = (1.0, 10.0)  # times the radius, where crossings cover a line
GUESS = 25  # neurons where their number is not told
WITHIN = 40.0  # radii: a crossing farther out is beyond the end of a line, or too slow
OFTEN = 3.0  # times as often as it was missed, a neuron is seen that is one
PATIENT, LOWERED = 2, 0.3  # lines before what counts as bent is lowered, and by how much on each line after them
ALIKE, ROUGHLY = 1e-3, 5e-2  # angle below which two neurons seen are one, and under noise
DRIFT = 4.0  # deviations of a direction, at half of the slope of tanh: what noise makes of t
FITS, DROWNED = 1e-5, 6.0  # what a profile may leave: of what bends, and times the noise


@dataclass(frozen=True)
class Neurons:
    """w (k, D), b, a (k, outputs), a point of each hyperplane, how badly profiles fit, lines that showed it or did not."""

    w: Tensor
    b: Tensor
    a: Tensor
    at: Tensor
    left: Tensor
    seen: Tensor
    missed: Tensor

    def __len__(self) -> int:
        return len(self.b)

    def take(self, rows: Tensor) -> "Neurons":
        """Some of them."""
        return Neurons(*(getattr(self, f.name)[rows] for f in fields(self)))

    def best(self, most: int | None) -> "Neurons":
        """Those that no line missed first, of these those seen again, then those that fit best."""
        order = sorted(
            range(len(self)), key=lambda i: (int(self.missed[i]), -min(int(self.seen[i]), 2), float(self.left[i]))
        )
        return self.take(torch.tensor(order[:most], dtype=torch.int64, device=self.b.device))


def none(inputs: int, outputs: int, like: Tensor) -> Neurons:
    """No neurons yet."""
    one = like.new_zeros(0)
    return Neurons(like.new_zeros(0, inputs), one, like.new_zeros(0, outputs), like.new_zeros(0, inputs), one, one, one)


def cells(width: int) -> int:
    """Pieces of a line that so many neurons cross."""
    return CELLS * max(FEWEST, width)


@dataclass(frozen=True)
class Sight:
    """What lines have shown: activations that explain it, and neurons."""

    names: tuple[str, ...]
    known: Neurons


def on_lines(f: Values, spec: Spec, view: Outlook, run: Run, most: int) -> Iterator[Sight]:
    """What is known after each of so many lines; what counts as bent is less where lines leave neurons unseen."""
    known, h, width = none(spec.inputs, spec.outputs, run.normal(1, 1)), step(view), spec.widths[0]
    names: tuple[str, ...] = () if spec.activation == UNKNOWN else (spec.activation,)
    for number in range(most):
        lowered = LOWERED ** max(0, number - PATIENT)
        line, found = crossed(f, spec, view, limits(view, lowered), cells(width or max(GUESS, 2 * len(known))), run)
        names = names or choice.family(f, line, found, view, h)
        known = looked(f, line, found, known, activation(names[0]), view, h)
        yield Sight(names, known)


def crossed(f: Values, spec: Spec, view: Outlook, bent: Limits, pieces: int, run: Run) -> tuple[Line, Tensor]:
    """A line and its crossings, farther out where they cover it."""
    for farther in FARTHER:
        line = crossings.random_line(spec.inputs, farther * view.radius, run)
        try:
            return line, crossings.crossings(f, line, pieces, bent)
        except Crowded as error:
            why = str(error)
    raise GiveUp(why)


def confirmed(known: Neurons) -> int:
    """How many were seen on two lines and more."""
    return int(((known.seen > 1) & (known.seen > OFTEN * known.missed)).sum())


def looked(f: Values, line: Line, found: Tensor, known: Neurons, g: Activation, view: Outlook, h: float) -> Neurons:
    """`known` with what the crossings (k, 2) of a line say: those of known neurons, and new ones."""
    drift = DRIFT * line.radius * directions.SPREAD * view.far / (h * known.a.norm(dim=1))
    known, fresh = expected(known, line, found, drift)
    there = directions.switches(f, line, fresh, h=h, noise=view.far, smooth=g.smooth)
    return merged(known, measured(f, there, g, view), ROUGHLY if view.noisy else ALIKE) if len(there.x) else known


def expected(known: Neurons, line: Line, found: Tensor, drift: Tensor) -> tuple[Neurons, Tensor]:
    """Known neurons, counted where they meet (1), and the crossings of none of them."""
    along = known.w @ line.direction
    t = -(known.w @ line.origin + known.b) / along
    slack = SLACK + (UNSURE + drift) / along.abs()
    near = (t[:, None] > found[:, 0] - slack[:, None]) & (t[:, None] < found[:, 1] + slack[:, None])
    met, on = near.any(1), t.abs() < WITHIN * line.radius
    return replace(known, seen=known.seen + met, missed=known.missed + (on & ~met)), found[~near.any(0)]


def measured(f: Values, there: Switches, g: Activation, view: Outlook) -> Neurons:
    """The neurons of crossings that a single one explains."""
    data = profiles.windows(f, there.x, there.u, there.reach, view.far)
    told = profiles.profiles(data, g)
    w = told.l[:, None] * there.u
    b = told.z - (w * there.x).sum(1)
    at = there.x - (told.z / told.l)[:, None] * there.u
    fits = told.left < FITS * told.bend + DROWNED * view.far
    left = told.left / told.bend
    return Neurons(w, b, told.a, at, left, torch.ones_like(b), torch.zeros_like(b)).take(fits.nonzero()[:, 0])


def merged(known: Neurons, new: Neurons, angle: float) -> Neurons:
    """Both, with neurons of one direction taken for one: the one that fits better."""
    for i in range(len(new)):
        one = new.take(torch.tensor([i], device=new.b.device))
        cos = (unit(known.w) @ unit(one.w)[0]).abs()
        same = (cos > math.cos(angle)).nonzero()[:, 0]
        if len(same):
            old = known.take(same[:1])
            one = replace(one if float(one.left) < float(old.left) else old, seen=old.seen + 1)
            known = known.take((torch.arange(len(known), device=same.device) != same[0]).nonzero()[:, 0])
        known = joined(known, one)
    return known


def joined(known: Neurons, new: Neurons) -> Neurons:
    """Both."""
    return Neurons(*(torch.cat([getattr(known, f.name), getattr(new, f.name)]) for f in fields(known)))


def unit(w: Tensor) -> Tensor:
    """Rows of length 1."""
    return w / w.norm(dim=1, keepdim=True)


def limits(view: Outlook, lowered: float, slope: float = 2e-6, step: float = 1e-4) -> Limits:
    """What is bent: more than shares of the size of f, and more than noise."""
    return Limits(lowered * slope * view.size, lowered * step * view.size, 20 * view.far)


def step(view: Outlook) -> float:
    """h of gradients: rounding of values, and of inputs as far out as these are."""
    rounded = max(view.far, 2**-52 * view.radius * view.size)
    return float(min(0.5, 2 * rounded**0.2))

