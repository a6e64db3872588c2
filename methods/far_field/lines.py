"""Neurons line after line: which of them a line must cross, which it did cross, and which it shows first.

A neuron found on one line crosses the next at

    (1)  t = -(⟨w, p⟩ + b) / ⟨w, v⟩,

so that a crossing there is no news, and says that the neuron is one: two that merged on a line do not meet (1) again.
Where lines leave neurons unseen, what counts as bent is lowered.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Activation, GiveUp, Run, Spec, activation
from paramid.methods.far_field import choice, crossings, directions, profiles
from paramid.methods.far_field.crossings import Crowded, Limits, Line
from paramid.methods.far_field.directions import Switches
from paramid.methods.far_field.neurons import Neurons, merged, none
from paramid.methods.far_field.outlook import Outlook
from paramid.methods.spans.output_differences import SPREAD, Values
from paramid.words.spec import UNKNOWN

SLACK, UNSURE = 3.0, 0.1  # t of (1) may be off by so much, and by so much over ⟨w, v⟩
CELLS, FEWEST = 40, 12  # pieces of a line a neuron, for so many at least
FARTHER = (1.0, 10.0)  # times the radius, where crossings cover a line
GUESS = 25  # neurons where their number is not told
WITHIN = 40.0  # radii: a crossing farther out is beyond the end of a line, or too slow
PLAIN = 10.0  # times what counts as bent: a line that does not show as much does not cross it
OFTEN = 3.0  # times as often as it was missed, a neuron is seen that is one
SURE = 4  # lines that all show a neuron leave no doubt
PATIENT, LOWERED = 2, 0.1  # lines before what counts as bent is lowered, and by how much on each line after them
SILENT = 5  # lines without a new neuron are the end
ALIKE, ROUGHLY = 1e-3, 5e-2  # angle below which two neurons seen are one, and under noise
DRIFT = 4.0  # deviations of a direction, at half of the slope of tanh: what noise makes of t
SHARP, ROUGH = 1e-3, 0.3  # and never more than this of what bends, without and with noise
PLACED = 10.0  # times the rounding of inputs
FITS, DROWNED = 1e-5, 6.0  # what a profile may leave: of what bends, and times the noise


@dataclass(frozen=True)
class Sight:
    """What lines have shown: activations that explain it, and neurons."""

    names: tuple[str, ...]
    known: Neurons
    news: bool  # of the last line

    def sets(self, told: int | None) -> list[Neurons | None]:
        """As many neurons as were told; else those that lines agree on, and all seen twice, once a line is no news."""
        if told is None and self.news:
            return [None]
        again = self.known.seen > 1
        agreed = again & (self.known.seen > OFTEN * self.known.missed)
        widths = [told] if told else [int(agreed.sum()), int(again.sum())]
        return [self.known.best(width) if 0 < width <= len(self.known) else None for width in dict.fromkeys(widths)]

    def refuse(self, told: int | None) -> None:
        """Give up on more neurons than were told."""
        sure = int(((self.known.seen >= SURE) & (self.known.missed == 0)).sum())
        if told is not None and sure > told:
            raise GiveUp(f"lines show {sure} neurons, {told} were told")


def on_lines(f: Values, spec: Spec, view: Outlook, run: Run, most: int) -> Iterator[Sight]:
    """What is known after each of so many lines; what counts as bent is less where lines leave neurons unseen."""
    known, h, width, news = none(spec.inputs, spec.outputs, run.normal(1, 1)), step(view), spec.widths[0], 0
    names: tuple[str, ...] = () if spec.activation == UNKNOWN else (spec.activation,)
    for number in range(most):
        lowered = LOWERED ** max(0, number - PATIENT)
        bent, pieces = limits(view, lowered), cells(width or max(GUESS, 2 * len(known)))
        line, found = crossed(f, spec, view, bent, pieces, run)
        names, before = names or choice.family(f, line, found, view, h), len(known)
        known = looked(f, line, found, known, activation(names[0]), view, h, bent)
        yield Sight(names, known, len(known) > before)
        news = number if len(known) > before else news
        if number - news >= (SILENT if len(known) else PATIENT):
            return


def crossed(f: Values, spec: Spec, view: Outlook, bent: Limits, pieces: int, run: Run) -> tuple[Line, Tensor]:
    """A line and its crossings, farther out where they cover it."""
    for farther in FARTHER:
        line = crossings.random_line(spec.inputs, farther * view.radius, run)
        try:
            return line, crossings.crossings(f, line, pieces, bent)
        except Crowded as error:
            why = str(error)
    raise GiveUp(why)


def cells(width: int) -> int:
    """Pieces of a line that so many neurons cross."""
    return CELLS * max(FEWEST, width)


def looked(
    f: Values, line: Line, found: Tensor, known: Neurons, g: Activation, view: Outlook, h: float, bent: Limits
) -> Neurons:
    """`known` with what the crossings (k, 2) of a line say: those of known neurons, and new ones."""
    drift = DRIFT * line.radius * SPREAD * view.far / (h * known.a.norm(dim=1))
    known, fresh = expected(known, line, found, drift, bent)
    there = directions.switches(f, line, fresh, h=h, noise=view.far, unit=view.unit, smooth=g.smooth)
    return merged(known, measured(f, there, g, view), ROUGHLY if view.noisy else ALIKE) if len(there.x) else known


def expected(known: Neurons, line: Line, found: Tensor, drift: Tensor, bent: Limits) -> tuple[Neurons, Tensor]:
    """Known neurons, counted where they meet (1), or do not and should, and the crossings of none of them."""
    along, size = (known.w @ line.direction).abs(), known.a.abs().amax(1)
    t = -(known.w @ line.origin + known.b) / (known.w @ line.direction)
    slack = SLACK + (UNSURE + drift) / along
    near = (t[:, None] > found[:, 0] - slack[:, None]) & (t[:, None] < found[:, 1] + slack[:, None])
    least = WITHIN * bent.least
    plain = (size * along > PLAIN * max(bent.slope, least)) & (size > PLAIN * max(bent.step, least))
    met, missed = near.any(1), plain & (t.abs() < WITHIN * line.radius)
    return replace(known, seen=known.seen + met, missed=known.missed + (missed & ~met)), found[~near.any(0)]


def measured(f: Values, there: Switches, g: Activation, view: Outlook) -> Neurons:
    """The neurons of crossings that a single one explains."""
    data = profiles.windows(f, there.x, there.u, there.reach, view.far)
    told = profiles.profiles(data, g)
    at = there.x - (told.shift / told.length)[:, None] * there.u
    size = told.length.abs() if g.degree is not None else torch.ones_like(told.length)
    w, a = (told.length / size)[:, None] * there.u, told.a * size[:, None]
    b = told.shift / size - (w * there.x).sum(1)
    placed = PLACED * view.unit * there.x.norm(dim=1) * told.length.abs()
    fits = told.left < (FITS + placed) * told.bend + DROWNED * view.far
    left = told.left / told.bend
    fits &= left < (ROUGH if view.noisy else SHARP)
    return Neurons(w, b, a, at, left, torch.ones_like(b), torch.zeros_like(b)).take(fits.nonzero()[:, 0])


def limits(view: Outlook, lowered: float, slope: float = 2e-6, step: float = 1e-4) -> Limits:
    """What is bent: more than shares of the size of f, and more than noise."""
    return Limits(lowered * slope * view.size, lowered * step * view.size, 20 * view.far)


def step(view: Outlook) -> float:
    """H of gradients: rounding of values, and of inputs as far out as these are."""
    rounded = max(view.far, 2**-52 * view.radius * view.size)
    return float(min(0.5, 2 * rounded**0.2))
