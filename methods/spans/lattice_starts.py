"""Where few rows start: the function on d of its D inputs, and a lattice of its values there.

Where m is told, d is the least that tells m neurons apart (lattice_plans). Where it is not, d grows until the neurons
that a bootstrap finds fit what it saw: where inputs are too few, fits miss by more than a tenth.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Activation, Network, Oracle, Run, Spec
from paramid.methods.refinement import extension
from paramid.methods.spans import bootstrap, lattice_plans, simplex_lattices
from paramid.methods.spans.activation_derivatives import width
from paramid.methods.spans.bootstrap import Search, Seen
from paramid.methods.spans.lattice_plans import Plan
from paramid.words.activations import activation

STEPS = {4: 2.2e-3, 6: 5.7e-3, 7: 8.7e-3}  # h over √D for each n, in widths
SCALES = {4: 0.5, 6: 0.5, 7: 0.25}  # of base points
FURTHER = 2  # inputs more than should have been enough
SHARPER = 0.7  # what a pass should leave of the misfit of the last
FITTING = 0.05  # a misfit of neurons that are some of f's


class Inside:
    """The oracle y ↦ f(y V) of fewer inputs, V its `frame`; only values are asked of it."""

    def __init__(self, oracle: Oracle, frame: Tensor) -> None:
        self._oracle, self.frame = oracle, frame
        norms = oracle.spec.norms if len(frame) == oracle.spec.inputs else "free"
        self.spec = replace(oracle.spec, inputs=len(frame), norms=norms)
        self.decide, self.sample, self.gradient = oracle.decide, oracle.sample, oracle.gradient
        self.hessian, self.moments, self.label = oracle.hessian, oracle.moments, oracle.label

    def query(self, y: Tensor) -> Tensor:
        """f(y V)."""
        return self._oracle.query(y @ self.frame)


@dataclass(frozen=True, eq=False)
class Start:
    """Fewer inputs, what was seen of the function on them, and a network that may be known there."""

    inside: Inside
    seen: Seen
    how: Search
    student: Network | None = None


def told(oracle: Oracle, run: Run, h: float | None, batch: int, steps: int) -> Iterator[Start]:
    """By what tells m neurons apart; in a few more inputs where that led nowhere."""
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
    """Where m is not told: ever more inputs, until what is found there fits; lattices grow with them."""
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
