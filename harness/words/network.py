"""Layered networks: teachers, students and claims are one and the same type.

    (1)  y_0 = x,   z_l = y_{l-1} W_l + b_l,   y_l = g_l(z_l),   f(x) = y_L

with weights (in, out), so that a neuron is a column. Derivatives in x are exact: with S_l = ∂f/∂y_l,

    (2)  ∂²f/∂x² = Σ_l Σ_k S_lk g_l''(z_lk) ∇z_lk ∇z_lkᵀ,

the sum running over every neuron of every layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from paramid.words.activations import ACTIVATIONS, activation
from paramid.words.claims import Claim, own
from paramid.words.spec import UNKNOWN

if TYPE_CHECKING:
    from paramid.words.spec import Spec


Teacher = Callable[[Tensor], Tensor]
AFFINE = {("logistic", "tanh"): (0.5, 0.5, 0.5), ("tanh", "logistic"): (2.0, 2.0, -1.0)}  # l, a, c: c + a h(l t)
PLACES = "activations"  # the name under which a network's own activations are stored


@dataclass(frozen=True, eq=False, repr=False)
class Network(Claim):
    """A layered network (1). The last layer is the output layer, often "identity" over the outer weights."""

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    activations: tuple[str, ...]

    def __repr__(self) -> str:
        """The widths and activations, never the numbers."""
        shape = "-".join(map(str, (self.inputs, *self.widths, self.outputs)))
        return f"Network({shape}, {', '.join(self.activations)})"

    def __post_init__(self) -> None:
        depth = len(self.weights)
        if not depth or len(self.biases) != depth or len(self.activations) != depth:
            raise ValueError(
                f"{depth} weights, {len(self.biases)} biases, {len(self.activations)} activations; "
                "one of each for every layer was wanted"
            )
        for value in (*self.weights, *self.biases):
            if not isinstance(value, Tensor):
                raise ValueError(f"a {type(value).__name__} among weights and biases; tensors were wanted")
        for layer, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            fed = "inputs" if layer == 0 else self.weights[layer - 1].shape[-1]
            if w.ndim != 2 or b.shape != (w.shape[1],) or (layer and w.shape[0] != fed):
                raise ValueError(
                    f"layer {layer}: weights {tuple(w.shape)} and biases {tuple(b.shape)}; "
                    f"({fed}, width) and (width,) were wanted"
                )
        for name in self.activations:
            activation(name)

    @classmethod
    def shallow(cls, weights: Tensor, shifts: Tensor, name: str, outer: Tensor | None = None) -> Self:
        """f(x) = Σ_k a_k g(⟨w_k, x⟩ + τ_k) + c, with outer weights 1 unless given and c = 0."""
        outer = torch.ones_like(shifts) if outer is None else outer
        a = outer[:, None] if outer.ndim == 1 else outer
        return cls((weights, a), (shifts, a.new_zeros(a.shape[1:])), (name, "identity"))

    @property
    def inputs(self) -> int:
        """The number of input coordinates."""
        return self.weights[0].shape[0]

    @property
    def widths(self) -> tuple[int, ...]:
        """The hidden widths."""
        return tuple(w.shape[1] for w in self.weights[:-1])

    @property
    def outputs(self) -> int:
        """The number of output coordinates."""
        return self.weights[-1].shape[1]

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Self:
        """The same network elsewhere."""
        return self.with_layers(
            [w.to(device=device, dtype=dtype) for w in self.weights],
            [b.to(device=device, dtype=dtype) for b in self.biases],
        )

    def with_layers(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Self:
        """The same activations over other parameters."""
        return replace(self, weights=tuple(weights), biases=tuple(biases))

    def __call__(self, x: Tensor) -> Tensor:
        """The values f(x), (rows, outputs)."""
        for w, b, name in zip(self.weights, self.biases, self.activations, strict=True):
            x = activation(name)(torch.addmm(b, x, w))
        return x

    def preactivations(self, x: Tensor) -> list[Tensor]:
        """z_1 … z_L of (1)."""
        z: list[Tensor] = []
        for w, b, name in zip(self.weights, self.biases, self.activations, strict=True):
            z.append(torch.addmm(b, x, w))
            x = activation(name)(z[-1])
        return z

    def gradient(self, x: Tensor) -> Tensor:
        """∂f/∂x, (rows, outputs, inputs)."""
        z = self.preactivations(x)
        return self._sensitivities(z)[0] @ self.weights[0].T

    def hessian(self, x: Tensor) -> Tensor:
        """∂²f/∂x², (rows, outputs, inputs, inputs), by (2)."""
        z = self.preactivations(x)
        total = x.new_zeros(len(x), self.outputs, self.inputs, self.inputs)
        for layer, (at, slopes) in enumerate(zip(self._sensitivities(z, before=True), self._slopes(z), strict=True)):
            curvature = at * activation(self.activations[layer])(z[layer], 2)[:, None, :]
            if layer == 0:
                w = self.weights[0]
                total += (curvature @ (w[:, None] * w).flatten(0, 1).T).view_as(total)
            else:
                total += torch.einsum("rok,rdk,rek->rode", curvature, slopes, slopes)
        return total

    def sensitivities(self, x: Tensor) -> list[Tensor]:
        """∂f/∂z_l, (rows, outputs, width), for every layer."""
        return self._sensitivities(self.preactivations(x))

    def slopes(self, x: Tensor) -> list[Tensor]:
        """∇z_l, (rows, inputs, width), for every layer: the entangled weights at the rows of `x`."""
        return list(self._slopes(self.preactivations(x)))

    def label(self, columns: Tensor) -> Tensor:
        """The layer, from 1, of the neuron whose ∇z at 0 is nearest to each column (inputs, k), up to sign: (k,)."""
        found = [v[0] / v[0].norm(dim=0) for v in self.slopes(columns.new_zeros(1, len(columns)))]
        nearest = torch.stack([(v.T @ columns).abs().amax(0) for v in found])
        return (nearest.argmax(0) + 1).to(columns.dtype)

    def _slopes(self, z: list[Tensor]) -> Iterator[Tensor]:
        slopes = self.weights[0].expand(len(z[0]), -1, -1)
        yield slopes
        for layer, w in enumerate(self.weights[1:]):
            slopes = (slopes * activation(self.activations[layer])(z[layer], 1)[:, None, :]) @ w
            yield slopes

    def _sensitivities(self, z: list[Tensor], before: bool = False) -> list[Tensor]:
        """∂f/∂z_l for every layer, (rows, outputs, width); with `before`, ∂f/∂y_l."""
        at = torch.eye(self.outputs, device=z[0].device, dtype=z[0].dtype).expand(len(z[0]), -1, -1)
        found: list[Tensor] = []
        for layer in reversed(range(len(z))):
            through = at * activation(self.activations[layer])(z[layer], 1)[:, None, :]
            found.append(at if before else through)
            at = through @ self.weights[layer].T
        return found[::-1]

    def arrays(self) -> dict[str, Tensor]:
        """W0, b0, W1, b1, …: the last W holds the outer weights."""
        named: dict[str, Tensor] = {}
        for layer, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            named |= {f"W{layer}": w, f"b{layer}": b}
        return named

    def stored(self, spec: Spec) -> dict[str, Tensor]:
        """W0, b0, …; where the spec leaves activations open, their places in the registry besides."""
        if UNKNOWN not in spec.activations:
            return self.arrays()
        places = [float(list(ACTIVATIONS).index(name)) for name in self.activations]
        return {**self.arrays(), PLACES: torch.tensor(places, dtype=torch.float64, device="cpu")}

    @classmethod
    def restore(cls, arrays: Mapping[str, Tensor], spec: Spec) -> Self:
        """The network stored as W0, b0, …, with the activations of the spec or, where it leaves them open, its own."""
        depth, names = len(arrays) // 2, spec.activations
        if UNKNOWN in names:
            names = tuple(list(ACTIVATIONS)[int(place)] for place in arrays[PLACES].tolist())
        return cls(
            tuple(arrays[f"W{layer}"] for layer in range(depth)),
            tuple(arrays[f"b{layer}"] for layer in range(depth)),
            names,
        )

    def copy(self) -> Self:
        """A copy on the CPU that nobody else can write to."""
        return self.with_layers([own(w) for w in self.weights], [own(b) for b in self.biases])

    def misfit(self, spec: Spec) -> str | None:
        """The spec's own architecture, with at most as many neurons a layer."""
        told = zip(self.activations, spec.activations, strict=False)
        if len(self.activations) != len(spec.activations) or any(b not in (UNKNOWN, a) for a, b in told):
            return f"activations {self.activations}; {spec.activations} were wanted"
        if (self.inputs, self.outputs) != (spec.inputs, spec.outputs):
            return f"{self.inputs} inputs, {self.outputs} outputs; {spec.inputs} and {spec.outputs} were wanted"
        for layer, (claimed, known) in enumerate(zip(self.widths, spec.widths, strict=True)):
            if known is not None and claimed > known:
                return f"{claimed} neurons claimed in layer {layer}, the teacher has {known}"
        return None


def shaped(like: Network, values: Tensor) -> Network:
    """A vector of parameters as a network: layer after layer the weights, row by row, then the biases."""
    weights, biases = [], []
    for w, b in zip(like.weights, like.biases, strict=True):
        weights.append(values[: w.numel()].view_as(w))
        biases.append(values[w.numel() : w.numel() + b.numel()])
        values = values[w.numel() + b.numel() :]
    return like.with_layers(weights, biases)


def permute(network: Network, layer: int, order: Tensor) -> Network:
    """The same function with the neurons of a hidden layer in another order (or fewer of them)."""
    w, b = list(network.weights), list(network.biases)
    w[layer], b[layer], w[layer + 1] = w[layer][:, order], b[layer][order], w[layer + 1][order]
    return network.with_layers(w, b)


def flip(network: Network, layer: int, signs: Tensor) -> Network:
    """The same function with ±1 `signs` on the neurons of a hidden layer, where its activation allows that."""
    w, b = list(network.weights), list(network.biases)
    symmetry = activation(network.activations[layer]).symmetry
    if symmetry is None:
        raise ValueError(f"{network.activations[layer]} has no sign symmetry")
    w[layer], b[layer] = w[layer] * signs, b[layer] * signs
    if symmetry != "even":
        if symmetry == "complement":  # g(-t) = 1 - g(t): what leaves the neuron arrives at the next bias
            b[layer + 1] = b[layer + 1] + ((1 - signs) / 2) @ w[layer + 1]
        w[layer + 1] = w[layer + 1] * signs[:, None]
    return network.with_layers(w, b)


def turn(network: Network, layer: int, halves: Tensor) -> Network:
    """The same function with the shifts of a hidden layer moved by so many half turns, where g(t + h) = -g(t)."""
    w, b = list(network.weights), list(network.biases)
    half = activation(network.activations[layer]).half_turn
    if half is None:
        raise ValueError(f"{network.activations[layer]} has no half turn")
    b[layer] = b[layer] + half * halves
    w[layer + 1] = w[layer + 1] * (1 - 2 * halves.remainder(2))[:, None]
    return network.with_layers(w, b)


def read_as(network: Network, names: tuple[str, ...]) -> Network | None:
    """The same function with the activations `names`, or None where no affine map leads from one to the other.

    logistic(t) = (1 + tanh(t/2)) / 2; every other activation is a family of its own.
    """
    if len(names) != len(network.activations):
        return None
    w, b = list(network.weights), list(network.biases)
    for layer, (mine, theirs) in enumerate(zip(network.activations, names, strict=True)):
        if mine == theirs:
            continue
        if (mine, theirs) not in AFFINE or layer == len(w) - 1:
            return None
        inner, outer, middle = AFFINE[mine, theirs]
        b[layer + 1] = b[layer + 1] + middle * w[layer + 1].sum(0)
        w[layer], b[layer], w[layer + 1] = inner * w[layer], inner * b[layer], outer * w[layer + 1]
    return replace(network, weights=tuple(w), biases=tuple(b), activations=names)


def normalise(network: Network) -> Network:
    """The same function: unit columns where the activation is homogeneous, shifts near 0 where it is periodic."""
    for layer in range(len(network.widths)):
        half = activation(network.activations[layer]).half_turn
        if half is not None:
            network = turn(network, layer, -(network.biases[layer] / half).round())
    w, b = list(network.weights), list(network.biases)
    for layer in range(len(w) - 1):
        degree = activation(network.activations[layer]).degree
        if degree is not None:
            length = w[layer].norm(dim=0)
            length = torch.where(length > 0, length, 1.0)
            w[layer], b[layer] = w[layer] / length, b[layer] / length
            w[layer + 1] = w[layer + 1] * (length**degree)[:, None]
    return network.with_layers(w, b)
