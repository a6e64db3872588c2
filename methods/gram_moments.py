"""`gram-moments`: the matrix of a net of squares from second Hermite moments of Gaussian samples.

For f(x) = xᵀ A x + 2 bᵀ x + c and x ~ N(0, I),

    (1)  E[(y - ȳ) He_2(x)] = 2 A,   E[(y - ȳ) x] = 2 b,   ȳ = E y = tr A + c,
    (2)  error ≈ ‖Â_1 - Â_2‖ / 2 from two halves of the samples, of order ‖A‖ D / √N,
    (3)  E(f - f̂)² = (tr ΔA + Δc)² + 2 ‖ΔA‖² + 4 ‖Δb‖².

One pass, no system to solve, and three to four digits where least squares on the same samples have them all: what
moments cost on functions that are no sums of many. Residuals larger than (3) allows tell a function that is no form.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Lemma 5.2 (the estimator); Stein's identity.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, GiveUp, Gram, Oracle, Run, Samples, Spec
from paramid.methods.squares import quadratic_forms as forms
from paramid.words import hermite, memory_limits
from paramid.words.neuron_distances import CLOSE
from paramid.words.options import positive

ROOM = 2**30  # bytes of matrices
BLOCK = 2**22  # doubles of features at a time
N = 1_000_000
LOUD = 5.0  # residuals over what (3) allows


@dataclass(frozen=True)
class GramMoments:
    """The matrix of a net of squares by second Hermite moments of its samples."""

    N: int | None = None  # samples; default: what is granted, or a million

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        positive(self, "N")

    def declines(self, spec: Spec) -> str | None:
        """Squares of Gaussian inputs, of a size whose matrices can be held."""
        if spec.input_law != "normal":
            return "needs standard normal inputs"
        s = forms.size(spec)
        return forms.squares(spec) or memory_limits.refusal({"matrices": (8 * spec.outputs, s, s)}, ROOM)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Gram]:  # noqa: ARG002 -- nothing is drawn
        """(1), then (2) and (3)."""
        spec = oracle.spec
        wanted = self.N or spec.samples or N
        samples = oracle.sample(min(wanted, spec.samples or wanted))
        halves, weight = moments(spec, samples)
        q = halves[0] * (1 - weight) + halves[1] * weight
        apart = (halves[0] - halves[1]).flatten(1).norm(dim=1) / 2
        relative = float((apart / q.flatten(1).norm(dim=1).clamp_min(1e-300)).max())
        yield forms.claimed(spec, q, {"predicted_error": relative})
        if len(samples) < 4 or not relative < CLOSE / 2:
            raise GiveUp(f"{len(samples)} samples leave the matrix uncertain to {relative:.1%}")
        allowed = (2 * apart.square() + spec.noise**2).sqrt() + forms.size(spec) ** 0.5 * apart
        missed = residual(spec, samples, q)
        if bool((missed > LOUD * allowed).any()):
            raise GiveUp(f"no quadratic form: residuals are {float((missed / allowed).max()):.0f} times their error")


def moments(spec: Spec, samples: Samples) -> tuple[Tensor, float]:
    """(1) of every other block of rows: two matrices (outputs, size, size) each, and the share of the second's rows."""
    d, sums, rows = spec.inputs, [list[Tensor](), list[Tensor]()], [0, 0]
    for number, (x, y) in enumerate(blocks(spec, samples)):
        half, ones = number % 2, torch.ones_like(y[:, :1])
        told = torch.cat([ones, x, hermite.features(x, 2)], dim=1)
        totals = torch.cat([told.T @ y, told.sum(0)[:, None]], dim=1)
        sums[half] = [totals + sum(sums[half])]
        rows[half] += len(x)
    both = [total[0] if total else sums[0][0] for total in sums]
    mean = (both[0] + both[1])[0, :-1] / max(1, sum(rows)) if rows[1] else both[0][0, :-1] / rows[0]
    found = [(t[:, :-1] - t[:, -1:] * mean) / max(1, n or rows[0]) for t, n in zip(both, rows, strict=True)]
    return torch.stack([assembled(spec, each, mean, d) for each in found]), rows[1] / max(1, sum(rows))


def assembled(spec: Spec, centred: Tensor, mean: Tensor, d: int) -> Tensor:
    """The matrices (1) of means of (y - ȳ) times 1, x and He_2(x)."""
    a = torch.stack([hermite.unfold(column, d, 2) for column in centred[d + 1 :].T]) / 2
    if not forms.constant(spec):
        return a
    b, c = centred[1 : d + 1].T / 2, mean - a.diagonal(dim1=1, dim2=2).sum(1)
    return torch.cat([torch.cat([a, b[:, :, None]], 2), torch.cat([b, c[:, None]], 1)[:, None]], 1)


def residual(spec: Spec, samples: Samples, q: Tensor) -> Tensor:
    """The root mean square of y - zᵀ Q z, output by output."""
    total = torch.zeros_like(q[:, 0, 0])
    for x, y in blocks(spec, samples):
        z = forms.lift(spec, x)
        total = total + (y - torch.einsum("ri,oij,rj->ro", z, q, z)).square().sum(0)
    return (total / len(samples)).sqrt()


def blocks(spec: Spec, samples: Samples) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows and values, few enough that their features fit, and at least ten blocks where there are samples enough."""
    most = min(max(2, BLOCK // forms.numbers(spec)), math.ceil(len(samples) / 10))
    for x, y in samples:
        yield from zip(x.split(most), y.split(most), strict=True)
