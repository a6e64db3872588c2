"""The last fit under noise: every value that was paid for, and some more where they say most.

Rows asked on the way to a network lie where differences want them, close together, and say little about parameters.
With y_i = f(x_i) + σ ε_i from all of them, and fresh ones at s N(0, I),

    (1)  θ = argmin Σ_i (f_θ(x_i) - y_i)²,   all values alike, from the network at hand    (layered_refinement),
    (2)  s: the spread whose values have the smallest Cramér-Rao bound at that network     (limits),

errors of parameters are normal, and the largest of them is one to three bounds. Where a precision ε is wanted,

    (3)  N ← N (3 bound / ε)²

rows in all, N at most tenfold at a time, until three bounds at the present network are below it, or the rows are as
many as can be kept or taken into account in seconds.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from paramid import Claim, GiveUp, Network, Oracle, Run, limits
from paramid.limits.cramer_rao import best_spread
from paramid.limits.information import free_of, starts
from paramid.methods.refinement import layered_refinement
from paramid.words.neuron_distances import CLOSE

NEAR = 1e3  # values further out are those of saturated neurons
MOST = 2**25  # doubles of rows that are kept
WORK = 2e11  # products of one matrix JᵀJ
SURE = 3.0  # bounds that the largest of all errors stays below
TENFOLD, ROUNDS = 10, 8  # (3)
Stages = Callable[[Oracle, Run], Iterator[Claim]]


class Kept:
    """An oracle whose answers are kept, as far as they are near and fit."""

    def __init__(self, oracle: Oracle) -> None:
        self.spec, self._oracle, self._rows = oracle.spec, oracle, list[tuple[Tensor, Tensor]]()
        self.decide, self.sample, self.gradient = oracle.decide, oracle.sample, oracle.gradient
        self.hessian, self.moments, self.label = oracle.hessian, oracle.moments, oracle.label
        self.spent, self.room = 0, MOST // oracle.spec.inputs  # rows

    def query(self, x: Tensor) -> Tensor:
        """The oracle's answer."""
        y = self._oracle.query(x)
        near = x.norm(dim=1) < NEAR
        self.spent += len(x)
        if len(x) <= self.room:
            self._rows.append((x[near], y[near]))
            self.room -= len(x)
        return y

    def values(self) -> tuple[Tensor, Tensor]:
        """Inputs and values that were kept."""
        x, y = zip(*self._rows, strict=True)
        return torch.cat(x), torch.cat(y)


def ended(stages: Stages, oracle: Oracle, run: Run, *, again: float, target: float | None = None) -> Iterator[Claim]:
    """The claims of a method's `stages` and, where values are noisy, the end (1) to (3) of its last network.

    The precision wanted is the method's `target` or what the spec says.
    """
    wanted = oracle.spec.precision_wanted if target is None else target
    if not oracle.spec.resolution:
        yield from stages(oracle, run)
        return
    kept, claim = Kept(oracle), None
    for claim in stages(kept, run):
        yield claim
    if isinstance(claim, Network) and follows(kept, claim, again):
        noise = max(oracle.spec.resolution, claim.stats.get("noise", 0.0))
        yield refined(kept, claim, run, noise=noise, again=again, wanted=wanted)


def follows(oracle: Oracle, network: Network, again: float) -> bool:
    """Whether (1) comes after this network: its values are kept, and it is a matter of seconds."""
    return isinstance(oracle, Kept) and math.ceil((1 + again) * oracle.spent) <= most_rows(network)


def most_rows(network: Network) -> int:
    """The rows that (1) takes into account in seconds."""
    return int(WORK / starts(network)[-1] ** 2)


def refined(
    kept: Kept, rough: Network, run: Run, *, noise: float, again: float, wanted: float | None = None
) -> Network:
    """The network (1) from a `rough` one, with `again` fresh values for each spent before, and as many as (3) asks."""
    spec, fresh, free = kept.spec, min(math.ceil(again * kept.spent), kept.room), free_of(kept.spec)
    spread = best_spread(rough, free)
    for _ in range(ROUNDS):
        if fresh:
            kept.query(spread * run.normal(fresh, spec.inputs))
        x, y = kept.values()
        found = layered_refinement.fit(rough, x, y, noise=noise, free=free)
        if not found.believed:
            raise GiveUp(f"the residual stays at {found.rms:.1e}, noise explains {noise:.1e}")
        error = limits.bound(found.network, x, max(noise, found.rms), free)
        if wanted is None or SURE * error <= wanted:
            break
        more = math.ceil(len(x) * min(TENFOLD, (SURE * error / wanted) ** 2 - 1))
        fresh, rough = min(more, most_rows(rough) - len(x), kept.room), found.network
        if fresh < 1:
            break
    if not SURE * error < CLOSE:
        raise GiveUp(f"noise of {noise:.1e} leaves parameters uncertain by {SURE * error:.1e}")
    return replace(found.network, stats={"residual": found.rms, "noise": noise, "error_bound": error})
