"""`gram-least-squares`: the matrix of a net of squares is linear in its values; samples give it by least squares.

With the features a(z) and the entries q of `quadratic_forms`, E of them,

    (1)  q = argmin Σ_i (y_i - ⟨q, a(z_i)⟩)²,   the one of least norm where N < E,
    (2)  the same over Q ⪰ 0, by accelerated projected gradients with restarts (constraint=psd),
    (3)  E‖q̂ - q‖² = σ² ‖R⁻¹‖_F² under label noise σ,   A = U R the features of all samples.

The samples stream: a triangle R of at most E rows is updated by QR, never AᵀA, whose condition is the square. From
N = E on (1) is the truth. Below, the least norm is a fit and not the truth, and only (2) can still find matrices of low
rank.

References: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, §6.1 (the convex problem); O'Donoghue & Candès, 2015
(restarts).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, GiveUp, Gram, Oracle, Run, Samples, Spec
from paramid.methods.squares import quadratic_forms as forms
from paramid.words import memory_limits
from paramid.words.neuron_distances import CLOSE
from paramid.words.options import among

ROOM = 2**30  # bytes of a triangle
BLOCK = 2**22  # doubles of features at a time
FORM, ROUNDED, SOLVED = 1e-9, 1e-6, 1e-5  # what a form leaves of the values: at float64, at float32, after (2)
DONE = 1e-15  # a step of (2) over what it moves


@dataclass(frozen=True)
class GramLeastSquares:
    """The matrix of a net of squares by least squares on samples: of least norm, or positive semidefinite."""

    constraint: str = "none"  # none: any matrix, of least norm where several fit; psd: positive semidefinite ones
    N: int | None = None  # samples; default: what is granted, or twice as many as distinct entries
    steps: int = 5000  # projected gradient steps at most, of constraint=psd

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, constraint=("none", "psd"))
        if self.steps < 1 or (self.N is not None and self.N < 1):
            raise ValueError(f"N is {self.N} and steps {self.steps}; positive numbers were wanted")

    def declines(self, spec: Spec) -> str | None:
        """Squares, of a size whose triangle can be held."""
        count = forms.numbers(spec) + spec.outputs
        return forms.squares(spec) or memory_limits.refusal({"triangle and what updates it": (4 * count, count)}, ROOM)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Gram]:  # noqa: ARG002 -- nothing is drawn
        """(1) or (2), and whether it can be believed."""
        spec = oracle.spec
        wanted = self.N or spec.samples or 2 * forms.numbers(spec)
        samples = oracle.sample(min(wanted, spec.samples or wanted))
        r, right, rest, power = triangle(spec, samples)
        q = least(r, right)
        if self.constraint == "psd":
            q = positive(r, right, q, forms.size(spec), self.steps)
        left = ((right - r @ q).square().sum(0) + rest).sqrt() / math.sqrt(len(samples))
        relative = float((left / power.clamp_min(torch.finfo(power.dtype).tiny)).max())
        spread = float(torch.linalg.matrix_norm(inverse(r))) if len(r) == r.shape[1] else math.inf
        predicted = spec.noise * spread / float(q.norm(dim=0).min().clamp_min(1e-300))
        matrices = forms.symmetric(q, forms.size(spec))
        told = {"relative_residual": relative} | ({"predicted_error": predicted} if math.isfinite(predicted) else {})
        yield forms.claimed(spec, matrices, told)
        self.vouch(spec, len(samples), matrices, float(left.max()), relative, predicted)

    def vouch(self, spec: Spec, n: int, matrices: Tensor, left: float, relative: float, predicted: float) -> None:
        """Give up where the samples do not determine the matrix, disagree with any, or are too noisy."""
        count = forms.numbers(spec)
        open_numbers = count - n
        if self.constraint == "psd":
            close = SOLVED
            open_numbers = min(open_numbers, max(freedom(m) for m in matrices) - n + 1)
        else:
            close = ROUNDED if spec.precision == "float32" else FORM
        noise = spec.noise * (1 + 5 / math.sqrt(2 * n)) if spec.noise else 0.0
        if left > noise + close * left / max(relative, 1e-300):
            raise GiveUp(f"no quadratic form explains the samples: {relative:.1e} of their values is left")
        if open_numbers > 0:
            raise GiveUp(f"{n} samples leave {open_numbers} of {count} numbers open: fits, not identified")
        if predicted > CLOSE / 2:
            raise GiveUp(f"noise leaves the matrix uncertain to {predicted:.1%}")


def triangle(spec: Spec, samples: Samples) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """R and Uᵀy of all samples, what no q explains of Σ y², and the root mean square of y; a few rows at a time."""
    e = forms.numbers(spec)
    kept = power = None
    for x, y in samples:
        for rows, values in zip(*(t.split(max(e, BLOCK // e)) for t in (x, y)), strict=True):
            new = torch.cat([forms.features(forms.lift(spec, rows)), values], dim=1)
            kept = torch.linalg.qr(new if kept is None else torch.cat([kept, new]), mode="r")[1]
            power = values.square().sum(0) + (0 if power is None else power)
    assert kept is not None
    assert power is not None
    return kept[:e, :e], kept[:e, e:], kept[e:, e:].square().sum(0), (power / len(samples)).sqrt()


def least(r: Tensor, right: Tensor) -> Tensor:
    """(1): by back substitution where R is square and regular, of least norm otherwise."""
    if len(r) == r.shape[1] and float(r.diagonal().abs().min()) > 1e-12 * float(r.diagonal().abs().max()):
        return torch.linalg.solve_triangular(r, right, upper=True)
    u, s, vh = torch.linalg.svd(r, full_matrices=False)
    kept = s > 1e-12 * s[0]
    return vh.T[:, kept] @ ((u.T @ right)[kept] / s[kept][:, None])


def inverse(r: Tensor) -> Tensor:
    """R⁻¹; infinite where there is none."""
    return torch.linalg.solve_triangular(r, torch.eye(len(r), device=r.device, dtype=r.dtype), upper=True)


def positive(r: Tensor, right: Tensor, q: Tensor, s: int, steps: int) -> Tensor:
    """(2) from `q`, every output by itself."""
    step = 1 / float(torch.linalg.matrix_norm(r, 2)) ** 2
    normal, target = r.T @ r, r.T @ right
    at = ahead = project(q, s)
    t = torch.ones_like(at[:1])
    for _ in range(steps):
        moved = project(ahead - step * (normal @ ahead - target), s)
        turned = ((ahead - moved) * (moved - at)).sum(0, keepdim=True) > 0  # the momentum points uphill
        after = torch.where(turned, 1.0, (1 + (1 + 4 * t * t).sqrt()) / 2)
        ahead = moved + torch.where(turned, 0.0, (t - 1) / after) * (moved - at)
        change, at, t = float((moved - at).norm()), moved, after
        if change <= DONE * float(at.norm()):
            break
    return at


def project(q: Tensor, s: int) -> Tensor:
    """The nearest positive semidefinite matrices."""
    values, vectors = torch.linalg.eigh(forms.symmetric(q, s))
    return forms.folded((vectors * values.clamp(min=0)[:, None]) @ vectors.mT)


def freedom(matrix: Tensor) -> int:
    """The degrees of freedom of matrices of the same numerical rank."""
    values = torch.linalg.eigvalsh(matrix).abs()
    rank, s = int((values > 1e-6 * values.max()).sum()), len(values)
    return rank * s - rank * (rank - 1) // 2
