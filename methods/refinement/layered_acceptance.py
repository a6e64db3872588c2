"""All parameters of a rough deep network on Gaussian points: how many it takes, and whether the end is believed.

Each point is one equation for every output, of which no more are independent than the last hidden layer is wide. The
end is claimed where noise and rounding explain all that is left and leave the parameters known, else it is given up.
"""

import math
from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor

from paramid import GiveUp, Network, Spec
from paramid.limits.information import free_of
from paramid.methods.refinement import layered_refinement
from paramid.methods.refinement.layered_refinement import Fit
from paramid.oracle.samples import Samples
from paramid.words import memory_limits
from paramid.words.neuron_distances import CLOSE

SURE = 3.0  # bounds that the largest of all errors stays below


def widths(spec: Spec) -> tuple[int, ...]:
    """The hidden widths, which are known."""
    return tuple(w for w in spec.widths if w is not None)


def parameters(spec: Spec) -> int:
    """All weights and shifts."""
    layers = [spec.inputs, *widths(spec), spec.outputs]
    return sum((fed + 1) * width for fed, width in pairwise(layers))


def count(spec: Spec, rows: float) -> int:
    """The points that make `rows` equations for each parameter."""
    return math.ceil(rows * parameters(spec) / min(spec.outputs, widths(spec)[-1]))


def refusal(spec: Spec, rows: float) -> str | None:
    """Why these parameters cannot be refined, or None."""
    if spec.samples is not None and (wanted := count(spec, rows)) > spec.samples:
        return f"needs {wanted} samples, {spec.samples} are granted"
    return too_large(spec)


def too_large(spec: Spec) -> str | None:
    """Why Levenberg-Marquardt over all parameters does not fit in memory, or None."""
    p = parameters(spec)
    return memory_limits.refusal(
        {"normal equations": (p, p), "their factor": (p, p), "its copy": (p, p)}, memory_limits.room()
    )


def first(samples: Samples, rows: int) -> tuple[Tensor, Tensor]:
    """The first `rows` pairs, without those behind them."""
    x, y, left = [], [], rows
    for inputs, values in samples:
        x.append(inputs[:left])
        y.append(values[:left])
        left -= len(x[-1])
        if not left:
            break
    return torch.cat(x), torch.cat(y)


def believed(found: Fit, x: Tensor, spec: Spec) -> Network:
    """The network of `found`, with its own words; given up where more is left than noise and rounding explain."""
    if not found.believed:
        raise GiveUp(f"the residual stays at {found.rms:.1e}, noise and rounding explain {found.floor:.1e}")
    error = layered_refinement.error_bound(found, x, free_of(spec))
    if not SURE * error < CLOSE:
        raise GiveUp(f"noise leaves parameters uncertain by {SURE * error:.1e}")
    stats = {"residual": found.rms, "error_bound": error, "factors": found.factors}
    return replace(found.network, stats=stats)
