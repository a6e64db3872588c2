"""Chapter 3 of the thesis in numbers: how descents better the shifts, and what bounds them.

(1)  B = m^{3/2} (ln m / D)^{3/4} max_k ‖w_k - ŵ_k‖,                                                        (3.142)
(2)  Δ_W1 = m^{1/2} ln(m)^{3/4} D^{-1/4} (‖W - Ŵ‖_F + Δ_O^{1/2} D^{-1/2} + ‖Σ_k (w_k - ŵ_k)‖),              (3.143)
     Δ_O = Σ_{k≠l} |⟨w_k - ŵ_k, w_l - ŵ_l⟩|,
(3)  ‖τ - τ̂‖ + Δ_W ≤ 1 / (C √m),  Δ_W = Δ_W1 + (m³ δ_max² / N)^{1/2},  which Theorem 3.4 supposes.           (3.73)
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.shallow.items import MODERATE, Check, upward, verdict
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import derived, drawn, ends_of
from benchmarks.reproduce.source_items import Item
from paramid import Network, Run
from paramid.methods.spans import shift_refinement
from paramid.methods.spans.subspace import leading_span
from paramid.words.activations import activation

TANH = activation("tanh")
ALIGNED = 2  # ‖Σ(w - ŵ)‖ / ‖W - Ŵ‖_F up to which errors count as not accumulated
NEWTON_STEPS = 8  # to where a descent would end


class Descended(NamedTuple):
    """Descents of the shifts with the true weights."""

    ratio: float  # of the errors of two late steps
    rate: float  # γ = 1/‖∇²J‖
    least: float  # λ_min(A), A = ½ ∇²J

    @property
    def printed(self) -> float:
        """ξ = 1 - γ λ_min(A)."""
        return 1 - self.rate * self.least


class End(NamedTuple):
    """Where a descent with wrong weights ends."""

    kind: str  # random errors of the weights, or aligned ones
    size: float  # of each
    error: float  # ‖τ̂ - τ‖
    scale: float  # Δ_W of (3)
    most: float  # 1/√m

    @property
    def supposed(self) -> bool:
        """(3) with C = 1 at the true shifts."""
        return self.scale <= self.most

    @property
    def ratio(self) -> float:
        """C of (3.74)."""
        return self.error / self.scale

    @property
    def row(self) -> tuple[str, ...]:
        """In the table."""
        numbers = (f"{self.size:g}", f"{self.error:.1e}", f"{self.scale:.1e}", f"{self.ratio:.2g}")
        return (self.kind, *numbers, "yes" if self.supposed else "no")


def descents(sizes: Sizes) -> Check:
    """Theorem 3.4: the rate with exact weights, and where descents end with wrong ones."""
    d, m = sizes.descent
    network, run = drawn(d, m), Run.seeded(0)
    x = run.normal(40 * m, d)
    true, wrong = descended(network, x, run, sizes.descent_steps), list(ends(network, x, run))
    lines = (
        f"D = {d}, m = {m}, within m ln² m ≤ D², N = {len(x)} samples, one network. "
        "Descents (3.72) from shifts off by 0.001 each, γ = 1/‖∇²J‖.",
        f"With the true weights every step leaves {true.ratio:.6f} of the error; "
        "1 - γ λ_min(A), A with its factor ½ as printed,",
        f"is {true.printed:.6f}, and 1 - γ λ_min(∇²J) = {1 - 2 * true.rate * true.least:.6f}.",
        f"With wrong weights no descent is run: the end is that of {NEWTON_STEPS} Gauss-Newton steps from "
        "the true shifts.",
        f"(3.73) with C = 1 asks for Δ_W ≤ 1/√m = {1 / math.sqrt(m):.2f} there.",
        "",
        *grid(
            ("errors of the weights", "their size", "‖τ̂ - τ‖ at the end", "Δ_W", "ratio", "within (3.73)"),
            (end.row for end in wrong),
        ),
    )
    return Check("Descents of the shifts (Theorem 3.4)", lines, tuple(of_descents(true, wrong)))


def descended(network: Network, x: Tensor, run: Run, steps: int) -> Descended:
    """Gradient descent on the samples x from shifts off by 0.001."""
    w, tau, y, g = network.weights[0], network.biases[0], network(x)[:, 0], TANH
    slopes = g(x @ w + tau, 1)
    values = torch.linalg.eigvalsh(slopes.T @ slopes / len(x))
    rate, least = 1 / float(values[-1]), float(values[0]) / 2
    t, errors = tau + 1e-3 * run.normal(1, network.widths[0])[0], []
    for _ in range(steps):
        z = x @ w + t
        t = t - rate / len(x) * ((g(z).sum(1) - y) @ g(z, 1))
        errors.append(float((t - tau).norm()))
    late = 2 * len(errors) // 3
    return Descended((errors[-1] / errors[late]) ** (1 / (len(errors) - 1 - late)), rate, least)


def ends(network: Network, x: Tensor, run: Run) -> Iterator[End]:
    """Gauss-Newton steps on the samples x, with weights that are off in random directions and in one."""
    w, tau, samples, m = network.weights[0], network.biases[0], [(x, network(x))], network.widths[0]
    for kind in ("random", "aligned"):
        for size in (1e-4, 1e-3, 1e-2):
            noise = run.normal(*w.shape) if kind == "random" else run.normal(len(w), 1).expand(w.shape)
            wrong = w + size * noise / noise.norm(dim=0)
            wrong = wrong / wrong.norm(dim=0)
            found = shift_refinement.gauss_newton(wrong, tau, TANH, samples, steps=NEWTON_STEPS)
            sampled = m**1.5 * float((w - wrong).norm(dim=0).max()) / math.sqrt(len(x))
            yield End(kind, size, float((found - tau).norm()), terms(w, wrong)["Δ_W1"] + sampled, 1 / math.sqrt(m))


def of_descents(true: Descended, wrong: Sequence[End]) -> Iterator[Item]:
    """What is said of descents."""
    yield verdict(
        "Theorem 3.4: linear convergence, ξ = 1 - γ λ_min(A)",
        true.ratio <= true.printed + 1e-9,
        f"{true.ratio:.6f} a step, below {true.printed:.6f}: J has the Hessian 2A, which (3.85) takes as A.",
    )
    of_kind = {kind: [end for end in wrong if end.kind == kind] for kind in ("random", "aligned")}
    power = {kind: slope((end.size for end in mine), (end.error for end in mine)) for kind, mine in of_kind.items()}
    within = [end.ratio for end in wrong if end.supposed]
    yield verdict(
        "Theorem 3.4, (3.74): the end is within C Δ_W",
        max(within) < MODERATE if within else None,
        f"C = {upward(max(within, default=math.nan))} suffices at the {len(within)} of {len(wrong)} errors within "
        f"(3.73), C = {upward(max(end.ratio for end in wrong))} in all; of Gauss-Newton steps from the true shifts. "
        f"Ends go like the weights' errors to the power {power['random']:.2f} (random) and "
        f"{power['aligned']:.2f} (aligned).",
    )
    pairs = list(zip(*of_kind.values(), strict=True))
    both = sum(r.supposed and a.supposed for r, a in pairs)
    told = ", ".join(f"{a.error:.1e} and {r.error:.1e} at {a.size:g}" for r, a in pairs)
    yield verdict(
        "§3.4.2: errors of weights that align accumulate, random ones cancel (there of bounds, here of ends)",
        all(a.error > r.error for r, a in pairs),
        f"Aligned and random ones leave {told}; both are within (3.73) in {both} of {len(pairs)} pairs.",
    )


def terms(w: Tensor, found: Tensor) -> dict[str, float]:
    """(1), (2) and its three terms for columns of the same order and signs."""
    d, m = w.shape
    e = w - found
    gram = e.T @ e
    scale = math.sqrt(m) * math.log(m) ** 0.75 * d**-0.25
    overlap = float((gram.abs().sum() - gram.diag().sum()).clamp_min(0)) ** 0.5 / math.sqrt(d)
    parts = {"‖W - Ŵ‖_F": float(e.norm()), "√(Δ_O / D)": overlap, "‖Σ(w - ŵ)‖": float(e.sum(1).norm())}
    before = m**1.5 * (math.log(m) / d) ** 0.75 * float(e.norm(dim=0).max())
    return {"B": before, "Δ_W1": scale * sum(parts.values()), **{n: scale * v for n, v in parts.items()}}


def figure_3_5(sizes: Sizes) -> dict[str, list[tuple[float, float]]]:
    """(1) and (2) over m for the maxima of spans from N_h = ⌈m ln D⌉ Hessians with the truncation of h = 0.01."""
    d, lines = sizes.figure, {}
    for m in sizes.widths:
        every = []
        for seed in range(sizes.repetitions):
            network = drawn(d, m, seed)
            w = network.weights[0]
            x = Run.seeded(seed).normal(math.ceil(m * math.log(d)), d)
            every.append(terms(w, ends_of(leading_span(derived(network, x, 1e-2), m, d), w).T))
        for name in every[0]:
            lines.setdefault(name, []).append((m, sum(e[name] for e in every) / len(every)))
    return lines


def bounds(sizes: Sizes) -> Check:
    """Figure 3.5."""
    lines = figure_3_5(sizes)
    parts = [n for n in lines if n not in ("B", "Δ_W1")]
    at = {m: {n: line[i][1] for n, line in lines.items()} for i, m in enumerate(sizes.widths)}
    many = [row for m, row in at.items() if m > sizes.figure]
    below = sum(row["Δ_W1"] < row["B"] for row in many)
    worst = max(row[parts[-1]] / row[parts[0]] for row in at.values())
    least = [m for m, row in at.items() if min(parts, key=row.__getitem__) == parts[-1]]
    others = ", ".join(str(m) for m in at if m not in least)
    return Check(
        "Figure 3.5: the bounds of the shifts before and after descents",
        (
            f"D = {sizes.figure}, every second m of the figure, means of {sizes.repetitions} draws (the thesis: 10).",
            "Spans are of N_h = ⌈m ln D⌉ Hessians off by the leading truncation of h = 0.01, directions the maxima",
            "next to the true weights; constants 1. The terms stand with their common factor.",
            "",
            *grid(
                ("m", "B of (3.142)", "Δ_W1 of (3.143)", *parts),
                ((f"{m}", *(f"{v:.1e}" for v in row.values())) for m, row in at.items()),
            ),
        ),
        (
            verdict(
                "Figure 3.5, (3.79): for m > D Δ_W1 is below the bound before descents",
                below == len(many),
                f"at {below} of {len(many)} m.",
            ),
            verdict(
                "Figure 3.5: errors of weights do not accumulate in their sum",
                worst < ALIGNED,
                f"‖Σ(w - ŵ)‖ is at most {worst:.2g} ‖W - Ŵ‖_F; aligned errors would have √m.",
            ),
            verdict(
                "Figure 3.5: ‖Σ(w - ŵ)‖ contributes least to Δ_W1",
                len(least) == len(at),
                f"least at {len(least)} of {len(at)} m{f'; not at m = {others}' if others else ''}, means of "
                f"{sizes.repetitions} draws. For random errors √(Δ_O / D) is of order m D^(-3/4), beside √m: the "
                "least for small m",
            ),
        ),
    )
