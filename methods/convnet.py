"""`convnet`: a convolutional net of z + z²/10, or of ReLUs, with batch norm, trained on images phase by phase.

A phase has a number of layers, of which the lowest may be frozen; layers above those of the phase before are drawn
anew, layers beyond its own are dropped, and its head is new (`images.convolutional_layers`, `images.training`). So

    depths=4                              trains all layers together, from random weights,
    depths=1-2-3-4                        the same, each layer joining when those below are trained without it,
    depths=1-2-3-4, freeze=0-1-2-3        layer by layer, nothing below being touched again,
    depths=l-4,     freeze=0-f            trains the lowest l, then all but the lowest f: "fix ≤ l - j", f = l - j,
    depths=4-l-4,   freeze=0-l-l          asks what the l lowest layers are worth after training all: with a head on
                                          them alone, then with new layers on top of them,
    heads=all, backward=false             trains all layers at once on the sum of their heads, no gradient passing
                                          through the weights above (footnote 5).

After each phase the classes' probabilities are claimed. A tenth of the images is kept aside; a net that puts no more of
these into their class than naming the commonest one might is given up. `stats` say of each layer how far its weights
are from those it had before the phase (`kept`) and when it was drawn (`drawn`): mean cosines over neurons.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §3.1, A.3, A.4 and A.5.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from scipy.stats import binom
from torch import Tensor

from paramid import Access, Function, GiveUp, ImageSpec, Oracle, Run, Spec
from paramid.methods.images import convolutional_layers
from paramid.methods.images.convolutional_layers import (
    ACTIVATIONS,
    F32,
    Layer,
    Net,
    correlation,
    layer_start,
    with_heads,
)
from paramid.methods.images.training import Recipe, trained
from paramid.words import memory_limits
from paramid.words.options import among, at_least, positive

ASIDE, LUCK = 10, 0.01  # one image of so many is kept aside; how likely guessing may be to do as well
HEADS = ("last", "all")


@dataclass(frozen=True)
class ConvNet:
    """A convolutional net on images: all layers together, layer by layer, or with lower ones frozen."""

    depths: tuple[int, ...] = (4,)  # layers of the net, phase by phase
    freeze: tuple[int, ...] | None = None  # how many of the lowest layers stay as they are, by phase; default: none
    heads: str = "last"  # last: the top layer has a linear head; all: every layer has one, and f is their sum
    backward: bool = True  # whether gradients pass through layers above; without it heads=all is needed
    activation: str = "quadratic"  # quadratic: z + z²/10; relu: max(0, z), all else being the same
    channels: int = 16  # of every layer
    epochs: int = 30  # of a phase
    lr: float = 0.1  # rate, a tenth of it after 2/3 and again after 5/6 of the epochs
    decay: float = 0.0005  # of weights
    batch: int = 125  # images of a step

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, heads=HEADS, activation=tuple(ACTIVATIONS))
        positive(self, "channels", "epochs", "lr", "batch")
        at_least(self, decay=0)
        if not self.depths or min(self.depths) < 1:
            raise ValueError(f"depths is {self.depths}; one phase and more, of 1 layer and more, were wanted")
        most = [0, *map(min, self.depths, self.depths[1:])]
        if len(self.frozen) != len(self.depths) or not all(0 <= f <= m for f, m in zip(self.frozen, most, strict=True)):
            raise ValueError(f"freeze is {self.freeze}; of each phase, at most {most} trained layers were wanted")
        if not self.backward and self.heads != "all":
            raise ValueError("backward is False; heads=all was wanted: lower layers would be trained by nothing")

    @property
    def frozen(self) -> tuple[int, ...]:
        """How many layers stay as they are, by phase."""
        return (0,) * len(self.depths) if self.freeze is None else self.freeze

    def declines(self, spec: Spec) -> str | None:
        """Images and their labels, one to learn from and one to check by, whose features can be held."""
        if not isinstance(spec, ImageSpec):
            return "needs images and their labels"
        if spec.samples is None or spec.samples < 2:
            return f"{spec.samples} images are too few to learn from and to check by"
        held = {
            "features": (4 * max(self.depths), self.channels, max(self.batch, convolutional_layers.ROWS), spec.inputs)
        }
        return memory_limits.refusal(held, memory_limits.room())

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Function]:
        """A claim after every phase."""
        spec = cast("ImageSpec", oracle.spec)
        x, y = oracle.sample(cast("int", spec.samples)).tensors()
        aside = max(1, len(x) // ASIDE)
        pixels = Pixels(spec.side, float(x[aside:].mean()), float(x[aside:].std(correction=0)) or 1.0)
        images, classes = pixels(x), y.argmax(dim=1)
        right = torch.zeros_like(classes)
        for net, told in self.phases(images[aside:], classes[aside:], spec.outputs, run):
            right = (convolutional_layers.probabilities(net, images).argmax(dim=1) == classes).double()
            shares = {"accuracy_aside": float(right[:aside].mean()), "accuracy_trained": float(right[aside:].mean())}
            yield Function(function(net, pixels), stats=shares | told)
        common = float(classes[aside:].bincount().max()) / (len(x) - aside)
        if binom.sf(float(right[:aside].sum()) - 1, aside, common) > LUCK:
            raise GiveUp(f"{right[:aside].sum():g} of {aside} images kept aside are right: guessing might do as well")

    def phases(self, images: Tensor, classes: Tensor, count: int, run: Run) -> Iterator[tuple[Net, dict[str, float]]]:
        """The net after every phase, and how far its layers are from what they were."""
        recipe = Recipe(self.epochs, self.batch, self.lr, self.decay, self.backward)
        layers: tuple[Layer, ...] = ()
        drawn: tuple[Layer, ...] = ()
        for depth, frozen in zip(self.depths, self.frozen, strict=True):
            places = range(len(layers), depth)
            below = [self.channels if place else 1 for place in places]
            new = tuple(layer_start(self.channels, width, run, self.activation) for width in below)
            before, drawn = layers[:depth] + new, drawn[:depth] + new
            net = with_heads(before, count, everywhere=self.heads == "all")
            net = trained(net, frozen, images, classes, recipe, run)
            layers = net.layers
            yield net, {"layers": float(depth), **kept("kept", before, layers), **kept("drawn", drawn, layers)}


@dataclass(frozen=True)
class Pixels:
    """Images as a net takes them, (rows, 1, side, side): of mean 0 and deviation 1 over those that it is trained on."""

    side: int
    mean: float
    deviation: float

    def __call__(self, x: Tensor) -> Tensor:
        """Images of rows of pixels."""
        return ((x - self.mean) / self.deviation).to(F32).view(-1, 1, self.side, self.side)


def function(net: Net, pixels: Pixels) -> Callable[[Tensor], Tensor]:
    """What is claimed of a net: the probability of every class."""
    return lambda x: convolutional_layers.probabilities(net, pixels(x)).to(x)


def kept(name: str, before: Sequence[Layer], after: Sequence[Layer]) -> dict[str, float]:
    """The correlation of the weights of every layer with what they were."""
    pairs = enumerate(zip(before, after, strict=True), 1)
    return {f"{name}_{place}": correlation(a.weight, b.weight) for place, (a, b) in pairs}
