"""`far-lines`: shallow networks of any width and several outputs, from lines on which neurons switch one at a time.

    1. how far out, how large, how exact                        (outlook)
    2. crossings along a line at distance R                     (crossings)
    3. the direction of each, by a gradient difference of rank one (directions)
    4. its length, shift and outer weights, by its profile      (profiles)
    5. 2 to 4 on further lines until all neurons are known      (neurons)
    6. signs that only the linear part shows                    (hidden_signs)
    7. all parameters at once on values around 0                (values)

An activation with g(t) = α± t + β± + O(e^-|t|) is affine where its neuron is saturated. Far away all neurons are but one,

    (1)  f(x* + d) = affine(d) + a_j g(⟨w_j, d⟩ + z),

whatever their number: no lattice, no span, no bound on m.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch

from paramid import Access, Claim, Directions, GiveUp, Oracle, Run, Spec, activation
from paramid.methods.far_field import neurons, values
from paramid.methods.far_field.choice import AFFINE
from paramid.methods.far_field.hidden_signs import Untold
from paramid.methods.far_field.outlook import outlook
from paramid.methods.far_field.scanning import scanned
from paramid.methods.far_field.walking import walked
from paramid.words.options import at_least
from paramid.words.spec import UNKNOWN

MANY, WIDE = 8.0, 2.5  # under noise: equations for each parameter, and the spread of points
LEAST, EACH = 400, 8  # values that shifts are looked for on, at least and a neuron


@dataclass(frozen=True)
class FarLines:
    """Shallow networks of any width, activation affine far out, and several outputs, by far lines (ours)."""

    radius: float | None = None  # distance of the lines from 0; default: 1e4, 1e3 under noise, less where f is not finite
    lines: int = 14  # lines, at most
    rows: float = 2.5  # equations for each parameter in the refinement
    spread: float = 1.5  # standard deviation of its points

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def __post_init__(self) -> None:
        at_least(self, radius=10, lines=1, rows=1, spread=0.1)

    def declines(self, spec: Spec) -> str | None:
        """Shallow, affine far away."""
        if not spec.shallow:
            return "needs one hidden layer and linear outputs"
        if spec.activation not in (*AFFINE, UNKNOWN):
            return f"needs an activation that is affine far out, which {spec.activation} is not"
        if spec.inputs < 2:
            return "needs two inputs: on a line all neurons are near 0"
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 7."""
        f, spec = oracle.query, oracle.spec
        view = outlook(f, spec, run, self.radius)
        tried, why = None, "lines show no neuron"
        for number, sight in enumerate(neurons.on_lines(f, spec, view, run, self.lines), 1):
            m = spec.widths[0] or neurons.confirmed(sight.known)
            if not m or len(sight.known) < m:
                why = f"{number} lines show {len(sight.known)} neurons of {m or 'none'}"
                continue
            best = sight.known.best(m)
            if tried is not None and torch.equal(best.w, tried.w):
                continue
            tried = best
            yield Directions(best.w.T)
            rows, spread = (self.rows, self.spread) if not view.noisy else (MANY, WIDE)
            if view.noisy:
                g = activation(sight.names[0])
                x = self.spread * run.normal(max(LEAST, EACH * m), spec.inputs)
                best = scanned(walked(f, best, g), x, f(x), g)
            pairs = values.drawn(f, spec, best, view, run, rows=rows, spread=spread)
            try:
                yield from values.ending(best, sight.names, spec, pairs, run)
                return
            except Untold:
                raise
            except GiveUp as error:
                why = str(error)
        raise GiveUp(why)
