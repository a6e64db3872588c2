"""Joint refinement: all parameters of a shallow network from a rough guess to the rounding of its oracle.

Gauss-Newton on matched gradient differences (`matched_differences`) at N points x_i ~ spread · N(0, I):

    (1)  R = Y - S(θ),   θ = (W, b, a),
    (2)  (JᵀJ + λ diag) p = Jᵀ R,   θ ← θ + p, unit columns renormalised where norms are pinned,

with J the Jacobian of the gradient itself (`gradient_system`), its conjugate gradients in float32, R and θ in float64.
λ is 0 until the residual grows; then the step is undone, λ raised tenfold from 1e-3, and lowered when steps succeed.
Gradients do not see c: it is the mean of what the values leave.

Where signs show in the linear part alone (`linear_parts`), everything else is found first and that part left out: rows
of R and J less their mean, which is all that turning a neuron changes. The mean row then tells the signs.

A network is believed when rms(R) is down at what the oracle's noise explains, and sure to what a draw of such noise
moves it by. Whatever stays above is given up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, isfinite, sqrt

import torch
from torch import Tensor

from paramid import Activation, GiveUp, Network, Oracle, Run, activation
from paramid.methods.refinement.gradient_system import Pinned, System, split
from paramid.methods.refinement.matched_differences import Data, fitted, look
from paramid.methods.refinement.neuron_blocks import Preconditioner, solve
from paramid.methods.spans import linear_parts
from paramid.words.neuron_distances import CLOSE

TIGHT, LOOSE = 1e-3, 3e-2  # relative tolerance of (2) close to the solution and far away
NEAR = 1e-2  # residual over that of the data, below which it is close
AT_NOISE = 3.0  # residuals up to so many times the noise are believed
DOWN = 0.8  # and at so many times there is nothing left to gain: fitted noise is smaller than noise
SHORT = 30.0  # after a step of so many times the noise: the next would be shorter by far more
LOW = torch.float32


@dataclass(frozen=True, eq=False)
class State:
    """Parameters, their residual (1), and the work so far."""

    theta: Tensor
    residual: Tensor
    rms: float
    products: int = 0


def refine(
    oracle: Oracle,
    rough: Network,
    *,
    run: Run,
    oversampling: float = 2.0,
    spread: float = 2.5,
    steps: int = 40,
    products: int = 300,
    data: Data | None = None,
) -> Iterator[Network]:
    """Ever better networks from a `rough` one, at least right to about 0.1 in every neuron; the last is believed.

    What is pinned is what `oracle.spec` says. Where there is no `data` yet, 2D + 1 queries are asked at each of
    `oversampling` times as many points as there are unknowns over D. Raises `GiveUp` where the residual does not come
    down to noise. Signs that the linear part alone shows may be wrong in `rough`; networks are told from when they are
    right.
    """
    g, pinned = activation(rough.activations[0]), Pinned.by(oracle.spec)
    theta = checked(rough, pinned).to(run.device, run.dtype)
    points = max(ceil(oversampling * theta.numel() / oracle.spec.inputs), 8)
    data = data or look(oracle, theta[:-2], run, points=points, spread=spread)
    if linear_parts.hidden(g):
        theta = upright(theta, data, g, pinned, run, steps, products)
    state = start = measure(theta, data, g, pinned)
    offset = oracle.spec.output_bias != "zero"
    for number, accepted in enumerate(descend(start, data, g, pinned, steps, products), 1):
        state = accepted
        yield network(state, data, rough, offset, {"residual": state.rms, "steps": number, "products": state.products})
    error = believed(state, data, g, pinned, run)
    found = network(state, data, rough, offset, {"residual": state.rms, "noise": data.noise, "error_bound": error})
    check_values(found, data, error)
    yield found


def upright(theta: Tensor, data: Data, g: Activation, pinned: Pinned, run: Run, steps: int, products: int) -> Tensor:
    """The parameters refined without the linear part, with the signs that it shows."""
    blind = pinned._replace(linear=False)
    state = start = measure(theta, data, g, blind)
    for accepted in descend(start, data, g, blind, steps, products):
        state = accepted
    error = believed(state, data, g, blind, run)
    w, b, a = split(state.theta)
    rest = measure(state.theta, data, g, pinned).residual.mean(0)
    signs = linear_parts.signs(a * w, rest, g, error=error * sqrt(len(b)))
    return torch.cat([signs * w, (signs * b)[None], a[None]])


def believed(state: State, data: Data, g: Activation, pinned: Pinned, run: Run) -> float:
    """How far parameters may be off where the residual is down at the noise."""
    if not state.rms <= AT_NOISE * data.floor:
        raise GiveUp(f"the residual of the gradients stays at {state.rms:.1e}, noise explains {data.floor:.1e}")
    error = uncertainty(state, data, g, pinned, run)
    if not error < CLOSE:
        raise GiveUp(f"noise of {data.noise:.1e} leaves parameters uncertain by {error:.1e}")
    return error


def checked(rough: Network, pinned: Pinned) -> Tensor:
    """The parameters of a network that can be refined, (W, b, a)."""
    g = activation(rough.activations[0])
    if len(rough.widths) != 1 or rough.outputs != 1 or rough.activations[1] != "identity":
        raise ValueError(f"widths {rough.widths}, {rough.outputs} outputs; one hidden layer, one linear output wanted")
    if not g.smooth or g.degree is not None:
        raise ValueError(f"{g.name} has no parameters to refine; a smooth activation, no polynomial, was wanted")
    if reason := rough.non_finite():
        raise ValueError(f"the rough network: {reason}")
    if not bool((rough.weights[0].norm(dim=0) > 0).all()):
        raise ValueError("the rough network has a neuron without weights")
    theta = torch.cat([rough.weights[0], rough.biases[0][None], rough.weights[1].T])
    return moved(theta, torch.zeros_like(theta), pinned)


def measure(theta: Tensor, data: Data, g: Activation, pinned: Pinned, products: int = 0) -> State:
    """The state at `theta`."""
    residual = data.gradients - fitted(data, *split(theta), g)
    residual = residual if pinned.linear else residual - residual.mean(0)
    rms = float(residual.square().mean().sqrt())
    return State(theta, residual, rms if isfinite(rms) else float("inf"), products)


def descend(state: State, data: Data, g: Activation, pinned: Pinned, steps: int, products: int) -> Iterator[State]:
    """The states that (2) accepts, until noise, a standstill or the end of the steps."""
    damping, failures, scale = 0.0, 0, float(data.gradients.square().mean().sqrt())
    for _ in range(steps):
        tol = TIGHT if state.rms < NEAR * scale else LOOSE
        p, count = increment(state, data, g, pinned, damping=damping, tol=tol, most=products)
        after = measure(moved(state.theta, p, pinned), data, g, pinned, state.products + count)
        if after.rms < state.rms:
            gain, state, failures = state.rms / after.rms, after, 0
            damping = 0.0 if damping < 1e-4 else damping / 10
            yield state
            short = float(p.abs().max()) < SHORT * data.floor
            if (gain < 1.5 and state.rms < AT_NOISE * data.floor) or (short and state.rms < DOWN * data.floor):
                return
        else:
            if state.rms < AT_NOISE * data.floor:
                return
            damping, failures = max(10 * damping, 1e-3), failures + 1
            state = replace(state, products=after.products)
            if failures == 6:
                return


def increment(
    state: State, data: Data, g: Activation, pinned: Pinned, *, damping: float, tol: float, most: int
) -> tuple[Tensor, int]:
    """The p of (2), in float32 but for its scale."""
    size = state.residual.abs().max().clamp(min=1e-300)
    system = linearised(state, data, g, pinned)
    p, count = solve(system, (state.residual / size).to(LOW), damping=damping, tol=tol, most=most)
    return p.to(state.theta.dtype) * size, count


def linearised(state: State, data: Data, g: Activation, pinned: Pinned) -> System:
    """J at the state, in float32."""
    return System.at(data.x.to(LOW), state.theta.to(LOW), g, pinned, 0.0 if data.both_sides else data.h)


def moved(theta: Tensor, p: Tensor, pinned: Pinned) -> Tensor:
    """θ + p, with unit columns and outer weights 1 where they are pinned."""
    w, b, a = split(theta + p)
    w = w / w.norm(dim=0) if pinned.norms else w
    a = torch.ones_like(a) if pinned.outer else a
    return torch.cat([w, b[None], a[None]])


def uncertainty(state: State, data: Data, g: Activation, pinned: Pinned, run: Run) -> float:
    """Twice what a draw of noise, of the gradients' size or of the residual's if larger, moves a neuron by at most.

    Solving for the draw does not see what no data sees at all: a neuron that is silent is as uncertain as it is weak.
    """
    size = max(data.floor, state.rms)
    drawn = replace(state, residual=size * run.normal(*data.gradients.shape))
    p, _ = increment(drawn, data, g, pinned, damping=0.0, tol=TIGHT, most=300)
    w, b, a = split(p)
    strength = Preconditioner.of(linearised(state, data, g, pinned), 0.0).across.min()
    return 2 * max(float(torch.stack([w.norm(dim=0), b.abs(), a.abs()]).max()), size / float(strength.sqrt()))


def network(state: State, data: Data, rough: Network, offset: bool, stats: dict[str, float]) -> Network:
    """The state as a network, its output bias the mean of what its values leave."""
    w, b, a = split(state.theta)
    found = replace(rough, weights=(w, a[:, None]), biases=(b, torch.zeros_like(a[:1])), stats=stats)
    if offset:
        missing = (data.values - found(data.x)[:, 0]).mean()
        found = found.with_layers(found.weights, [b, missing[None]])
    return found


def check_values(found: Network, data: Data, error: float) -> None:
    """Values as near as the gradients promise: nothing but a constant can be wrong with them."""
    missed = float((data.values - found(data.x)[:, 0]).square().mean().sqrt())
    size = float(data.values.abs().max())
    if missed > 10 * data.noise + 100 * sqrt(found.widths[0]) * error + 1e-12 * size:
        raise GiveUp(f"gradients agree, values are off by {missed:.1e}")
