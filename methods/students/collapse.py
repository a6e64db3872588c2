"""What students have in common in one hidden layer, as the layer of one network or of all students.

Clusters of (w, b) (`clusters`) become neurons. Of homogeneous activations (w, b) has length 1 first, its length moved
to the outgoing weights. The five students of least loss are walked in order: the first with members in a cluster gives
it their mean; a cluster without any is dropped. A member is turned to the side of its cluster (`symmetries`), and what
it sends on with it:

    (1)  odd: turned too;   complement: turned, and a constant moves to the next shift;   even + linear: as it is.

Outgoing weights of a student are the sums over its own members. A cluster without incoming weights is a constant and no
neuron: homogeneous activations make all constants one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import activation
from paramid.methods.students import clusters, symmetries
from paramid.methods.students.stacked import Shape, values

BEST = 5  # students that may give a neuron
FLAT = 1e-3  # of the length of (w, b): a constant


@dataclass(frozen=True, eq=False)
class Common:
    """Neurons found: (w, b) (in + 1, k), who gives each, and what all students send on from them (S, k, next)."""

    columns: Tensor
    givers: Tensor
    outgoing: Tensor
    constants: Tensor  # (S, next), for the next shifts


def common(
    shape: Shape, theta: Tensor, order: Tensor, layer: int, *, least: int, rule: str = "most"
) -> Iterator[Common]:
    """The neurons of a layer that students share, best students first in `order`: for every cut of the tree."""
    name, layers = shape.activations[layer], shape.layers(theta)
    students, width = len(theta), shape.sizes[layer + 1]
    vectors = layers[layer].transpose(1, 2).reshape(students * width, -1)
    sent = layers[layer + 1][:, :-1].reshape(students * width, -1)
    if (degree := activation(name).degree) is not None:
        length = vectors.norm(dim=1, keepdim=True).clamp(min=torch.finfo(vectors.dtype).tiny)
        vectors, sent = vectors / length, sent * length**degree
    owner = torch.arange(students, device=theta.device).repeat_interleave(width)
    for groups in clusters.clusters(vectors, least=least, turns=symmetries.turns(name), rule=rule):
        kept = [g.to(theta.device) for g in groups if not constant(vectors[g])]
        found = [neuron(vectors, sent, owner, g, order, name) for g in kept if given(owner[g], order)]
        if found:
            rows, givers, outs, moved = zip(*found, strict=True)
            places = torch.tensor(givers, dtype=torch.int64, device=theta.device)
            yield Common(torch.stack(rows, 1), places, torch.stack(outs, 1), torch.stack(moved).sum(0))


def constant(members: Tensor) -> bool:
    """Whether a cluster has no incoming weights."""
    return bool(members[:, :-1].norm() <= FLAT * members.norm())


def given(owners: Tensor, order: Tensor) -> bool:
    """Whether one of the best students is among the owners."""
    return bool(torch.isin(owners, order[:BEST]).any())


def neuron(
    vectors: Tensor, sent: Tensor, owner: Tensor, group: Tensor, order: Tensor, name: str
) -> tuple[Tensor, int, Tensor, Tensor]:
    """A cluster's (w, b), who gives it, what every student sends on from it and what that moves to the next shifts."""
    giver = next(int(s) for s in order[:BEST] if bool((owner[group] == s).any()))
    mine, theirs = vectors[group], group[owner[group] == giver]
    side = torch.ones_like(mine[:, 0])
    if symmetries.turns(name):
        reference = vectors[theirs[0]]
        reference = reference * symmetries.signs(reference[:, None])[0]
        side = torch.where(mine @ reference < 0, -1.0, 1.0).to(mine)
    row = (side[:, None] * mine)[owner[group] == giver].mean(0)
    out, moved = sent.new_zeros(2, int(owner.max()) + 1, sent.shape[1])
    turned = side if symmetries.exact(name) else torch.ones_like(side)
    out.index_add_(0, owner[group], turned[:, None] * sent[group])
    if activation(name).symmetry == "complement":
        moved.index_add_(0, owner[group], (1 - side[:, None]) / 2 * sent[group])
    return row, giver, out, moved


def narrowed(shape: Shape, theta: Tensor, layer: int, shared: Common) -> tuple[Shape, Tensor]:
    """All students with the neurons of `shared` in a layer, each with its own outgoing weights."""
    sizes = (*shape.sizes[: layer + 1], shared.columns.shape[1], *shape.sizes[layer + 2 :])
    layers = list(shape.layers(theta))
    layers[layer] = shared.columns.expand(len(theta), *shared.columns.shape)
    offset = layers[layer + 1][:, -1:] + shared.constants[:, None]
    layers[layer + 1] = torch.cat([shared.outgoing, offset], 1)
    return Shape(sizes, shape.activations), torch.cat([t.flatten(1) for t in layers], 1)


def one(shape: Shape, theta: Tensor, order: Tensor, shared: Common, x: Tensor, y: Tensor) -> tuple[Shape, Tensor]:
    """One network over the best student's lower layers: a row of the last hidden layer and what its giver sends on.

    The output offset makes its mean over samples that of their values.
    """
    last = len(shape.sizes) - 3
    narrow, all_of = narrowed(shape, theta, last, shared)
    row = all_of[order[:1]].clone()
    outer = narrow.layers(row)[-1]
    places = torch.arange(len(shared.givers), device=theta.device)
    outer[0, :-1] = shared.outgoing[shared.givers, places]
    outer[0, -1] += (y - values(narrow, row, x)[0]).mean(0)
    return narrow, row
