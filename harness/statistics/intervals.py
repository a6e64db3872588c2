"""How sure a number over few seeds can be: intervals for shares and medians.

    (1)  a share of s in n:  (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n),   p = s/n   (Wilson),
    (2)  a median: quantiles of the medians of resamples (percentile bootstrap), +∞ among the values being the worst.

Resamples come from a stream of their own, so that the same records give the same intervals.

References: Wilson, JASA 22 (1927); Efron & Tibshirani, An Introduction to the Bootstrap, 1993, §13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]
Array = NDArray[np.float64]
DRAWS, CONFIDENCE = 2000, 0.95


def wilson(successes: int, total: int, confidence: float = CONFIDENCE) -> Interval:
    """(1), the whole of [0, 1] where nothing was tried."""
    if not total:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = successes / total
    middle = p + z * z / (2 * total)
    reach = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    whole = 1 + z * z / total
    return max(0.0, (middle - reach) / whole), min(1.0, (middle + reach) / whole)


def median(values: Sequence[float]) -> float:
    """The median; NaN counts as the worst, and between a finite value and the worst lies the worst."""
    return float(_medians(_worst(values)[None])[0])


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE, draws: int = DRAWS) -> Interval:
    """The interval (2) of a median."""
    sample = np.sort(_worst(values))
    below, above = middles(len(sample), draws)
    medians = np.sort((sample[below] + sample[above]) / 2)
    edge = (1 - confidence) / 2
    low, high = math.floor(edge * draws), math.ceil((1 - edge) * draws) - 1
    return float(medians[low]), float(medians[high])


@cache
def middles(count: int, draws: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the two middle values of `draws` resamples of `count` sorted ones; never to be written into."""
    drawn = np.random.default_rng((count, draws)).integers(count, size=(draws, count))
    drawn.sort(axis=1)
    return drawn[:, (count - 1) // 2], drawn[:, count // 2]


def _worst(values: Sequence[float]) -> Array:
    if not len(values):
        raise ValueError("a median of no values was asked for")
    sample = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(sample), np.inf, sample)


def _medians(samples: Array) -> Array:
    """Row medians; the mean of the middle two is infinite where one of them is."""
    ordered = np.sort(samples, axis=1)
    half = samples.shape[1] // 2
    return ordered[:, half] if samples.shape[1] % 2 else (ordered[:, half - 1] + ordered[:, half]) / 2
