"""Chapter 3 of the thesis in numbers: spans of Hessians by differences, the N_h it takes, and directions from them.

The network has the largest m with m ln² m ≤ D², as Theorems 3.2 and 3.3 suppose for C = 1, and m ≥ D.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.shallow.hessian_information import alpha
from benchmarks.reproduce.shallow.items import MODERATE, NEAR, Check, verdict
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import derived, drawn, neurons, off, sampled, widest
from benchmarks.reproduce.source_items import Item
from paramid import Network, Run
from paramid.judging.spans_and_directions import score_subspace, span_of_squares
from paramid.methods.spans import power_ascent
from paramid.methods.spans.subspace import Span, leading_span
from paramid.words.activations import activation

STEPS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
PROVED = "m + m² ln m / D"


class Differenced(NamedTuple):
    """A span and its directions from differences of step h."""

    h: float
    epsilon: float  # of the Hessians
    delta: float  # of their span
    wedin: float  # its bound (3.23)
    error: float  # the largest of a direction
    held: int  # directions

    @property
    def row(self) -> tuple[str, ...]:
        """In the table."""
        numbers = (self.epsilon, self.delta, self.wedin, self.error, math.sqrt(self.delta))
        return (f"{self.h:g}", *(f"{v:.1e}" for v in numbers), f"{self.held}")


def differenced(network: Network, h: float) -> Differenced:
    """Algorithm 3.2 with the N_h of Lemma 3.1 for t = 1."""
    m, d, w = network.widths[0], network.inputs, network.weights[0]
    exact, rough = sampled(network, choices(d, m)[PROVED], Run.seeded(0), h)
    span, gap = leading_span(rough, m, d), (exact - rough).norm()
    u = directions(span, m)
    return Differenced(
        h,
        epsilon=float(gap) / math.sqrt(len(exact) * m),
        delta=score_subspace(span_of_squares(w), span.basis)["subspace_error"],
        wedin=float(gap / torch.linalg.svdvals(rough)[m - 1]),
        error=float(off(u, w).max()),
        held=len(u),
    )


def directions(span: Span, m: int) -> torch.Tensor:
    """Algorithm 2.2 as §3.6 runs it: ⌈5 m ln D⌉ random starts, Φ > 0.9."""
    p, run = span.projector(), Run.seeded(1)
    count = math.ceil(5 * m * math.log(span.d))
    u = power_ascent.ascend(p, run.sphere(count, span.d), step=2.0, steps=1000, tol=1e-12)
    return power_ascent.distinct(u, p.energy(u), threshold=0.9, most=9 * m)


def spans(sizes: Sizes) -> Check:
    """Lemma 3.1, Proposition 1.1, Theorem 3.3 over the step h; the N_h that they need."""
    d = sizes.span
    network = drawn(d, widest(d))
    m = network.widths[0]
    seen = [differenced(network, h) for h in STEPS]
    lines = (
        f"D = {d}, m = {m}, N_h = ⌈{PROVED}⌉ = {choices(d, m)[PROVED]}, one network, the printed stencil. "
        "ε = ‖M - M̂‖_F / √(N_h m),",
        "which the proof of Lemma 3.1 bounds by C ε for the ε of (3.6), that of one neuron. Directions are those of",
        "Algorithm 3.2, from ⌈5 m ln D⌉ random starts; their errors are the largest.",
        "",
        *grid(
            ("h", "ε", "δ", "‖M - M̂‖_F / σ_m(M̂)", "weight error", "√δ", "directions held"), (one.row for one in seen)
        ),
        "",
        *counts(network),
    )
    return Check(
        "Spans and directions over the step of differences (Lemma 3.1, Theorem 3.3)",
        lines,
        (*of_steps(seen, m), needed(network, sizes)),
    )


def of_steps(seen: Sequence[Differenced], m: int) -> Iterator[Item]:
    """What is said of the errors of spans and directions."""
    coarse = [one for one in seen if one.h >= 1e-3]
    steps, epsilons, deltas, errors = ([getattr(o, n) for o in coarse] for n in ("h", "epsilon", "delta", "error"))
    by_epsilon = slope(epsilons, deltas)
    yield verdict(
        "Lemma 3.1, (3.21): δ ≤ C √(m/α) ε, here its power of ε",
        abs(by_epsilon - 1) < NEAR,
        f"from h = 0.1 to 0.001 δ goes like ε^{by_epsilon:.2f} and like h^{slope(steps, deltas):.2f}; "
        "one network, √(m/α) is not tested",
    )
    yield verdict(
        "Proposition 1.1, (3.23): Wedin's bound",
        all(one.delta <= one.wedin for one in seen),
        f"with the constant 1 of (3.23), and so with the 2 of Proposition 1.1; "
        f"{min(one.wedin / one.delta for one in seen):.2g} times δ at the least",
    )
    yield verdict(
        "Theorem 3.3, (3.14): weight errors ≤ C (m/α)^{1/4} √ε, here as errors ≤ √δ, (2.55)",
        all(one.error <= math.sqrt(one.delta) and one.held == m for one in seen),
        f"true of all {m} directions, and not tight: errors go like δ^{slope(deltas, errors):.2f}, hence like ε and "
        "not √ε; (m/α)^{1/4} is not tested",
    )


def choices(d: int, m: int) -> dict[str, int]:
    """Numbers of Hessians: what spans at all, what the thesis takes, what it proves enough for t = 1."""
    return {
        "m": m,
        "1.1 m": math.ceil(1.1 * m),
        "1.5 m": math.ceil(1.5 * m),
        "m ln D": math.ceil(m * math.log(d)),
        PROVED: math.ceil(m + m * m * math.log(m) / d),
    }


def delta_of(network: Network, count: int) -> float:
    """δ of a span from so many Hessians with the truncation of h = 0.01."""
    m, d = network.widths[0], network.inputs
    span = leading_span(derived(network, Run.seeded(0).normal(count, d), 1e-2), m, d)
    return float(score_subspace(span_of_squares(network.weights[0]), span.basis)["subspace_error"])


def counts(network: Network) -> Iterator[str]:
    """δ over the number of Hessians."""
    yield "δ at h = 0.01 over the number of Hessians:"
    yield ""
    every = choices(network.inputs, network.widths[0])
    head, row = (f"N_h = {n} = {c}" for n, c in every.items()), (f"{delta_of(network, c):.1e}" for c in every.values())
    yield from grid(head, [row])


def needed(network: Network, sizes: Sizes) -> Item:
    """The N_h of Theorem 3.2."""
    every = choices(network.inputs, network.widths[0])
    few, proved = (delta_of(network, every[n]) for n in ("1.1 m", PROVED))
    d = sizes.dimensions[-1]
    m = neurons(d, 2.0)
    large = drawn(d, m)
    least = math.log(2 * d**2) / alpha(large.weights[0], large.biases[0], activation("tanh"))[0]
    theirs, asked = math.ceil(m * math.log(d)), least * (m + m**2 * math.log(m) / d)
    return verdict(
        "Theorem 3.2: N_h > t (m + m² ln m / D) Hessians are enough",
        True if few < MODERATE * proved else None,
        f"enough, and more than needed: 1.1 m Hessians have δ = {few:.1e}, those of t = 1 {proved:.1e}. "
        f"With C = 1 its probability is above 0 only for t > ln(2D²)/α = {least:.0f} at D = {d}, m = {m} (one draw): "
        f"N_h = {asked:.0e}, where the thesis takes {theirs}, which is t = {theirs / (asked / least):.2g}. "
        f"And its m² exp(-√D) = {m**2 * math.exp(-math.sqrt(d)):.3g}, free of t, has to be below 1 as well",
    )
