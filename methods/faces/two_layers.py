"""Networks of two hidden layers with free norms, of any first width, from queries.

    1. directions of the first layer and several crossings of each neuron, on far lines           (crossings)
    2. its norms, and its shifts to some tenths, from how f changes across them                   (profiles)
    3. faces until every neuron has moved on one: m_1 ≤ D neurons on a single one                 (face, covering)
       a. the errors of the shifts, by a rank of derivatives                                      (shift_ranks)
       b. directions of the second layer, and better shifts                                       (second_directions)
       c. norms and shifts of the second layer, its outer weights                                 (second_layer)
       d. all of it at once: faces that end at rounding are right                                 (face_fit)
    4. the faces joined by their outer weights                                                    (joining)
    5. all parameters at once, on values near 0 and then further out, where they are best told    (layered_refinement)

All layers are taken for tanh; those of logistic are read as such, (1 + tanh(z/2)) / 2, before stage 5.
What stage 5 leaves is compared with noise and rounding on its own values and on fresh ones; where more is left, stages
3 to 5 begin again on other faces, unless some of these were poor, and then it is given up.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Claim, EntangledWeights, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.faces import crossings, profiles, second_directions
from paramid.methods.faces.covering import GOOD, covered
from paramid.methods.faces.face import Layer, size
from paramid.methods.faces.face_fit import parameters
from paramid.methods.faces.joining import joined
from paramid.methods.refinement import layered_acceptance, layered_refinement
from paramid.words import memory_limits
from paramid.words.network import read_as
from paramid.words.spec import UNKNOWN

SIGMOIDS = ("tanh", "logistic")
SPREADS = (1.5, 5.0)  # of the values of stage 5
ROWS = 1.5  # equations for each parameter in stage 5, from each of them
FRESH = 50  # values that no stage has seen
ROUNDS = 2  # of stages 3 to 5


@dataclass(frozen=True)
class Scaled:
    """f less its middle and over its size, (outputs,) each, far from 0."""

    oracle: Oracle
    middle: Tensor
    size: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """The values, of size 1."""
        return (self.oracle.query(x) - self.middle) / self.size

    def undone(self, network: Network) -> Network:
        """The network of f from that of its scaled values."""
        *weights, outer = network.weights
        *shifts, bias = network.biases
        return network.with_layers((*weights, outer * self.size), (*shifts, bias * self.size + self.middle))


def declines(spec: Spec) -> str | None:
    """Two hidden layers of tanh or logistic, exact values, and no more neurons than a face can tell."""
    if len(spec.widths) > 2:
        return "needs unit weight vectors where there are more than two hidden layers"
    *hidden, last = spec.activations
    if not {*hidden} <= {*SIGMOIDS, UNKNOWN} or last != "identity":
        named = ", ".join(spec.activations)
        return f"needs tanh or logistic layers and a linear output where norms are free: not {named}"
    if (spec.outer, spec.output_bias) != ("free", "free"):
        return "needs free outer weights and a free output bias"
    if spec.resolution > 0:
        return f"needs unit weight vectors or exact float64 values: these are known to {spec.resolution:g}"
    first, second = layered_acceptance.widths(spec)
    n = size(spec.inputs, first)
    if reason := second_directions.crowded(n, second):
        return reason
    p = parameters(n, second, spec.outputs)
    too_large = memory_limits.refusal({"slopes on a face": (3 * p + 50, 3 * p)}, memory_limits.room())
    return too_large or layered_acceptance.too_large(spec)


def identified(oracle: Oracle, run: Run) -> Iterator[Claim]:
    """Stages 1 to 5."""
    spec = oracle.spec
    first, second = layered_acceptance.widths(spec)
    f = scaled(oracle, run)
    neurons = crossings.first_neurons(f, spec.inputs, first, run)
    if len(neurons) != first:
        raise GiveUp(f"far lines show {len(neurons)} neurons of the first layer, {first} were told")
    u = torch.stack([neuron.normals[0] for neuron in neurons], 1)
    yield EntangledWeights(u, torch.ones_like(u[0]))
    sigmoids = [profiles.sigmoid(f, neuron) for neuron in neurons]
    layer = Layer(u, u.new_tensor([q.norm for q in sigmoids]), u.new_tensor([q.shift for q in sigmoids]))
    why = ""
    for _ in range(ROUNDS):
        layer, solved = covered(f, layer, second, run)
        rough = f.undone(joined(layer, solved))
        rough = read_as(rough, tuple("tanh" if name == UNKNOWN else name for name in spec.activations)) or rough
        yield rough
        try:
            yield refined(rough, oracle, run)
        except GiveUp as reason:
            why = str(reason)
            if any(each.rms > GOOD for each in solved):
                break
        else:
            return
    raise GiveUp(why)


def scaled(oracle: Oracle, run: Run, points: int = 64) -> Scaled:
    """F over what is seen of it at a few places far out."""
    y = oracle.query(30 * run.normal(points, oracle.spec.inputs))
    middle = y.mean(0)
    span = (y - middle).abs().amax(0)
    if not bool((span > 0).all()):
        raise GiveUp("an output is constant far from 0")
    return Scaled(oracle, middle, span)


def refined(rough: Network, oracle: Oracle, run: Run) -> Network:
    """Stage 5, believed on its own values and on fresh ones."""
    spec, now = oracle.spec, rough
    x, y = run.normal(0, spec.inputs), run.normal(0, spec.outputs)
    for spread in SPREADS:
        new = spread * run.normal(layered_acceptance.count(spec, ROWS), spec.inputs)
        x, y = torch.cat([x, new]), torch.cat([y, oracle.query(new)])
        found = layered_refinement.fit(now, x, y, noise=0.0)
        now = found.network
    network = layered_acceptance.believed(found, x, spec)
    fresh = 2 * run.normal(FRESH, spec.inputs)
    left = layered_refinement.misfit(network, fresh, oracle.query(fresh))
    if not left <= layered_refinement.AT_FLOOR * found.floor:
        raise GiveUp(f"fresh values are off by {left:.1e}, noise and rounding explain {found.floor:.1e}")
    return network
