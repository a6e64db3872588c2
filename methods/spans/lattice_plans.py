"""Which lattices tell m neurons of D inputs apart, and at what cost: order s, order n, inputs d, base points.

Rank-ones of order s in d inputs are the only ones of the span of m of them up to

    (1)  m ≤ C(d+s-1, s) - d,   D(D-1)/2 where s = 2 and d = D.

In fewer inputs than there are, and close to (1), more room is needed; in far fewer inputs some neurons would hardly be
seen. A way costs

    (2)  b C(d+n, n) + α m (d+1) + β m (D-d)   values,

lattices around b base points, the fit of m(d+1) parameters and the extension to the other inputs. Lattices of order
n = 2s have more rows than m at a single base point; of tensors of order 4 they would drown in rounding, so that
lattices of order 7 are taken, both sides of several.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from paramid import Spec
from paramid.methods.refinement import extension
from paramid.methods.spans import simplex_lattices
from paramid.methods.spans.activation_derivatives import width
from paramid.methods.spans.symmetric_tensors import dimensions
from paramid.words.activations import activation

SEEN = 6  # inputs for each of those that are taken, at most
ROOM = 1.2  # of m: the bound in fewer inputs than there are
CLOSE = 0.965  # of the bound in all inputs: beyond, the next order is taken
UNTOLD = 0.93  # and where m is not told
ORDERS = {2: 4, 3: 6, 4: 7}  # s: n
BOTH = (7,)  # the n whose lattices are taken at both sides
SPARE = 1.5  # rows for a neuron
LONGEST, MOST = 6000, 2**24  # length of a row, values of lattices
GRADIENTS = 1.25  # equations for an unknown of the fit


@dataclass(frozen=True)
class Plan:
    """Order s from lattices of order n around `bases` points of d inputs."""

    s: int
    n: int
    d: int
    bases: int

    @property
    def bound(self) -> int:
        """(1)."""
        return max(1, dimensions(self.d, self.s) - self.d)

    def room(self, inputs: int) -> int:
        """The most neurons that are looked for where their number is not told."""
        return max(1, int(self.bound * UNTOLD if self.d == inputs else self.bound / ROOM))

    @property
    def both_sides(self) -> bool:
        """Whether lattices are averaged over ±h."""
        return self.n in BOTH

    @property
    def values(self) -> int:
        """Those of the lattices."""
        return self.bases * simplex_lattices.points_of(self.d, self.n) * (1 + self.both_sides)

    @property
    def fits(self) -> bool:
        """In memory and time."""
        return dimensions(self.d, self.s) <= LONGEST and self.values <= MOST


def declines(spec: Spec) -> str | None:
    """Why this is not for such a teacher, or None."""
    if (spec.outer, spec.norms, spec.output_bias) != ("ones", "unit", "zero"):
        return "few rows need outer weights 1, unit weight vectors and no output bias"
    if spec.resolution:
        return f"noise {spec.resolution:g} drowns differences of order four and more"
    if not width(activation(spec.activation)):
        return f"few rows tell no signs of {spec.activation}"
    if (m := spec.widths[0]) is not None and m > (most := most_neurons(spec.inputs)).bound:
        bound = f"C({most.d}+{most.s - 1},{most.s})-{most.d} = {most.bound}"
        return f"{m} neurons exceed {bound}, the most that tensors of order {most.s} tell apart"
    return None


def most_neurons(inputs: int) -> Plan:
    """That with the highest bound of all that fit."""
    every = (Plan(s, n, d, 1) for s, n in ORDERS.items() for d in range(1, inputs + 1))
    return max((p for p in every if p.fits), key=lambda p: p.bound)


def plan_for(inputs: int, m: int) -> Plan | None:
    """The cheapest way to m neurons of that many inputs, if there is any."""
    return min(ways(inputs, m), key=lambda p: queries(p, inputs, m), default=None)


def ways(inputs: int, m: int) -> Iterator[Plan]:
    """What tells m neurons apart; up to the very bound only in the highest order that fits."""
    found, last = [], None
    for s, n in ORDERS.items():
        for d in range(math.ceil(inputs / SEEN), inputs + 1):
            bases = 1 if n == 2 * s else math.ceil(SPARE * m / math.comb(d + n - s, n - s))
            plan = Plan(s, n, d, bases)
            if plan.fits and m <= plan.bound:
                last = plan
                if m * ROOM <= plan.bound or (d == inputs and m <= CLOSE * plan.bound):
                    found.append(plan)
    return iter(found or ([last] if last else []))


def ladder(inputs: int) -> Iterator[Plan]:
    """Ever more room for neurons whose number is not told: order 3 in more and more inputs, then order 4 in all."""
    for d in range(math.ceil(inputs / SEEN), inputs + 1):
        plan = Plan(3, ORDERS[3], d, 1)
        if plan.fits:
            yield plan
    bases = math.ceil(SPARE * Plan(4, ORDERS[4], inputs, 1).room(inputs) / math.comb(inputs + 3, 3))
    if (plan := Plan(4, ORDERS[4], inputs, bases)).fits:
        yield plan


def queries(plan: Plan, inputs: int, m: int) -> float:
    """(2)."""
    return plan.values + GRADIENTS * m * (plan.d + 1) + extension.EXTRA * m * (inputs - plan.d)
