"""Distances between neurons, and their one-to-one matching.

Differences are taken explicitly: sqrt(2 - 2 cos) would bottom out at 1e-8. A distance is capped at √2, which is
what a neuron that was not found costs.
"""

from __future__ import annotations

import math

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

CAP = math.sqrt(2)
CLOSE = 1e-2  # a neuron nearer than this is found
TIE = 1e-3  # weight of a shift in the matching: it decides between neurons of the same direction only


def match(truth: Tensor, claim: Tensor, mirrored: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """The one-to-one matching of columns with the least sum of capped distances: rows, columns and signs.

    `mirrored` (true, claimed) says for every pair whether the claim is read as its mirror image; None leaves every sign
    free. Pairs at the cap are no matches.
    """
    straight, turned = distances(truth, claim), distances(truth, -claim)
    use = turned < straight if mirrored is None else mirrored
    cost = torch.where(use, turned, straight).clamp(max=CAP)
    rows, columns = assign(cost)
    close = cost[rows, columns] < CAP
    rows, columns = rows[close], columns[close]
    return rows, columns, 1.0 - 2.0 * use[rows, columns].to(truth.dtype)


def assign(cost: Tensor) -> tuple[Tensor, Tensor]:
    """The one-to-one matching with the least sum of costs: rows and columns."""
    rows, columns = linear_sum_assignment(cost.numpy())
    return torch.from_numpy(rows), torch.from_numpy(columns)


def distances(a: Tensor, b: Tensor) -> Tensor:
    """‖a_i - b_j‖ over all pairs of columns, by explicit differences."""
    return torch.cdist(a.T.contiguous(), b.T.contiguous(), compute_mode="donot_use_mm_for_euclid_dist")
