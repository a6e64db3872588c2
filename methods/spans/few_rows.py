"""Few values a parameter, and more neurons than matrices tell apart: rank-ones of order s from a lattice of order 2s.

    1. the function on d of the D inputs, as few as tell m neurons apart    (lattice_plans, lattice_starts)
    2. one lattice of order 2s there, and what it says of the neurons       (simplex_lattices, bootstrap)
    3. fresh gradients, one-sided; signs put right, what is missing found   (neuron_repair)
    4. all parameters of the function on d inputs                           (joint_refinement)
    5. where 4 stays above rounding: 2 once more from the better network
    6. the other D - d inputs                                               (extension)
    7. fresh values, which the network must meet to rounding

A pass of 2 that leaves little of the gradients is followed by 4. What 4 believes explains the gradients to rounding,
norms that 6 was not told come out as 1, and so does 7 check the whole: a wrong network is given up. So m needs
not be told: a neuron too few or too many leaves gradients that no rounding explains, but for two that cancel, which are
left out.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from paramid import GiveUp, Network, Oracle, Run
from paramid.methods.refinement import extension, joint_refinement, neuron_repair
from paramid.methods.refinement.matched_differences import Data
from paramid.methods.refinement.matched_differences import look as look_at_gradients
from paramid.methods.spans import bootstrap, lattice_plans, lattice_starts
from paramid.methods.spans.activation_derivatives import width
from paramid.methods.spans.bootstrap import Found, Search, Seen
from paramid.methods.spans.lattice_starts import Start
from paramid.words.activations import activation

SPREAD = 2.5
CHECKED, MISSED = 40, 1e-10  # fresh values, and what they may be off by, relatively
UNSURE = 10.0  # times what norms are off by: the error of a weight, at most
ROUNDS, PASSES, STEPS_AT_ONCE, PRODUCTS = 4, 12, 18, 600
MISSING = 3  # neurons that gradients find, or half as many as there are inputs
SHARPER, IDLE = 0.7, 3  # what a pass should leave of the last, passes that may do worse
CANCELLED = 1e-6  # root mean square of what is left of two neurons
READY = 0.01  # of the gradients may be left for Gauss-Newton
RIVAL = 8.0  # times the median misfit: that of another neuron, where m is not told


def found(oracle: Oracle, run: Run, *, h: float | None, batch: int, steps: int) -> Iterator[Network]:
    """The network, by stages 1 to 7."""
    starts = lattice_starts.climbed if oracle.spec.widths[0] is None else lattice_starts.told
    why = GiveUp("no lattice shows neurons that fit it: there are too many, or the function is not what was told")
    for start in starts(oracle, run, h, batch, steps):
        try:
            network = refined(start, run)
        except GiveUp as gave_up:
            why = gave_up
            continue
        yield checked(oracle, outside(oracle, network, start.inside.frame, run), run)
        return
    raise why


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
            found = found.at(found.fit.cost < max(lattice_starts.FITTING**2, RIVAL**2 * float(found.fit.cost.median())))
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


def outside(oracle: Oracle, network: Network, frame: Tensor, run: Run) -> Network:
    """Stage 6."""
    if len(frame) < oracle.spec.inputs:
        return normalised(extension.extended(oracle, network, frame, run))
    return network.with_layers((frame.T @ network.weights[0], network.weights[1]), network.biases)


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
