"""Chapter 3 of the thesis in numbers: how descents better the shifts, and what bounds them.

(1)  B = m^{3/2} (ln m / D)^{3/4} max_k ‖w_k - ŵ_k‖,                                                        (3.142)
(2)  Δ_W1 = m^{1/2} ln(m)^{3/4} D^{-1/4} (‖W - Ŵ‖_F + Δ_O^{1/2} D^{-1/2} + ‖Σ_k (w_k - ŵ_k)‖),              (3.143)
     Δ_O = Σ_{k≠l} |⟨w_k - ŵ_k, w_l - ŵ_l⟩|.
"""

import math

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.shallow.items import Check, verdict
from benchmarks.reproduce.shallow.teachers import Sizes, derived, drawn, ends_of
from paramid import Run
from paramid.methods.spans import shift_refinement
from paramid.methods.spans.subspace import leading_span
from paramid.words.activations import activation


def descents(sizes: Sizes) -> Check:
    """Theorem 3.4: the rate with exact weights, and where descents end with wrong ones."""
    d, m = sizes.descent
    network, g, run = drawn(d, m), activation("tanh"), Run.seeded(0)
    w, tau = network.weights[0], network.biases[0]
    x = run.normal(40 * m, d)
    y = network(x)
    slopes = g(x @ w + tau, 1)
    values = torch.linalg.eigvalsh(slopes.T @ slopes / len(x))
    rate, half = 1 / float(values[-1]), float(values[0]) / 2
    t, errors = tau + 1e-3 * run.normal(1, m)[0], []
    for _ in range(sizes.descent_steps):
        z = x @ w + t
        t = t - rate / len(x) * ((g(z).sum(1) - y[:, 0]) @ g(z, 1))
        errors.append(float((t - tau).norm()))
    late = 2 * len(errors) // 3
    ratio = (errors[-1] / errors[late]) ** (1 / (len(errors) - 1 - late))
    rows, ends = [], {}
    for kind in ("random", "aligned"):
        for size in (1e-4, 1e-3, 1e-2):
            noise = run.normal(d, m) if kind == "random" else run.normal(d, 1).expand(d, m)
            wrong = w + size * noise / noise.norm(dim=0)
            wrong = wrong / wrong.norm(dim=0)
            end = float((shift_refinement.gauss_newton(wrong, tau, g, [(x, y)], steps=8) - tau).norm())
            scale = terms(w, wrong)["Δ_W1"]
            ends.setdefault(kind, []).append((size, end, end / scale))
            rows.append((kind, f"{size:g}", f"{end:.1e}", f"{scale:.1e}", f"{end / scale:.2g}"))
    lines = (
        f"D = {d}, m = {m}, N = {len(x)} samples, one network. Descents (3.72) from shifts off by 0.001 each, γ = "
        "1/‖∇²J‖.",
        f"With the true weights every step leaves {ratio:.6f} of the error; 1 - γ λ_min(A), A with its factor ½ as "
        "printed,",
        f"is {1 - rate * half:.6f}, and 1 - γ λ_min(∇²J) = {1 - 2 * rate * half:.6f}. With wrong weights, where "
        "they end:",
        "",
        *grid(("errors of the weights", "their size", "‖τ̂ - τ‖ at the end", "Δ_W1", "ratio"), rows),
    )
    linear = {kind: slope([e[0] for e in every], [e[1] for e in every]) for kind, every in ends.items()}
    worst = max(e[2] for every in ends.values() for e in every)
    halves = {kind: max(e[1] for e in every) for kind, every in ends.items()}
    items = (
        verdict(
            "Theorem 3.4: linear convergence, ξ = 1 - γ λ_min(A)",
            ratio <= 1 - rate * half + 1e-9,
            f"{ratio:.6f} a step, below {1 - rate * half:.6f}: J has the Hessian 2A, which (3.85) takes as A.",
        ),
        verdict(
            "Theorem 3.4, (3.74): the end is within C Δ_W",
            worst < 10,
            f"with C = {worst:.2g}; ends go like the weights' errors to the power {linear['random']:.2f} (random) and "
            f"{linear['aligned']:.2f} (aligned).",
        ),
        verdict(
            "§3.4.2: aligned errors of weights are worse for shifts than random ones",
            halves["aligned"] > halves["random"],
            f"At errors of 0.01 they leave {halves['aligned']:.1e}, random ones {halves['random']:.1e}.",
        ),
    )
    return Check("Descents of the shifts (Theorem 3.4)", lines, items)


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
                worst < 2,
                f"‖Σ(w - ŵ)‖ is at most {worst:.2g} ‖W - Ŵ‖_F; aligned errors would have √m.",
            ),
            verdict(
                "Figure 3.5: ‖Σ(w - ŵ)‖ contributes least to Δ_W1",
                len(least) == len(at),
                f"at m = {', '.join(map(str, least)) or 'none'} of {', '.join(map(str, at))}.",
            ),
        ),
    )
