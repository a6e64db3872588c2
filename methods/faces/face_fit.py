"""All that a face shows, at once, from values: Levenberg-Marquardt over the first layer's corrections and all above.

With s the nominal pre-activations of the neurons that move, corrected by δ and ρ,

    (1)  Φ = Σ_k A_k tanh(⟨W_k, tanh((1 + ρ) s + δ)⟩ + α_k) + c,

over θ = (δ, ρ, W, α, A, c). Norms must be free: with ρ = 0 the end stays at 1e-5 and worse. Faces that end at rounding
have everything right; others ended elsewhere.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.faces.face import INSIDE, Face
from paramid.methods.faces.second_layer import Upper
from paramid.methods.spans.output_differences import Values

SPREAD = 1.3  # of s at the values
ROUNDING = 1e-13  # of f, whose size is 1
LEAST = 1e-14  # damping


@dataclass(frozen=True)
class Solved:
    """The face with its first layer corrected, what lies above it, and the root mean square that it leaves."""

    face: Face
    upper: Upper
    rms: float


@dataclass(frozen=True)
class State:
    """θ of (1) with its activations and residuals."""

    delta: Tensor
    stretch: Tensor
    upper: Upper
    y: Tensor
    z: Tensor
    r: Tensor

    @property
    def cost(self) -> float:
        """Σ r²."""
        total = float(self.r.square().sum())
        return total if math.isfinite(total) else math.inf

    @property
    def rms(self) -> float:
        """Of r."""
        return math.sqrt(self.cost / self.r.numel())


def parameters(n: int, rank: int, outputs: int) -> int:
    """The length of θ."""
    return n * (rank + 2) + rank + (rank + 1) * outputs


def solve(f: Values, face: Face, start: Upper, run: Run, *, steps: int = 40) -> Solved:
    """(1) from `start` on three equations for every parameter."""
    (n, rank), outputs = start.weights.shape, start.outer.shape[1]
    rows = 3 * parameters(n, rank, outputs) // min(outputs, rank) + 50
    s = (SPREAD * run.normal(rows, n)).clamp(-INSIDE, INSIDE)
    values = face.values(f)(s.tanh())
    now, damping = at(s, values, s.new_zeros(n), s.new_zeros(n), start), 1e-6
    for _ in range(steps):
        new, damping = stepped(now, s, values, damping)
        if new is None:
            break
        gain, now, damping = now.rms / max(new.rms, 1e-300), new, max(damping / 20, LEAST)
        if gain < 1.005 or now.rms < ROUNDING:
            break
    return Solved(face.moved(now.delta, now.stretch), now.upper, now.rms)


def at(s: Tensor, values: Tensor, delta: Tensor, stretch: Tensor, upper: Upper) -> State:
    """The state of these parameters."""
    y = torch.tanh((1 + stretch) * s + delta)
    z = torch.tanh(y @ upper.weights + upper.shifts)
    return State(delta, stretch, upper, y, z, z @ upper.outer + upper.bias - values)


def stepped(now: State, s: Tensor, values: Tensor, damping: float) -> tuple[State | None, float]:
    """The first damped step that lowers the cost, None where none does, and its damping."""
    slopes = jacobian(now, s)
    scale = slopes.norm(dim=0) + 1e-300
    slopes = slopes / scale
    normal, right = slopes.T @ slopes, slopes.T @ now.r.flatten()
    while damping < 1e4:
        raised = normal.clone()
        raised.diagonal().add_(damping)
        p, wrong = torch.linalg.solve_ex(raised, -right)
        if not int(wrong):
            new = at(s, values, *moved(now, p / scale))
            if new.cost < now.cost:
                return new, damping
        damping = max(10 * damping, 1e-9)
    return None, damping


def jacobian(now: State, s: Tensor) -> Tensor:
    """∂r/∂θ, (rows · outputs, parameters)."""
    bent = (1 - now.z.square())[:, None, :] * now.upper.outer.T  # ∂Φ/∂(pre-activations), (rows, outputs, m_2)
    by_delta = (bent @ now.upper.weights.T) * (1 - now.y.square())[:, None, :]
    by_weights = (now.y[:, None, :, None] * bent[:, :, None, :]).flatten(2)
    ones = torch.ones_like(now.z[:, :1])
    eye = torch.eye(bent.shape[1], dtype=s.dtype, device=s.device)
    by_outer = torch.einsum("nk,op->nokp", torch.cat([now.z, ones], 1), eye).flatten(2)
    return torch.cat([by_delta, by_delta * s[:, None, :], by_weights, bent, by_outer], 2).flatten(0, 1)


def moved(now: State, p: Tensor) -> tuple[Tensor, Tensor, Upper]:
    """θ + p."""
    u = now.upper
    parts = (now.delta, now.stretch, u.weights, u.shifts, u.outer, u.bias)
    steps = p.split([t.numel() for t in parts])
    delta, stretch, *above = (t + step.view_as(t) for t, step in zip(parts, steps, strict=True))
    return delta, stretch, Upper(*above)
