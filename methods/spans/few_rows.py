"""Few values a parameter, and more neurons than matrices tell apart: rank-ones of order s from a lattice of order 2s.

    1. the function on d of the D inputs, as few as tell m neurons apart    (lattice_plans)
       where m is not told, on ever more, until what 2 finds fits
    2. one lattice of order 2s there, and what it says of the neurons       (simplex_lattices, bootstrap)
    3. fresh gradients, one-sided; signs put right, what is missing found   (neuron_repair)
    4. all parameters of the function on d inputs                           (joint_refinement)
    5. where 4 stays above rounding: 2 once more from the better network
    6. the other D - d inputs                                               (extension)
    7. fresh values, which the network must meet to rounding

A pass of 2 that leaves little of the gradients is followed by 4. What 4 believes explains the gradients to rounding,
norms that 6 was not told come out as 1, and so does 7 check the whole: a wrong network is given up. So m needs not be
told: where inputs are too few, fits miss by more than a tenth; a neuron too few or too many leaves gradients that no
rounding explains, but for two that cancel, which are left out.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Activation, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.refinement import extension, joint_refinement, neuron_repair
from paramid.methods.refinement.matched_differences import Data
from paramid.methods.refinement.matched_differences import look as look_at_gradients
from paramid.methods.spans import bootstrap, lattice_plans, simplex_lattices
from paramid.methods.spans.activation_derivatives import width
from paramid.methods.spans.bootstrap import Found, Search, Seen
from paramid.methods.spans.lattice_plans import Plan
from paramid.words.activations import activation

STEPS = {4: 2.2e-3, 6: 5.7e-3, 7: 8.7e-3}  # h over √D for each n, in widths
SCALES = {4: 0.5, 6: 0.5, 7: 0.25}  # of base points
SPREAD = 2.5
CHECKED, MISSED = 40, 1e-10  # fresh values, and what they may be off by, relatively
UNSURE = 10.0  # times what norms are off by: the error of a weight, at most
ROUNDS, PASSES, STEPS_AT_ONCE, PRODUCTS = 4, 12, 18, 600
MISSING = 3  # neurons that gradients find, or half as many as there are inputs
SHARPER, IDLE = 0.7, 3  # what a pass should leave of the last, passes that may do worse
FURTHER = 2  # inputs more than should have been enough
CANCELLED = 1e-6  # root mean square of what is left of two neurons
READY = 0.01  # of the gradients may be left for Gauss-Newton
FITTING, RIVAL = 0.05, 8.0  # where m is not told: misfits of neurons, and times their median


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

    def outside(self, network: Network, run: Run) -> Network:
        """Stage 6: the network on all inputs, from that on y."""
        if len(self._frame) < self._oracle.spec.inputs:
            return normalised(extension.extended(self._oracle, network, self._frame, run))
        return network.with_layers((self._frame.T @ network.weights[0], network.weights[1]), network.biases)


@dataclass(frozen=True, eq=False)
class Start:
    """Where stages 2 to 5 start: fewer inputs, what was seen of them, and a network that may be known there."""

    inside: Inside
    seen: Seen
    how: Search
    student: Network | None = None


def found(oracle: Oracle, run: Run, *, h: float | None, batch: int, steps: int) -> Iterator[Network]:
    """The network, by stages 1 to 7."""
    starts = climbed if oracle.spec.widths[0] is None else told
    why = GiveUp("no lattice shows neurons that fit it: there are too many, or the function is not what was told")
    for start in starts(oracle, run, h, batch, steps):
        try:
            network = refined(start, run)
        except GiveUp as gave_up:
            why = gave_up
            continue
        yield checked(oracle, start.inside.outside(network, run), run)
        return
    raise why


def told(oracle: Oracle, run: Run, h: float | None, batch: int, steps: int) -> Iterator[Start]:
    """Stage 1 where m is told; in a few more inputs where that led nowhere."""
    spec = oracle.spec
    m, inputs, g = spec.widths[0], spec.inputs, activation(spec.activation)
    assert m is not None
    plan = lattice_plans.plan_for(inputs, m)
    assert plan is not None
    frame = torch.eye(inputs, dtype=run.dtype, device=run.device)
    if plan.d < inputs:
        frame = torch.linalg.qr(run.normal(inputs, plan.d))[0].T
    inside, step = Inside(oracle, frame), h or step_of(plan, g, inputs, m)
    how = Search(m, g.name, plan.d == inputs, reach(spec), batch, steps, 2 * batch)
    seen = looked(inside, plan, step, run)
    yield Start(inside, seen, how)
    frame = torch.cat([frame, extension.complement(frame, run)])
    for wider in (replace(plan, d=d) for d in range(plan.d + 1, min(plan.d + FURTHER, inputs) + 1)):
        if wider.fits:
            inside = Inside(oracle, frame[: wider.d])
            seen = bootstrap.grown(inside, seen, simplex_lattices.simplex(wider.d, plan.n, plan.s, run.device))
            yield Start(inside, seen, replace(how, pinned=wider.d == inputs))


def climbed(oracle: Oracle, run: Run, h: float | None, batch: int, steps: int) -> Iterator[Start]:
    """Stage 1 where m is not told: ever more inputs, until what is found there fits; lattices grow with them."""
    spec, seen, before = oracle.spec, None, None
    inputs, g = spec.inputs, activation(spec.activation)
    frame = torch.linalg.qr(run.normal(inputs, inputs))[0].T
    for plan in lattice_plans.ladder(inputs):
        inside = Inside(oracle, frame[: plan.d])
        step = h or step_of(plan, g, inputs, lattice_plans.most_neurons(inputs).bound)
        if seen is None or before is None or (before.n, before.bases) != (plan.n, plan.bases):
            seen = looked(inside, plan, step, run)
        else:
            seen = bootstrap.grown(inside, seen, simplex_lattices.simplex(plan.d, plan.n, plan.s, run.device))
        before = plan
        how = Search(plan.room(inputs), g.name, plan.d == inputs, reach(spec), batch, steps, 2 * batch, told=False)
        student = fitting(seen, how, run)
        if student is not None:
            yield Start(inside, seen, how, student)


def fitting(seen: Seen, how: Search, run: Run) -> Network | None:
    """What passes of a bootstrap come to, if it fits, as long as every pass fits much better."""
    student, least = None, math.inf
    while True:
        found = bootstrap.passed(seen, how, run, student)
        misfit = float(found.fit.cost.median()) ** 0.5 if len(found.directions) else math.inf
        if not misfit < SHARPER * least:
            return None
        student, least = found.network(how.activation), misfit
        if misfit < FITTING:
            return student


def looked(inside: Inside, plan: Plan, h: float, run: Run) -> Seen:
    """The lattices of a plan."""
    bases = SCALES[plan.n] * width(activation(inside.spec.activation)) * run.normal(plan.bases, plan.d)
    lattice = simplex_lattices.simplex(plan.d, plan.n, plan.s, run.device)
    return bootstrap.look(inside, bases, lattice, h=h, both_sides=plan.both_sides)


def step_of(plan: Plan, g: Activation, inputs: int, m: int) -> float:
    """The h of lattices, longer where values round more: those of m neurons deviate by √m from m g(0)."""
    rounding = 1 + 2 * math.sqrt(m) * abs(float(g(torch.zeros(1, dtype=torch.float64, device="cpu"))))
    return STEPS[plan.n] * width(g) * math.sqrt(inputs) * rounding ** (1 / (plan.n + 1))


def reach(spec: Spec) -> float:
    """How far shifts are looked for."""
    return max(0.2, (1.2 if spec.shift_law == "uniform" else 4) * spec.shift)


def refined(start: Start, run: Run) -> Network:
    """Stages 2 to 5."""
    inside, seen, how, network = start.inside, start.seen, start.how, start.student
    d, unknowns = seen.lattice.d, (network.widths[0] if network else how.m) * (seen.lattice.d + (not how.pinned))
    scale, spread = torch.eye(d, dtype=run.dtype, device=run.device), SPREAD * width(activation(how.activation))
    points = math.ceil(lattice_plans.GRADIENTS * unknowns / d)
    data = look_at_gradients(inside, scale, run, points=points, spread=spread, both_sides=False)
    why = GiveUp("")
    for _ in range(ROUNDS):
        network = settled(seen, data, how, run, network)
        try:
            found = [
                *joint_refinement.refine(inside, network, run=run, data=data, steps=STEPS_AT_ONCE, products=PRODUCTS)
            ][-1]
            return uncancelled(found, data.x)
        except GiveUp as gave_up:
            why = gave_up
    raise why


def uncancelled(network: Network, x: Tensor) -> Network:
    """Without pairs of neurons that are each other's negative, as tanh(z) + tanh(-z), and say nothing of f."""
    values = activation(network.activations[0])(network.preactivations(x)[0]).T
    pairs = torch.cdist(values, -values) < CANCELLED * math.sqrt(len(x))
    return neuron_repair.without(network, pairs.any(1))


def settled(seen: Seen, data: Data, how: Search, run: Run, student: Network | None) -> Network:
    """The best that passes of a bootstrap come to, by the gradients it leaves."""
    best, least, most, idle = None, math.inf, 0, 0
    scale = float(data.gradients.norm())
    for _ in range(PASSES):
        found = bootstrap.passed(seen, how, run, student)
        if not how.told:
            found = found.at(found.fit.cost < max(FITTING**2, RIVAL**2 * float(found.fit.cost.median())))
        if not len(found.directions):
            break
        found = found.turned(wrong_way(data, found, how))
        student, most = repaired(data, found, how, run), max(most, len(found.directions))
        left = float(neuron_repair.residual(data, student).norm()) / scale
        idle = idle + 1 if left > SHARPER * least else 0
        if left < least and (not how.told or student.widths[0] == how.m):
            best, least = student, left
        if least < READY or idle == IDLE:
            break
    if best is None:
        raise GiveUp(f"found {most} of {how.m} neurons")
    return best


def wrong_way(data: Data, found: Found, how: Search) -> Tensor:
    """Which of the other signs fit the gradients better, (neurons,)."""
    one, two = found.network(how.activation), found.other_network(how.activation)
    return neuron_repair.turned(neuron_repair.some(data, found.sought), one, two, how.pinned)


def repaired(data: Data, found: Found, how: Search, run: Run) -> Network:
    """Stage 3: with what is missing, unless it is too much, and what points the wrong way found anew."""
    network = found.network(how.activation)
    missing = found.sought - network.widths[0]
    if 0 < missing <= max(MISSING, data.x.shape[1] // 2):
        network = neuron_repair.completed(data, network, missing, how.pinned, run)
    network = neuron_repair.replaced(data, network, how.pinned, run)
    return network if how.told else neuron_repair.extended(data, network, how.pinned, run)


def normalised(network: Network) -> Network:
    """With unit columns, which they were found to be; given up otherwise."""
    w = network.weights[0]
    off = float((w.norm(dim=0) - 1).abs().max())
    if not off < 1e-6:
        raise GiveUp(f"norms are off by {off:.1e}")
    found = network.with_layers((w / w.norm(dim=0), network.weights[1]), network.biases)
    bound = network.stats.get("error_bound", 0.0) + UNSURE * off
    return replace(found, stats={**network.stats, "error_bound": bound})


def checked(oracle: Oracle, network: Network, run: Run) -> Network:
    """Stage 7."""
    x = SPREAD * width(activation(network.activations[0])) * run.normal(CHECKED, network.inputs)
    y = oracle.query(x)[:, 0]
    off = float((y - network(x)[:, 0]).norm() / y.norm())
    if not off < MISSED:
        raise GiveUp(f"fresh values are off by {off:.1e} of their size")
    return replace(network, stats={**network.stats, "missed": off})
