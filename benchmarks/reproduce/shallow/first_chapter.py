"""Chapter 1 of the thesis in numbers: SGD next to its teacher, one neuron, few, passive samples, and many neurons."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.shallow.hessian_information import hermite
from benchmarks.reproduce.shallow.items import NEAR, Check, verdict
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import asked, drawn, off
from benchmarks.reproduce.source_items import Item
from paramid import GiveUp, Network, Run
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.refinement import joint_refinement
from paramid.methods.refinement.backprop import loss_gradient
from paramid.methods.spans import symmetric
from paramid.tasks.shallow import Shallow
from paramid.words.activations import activation

STEPS = (1e-1, 1e-2, 1e-3, 1e-4)  # of forward differences
LEFT, STAYED = 1, 1e-2  # J of a student that left its teacher, and of one that did not
OUTSIDE = 1e-4  # of weights in an active subspace
CONDITION, ROUNDING = 1e6, 1e-9  # of a Jacobian of full rank, and errors of a network that is refined to rounding


def students(sizes: Sizes) -> Check:
    """Whether the rate of §1.3.1 keeps SGD next to the teacher."""
    rows, left, kept = [], [], []
    for d, m in sizes.students:
        ends = [loss_after(d, m, rate, sizes.student_steps) for rate in (0.005, 0.5 / m)]
        left.append(ends[0] > LEFT)
        kept.append(ends[1] < STAYED)
        rows.append((f"{d}", f"{m}", *(f"{e:.1e}" for e in ends)))
    out = [f"D = {d}, m = {m}" for (d, m), gone in zip(sizes.students, left, strict=True) if gone]
    why = "The printed rate stays at the teacher everywhere."
    if out:
        why = f"At {'; '.join(out)} the printed rate leaves even the teacher within {sizes.student_steps} steps."
    ours = (
        f"0.5 / m stays in {sum(kept)} of {len(kept)}. One start each: the rate is a reason, "
        "which does not exclude the other that the thesis names, and nothing is said of random starts."
    )
    return Check(
        "SGD from next to the teacher (Figure 1.3)",
        (
            f"J on fresh batches after {sizes.student_steps} steps from parameters off by 0.001, "
            "batches of 64, shifts of variance 0.05.",
            "",
            *grid(("D", "m", "rate 0.005", "rate 0.5 / m"), rows),
        ),
        (
            verdict(
                "§1.3.1: the drop in Figure 1.3 might lie in the learning rate, or in the training time",
                True if out and all(kept) else None,
                f"{why} {ours}",
            ),
        ),
    )


def loss_after(d: int, m: int, rate: float, steps: int) -> float:
    """The mean squared error of a student that was started next to its teacher."""
    teacher, run = Shallow(D=d, m=m, shift_law="normal", shift=math.sqrt(0.05)).draw(0), Run.seeded(0)
    w, b = (
        p + 1e-3 * run.normal(len(p) if p.ndim > 1 else 1, p.shape[-1]).view(p.shape)
        for p in (teacher.weights[0], teacher.biases[0])
    )
    student, loss = Network.shallow(w, b, "tanh"), 0.0
    for _ in range(steps):
        x = run.normal(64, d)
        loss, by_weights, by_biases = loss_gradient(student, x, teacher(x))
        w.sub_(by_weights[0], alpha=rate)
        b.sub_(by_biases[0], alpha=rate)
    return float(loss)


class Measured(NamedTuple):
    """What chapter 1 and §2.7 say of single networks, in numbers."""

    gaps: list[float]  # errors of one neuron by the step of differences
    rank: float  # σ₆/σ₅ of gradients of five neurons
    outside: float  # of their weights, off the leading five directions
    misses: list[float]  # errors of (1.17) by the number of samples
    condition: float  # of the Jacobian of a network past D(D-1)/2
    end: float  # error of its refinement
    half: tuple[float, float]  # the least and the largest Φ of random u in spans of D(D-1)/2 squares
    whole: tuple[float, float]  # and of D(D+1)/2


def measured(sizes: Sizes) -> Measured:
    """The numbers of `first_chapter`."""
    gaps, misses = [one_neuron(h) for h in STEPS], [passive(n) for n in sizes.samples]
    (rank, outside), (condition, end) = active_subspace(20, 5), past_the_span(*sizes.past)
    d = sizes.past[0]
    return Measured(gaps, rank, outside, misses, condition, end, levels(d, limit(d)), levels(d, limit(d) + d))


def first_chapter(sizes: Sizes) -> Check:
    """Example 1.1, (1.17), and networks past D(D-1)/2."""
    found = measured(sizes)
    return Check(
        "One neuron, passive Hessians, and what D(D-1)/2 limits (chapter 1, §2.7)",
        tuple(lines(found, sizes)),
        tuple(items(found, sizes)),
    )


def lines(found: Measured, sizes: Sizes) -> Iterator[str]:
    """The numbers."""
    (d, m), gaps, misses = sizes.past, written(found.gaps), written(found.misses)
    steps, samples = ", ".join(f"{h:g}" for h in STEPS), ", ".join(f"{n:,}" for n in sizes.samples)
    yield f"- One neuron, forward differences along the axes: direction errors {gaps} at steps {steps}."
    yield (
        f"- Gradients of 5 neurons, D = 20: σ₆/σ₅ = {found.rank:.0e}, "
        f"weights {found.outside:.0e} outside the leading five."
    )
    yield f"- (1.17) for E[∇²f], D = 6, m = 4: errors {misses} from {samples} samples."
    yield (
        f"- D = {d}, m = {m}, past D(D-1)/2 = {limit(d)}: "
        f"the Jacobian of the values has condition {found.condition:.0f}, and a"
    )
    yield f"  refinement of all parameters from 5 % off ends {found.end:.1e} off."
    yield f"- Φ of 1000 random u, D = {d}: {told(found.half)} in the span of {limit(d)} random w_k w_kᵀ,"
    yield f"  {told(found.whole)} in that of {limit(d) + d}."


def written(errors: list[float]) -> str:
    """Errors one after the other."""
    return ", ".join(f"{e:.1e}" for e in errors)


def told(levels: tuple[float, float]) -> str:
    """From the least to the largest."""
    return f"{levels[0]:.4f} to {levels[1]:.4f}"


def limit(d: int) -> int:
    """D(D-1)/2."""
    return d * (d - 1) // 2


def items(found: Measured, sizes: Sizes) -> Iterator[Item]:
    """What they say."""
    forward, shrinks = slope(STEPS, found.gaps), slope(sizes.samples, found.misses)
    yield verdict(
        "Example 1.1: one neuron from a gradient, here its direction",
        abs(forward - 1) < NEAR,
        f"error ~ step^{forward:.2f}; its norm and shift are not tested",
    )
    yield verdict(
        "Remark 1.5: gradients show the active subspace for m < D",
        max(found.rank, found.outside) < OUTSIDE,
        f"weights lie in it but for {found.outside:.0e}.",
    )
    yield verdict(
        "(1.17): passive sampling of E[∇ⁿf], here n = 2", abs(shrinks + 0.5) < NEAR, f"error ~ N^{shrinks:.2f}"
    )
    d, m = sizes.past
    yield verdict(
        "§2.7, §3.1: m = D(D-1)/2 is the information-theoretic limit of networks",
        not (found.condition < CONDITION and found.end < ROUNDING),
        f"it limits spans of Hessians, and not what values tell: {m} neurons on {d} inputs, past {limit(d)}, are "
        f"locally identifiable and refined to {found.end:.0e}; the section on the limit identifies such networks "
        "from nothing",
    )
    yield verdict(
        "§2.7: every u is a global maximizer at m = D(D-1)/2 = dim Sym(R^D×D)",
        found.half[0] > 1 - ROUNDING,
        f"random u have Φ = {told(found.half)} at m = {limit(d)}, D = {d}; the dimension is D(D+1)/2, as §2.1.1 has it",
    )
    yield verdict(
        "§2.1.1: m < D(D+1)/2 is necessary for a rank-one basis to be unique",
        found.whole[0] > 1 - ROUNDING,
        f"random u have Φ = {told(found.whole)} at m = {limit(d) + d}, D = {d}",
    )
    tanh, logistic = activation("tanh").monotone, activation("logistic").monotone
    yield verdict("Example 3.1: τ_∞ ≈ 0.6 for tanh", tanh >= 0.6, f"g'' is monotone up to {tanh:.4f}.")
    yield verdict(
        "Example 3.1: τ_∞ ≈ 1.5 for the logistic function", logistic >= 1.5, f"g'' is monotone up to {logistic:.4f}."
    )


def one_neuron(h: float) -> float:
    """The error of the weight of a neuron from one gradient by forward differences."""
    network, run = drawn(20, 1), Run.seeded(0)
    x = run.normal(1, 20)
    gradient = (network(x + h * torch.eye(20, dtype=x.dtype)) - network(x))[:, 0]
    return float(off((gradient / gradient.norm())[None], network.weights[0]).max())


def active_subspace(d: int, m: int, h: float = 1e-4) -> tuple[float, float]:
    """σ_{m+1} / σ_m of gradients by central differences, and how far weights are from the m leading directions."""
    network, run = drawn(d, m), Run.seeded(0)
    x, steps = run.normal(4 * m, d), h * torch.eye(d, dtype=run.dtype, device=run.device)
    around = x[:, None, :] + torch.stack([steps, -steps])[:, None]
    up, down = (network(points.flatten(0, 1)).view(len(x), d) for points in around)
    _, values, v = torch.linalg.svd((up - down) / (2 * h))
    w = network.weights[0]
    return float(values[m] / values[m - 1]), float((w - v[:m].T @ (v[:m] @ w)).norm(dim=0).max())


def passive(count: int) -> float:
    """The relative error of E[∇²f] = E[f(x) (x xᵀ - 1)] from so many samples."""
    network, run = drawn(6, 4), Run.seeded(0)
    x = run.normal(count, 6)
    y = network(x)
    found = (x.T * y[:, 0]) @ x / count - y.mean() * torch.eye(6, dtype=x.dtype)
    w, tau = network.weights[0], network.biases[0]
    truth = (w * hermite(activation("tanh"), 2, tau)[0][0]) @ w.T
    return float((found - truth).norm() / truth.norm())


def levels(d: int, m: int) -> tuple[float, float]:
    """The least and the largest Φ of random u in the span of the squares of m random weights."""
    run = Run.seeded(0)
    basis = span_of_squares(run.sphere(m, d).T)
    energy = (symmetric.squares(run.sphere(1000, d)) @ basis).square().sum(1)
    return float(energy.min()), float(energy.max())


def past_the_span(d: int, m: int) -> tuple[float, float]:
    """The condition of the Jacobian, weights kept on the sphere, and the error of a refinement from 5 % off."""
    network, run, g = drawn(d, m), Run.seeded(0), activation("tanh")
    w, tau = network.weights[0], network.biases[0]
    x = run.normal(20 * m * d, d) * 2.5
    first = g(x @ w + tau, 1)
    tangents = torch.linalg.qr(torch.cat([w.T[:, :, None], run.normal(m * d, d - 1).view(m, d, d - 1)], 2))[0][:, :, 1:]
    moved = first[:, :, None] * torch.einsum("nd,mde->nme", x, tangents)
    values = torch.linalg.svdvals(torch.cat([moved.flatten(1), first], 1))
    rough = w + 0.05 * run.sphere(m, d).T
    start = Network.shallow(rough / rough.norm(dim=0), tau + 0.05 * run.normal(1, m)[0].clamp(-1, 1), "tanh")
    end = math.inf
    try:
        for found in joint_refinement.refine(asked(network), start, run=run):
            end = max(float((found.weights[0] - w).norm(dim=0).max()), float((found.biases[0] - tau).abs().max()))
    except GiveUp:
        end = math.inf
    return float(values[0] / values[-1]), end
