"""`gram-queries`: the matrix of a net of squares from as many queries as it has numbers.

For f(x) = xᵀ M x, by polarisation along the axes,

    (1)  M_ii = f(e_i),   M_ij = (f(e_i + e_j) - f(e_i) - f(e_j)) / 2:            D(D+1)/2 queries;

with shifts and an output bias, f(x) = xᵀ A x + 2 bᵀ x + c,

    (2)  c = f(0),   A_ii = (f(e_i) + f(-e_i))/2 - c,   b_i = (f(e_i) - f(-e_i))/4,
         A_ij = (f(e_i + e_j) - f(e_i) - f(e_j) + c)/2:                           (D+1)(D+2)/2 queries.

One Gaussian point more (`checks`) tells a function that is no such form.

Reference: the construction in Lemma 5.6 of Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, GiveUp, Gram, Oracle, Run, Spec
from paramid.methods.squares import quadratic_forms as forms
from paramid.words import memory_limits
from paramid.words.neuron_distances import CLOSE
from paramid.words.options import at_least

ROOM = 2**30  # bytes of matrices
FORM, ROUNDED = 1e-9, 1e-4  # what a form may leave at the checks, at float64 and at float32


@dataclass(frozen=True)
class GramQueries:
    """The matrix of a net of squares by polarisation: D(D+1)/2 queries, exact."""

    checks: int = 1  # further queries, at Gaussian points, that tell a function of another form; 0: none

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def __post_init__(self) -> None:
        at_least(self, checks=0)

    def declines(self, spec: Spec) -> str | None:
        """Squares, of a size whose matrices can be held."""
        s = forms.size(spec)
        return forms.squares(spec) or memory_limits.refusal({"matrices": (4 * spec.outputs, s, s)}, ROOM)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Gram]:
        """(1) or (2), and the check."""
        spec = oracle.spec
        matrices = polarised(oracle, run)
        x = run.normal(self.checks, spec.inputs)
        yield forms.claimed(spec, matrices)
        if self.checks:
            z, y = forms.lift(spec, x), oracle.query(x)
            missed = (y - torch.einsum("ri,oij,rj->ro", z, matrices, z)).abs()
            close = ROUNDED if spec.precision == "float32" else FORM
            reach = (z.square().sum(1, keepdim=True) * torch.linalg.matrix_norm(matrices)).clamp_min(1e-300)
            if float((missed - 10 * spec.noise * z.square().sum(1, keepdim=True)).max() / reach.max()) > close:
                raise GiveUp(f"no quadratic form: values at {self.checks} points are off by {float(missed.max()):.1e}")
        drift = spec.noise * forms.size(spec) / float(torch.linalg.matrix_norm(matrices).min().clamp_min(1e-300))
        if drift > CLOSE / 2:
            raise GiveUp(f"noise leaves the matrix uncertain to {drift:.1%}")


def polarised(oracle: Oracle, run: Run) -> Tensor:
    """The matrices (outputs, size, size) by (1) or (2), a row of queries at a time."""
    spec = oracle.spec
    d, constant = spec.inputs, forms.constant(spec)
    eye = torch.eye(d, device=run.device, dtype=run.dtype)
    alone = oracle.query(eye)
    level = oracle.query(torch.zeros_like(eye[:1]))[0] if constant else torch.zeros_like(alone[0])
    mirrored = oracle.query(-eye) if constant else alone
    full = alone.new_zeros(spec.outputs, d + constant, d + constant)
    for i in range(d - 1):
        pairs = oracle.query(eye[i] + eye[i + 1 :])
        entries = (pairs - alone[i] - alone[i + 1 :] + level) / 2
        full[:, i, i + 1 : d] = full[:, i + 1 : d, i] = entries.T
    axes = torch.arange(d, device=run.device)
    full[:, axes, axes] = ((alone + mirrored) / 2 - level).T
    if constant:
        full[:, :d, d] = full[:, d, :d] = ((alone - mirrored) / 4).T
        full[:, d, d] = level
    return full
