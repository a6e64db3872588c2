"""The end of far lines: all parameters on values around 0, believed on values that had no part in it.

A network whose b are off by R times the error of a direction, 1e-5 to 1e-2, is refined by `layered_refinement` on N
points of 4 N(0, I), 2.5 equations for each parameter. Neurons that do nothing there have points of their own, around
the foot -b w / ‖w‖² of their hyperplanes. Where rounding is uneven, twice as many are drawn and those of the smaller
values taken: log-odds of probabilities near 0 and 1 are coarse, as coarse as e^|f|.

A network is claimed where what is left is what rounding and noise explain, there and on fresh points. Where it is not
quite so, the points of the fit say too little of some parameter: with many inputs most neurons are saturated at most of
them. Then the fresh points join them, and as many again at the spread whose Cramér-Rao bound is smallest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import GiveUp, Network, Run, Spec, activation
from paramid.limits.cramer_rao import best_spread
from paramid.limits.information import free_of
from paramid.methods.far_field import hidden_signs, pins
from paramid.methods.far_field.neurons import Neurons
from paramid.methods.far_field.outlook import Outlook
from paramid.methods.refinement import layered_acceptance, layered_refinement
from paramid.methods.refinement.layered_refinement import Fit
from paramid.methods.spans import linear_parts
from paramid.methods.spans.output_differences import Values

FRESH = 100  # points that had no part in the fit
STEPS = 30  # of a refinement: success takes fewer
WITHIN = 2.0  # times what is believed in the fit: fresh points are not fitted
MORE, NEARLY = 2, 1e-6  # times that further points are asked for; of the values, what may be left then
REMOTE = 0.01  # radii: a foot farther from 0 is that of no neuron
APART = 2.0  # spreads: neurons whose foot is farther from 0 have points of their own


@dataclass(frozen=True)
class Pairs:
    """Points of the fit and fresh ones, with their values, and the deviation of a value."""

    x: Tensor
    y: Tensor
    fresh: Tensor
    check: Tensor
    noise: float
    uneven: bool = False

    @classmethod
    def of(cls, f: Values, x: Tensor, noise: float, uneven: bool) -> "Pairs":
        """Those of `x`, of uneven rounding the better half."""
        y = f(x)
        if uneven:
            kept = y.abs().amax(1).argsort()[: len(x) // 2].sort().values
            x, y = x[kept], y[kept]
        return cls(x[:-FRESH], y[:-FRESH], x[-FRESH:], y[-FRESH:], noise, uneven)

    def further(self, f: Values, found: Network, run: Run) -> "Pairs":
        """These, fresh ones included, and as many again where they say most."""
        most = (len(self.x) + FRESH) * (1 + self.uneven)
        more = Pairs.of(f, best_spread(found) * run.normal(most, found.inputs), self.noise, self.uneven)
        x, y = torch.cat([self.x, self.fresh, more.x]), torch.cat([self.y, self.check, more.y])
        return replace(more, x=x, y=y)


def drawn(f: Values, spec: Spec, found: Neurons, view: Outlook, run: Run, *, rows: float, spread: float) -> Pairs:
    """Values that tell so many neurons, `rows` equations for each parameter."""
    count = layered_acceptance.count(replace(spec, widths=(len(found),)), rows)
    most = (count + FRESH) * (2 if view.uneven else 1)
    x = spread * run.normal(most, spec.inputs) + centres(found, spread, REMOTE * view.radius, most)
    return Pairs.of(f, x, view.near, view.uneven)


def centres(found: Neurons, spread: float, most: float, rows: int) -> Tensor:
    """0 for every second row, for others 0 or the feet, up to `most` away, of neurons that do nothing around 0."""
    feet = -(found.b / found.w.square().sum(1))[:, None] * found.w
    away = feet.norm(dim=1)
    feet = feet[(away > APART * spread) & (away < most)]
    middle = found.w.new_zeros(rows, found.w.shape[1])
    if len(feet):
        odd = torch.arange(1, rows, 2, device=feet.device)
        middle[odd] = feet[torch.arange(len(odd), device=feet.device) % len(feet)]
    return middle


def network(found: Neurons, name: str, pairs: Pairs) -> Network:
    """The rough network, with the output bias that values leave."""
    rough = Network(
        (found.w.T.contiguous(), found.a), (found.b, found.a.new_zeros(found.a.shape[1])), (name, "identity")
    )
    return rough.with_layers(rough.weights, (found.b, (pairs.y - rough(pairs.x)).mean(0)))


def ending(f: Values, found: Neurons, names: tuple[str, ...], spec: Spec, pairs: Pairs, run: Run) -> Iterator[Network]:
    """Rough networks and the refined one, of the first of the activations that explains the values."""
    failed: GiveUp | None = None
    for name in names:
        try:
            rough = network(found, name, pairs)
            if linear_parts.hidden(activation(name)):
                rough = hidden_signs.upright(rough, pairs.x, pairs.y, pairs.noise, run)
            if len(names) == 1:
                yield rough
            yield settled(f, rough, spec, pairs, run)
        except GiveUp as error:
            failed = error
        else:
            return
    assert failed is not None
    raise failed


def settled(f: Values, rough: Network, spec: Spec, pairs: Pairs, run: Run) -> Network:
    """The network to rounding, as it is pinned; given up where more is left."""
    found, left = fitted(pins.pinned(rough, spec), spec, pairs)
    for _ in range(MORE):
        size = float(pairs.y.square().mean().sqrt())
        if left <= WITHIN * layered_refinement.AT_FLOOR * found.floor or found.rms > NEARLY * size + found.floor:
            break
        pairs = pairs.further(f, found.network, run)
        found, left = fitted(found.network, spec, pairs)
    claim = layered_acceptance.believed(found, pairs.x, spec)
    most = WITHIN * layered_refinement.AT_FLOOR * found.floor
    if not left <= most:
        raise GiveUp(f"fresh values leave {left:.1e}, noise and rounding explain {most:.1e}")
    return replace(claim, stats={**claim.stats, "residual": left})


def fitted(start: Network, spec: Spec, pairs: Pairs) -> tuple[Fit, float]:
    """The refined network and what it leaves on fresh points."""
    rounded = 16 * layered_refinement.UNIT * float(pairs.y.square().mean().sqrt())
    noise = pairs.noise if pairs.noise > rounded else 0.0
    found = layered_refinement.fit(start, pairs.x, pairs.y, noise=noise, steps=STEPS, free=free_of(spec))
    return found, layered_refinement.misfit(found.network, pairs.fresh, pairs.check)
