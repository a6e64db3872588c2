"""Few values a parameter, and more neurons than matrices tell apart: rank-ones of order s from a lattice of order 2s.

    1. the function on d of the D inputs, as few as tell m neurons apart    (lattice_plans)
    2. one lattice of order 2s there, and what it says of the neurons       (simplex_lattices, bootstrap)
    3. fresh gradients, one-sided; signs put right, what is missing found   (neuron_repair)
    4. all parameters of the function on d inputs                           (joint_refinement)
    5. where 4 stays above rounding: 2 once more from the better network
    6. the other D - d inputs                                               (extension)
    7. fresh values, which the network must meet to rounding

A pass of 2 that leaves little of the gradients is followed by 4. What 4 believes explains the gradients to rounding,
norms that 6 was not told come out as 1, and so does 7 check the whole: a wrong network is given up.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

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
READY = 0.01  # of the gradients may be left for Gauss-Newton


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
    plan = lattice_plans.plan_for(inputs, m)
    assert plan is not None
    unit = width(activation(spec.activation))
    frame = torch.eye(inputs, dtype=run.dtype, device=run.device)
    if plan.d < inputs:
        frame = torch.linalg.qr(run.normal(inputs, plan.d))[0].T
    inside = Inside(oracle, frame)
    lattice = simplex_lattices.simplex(plan.d, plan.n, plan.s, run.device)
    bases = SCALES[plan.n] * unit * run.normal(plan.bases, plan.d)
    step = h or step_of(plan, activation(spec.activation), inputs, m)
    seen = bootstrap.look(inside, bases, lattice, h=step, both_sides=plan.both_sides)
    how = Search(m, spec.activation, plan.d == inputs, reach(spec), batch, steps, 2 * batch)
    network = refined(inside, seen, how, run)
    if plan.d < inputs:
        network = normalised(extension.extended(oracle, network, frame, run))
    yield checked(oracle, network, run)


def step_of(plan: Plan, g: Activation, inputs: int, m: int) -> float:
    """The h of lattices, longer where values round more: those of m neurons deviate by √m from m g(0)."""
    rounding = 1 + 2 * math.sqrt(m) * abs(float(g(torch.zeros(1, dtype=torch.float64, device="cpu"))))
    return STEPS[plan.n] * width(g) * math.sqrt(inputs) * rounding ** (1 / (plan.n + 1))


def reach(spec: Spec) -> float:
    """How far shifts are looked for."""
    return max(0.2, (1.2 if spec.shift_law == "uniform" else 4) * spec.shift)


def refined(inside: Inside, seen: Seen, how: Search, run: Run) -> Network:
    """Stages 2 to 5."""
    d, unknowns = seen.lattice.d, how.m * (seen.lattice.d + (not how.pinned))
    scale, spread = torch.eye(d, dtype=run.dtype, device=run.device), SPREAD * width(activation(how.activation))
    points = math.ceil(lattice_plans.GRADIENTS * unknowns / d)
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
        if not len(found.directions):
            break
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
    if 0 < missing <= max(MISSING, data.x.shape[1] // 2):
        network = neuron_repair.completed(data, network, missing, how.pinned, run)
    return neuron_repair.replaced(data, network, how.pinned, run)


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
