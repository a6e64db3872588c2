"""A first network of several layers from the directions they bend in, their layers and their pre-activations.

    (1)  Hessians of all outputs at a_0 ± r e_n, their span, and its rank-ones ±v/‖v‖ of the neurons of all layers,
    (2)  their layers and g''/g''' at their pre-activations            (gauge_labels),
    (3)  from V_{l+1} = V_l diag(g'(z_l)) W_{l+1} with unit columns of W, layer after layer: W_{l+1} = V_l⁺ V_{l+1}
         scaled to unit columns, ‖v_{l+1}‖, z_{l+1} from its g''/g''', and τ_{l+1} = z_{l+1} - W_{l+1}ᵀ y_l,

and the output layer by linear least squares. All this is right to about 1e-2, a start for a refinement: away from a_0
the directions of deeper layers turn, which blurs the span.

Reference: Rauchensteiner 2023, (4.18) and §4.3.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import torch
from torch import Tensor

from paramid import Activation, GiveUp, Network, Run, activation
from paramid.methods.layers import gauge_labels
from paramid.methods.layers.gauge_labels import Bends
from paramid.methods.layers.peeling import inverse
from paramid.methods.spans import entangled_search, gram_span, output_differences
from paramid.methods.spans.output_differences import Values
from paramid.words.neuron_distances import assign, distances

RADIUS = 0.23  # r of (1) in units of the interval on which g'' is monotone
PAIRS = 16  # the least number of antipodal pairs
COHERENT = 0.3  # over h²: truncation tilts the span without widening it
ORDERS = 6  # of layers of equal width that are told


@dataclass(frozen=True)
class Seen:
    """What stood behind rough networks: the gap of the span and how the clusters lay."""

    bends: Bends
    layers: Tensor
    stats: dict[str, float]


def crowded(d: int, widths: tuple[int, ...], outputs: int) -> str | None:
    """Why directions of these layers on d inputs, or the layers they belong to, are not unique, or None.

    Directions of a layer, and of all above it, lie in as many dimensions as the narrowest up to it. p squares of them
    that span no other square are at most d(d-1)/2, and for d ≤ 3, by the degree of that variety, one more.
    """
    rank = min(outputs, widths[-1])
    for layer, width in enumerate(widths, 1):
        p, d = sum(widths[layer - 1 :]), min(d, width)
        if p > (limit := d * (d - 1) // 2 + (d <= 3)):
            return f"{p} neurons from layer {layer} on lie in {d} dimensions: beyond {limit} they are not unique"
        if len(widths) > layer and p > (seen := d * rank):
            return (
                f"{p} neurons from layer {layer} on exceed {seen} = {d} dimensions x {rank} outputs: no layer is told"
            )
    return None


def look(
    f: Values,
    base: Tensor,
    widths: tuple[int, ...],
    g: Activation,
    run: Run,
    *,
    noise: float,
    first: Tensor | None,
    pairs: int = PAIRS,
    reach: float = math.inf,
    ahead: bool = False,
) -> Seen:
    """Stages (1) and (2) around `base` (d,), for the hidden layers of `widths`, of which `first` may be known.

    No point is further than `reach` from the base. Exact values may be asked `ahead` of points alone.
    """
    d, p = len(base), sum(widths)
    h = output_differences.BENT_AHEAD if ahead else output_differences.hessian_step(noise)
    rank = min(f(base[None]).shape[1], widths[-1])
    e = run.sphere(max(pairs, math.ceil(p / rank)), d)
    offsets = min(max(RADIUS * g.monotone, 2 * h), reach - 1.5 * h) * torch.cat([e, -e])
    bent = output_differences.hessians_ahead if ahead else output_differences.packed_hessians
    packed = bent(f, base + offsets, h)
    spectrum = gram_span.spectrum(packed.flatten(0, 1))
    gap = min(spectrum.gap(p), COHERENT / (h if ahead else h**2))
    found = entangled_search.search(spectrum.projector(p, d), spectrum.basis(p), p, run, gap=gap)
    if len(found) < p:
        raise GiveUp(f"found {len(found)} of {p} directions above, gap of their span {gap:.2g}")
    u = found.T if first is None else known_first(found.T, first)
    seen = gauge_labels.bends(u, offsets, packed)
    skip = 0 if first is None else 1
    labels = gauge_labels.label(seen, widths, g, run, known=skip)
    return Seen(seen, labels.layer, {"gap": gap, "label_spread": labels.spread})


def known_first(u: Tensor, first: Tensor) -> Tensor:
    """The columns `first`, then those of `u` that are none of them."""
    rows, columns = assign(torch.minimum(distances(u, first), distances(u, -first)).cpu())
    others = torch.ones(u.shape[1], dtype=torch.bool, device=u.device)
    others[rows[columns.argsort()].to(u.device)] = False
    return torch.cat([first, u[:, others]], 1)


def orders(widths: tuple[int, ...], fixed: int) -> Iterator[list[int]]:
    """Which cluster may be which layer, the first `fixed` as they are: layers of equal width may be exchanged."""
    places: dict[int, list[int]] = {}
    for layer, width in enumerate(widths):
        places.setdefault(-layer if layer < fixed else width, []).append(layer)
    for shuffled in product(*(permutations(group) for group in places.values())):
        named = dict(zip((i for g in places.values() for i in g), (i for g in shuffled for i in g), strict=True))
        yield [named[layer] for layer in range(len(widths))]


def rough_networks(
    seen: Seen, base: Tensor, widths: tuple[int, ...], names: Sequence[str], inputs: Tensor, values: Tensor, fixed: int
) -> list[Network]:
    """Networks (3) for every order of layers of equal width, those first that explain `values` at `inputs` best."""
    found = []
    for number, order in enumerate(orders(widths, fixed)):
        if number == math.factorial(ORDERS):
            break
        hidden = stacked(seen.bends, [seen.layers == k for k in order], base, activation(names[0]))
        network = completed(hidden, names, inputs, values)
        found.append((float((network(inputs) - values).square().mean()), number, network))
    return [network for _, _, network in sorted(found, key=lambda entry: entry[:2])][:ORDERS]


def stacked(seen: Bends, layers: Sequence[Tensor], base: Tensor, g: Activation) -> list[tuple[Tensor, Tensor]]:
    """Weights and shifts of the hidden layers by the recursion (3)."""
    found: list[tuple[Tensor, Tensor]] = []
    fed, slopes = base, torch.eye(len(base), dtype=base.dtype, device=base.device)
    for mine in layers:
        w = torch.linalg.pinv(slopes) @ seen.u[:, mine]
        w = w / w.norm(dim=0)
        v = slopes @ w
        z = gauge_labels.preactivations(v.norm(dim=0) * seen.ratios[mine], g)
        found.append((w, z - fed @ w))
        fed, slopes = g(z), v * g(z, 1)
    return found


def completed(hidden: Sequence[tuple[Tensor, Tensor]], names: Sequence[str], inputs: Tensor, values: Tensor) -> Network:
    """Hidden layers with the output layer that fits `values` best before its activation."""
    y, g = inputs, activation(names[-1])
    for (w, b), name in zip(hidden, names, strict=False):
        y = activation(name)(torch.addmm(b, y, w))
    y = torch.cat([y, torch.ones_like(y[:, :1])], 1)
    outer = torch.linalg.pinv(y) @ inverse(g, values)
    return Network((*(w for w, _ in hidden), outer[:-1]), (*(b for _, b in hidden), outer[-1]), tuple(names))
