"""`densenet-layerwise`: a quadratic DenseNet one layer after the other, nothing below being touched again.

    for l = 2, …, L:  M_l by least squares on what the layers below leave, K_l from M_l    (layer_regression).

Every layer is as right as it will ever be when the next one comes: the error of S_l stays at the size of
(α_{l+1} / α_l)², which is what backward correction removes. The baseline of the paper's Figures 6 and 13.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §1.1 and §4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

from torch import Tensor

from paramid import Access, Oracle, Run, Spec
from paramid.methods.hierarchy import densenet, layer_regression
from paramid.methods.hierarchy.densenet import with_layers
from paramid.methods.hierarchy.layer_regression import headed, refit, root
from paramid.words.densenet import DenseNet
from paramid.words.options import at_least
from paramid.words.spec import HierarchySpec

ROWS = 12  # for each unknown of the largest layer, unless N is given


@dataclass(frozen=True)
class DenseNetLayerwise:
    """A quadratic DenseNet strictly layer by layer, by least squares: no layer is ever corrected."""

    N: int | None = None  # samples; default: 12 an unknown of the largest layer, or what is granted

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        at_least(self, N=1)

    def declines(self, spec: Spec) -> str | None:
        """Quadratic DenseNets whose layers have no more unknowns than there are samples."""
        if not isinstance(spec, HierarchySpec):
            return densenet.declined(spec)
        size = max(sizes_of(spec))
        if min(self.N or size, spec.samples or size) < size:
            return f"{min(self.N or size, spec.samples or size)} samples do not fix a layer's {size} products"
        return densenet.declined(spec, {"normal matrices": (4 * size, size)})

    def identify(self, oracle: Oracle, run: Run) -> Iterator[DenseNet]:
        """A claim for every layer."""
        spec = cast("HierarchySpec", oracle.spec)
        net = densenet.student(spec, run, drawn=True)
        wanted = self.N or ROWS * max(sizes_of(spec))
        pairs = oracle.sample(min(wanted, spec.samples or wanted))
        forms: dict[int, Tensor] = {}
        for layer in range(2, net.depth + 1):
            forms |= refit(net, pairs, [layer], forms)
            k = root(forms[layer], net.blocks(layer)[-1], len(net.weights[layer - 2]))
            net = with_layers(net, {layer: k})
            yield headed(net, forms)


def sizes_of(spec: HierarchySpec) -> list[int]:
    """The unknowns of every layer."""
    return [layer_regression.unknowns([q]) for q in densenet.seen_by(spec, densenet.told(spec), spec.links)]
