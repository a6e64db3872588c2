"""`far-lines`: shallow networks of any width and several outputs, from lines on which neurons switch one at a time.

    1. how far out, how large, how exact                        (outlook)
    2. crossings along a line at distance R                     (crossings)
    3. the direction of each, by a gradient difference of rank one (directions)
    4. its length, shift and outer weights, by its profile      (profiles)
    5. 2 to 4 on further lines until all neurons are known      (lines)
    6. signs that only the linear part shows                    (hidden_signs)
    7. all parameters at once on values around 0                (values)
    8. under noise, on every value spent and on more            (last_fit)

An activation with g(t) = α± t + β± + O(e^-|t|) is affine where its neuron is saturated. Far away all are but one,

    (1)  f(x* + d) = affine(d) + a_j g(⟨w_j, d⟩ + z),

whatever their number: no lattice, no span, no bound on m.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, Directions, GiveUp, Oracle, Run, Spec, activation
from paramid.methods.far_field import lines, values
from paramid.methods.far_field.choice import AFFINE
from paramid.methods.far_field.hidden_signs import Untold
from paramid.methods.far_field.neurons import Neurons
from paramid.methods.far_field.outlook import Outlook, outlook
from paramid.methods.far_field.scanning import scanned
from paramid.methods.far_field.walking import walked
from paramid.methods.refinement import last_fit, layered_acceptance
from paramid.methods.spans.output_differences import Values
from paramid.words.options import at_least, positive
from paramid.words.spec import UNKNOWN

MANY = 8.0  # under noise: equations for each parameter
WIDE, NARROW = 4.0, 1.5  # spreads of points: from further away each says more, and starts that are rough lead home
NOISY = 2.5  # where shifts are looked for as well
DRAWS = 3  # of values for one set of neurons: a kink may hide between points
ATTEMPTS = 6  # sets of neurons that values are asked about
SIGMOIDS = ("tanh", "logistic", "erf")
LOUDEST = 1e-5  # beyond, crossings drown
LEAST, EACH = 400, 8  # values that shifts are looked for on, at least and a neuron


@dataclass(frozen=True)
class FarLines:
    """Shallow networks of any width, activation affine far out, and several outputs, by far lines (ours)."""

    radius: float | None = (
        None  # distance of the lines from 0; default: 1e4, 1e3 under noise, less where f is not finite
    )
    lines: int = 14  # lines, at most
    rows: float = 2.5  # equations for each parameter in the refinement
    spread: float | None = None  # standard deviation of its points; default: 4, 1.5 where rounding grows with values

    target: float | None = None  # under noise: the largest error of a parameter that further values are spent for

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})
    finds_activation: ClassVar[bool] = True

    def __post_init__(self) -> None:
        at_least(self, radius=10, lines=1, rows=1, spread=0.1)
        positive(self, "target")

    def declines(self, spec: Spec) -> str | None:
        """Shallow, affine far away."""
        if not spec.shallow:
            return "needs one hidden layer and linear outputs"
        if spec.activation not in (*AFFINE, UNKNOWN):
            return f"needs an activation that is affine far out, which {spec.activation} is not"
        if spec.resolution and spec.activation not in (*SIGMOIDS, UNKNOWN):
            return f"under noise or in float32 the linear growth of {spec.activation} drowns its crossings"
        if spec.noise > LOUDEST:
            return f"noise {spec.noise:g} drowns crossings"
        if spec.inputs < 2:
            return "needs two inputs: on a line all neurons are near 0"
        return None if None in spec.widths else layered_acceptance.too_large(spec)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 8; rounding to float32 is no noise of one size where points are as far away as here."""
        if oracle.spec.noise:
            yield from last_fit.ended(self.found, oracle, run, again=0.0, target=self.target)
        else:
            yield from self.found(oracle, run)

    def found(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 7; sets of neurons that values contradict send it to further lines."""
        f, spec = oracle.query, oracle.spec
        view, tried, why = outlook(f, spec, run, self.radius), list[Tensor](), "lines show no neuron"
        sights = lines.on_lines(f, spec, view, run, self.lines)
        for sight, best in ((seen, some) for seen in sights for some in seen.sets(spec.widths[0])):
            sight.refuse(spec.widths[0])
            if best is None:
                why = f"lines show {len(sight.known)} neurons of {spec.widths[0] or 'nobody knows how many'}"
                continue
            if len(tried) == ATTEMPTS or sum(torch.equal(best.w, w) for w in tried) == DRAWS:
                continue
            tried.append(best.w)
            yield Directions(best.w.T)
            try:
                yield from self.networks(f, spec, sight.names, best, view, run)
                return
            except Untold:
                raise
            except GiveUp as error:
                why = str(error)
        raise GiveUp(why)

    def networks(
        self, f: Values, spec: Spec, names: tuple[str, ...], best: Neurons, view: Outlook, run: Run
    ) -> Iterator[Claim]:
        """Stages 6 and 7; under noise hyperplanes are followed to where values are."""
        rows, spread = self.rows, self.spread or (NARROW if view.uneven else WIDE)
        if view.noisy:
            if names[0] not in SIGMOIDS:
                raise Untold(f"noise of {view.near:.1e} drowns what {names[0]} shows far away")
            g, x = activation(names[0]), NARROW * run.normal(max(LEAST, EACH * len(best)), spec.inputs)
            best = scanned(walked(f, best, g), x, f(x), g)
            rows, spread = max(rows, MANY), self.spread or NOISY
        pairs = values.drawn(f, spec, best, view, run, rows=rows, spread=spread)
        yield from values.ending(f, best, names, spec, pairs, run)
