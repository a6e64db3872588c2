"""From Hermite coefficients to a network, and from a network to better coefficients.

Directions come from a pencil, scalars from loadings, both are fitted, signs settled and everything fitted again:

    (1)  T̂ = T(f),   θ_0 = fit(T̂).

Samples then show the coefficients of f as those of the network at hand, in closed form, and those of what it leaves,

    (2)  T̂ = T(f_θ) + mean (y - f_θ) He,   θ ← fit(T̂),

unbiased like (1), with a noise that shrinks with the error: rounds of (2) converge geometrically, in the end at a rate
c/√N. A round is kept when it leaves less of samples that took no part; when the fit next to the network at hand does
not, a new pencil is tried. Where an affine part is allowed beside the units, T_2, T_3, … are fitted by units alone, of
any sign, and what T_0 and T_1 show and the units lack is that part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import GiveUp, Network, Run, Samples, Spec
from paramid.methods.hermite import coefficient_fit, fused_pencil, moment_estimates, sign_rules, unit_scalars
from paramid.methods.hermite.affine_part import consolidated
from paramid.methods.hermite.function_check import affine_rest
from paramid.methods.hermite.moment_estimates import Moments
from paramid.methods.hermite.unit_scalars import RAMPS
from paramid.methods.refinement.gradient_system import Pinned, split
from paramid.methods.refinement.sample_refinement import residual
from paramid.methods.refinement.unit_descent import Normal

ABOVE = 1.5  # of the noise of T_k, for a unit
RANK = 1e-9  # of T_k, where it is exact
STARTS = 3  # pencils of which the best fit is kept


@dataclass(frozen=True)
class Problem:
    """What is known beforehand, the order l and the draws of a pencil."""

    spec: Spec
    lift: int
    tries: int
    affine: bool = False  # whether ⟨v, x⟩ + c stands beside the units: T_0 and T_1 then show it, and no signs

    @property
    def name(self) -> str:
        """The activation."""
        return self.spec.activation

    @property
    def pinned(self) -> Pinned:
        """Norms and outer weights without freedom."""
        return Pinned.by(self.spec)

    @property
    def orders(self) -> range:
        """Of the coefficients."""
        return range(2 * self.lift + 3)

    def network(self, found: Found, **stats: float) -> Network:
        """θ, and (v, c) as two units more, as a claim."""
        w, b, a = split(found.theta)
        made = Network.shallow(w, b, self.name, a)
        if found.rest is not None:
            made = consolidated(made, found.rest[:-1], found.rest[-1:])
        return replace(made, stats=stats)


@dataclass(frozen=True, eq=False)
class Found:
    """θ = (W, b, a), the fit's loss to its second order there, and the root mean square left of samples held out."""

    theta: Tensor
    normal: Normal
    rest: Tensor | None = None  # (v, c) of an affine part
    left: float = float("inf")


def counted(moments: Moments, problem: Problem) -> int:
    """The units that stand out of the noise: of T_2 where its loadings never vanish, else of any T_k."""
    found = 0
    for k in (2,) if problem.name in RAMPS else (2, 3, 4):
        values = torch.linalg.svdvals(moments.full(k).reshape(moments.inputs, -1))
        found = max(found, int((values > max(ABOVE * moments.noise[k], RANK * float(values[0]))).sum()))
    if not found:
        raise GiveUp("no unit stands out of the noise")
    return found


def decomposed(moments: Moments, m: int, problem: Problem, run: Run, *, starts: int = STARTS) -> Found:
    """(1): the best fit of several pencils."""
    full = {k: moments.full(k) for k in problem.orders}
    ramp = problem.name in RAMPS
    found = []
    for _ in range(starts):
        w = fused_pencil.directions(
            full, m, run, lift=problem.lift, pivot=ramp and problem.lift == 1, tries=problem.tries
        )
        shown = [k for k in problem.orders if k > 1 or (k == 1 and problem.lift == 1 and not ramp)]
        signs, b, a = unit_scalars.scalars(
            {k: coefficient_fit.loadings(full[k], w) for k in shown}, problem.name, pinned_outer=problem.pinned.outer
        )
        found.append(fitted(torch.cat([signs * w, b[None], a[None]]), moments, problem, run))
    finite = [each for each in found if bool(torch.isfinite(each.theta).all())]
    if not finite:
        raise GiveUp("no pencil of the coefficients has units")
    return min(finite, key=lambda each: each.normal.loss)


def fitted(theta: Tensor, moments: Moments, problem: Problem, run: Run) -> Found:
    """The nearest fit; where only T_0 and T_1 tell signs, first without them."""
    every = {k: moments.tensors[k] for k in problem.orders}
    if problem.name not in RAMPS:
        return Found(*coefficient_fit.fit(theta, every, problem.name, pinned=problem.pinned))
    blind = {k: t for k, t in every.items() if k > 1}
    theta, normal = coefficient_fit.fit(theta, blind, problem.name, pinned=problem.pinned)
    if not bool(torch.isfinite(theta).all()):
        return Found(theta, normal)
    if problem.affine:
        rest = affine_rest(moments, problem.network(Found(theta, normal)))
        return Found(theta, normal, torch.cat(rest))
    theta, flips = sign_rules.settled(theta, every, problem.name, run)
    if flips.left < flips.second / 2:
        return Found(*coefficient_fit.fit(theta, every, problem.name, pinned=problem.pinned))
    return Found(theta, normal)


def round_of(samples: Samples, held: Samples, before: Found, problem: Problem, run: Run, control: int) -> Found | None:
    """(2), or None when nothing leaves less of the samples held out."""
    m, model = before.theta.shape[1], problem.network(before)
    moments = moment_estimates.estimate(samples, problem.orders, control=control, model=model, left=problem.lift)
    after = weighed(fitted(before.theta, moments, problem, run), held, problem)
    if not after.left < before.left:
        after = weighed(decomposed(moments, m, problem, run, starts=1), held, problem)
    return after if after.left < before.left else None


def weighed(found: Found, held: Samples, problem: Problem) -> Found:
    """With what it leaves of the samples held out."""
    finite = bool(torch.isfinite(found.theta).all())
    return replace(found, left=residual(held, problem.network(found)) if finite else float("inf"))
