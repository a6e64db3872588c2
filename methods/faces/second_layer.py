"""First norms, shifts and outer weights of the second layer on a face, whose directions are known up to sign.

Of a random mix of the outputs a_k = ⟨A_k, mix⟩, so that each neuron is a curve fit of its own (ridge_profiles),

    (1)  ⟨Φ(y), mix⟩ = Σ_k a_k tanh(l_k ⟨u_k, y⟩ + α_k) + c,

and A with c by linear least squares on values. A mix that hides a neuron is drawn again.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from paramid import GiveUp, Run, Spec, activation
from paramid.methods.spans import ridge_profiles
from paramid.methods.spans.output_differences import Values

if TYPE_CHECKING:
    from paramid import Oracle

MIXES, POINTS, INSIDE, STEP = 4, 10, 0.5, 0.06
NORMS, SHIFTS = (0.05, 6.0, 61), (3.0, 61)  # the grid of l and α: reach and count
EACH = 6  # values for each outer weight
CORNER = 0.8  # of |y| where a neuron is looked at far from its middle
ENOUGH, VAIN = 1e-2, 0.9  # relative residuals: of a start, and of none


@dataclass(frozen=True)
class Upper:
    """W (n, m_2), α (m_2,), A (m_2, outputs) and c (outputs,) of (face, 2)."""

    weights: Tensor
    shifts: Tensor
    outer: Tensor
    bias: Tensor


@dataclass(frozen=True)
class Mixed:
    """What `ridge_profiles` asks of an oracle."""

    query: Values
    spec: Spec


def second_layer(phi: Values, columns: Tensor, run: Run) -> Upper:
    """The best of a few mixes (1)."""
    n, count = columns.shape
    y = (
        1.2 * torch.rand(EACH * (count + 1), n, generator=run.generator, dtype=run.dtype, device="cpu").to(run.device)
        - 0.6
    )
    values, best, least = phi(y), None, VAIN
    for _ in range(MIXES):
        weights, shifts = curves(phi, columns, values.shape[1], run)
        seen = torch.cat([torch.tanh(y @ weights + shifts), torch.ones_like(y[:, :1])], 1)
        outer = torch.linalg.pinv(seen) @ values
        off = float((seen @ outer - values).norm() / (values - values.mean(0)).norm())
        if off < least:
            best, least = Upper(weights, shifts, outer[:-1], outer[-1]), off
        if least < ENOUGH:
            break
    if best is None:
        raise GiveUp("no norms and shifts of the second layer explain the values on a face")
    return best


def curves(phi: Values, columns: Tensor, outputs: int, run: Run) -> tuple[Tensor, Tensor]:
    """W and α of (1) for one mix."""
    mix = run.normal(outputs, 1)
    spec = Spec(inputs=len(columns), widths=(columns.shape[1],), activations=("tanh", "identity"))
    oracle = cast("Oracle", Mixed(lambda y: phi(y) @ mix, spec))
    y = run.normal(POINTS, len(columns))
    corners = CORNER * columns.T.sign()
    y = torch.cat([INSIDE * y / y.abs().amax(1, keepdim=True), corners, -corners])
    seen = ridge_profiles.observed(oracle, y, columns, STEP, activation("tanh"))
    low, high, count = NORMS
    norms = low * (high / low) ** torch.linspace(0, 1, count, device=y.device, dtype=y.dtype)
    shifts = torch.linspace(-SHIFTS[0], SHIFTS[0], SHIFTS[1], device=y.device, dtype=y.dtype)
    fits = ridge_profiles.polished(seen, ridge_profiles.gridded(seen, norms, shifts), free_norm=True)
    found = ridge_profiles.least(fits, 1)
    return columns * found.norm[:, 0], found.shift[:, 0]
