"""What a method can say it found. A claim is tensors and nothing else; the last one is the method's answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

if TYPE_CHECKING:
    from paramid.words.spec import Spec


@dataclass(frozen=True, eq=False, repr=False)
class Claim:
    """The base of all claims. `stats` are the method's own words: kept in the record, never taken as a fact."""

    stats: Mapping[str, float] = field(default_factory=dict, kw_only=True)

    def __repr__(self) -> str:
        """The shapes of its tensors, never their numbers."""
        shapes = (f"{name} {tuple(value.shape)}" for name, value in self.arrays().items())
        return f"{type(self).__name__}({', '.join(shapes)})"

    def arrays(self) -> dict[str, Tensor]:
        """The claim's tensors by name, as they are stored."""
        return {f.name: value for f in fields(self) if isinstance(value := getattr(self, f.name), Tensor)}

    def stored(self, spec: Spec) -> dict[str, Tensor]:  # noqa: ARG002 -- networks need the spec
        """The tensors that `restore` makes the claim of, given the spec."""
        return self.arrays()

    @classmethod
    def restore(cls, arrays: Mapping[str, Tensor], spec: Spec) -> Self:  # noqa: ARG003 -- networks need the spec
        """The claim that `arrays` were stored from."""
        return cls(**dict[str, Any](arrays))

    def copy(self) -> Self:
        """A copy on the CPU that nobody else can write to."""
        changes: dict[str, Any] = {name: own(value) for name, value in self.arrays().items()}
        return replace(self, **changes)

    def problem(self, spec: Spec) -> str | None:
        """Why this cannot be judged as a claim about a teacher of that spec, or None."""
        for f in fields(self):
            if f.type == "Tensor" and not isinstance(value := getattr(self, f.name), Tensor):
                return f"{f.name} is a {type(value).__name__}; a tensor was wanted"
        return self.non_finite() or self.misfit(spec)

    def non_finite(self) -> str | None:
        """Which of the tensors holds values that are no numbers, or None."""
        for name, value in self.arrays().items():
            if value.is_complex() or value.is_meta:
                return f"{name} is a {value.dtype} tensor on {value.device}; real numbers were wanted"
            if not bool(torch.isfinite(value).all()):
                return f"{name} holds {int((~torch.isfinite(value)).sum())} non-finite values"
        return None

    def misfit(self, spec: Spec) -> str | None:  # noqa: ARG002 -- a claim without a shape fits every spec
        """Why the shapes do not fit the spec, or None."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Subspace(Claim):
    """A span of symmetric matrices, the columns of `basis` (D(D+1)/2, k).

    A matrix is written as its upper triangle in the order of `torch.triu_indices`, off-diagonal entries times √2, so
    that the inner product of two columns is that of their matrices.
    """

    basis: Tensor

    def misfit(self, spec: Spec) -> str | None:
        """A subspace lives among the symmetric matrices of the input."""
        wanted = spec.inputs * (spec.inputs + 1) // 2
        if self.basis.ndim != 2 or self.basis.shape[0] != wanted or self.basis.shape[1] > wanted:
            return f"basis has shape {tuple(self.basis.shape)}; ({wanted}, at most {wanted}) was wanted"
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Directions(Claim):
    """Weight vectors up to sign: the columns of `columns` (inputs, k)."""

    columns: Tensor

    def misfit(self, spec: Spec) -> str | None:
        """At most as many columns as the teacher has neurons."""
        known = [w for w in spec.widths if w is not None]
        most = sum(known) if len(known) == len(spec.widths) and known else None
        if self.columns.ndim != 2 or self.columns.shape[0] != spec.inputs:
            return f"columns have shape {tuple(self.columns.shape)}; ({spec.inputs}, neurons) was wanted"
        if most is not None and self.columns.shape[1] > most:
            return f"{self.columns.shape[1]} directions claimed, the teacher has {most} neurons"
        return None


@dataclass(frozen=True, eq=False, repr=False)
class EntangledWeights(Claim):
    """Directions ∇z at the origin of neurons of every layer, up to sign and length, and which layer each belongs to.

    `columns` is (inputs, k), `layers` (k,) counts layers from 1, the output layer being the last; 0 leaves it open.
    """

    columns: Tensor
    layers: Tensor

    def misfit(self, spec: Spec) -> str | None:
        """At most as many columns as the teacher has neurons, outputs included, and layers that it has."""
        known = [w for w in spec.widths if w is not None]
        if self.columns.ndim != 2 or self.columns.shape[0] != spec.inputs:
            return f"columns have shape {tuple(self.columns.shape)}; ({spec.inputs}, neurons) was wanted"
        if len(known) == len(spec.widths) and self.columns.shape[1] > (most := sum(known) + spec.outputs):
            return f"{self.columns.shape[1]} directions claimed, the teacher has {most} neurons"
        if self.layers.shape != self.columns.shape[1:]:
            return f"layers have shape {tuple(self.layers.shape)}; ({self.columns.shape[1]},) was wanted"
        depth = len(spec.widths) + 1
        if bool(((self.layers < 0) | (self.layers > depth) | (self.layers != self.layers.round())).any()):
            return f"layers hold other values than the whole numbers from 0 to {depth}"
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Gram(Claim):
    """A symmetric matrix that is all an oracle can see of the weights, such as Σ a_i w_i w_iᵀ; one for each output."""

    matrix: Tensor  # (s, s), or (outputs, s, s)

    def misfit(self, spec: Spec) -> str | None:
        """Square matrices; the judge compares their size with the truth's."""
        shape = tuple(self.matrix.shape)
        if len(shape) not in (2, 3) or shape[-2] != shape[-1]:
            return f"matrix has shape {shape}; a square one was wanted"
        if len(shape) == 3 and shape[0] != spec.outputs:
            return f"{shape[0]} matrices claimed, the teacher has {spec.outputs} outputs"
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Function(Claim):
    """A callable (rows, inputs) -> (rows, outputs), judged by its output alone."""

    call: Callable[[Tensor], Tensor]
    before: int = field(
        default=0, kw_only=True
    )  # functions of the method that have seen a judge's inputs: the harness says

    def __call__(self, x: Tensor) -> Tensor:
        """The function's values."""
        return self.call(x)

    def held_on(self, device: torch.device) -> Function:
        """The function of inputs and values on the CPU, where its own are on a device."""

        def call(x: Tensor) -> Tensor:
            value = self.call(x.to(device))
            return value.to("cpu") if isinstance(value, Tensor) else value

        return replace(self, call=call)


def presented(claim: object, spec: Spec) -> tuple[Claim, dict[str, float]]:
    """A copy of a claim that can be judged, and the method's own words as numbers; a ValueError says why it cannot."""
    if not isinstance(claim, Claim):
        raise ValueError(f"yielded a {type(claim).__name__}; a claim was wanted")
    try:
        problem = claim.problem(spec)
        stats = {str(name): float(value) for name, value in claim.stats.items()}
        mine = claim.copy()
    except Exception as error:  # a claim is the method's own making: whatever is wrong with it is the claim's fault
        raise ValueError(f"{type(claim).__name__}: {type(error).__name__}: {error}") from error
    if problem:
        raise ValueError(f"{type(claim).__name__}: {problem}")
    return mine, stats


def own(value: Tensor) -> Tensor:
    """A float64 copy on the CPU, cut from any graph."""
    return value.detach().to(device="cpu", dtype=torch.float64, copy=True)
