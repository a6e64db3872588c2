"""ReLU networks as training leaves them: Adam on a regression whose answer is no ReLU network.

    (1)  y_o = sin(2 ⟨g_1, x⟩) + ⟨g_2, x⟩⟨g_3, x⟩ + |⟨g_3, x⟩ + o| / 2,   x ~ N(0, I_D),   g_i ~ N(0, I / D),

1000 points, batches of 64, rate 3e-3. Training makes what a drawn network seldom has: neurons that never switch, or
nearly never, and neurons that send on nearly nothing.
"""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from torch import Tensor

from paramid.tasks.training.adam import Adam
from paramid.words import random_streams
from paramid.words.network import Network

CPU, F64 = torch.device("cpu"), torch.float64
POINTS, BATCH, RATE = 1000, 64, 3e-3
N = TypeVar("N", bound=Network)


def trained(start: N, steps: int, source: torch.Generator) -> N:
    """The network after so many steps of Adam on the mean square of (1)."""
    x = random_streams.normal(POINTS, start.inputs, source, CPU, F64)
    y = target(x, start.outputs, source)
    network = start.with_layers(
        [w.clone().requires_grad_() for w in start.weights], [b.clone().requires_grad_() for b in start.biases]
    )
    adam = Adam([*network.weights, *network.biases], RATE)
    for _ in range(steps):
        rows = torch.randint(POINTS, (BATCH,), generator=source, device="cpu")
        loss = (network(x[rows]) - y[rows]).square().mean()
        adam.descend(loss)
    return network.with_layers([w.detach() for w in network.weights], [b.detach() for b in network.biases])


def target(x: Tensor, outputs: int, source: torch.Generator) -> Tensor:
    """(1), (rows, outputs)."""
    g = random_streams.normal(3, x.shape[1], source, CPU, F64) / math.sqrt(x.shape[1])
    a, b, c = (x @ g.T).T
    return torch.stack([(2 * a).sin() + b * c + 0.5 * (c + o).abs() for o in range(outputs)], dim=1)
