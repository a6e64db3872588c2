"""What no method can tell apart, named before anybody works: dead, equal, mirrored and parallel neurons, and too many.

Neurons of one layer are compared as (w, b), up to sign where the activation allows it: g(-z) = ±g(z) + constant. Equal
projections on one random vector make the candidates, so that m neurons cost m log m and not m².

Neurons with g(cz) = c g(z) are compared as planes: (w, b) / ‖w‖. What they send on, ‖w‖ ‖a‖, is told beside the
strongest of their layer, and whether they switch by inputs of the law, which is Gaussian. Of smooth neurons it is told
besides what training may have done to them (worn_neurons).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from paramid.judging import worn_neurons
from paramid.words import random_streams
from paramid.words.activations import activation
from paramid.words.network import Network

SAME = 1e-8
TOLD = 5  # pairs of a kind; the rest are counted
FAINT = 1e-6  # of what the strongest sends on
INPUTS, AT_ONCE = 10_000, 1000  # of the law: a neuron that switches on none of them switches nowhere


def obstacles(network: Network) -> tuple[str, ...]:
    """Why the parameters of a network cannot be seen in its values, or not by methods that need distinct directions.

    Examples
    --------
    >>> paramid.obstacles(paramid.task("shallow:D=3,m=5").draw(0))
    ('layer 1: 5 neurons exceed D(D-1)/2 = 3: Hessians do not tell them apart, derivatives of order 3 do up to 7',)
    """
    found: list[str] = []
    flat = worn_neurons.flat(network.to("cpu", torch.float64))
    for layer, width in enumerate(network.widths):
        found += (f"layer {layer + 1}: {told}" for told in _of_layer(network, layer, flat[layer]))
        fed = network.weights[layer].shape[0]
        smooth = activation(network.activations[layer]).smooth
        if smooth and layer == 0 and width > max(1, limit := told_apart(fed, 2)):
            exceeds = f"layer 1: {width} neurons exceed D(D-1)/2 = {limit}"
            found.append(f"{exceeds}: Hessians do not tell them apart, {_by_more(fed, width)}")
    return tuple(found)


def told_apart(inputs: int, order: int) -> int:
    """Up to so many neurons, in general, w^⊗s are the only rank-ones of their span: C(D+s-1, s) - D."""
    return math.comb(inputs + order - 1, order) - inputs


def _by_more(fed: int, width: int) -> str:
    """The order of derivatives that tells so many neurons apart."""
    for order in (3, 4):
        if width <= (bound := told_apart(fed, order)):
            return f"derivatives of order {order} do up to {bound}"
    return f"nor do derivatives of order 4 beyond {told_apart(fed, 4)}"


def _of_layer(network: Network, layer: int, flat: Tensor) -> Iterator[str]:
    w, b = network.weights[layer].detach().cpu().double(), network.biases[layer].detach().cpu().double()
    out = network.weights[layer + 1].detach().cpu().double().norm(dim=1)
    planes = activation(network.activations[layer]).degree == 1
    fed, sent = w.norm(dim=0) > SAME, out > (0 if planes else SAME)
    yield from _summed("is dead: nothing comes in", (~fed).nonzero()[:, 0].tolist())
    yield from _summed("is dead: nothing goes out", (~sent & fed).nonzero()[:, 0].tolist())
    alive = (fed & sent).nonzero()[:, 0]
    if not len(alive):
        return
    if planes:
        yield from _of_planes(network, layer, alive)
        length = w.norm(dim=0)
        w, b = w / length, b / length
    yield from _of_pairs(torch.cat([w, b[None]])[:, alive], alive, network.activations[layer], planes=planes)
    if activation(network.activations[layer]).degree is None:
        yield from _worn(w, out, alive, flat)


def _worn(w: Tensor, out: Tensor, alive: Tensor, flat: Tensor) -> Iterator[str]:
    """What training may have done to neurons that are alive."""
    shown = [k for k in flat.tolist() if k in set(alive.tolist())]
    yield from _summed("is saturated: it is flat on all inputs of the law", shown)
    pairs = list(worn_neurons.nearly_parallel(w, alive))
    yield from _summed(f"are nearly parallel, |cos| > {worn_neurons.PARALLEL}: Hessians hardly tell them apart", pairs)
    faint = worn_neurons.faint(out, alive)
    yield from _summed(f"sends on less than {worn_neurons.FAINT:g} of what another does: it shows late", faint)


def _of_pairs(whole: Tensor, alive: Tensor, name: str, *, planes: bool) -> Iterator[str]:
    """The neurons (w, b) that are alive, two by two."""
    symmetric = activation(name).symmetry is not None
    same, mirrored, parallel = [], [], []
    for i, j in _pairs(whole[:-1] / whole[:-1].norm(dim=0)):
        pair = (int(alive[i]), int(alive[j]))
        if float((whole[:, i] - whole[:, j]).norm()) < SAME:
            same.append(pair)
        elif (symmetric or planes) and float((whole[:, i] + whole[:, j]).norm()) < SAME:
            mirrored.append(pair)
        else:
            parallel.append(pair)
    factor = " up to a positive factor" if planes else ""
    yield from _summed(f"are the same{factor}: only their sum is seen", same)
    if symmetric:
        yield from _summed("are mirror images: only their sum or difference is seen", mirrored)
    else:
        yield from _summed("look away from each other at one plane: a kink shows only their sum", mirrored)
    cost = "kinks come in pairs, as close as they are" if planes else "Hessians cannot tell them apart"
    if activation(name).half_turn is not None:
        cost = "only one wave, their sum, is seen"
    yield from _summed(f"have {'parallel planes' if planes else 'one direction'}: {cost}", parallel)


def _of_planes(network: Network, layer: int, alive: Tensor) -> Iterator[str]:
    """Neurons that hardly show, and those that never switch."""
    on = torch.zeros(network.widths[layer], dtype=torch.int64, device="cpu")
    source = random_streams.generator(0, "obstacles")
    for _ in range(INPUTS // AT_ONCE):
        x = random_streams.normal(AT_ONCE, network.inputs, source, on.device, torch.float64)
        on += (network.preactivations(x.to(network.weights[0]))[layer] > 0).sum(dim=0).cpu()
    yield from _summed("is never active on inputs of the law", alive[on[alive] == 0].tolist())
    yield from _summed("is always active on inputs of the law: it is linear", alive[on[alive] == INPUTS].tolist())
    out = network.weights[layer].detach().cpu().double().norm(dim=0) * network.weights[
        layer + 1
    ].detach().cpu().double().norm(dim=1)
    faint = alive[out[alive] < FAINT * out.max()]
    yield from _summed(f"sends on less than {FAINT:g} of what another does: rounding hides its weights", faint.tolist())


def _pairs(units: Tensor) -> Iterator[tuple[int, int]]:
    """Columns that agree up to sign."""
    probe = random_streams.normal(1, len(units), random_streams.generator(0, "obstacles"), units.device, units.dtype)
    height = (probe @ units)[0].abs()
    values, order = height.sort()
    reach = SAME * float(probe.norm())
    for place in range(len(order)):
        for other in range(place + 1, len(order)):
            if values[other] - values[place] > reach:
                break
            i, j = sorted((int(order[place]), int(order[other])))
            if min(float((units[:, i] - s * units[:, j]).norm()) for s in (1, -1)) < SAME:
                yield i, j


def _summed(what: str, found: list[int] | list[tuple[int, int]]) -> Iterator[str]:
    names = [f"neurons {n[0]} and {n[1]}" if isinstance(n, tuple) else f"neuron {n}" for n in found]
    yield from (f"{name} {what}" for name in names[:TOLD])
    if len(names) > TOLD:
        yield f"{len(names) - TOLD} more {'pairs' if isinstance(found[0], tuple) else 'neurons'} so"
