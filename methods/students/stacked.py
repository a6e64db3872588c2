"""Students of one architecture side by side: a row of parameters each, their values, slopes and normal equations.

A row of θ holds layer after layer the weights (in, out), row by row, then the shifts, as `words.network.shaped` reads
it. With Y_l the inputs of layer l and a column of ones, δ_l = ∂f/∂z_l, and r = f(x_i) - y_i of one student,

    (1)  J = 1/N Σ_i ‖r_i‖²,   ∂J/∂θ_l = 2/N Σ_i Y_l,i ⊗ (δ_l,iᵀ r_i),
    (2)  JᵀJ and Jᵀr over the rows Y_l,i ⊗ δ_l,i of every layer and output.

Small networks cost little but their overhead: ten side by side take hardly longer than one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from paramid import Network, activation
from paramid.words.network import shaped

ROWS = 2**22  # doubles of a Jacobian or of values at once


@dataclass(frozen=True)
class Shape:
    """Inputs, widths and outputs, and the activations above them."""

    sizes: tuple[int, ...]
    activations: tuple[str, ...]

    @property
    def ends(self) -> list[int]:
        """Where the parameters of every layer begin, and their number."""
        return [0, *accumulate((fed + 1) * out for fed, out in pairwise(self.sizes))]

    @property
    def parameters(self) -> int:
        """All weights and shifts of a student."""
        return self.ends[-1]

    def layers(self, theta: Tensor) -> list[Tensor]:
        """Views of θ (students, parameters): (students, in + 1, out) for every layer, shifts last."""
        ends = pairwise(self.ends)
        sizes = pairwise(self.sizes)
        return [theta[:, a:b].view(len(theta), fed + 1, out) for (a, b), (fed, out) in zip(ends, sizes, strict=True)]

    def free(self, kinds: Sequence[str], like: Tensor) -> Tensor:
        """The places of a row that are not told: all but outer weights and output biases that are not of `kinds`."""
        told = torch.zeros(1, self.parameters, dtype=torch.bool, device=like.device)
        last = self.layers(told)[-1]
        last[:, :-1], last[:, -1] = "outer" not in kinds, "output_bias" not in kinds
        return (~told[0]).nonzero()[:, 0]

    def network(self, row: Tensor) -> Network:
        """One student as a network."""
        blank = [row.new_zeros(n) for n in self.sizes]
        like = Network(tuple(torch.outer(a, b) for a, b in pairwise(blank)), tuple(blank[1:]), self.activations)
        return shaped(like, row.clone())


def rows(network: Network) -> Tensor:
    """The parameters of a network as a row of θ."""
    layers = zip(network.weights, network.biases, strict=True)
    return torch.cat([torch.cat([w, b[None]]).flatten() for w, b in layers])


def shape_of(network: Network) -> Shape:
    """The shape of a network."""
    return Shape((network.inputs, *network.widths, network.outputs), network.activations)


def values(shape: Shape, theta: Tensor, x: Tensor) -> Tensor:
    """f(x) of every student, (students, rows, outputs)."""
    fed = x.expand(len(theta), *x.shape)
    for layer, name in zip(shape.layers(theta), shape.activations, strict=True):
        fed = activation(name)(torch.baddbmm(layer[:, -1:], fed, layer[:, :-1]))
    return fed


def losses(shape: Shape, theta: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """J of (1), (students,), in chunks; infinite where it is no number."""
    size = max(1, ROWS // (len(theta) * max(shape.sizes)))
    parts = zip(x.split(size), y.split(size), strict=True)
    total = torch.stack([(values(shape, theta, a) - b).square().sum((1, 2)) for a, b in parts]).sum(0) / len(x)
    return total.nan_to_num(nan=torch.inf)


def gradient(shape: Shape, theta: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """J and ∂J/∂θ of (1), in chunks: (students,) and (students, parameters)."""
    size = max(1, ROWS // (len(theta) * max(shape.sizes)))
    parts = [sums(shape, theta, a, b) for a, b in zip(x.split(size), y.split(size), strict=True)]
    loss, slopes = parts[0] if len(parts) == 1 else [torch.stack(part).sum(0) for part in zip(*parts, strict=True)]
    return loss / len(x), slopes * (2 / len(x))


def sums(shape: Shape, theta: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The sums in (1), of squares and of slopes."""
    layers, fed, z = forward(shape, theta, x)
    residual = fed.pop() - y
    delta = residual * activation(shape.activations[-1])(z[-1], 1)
    slopes = torch.empty_like(theta)
    for at in reversed(range(len(z))):
        slope = shape.layers(slopes)[at]
        torch.bmm(fed[at].transpose(1, 2), delta, out=slope[:, :-1])
        slope[:, -1] = delta.sum(1)
        if at:
            back = delta @ layers[at][:, :-1].transpose(1, 2)
            delta = back * activation(shape.activations[at - 1])(z[at - 1], 1)
    return residual.square().sum((1, 2)), slopes


def normal_equations(shape: Shape, theta: Tensor, x: Tensor, y: Tensor, free: Tensor) -> tuple[Tensor, Tensor]:
    """JᵀJ and Jᵀr of (2) over what is free, each divided by N."""
    p = len(free)
    system, slope = theta.new_zeros(len(theta), p, p), theta.new_zeros(len(theta), p)
    size = max(1, ROWS // (len(theta) * shape.parameters * shape.sizes[-1]))
    for inputs, targets in zip(x.split(size), y.split(size), strict=True):
        jacobian, residual = jacobians(shape, theta, inputs, targets)
        jacobian = jacobian[:, :, free] if p < shape.parameters else jacobian
        system = system.baddbmm_(jacobian.transpose(1, 2), jacobian)
        slope += (residual[:, None] @ jacobian)[:, 0]
    return system / len(x), slope / len(x)


def jacobians(shape: Shape, theta: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of (2), (students, rows · outputs, parameters), and r (students, rows · outputs)."""
    layers, fed, z = forward(shape, theta, x)
    residual = fed.pop() - y
    last = activation(shape.activations[-1])(z[-1], 1)
    delta = torch.diag_embed(last)  # (students, rows, outputs, width)
    parts: list[Tensor] = []
    for at in reversed(range(len(z))):
        lifted = torch.cat([fed[at], torch.ones_like(fed[at][..., :1])], -1)
        parts.insert(0, (lifted[:, :, None, :, None] * delta[:, :, :, None]).flatten(3).flatten(1, 2))
        if at:
            back = delta @ layers[at][:, None, :-1].transpose(2, 3)
            delta = back * activation(shape.activations[at - 1])(z[at - 1], 1)[:, :, None]
    return torch.cat(parts, -1), residual.flatten(1)


def forward(shape: Shape, theta: Tensor, x: Tensor) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Layers, what each is fed with and the values last, and what each makes of it."""
    layers, fed, z = shape.layers(theta), [x.expand(len(theta), *x.shape)], list[Tensor]()
    for layer, name in zip(layers, shape.activations, strict=True):
        z.append(torch.baddbmm(layer[:, -1:], fed[-1], layer[:, :-1]))
        fed.append(activation(name)(z[-1]))
    return layers, fed, z


def ranked(loss: Tensor, count: int) -> Iterator[int]:
    """The `count` students of least loss, best first."""
    yield from loss.argsort()[:count].tolist()
