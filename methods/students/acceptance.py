"""Whether a trained network is the teacher: it must explain samples held back, and its samples must pin it down.

With s the root mean square left of h values held back, σ the noise, n values that were fitted by P parameters,

    (1)  s² ≤ σ² (1 + 5 √(2/h)) (1 + 3 P/n) + (1e-9 size)²,
    (2)  three Cramér-Rao bounds, with σ or what is left of the samples for noise, stay below 0.01,
    (3)  min(#{z > 0}, #{z < 0}) ≥ fan-in + 2 for every unit with a kink: otherwise it is an affine function.

Whoever fits as many samples as he has parameters explains none that he has not seen.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import GiveUp, Network, Oracle, Spec, activation
from paramid.limits.information import free_of
from paramid.methods.refinement import layered_refinement
from paramid.methods.refinement.layered_acceptance import SURE
from paramid.methods.students.stacked import rows
from paramid.words.network import flip, normalise
from paramid.words.neuron_distances import CLOSE

HELD_OUT, MOST_HELD = 10, 2000  # every tenth sample, and no more
CHANCE = 5.0  # deviations of a mean square
FITTED = 3.0  # times P/n
EXPLAINED = 1e-9  # of the values' size


@dataclass(frozen=True, eq=False)
class Pairs:
    """Samples to fit and samples held back."""

    x: Tensor
    y: Tensor
    held_x: Tensor
    held_y: Tensor


def drawn(oracle: Oracle, wanted: int) -> Pairs:
    """So many samples, or what is granted, a tenth held back."""
    x, y = oracle.sample(min(wanted, oracle.spec.samples or wanted)).tensors()
    apart = min(-(-len(x) // HELD_OUT), MOST_HELD) if len(x) > 1 else 0
    return Pairs(x[apart:], y[apart:], x[:apart], y[:apart])


def finished(network: Network, pairs: Pairs, spec: Spec, *, steps: int = 60) -> Network:
    """The network fitted to the end with what is told of it pinned, believed by (1) and (2) or given up."""
    fit = layered_refinement.fit(
        told(network, spec), pairs.x, pairs.y, noise=spec.resolution, steps=steps, free=free_of(spec)
    )
    left = unexplained(fit.network, pairs, spec)
    if left:
        raise GiveUp(left)
    if rare := bends_rarely(fit.network, pairs.x):
        raise GiveUp(rare)
    if not fit.believed:
        raise GiveUp(f"the residual stays at {fit.rms:.1e}, noise and rounding explain {fit.floor:.1e}")
    error = layered_refinement.error_bound(fit, pairs.x, free_of(spec))
    if not SURE * error < CLOSE:
        raise GiveUp(f"samples leave parameters uncertain by {SURE * error:.1e}")
    return replace(fit.network, stats={"residual": fit.rms, "error_bound": error})


def told(network: Network, spec: Spec) -> Network:
    """The network with unit weight vectors, outer weights 1 and no output bias where these are told."""
    network = normalise(network)
    if spec.outer == "ones" and activation(spec.activation).symmetry in ("odd", "complement"):
        signs = torch.where(network.weights[-1].sum(1) < 0, -1.0, 1.0).to(network.weights[-1])
        network = flip(network, len(network.widths) - 1, signs)
    weights, biases = list(network.weights), list(network.biases)
    if spec.norms == "unit":
        weights[:-1] = [w / w.norm(dim=0).clamp(min=1e-300) for w in weights[:-1]]
    if spec.outer == "ones":
        weights[-1] = torch.ones_like(weights[-1])
    if spec.output_bias == "zero":
        biases[-1] = torch.zeros_like(biases[-1])
    return network.with_layers(weights, biases)


def unexplained(network: Network, pairs: Pairs, spec: Spec) -> str | None:
    """What (1) finds wrong, or None."""
    if not len(pairs.held_x):
        return "one sample tells nothing"
    size = float(pairs.y.square().mean().sqrt())
    left = float((network(pairs.held_x) - pairs.held_y).square().mean().sqrt())
    noise = spec.resolution**2 * (1 + CHANCE * math.sqrt(2 / pairs.held_y.numel()))
    noise *= 1 + FITTED * len(rows(network)) / pairs.y.numel()
    if left**2 <= noise + (EXPLAINED * size) ** 2:
        return None
    return f"{left:.1e} is left of the values of samples held back, of {size:.1e}; noise is {spec.resolution:.1e}"


def bends_rarely(network: Network, x: Tensor) -> str | None:
    """What (3) finds wrong, or None."""
    for layer, z in enumerate(network.preactivations(x)[:-1]):
        above = (z > 0).sum(0)
        seen = int(torch.minimum(above, len(x) - above).min()) if len(above) else 0
        if not activation(network.activations[layer]).smooth and seen < len(network.weights[layer]) + 2:
            return f"a neuron of layer {layer + 1} bends at {seen} samples only: it is seen as an affine function"
    return None
