"""Theorem 2.5 (SPM1), Lemma 2.11: whether a single step of either ascent can fall."""

import math
from collections.abc import Iterator, Mapping

import torch

from benchmarks.reproduce.shallow.items import verdict
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import neurons
from benchmarks.reproduce.source_items import Item
from paramid import Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans import power_ascent, spectral_ascent
from paramid.methods.spans.subspace import Projector, Span

CLIMBED, SPANS = 30, 10
STEPS = (0.5, 1.0, 2.0, 4.0, 100.0)  # γ


def falling(sizes: Sizes, step: float) -> int:
    """Single steps of SPM in random spans in which Φ fell."""
    return sum(falls_in(p, run, step) for p, run in random_spans(sizes))


def falls_in(p: Projector, run: Run, step: float) -> int:
    """The same in one span."""
    u, falls = run.sphere(100, p.matrices.shape[2]), 0
    for _ in range(CLIMBED):
        after = power_ascent.ascend(p, u, step=step, steps=1, tol=0.0)
        falls += int((p.energy(after) < p.energy(u) - 1e-12).sum())
        u = after
    return falls


def random_spans(sizes: Sizes) -> Iterator[tuple[Projector, Run]]:
    """Spans of symmetric matrices of small sizes."""
    for seed in range(SPANS):
        run, d = Run.seeded(seed), 3 + seed % (sizes.frame - 2)
        q = torch.linalg.qr(run.normal(d * (d + 1) // 2, d * (d + 1) // 2))[0]
        k = 1 + seed * 7 % (d * (d + 1) // 2 - 1)
        yield Span(q[:, :k], q[:, k:], math.inf, d).projector(), run


def rising(sizes: Sizes) -> int:
    """Single steps of Algorithm 2.1 in the span of random weights in which λ₁ fell."""
    run, d = Run.seeded(0), sizes.frame
    m = neurons(d, 1.75)
    basis, c, falls = span_of_squares(run.sphere(m, d).T), run.normal(100, m), 0
    before = spectral_ascent.ascend(basis, d, c, step=10.0, steps=0, tol=0.0)[1]
    for steps in range(1, 30):
        after = spectral_ascent.ascend(basis, d, c, step=10.0, steps=steps, tol=0.0)[1]
        falls += int((after < before - 1e-12).sum())
        before = after
    return falls


def counted(falls: Mapping[float, int], rises: int, sizes: Sizes) -> str:
    """The line below the table."""
    told = ", ".join(f"{count} at γ = {step:g}" for step, count in falls.items())
    return (
        f"Falls of Φ by more than 1e-12 in a step, over {CLIMBED} steps of 100 starts in each of {SPANS} random spans "
        f"of D = 3 to {sizes.frame}: {told}. Falls of λ₁ in Algorithm 2.1 likewise: {rises}."
    )


def climbs(falls: Mapping[float, int], rises: int) -> Iterator[Item]:
    """What is said of single steps."""
    calm = ", ".join(f"{step:g}" for step, count in falls.items() if not count)
    wild = ", ".join(f"{count} at γ = {step:g}" for step, count in falls.items() if count)
    yield verdict(
        "Theorem 2.5 (SPM1): Φ rises where Φ + γ/4 times a power of ‖u‖ is strictly convex, e.g. for γ ≥ ½, as printed",
        not wild,
        f"no fall at γ = {calm}; falls: {wild or 'none'}. The step u + 2γ P(u uᵀ) u is along the gradient of "
        "Φ + ‖u‖⁴/(2γ), convex for 1/(2γ) ≥ ½, which is γ ≤ 1: the condition is printed the other way round, and the "
        "γ = 2 of §3.6 is outside of it",
    )
    yield verdict("Lemma 2.11: λ₁ rises in Algorithm 2.1", rises == 0, f"{rises} falls")
