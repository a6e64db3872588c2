"""Faces that share the second layer, joined to one rough network of two layers of tanh.

On every face the outer weights A_k are the same, and W_jk of neurons j that two faces share, up to order and the sign
of each k: they tell which is which. With the best face as reference,

    (1)  W_jk from the best face that holds j,   β_k = α_k - Σ_{i ∉ J} W_ik sign(⟨u_i, x_0⟩)  by (face, 2).

Where neuron k is close to linear only the products A_k W_jk are well known, so that from a face with other A'_k

    (2)  W_jk A'_k / A_k  is taken for W_jk.
"""

import torch
from torch import Tensor

from paramid import Network
from paramid.methods.faces.face import Layer
from paramid.methods.faces.face_fit import Solved
from paramid.methods.faces.second_layer import Upper
from paramid.words.neuron_distances import assign, distances

CLEAR = 0.5  # of a ratio (2) from 1


def joined(layer: Layer, solved: list[Solved]) -> Network:
    """(1), the faces together holding every neuron of `layer`."""
    aligned = in_one_order(layer, solved)
    order = sorted(range(len(solved)), key=lambda k: -solved[k].rms)  # the best come last and stay
    best, above = solved[order[-1]], aligned[order[-1]]
    norms, shifts = layer.norms.clone(), layer.shifts.clone()
    weights = layer.norms.new_zeros(len(norms), len(above.shifts))
    for k in order:
        j = solved[k].face.neurons
        weights[j] = aligned[k].weights * shares(aligned[k].outer, above.outer)
        norms[j], shifts[j] = solved[k].face.layer.norms, solved[k].face.layer.shifts
    still = torch.ones_like(norms).index_fill(0, best.face.neurons, 0.0)
    signs = still * (layer.directions.T @ best.face.base).sign()
    return Network(
        (layer.directions * norms, weights, above.outer),
        (shifts, above.shifts - signs @ weights, above.bias),
        ("tanh", "tanh", "identity"),
    )


def in_one_order(layer: Layer, solved: list[Solved]) -> list[Upper]:
    """What lies above every face, in the order and with the signs of the first, each beside those before it."""
    known = torch.zeros_like(layer.norms, dtype=torch.bool)
    table, aligned = layer.norms.new_zeros(len(known), len(solved[0].upper.shifts)), list[Upper]()
    for each in solved:
        j = each.face.neurons
        common = known[j]
        upper = matched(aligned[0], table[j][common], each.upper, common) if aligned else each.upper
        table[j], known[j] = upper.weights, True
        aligned.append(upper)
    return aligned


def matched(reference: Upper, weights: Tensor, other: Upper, common: Tensor) -> Upper:
    """`other` in the order of `reference`, by A_k and the `weights` (shared, m_2) that its `common` neurons have."""
    wanted = torch.cat([reference.outer.T, weights])
    given = torch.cat([other.outer.T, other.weights[common]])
    straight, turned = distances(wanted, given), distances(wanted, -given)
    _, order = assign(torch.minimum(straight, turned).cpu())
    order = order.to(given.device)
    near, far = (t.gather(1, order[:, None])[:, 0] for t in (turned, straight))
    sign = torch.where(near < far, -1.0, 1.0).to(given.dtype)
    return Upper(
        other.weights[:, order] * sign,
        other.shifts[order] * sign,
        other.outer[order] * sign[:, None],
        other.bias,
    )


def shares(mine: Tensor, theirs: Tensor) -> Tensor:
    """(2), (m_2,): what W of one face is in the units of another; 1 where they have little to do with each other."""
    ratio = (mine * theirs).sum(1) / theirs.square().sum(1)
    return torch.where((ratio - 1).abs() < CLEAR, ratio, 1.0)
