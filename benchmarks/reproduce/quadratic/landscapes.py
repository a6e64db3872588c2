"""Theorems 2.1 and 2.2 in numbers: how steep the way out of a saddle is, and the bound on L (seconds).

Silent neurons stay so under gradient descent, which ends at a saddle: with Λ = 1/n Σ_i r_i x_i x_iᵀ and w_q = 0,

    (1)  λ_min(H) ≤ 2 min_q min eig(v_q Λ) < 0                                             (Theorem 2.1, its proof),
    (2)  L ≤ ε_g/√ν max(√(1 + 14 M*), 4 ε_g/√ν) + ε_H/(2ν) M*,   v = ν 1                   (Theorem 2.2).

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, §2.1 and §6; paramid.methods.squares.landscape.
"""

import math
from functools import cache

import torch

from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run, activation
from paramid.methods.squares import landscape
from paramid.methods.squares.overparam_descent import KICK, Problem, descend, kick, point
from paramid.methods.squares.overparam_polish import polish

INSTANCES = 5
SCALES = (0.5, 1.0, 2.0)  # ν of (2)
LOOKS = (1, 10, 40, 160, 640)  # steps after which (2) is looked at


@cache
def saddles() -> tuple[tuple[float, float, float, float], ...]:
    """Five saddles of D = 8, k = 16, N = 30: L there, λ_min(H), the right of (1), and L after noise and a polish."""
    run, d, k, n = Run.seeded(0), 8, 16, 30
    x, y = run.normal(n, d), run.normal(INSTANCES, n)
    problem = Problem(x, y, activation("square"), train_outer=False)
    w, v = run.normal(INSTANCES * d, k).reshape(INSTANCES, d, k) / math.sqrt(d), torch.ones_like(y[:, :k])
    v[:, k // 2 :] = -1
    awake = torch.zeros_like(v[0])
    awake[[0, 1, k // 2]] = 1
    *_, at = descend(problem, point(problem, w * awake, v), step=None, most=3000, tol=0.0, run=run, kicks=0)
    pushed = kick(problem, at, torch.ones_like(at.loss, dtype=torch.bool), run)
    *_, freed = descend(problem, pushed, step=None, most=1200, tol=0.0, run=run)
    left = polish(problem, freed, most=150).loss
    told = [landscape.certificate(x, y[i], at.w[i], v[i]) for i in range(INSTANCES)]
    return tuple((t.loss, t.lowest, t.saddle, float(end)) for t, end in zip(told, left, strict=True))


@cache
def bounds() -> tuple[float, ...]:
    """L over (2) along descents: D = 10, k = 11, N = 60, v* uniform in [0.5, 1.5], v = ν 1."""
    found, d, k, n = [], 10, 11, 60
    for seed, nu in enumerate(SCALES):
        run = Run.seeded(seed)
        x, teacher = run.normal(n, d), run.normal(d, k) / math.sqrt(d)
        outer = 0.5 + torch.special.ndtr(run.normal(k, 1))[:, 0]
        y, v = (x @ teacher).square() @ outer, nu * torch.ones_like(outer)
        problem = Problem(x, y[None], activation("square"), train_outer=False)
        nuclear = landscape.nuclear_norm(teacher, outer)
        start = point(problem, run.normal(d, k)[None] / math.sqrt(d), v[None])
        for done, at in enumerate(descend(problem, start, step=None, most=LOOKS[-1], tol=0.0, run=run), 1):
            if done in LOOKS:
                told = landscape.certificate(x, y, at.w[0], v)
                found.append(told.loss / told.bound(nuclear, nu))
    return tuple(found)


def strict(_: Made) -> Judged:
    """Theorem 2.1, second property."""
    found = saddles()
    held = all(lowest < -1e-3 and lowest <= 0.9 * saddle and loss > 1e-3 for loss, lowest, saddle, _ in found)
    return held, (
        f"at {len(found)} saddles with silent neurons, L = {spread((f[0] for f in found), '.2g')}, λ_min(H) is "
        f"{spread((f[1] for f in found), '.2g')}, {spread((f[1] / f[2] for f in found), '.3f')} times what the "
        "proof says"
    )


def left_by_noise(_: Made) -> Judged:
    """What strict saddles are good for."""
    ends = [f[3] for f in saddles()]
    return max(
        ends
    ) < 1e-20, f"noise of {KICK:g}, descent and a polish bring L to {max(ends):.1e} or less at all {len(ends)}"


def bound(_: Made) -> Judged:
    """Theorem 2.2, (2.1)."""
    shares = bounds()
    return max(shares) <= 1, (
        f"L is {spread(shares, '.1e')} of the bound at {len(shares)} points along descents with ν = "
        f"{', '.join(f'{nu:g}' for nu in SCALES)}"
    )
