"""`densenet-lm`: every weight of a quadratic DenseNet, layer by layer and backwards again, to rounding.

    1. For l = 2, …, L: from several starts of K_l, K_l alone and then K_2, …, K_l together    (densenet_fit)
    2. the coordinates of S_2, …, S_{L-1} that the layers above single out                     (joint_diagonalisation)
    3. all layers together in those coordinates, R = I.

Of the starts of a layer the one of least loss is kept. What stage l leaves wrong in the features below is of
the size of (α_{l+1} / α_l)² and is corrected when layer l + 1 joins: backward feature correction.
A net is believed when it explains a tenth of the samples that no stage has seen (densenet_check).

With `freeze=l-f` some of that is withheld, as in the paper's Figures 9 and 14: "fix ≤ f, train the rest" after layers
up to l were trained. Heads are tied to features here, so that the heads of layers that stay do so too.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413; the method is ours.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

from paramid import Access, GiveUp, Oracle, Run, Samples, Spec
from paramid.methods.hierarchy import densenet, joint_diagonalisation
from paramid.methods.hierarchy.densenet import layer_start, variance, with_layers
from paramid.methods.hierarchy.densenet_check import ROUNDING, checked
from paramid.methods.hierarchy.densenet_fit import fit
from paramid.methods.hierarchy.layer_regression import eigen_root, refit, unknowns
from paramid.words.densenet import DenseNet, Links
from paramid.words.options import among, at_least
from paramid.words.spec import HierarchySpec

OFF = 1e-2  # off the diagonals: then no next layer squares these features
ROWS = 20  # for each weight, unless N is given


@dataclass(frozen=True)
class DenseNetLM:
    """Levenberg-Marquardt in stages with restarts, then features up to order and sign: every weight of a DenseNet."""

    N: int | None = None  # samples, a tenth of them held out; default: 20 a weight, or what is granted
    starts: int = 4  # random starts of every layer, at most; the one of least loss is kept
    alone: int = 40  # steps of a new layer by itself, and of the last polish of all, at most
    steps: int = 150  # steps of all layers so far together, at most, for every start
    ks: tuple[int, ...] | None = None  # widths k_2-…-k_L of the student; default: the teacher's
    skips: str = "told"  # what a layer sees; told: the teacher's links; all: all layers below; none: only the one below
    start: str = "random"  # of layer 2; random; regression: the leading eigenvectors of its head by least squares
    freeze: tuple[int, ...] = ()  # l-f: layers up to l are trained, then those up to f stay, others start anew

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        at_least(self, N=2, starts=1, alone=1, steps=1)
        among(self, skips=("told", "all", "none"), start=("random", "regression"))
        if self.freeze and not (len(self.freeze) == 2 and self.freeze[0] >= self.freeze[1] >= 2):
            raise ValueError(f"freeze is {'-'.join(map(str, self.freeze))}; l-f with l >= f >= 2 was wanted")

    def declines(self, spec: Spec) -> str | None:
        """Quadratic DenseNets of as many layers as the widths given, whose normal matrix can be held."""
        if not isinstance(spec, HierarchySpec):
            return densenet.declined(spec)
        if self.ks is not None and (len(self.ks) != len(spec.widths) or min(self.ks) < 1):
            return f"{len(self.ks)} widths were given for {len(spec.widths)} layers"
        if self.freeze and self.freeze[0] > len(spec.widths):
            return f"layers up to {self.freeze[0]} of {len(spec.widths) + 1} leave none to train above them"
        size = densenet.parameters(spec, self.ks, self.links(spec))
        if self.start == "regression":
            size = max(size, unknowns([densenet.seen_by(spec, self.ks or densenet.told(spec), self.links(spec))[0]]))
        return densenet.declined(spec, {"normal matrices": (3 * size, size)})

    def links(self, spec: HierarchySpec) -> Links:
        """J_2, …, J_L of the student."""
        if self.skips == "told":
            return spec.links
        return tuple((n,) if self.skips == "none" else tuple(range(n + 1)) for n in range(1, len(spec.widths) + 1))

    def identify(self, oracle: Oracle, run: Run) -> Iterator[DenseNet]:
        """Stages 1 to 3: a claim for every layer added, and the plain net."""
        spec = cast("HierarchySpec", oracle.spec)
        net = densenet.student(spec, run, widths=self.ks, links=self.links(spec), drawn=False)
        size = densenet.flat(net, range(2, net.depth + 1)).numel()
        count = min(self.N or ROWS * size, spec.samples or ROWS * max(size, self.N or 0))
        held = max(1, count // 10)
        pairs, fresh = oracle.sample(count - held), oracle.sample(held)
        if self.start == "regression":
            net = regressed(net, pairs)
        for layer, lowest in self.schedule(net.depth):
            if layer == lowest > 2:
                net = anew(net, lowest, run)
            net, loss = self.stage(net, layer, lowest, pairs, spec, run)
            yield stated(net.upto(layer), loss)
        checked(net, pairs, fresh, spec, size)
        found, off = joint_diagonalisation.plain(net)
        if off > OFF:
            raise GiveUp(f"{off:.1e} of the features' forms stays off every diagonal: no next layer squares these")
        polished, loss = fit(found, pairs, range(2, net.depth + 1), steps=self.alone, enough=0.0)
        checked(polished, pairs, fresh, spec, size)
        yield stated(polished, loss, off_diagonal=off)

    def schedule(self, depth: int) -> list[tuple[int, int]]:
        """The layers in the order in which they join, each with the lowest that is trained then."""
        if not self.freeze:
            return [(layer, 2) for layer in range(2, depth + 1)]
        first, stay = self.freeze
        again = [(layer, stay + 1) for layer in range(stay + 1, depth + 1)]
        return [(layer, 2) for layer in range(2, first + 1)] + again

    def stage(
        self, net: DenseNet, layer: int, lowest: int, pairs: Samples, spec: HierarchySpec, run: Run
    ) -> tuple[DenseNet, float]:
        """Stage 1 for one layer: the net whose layers from `lowest` up to it are trained, and its loss."""
        size = densenet.flat(net, range(2, net.depth + 1)).numel()
        enough = ROUNDING * variance(pairs) + spec.noise**2 * (1 - min(1.0, size / len(pairs)))
        best, least = net, math.inf
        for start in range(self.starts):
            k = net.weights[layer - 2]
            fresh = net if start == 0 else with_layers(net, {layer: layer_start(k.shape[0], k.shape[1], run)})
            part = fresh.upto(layer)
            if layer > 2:
                part, _ = fit(part, pairs, [layer], steps=self.alone, enough=0.0)
            part, loss = fit(part, pairs, range(lowest, layer + 1), steps=self.steps, enough=0.0)
            if loss < least:
                best, least = with_layers(net, dict(enumerate(part.weights, 2))), loss
            if layer == net.depth and loss <= enough:
                break
        return best, least


def regressed(net: DenseNet, pairs: Samples) -> DenseNet:
    """The net with K_2 out of its head, that by least squares alone."""
    head = refit(net, pairs, [2])[2]
    return with_layers(net, {2: eigen_root(head, len(net.weights[0]))})


def anew(net: DenseNet, lowest: int, run: Run) -> DenseNet:
    """The net with random K_l from layer `lowest` on."""
    return with_layers(
        net, {n: layer_start(k.shape[0], k.shape[1], run) for n, k in enumerate(net.weights, 2) if n >= lowest}
    )


def stated(net: DenseNet, loss: float, **stats: float) -> DenseNet:
    """The net with the method's own words."""
    return DenseNet(net.weights, net.mixes, net.links, net.alphas, stats={"loss": loss, **stats})
