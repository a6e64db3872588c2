"""Neurons as far lines show them, and what makes two sightings one neuron."""

import math
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Neurons:
    """k neurons, none of which is sure."""

    w: Tensor  # (k, D)
    b: Tensor
    a: Tensor  # (k, outputs)
    at: Tensor  # a point of each hyperplane, (k, D)
    left: Tensor  # of what bends, by the profile
    seen: Tensor  # lines that showed it
    missed: Tensor  # and lines that should have

    def __len__(self) -> int:
        return len(self.b)

    def take(self, rows: Tensor) -> "Neurons":
        """Some of them."""
        return Neurons(*(getattr(self, f.name)[rows] for f in fields(self)))

    def best(self, most: int | None) -> "Neurons":
        """Those that no line missed first, of these those seen again, then those that fit best."""
        order = sorted(
            range(len(self)), key=lambda i: (int(self.missed[i]), -min(int(self.seen[i]), 2), float(self.left[i]))
        )
        return self.take(torch.tensor(order[:most], dtype=torch.int64, device=self.b.device))


def none(inputs: int, outputs: int, like: Tensor) -> Neurons:
    """No neurons yet."""
    one = like.new_zeros(0)
    return Neurons(like.new_zeros(0, inputs), one, like.new_zeros(0, outputs), like.new_zeros(0, inputs), one, one, one)


def merged(known: Neurons, new: Neurons, angle: float) -> Neurons:
    """Both, with neurons of one direction taken for one: the one that fits better."""
    for i in range(len(new)):
        one = new.take(torch.tensor([i], device=new.b.device))
        cos = (unit(known.w) @ unit(one.w)[0]).abs()
        same = (cos > math.cos(angle)).nonzero()[:, 0]
        if len(same):
            old = known.take(same[:1])
            one = replace(one if float(one.left) < float(old.left) else old, seen=old.seen + 1)
            known = known.take((torch.arange(len(known), device=same.device) != same[0]).nonzero()[:, 0])
        known = joined(known, one)
    return known


def joined(known: Neurons, new: Neurons) -> Neurons:
    """Both."""
    return Neurons(*(torch.cat([getattr(known, f.name), getattr(new, f.name)]) for f in fields(known)))


def unit(w: Tensor) -> Tensor:
    """Rows of length 1."""
    return w / w.norm(dim=1, keepdim=True)
