"""Training as torch does it: weights and biases start uniform in ± 1/√fan-in, Adam on batches, rate 5e-3.

Everything is drawn from one generator, the start as well as the batches: no random state is anybody else's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from paramid.tasks.training.adam import Adam
from paramid.words.network import Network

BATCH, RATE = 32, 5e-3


def start(sizes: Sequence[int], activation: str, dtype: torch.dtype, source: torch.Generator) -> Network:
    """A network before its training; `sizes` are inputs, widths and outputs."""

    def uniform(fed: int, *shape: int) -> Tensor:
        return (2 * torch.rand(shape, generator=source, device="cpu", dtype=dtype) - 1) / math.sqrt(fed)

    layers = [(uniform(n, n, width), uniform(n, width)) for n, width in pairwise(sizes)]
    names = (activation,) * (len(layers) - 1) + ("identity",)
    return Network(tuple(w for w, _ in layers), tuple(b for _, b in layers), names)


def fit(network: Network, x: Tensor, y: Tensor, steps: int, source: torch.Generator) -> Network:
    """The network after so many steps on the mean square, or on the cross entropy where `y` are classes (rows,)."""
    x = x.to(network.weights[0].dtype)
    y = y if y.ndim == 1 else y.to(x.dtype)
    network = network.with_layers(
        [w.clone().requires_grad_() for w in network.weights], [b.clone().requires_grad_() for b in network.biases]
    )
    adam = Adam([*network.weights, *network.biases], RATE)
    for _ in range(steps):
        rows = torch.randint(len(x), (BATCH,), generator=source, device="cpu")
        z = network(x[rows])
        loss = cross_entropy(z, y[rows]) if y.ndim == 1 else (z - y[rows]).square().mean()
        adam.descend(loss)
    return network.with_layers([w.detach() for w in network.weights], [b.detach() for b in network.biases])
