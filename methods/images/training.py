"""A phase of training: stochastic gradients with momentum on the cross entropy, the lowest layers staying as they are.

    (1)  v ← 0.9 v + ∇ + decay · θ,   θ ← θ - lr v,   lr falling to a tenth at 2/3 and at 5/6 of the epochs.

References: Allen-Zhu & Li, arXiv:2001.04413, A.4: 120 epochs, batches of 125, lr 0.1 and a tenth of it at 80 and 100.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from paramid import GiveUp, Run
from paramid.methods.images.convolutional_layers import Net, settle, values
from paramid.methods.refinement.stochastic import Momentum

FALLS = ((2, 3), (5, 6))  # shares of the epochs after which the rate is a tenth of what it was


@dataclass(frozen=True)
class Recipe:
    """How a phase is trained."""

    epochs: int
    batch: int
    lr: float
    decay: float
    backward: bool  # whether gradients pass through the layers above


def rate(recipe: Recipe, epoch: int) -> float:
    """The rate of (1) in an epoch."""
    return recipe.lr * 0.1 ** sum(epoch * whole >= part * recipe.epochs for part, whole in FALLS)


def trained(net: Net, frozen: int, images: Tensor, classes: Tensor, recipe: Recipe, run: Run) -> Net:
    """The net after a phase in which the lowest `frozen` layers stay, their batch norm with them."""
    net = opened(net, frozen)
    free = [value for layer in net.layers[frozen:] for value in layer.trained]
    free += [*(head for head in net.heads if head is not None), net.bias]
    direction = Momentum(free)
    for epoch in range(recipe.epochs):
        order = torch.randperm(len(images), generator=run.generator, device="cpu").to(images.device)
        for rows in order.split(recipe.batch):
            f = values(net, images[rows], settled=frozen, backward=recipe.backward)
            gradients = torch.autograd.grad(cross_entropy(f, classes[rows]), free)
            with torch.no_grad():
                moves = direction([g + recipe.decay * value for g, value in zip(gradients, free, strict=True)])
                for value, move in zip(free, moves, strict=True):
                    value.sub_(rate(recipe, epoch) * move)
        if not all(bool(value.isfinite().all()) for value in free):
            raise GiveUp(f"diverged in epoch {epoch + 1} of {len(net.layers)} layers")
    return settle(closed(net), images, frozen)


def opened(net: Net, frozen: int) -> Net:
    """A copy to be trained, whose lowest layers are not."""

    def own(value: Tensor) -> Tensor:
        return value.clone().requires_grad_()

    layers = [layer if place < frozen else layer.of(own) for place, layer in enumerate(net.layers)]
    heads = [head if head is None else own(head) for head in net.heads]
    return Net(tuple(layers), tuple(heads), own(net.bias))


def closed(net: Net) -> Net:
    """The net without a graph."""
    heads = [head if head is None else head.detach() for head in net.heads]
    return Net(tuple(layer.of(Tensor.detach) for layer in net.layers), tuple(heads), net.bias.detach())
