"""Teachers of the thesis' §3.6, their Hessians with the error of differences, and the maxima of Φ in spans of them.

(1)  H - Ĥ = -h²/6 Σ_k g⁽⁴⁾(z_k) (w_k³ w_kᵀ + w_k w_k³ᵀ) + O(h⁴),  powers by entry, for differences of step h.
"""

import math

import torch
from torch import Tensor

from paramid import Network, Run
from paramid.methods.spans import hessians, power_ascent, symmetric
from paramid.methods.spans.activation_derivatives import derivatives
from paramid.methods.spans.subspace import Span
from paramid.oracle.counting import CountingOracle
from paramid.tasks.shallow import Shallow
from paramid.words.activations import activation


def neurons(d: int, beta: float) -> int:
    """⌈0.4 D^β⌉."""
    return math.ceil(0.4 * d**beta)


def widest(d: int) -> int:
    """The largest m with m ln² m ≤ D²."""
    return max(m for m in range(2, d * d) if m * math.log(m) ** 2 <= d * d)


def drawn(d: int, m: int, seed: int = 0) -> Network:
    """A teacher of §3.6."""
    return Shallow(D=d, m=m).draw(seed)


def asked(network: Network) -> CountingOracle:
    """The values of a teacher of §3.6."""
    spec = Shallow(D=network.inputs, m=network.widths[0]).spec
    return CountingOracle(network, spec, access=Shallow.access, seed=0, device=network.weights[0].device)


def sampled(network: Network, count: int, run: Run, h: float) -> tuple[Tensor, Tensor]:
    """Packed Hessians at Gaussian points, exact and by differences of step h."""
    x = run.normal(count, network.inputs)
    exact = derived(network, x)
    return exact, hessians.sample_hessians(asked(network), x, h=h)


def derived(network: Network, x: Tensor, h: float = 0.0) -> Tensor:
    """Packed Hessians, with the truncation (1) of differences of step h."""
    w, tau = network.weights[0], network.biases[0]
    g = activation(network.activations[0])
    values = derivatives(g, x @ w + tau, 4 if h else 2)
    found = values[2] @ symmetric.squares(w.T)
    if h:
        outer = (w.T**3)[:, :, None] * w.T[:, None, :]
        found = found + h * h / 6 * values[4] @ symmetric.pack(outer + outer.mT)
    return found


def ends_of(span: Span, w: Tensor) -> Tensor:
    """The maxima of Φ reached from the columns w, one row each, signs as in w."""
    u = power_ascent.ascend(span.projector(), w.T, step=2.0, steps=500, tol=1e-11)
    return u * torch.sign((u * w.T).sum(1, keepdim=True))


def apart(u: Tensor, w: Tensor) -> Tensor:
    """The lesser of ‖u ± w_k‖ for rows u and columns w_k."""
    return torch.minimum(torch.cdist(u, w.T), torch.cdist(-u, w.T))


def off(u: Tensor, w: Tensor) -> Tensor:
    """Its least over k for rows u."""
    return apart(u, w).amin(1)
