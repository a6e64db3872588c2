"""`entangled-gauge`: every weight and shift of a deep network from one small ball and Gaussian samples.

    1. second and third derivatives of all outputs at 0                        (nearby_hessians)
    2. directions of the neurons of all hidden layers, from their span         (entangled_search)
    3. their layers, and with them their pre-activations, from the same data   (gauge_labels)
    4. networks of these layers, one for every order of layers of equal width  (rough_layers)
    5. all parameters at once, on Gaussian samples              (layered_refinement, layered_acceptance)

Every query stays within ‖x‖ ≤ `reach`. Layers are told by a relation between third derivatives and not by their
response far away, so that any number of them is told at once. What stage 5 does not bring down to noise and rounding
is looked at anew, `tries` times, at another point of the ball, and then given up: a wrong label or a wrong minimum
leave far more.

Of d inputs, P parameters, q outputs and m neurons of the last hidden layer stage 1 takes C(d+3, 3) queries at every
try, under noise 80 (d² + d + 1) and more, as third differences drown first; stage 5 takes ⌈`rows` P / min(q, m)⌉
samples in all, which are its check too; the others take none.

Reference: Rauchensteiner 2023, Algorithms 4.1 and 4.2, for stages 1 and 2 and for what stage 3 replaces.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, EntangledWeights, GiveUp, Oracle, Run, Spec, activation
from paramid.limits.information import free_of
from paramid.methods.layers import nearby_hessians, rough_layers
from paramid.methods.layers.peeling import INVERSES, inverse
from paramid.methods.layers.rough_layers import Seen
from paramid.methods.refinement import layered_acceptance, layered_refinement
from paramid.methods.refinement.layered_refinement import Fit
from paramid.methods.spans import output_differences
from paramid.words.options import at_least

PAIRS = 40  # the least number of antipodal pairs of points at which Hessians are asked for under noise


@dataclass(frozen=True)
class EntangledGauge:
    """Deep networks from a lattice in a small ball, layers told by their gauge, and a full refinement on samples."""

    reach: float = 0.2  # radius of the ball around 0 in which all queries are
    rows: float = 2.0  # equations for each parameter in the refinement; a sample makes min(outputs, last hidden width)
    tries: int = 3  # attempts, each from derivatives at another point, before giving up

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES, Access.SAMPLES})

    def __post_init__(self) -> None:
        at_least(self, reach=1e-3, rows=1, tries=1)

    def declines(self, spec: Spec) -> str | None:
        """Deep, sigmoidal, with unit weights and few enough neurons; widths may grow."""
        widths = [w for w in spec.widths if w is not None]
        if len(widths) < len(spec.widths):
            return "needs to know the number of neurons"
        if len(widths) < 2:
            return "needs two hidden layers and more"
        *hidden, last = spec.activations
        if len(set(hidden)) > 1 or hidden[0] not in INVERSES or last not in (*INVERSES, "identity"):
            return f"cannot tell layers of {', '.join(spec.activations)}"
        if (spec.norms, spec.outer, spec.output_bias) != ("unit", "free", "free"):
            return "needs unit weight vectors, free outer weights and a free output bias"
        if spec.shift == 0:
            return "without shifts one direction for every layer but the last is invisible"
        if output_differences.hessian_step(spec.resolution) > self.reach / 6:
            return f"noise {spec.noise:g} drowns second differences within {self.reach:g}"
        crowded = rough_layers.crowded(spec.inputs, tuple(widths), spec.outputs)
        return crowded or layered_acceptance.refusal(spec, self.rows)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 5."""
        spec, noise = oracle.spec, oracle.spec.resolution
        x, y = oracle.sample(layered_acceptance.count(spec, self.rows)).tensors()
        why = ""
        for attempt in range(self.tries):
            try:
                seen, gradients = self.seen(oracle, run, away=attempt > 0)
            except GiveUp as reason:
                why = str(reason)
                continue
            yield told(seen, gradients)
            found = refined(seen, spec, x, y, noise)
            if found.believed:
                yield layered_acceptance.believed(found, x, spec)
                return
            why = f"the residual stays at {found.rms:.1e}, noise and rounding explain {found.floor:.1e}"
        raise GiveUp(why)

    def seen(self, oracle: Oracle, run: Run, *, away: bool) -> tuple[Seen, Tensor]:
        """Stages 1 to 3 at 0 or, of exact values, `away` from it, and the gradients of the outputs there."""
        spec, noise = oracle.spec, oracle.spec.resolution
        out, g, widths = activation(spec.activations[-1]), activation(spec.activation), layered_acceptance.widths(spec)

        def f(x: Tensor) -> Tensor:
            return inverse(out, oracle.query(x))

        zero = torch.zeros(1, spec.inputs, dtype=run.dtype, device=run.device)
        if noise:
            e = torch.eye(spec.inputs, dtype=run.dtype, device=run.device)
            nearby = nearby_hessians.asked(f, zero[0], widths, g, run, noise=noise, pairs=PAIRS, reach=self.reach)
            gradients = output_differences.gradients(f, zero, e, output_differences.gradient_step(noise))[0]
        else:
            h = nearby_hessians.step(spec.inputs, self.reach)
            base = (self.reach - 3 * h) * run.sphere(1, spec.inputs)[0] * away
            nearby, gradients = nearby_hessians.told(f, base, h=h)
        return rough_layers.look(nearby, widths, g, run), gradients


def refined(seen: Seen, spec: Spec, x: Tensor, y: Tensor, noise: float) -> Fit:
    """Stages 4 and 5: the first order of layers that explains the samples, or the best of them."""
    found: list[Fit] = []
    for rough in rough_layers.rough_networks(seen, layered_acceptance.widths(spec), spec.activations, x, y, 0):
        found.append(layered_refinement.fit(rough, x, y, noise=noise, free=free_of(spec)))
        if found[-1].believed:
            return found[-1]
    return min(found, key=lambda fit: fit.rms)


def told(seen: Seen, gradients: Tensor) -> EntangledWeights:
    """Stage 3 as a claim, with the outputs' own gradients."""
    last = torch.full_like(gradients[0], int(seen.layers.max()) + 2.0)
    layers = torch.cat([(seen.layers + 1).to(last.dtype), last])
    return EntangledWeights(torch.cat([seen.bends.u, gradients], 1), layers, stats=seen.stats)
