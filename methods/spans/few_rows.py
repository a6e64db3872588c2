"""Few values a parameter, and more neurons than matrices tell apart: rank-ones of order s from a lattice of order n = 2s.

    1. the function on d of the D inputs, as few as tell m neurons apart by tensors of order s: m < C(d+s-1, s) - d
    2. one lattice of order 2s there, and what it says of the neurons       (simplex_lattices, bootstrap)
    3. fresh gradients, one-sided; signs put right, what is missing found   (neuron_repair)
    4. all parameters of the function on d inputs                           (joint_refinement)
    5. where 4 stays above rounding: 2 once more from the better network
    6. the other D - d inputs                                               (extension)
    7. fresh values, which the network must meet to rounding

A lattice takes C(d+n, n) values, 4 takes 1.1 for each of m(d+1) unknowns, 6 takes 1.05 m for each input. Beyond the reach
of order 3 lattices of order 7, at both sides of several base points, give tensors of order 4.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import GiveUp, Network, Oracle, Run, Spec
from paramid.methods.refinement import extension, joint_refinement, neuron_repair
from paramid.methods.refinement.matched_differences import Data
from paramid.methods.refinement.matched_differences import look as look_at_gradients
from paramid.methods.spans import bootstrap, simplex_lattices
from paramid.methods.spans.activation_derivatives import width
from paramid.methods.spans.bootstrap import Found, Search, Seen
from paramid.methods.spans.symmetric_tensors import dimensions
from paramid.words.activations import activation

ROOM = 1.2  # of m: the bound in fewer inputs than there are
CLOSE = 0.95  # of the bound in all inputs: beyond, the next order is taken
ORDERS = {2: 4, 3: 6, 4: 7}  # s: n
STEPS = {4: 2.2e-3, 6: 5.7e-3, 7: 8.7e-3}  # h over √D for each n, in widths
SCALES = {4: 0.5, 6: 0.5, 7: 0.25}  # of base points
BOTH = (7,)  # the n whose lattices are taken at both sides
SPARE = 1.5  # rows for a neuron
LARGEST, POINTS = 10_000, 2**24  # length of a row, values of lattices
GRADIENTS = 1.25  # equations for an unknown
SPREAD = 2.5
CHECKED, MISSED = 40, 1e-10  # fresh values, and what they may be off by, relatively
ROUNDS, PASSES, STEPS_AT_ONCE, PRODUCTS = 4, 12, 18, 600
MISSING, SHARE = 3, 0.01  # neurons that gradients find, and in proportion
SHARPER, IDLE = 0.7, 3  # what a pass should leave of the last, passes that may do worse
READY = 0.01  # of the gradients may be left for Gauss-Newton


@dataclass(frozen=True)
class Plan:
    """Order s from lattices of order n around `bases` points of d inputs."""

    s: int
    n: int
    d: int
    bases: int

    @property
    def bound(self) -> int:
        """Fewer neurons than that are told apart."""
        return max(1, dimensions(self.d, self.s) - self.d)

    @property
    def values(self) -> int:
        """Those of the lattices."""
        return self.bases * simplex_lattices.points_of(self.d, self.n) * (1 + (self.n in BOTH))

    @property
    def fits(self) -> bool:
        """In memory and time."""
        return dimensions(self.d, self.s) <= LARGEST and self.values <= POINTS


def declines(spec: Spec) -> str | None:
    """Why this is not for such a teacher, or None."""
    if (spec.outer, spec.norms, spec.output_bias) != ("ones", "unit", "zero"):
        return "needs outer weights 1, unit weight vectors and no output bias to do with few rows"
    if spec.widths[0] is None:
        return "needs to know the number of neurons to do with few rows"
    if spec.resolution:
        return f"noise {spec.resolution:g} drowns differences of order four and more"
    if not width(activation(spec.activation)):
        return f"reads no signs of {spec.activation} off few rows"
    if (m := spec.widths[0]) > (most := most_neurons(spec.inputs)).bound:
        return f"{m} neurons exceed C({most.d}+{most.s - 1},{most.s})-{most.d} = {most.bound}: directions are no longer unique"
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
        for d in range(1, inputs + 1):
            bases = math.ceil(SPARE * m / math.comb(d + n - s, n - s))
            plan = Plan(s, n, d, bases)
            if plan.fits and m <= plan.bound:
                last = plan
                if m * ROOM <= plan.bound or (d == inputs and m <= CLOSE * plan.bound):
                    found.append(plan)
    return iter(found or ([last] if last else []))


def queries(plan: Plan, inputs: int, m: int) -> float:
    """What a plan asks in all."""
    return plan.values + GRADIENTS * m * (plan.d + 1) + extension.EXTRA * m * (inputs - plan.d)


class Inside:
    """The oracle y ↦ f(y V) of fewer inputs; only values are asked of it."""

    def __init__(self, oracle: Oracle, frame: Tensor) -> None:
        self._oracle, self._frame = oracle, frame
        norms = oracle.spec.norms if len(frame) == oracle.spec.inputs else "free"
        self.spec = replace(oracle.spec, inputs=len(frame), norms=norms)
        self.decide, self.sample, self.gradient = oracle.decide, oracle.sample, oracle.gradient
        self.hessian, self.moments, self.label = oracle.hessian, oracle.moments, oracle.label

    def query(self, y: Tensor) -> Tensor:
        """f(y V)."""
        return self._oracle.query(y @ self._frame)


def found(oracle: Oracle, run: Run, *, h: float | None, batch: int, steps: int) -> Iterator[Network]:
    """The network, by stages 1 to 7."""
    spec = oracle.spec
    m, inputs = spec.widths[0], spec.inputs
    assert m is not None
    plan = plan_for(inputs, m)
    assert plan is not None
    unit = width(activation(spec.activation))
    frame = torch.eye(inputs, dtype=run.dtype, device=run.device)
    if plan.d < inputs:
        frame = torch.linalg.qr(run.normal(inputs, plan.d))[0].T
    inside = Inside(oracle, frame)
    lattice = simplex_lattices.simplex(plan.d, plan.n, plan.s, run.device)
    bases = SCALES[plan.n] * unit * run.normal(plan.bases, plan.d)
    seen = bootstrap.look(
        inside, bases, lattice, h=h or STEPS[plan.n] * unit * math.sqrt(inputs), both_sides=plan.n in BOTH
    )
    how = Search(m, spec.activation, plan.d == inputs, reach(spec), batch, steps, 2 * batch)
    network = refined(inside, seen, how, run)
    if plan.d < inputs:
        network = normalised(extension.extended(oracle, network, frame, run))
    yield checked(oracle, network, run)


def reach(spec: Spec) -> float:
    """How far shifts are looked for."""
    return max(0.2, (2 if spec.shift_law == "uniform" else 4) * spec.shift)


def refined(inside: Inside, seen: Seen, how: Search, run: Run) -> Network:
    """Stages 2 to 5."""
    d, unknowns = seen.lattice.d, how.m * (seen.lattice.d + (not how.pinned))
    scale, spread = torch.eye(d, dtype=run.dtype, device=run.device), SPREAD * width(activation(how.activation))
    points = math.ceil(GRADIENTS * unknowns / d)
    data = look_at_gradients(inside, scale, run, points=points, spread=spread, both_sides=False)
    network, why = None, GiveUp("")
    for _ in range(ROUNDS):
        network = settled(seen, data, how, run, network)
        try:
            return [
                *joint_refinement.refine(inside, network, run=run, data=data, steps=STEPS_AT_ONCE, products=PRODUCTS)
            ][-1]
        except GiveUp as gave_up:
            why = gave_up
    raise why


def settled(seen: Seen, data: Data, how: Search, run: Run, student: Network | None) -> Network:
    """The best that passes of a bootstrap come to, by the gradients it leaves."""
    best, least, most, idle = None, math.inf, 0, 0
    scale = float(data.gradients.norm())
    for _ in range(PASSES):
        found = bootstrap.passed(seen, how, run, student)
        found = found.turned(wrong_way(data, found, how))
        student, most = repaired(data, found.network(how.activation), how, run), max(most, len(found.directions))
        left = float(neuron_repair.residual(data, student).norm()) / scale
        idle = idle + 1 if left > SHARPER * least else 0
        if left < least and student.widths[0] == how.m:
            best, least = student, left
        if least < READY or idle == IDLE:
            break
    if best is None:
        raise GiveUp(f"found {most} of {how.m} neurons")
    return best


def wrong_way(data: Data, found: Found, how: Search) -> Tensor:
    """Which of the other signs fit the gradients better, (neurons,)."""
    one, two = found.network(how.activation), found.other_network(how.activation)
    return neuron_repair.turned(neuron_repair.some(data, how.m), one, two, how.pinned)


def repaired(data: Data, network: Network, how: Search, run: Run) -> Network:
    """Stage 3: with what is missing, unless it is too much, and what points the wrong way found anew."""
    missing = how.m - network.widths[0]
    if 0 < missing <= max(MISSING, SHARE * how.m):
        network = neuron_repair.completed(data, network, missing, how.pinned, run)
    return neuron_repair.replaced(data, network, how.pinned, run)


def normalised(network: Network) -> Network:
    """With unit columns, which they were found to be; given up otherwise."""
    w = network.weights[0]
    off = float((w.norm(dim=0) - 1).abs().max())
    if not off < 1e-6:
        raise GiveUp(f"norms are off by {off:.1e}")
    return network.with_layers((w / w.norm(dim=0), network.weights[1]), network.biases)


def checked(oracle: Oracle, network: Network, run: Run) -> Network:
    """Stage 7."""
    x = SPREAD * width(activation(network.activations[0])) * run.normal(CHECKED, network.inputs)
    y = oracle.query(x)[:, 0]
    off = float((y - network(x)[:, 0]).norm() / y.norm())
    if not off < MISSED:
        raise GiveUp(f"fresh values are off by {off:.1e} of their size")
    return replace(network, stats={**network.stats, "missed": off})
