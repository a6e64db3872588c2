"""`cryptanalytic`: the published extraction of ReLU networks by critical points, with its own costs.

Layer by layer from the inputs:

    1. critical points on random lines, by bisection with slopes from both sides        (line_search)
    2. the row of the neuron that switches there, by second differences                 (signature)
    3. rows of one neuron are found among them and merged                               (matching, layer_rows)
    4. weights of units below that were never active there: along the bent plane        (bent_plane)
    5. every row again, to rounding, from fresh critical points on its plane            (refinement)
    6. which way each neuron looks                                                      (preimage_signs, …)
    7. the output layer by least squares on stored inputs                               (output_layer)

Where the papers are left, and why:

    a. rows are fitted by w h + b = 0 and not w h = 1, which has no answer for a zero bias; zero weights do not abort
    b. b before 5 is a median over witnesses: the release takes the first, which one foreign witness makes wrong
    c. a witness that no step size settles is dropped; the release goes on with the row of the one before
    d. a second group of one row is skipped; the release crashes
    e. H w = v is solved in float64 and not float32
    f. a kink found in 5 counts where the row predicts it: the release's check of that always passes
    g. the last fit weights a row by 1 / (1 + ‖x‖), the rounding of its value: as told, 1e7 away drowns the bias
    h. a layer whose rows lack weights after 4 gets more witnesses: rows of the layer above may have taken their places
    i. it ends: lines and witnesses are limited, a row that lacks its witnesses is left, missing rows give it up and are
       not set to 0; and fresh values must be those of the network. The papers have no such check, and search for ever
    j. hidden layers that are neither contractive nor the last have signs by EUROCRYPT 2024 alone     (facing_signs)

What stays as it was told: a neuron that lines far from the origin do not show is never found, and rows of the layer
above, where three of them agree by chance of one linear piece, may be taken for this layer's.

References: Carlini, Jagielski & Mironov, Cryptanalytic extraction of neural network models, CRYPTO 2020;
Canales-Martínez, Chávez-Saab, Hambitzer, Rodríguez-Henríquez, Satpute & Shamir, EUROCRYPT 2024, for `wiggle`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from paramid import Access, Claim, Directions, Network, Oracle, Run, Spec
from paramid.methods.critical_points import certificate, facing_signs, layer_rows
from paramid.methods.critical_points.facing_signs import CHOICES
from paramid.methods.critical_points.known_layers import Known, Layer
from paramid.methods.critical_points.layer_rows import Constants
from paramid.methods.critical_points.matching import LEAST
from paramid.methods.critical_points.output_layer import Asked, output_layer
from paramid.methods.piecewise.arrays import generator, tensor, values
from paramid.words.options import among, at_least

SHALLOW, DEEP = Constants(1e4, 10.0, 1e-7, 8.0), Constants(1e2, 1e-4, 1e-8, 2.0)  # those of the release


@dataclass(frozen=True)
class Cryptanalytic:
    """ReLU networks by queries: critical points on lines and second differences (CRYPTO 2020, EUROCRYPT 2024)."""

    signs: str = "auto"  # exhaustive: CRYPTO 2020; wiggle: EUROCRYPT 2024; auto: the first, else the second
    most_signs: int = 20  # neurons whose signs are tried in all combinations, at most
    scale: float | None = None  # s, where lines start, in [s/10, s], and 1000 s long; default: 1e4, or 1e2 if deep
    step: float | None = None  # ε of second differences; default: 10, or 1e-4 with more than one hidden layer
    straight: float | None = None  # τ, what is straight on a line of length 1; default: 1e-7, or 1e-8 if deep
    factor: float | None = None  # F: in a pair max(4, F (ln n - 2)) of n weights agree; default: 8, or 2 if deep
    most: int = 1000  # witnesses of a layer before missing neurons are given up
    lines: int = 1000  # lines for a layer, at most: the papers know no limit
    stored: int = 1000  # inputs asked again for the output layer

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def __post_init__(self) -> None:
        among(self, signs=CHOICES)
        at_least(self, most_signs=0, most=1, lines=1, stored=10)

    def declines(self, spec: Spec) -> str | None:
        """ReLUs below one linear output, of exact values and known widths."""
        if set(spec.activations[:-1]) != {"relu"} or spec.activations[-1] != "identity":
            return f"needs ReLUs below linear outputs; this is {', '.join(spec.activations)}"
        if None in spec.widths:
            return "needs to be told all widths"
        if spec.resolution:
            return "needs values in float64 without noise"
        if spec.outputs > 1:
            return f"is published for one output; this has {spec.outputs}"
        widths = tuple(width for width in spec.widths if width is not None)
        if (least := min((spec.inputs, *widths[:-1]))) < LEAST:
            return f"matches rows by {LEAST} equal weights; some neurons here have {least}"
        return facing_signs.hopeless(spec.inputs, widths, self.signs, self.most_signs)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """The first layer's rows, then the network."""
        spec, source = oracle.spec, generator(run)
        f = Asked(values(oracle, run), self.stored, np.random.default_rng(source.integers(2**62)))
        widths = tuple(width for width in spec.widths if width is not None)
        known, constants = Known(spec.inputs), self.constants(len(widths))
        for width in widths:
            rows = layer_rows.rows(f, known, width, constants, source)
            if not known.layers:
                yield Directions(tensor(rows.w.T, run))
            sigma = facing_signs.signs(f, known, rows, widths, self.signs, self.most_signs, source)
            known = known.above(Layer(rows.w * sigma[:, None], rows.b * sigma))
        known = known.above(output_layer(f, known, f.stored(self.stored)[:, :-1]))
        certificate.certain(f, known, source)
        weights, biases = ([tensor(part.T, run) for part in parts] for parts in zip(*known.layers, strict=True))
        yield Network(tuple(weights), tuple(biases), spec.activations)

    def constants(self, depth: int) -> Constants:
        """The release's for that many hidden layers, but for those that are given."""
        given = {"scale": self.scale, "step": self.step, "tau": self.straight, "factor": self.factor}
        told = {name: value for name, value in given.items() if value is not None}
        return replace(SHALLOW if depth == 1 else DEEP, most=self.most, lines=self.lines, **told)
