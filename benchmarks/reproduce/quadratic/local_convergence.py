"""Theorem 2.5 in numbers: gradient descent near planted weights, for the activations of Example 2.4 (half a minute).

With J* the derivative of the outputs in W at the planted weights, K* the tangent kernel in (v, W), and what the paper's
proof makes of its constants,

    (1)  α = 1/β,   β = λ_max(K*)/n,                                                      (2.7)
    (2)  m = σ_min(J*)²/(2n),   L_τ ≤ (1 - α m/2)^τ L_0,                                  (7.44), (7.54)
    (3)  R_W = σ_min³/σ_max d^2.5/(n^1.5 k),   R_v = R_W/√k,   σ those of W*,             (2.4), (2.5) with C_0 = 1
    (4)  W_0 = W* + ρ R_W U, ‖U‖_F = 1,   v_0 = v* ± ρ R_v.

The basin is told as the largest ρ up to which (2) holds in every draw and at every step. Where γ(σ) = E φ''(σ g) is 0,
Remark 2.6 puts 1 for σ_min.

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, §2.2 and §7.3.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import median

import numpy as np
import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run, activation
from paramid.methods.squares.overparam_descent import Point, Problem, point
from paramid.methods.squares.overparam_polish import tangent_kernel

ROUNDING = 1e-24  # of L over L_0
GROWTH = 0.25  # exponents up to which nothing grows, or no more than it is said to
SMALL, GONE = 1.0, 1e-8  # c_0 of (2.3) where it is one that can be called small; L over L_0 where it vanished
LAW, LEFT = 0.5, 0.5  # how near an exponent is to a law; the share of a distance that is left where it was covered
EVEN = {"softplus": True, "tanh": False, "logistic": False, "erf": False}  # whether γ ≠ 0
SHARPNESS = {"softplus": 4.0, "erf": math.sqrt(0.5)}  # Figure 1's b; erf as Example 2.4 prints it is √2 erf(z/√2)


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    d: int = 20
    samples: tuple[int, ...] = (20, 40, 80, 160)
    wide: tuple[int, ...] = (40,)  # samples before k = 2 d Gaussian rows
    radii: tuple[float, ...] = (0.1, 1, 3, 10, 30, 100, 300)  # ρ of (4)
    draws: int = 5
    steps: int = 1500
    dimensions: tuple[int, ...] = (20, 40, 60)  # over which the rate is followed


SIZES = Sizes()


@dataclass(frozen=True)
class Basin:
    """One activation, W* and n: (1) to (4), and of every ρ how many draws obey (2)."""

    name: str
    weights: str
    k: int
    n: int
    asked: float  # n σ_max⁸ / (σ_min⁴ d²), the c_0 that (2.3) takes
    radius: float  # R_W
    sigma: float  # σ_min(J*) / (σ_min(W*) d), or / d
    guaranteed: float  # α m/2
    held: tuple[int, ...]
    seen: float  # the rate of L at ρ = 1
    left: float  # L_τ / L_0 at the end, the median at ρ = 1
    moved: float  # ‖W_τ - W*‖ / ‖W_0 - W*‖ at the end, ρ = 1
    tested: float  # the same of errors on fresh inputs

    def reach(self, radii: tuple[float, ...], draws: int) -> float:
        """The largest ρ up to which every draw obeys (2); 0 where none."""
        good = [count == draws for count in self.held]
        until = good.index(False) if False in good else len(good)
        return radii[until - 1] if until else 0.0


def planted(name: str, d: int, k: int, n: int, run: Run) -> tuple[Problem, Tensor, Tensor]:
    """Inputs and labels of W* with orthonormal columns, or Gaussian ones where k > d, and v* = 1."""
    w = run.normal(d, k) / math.sqrt(d)
    w = torch.linalg.qr(w)[0] if k == d else w
    v = torch.ones_like(w[0])
    x = run.normal(n, d)
    free = Problem(x, torch.zeros_like(x.T[:1]), activation(name), SHARPNESS.get(name, 1.0))
    return Problem(x, (free.phi(x @ w) @ v)[None], free.g, free.b), w, v


def constants(problem: Problem, w: Tensor, v: Tensor) -> tuple[float, float]:
    """σ_min(J*), and α of (1)."""
    inner = Problem(problem.x, problem.y, problem.g, problem.b, train_outer=False)
    least = torch.linalg.eigvalsh(tangent_kernel(inner, w[None], v[None])[0])[0]
    largest = torch.linalg.eigvalsh(tangent_kernel(problem, w[None], v[None])[0])[-1]
    return math.sqrt(max(0.0, float(least))), len(problem.x) / float(largest)


@cache
def basins(sizes: Sizes) -> tuple[Basin, ...]:
    """Every activation before orthonormal weights, k = d, and Gaussian ones, k = 2 d."""
    shapes = [(sizes.d, n) for n in sizes.samples] + [(2 * sizes.d, n) for n in sizes.wide]
    return tuple(basin(name, sizes, k, n) for name in EVEN for k, n in shapes)


def basin(name: str, sizes: Sizes, k: int, n: int) -> Basin:
    """Descents by (2.6) from every ρ."""
    run, d = Run.seeded(n), sizes.d
    problem, w, v = planted(name, d, k, n, run)
    sigma, alpha = constants(problem, w, v)
    singular = torch.linalg.svdvals(w)
    low = float(singular[-1]) if EVEN[name] else 1.0
    asked = n * float(singular[0]) ** 8 / (low**4 * d**2)
    radius = low**3 / float(singular[0]) * d**2.5 / (n**1.5 * k)
    contraction = alpha * sigma**2 / (4 * n)
    rho = torch.tensor(sizes.radii, dtype=w.dtype, device=w.device).repeat_interleave(sizes.draws)
    runs = len(rho)
    u = run.normal(runs * d, k).reshape(runs, d, k)
    side = run.normal(runs, k).sign()
    u = u / u.flatten(1).norm(dim=1)[:, None, None]
    several = Problem(problem.x, problem.y.expand(runs, -1), problem.g, problem.b)
    first = point(several, w + radius * rho[:, None, None] * u, v + radius / math.sqrt(k) * rho[:, None] * side)
    held, taken, at = descended(several, first, alpha, contraction, sizes.steps)
    one = (rho == 1.0).nonzero()[:, 0]
    gone = ((at.w - w).flatten(1).norm(dim=1) / (first.w - w).flatten(1).norm(dim=1))[one]
    fresh = run.normal(2000, d)
    missed = [(problem.phi(fresh @ p.w[one]) @ p.v[one][:, :, None])[:, :, 0] - problem.phi(fresh @ w) @ v
              for p in (at, first)]  # fmt: skip
    tested = missed[0].norm(dim=1) / missed[1].norm(dim=1)
    rate = -((at.loss / first.loss).clamp_min(ROUNDING).log() / taken)[one]
    kind = "orthonormal" if k == d else "Gaussian"
    count = tuple(int(c) for c in held.reshape(-1, sizes.draws).sum(1))
    left = (at.loss / first.loss)[one]
    return Basin(name, kind, k, n, asked, radius, sigma / (low * d), contraction, count,
                 *(float(values.median()) for values in (rate, left, gone, tested)))  # fmt: skip


def descended(
    problem: Problem, first: Point, alpha: float, contraction: float, steps: int
) -> tuple[Tensor, Tensor, Point]:
    """Which runs obey (2) at every step, how many steps each took to rounding, and where they end."""
    at, bound = first, first.loss
    held, taken = torch.ones_like(first.loss, dtype=torch.bool), torch.ones_like(first.loss)
    for _ in range(1, steps):
        at = point(problem, at.w - alpha * at.by_w, at.v - alpha * at.by_v)
        bound = bound * (1 - contraction)
        held = held & (at.loss <= bound + ROUNDING * first.loss)
        taken = taken + (at.loss > ROUNDING * first.loss)
    return held, taken, at


@cache
def rates(sizes: Sizes) -> dict[str, tuple[float, float]]:
    """Of every activation the exponents of σ_min(J*)²/n and of β over d = k, at n = d²/10."""
    found = {}
    for name in EVEN:
        least, most = [], []
        for d in sizes.dimensions:
            drawn = [constants(*planted(name, d, d, d * d // 10, Run.seeded(seed))) for seed in range(sizes.draws)]
            least.append(median(sigma**2 for sigma, _ in drawn) / (d * d // 10))
            most.append(median(1 / alpha for _, alpha in drawn))
        found[name] = slope(sizes.dimensions, least), slope(sizes.dimensions, most)
    return found


@cache
def averages() -> dict[str, tuple[float, float, float, float]]:
    """Assumption 2.3: the least and largest |μ(σ)|, and of |γ(σ)|, over σ in 0.1 to 3, by Gauss-Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    g, share = torch.from_numpy(nodes), torch.from_numpy(weights / weights.sum())
    found = {}
    for name in EVEN:
        b, phi = SHARPNESS.get(name, 1.0), activation(name)
        told = [
            [abs(float((b**j * phi(b * s * g, j + 1) * share).sum())) for s in np.linspace(0.1, 3, 30)] for j in (0, 1)
        ]
        found[name] = min(told[0]), max(told[0]), min(told[1]), max(told[1])
    return found


def text() -> Iterator[str]:
    """The table of basins."""
    s = SIZES
    yield f"D = {s.d}, v* = 1, α = 1/β with β measured at the planted weights, {s.steps} steps of (2.6) on (v, W),"
    yield f"{s.draws} starts of every ρ before one X and W* a row, where ρ multiplies the right of (2.4) and (2.5) with"
    yield "C_0 = 1. A start counts where L_τ ≤ (1 - α m_L/2)^τ L_0 at every step, (7.54) with σ_min(J) measured for"
    yield f"c σ_min(W*) d. *c_0* is what (2.3) takes for its n: rows that take more than {SMALL:g} are outside of the"
    yield f"theorem. Softplus has b = {SHARPNESS['softplus']:g} as in Figure 1, logistic b = 1, erf as Example"
    yield "2.4 prints it. Rates and what is left are medians at ρ = 1."
    yield ""
    head = ("φ", "W*", "k", "N", "c_0", "(2.4)", "σ_min(J)/(σ_min d)", "α m_L/2", "rate seen", "L_τ/L_0",
            "‖W_τ-W*‖/‖W_0-W*‖", "test error, end over start", *(f"ρ = {r:g}" for r in s.radii))  # fmt: skip
    rows = (
        (b.name, b.weights, str(b.k), str(b.n), f"{b.asked:.2g}", f"{b.radius:.2g}", f"{b.sigma:.2g}",
         f"{b.guaranteed:.1e}", f"{b.seen:.1e}", f"{b.left:.0e}", f"{b.moved:.2f}", f"{b.tested:.2f}",
         *(f"{c}/{s.draws}" for c in b.held))
        for b in basins(s)
    )  # fmt: skip
    yield from grid(head, rows)


# Verdicts


def converges(even: bool, _: Made) -> Judged:
    """Theorem 2.5, or Remark 2.6: every start within (2.3), (2.4), (2.5) contracts."""
    s = SIZES
    mine = [b for b in basins(s) if EVEN[b.name] == even and b.asked <= SMALL]
    inside = [c for b in mine for c, rho in zip(b.held, s.radii, strict=True) if rho <= 1]
    rate = spread((b.seen / b.guaranteed for b in mine), ".2g")
    outside = [b.asked for b in basins(s) if EVEN[b.name] == even and b.asked > SMALL]
    return all(c == s.draws for c in inside), (
        f"{sum(inside)} of {len(inside) * s.draws} descents within (2.3), c_0 = "
        f"{spread((b.asked for b in mine), '.2g')}, (2.4) and (2.5), C_0 = 1, obey (7.54) at every step, before "
        f"{len(mine)} draws of X and W*; L falls {rate} times as fast as it says; "
        f"rows of Gaussian W* take c_0 = {min(outside):.2g} and do not count"
    )


def radius_is_necessary(_: Made) -> Judged:
    """Whether descents fail past (2.4): by how much it may be exceeded."""
    s = SIZES
    told, held = [], []
    for name in EVEN:
        reach = [b.reach(s.radii, s.draws) for b in basins(s) if b.name == name and b.asked <= SMALL]
        held.append(max(reach) <= 1)
        more = " or more" if max(reach) == s.radii[-1] else ""
        told.append(f"{name}: {min(reach):g} to {max(reach):g}{more}")
    return all(held), f"(7.54) holds up to a multiple of (2.4), (2.5) that is, by activation, {', '.join(told)}"


def radius_law(_: Made) -> Judged:
    """Whether the basin shrinks like n^-1.5: by its radius at the least and the most n, where the last is a bound."""
    s = SIZES
    told, steep = [], []
    for name in EVEN:
        mine = [b for b in basins(s) if b.name == name and b.weights == "orthonormal"]
        reach = [b.reach(s.radii, s.draws) for b in mine]
        if len(mine) > 1 and 0 < reach[0] < s.radii[-1] and reach[-1] > 0:
            ends = [(b.n, r * b.radius) for r, b in zip(reach, mine, strict=True)]
            steep.append(slope(*zip(ends[0], ends[-1], strict=True)))
            told.append(f"{name}: n^{steep[-1]:.2f}{' or less steeply' * (reach[-1] == s.radii[-1])}")
        else:
            told.append(f"{name}: wider than what was tried")
    held = all(abs(e + 1.5) < LAW for e in steep) if steep else None
    return (
        held,
        f"from N = {s.samples[0]} to {s.samples[-1]} the radius up to which (7.54) holds goes like {', '.join(told)}",
    )


def weights_are_found(_: Made) -> Judged:
    """Whether descent converges to the planted weights, or function, where L vanished."""
    mine = [b for b in basins(SIZES) if b.left < GONE]
    return max(b.moved for b in mine) < LEFT, (
        f"where L fell below {GONE:g} of L_0, in {len(mine)} of {len(basins(SIZES))} rows, "
        f"{spread((b.moved for b in mine), '.2f')} of ‖W_0 - W*‖ and {spread((b.tested for b in mine), '.2f')} of the "
        "error on fresh inputs are left: n < kd labels do not tell them"
    )


def rate_is_printed(_: Made) -> Judged:
    """Whether the rate is 1 - c α d/n, or that of the proof, d²/n."""
    found = {name: exponents[0] for name, exponents in rates(SIZES).items()}
    told = ", ".join(f"{name}: d^{e:.2f}" for name, e in found.items())
    return all(e < -LAW for e in found.values()), (
        f"σ_min(J)²/n at n = d²/10 goes like {told}, where d/n says d^-1 and the proof's m_L of (7.44), d²/n, says "
        "d^0; (7.59) loses a d on the way"
    )


def smoothness(_: Made) -> Judged:
    """(2.7): β grows like k."""
    found = {name: exponents[1] for name, exponents in rates(SIZES).items()}
    told = ", ".join(f"{name}: k^{e:.2f}" for name, e in found.items())
    return all(
        e < 1 + GROWTH for e in found.values()
    ), f"λ_max of the tangent kernel over n, k = d, n = d²/10, goes like {told}"


def examples(_: Made) -> Judged:
    """Example 2.4: μ > 0 of all four, γ ≠ 0 of softplus alone and 0 of the others."""
    found = averages()
    right = all(low > 1e-6 and ((g_low > 1e-6) if EVEN[n] else g_high < 1e-12) for n, (low, _, g_low, g_high) in
                found.items())  # fmt: skip
    told = "; ".join(f"{n}: μ ≥ {low:.2g}, γ {a:.1e} to {b:.1e}" for n, (low, _, a, b) in found.items())
    return right, f"over σ = 0.1 to 3, |μ| and |γ| by Gauss-Hermite: {told}"
