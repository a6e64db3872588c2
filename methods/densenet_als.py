"""`densenet-als`: a quadratic DenseNet by turns of two linear problems, refit and distil.

    1. refit    all heads M_2, …, M_l at once over the features S_2, …, S_{l-1}, by least squares    (layer_regression)
    2. distil   K_2, …, K_l from their heads, each turned to the one before,

with one more layer after each of the first passes, until all are in. Refitting alone, the paper's comparator of kernels
in sequence, leaves the features as they were and stops at an error of the order α⁴ (α the gap). Distilling from the
refitted heads divides the error of the features by about α² a pass: backward correction without a gradient.
A net is believed when it explains samples that it has not seen (densenet_check): without a gap it does not.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §6.1; the method is ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, cast

import torch
from torch import Tensor

from paramid import Access, Oracle, Run, Samples, Spec
from paramid.methods.densenet_layerwise import ROWS, sizes_of
from paramid.methods.hierarchy import densenet
from paramid.methods.hierarchy.densenet import rows, with_layers
from paramid.methods.hierarchy.densenet_check import checked
from paramid.methods.hierarchy.layer_regression import Forms, aligned, crossed, headed, owned, refit, root
from paramid.methods.spans import symmetric
from paramid.words.densenet import DenseNet
from paramid.words.options import at_least
from paramid.words.spec import HierarchySpec

ROWS_OF_GAUGE = 2000  # that tell how the two blocks of a layer share their scale


@dataclass(frozen=True)
class DenseNetALS:
    """Heads by least squares and features out of the heads, in turn: each pass divides the error by the gap squared."""

    N: int | None = None  # samples, a tenth of them held out; default: 12 an unknown of all layers, or what is granted
    passes: int = 6  # turns of distilling and refitting once all layers are in

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        at_least(self, N=2, passes=1)

    def declines(self, spec: Spec) -> str | None:
        """Quadratic DenseNets with fewer unknowns than there are samples to fit."""
        if not isinstance(spec, HierarchySpec):
            return densenet.declined(spec)
        size = sum(sizes_of(spec))
        count = min(self.N or ROWS * size, spec.samples or ROWS * size)
        if count - count // 10 - 1 < size:
            return f"{count} samples do not fix {size} products"
        return densenet.declined(spec, {"normal matrices": (4 * size, size)})

    def identify(self, oracle: Oracle, run: Run) -> Iterator[DenseNet]:
        """A claim for every refit."""
        spec = cast("HierarchySpec", oracle.spec)
        net, size = densenet.student(spec, run, drawn=True), sum(sizes_of(spec))
        wanted = self.N or ROWS * size
        count = min(wanted, spec.samples or wanted)
        pairs, fresh = oracle.sample(count - count // 10 - 1), oracle.sample(count // 10 + 1)
        forms: Forms = {}
        for turn in range(2, net.depth + self.passes + 1):
            net = distilled(net, forms, pairs)
            layers = range(2, min(turn, net.depth) + 1)
            known = {layer: (k := net.weights[layer - 2]).T @ k * (layer in forms) for layer in layers}
            forms = refit(net, pairs, layers, known=known)
            top = max(forms)
            yield headed(with_layers(net, {top: rooted(net, forms, top, pairs)}), forms)
        checked(headed(net, forms), pairs, fresh, spec, size)


def distilled(net: DenseNet, forms: Forms, pairs: Samples) -> DenseNet:
    """Step 2; the uppermost of these layers has no features yet that anything above was built on."""
    found = {layer: rooted(net, forms, layer, pairs) for layer in forms}
    below = {layer: aligned(k, net.weights[layer - 2]) for layer, k in found.items() if layer < max(forms)}
    return with_layers(net, {**found, **below})


def rooted(net: DenseNet, forms: Forms, layer: int, pairs: Samples) -> Tensor:
    """K_l out of its head."""
    last, width = net.blocks(layer)[-1], len(net.weights[layer - 2])
    first = len(forms[layer]) - last
    mask = symmetric.unpack(owned(net, layer, range(2, layer)).to(forms[layer]), len(forms[layer])) > 0
    if bool(mask[:first, :first].all()):
        return root(forms[layer], last, width)
    x = torch.cat([x for x, _ in islice(rows(pairs, len(forms[layer])), 1)])[:ROWS_OF_GAUGE]
    k = crossed(forms[layer], net.layers(x)[0][layer - 2][:, first:], width)
    return torch.cat([k, k.new_zeros(width - len(k), k.shape[1])])
