"""Alternating least squares from single random starts on exact tensors."""

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from paramid import Run
from paramid.methods import cp_als
from paramid.methods.hermite.jennrich import expand
from paramid.tasks.biased_relu import BiasedRelu
from paramid.words import hermite


class Starts(NamedTuple):
    """How many single starts of alternating least squares ended above SOLVED after so many rounds, of how many."""

    ended: Mapping[int, int]
    of: int


@cache
def alternating_starts(networks: int = 2, starts: int = 3) -> Starts:
    """Exact T_3 and T_4 at D = m = 5, every start by itself: whether more rounds would have helped."""
    ended = dict.fromkeys((300, 900), 0)
    for seed in range(networks):
        f = BiasedRelu(D=5, m=5).draw(seed)
        for k in (3, 4):
            tensor, run = hermite.unfold(f.moments(k), 5, k), Run.seeded(seed)
            for _ in range(starts):
                start = [run.normal(5, 5) for _ in range(k)]
                for rounds in ended:
                    columns = cp_als.alternate(tensor / tensor.norm(), start, rounds, 0.0)
                    left = math.inf if columns is None else expand(columns, f.moments(k), k).residual
                    ended[rounds] += left > 1e-6 * float(tensor.norm())
    return Starts(ended, 2 * networks * starts)
