"""Several outputs by one: a random mix of them is a network of the same neurons with a single output.

    (1)  ⟨c, f(x)⟩ = Σ_k ⟨c, A_k⟩ g(⟨w_k, x⟩ + τ_k) + const,   c uniform on the sphere,

so that whoever finds W and τ of one output finds those of all, no outer weight ⟨c, A_k⟩ being 0. Then

    (2)  f(x) = Σ_k A_k g(⟨w_k, x⟩ + τ_k) + const

is linear in what is left, and all of it is refined at once (layered_refinement).
"""

import math
from dataclasses import replace

import torch
from torch import Tensor

from paramid import GiveUp, Network, Oracle, Run, activation
from paramid.limits.information import free_of
from paramid.methods.refinement import layered_refinement

ROWS = 1.5  # equations for each parameter
SPREAD = 2.0


class Mixed:
    """The oracle (1); what has no derivative has no mix."""

    def __init__(self, oracle: Oracle, run: Run) -> None:
        self._oracle, self._c = oracle, run.sphere(1, oracle.spec.outputs)[0]
        self.spec = replace(oracle.spec, outputs=1, outer="free", output_bias="free")
        self.decide, self.moments, self.label, self.sample = oracle.decide, oracle.moments, oracle.label, oracle.sample

    def query(self, x: Tensor) -> Tensor:
        """⟨c, f⟩."""
        return self._oracle.query(x) @ self._c[:, None]

    def gradient(self, x: Tensor) -> Tensor:
        """Its gradient."""
        return torch.einsum("o,rod->rd", self._c, self._oracle.gradient(x))[:, None]

    def hessian(self, x: Tensor) -> Tensor:
        """Its Hessian."""
        return torch.einsum("o,rode->rde", self._c, self._oracle.hessian(x))[:, None]


def completed(oracle: Oracle, one: Network, run: Run) -> Network:
    """The network (2) of all outputs over the neurons of `one`, to rounding or noise; else given up."""
    (w, _), (b, _), spec = one.weights, one.biases, oracle.spec
    parameters = (len(w) + 1 + spec.outputs) * len(b) + spec.outputs
    x = SPREAD * run.normal(math.ceil(ROWS * parameters / min(spec.outputs, len(b))) + 2 * len(b), len(w))
    y = oracle.query(x)
    fed = torch.cat([activation(spec.activation)(one.preactivations(x)[0]), torch.ones_like(x[:, :1])], 1)
    linear = torch.linalg.pinv(fed) @ y
    rough = replace(one, weights=(w, linear[:-1]), biases=(b, linear[-1]))
    found = layered_refinement.fit(rough, x, y, noise=spec.resolution, free=free_of(spec))
    if not found.believed:
        raise GiveUp(f"the residual of all outputs stays at {found.rms:.1e}, noise explains {found.floor:.1e}")
    error = layered_refinement.error_bound(found, x, free_of(spec))
    return replace(found.network, stats={"residual": found.rms, "noise": spec.resolution, "error_bound": error})
