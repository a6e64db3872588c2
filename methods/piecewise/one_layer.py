"""One hidden layer of ReLUs from one line: its planes, all of them again to rounding, which way they look, and a proof.

1. kinks along a line that meets every plane                                       (line_kinks)
2. gradients between them, on a subspace: with many inputs few of them will do     (planes)
3. where any signs can be had, as many values as there are unknowns                (sign_design)
4. elsewhere the planes in all of space, and points at random                      (planes, sign_regression)
5. which way each neuron looks                                                     (facing)
6. fresh values must be those of the network that was found, or it is given up
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paramid import GiveUp, Spec
from paramid.methods.piecewise import facing, line_kinks, planes, sign_design, sign_regression
from paramid.methods.piecewise.facing import Layer
from paramid.methods.piecewise.line_kinks import EPS, Array, Lines, Values, Walk
from paramid.methods.piecewise.planes import Planes
from paramid.methods.piecewise.sign_regression import Fit

START = 8  # values on a line, and one more for every plane
MOST, MOST_EACH, MANY = 200, 20, 5000  # values on a line: at most, for every plane more, of so many if no width is told
EACH, MORE = 1.5, 8  # directions of the subspace: for every plane, and more
PART = 0.5  # of the inputs: a subspace that is larger is all of them
SURE = 6.0  # σ
ULP = {"float64": EPS, "float32": float(np.finfo(np.float32).eps)}
UNSURE = 0.1  # a plane that is known worse is none to begin with
CERTAIN, LIKELY = 1e5, 30.0  # units of rounding in float64; of what a difference is known to


@dataclass(frozen=True)
class Sight:
    """What a line shows: its planes on the span of the first columns of a basis."""

    walk: Walk
    basis: Array
    planes: Planes

    @property
    def whole(self) -> bool:
        """Whether the planes are known in all of space."""
        return self.planes.n.shape[1] == len(self.basis)

    @property
    def rough(self) -> Planes:
        """The planes in all of space, as far as they are known."""
        return sign_design.lifted(self.planes, self.basis)


def seen(f: Values, spec: Spec, reach: float, source: np.random.Generator) -> Sight:
    """The planes that a line meets, but for those that it does not show."""
    lines, told = Lines(*source.standard_normal((2, 1, spec.inputs))), spec.widths[0]
    most = MOST + MOST_EACH * (told or MANY)
    walk = line_kinks.walk(
        f,
        lines,
        reach=reach,
        start=START + (told or spec.inputs),
        source=source,
        most=most,
        noise=SURE * spec.noise,
        ulp=ULP[spec.precision],
    )
    if len(walk.seen.t) > most:
        raise GiveUp(
            f"{len(walk.seen.t)} values on a line do not tell its kinks: f is no layer of {told or 'few'} ReLUs"
        )
    refuse(len(walk.t) - walk.unresolved, told, "planes")
    known = int(EACH * len(walk.t)) + MORE
    sight = Sight(walk, *on_subspace(f, walk, known if known < PART * spec.inputs else spec.inputs, source))
    refuse(len(sight.planes.n), told, "planes")
    if not len(sight.planes.n):
        raise GiveUp("f has no kink that shows: as far as a line goes it is affine")
    return sight


def refuse(found: int, told: int | None, what: str) -> None:
    """Give up on more of them than neurons."""
    if told is not None and found > told:
        raise GiveUp(f"f has {found} {what}, {told} neurons were told")


def on_subspace(f: Values, walk: Walk, known: int, source: np.random.Generator) -> tuple[Array, Planes]:
    """An orthonormal basis whose first columns span the line and directions at random, and the planes on their span."""
    origin, direction = walk.lines.origin, walk.lines.direction
    inputs = origin.shape[1]
    basis = np.linalg.qr(np.vstack([direction, origin, source.standard_normal((inputs, inputs))])[:inputs].T)[0]
    basis[:, :known] = basis[:, :known] @ np.linalg.qr(source.standard_normal((known, known)))[0]
    span = basis[:, :known]
    low = replace(walk, lines=Lines(origin @ span, direction @ span))
    found = planes.planes(low, planes.gradients(lambda y: f(y @ span.T), low))
    return basis, found.at(found.unsure < UNSURE)


def fitted(f: Values, sight: Sight, source: np.random.Generator) -> Layer:
    """The layer whose planes are seen, to rounding; given up where fresh values are not those of it."""
    fit = regressed(f, sight, source)
    precision = sight.walk.precision
    layer = facing.faced(fit.planes, fit.affine, max(fit.residual, float(precision.ulps(np.zeros(1))[0])))
    x = facing.felt(layer, source)
    far = np.linalg.norm(x, axis=1)
    bound = CERTAIN * EPS * precision.size * (1 + far) + LIKELY * precision.ulps(far)
    facing.certain(layer, x, f(x), bound)
    return layer


def regressed(f: Values, sight: Sight, source: np.random.Generator) -> Fit:
    """All planes at once."""
    if (fit := sign_design.fit(f, sight.planes, sight.basis, source)) is not None:
        return fit
    if sight.whole:
        return sign_regression.fit(f, sight.rough, source)
    found = planes.planes(sight.walk, planes.gradients(f, sight.walk))
    return sign_regression.fit(f, found.at(found.unsure < UNSURE), source)
