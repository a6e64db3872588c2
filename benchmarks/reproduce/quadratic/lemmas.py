"""Lemmas of §5 and §7 in numbers: Khatri-Rao products, the fourth moment, and L around planted weights (seconds).

    (1)  ‖v‖_∞ σ_min(A) ≤ σ_max(D_v A),   A (k × d),                                              Lemma 5.3
    (2)  (A ⋆ B)ᵀ(A ⋆ B) = AᵀA ∘ BᵀB,                                                             Lemma 5.4
    (3)  σ_min(X ⋆ X) > 0   for d ≤ n ≤ d(d+1)/2 and almost every X,                              Lemma 5.6
    (4)  ‖1/n Σ (x_iᵀAx_i) x_i x_iᵀ - (2A + tr(A) I)‖_* ≤ δ ‖A‖_*   for n ≥ c(δ) d log d,          Lemma 5.7
    (5)  √d - tρ ≤ ‖z‖ ≤ (√d + t)ρ   with probability ≥ 1 - 2 e^{-t²/2},                          Lemma 7.10
    (6)  m_L L ≤ ‖∇_W L‖²_F ≤ m_U L,   m_L = σ_min(J*)²/(2n),   m_U = 9/2 C² σ_max² k,   on Ω,    (7.44), (7.45)
         ‖∇_v L‖²_∞ ≤ (4φ(0)² + 128B² + 128B² w_max²) L,                                          (7.46)
    (7)  L ≤ ‖v*‖² ‖W - W*‖²_F + 2 (φ(0)² + 2B² w_max²) k² ‖v - v*‖²_∞.                            Lemma 7.13
    (8)  ∇²L ≤ β I,   β = (3C² σ_max² + 8 v_max² BL + 4B² w_max² + 2φ(0)²) k,   on Ω.             Lemma 7.14

C = σ_max(J*)/(σ_max √(nk)) is (7.13)'s, measured, and Ω is told with c/C' = 1 for its radius (7.43). The proof
of (4) bounds the spectral norm; both are measured. With z = (φ'(Wx) - μ)/γ for orthonormal W, ρ = L/γ.

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.quadratic.jacobian_spectra import averaged, bend
from benchmarks.reproduce.quadratic.local_convergence import EVEN, GROWTH, SHARPNESS, constants, planted
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid import Run, activation
from paramid.methods.squares.overparam_descent import Problem, point
from paramid.methods.squares.overparam_polish import tangent_kernel

DIMENSIONS = (5, 10, 20, 40, 80)
OVERSAMPLING = 20  # n = 20 d log d in (4)
STEEPEST = {"softplus": 1.0, "tanh": 1.0, "logistic": 0.25, "erf": 2 / math.sqrt(math.pi)}  # B = max |φ'|
MOMENT_DRAWS = 5  # of (4)
BENT = 3  # points at which (8) is looked at
POINTS, DRAWS = 60, 10_000  # around planted weights, and of z in (5)
ROUNDING = 1e-10


def khatri_rao(a: Tensor, b: Tensor) -> Tensor:
    """A ⋆ B: the Kronecker products of columns."""
    return (a[:, None] * b[None]).flatten(0, 1)


def smallest(d: int, n: int, seed: int) -> float:
    """σ_n(X ⋆ X) over σ_1 of Gaussian X (d × n); 0 where n exceeds d²."""
    x = Run.seeded(seed).normal(d, n)
    values = torch.linalg.svdvals(khatri_rao(x, x))
    return float(values[n - 1] / values[0]) if n <= len(values) else 0.0


def fourth_moment(d: int, n: int, seed: int) -> tuple[float, float, float]:
    """The left of (4) over ‖A‖_*: in the nuclear and the spectral norm for A = I / d, in the spectral for A = e eᵀ."""
    x = Run.seeded(seed).normal(n, d)
    one = torch.eye(d, dtype=x.dtype, device=x.device)
    weighted = (x.T * x.square().sum(1) / d) @ x / n
    gap = torch.linalg.eigvalsh(weighted - (2 / d + 1) * one).abs()
    first = torch.outer(one[0], one[0])
    single = torch.linalg.eigvalsh((x.T * x[:, 0].square()) @ x / n - 2 * first - one).abs()
    return float(gap.sum()), float(gap.max()), float(single.max())


@cache
def ranks() -> tuple[tuple[int, float, float], ...]:
    """(3): d, σ_min/σ_max at n = d(d+1)/2, and at one more."""
    sizes = [d for d in DIMENSIONS if d <= 20]
    return tuple((d, smallest(d, d * (d + 1) // 2, d), smallest(d, d * (d + 1) // 2 + 1, d)) for d in sizes)


@cache
def moments() -> tuple[tuple[int, int, float, float, float], ...]:
    """(4): d, n, and the three norms, each the largest of `MOMENT_DRAWS`."""
    sizes = [(d, math.ceil(OVERSAMPLING * d * math.log(d))) for d in DIMENSIONS]
    drawn = {d: [fourth_moment(d, n, d + 1000 * i) for i in range(MOMENT_DRAWS)] for d, n in sizes}
    largest = {d: [max(values) for values in zip(*found, strict=True)] for d, found in drawn.items()}
    return tuple((d, n, *largest[d]) for d, n in sizes)


def text() -> Iterator[str]:
    """Lemma 5.7 over d."""
    yield f"Lemma 5.7 with ‖A‖_* = 1, n = {OVERSAMPLING} d log d, the largest of {MOMENT_DRAWS} draws of every d:"
    yield ""
    rows = ((str(d), str(n), *(f"{norm:.2f}" for norm in norms)) for d, n, *norms in moments())
    head = ("d", "n", "A = I/d, nuclear norm, as printed", "A = I/d, spectral norm, as proved",
            "A = e eᵀ, spectral norm, Lemma A.1")  # fmt: skip
    yield from grid(head, rows)


# Verdicts


def tall_matrices(_: Made) -> Judged:
    """Lemma 5.3, of arbitrary A (k × d): A = (1, 0)ᵀ, v = (0, 1), and random ones of k = d and k = 2d."""
    a, v = torch.tensor([[1.0], [0.0]], dtype=torch.float64), torch.tensor([0.0, 1.0], dtype=torch.float64)
    left = float(v.abs().max() * torch.linalg.svdvals(a)[-1])
    right = float(torch.linalg.svdvals(v[:, None] * a)[0])
    square = []
    for seed in range(100):
        run = Run.seeded(seed)
        a, v = run.normal(6, 6), run.normal(6, 1)
        square.append(float(torch.linalg.svdvals(v * a)[0] - v.abs().max() * torch.linalg.svdvals(a)[-1]) >= 0)
    return left <= right, (
        f"A = (1, 0)ᵀ and v = (0, 1) give {left:g} ≤ {right:g}: its proof takes u with Au = e_i, which there is for "
        f"k ≤ d only, and is used for k ≥ d in (7.8); {sum(square)} of {len(square)} random square A obey it"
    )


def products(_: Made) -> Judged:
    """Lemma 5.4."""
    run = Run.seeded(0)
    a, b = run.normal(4, 7), run.normal(5, 7)
    product = khatri_rao(a, b)
    gap = float((product.T @ product - (a.T @ a) * (b.T @ b)).abs().max())
    return gap < ROUNDING, f"to {gap:.1e} on a 4 × 7 and a 5 × 7 matrix"


def full_rank(_: Made) -> Judged:
    """Lemma 5.6, and that one sample more is too many."""
    inside, outside = [low for _, low, _ in ranks()], [high for _, _, high in ranks()]
    sizes = ", ".join(str(d) for d, _, _ in ranks())
    return min(inside) > ROUNDING > max(outside), (
        f"d = {sizes}: σ_min/σ_max is {spread(inside, '.1e')} at n = d(d+1)/2, and {spread(outside, '.1e')} with one "
        "more"
    )


def nuclear(_: Made) -> Judged:
    """Lemma 5.7 as printed: no growth with d."""
    rows = moments()
    growth = slope([r[0] for r in rows], [r[2] for r in rows])
    return growth < GROWTH, (
        f"A = I/d, n = {OVERSAMPLING} d log d: the nuclear norm of the difference over ‖A‖_* grows like "
        f"d^{growth:.2f}, from {rows[0][2]:.2f} to {rows[-1][2]:.2f}"
    )


def spectral(_: Made) -> Judged:
    """Lemma 5.7 as proved, and Lemma A.1."""
    rows = moments()
    growth = [slope([r[0] for r in rows], [r[i] for r in rows]) for i in (3, 4)]
    told = (
        f"{name} like d^{rate:.2f}: {spread((r[i] for r in rows), '.2f')}"
        for name, rate, i in zip(("A = I/d", "A = e eᵀ"), growth, (3, 4), strict=True)
    )
    return max(growth) < GROWTH, f"the spectral norm over ‖A‖_* goes for {', for '.join(told)}"


def lengths(_: Made) -> Judged:
    """Lemma 7.10 for softplus, d = 40, t = 2."""
    d, t, b, run = 40, 2.0, SHARPNESS["softplus"], Run.seeded(0)
    w, x = torch.linalg.qr(run.normal(d, d))[0], run.normal(d, DRAWS)
    gamma = averaged("softplus", 2)
    z = ((activation("softplus")(b * w @ x, 1) - averaged("softplus", 1)) / gamma).norm(dim=0)
    rho = b / 4 / gamma
    outside = float(((z < math.sqrt(d) - t * rho) | (z > (math.sqrt(d) + t) * rho)).to(z).mean())
    return (
        outside <= 2 * math.exp(-t * t / 2),
        f"softplus, d = {d}, t = {t:g}: outside in {outside:.1%} of {DRAWS} draws, "
        f"at most {2 * math.exp(-t * t / 2):.0%} are allowed",
    )


@dataclass(frozen=True)
class Around:
    """Over points of Ω what (6) to (8) measure over what they allow; `slow` at its least, others at their largest."""

    slow: float  # (7.44)
    steep: float  # (7.45)
    outer: float  # (7.46)
    far: float  # (7)
    bent: float  # (8), at `BENT` of the points


@cache
def around(name: str) -> Around:
    """Points within R = √(d/n)/4 of planted weights."""
    d, n = 20, 40
    run = Run.seeded(0)
    problem, w, v = planted(name, d, d, n, run)
    sigma, _ = constants(problem, w, v)
    runs, scale = POINTS, math.sqrt(d / n) / 4
    u, side = run.normal(runs * d, d).reshape(runs, d, d), run.normal(runs, d).sign()
    length = scale * torch.linspace(0.02, 1, runs, dtype=w.dtype, device=w.device)
    u = u / u.flatten(1).norm(dim=1)[:, None, None]
    several = Problem(problem.x, problem.y.expand(runs, -1), problem.g, problem.b)
    at = point(several, w + length[:, None, None] * u, v + length[:, None] * side)
    slopes = at.by_w.square().sum((1, 2)) / at.loss
    kernel = tangent_kernel(replace(problem, train_outer=False), w[None], v[None])[0]
    c2 = float(torch.linalg.eigvalsh(kernel)[-1]) / (n * d)
    zero, b2, most = float(problem.phi(torch.zeros_like(w[0, 0]))), STEEPEST[name] ** 2, bend(name)
    bound = d * length**2 + 2 * (zero**2 + 2 * b2) * d**2 * length**2
    beta = (3 * c2 + 8 * STEEPEST[name] * most + 4 * b2 + 2 * zero**2) * d
    bent = [largest_curvature(problem, at.w[i], at.v[i]) for i in torch.linspace(0, runs - 1, BENT).long()]
    return Around(
        float((slopes / (sigma**2 / (2 * n))).min()),
        float((slopes / (4.5 * c2 * d)).max()),
        float((at.by_v.square().max(1).values / at.loss / (4 * zero**2 + 256 * b2)).max()),
        float((at.loss / bound).max()),
        max(bent) / beta,
    )


def largest_curvature(problem: Problem, w: Tensor, v: Tensor) -> float:
    """λ_max of the second derivative of L in (W, v)."""

    def loss(flat: Tensor) -> Tensor:
        inner, outer = flat[: w.numel()].reshape(w.shape), flat[w.numel() :]
        return (problem.phi(problem.x @ inner) @ outer - problem.y[0]).square().mean() / 2

    both = torch.cat([w.flatten(), v])
    return float(torch.linalg.eigvalsh(torch.autograd.functional.hessian(loss, both))[-1])


def largest(what: str) -> dict[str, float]:
    """Of every activation."""
    return {name: float(getattr(around(name), what)) for name in EVEN}


def told(found: dict[str, float]) -> str:
    """In words."""
    return ", ".join(f"{name} {value:.2g}" for name, value in found.items())


def slopes(_: Made) -> Judged:
    """Lemma 7.12, (7.44)."""
    found = largest("slow")
    words = f"the least ‖∇_W L‖² over m_L L of {POINTS} points with ‖W - W*‖_F ≤ √(d/n)/4: {told(found)}"
    return min(found.values()) >= 1, words


def slopes_above(_: Made) -> Judged:
    """Lemma 7.12, (7.45) and (7.46)."""
    steep, outer = largest("steep"), largest("outer")
    held = max(*steep.values(), *outer.values()) <= 1
    return held, (
        f"the largest share of (7.45) with C of (7.13) measured at W*: {told(steep)}; of (7.46): {told(outer)}; at the "
        "same points"
    )


def distances(_: Made) -> Judged:
    """Lemma 7.13."""
    found = largest("far")
    return max(found.values()) <= 1, f"the largest share of the bound at the same points: {told(found)}"


def curvatures(_: Made) -> Judged:
    """Lemma 7.14."""
    found = largest("bent")
    return max(found.values()) <= 1, (
        f"the largest λ_max(∇²L) over (7.49), with C of (7.13) measured at W*, of {BENT} of those points: {told(found)}"
    )


def last_step(_: Made) -> Judged:
    """(7.59), second line: 1 - a σ_min² ≤ 1 - a w_max, which is σ_min² ≥ w_max; at W* of k = 2d Gaussian rows."""
    d = 20
    _, w, _ = planted("softplus", d, 2 * d, d, Run.seeded(0))
    low, high = float(torch.linalg.svdvals(w)[-1]) ** 2, float(w.norm(dim=0).max())
    return low >= high, (
        f"it puts w_max for σ_min(W*)² as σ_min < w_max, which makes the right smaller: σ_min² = {low:.2f} and "
        f"w_max = {high:.2f} for Gaussian W*, k = 2d; and the line above it has d for the d² of m_L"
    )
