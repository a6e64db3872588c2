"""`kinks`: every weight of a ReLU network from float64 queries, by the kinks of its values along lines.

One hidden layer takes one line    (one_layer).
With more there are more lines, and what they show is sorted layer by layer    (depth).

A piecewise linear function has differences without truncation error, and with all patterns known one hidden layer is
linear in what is sought. Ours; that critical points along lines tell the weights is from the papers below.

References: Carlini, Jagielski & Mironov, CRYPTO 2020; Canales-Martínez et al., EUROCRYPT 2024.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from paramid import Access, Claim, Directions, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.piecewise import one_layer
from paramid.methods.piecewise.arrays import generator, tensor, values
from paramid.methods.piecewise.depth.search import Search, Sizes
from paramid.methods.piecewise.facing import Layer
from paramid.methods.piecewise.line_kinks import Values
from paramid.words.options import at_least

NOISE = 1e-7  # σ: with more the narrowest pieces of a line drown


@dataclass(frozen=True)
class Kinks:
    """ReLU networks by queries: kinks along lines, planes, one regression, and a certificate (ours)."""

    reach: float = 1e6  # how far a line goes, in lengths of its direction: infinitely, as far as planes can tell
    lines: int = 3  # one hidden layer: lines tried, each with all that follows, until fresh values are the network's
    near: float = 20.0  # deeper: how far a line goes, in lengths of its direction
    most: int = 36  # deeper: lines at random before it gives up

    version: ClassVar[int] = 3
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def __post_init__(self) -> None:
        at_least(self, reach=1e3, lines=1, near=1, most=3)

    def declines(self, spec: Spec) -> str | None:
        """ReLUs below linear outputs, of exact values; one layer of them also where these are nearly so."""
        if set(spec.activations[:-1]) != {"relu"} or spec.activations[-1] != "identity":
            return f"needs ReLUs below linear outputs; this is {', '.join(spec.activations)}"
        if spec.resolution and len(spec.widths) > 1:
            return "needs values in float64 without noise below more than one hidden layer"
        if spec.noise > NOISE:
            return f"needs noise of at most {NOISE:g}; here it is {spec.noise:g}"
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """The first layer's planes, then the network."""
        spec, source = oracle.spec, generator(run)
        f = values(oracle, run)
        return self.shallow(f, spec, run, source) if len(spec.widths) == 1 else self.deep(f, spec, run, source)

    def deep(self, f: Values, spec: Spec, run: Run, source: np.random.Generator) -> Iterator[Claim]:
        """Several hidden layers."""
        sizes = Sizes(spec.inputs, spec.widths, spec.outputs)
        search = Search(f, sizes, self.near, source)
        shown = False
        while (found := search.network()) is None:
            if search.reading.stack.layers and not shown:
                shown = True
                yield Directions(tensor(search.reading.stack.layers[0].w.T, run))
            if not search.more(self.most):
                raise GiveUp(search.reading.why)
        weights, biases = (tuple(tensor(part.T, run) for part in parts) for parts in found)
        yield Network(weights, biases, spec.activations)

    def shallow(self, f: Values, spec: Spec, run: Run, source: np.random.Generator) -> Iterator[Claim]:
        """One hidden layer."""
        why = ""
        for attempt in range(self.lines):
            sight = one_layer.seen(f, spec, self.reach, source)
            if not attempt and sight.whole:
                yield Directions(
                    tensor(sight.rough.n.T, run), stats={"unsure": float(sight.planes.unsure.max(initial=0))}
                )
            try:
                found = one_layer.fitted(f, sight, source)
            except GiveUp as error:
                why = str(error)
                continue
            one_layer.refuse(len(found.n), spec.widths[0], "neurons")
            yield network(found, spec, run)
            return
        raise GiveUp(why)


def network(layer: Layer, spec: Spec, run: Run) -> Network:
    """The layer as a claim."""
    weights = (tensor(layer.n.T, run), tensor(layer.alpha, run))
    biases = (tensor(layer.b, run), tensor(layer.c, run))
    return Network(weights, biases, spec.activations)
