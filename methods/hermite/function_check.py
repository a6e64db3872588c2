"""Whether a ReLU network is believed, or the function that it and an affine rest make, or neither.

A unit of the wrong sign differs from the right one by an affine function, max(0, z) = max(0, -z) + z. So beside the
network g its affine rest ⟨v, x⟩ + c is looked at, what T_0 and T_1 show and g lacks, and how much of f either misses:

    (1)  E(g - f)² over the variance of f, on samples held out and less the noise that labels are known to have,
    (2)  E(g - f)² = Σ_k ‖T_k(g) - T_k‖² / k!, over all orders that are there, where coefficients are exact,
    (3)  an error e in a w_i leaves e |a_i| Φ(b_i)^{1/2}, turning those of a set S Σ_S a_i (⟨w_i, x⟩ + b_i).

Where (1) or (2) is small the function is right; where it is smaller than anything in (3) its parameters are.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Proposition 3.6 and (5).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from paramid import Claim, Function, GiveUp, Network, Run
from paramid.methods.hermite import moment_estimates, sign_rules
from paramid.methods.hermite.moment_estimates import Moments, Pairs
from paramid.words import hermite
from paramid.words.neuron_distances import CLOSE

MISSED = 1e-2  # of the values' deviation
ROUNDED = 1e-6  # of exact coefficients
SURE = 3.0  # standard errors, or times what is missed
TINY = 1e-12


def settled(
    network: Network, rest: tuple[Tensor, Tensor], misses: Callable[[Tensor, Tensor], float], limit: float, run: Run
) -> Iterator[Claim]:
    """The network; where its parameters stay open the function; GiveUp where neither passes the check."""
    v, c = rest
    alone = misses(torch.zeros_like(v), torch.zeros_like(c))
    yield replace(network, stats={"missed": alone})
    if alone <= limit and told(network, alone, run):
        return
    corrected = misses(v, c)
    if not corrected <= limit:
        raise GiveUp(f"the network found misses {alone:.2%} of the function, {corrected:.2%} with an affine rest")
    yield Function(lambda x: network(x) + x @ v[:, None] + c, stats={"missed": corrected})


def told(network: Network, short: float, run: Run) -> bool:
    """(3): whether a network that misses `short` of the deviation could not do so with another weight or signs."""
    w, b, a = network.weights[0], network.biases[0], network.weights[1][:, 0]
    size = short * deviation(network)
    turns = sign_rules.decide(a * torch.cat([w, b[None]]), w.new_zeros(len(w) + 1), run).second
    return size <= CLOSE * float((a.abs() * torch.special.ndtr(b).sqrt()).min()) and turns > SURE * size + TINY


def deviation(network: Network) -> float:
    """Of the network's values, up to its curvature beyond order 4."""
    return mean_square(moment_estimates.of_network(network, range(1, 5)), network.inputs) ** 0.5


def mean_square(tensors: Mapping[int, Tensor], inputs: int) -> float:
    """Σ_k ‖T_k‖² / k!, what those orders add to E f²."""
    weighed = (hermite.multiplicities(inputs, k, t.device) @ t**2 / math.factorial(k) for k, t in tensors.items())
    return float(sum(weighed))


def affine_rest(moments: Moments, network: Network) -> tuple[Tensor, Tensor]:
    """The coefficients v, c of ⟨v, x⟩ + c that T_0 and T_1 show beside the network, (D,) and (1,)."""
    known = moment_estimates.of_network(network, [0, 1])
    return moments.tensors[1] - known[1], moments.tensors[0] - known[0]


def unexplained(moments: Moments, network: Network, v: Tensor, c: Tensor) -> float:
    """The root of (2) over that of the variance, with g = network + ⟨v, x⟩ + c."""
    known = moment_estimates.of_network(network, list(moments.tensors))
    known |= {0: known[0] + c, 1: known[1] + v}
    gap = mean_square({k: t - known[k] for k, t in moments.tensors.items()}, network.inputs)
    size = mean_square({k: t for k, t in moments.tensors.items() if k}, network.inputs)
    return math.sqrt(gap / size) if size else math.inf


def missed(held: Pairs, network: Network, v: Tensor, c: Tensor, noise: float) -> float:
    """The root of (1) with g = network + ⟨v, x⟩ + c, as large as label noise may hide it."""
    rows, total, squares, gaps = 0, 0.0, 0.0, 0.0
    for x, y in held:
        rows, total, squares = rows + len(x), total + float(y.sum()), squares + float(y.square().sum())
        gaps += float((y - network(x) - x @ v[:, None] - c).square().sum())
    doubt = SURE * noise**2 * math.sqrt(2 / rows)
    signal = squares / rows - (total / rows) ** 2 - noise**2 - doubt
    hidden = max(0.0, gaps / rows - noise**2) + doubt
    return math.sqrt(hidden / signal) if signal > 0 else math.inf
