"""Candidates for entangled weights, and which of them belong to the first layer.

Ascents to the rank-ones of a span (`power_ascent`) end at ±v/‖v‖ many times over. From batches of starts the best of
every heap |cos| ≥ 0.98 is kept, whatever its sign, until there are as many as the span has dimensions.

The first layer's directions do not depend on x and the others' do: with P₁ the projector onto the m_1 leading
dimensions of Hessians far away, on the sphere of radius R,

    (1)  S(u) = ‖P₁(u uᵀ)‖_F ≈ 1 for the first layer, clearly less for the others,

as long as every neuron of the first layer bends somewhere out there: its pre-activation has deviation R/√D, so that R
too large misses some. Candidates that are an output's gradient are left out before.

Reference: Rauchensteiner 2023, Algorithms 2.2 and 4.2; R = 1000 there finds fewer neurons than it tells, R = 100 all.
"""

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans import power_ascent
from paramid.methods.spans.subspace import Projector

SAME = 0.98


def candidates(
    p: Projector, count: int, run: Run, *, starts: int, step: float, steps: int, threshold: float, tol: float
) -> Tensor:
    """At most `count` unit rows that rank-ones of the span of `p` were found at, from at most `starts` ascents."""
    done, found = 0, run.normal(0, p.matrices.shape[2])
    while len(found) < count and done < starts:
        batch = run.sphere(min(count, starts - done), found.shape[1])
        ends = torch.cat([found, power_ascent.ascend(p, batch, step=step, steps=steps, tol=tol)])
        found = power_ascent.distinct(ends, p.energy(ends), threshold=threshold, most=count, same=SAME)
        done += len(batch)
    return found


def apart(u: Tensor, outputs: Tensor, delta: float) -> Tensor:
    """The unit rows of `u` that are `delta` and more from every unit row of `outputs`, up to sign."""
    return u[(u @ outputs.T).abs().amax(1) < 1 - delta**2 / 2]


def scores(far: Projector, u: Tensor) -> Tensor:
    """S of (1)."""
    return far.energy(u).clamp(min=0).sqrt()


def two_groups(score: Tensor, first: int) -> Tensor:
    """Layers, from 1: the `first` best are the first layer, the others the second."""
    layers = torch.full_like(score, 2.0)
    layers[score.topk(first).indices] = 1.0
    return layers
