"""Who is ahead, and how sure that is: expected costs, performance profiles, ranks with intervals, groups.

For a method s, a task p and a target error ε, over the seeds of the task,

    (1)  C_sp(ε) = Σ cost spent until ε was reached, or at all where it was not / number of seeds that reached it,
    (2)  r_sp(ε) = C_sp(ε) / min_s C_sp(ε),   ρ_s(τ) = share of the (p, ε) with r_sp(ε) ≤ τ,
    (3)  score_s = 1/log T ∫_1^T ρ_s(τ) dτ/τ = mean over (p, ε) of max(0, 1 - log r_sp(ε) / log T),   T = 1000.

A seed that failed, was declined or was never run did not reach anything (`target_costs`). The whole table is
resampled, tasks first and seeds within them, the same for every method: ranks get intervals, and a method is set below
the head of a group only where its score was lower in at least 97.5 % of the resamples, or is 0: who reached nothing is
in no group with a leader. Everything else is one group.

References: Hansen et al., COCO, arXiv:1603.08785 (expected running time); Dolan & Moré, Math. Program. 91 (2002).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paramid.statistics.intervals import CONFIDENCE, DRAWS, Array, Interval
from paramid.statistics.target_costs import TargetCosts

CEILING = 1000.0  # T


@dataclass(frozen=True)
class Standing:
    """A method's place."""

    method: str
    score: float
    score_interval: Interval
    rank: float
    rank_interval: Interval
    group: int


def expected_cost(spent: Array, hit: NDArray[np.bool_]) -> Array:
    """(1) over the axis of the seeds, infinite where none reached the target."""
    there = ~np.isnan(spent)
    total, count = np.where(there, spent, 0.0).sum(axis=-2), (hit & there).sum(axis=-2)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)


def scores(costs: Array, ceiling: float = CEILING) -> Array:
    """(3) of costs (…, methods, tasks, targets); what nobody reached counts as zero for all."""
    area = np.fmax(1 - np.log(ratios(costs)) / math.log(ceiling), 0.0)  # of NaN and 0 the 0
    whole: Array = area.mean(axis=(-2, -1))
    return whole


def ratios(costs: Array) -> Array:
    """The ratios r of (2) from costs (…, methods, tasks, targets); NaN where nobody reached the target."""
    above = np.maximum(costs, np.finfo(np.float64).tiny)  # for what was free
    with np.errstate(invalid="ignore", over="ignore"):
        ratio: Array = above / above.min(axis=-3, keepdims=True)
    return ratio


def ranks(values: Array) -> Array:
    """Ranks from 1 of the highest along the last axis; equal values share the mean of their places."""
    above = (values[..., None, :] > values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    return above + (equal + 1) / 2


def standings(target_costs: TargetCosts, draws: int = DRAWS, confidence: float = CONFIDENCE) -> list[Standing]:
    """Every method's place, best first; none where there is nothing to compare."""
    if not target_costs.methods or not target_costs.tasks:
        return []
    whole = scores(expected_cost(target_costs.spent, target_costs.hit))
    drawn = resampled_scores(target_costs, draws)
    places, edge = ranks(drawn), (1 - confidence) / 2
    order = sorted(range(len(target_costs.methods)), key=lambda s: (-whole[s], target_costs.methods[s]))
    groups, head, group = {}, order[0], 1
    for s in order:
        if (drawn[:, head] > drawn[:, s]).mean() >= 1 - edge or whole[head] > 0 == whole[s]:
            head, group = s, group + 1
        groups[s] = group
    final = ranks(whole)
    return [
        Standing(
            target_costs.methods[s],
            float(whole[s]),
            _between(drawn[:, s], edge),
            float(final[s]),
            _between(places[:, s], edge),
            groups[s],
        )
        for s in order
    ]


def resampled_scores(target_costs: TargetCosts, draws: int = DRAWS) -> Array:
    """(3) for resampled tasks and seeds, (draws, methods)."""
    rng = np.random.default_rng(0)
    methods, tasks, _, _ = target_costs.spent.shape
    there = ~np.isnan(target_costs.spent)
    table = np.stack([np.where(there, target_costs.spent, 0.0), target_costs.hit & there])
    table = np.ascontiguousarray(table.transpose(2, 0, 4, 1, 3))  # (tasks, spent and hit, targets, methods, seeds)
    held = there[..., 0].any(axis=0).sum(axis=-1)  # seeds of each task
    chosen = rng.integers(tasks, size=(draws, tasks)).ravel()
    ends = np.bincount(chosen, minlength=tasks).cumsum()
    drawn = np.split(np.argsort(chosen, kind="stable") // tasks, ends[:-1])  # once for every time a task was chosen
    total = np.zeros((draws, methods))
    for task, (count, draw) in enumerate(zip(held, drawn, strict=True)):
        times = rng.multinomial(count, np.full(count, 1 / max(count, 1)), size=len(draw)).astype(np.float64)
        spent, hit = np.einsum("ptms,sd->ptmd", table[task, ..., :count], np.ascontiguousarray(times.T))
        with np.errstate(divide="ignore", invalid="ignore"):
            costs = np.where(hit > 0, spent / hit, np.inf)
        np.add.at(total, draw, scores(costs.T[:, :, None]))
    whole: Array = total / tasks
    return whole


def _between(values: Array, edge: float) -> Interval:
    low, high = np.quantile(values, (edge, 1 - edge))
    return float(low), float(high)
