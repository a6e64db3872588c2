"""Theorems 2.1, 2.2, 2.6, 2.7 and 2.8 on turned orthonormal bases, which have a small ν as they suppose.

(1)  (1 - ν)‖x‖² ≤ Σ_k ⟨w_k, x⟩² ≤ (1 + ν)‖x‖²,    ν ≥ |m/D - 1|,
(2)  P_Ŵ(u uᵀ) = Σ_k σ_k P_Ŵ(w_k w_kᵀ).
"""

import math

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid
from benchmarks.reproduce.shallow.items import Check, verdict
from benchmarks.reproduce.shallow.rank_one_bases.perturbed_spans import HALF, SAME, perturbed
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import off
from paramid import Run
from paramid.methods.spans import power_ascent, spectral_ascent, symmetric
from paramid.methods.spans.subspace import Span


def frame(d: int, tilt: float, run: Run) -> tuple[Tensor, float]:
    """Turned orthonormal columns and their ν of (1)."""
    w = torch.linalg.qr(run.normal(d, d))[0] + tilt * run.normal(d, d) / math.sqrt(d)
    w = w / w.norm(dim=0)
    values = torch.linalg.eigvalsh(w @ w.T)
    return w, float(max(values[-1] - 1, 1 - values[0]))


def coefficients(span: Span, w: Tensor, u: Tensor) -> Tensor:
    """σ of (2) for rows u, (rows, m)."""
    images = span.basis.T @ symmetric.squares(w.T).T
    return torch.linalg.solve(images, span.basis.T @ symmetric.squares(u).T).T


def frames(sizes: Sizes) -> Check:
    """Theorems 2.1, 2.2, 2.6, 2.7 and 2.8 on nearly orthonormal weights."""
    rows, verdicts = [], []
    for tilt in (0.0, 0.003, 0.006):
        for delta in (1e-4, 1e-3):
            run = Run.seeded(0)
            w, nu = frame(sizes.frame, tilt, run)
            told, holds = in_frame(w, nu, delta, sizes.frame_starts, run)
            rows.append((f"{nu:.3f}", f"{delta:g}", *told))
            verdicts.append(holds)
    held = [sum(column) for column in zip(*verdicts, strict=True)]
    head = ("ν", "δ", "maxima above (2.48) / m", "their error / √δ", "error / δ", "Φ of all others ≤", "Φ of these ≥")
    lines = (
        f"D = m = {sizes.frame}, {sizes.frame_starts} random starts of either algorithm for each row, one draw. "
        "Errors are the largest.",
        "",
        *grid((*head, "λ₁² of Algorithm 2.1, largest below ½", "least above", "error / (2.33)", "/ (2.12)"), rows),
    )
    names = (
        "Theorem 2.8: exactly m maxima up to sign above (2.48), within √δ",
        "Theorem 2.6, Proposition 2.1: a maximum with Φ ≥ 1 - δ in the cap of every w_k, error below (2.33)",
        "Theorem 2.7: Φ ≤ 9 (1+ν)/(1-ν) δ or Φ ≥ 1 - 6ν/(1+ν) - 18δ",
        "Theorem 2.2: λ₁² ≥ 1 - 38δ - 13ν or λ₁² ≤ 38δ + 13ν",
        "Theorem 2.1: u₁ of a near-rank-one matrix within (2.12)",
    )
    of = len(verdicts)
    none = {name for name, column in ((names[2], 5), (names[3], 7)) if all(row[column] == "none" for row in rows)}
    untested = "; no start ended at the lower kind, of which nothing is tested"
    items = tuple(
        verdict(n, h == of, f"in {h} of {of} rows{untested if n in none else ''}.")
        for n, h in zip(names, held, strict=True)
    )
    return Check("Nearly orthonormal weights (Theorems 2.1, 2.2, 2.6 to 2.8)", lines, items)


def in_frame(w: Tensor, nu: float, delta: float, starts: int, run: Run) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """The numbers of a row of `frames`, and whether Theorems 2.8, 2.6, 2.7, 2.2 and 2.1 hold in it."""
    d, m = w.shape
    span = perturbed(w, delta, run)
    p = span.projector()
    u = power_ascent.ascend(p, run.sphere(starts, d), step=1.0, steps=5000, tol=1e-13)
    at = power_ascent.ascend(p, w.T, step=1.0, steps=5000, tol=1e-13)
    level = (43 - 60 * nu) / (1 - 60 * nu) * delta
    kept = power_ascent.distinct(
        torch.cat([u, at]), p.energy(torch.cat([u, at])), threshold=level, most=9 * m, same=SAME
    )
    high, low = p.energy(kept), p.energy(u)
    others = low[low <= level]
    cap = math.sqrt((1 - 3 * delta) * (1 - nu) / (1 + nu))
    sharp, gap = 1 - 6 * nu / (1 + nu) - 18 * delta, 9 * (1 + nu) / (1 - nu) * delta
    within = bool(((at * w.T).sum(1) >= cap).all() and (p.energy(at) >= 1 - delta).all())
    most = bound_of_maxima(span, w, kept, nu, delta)
    close = bool((off(kept, w) <= most).all())
    ends, top = spectral_ascent.ascend(span.basis, d, run.normal(starts, m), step=10.0, steps=5000, tol=1e-13)
    square, split = top.square(), 38 * delta + 13 * nu
    near = square >= 1 - split
    bound = bound_of_matrices(span, w, ends[near], nu, delta)
    told = (
        f"{len(kept)}/{m}",
        f"{float(off(kept, w).max()) / math.sqrt(delta):.2g}",
        f"{float(off(kept, w).max()) / delta:.2g}",
        f"{float(others.max()):.1e}" if len(others) else "none",
        f"1 - {1 - float(high.min()):.1e}",
        f"{float(square[square < HALF].max()):.1e}" if bool((square < HALF).any()) else "none",
        f"1 - {1 - float(square[square >= HALF].min()):.1e}" if bool((square >= HALF).any()) else "none",
        f"{float((off(kept, w) / most).max()):.2g}",
        f"{float((off(ends[near], w) / bound).max()):.2g}" if bool(near.any()) else "none",
    )
    return told, (
        len(kept) == m and bool((off(kept, w) <= math.sqrt(delta)).all()),
        within and close,
        bool(((low <= gap) | (low >= sharp)).all()),
        split < 1 / 4 and bool((near | (square <= split)).all()),
        bool((off(ends[near], w) <= bound).all()),
    )


def bound_of_maxima(span: Span, w: Tensor, u: Tensor, nu: float, delta: float) -> Tensor:
    """(2.33) for rows u."""
    rest = coefficients(span, w, u).sort(1, descending=True)[0][:, 1:].square().sum(1)
    loss = 6 * nu / (1 + nu) + 18 * delta
    return ((2 * nu * rest).sqrt() + 2 * delta) / ((1 - nu) * (1 - loss) - math.sqrt(loss) - 2 * delta)


def bound_of_matrices(span: Span, w: Tensor, u: Tensor, nu: float, delta: float) -> Tensor:
    """(2.12), with λ₂ + 2δ where λ₂ - 2δ is printed, for the M = P_Ŵ(u uᵀ) / λ₁ at which Algorithm 2.1 stands still."""
    projected = (symmetric.squares(u) @ span.basis) @ span.basis.T
    size = projected.norm(dim=1, keepdim=True)
    values = torch.linalg.eigvalsh(symmetric.unpack(projected / size, span.d))
    sigma = (coefficients(span, w, u) / size).sort(1, descending=True)[0][:, 1:].norm(dim=1)
    return math.sqrt(2) * (sigma * math.sqrt(nu) + 2 * delta) / ((1 - nu) * values[:, -1] - values[:, -2] - 2 * delta)
