"""Convolutional layers below linear heads.

    (1)  h_0 = the image, its pixels of mean 0 and deviation 1,   h_l = BN_l(σ(z_l)),   z_l = W_l ∗ h_{l-1},
    (2)  f = b + Σ_l A_l mean(h_l),   the mean over all places, over the layers that have a head,

∗ a convolution of 3 × 3 with zeros around the image, σ(z) = z + z²/10 or max(0, z), and the batch norm behind it. In
training BN_l takes
mean and variance from the batch; `settled` are those of all training images, which a net keeps. With `backward=False`
layer l is trained by its own head alone: h_{l-1} enters (1) as a constant.

In float32: what counts is how many images are put into a wrong class, and no digit of a weight.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, A.3 (z + z²/10, batch norm behind it, a linear
head on every layer) and A.4 (one head, average pooling and a linear layer).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import batch_norm, conv2d

from paramid import Run

F32, WINDOW, SQUARES = torch.float32, 3, 0.1
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {"quadratic": lambda z: z + SQUARES * z * z, "relu": torch.relu}
ROWS = 250  # images at a time where no gradient is wanted


@dataclass(frozen=True)
class Layer:
    """W_l (channels, channels below, 3, 3), what BN_l multiplies by and adds, the moments it takes off, and σ."""

    weight: Tensor
    scale: Tensor
    shift: Tensor
    mean: Tensor
    variance: Tensor
    activation: str = "quadratic"

    @property
    def trained(self) -> tuple[Tensor, ...]:
        """What training changes."""
        return self.weight, self.scale, self.shift

    def of(self, each: Callable[[Tensor], Tensor]) -> "Layer":
        """The layer with `each` of what training changes."""
        return replace(self, weight=each(self.weight), scale=each(self.scale), shift=each(self.shift))


@dataclass(frozen=True)
class Net:
    """Layers, a head A_l (classes, channels) for each or None, and b (classes,)."""

    layers: tuple[Layer, ...]
    heads: tuple[Tensor | None, ...]
    bias: Tensor


def layer_start(channels: int, below: int, run: Run, activation: str = "quadratic") -> Layer:
    """A layer at random: weights normal with variance 1 / fan-in."""
    fan = WINDOW * WINDOW * below
    weight = (run.normal(channels, fan) / math.sqrt(fan)).to(F32).view(channels, below, WINDOW, WINDOW)
    one = torch.ones(channels, dtype=F32, device=run.device)
    return Layer(weight, one, 0 * one, 0 * one, one, activation)


def with_heads(layers: Sequence[Layer], classes: int, *, everywhere: bool) -> Net:
    """A net over these layers with heads of zeros: on the last layer, or on every one."""
    last = len(layers) - 1
    heads = [
        layer.scale.new_zeros(classes, len(layer.scale)) if everywhere or place == last else None
        for place, layer in enumerate(layers)
    ]
    return Net(tuple(layers), tuple(heads), layers[0].scale.new_zeros(classes))


def activated(layer: Layer, h: Tensor) -> Tensor:
    """The σ(z_l) of (1)."""
    return ACTIVATIONS[layer.activation](conv2d(h, layer.weight, padding=WINDOW // 2))


def features(layer: Layer, h: Tensor, *, settled: bool) -> Tensor:
    """h_l of (1)."""
    a = activated(layer, h)
    if settled:
        return batch_norm(a, layer.mean, layer.variance, layer.scale, layer.shift)
    return batch_norm(a, None, None, layer.scale, layer.shift, training=True)


def values(net: Net, images: Tensor, *, settled: int, backward: bool = True) -> Tensor:
    """(2), (rows, classes); the lowest `settled` layers take off what they keep."""
    total, h = net.bias, images
    for place, (layer, head) in enumerate(zip(net.layers, net.heads, strict=True)):
        h = features(layer, h if backward else h.detach(), settled=place < settled)
        if head is not None:
            total = total + h.mean(dim=(2, 3)) @ head.T
    return total


def probabilities(net: Net, images: Tensor) -> Tensor:
    """Of every class, (rows, classes), in chunks."""
    with torch.no_grad():
        parts = [values(net, rows, settled=len(net.layers)).softmax(dim=1) for rows in images.split(ROWS)]
    return torch.cat(parts)


def settle(net: Net, images: Tensor, start: int) -> Net:
    """The net whose layers from `start` on keep mean and variance over all images."""
    layers = list(net.layers)
    with torch.no_grad():
        for place in range(start, len(layers)):
            moments = [moments_of(layers, place, rows) for rows in images.split(ROWS)]
            count, total, squares = (sum(column) for column in zip(*moments, strict=True))
            mean = total / count
            variance = (squares / count - mean * mean).clamp(min=0)
            layers[place] = replace(layers[place], mean=mean.to(F32), variance=variance.to(F32))
    return replace(net, layers=tuple(layers))


def moments_of(layers: Sequence[Layer], place: int, images: Tensor) -> tuple[int, Tensor, Tensor]:
    """How many activations of a layer there are, their sums and those of their squares by channel, in float64."""
    h = images
    for layer in layers[:place]:
        h = features(layer, h, settled=True)
    a = activated(layers[place], h).double().transpose(0, 1).flatten(1)
    return a.shape[1], a.sum(dim=1), a.square().sum(dim=1)


def correlation(a: Tensor, b: Tensor) -> float:
    """The mean over neurons of ⟨w / ‖w‖, w' / ‖w'‖⟩, w and w' being their weights in two nets."""
    return float(torch.cosine_similarity(a.flatten(1).double(), b.flatten(1).double(), dim=1).mean())
