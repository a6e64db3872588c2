"""`peel`: every weight and shift of a deep network, from queries, layer labels included.

    1. the first layer's weights, from far circles                          (circle_search)
    2. its shifts and the span of the next weights, by a rank               (rank_shifts)
    3. coordinates above it                                                 (peeling, 1)
    4. directions of all neurons above and the layers they belong to        (rough_layers, gauge_labels)
       or, where noise drowns them and one layer is left, random ones
    5. a network of these layers, refined on its own, then with the first   (layered_refinement, layered_acceptance)

Where the second layer is as wide as the first there is no rank to tell, and a first layer wider than the input has no
inverse: stages 4 and 5 then take all layers at once in the original coordinates. What stage 5 cannot bring down to
noise and rounding is given up: a wrong label, a wrong order of layers of equal width or a wrong minimum leave far more.

Exact values are asked as few times as a start needs that stage 5 puts right. With s = min(outputs, widths above) a
network of P weights and shifts, D inputs and hidden widths m_1, m_2, … takes, where nothing has to be looked at again,

    stage 1   some 17 m_1, and (D + 5) m_1
    stage 2   (m_1 + 1) ⌈(m_2 + 4 m_1 / (m_1 - m_2)) / s⌉
    stage 4   (d² + 3d + 2) max(2, ⌈(m_2 + m_3 + …) / s⌉) + 1,   d = m_2; without peeling d = D, and m_1 counts
    stage 5   ⌈1.4 P / s⌉, of which 0.4 P / s and more are a check on all of it.

Noisy ones are asked ten times as often, on purpose: long steps, many points.

All this needs unit weight vectors. Where norms are free as well, two hidden layers of tanh or logistic are taken on the
faces of the first layer's cube instead (faces.two_layers).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, EntangledWeights, GiveUp, Network, Oracle, Run, Spec, activation
from paramid.limits.information import free_of
from paramid.methods.faces import two_layers
from paramid.methods.layers import circle_search, nearby_hessians, rank_shifts, rough_layers
from paramid.methods.layers.peeling import INVERSES, Peeled, inverse
from paramid.methods.refinement import last_fit, layered_acceptance, layered_refinement
from paramid.methods.spans.output_differences import Values
from paramid.words.options import at_least, positive

LOUDEST = 1e-4
SPREAD = 2.5  # of the points of the refinement where values are exact: parameters are told better there than at 1
EXACT_ROWS, NOISY_ROWS = 1.4, 2.0  # equations for each parameter in the refinement
STARTED = 1e-3  # of the values: a refinement of the upper layers that leaves more ended elsewhere
NOISY = 20.0  # and of the noise: what is wrong with the first layer is left as well
LOOKS = ((0.0, 16), (0.3, 16), (0.9, 16))  # base points' distance from the middle, and pairs of Hessians at least
LOOKS_OF_EXACT = ((0.0, 2), (0.0, 16), (0.0, 16), (0.3, 16), (0.9, 16))
RANDOM = 12  # starts where noise drowns second differences, and a single layer is above: each costs no query


@dataclass(frozen=True)
class Peel:
    """Deep networks: the first layer by far circles and a rank of gradients, the others by gauge labels; refined."""

    radius: float = 1e5  # radius of the circles around 0 on which first-layer neurons switch one by one
    circles: int = 12  # circles searched for the first layer, at most
    points: int = 40  # points of gradients that tell the first shifts where few do not; later starts take twice as many
    again: float = 0.6  # under noise: values of the last fit for each that was spent before
    target: float | None = None  # and the largest error of a parameter that further values are spent for
    rows: float | None = None  # equations for each parameter in the refinement; default: 1.4, under noise 2

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})
    finds_activation: ClassVar[bool] = True  # where norms are free: layers of tanh and of logistic are one family

    def __post_init__(self) -> None:
        at_least(self, radius=100, circles=1, points=1, rows=1, again=0)
        positive(self, "target")

    def declines(self, spec: Spec) -> str | None:
        """Deep, sigmoidal, with few enough neurons; two hidden layers where norms are free."""
        widths = layered_acceptance.widths(spec)
        if len(widths) < len(spec.widths):
            return "needs to know the number of neurons"
        if len(widths) < 2:
            return "needs two hidden layers and more"
        if spec.norms == "free":
            return two_layers.declines(spec)
        *hidden, last = spec.activations
        if len(set(hidden)) > 1 or hidden[0] == "identity" or not {hidden[0], last} <= {*INVERSES, "identity"}:
            return f"cannot invert layers of {', '.join(spec.activations)}"
        if (spec.norms, spec.outer, spec.output_bias) != ("unit", "free", "free"):
            return "needs unit weight vectors, free outer weights and a free output bias"
        if spec.noise > LOUDEST:
            return f"noise {spec.noise:g} drowns the differences of any step"
        d, above = (widths[1], widths[1:]) if peels(spec.inputs, widths) else (spec.inputs, widths)
        return rough_layers.crowded(d, above, spec.outputs) or layered_acceptance.too_large(spec)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 5, or those of free norms; under noise with the values of all of them."""
        stages = two_layers.identified if oracle.spec.norms == "free" else self.found
        yield from last_fit.ended(stages, oracle, run, again=self.again, target=self.target)

    def found(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 5."""
        spec, noise = oracle.spec, oracle.spec.resolution
        widths, out = layered_acceptance.widths(spec), activation(spec.activations[-1])

        def f(x: Tensor) -> Tensor:
            return inverse(out, oracle.query(x))

        w = circle_search.first_layer(
            f, spec.inputs, widths[0], run, noise=noise, radius=self.radius, circles=self.circles
        )
        if w.shape[1] != widths[0]:
            raise GiveUp(f"circles show {w.shape[1]} neurons of the first layer, {widths[0]} were told")
        yield EntangledWeights(w, torch.ones_like(w[0]))
        rows, spread = (NOISY_ROWS, 1.0) if noise else (EXACT_ROWS, SPREAD)
        x = spread * run.normal(layered_acceptance.count(spec, self.rows or rows), spec.inputs)
        y = oracle.query(x)
        if peels(spec.inputs, widths):
            g = activation(spec.activation)
            rank = self.shifts(f, w, widths, spec, run)
            if not rank.sure:
                raise GiveUp(f"gradients have no rank {widths[1]} at any shifts: {rank.tail:.1e} is left")
            peeled = Peeled(w, rank.shifts, rank.basis, g)
            start = peeled.below(self.above(lambda a: f(peeled.lifted(a)), peeled.image(x), y, spec, run, widths[1:]))
        else:
            start = self.above(f, x, y, spec, run, widths, first=w)
        yield start
        if not last_fit.follows(oracle, start, self.again):
            yield layered_acceptance.believed(
                layered_refinement.fit(start, x, y, noise=noise, free=free_of(spec)), x, spec
            )

    def shifts(self, f: Values, w: Tensor, widths: tuple[int, ...], spec: Spec, run: Run) -> rank_shifts.Shifted:
        """Stage 2, from few points first where values are exact."""
        g, noise = activation(spec.activation), spec.resolution
        if not noise:
            few = rank_shifts.shifts_by_few(f, w, widths[1], min(spec.outputs, *widths[1:]), g, run)
            if few.sure:
                return few
        return rank_shifts.shifts_by_rank(f, w, widths[1], g, run, noise=noise, points=self.points)

    def above(
        self,
        f: Values,
        a: Tensor,
        y: Tensor,
        spec: Spec,
        run: Run,
        widths: tuple[int, ...],
        first: Tensor | None = None,
    ) -> Network:
        """Stages 4 and 5 for the layers of `widths` and the outputs, as a function of `a`; `first` may be known."""
        noise, best, why = spec.resolution, None, ""
        for rough in self.starts(f, a, y, spec, run, widths, first):
            if isinstance(rough, GiveUp):
                why = str(rough)
                continue
            found = layered_refinement.fit(rough, a, y, noise=noise, free=free_of(spec))
            best = found if best is None or found.rms < best.rms else best
            if best.rms < max(STARTED * float(y.square().mean().sqrt()), NOISY * noise):
                return best.network
            why = f"no order of the layers above explains the values: {best.rms:.1e} is left"
        if best is not None and noise:  # what is wrong with the first layer may be more than is told here
            return best.network
        raise GiveUp(why)

    def starts(
        self, f: Values, a: Tensor, y: Tensor, spec: Spec, run: Run, widths: tuple[int, ...], first: Tensor | None
    ) -> Iterator[Network | GiveUp]:
        """Stage 4, a start after the other, and why there was none at a base point."""
        names, g = (*(spec.activation for _ in widths), spec.activations[-1]), activation(spec.activation)
        exact = not spec.resolution
        for away, pairs in LOOKS_OF_EXACT if exact else LOOKS:
            base = away * run.sphere(1, a.shape[1])[0]
            try:
                nearby = nearby_hessians.asked(f, base, widths, g, run, noise=spec.resolution, pairs=pairs, ahead=exact)
                seen = rough_layers.look(nearby, widths, g, run, first=first)
            except GiveUp as reason:
                yield reason
                continue
            yield from rough_layers.rough_networks(seen, widths, names, a, y, 0 if first is None else 1)
        if spec.resolution and first is None and len(widths) == 1:
            for _ in range(RANDOM):
                hidden = run.sphere(widths[0], a.shape[1]).T, run.normal(1, widths[0])[0]
                yield rough_layers.completed([hidden], names, a, y)


def peels(inputs: int, widths: tuple[int, ...]) -> bool:
    """Whether the first layer can be inverted, and a rank tells its shifts."""
    return inputs >= widths[0] > widths[1]
