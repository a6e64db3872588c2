"""How far from the limit one cell was: what its teacher's values can say at best, told by the judge, not by a method.

    (1)  P = rank JQ over inputs of the law                      (information: what is told or without effect is no
                                                                  parameter),

and where values are noisy or rounded, with as many rows as the method was shown, the Cramér-Rao bound of the least
certain parameter (cramer_rao),

    (2)  at the rows that it was shown,   (3)  at as many Gaussian rows of the best spread.

Rounding to float32, of values or inside the network, counts as noise of the size that it has over the law. Of many rows
some are taken, chosen at random, and information grows with their number. Derivatives, exact coefficients and
probabilities are no values under noise: beside them there is no bound.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from paramid.limits.cramer_rao import best_spread, bound
from paramid.limits.information import free_of, held, starts, still, telling, triangle
from paramid.limits.rows_asked import RowsAsked
from paramid.words import random_streams
from paramid.words.activations import activation
from paramid.words.network import Network, Teacher
from paramid.words.spec import Spec

RANKED = 500  # parameters up to which (1) is a rank; beyond, where neurons are no polynomials, they are counted
RANK = 1e-11  # of the largest singular value
INPUTS, LAW = 5000, 1000  # of the law for it, and for what float32 leaves
LARGEST = 1500  # parameters of a bound
WORK, MOST = 4e10, 2**22  # products of JᵀJ; doubles of rows that are kept


def parameters(network: Network, spec: Spec) -> int | None:
    """P of (1); None where there are too many to rank and none to count, or where the Jacobian overflows."""
    free, every = free_of(spec), starts(network)[-1]
    if every > RANKED:
        polynomial = any((activation(name).degree or 1) > 1 for name in network.activations[:-1])
        return None if polynomial else every - held(network, free)
    fixed, x = still(network, free), of_the_law(spec, INPUTS, 0)
    factor = triangle(network, x[telling(network, x)], fixed)
    length = factor.norm(dim=0)
    if not bool(torch.isfinite(length).all()):
        return None
    sizes = torch.linalg.svdvals(factor[:, length > 0] / length[length > 0])
    return int((sizes > RANK * sizes[0]).sum()) - fixed.shape[1] if len(sizes) else 0


def asked(network: Network | None, spec: Spec, seed: int) -> RowsAsked | None:
    """Where the rows of a cell are to be kept for (2), or None where there is no bound."""
    if network is None or not spec.resolution or spec.link != "identity" or starts(network)[-1] > LARGEST:
        return None
    return RowsAsked(min(MOST // spec.inputs, int(WORK / starts(network)[-1] ** 2)), spec.inputs, seed)


def bounds(
    network: Network, teacher: Teacher, spec: Spec, shown: RowsAsked, samples: int, seed: int
) -> dict[str, float]:
    """(2) and (3), for the rows asked for and so many samples of the law; the `teacher` computes as it is run."""
    count = shown.count + samples
    if not count:
        return {}
    free, rows = free_of(spec), shown.rows()
    most = int(WORK / starts(network)[-1] ** 2)
    source = random_streams.generator(seed, "limits", "placed")
    if samples:  # each as likely to be taken as a row that was asked for
        share = min(1.0, most / count, len(rows) / shown.count if shown.count else 1.0)
        some = torch.randperm(len(rows), generator=source, device="cpu")[: math.ceil(share * shown.count)]
        rows = torch.cat([rows[some], of_the_law(spec, math.ceil(share * samples), seed)])
    sigma, least = deviation(network, teacher, spec), min(count, most)
    placed = best_spread(network, free) * random_streams.normal(least, spec.inputs, source, rows.device, rows.dtype)
    told = {
        "bound": bound(network, rows, sigma * math.sqrt(len(rows) / count), free),
        "bound_placed": bound(network, placed, sigma * math.sqrt(least / count), free),
    }
    return {name: value for name, value in told.items() if not math.isnan(value)}


def deviation(network: Network, teacher: Teacher, spec: Spec) -> float:
    """σ of a value: noise, and how far float32 is from the network over the law, in values or on the way to them."""
    if spec.precision != "float32":
        return spec.noise
    x = of_the_law(spec, LAW, 0)
    return math.hypot(spec.noise, float((teacher(x).float().to(x.dtype) - network(x)).square().mean().sqrt()))


def of_the_law(spec: Spec, rows: int, seed: int) -> Tensor:
    """Inputs of the law."""
    source = random_streams.generator(seed, "limits", "law")
    return random_streams.inputs(spec, rows, source, torch.device("cpu"), torch.float64)
