"""The judge for anybody's two networks, whatever they are held in."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from paramid.judging.aligned_networks import score_network
from paramid.judging.metrics import Metrics
from paramid.judging.output_errors import score_outputs
from paramid.words import random_streams
from paramid.words.network import Network


def judge(truth: object, estimate: object, *, activation: str = "tanh") -> Metrics:
    """Score any two networks modulo symmetry.

    Each may be a `Network`, a pair `(weights, biases)` of lists of numpy or torch arrays with weights `(in, out)`, or
    for one hidden layer `(W, b)` with outer weights 1, or `(W, b, a)`. `activation` is that of the hidden layers.

    Examples
    --------
    >>> import numpy as np, paramid
    >>> W, b = np.eye(3), np.zeros(3)
    >>> paramid.judge((W, b), (W[:, ::-1], b))["weight_error"]
    0.0
    """
    a, b = _network(truth, activation, "truth"), _network(estimate, activation, "estimate")
    metrics = score_network(a, b)
    x = random_streams.normal(
        10_000, a.inputs, random_streams.generator(0, "judge"), torch.device("cpu"), torch.float64
    )
    return {**metrics, **score_outputs(a, b, x.split(1000))}


def _network(given: object, name: str, role: str) -> Network:
    """A finite float64 CPU network from what people hold in their hands."""
    if isinstance(given, Network):
        network = given.to("cpu", torch.float64)
    else:
        if not isinstance(given, tuple | list) or not 2 <= len(given) <= 3:
            raise ValueError(
                f"{role} is a {type(given).__name__}; a Network, (weights, biases) or (W, b, a) was wanted"
            )
        if _layers(given[0]):
            if len(given) != 2:
                raise ValueError(f"{role} has {len(given)} parts; with a list of layers, (weights, biases) was wanted")
            weights, biases = ([_tensor(v, role) for v in layers] for layers in given[:2])
            network = Network(tuple(weights), tuple(biases), (name,) * (len(weights) - 1) + ("identity",))
        else:
            network = Network.shallow(
                _tensor(given[0], role), _tensor(given[1], role), name, *(_tensor(a, role) for a in given[2:])
            )
    for key, value in network.arrays().items():
        if not value.numel():
            raise ValueError(f"{role}: {key} has shape {tuple(value.shape)}; at least 1 of everything was wanted")
        if not bool(torch.isfinite(value).all()):
            raise ValueError(f"{role}: {key} holds non-finite values")
    return network


def _tensor(value: object, role: str) -> Tensor:
    if isinstance(value, Tensor) and not value.is_complex():
        return value.detach().to(device="cpu", dtype=torch.float64)
    try:
        numbers = np.asarray(value)
        if value is not None and numbers.dtype.kind in "biuf":
            return torch.from_numpy(numbers.astype(np.float64))
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{role} holds a {type(value).__name__}; arrays of real numbers were wanted")


def _layers(first: object) -> bool:
    """Whether these are the weights of several layers, and not one matrix written as lists."""
    return isinstance(first, tuple | list) and (not first or np.ndim(first[0]) == 2)
