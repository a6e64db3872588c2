"""Smooth neurons as training may leave them: flat wherever inputs are, nearly parallel, next to silent.

    (1)  flat: |g''(z)| < 1e-6 max|g''| at all inputs of the law, so that the neuron is constant or linear there,
    (2)  nearly parallel: |cos(w_i, w_j)| > 0.99, two directions that second derivatives hardly tell apart,
    (3)  faint: what goes out is less than 1e-3 of what goes out of the strongest of the layer.

None is invisible, as what `obstacles` names beside them is; each costs rows, digits or the answer. Layers of
homogeneous activations have rules of their own there.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from paramid.words import random_streams
from paramid.words.activations import activation
from paramid.words.network import Network

FLAT, PARALLEL, FAINT = 1e-6, 0.99, 1e-3
INPUTS, AT_ONCE = 10_000, 1000  # of the law; no more are looked at once every neuron has bent
SAME = 1e-8  # of directions that are one
WIDEST = 4096  # neurons of a layer whose pairs are all looked at


def flat(network: Network) -> list[Tensor]:
    """(1): the neurons of every hidden layer, by their numbers."""
    source = random_streams.generator(0, "worn neurons")
    names = network.activations[:-1]
    still = [
        torch.full((w,), activation(n).degree is None, device="cpu") for w, n in zip(network.widths, names, strict=True)
    ]
    least = [FLAT * bend(name) for name in names]
    for _ in range(INPUTS // AT_ONCE):
        if not any(bool(layer.any()) for layer in still):
            break
        x = random_streams.normal(AT_ONCE, network.inputs, source, torch.device("cpu"), torch.float64)
        for layer, z in enumerate(network.preactivations(x)[:-1]):
            still[layer] &= activation(names[layer])(z, 2).abs().amax(dim=0) < least[layer]
    return [layer.nonzero()[:, 0] for layer in still]


def bend(name: str) -> float:
    """The largest |g''| there is."""
    t = torch.linspace(-5, 5, 1001, dtype=torch.float64, device="cpu")
    return float(activation(name)(t, 2).abs().max())


def nearly_parallel(w: Tensor, alive: Tensor) -> Iterator[tuple[int, int]]:
    """(2) among the columns `alive` of `w`, but for those that are parallel."""
    if len(alive) > WIDEST:
        return
    units = w[:, alive] / w[:, alive].norm(dim=0)
    for i, j in ((units.T @ units).triu(1).abs() > PARALLEL).nonzero().tolist():
        if min(float((units[:, i] - s * units[:, j]).norm()) for s in (1, -1)) >= SAME:
            yield int(alive[i]), int(alive[j])


def faint(out: Tensor, alive: Tensor) -> list[int]:
    """(3) of what goes out of the neurons `alive`."""
    return alive[out[alive] < FAINT * out[alive].max()].tolist()
