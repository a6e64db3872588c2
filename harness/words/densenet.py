"""Quadratic DenseNets: teachers, students and claims of the family `hierarchy` are one and the same type.

With the layers J_l that layer l sees, J_l ⊂ {0, …, l - 1} in ascending order, l = 2, …, L,

    (1)  h_0 = x,   h_1 = x² - 1,   S_l = Σ_{j∈J_l} K_{l,j} h_j,   h_l = (R_l S_l)²,
    (2)  f(x) = Σ_l α_l ‖S_l‖²,
    (3)  or, with heads M_l of their own, f(x) = Σ_l α_l H_lᵀ M_l H_l,   H_l = (h_j)_{j∈J_l},

squares going by coordinates. K_l = (K_{l,j})_j is one matrix (k_l, Σ_j q_j). The teachers have R_l = I. Students mix
by R_l (q_l, k_l) with q_l = k_l (k_l + 1) / 2 rows, whose squares span every product of two features, because

    (4)  S_l is seen up to a rotation U_l only: ‖U S‖² = ‖S‖², and products of U S span those of S.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from paramid.words.claims import Claim, own

if TYPE_CHECKING:
    from paramid.words.spec import Spec

WIDEST, STUDENT = 200, 10  # features of a layer of a student; or so many times the teacher's
Links = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class DenseNet(Claim):
    """A quadratic DenseNet (1), up to any layer; with `forms` its heads are (3) and not (2)."""

    weights: tuple[Tensor, ...]  # K_l (k_l, Σ q_j)
    mixes: tuple[Tensor, ...]  # R_l (q_l, k_l)
    links: Links
    alphas: tuple[float, ...]
    forms: tuple[Tensor, ...] | None = None  # M_l (Σ q_j, Σ q_j)

    def __post_init__(self) -> None:
        counts = {len(self.weights), len(self.mixes), len(self.links), len(self.alphas)}
        if len(counts | ({len(self.forms)} if self.forms else set())) != 1 or not self.weights:
            raise ValueError(f"{len(self.weights)} layers of weights; one of everything for each layer was wanted")
        for layer, seen in enumerate(self.links, 2):
            if not seen or any(not a < b for a, b in pairwise(seen)) or seen[0] < 0 or seen[-1] >= layer:
                raise ValueError(f"layer {layer} sees {seen}; ascending numbers below {layer} were wanted")
        for layer, (k, r) in enumerate(zip(self.weights, self.mixes, strict=True), 2):
            told = f"layer {layer}: weights {tuple(k.shape)} and mix {tuple(r.shape)}"
            if k.ndim != 2 or r.ndim != 2 or r.shape[1] != k.shape[0] or k.shape[1] != sum(self.blocks(layer)):
                raise ValueError(f"{told}; (width, {sum(self.blocks(layer))}) and (mixed, width) were wanted")
        for layer, m in enumerate(self.forms or (), 2):
            if m.shape != (sum(self.blocks(layer)),) * 2:
                raise ValueError(f"layer {layer}: form {tuple(m.shape)}; a square of {sum(self.blocks(layer))} wanted")

    @property
    def inputs(self) -> int:
        """The number of input coordinates, which the first layer sees once for each of 0 and 1."""
        return self.weights[0].shape[1] // len(self.links[0])

    @property
    def depth(self) -> int:
        """The number of layers, L."""
        return len(self.weights) + 1

    def blocks(self, layer: int) -> list[int]:
        """q_j for the j that layer l sees."""
        return [self.inputs if j < 2 else self.mixes[j - 2].shape[0] for j in self.links[layer - 2]]

    def parts(self, layer: int) -> dict[int, Tensor]:
        """K_{l,j} by j."""
        columns = self.weights[layer - 2].split(self.blocks(layer), dim=1)
        return dict(zip(self.links[layer - 2], columns, strict=True))

    def layers(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """H_2, …, H_L and S_2, …, S_L of (1)."""
        h, seen, features = [x, x * x - 1], [], []
        for k, r, links in zip(self.weights, self.mixes, self.links, strict=True):
            seen.append(torch.cat([h[j] for j in links], dim=1))
            features.append(seen[-1] @ k.T)
            h.append((features[-1] @ r.T).square())
        return seen, features

    def __call__(self, x: Tensor) -> Tensor:
        """The values (2) or (3), (rows, 1)."""
        return self.terms(x).sum(1, keepdim=True)

    def terms(self, x: Tensor) -> Tensor:
        """What every layer adds, (rows, L - 1)."""
        seen, features = self.layers(x)
        if self.forms is None:
            terms = [a * s.square().sum(1) for a, s in zip(self.alphas, features, strict=True)]
        else:
            heads = zip(self.alphas, self.forms, seen, strict=True)
            terms = [a * ((h @ m) * h).sum(1) for a, m, h in heads]
        return torch.stack(terms, dim=1)

    def upto(self, layer: int) -> Self:
        """The layers 2, …, l alone."""
        n = layer - 1
        forms = None if self.forms is None else self.forms[:n]
        return replace(
            self,
            weights=self.weights[:n],
            mixes=self.mixes[:n],
            links=self.links[:n],
            alphas=self.alphas[:n],
            forms=forms,
        )

    @property
    def plain(self) -> bool:
        """Whether every R_l is the identity: the coordinates of S_l are claimed, not their span alone."""
        return all(
            r.shape[0] == r.shape[1] and bool((r == torch.eye(len(r), dtype=r.dtype, device=r.device)).all())
            for r in self.mixes
        )

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Self:
        """The same net elsewhere."""
        return self.mapped(lambda t: t.to(device=device, dtype=dtype))

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The same net over changed tensors."""
        forms = None if self.forms is None else tuple(map(change, self.forms))
        return replace(
            self, weights=tuple(map(change, self.weights)), mixes=tuple(map(change, self.mixes)), forms=forms
        )

    def arrays(self) -> dict[str, Tensor]:
        """K2, R2, J2, …, M2, … where there are forms, and alphas."""
        named = {"alphas": torch.tensor(self.alphas, dtype=torch.float64, device="cpu")}
        for layer, (k, r, links) in enumerate(zip(self.weights, self.mixes, self.links, strict=True), 2):
            seen = torch.tensor(links, dtype=torch.float64, device="cpu")
            named |= {f"K{layer}": k, f"R{layer}": r, f"J{layer}": seen}
        return named | {f"M{layer}": m for layer, m in enumerate(self.forms or (), 2)}

    @classmethod
    def restore(cls, arrays: Mapping[str, Tensor], spec: Spec) -> Self:  # noqa: ARG003 -- the arrays say it all
        """The net that `arrays` were stored from."""
        layers = range(2, 2 + len(arrays["alphas"]))
        return cls(
            weights=tuple(arrays[f"K{n}"] for n in layers),
            mixes=tuple(arrays[f"R{n}"] for n in layers),
            links=tuple(tuple(int(j) for j in arrays[f"J{n}"]) for n in layers),
            alphas=tuple(float(a) for a in arrays["alphas"]),
            forms=tuple(arrays[f"M{n}"] for n in layers) if "M2" in arrays else None,
        )

    def copy(self) -> Self:
        """A copy on the CPU that nobody else can write to."""
        return self.mapped(own)

    def misfit(self, spec: Spec) -> str | None:
        """The spec's inputs, and at most its layers; students may be wider."""
        if (self.inputs, spec.outputs) != (spec.inputs, 1):
            return f"{self.inputs} inputs, 1 output; {spec.inputs} and {spec.outputs} were wanted"
        if self.depth > len(spec.widths) + 1:
            return f"{self.depth} layers claimed, the teacher has {len(spec.widths) + 1}"
        most = max(WIDEST, STUDENT * max(w or 1 for w in spec.widths))
        if (widest := max(map(len, self.weights))) > most:
            return f"features of width {widest} claimed; at most {most} were wanted"
        if any(len(r) > max(k, k * (k + 1) // 2) for r in self.mixes if (k := r.shape[1])):
            return "features are mixed into more squares than span all their products"
        if not all(a > 0 for a in self.alphas):
            return f"alphas are {', '.join(f'{a:g}' for a in self.alphas)}; positive numbers were wanted"
        return None
