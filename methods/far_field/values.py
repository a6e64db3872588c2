"""The end of far lines: all parameters on values around 0, believed on values that had no part in it.

A network whose b are off by R times the error of a direction, 1e-5 to 1e-2, is refined by `layered_refinement` on N
points of 1.5 N(0, I), 2.5 equations for each parameter. It is claimed where what is left is what rounding and noise
explain, there and on fresh points.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from torch import Tensor

from paramid import GiveUp, Network, Run, Spec, activation
from paramid.methods.far_field import hidden_signs
from paramid.methods.far_field.neurons import Neurons
from paramid.methods.refinement import layered_acceptance, layered_refinement
from paramid.methods.spans import linear_parts
from paramid.methods.spans.output_differences import Values

FRESH = 100  # points that had no part in the fit
WITHIN = 2.0  # times what is believed in the fit: fresh points are not fitted


@dataclass(frozen=True)
class Pairs:
    """Points of the fit and fresh ones, with their values, and the deviation of a value."""

    x: Tensor
    y: Tensor
    fresh: Tensor
    check: Tensor
    noise: float


def drawn(f: Values, spec: Spec, width: int, run: Run, *, noise: float, rows: float, spread: float) -> Pairs:
    """Values that tell a layer of so many neurons, `rows` equations for each parameter."""
    count = layered_acceptance.count(replace(spec, widths=(width,)), rows)
    x, fresh = spread * run.normal(count, spec.inputs), spread * run.normal(FRESH, spec.inputs)
    return Pairs(x, f(x), fresh, f(fresh), noise)


def network(found: Neurons, name: str, pairs: Pairs) -> Network:
    """The rough network, with the output bias that values leave."""
    rough = Network((found.w.T.contiguous(), found.a), (found.b, found.a.new_zeros(found.a.shape[1])), (name, "identity"))
    return rough.with_layers(rough.weights, (found.b, (pairs.y - rough(pairs.x)).mean(0)))


def ending(found: Neurons, names: tuple[str, ...], pairs: Pairs, run: Run) -> Iterator[Network]:
    """Rough networks and the refined one, of the first of the activations that explains the values."""
    failed: GiveUp | None = None
    for name in names:
        try:
            rough = network(found, name, pairs)
            if linear_parts.hidden(activation(name)):
                rough = hidden_signs.upright(rough, pairs.x, pairs.y, pairs.noise, run)
            if len(names) == 1:
                yield rough
            yield settled(rough, pairs, run)
        except GiveUp as error:
            failed = error
        else:
            return
    assert failed is not None
    raise failed


def settled(rough: Network, pairs: Pairs, run: Run) -> Network:
    """The network to rounding; given up where more is left."""
    found = layered_refinement.fit(rough, pairs.x, pairs.y, noise=pairs.noise)
    believed = layered_acceptance.believed(found, pairs.x, pairs.y, run)
    left = layered_refinement.misfit(believed, pairs.fresh, pairs.check)
    most = WITHIN * layered_refinement.AT_FLOOR * max(found.floor, pairs.noise)
    if not (math.isfinite(left) and left <= most):
        raise GiveUp(f"fresh values leave {left:.1e}, noise and rounding explain {most:.1e}")
    return believed
