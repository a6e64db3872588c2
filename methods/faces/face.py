"""Faces: where n neurons of the first layer move freely in their cube and all others are saturated.

With unit directions u_j, norms l_j and shifts b_j of the first layer, neurons J with linearly independent u_J are set
to y ∈ (-1, 1)^n by

    (1)  x(y) = x_0 + (U_Jᵀ)⁺ (s - U_Jᵀ x_0),   s_j = (artanh y_j - b_j) / l_j.

Of m_1 ≤ D neurons all are free, wherever x_0. Of more, any n = D - 1 hyperplanes meet in a line of direction r, and far
out on it, x_0 = ± R r, all others are saturated: f is there a function of y alone, a shallow network

    (2)  f(x(y)) = Φ(y) = Σ_k A_k tanh(⟨W_Jk, y⟩ + α_k) + c,   α_k = β_k + Σ_{i ∉ J} W_ik sign(⟨u_i, x_0⟩).

Neuron i stands still where |⟨w_i, x_0⟩| is more than what any y that is asked for moves it by,

    (3)  R |⟨w_i, r⟩| ≥ 40 + Σ_j |w_iᵀ (U_Jᵀ)⁺|_j max |s_j|.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans.output_differences import Values

SATURATED = 40.0  # pre-activation of the neurons that stand still, shifts left aside
INSIDE = 5.2  # of |artanh y| of all that is asked for
EDGE = 1 - 1e-12  # of the cube


@dataclass(frozen=True)
class Layer:
    """u (D, m), l (m,) and b (m,) of a layer of tanh."""

    directions: Tensor
    norms: Tensor
    shifts: Tensor

    @property
    def weights(self) -> Tensor:
        """(D, m)."""
        return self.directions * self.norms


@dataclass(frozen=True)
class Face:
    """J (n,), x_0 (D,), and the layer of these neurons alone."""

    neurons: Tensor
    base: Tensor
    layer: Layer
    lift: Tensor  # (U_Jᵀ)⁺, (D, n)

    @property
    def n(self) -> int:
        """Neurons that move."""
        return len(self.neurons)

    def place(self, y: Tensor) -> Tensor:
        """(1), (rows, n) -> (rows, D)."""
        s = (torch.atanh(y.clamp(-EDGE, EDGE)) - self.layer.shifts) / self.layer.norms
        return self.base + (s - self.base @ self.layer.directions) @ self.lift.T

    def values(self, f: Values) -> Values:
        """Φ of (2)."""
        return lambda y: f(self.place(y))

    def moved(self, delta: Tensor, stretch: Tensor) -> "Face":
        """The same with pre-activations s_J taken for (1 + ρ) s_J + δ."""
        own, more = self.layer, 1 + stretch
        return replace(self, layer=replace(own, norms=own.norms * more, shifts=own.shifts * more + delta))


def size(inputs: int, width: int) -> int:
    """n: how many neurons of a first layer a face sets free."""
    return width if width <= inputs else inputs - 1


def whole(layer: Layer, run: Run) -> Face:
    """All m_1 ≤ D neurons."""
    neurons = torch.arange(len(layer.norms), dtype=torch.int64, device=layer.norms.device)
    return Face(neurons, run.normal(1, len(layer.directions))[0], layer, torch.linalg.pinv(layer.directions.T))


def far(layer: Layer, neurons: Tensor, run: Run) -> Face:
    """These D - 1 neurons of more, on one of both rays, as far out as it takes all others to stand still by (3)."""
    own = Layer(layer.directions[:, neurons], layer.norms[neurons], layer.shifts[neurons])
    lift = torch.linalg.pinv(own.directions.T)
    r = torch.linalg.svd(own.directions.T, full_matrices=True)[2][-1]
    others = torch.ones_like(layer.norms, dtype=torch.bool).index_fill(0, neurons, False)
    w = layer.weights[:, others]
    farthest = (INSIDE + own.shifts.abs()) / own.norms
    radius = (SATURATED + (w.T @ lift).abs() @ farthest) / (w.T @ r).abs().clamp(min=1e-12)
    side = float(run.normal(1, 1).sign())
    return Face(neurons, side * float(radius.max()) * r, own, lift)
