"""How far a network is from the true one, once its neurons stand in the true order with the true signs.

Neurons are matched one to one, so that two copies of one neuron never count twice. Which sign of a neuron is the right
one is decided by what it sends on: where the outer weights agree in sign nothing may flip, where they disagree the
neuron is read as its mirror image (odd and logistic activations only). A sine's neuron is the same after a half turn
with the other outer sign, so that its incoming weights say how it is to be read.

Where it is known which parameters the truth's own values determine (judging.determined), the others are neither right
nor wrong: they are taken as the truth has them, and a neuron that nobody can see is found by everybody.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from paramid.judging.metrics import EXACT, SHIFT, Metrics, Unjudgeable, bits
from paramid.judging.spans_and_directions import gram, score_gram, weight_metrics
from paramid.words import network as networks
from paramid.words.activations import activation as named_activation
from paramid.words.network import Network
from paramid.words.neuron_distances import CAP, CLOSE, TIE, assign, distances, match

ENOUGH = 0.5  # of the weights of a neuron


def score_network(truth: Network, claim: Network, known: Network | None = None) -> Metrics:
    """Weights, shifts, outer weights and signs of a layered network; `known` is 1 where a parameter is determined."""
    if not truth.widths:
        raise Unjudgeable("a network without hidden layers has no neurons to compare; its outputs can be")
    truth, claim = networks.normalise(truth), networks.normalise(claim)
    if known is not None:
        known = seen(known)
        truth = networks.normalise(times(truth, known))
    aligned, found, sign_share = align(truth, claim, known)
    if known is not None:
        aligned = filled(aligned, truth, known)
        found = [hit | ~visible(known, layer) for layer, hit in enumerate(found)]
    excess = max(0, sum(claim.widths) - sum(int(hit.sum()) for hit in found))
    distances, shifts = [], []
    for layer, hit in enumerate(found):
        gap = (truth.weights[layer] - aligned.weights[layer]).norm(dim=0)
        distances.append(torch.where(hit, gap, CAP).clamp(max=CAP))
        offset = (truth.biases[layer] - aligned.biases[layer]).abs()
        shifts.append(torch.where(hit, offset, CAP))
    bias = torch.cat(shifts)
    outer = max(
        float((truth.weights[-1] - aligned.weights[-1]).abs().max()),
        float((truth.biases[-1] - aligned.biases[-1]).abs().max()),
    )
    metrics = weight_metrics(distances, excess)
    metrics |= {
        "bias_error": float(bias.norm()),
        "bias_error_max": float(bias.max()),
        "outer_error": outer,
        "sign_accuracy": sign_share,
    }
    worst = max(metrics["bias_error_max"], outer, _largest_entry(truth, aligned))
    right = metrics["weight_error"] < CLOSE and sign_share == 1 and max(metrics["bias_error"], outer) < SHIFT
    metrics |= {
        "identified": float(right and not excess),
        "exact": float(worst < EXACT and not excess),
        "bits": bits(worst),
    }
    if _sees_only_gram(truth):
        metrics |= score_gram(gram(truth), gram(claim))
    return metrics


def shift_errors(truth: Network, claim: Network) -> Metrics:
    """‖|τ_l| - |τ̂_l|‖₂ / ‖τ_l‖₂ of every layer l that has shifts, the last one included."""
    aligned, _, _ = align(networks.normalise(truth), networks.normalise(claim), None)
    pairs = enumerate(zip(truth.biases, aligned.biases, strict=True), 1)
    return {
        f"shift_error_{layer}": float((t.abs() - c.abs()).norm() / t.norm()) for layer, (t, c) in pairs if bool(t.any())
    }


def in_words_of(truth: Network, claim: Network) -> Network:
    """The claim with the truth's activations; where no affine map leads to them, a network without neurons."""
    read = networks.read_as(claim, truth.activations)
    if read is not None or len(claim.widths) != len(truth.widths):
        return read or claim
    nothing = torch.zeros(0, dtype=torch.int64, device="cpu")
    for layer in range(len(claim.widths)):
        claim = networks.permute(claim, layer, nothing)
    return replace(claim, activations=truth.activations)


def seen(known: Network) -> Network:
    """`known` without the neurons that cannot be seen: of what comes in too little is known, or nothing that goes out.

    What goes to a neuron that cannot be seen says nothing of the one that sends it.
    """
    w, b = list(known.weights), list(known.biases)
    above = torch.ones_like(b[-1], dtype=torch.bool)
    for layer in reversed(range(len(w) - 1)):
        sends = (w[layer + 1][:, above] > 0).any(dim=1) | ~above.any()
        above = (w[layer].mean(dim=0) > ENOUGH) & (b[layer] > 0) & sends
        w[layer], b[layer], w[layer + 1] = w[layer] * above, b[layer] * above, w[layer + 1] * above[:, None]
    return known.with_layers(w, b)


def visible(known: Network, layer: int) -> Tensor:
    """Which neurons of a hidden layer anything is known of."""
    return known.biases[layer] > 0


def times(network: Network, known: Network) -> Network:
    """The network with zeros where nothing is known."""
    return network.with_layers(
        [w * k for w, k in zip(network.weights, known.weights, strict=True)],
        [b * k for b, k in zip(network.biases, known.biases, strict=True)],
    )


def filled(claim: Network, truth: Network, known: Network) -> Network:
    """The claim with the truth's own parameters where nothing is known."""
    return claim.with_layers(
        [torch.where(k > 0, c, t) for c, t, k in zip(claim.weights, truth.weights, known.weights, strict=True)],
        [torch.where(k > 0, c, t) for c, t, k in zip(claim.biases, truth.biases, known.biases, strict=True)],
    )


def align(truth: Network, claim: Network, known: Network | None) -> tuple[Network, list[Tensor], float]:
    """The claim with its neurons in the truth's order and signs, layer after layer.

    Neurons that the claim lacks become zeros and excess ones are left out. Also: which true neurons were matched, by
    layer, and the share of all that can be seen whose sign is right.
    """
    if truth.activations != claim.activations or truth.inputs != claim.inputs or truth.outputs != claim.outputs:
        raise Unjudgeable(
            f"a network {claim.inputs}-{claim.outputs} with {claim.activations} cannot be judged against "
            f"{truth.inputs}-{truth.outputs} with {truth.activations}"
        )
    found, signs_right, neurons = [], 0.0, 0
    for layer, width in enumerate(truth.widths):
        last = layer == len(truth.widths) - 1
        mirrored = _mirrored(truth, claim, layer, last)
        a = torch.cat([truth.weights[layer], TIE * truth.biases[layer][None]])
        b = torch.cat([claim.weights[layer], TIE * claim.biases[layer][None]])
        rows, columns, signs = match(a, b, mirrored)
        there = torch.ones_like(truth.biases[layer], dtype=torch.bool) if known is None else visible(known, layer)
        neurons += int(there.sum())
        signs_right += _signs_right(truth.weights[layer][:, there], claim.weights[layer], mirrored[there])
        symmetric = named_activation(truth.activations[layer]).symmetry is not None
        claim = networks.permute(claim, layer, columns)
        claim = networks.flip(claim, layer, signs) if symmetric else claim
        claim = _turned_to(truth, claim, layer, rows)
        claim = _spread(claim, layer, rows, width)
        if known is not None:
            claim = networks.normalise(_as_known(claim, known, layer))
        found.append(torch.zeros(width, dtype=torch.bool, device="cpu").index_fill(0, rows, True))
    return claim, found, signs_right / neurons if neurons else 1.0


def _as_known(claim: Network, known: Network, layer: int) -> Network:
    """The claim without what is not known of an aligned layer, and of what its neurons send on."""
    w, b = list(claim.weights), list(claim.biases)
    w[layer], b[layer] = w[layer] * known.weights[layer], b[layer] * known.biases[layer]
    w[layer + 1] = w[layer + 1] * (known.weights[layer + 1] > 0).any(dim=1, keepdim=True)
    return claim.with_layers(w, b)


def _turned_to(truth: Network, claim: Network, layer: int, rows: Tensor) -> Network:
    """The claim with shifts of a periodic activation within half a turn of the truth's at `rows`."""
    half = named_activation(truth.activations[layer]).half_turn
    if half is None:
        return claim
    return networks.turn(claim, layer, ((truth.biases[layer][rows] - claim.biases[layer]) / half).round())


def _mirrored(truth: Network, claim: Network, layer: int, last: bool) -> Tensor:
    """Which pairs (true, claimed) are compared as mirror images."""
    g = named_activation(truth.activations[layer])
    a, b = truth.weights[layer], claim.weights[layer]
    if g.symmetry is None:
        return torch.zeros(a.shape[1], b.shape[1], dtype=torch.bool, device="cpu")
    if last and g.symmetry != "even" and g.half_turn is None:
        return truth.weights[-1] @ claim.weights[-1].T < 0
    return distances(a, -b) < distances(a, b)


def _signs_right(truth: Tensor, claim: Tensor, mirrored: Tensor) -> float:
    """How many true neurons, matched up to sign, have the sign that their mirroring demands."""
    straight, turned = distances(truth, claim), distances(truth, -claim)
    right = (straight <= turned) != mirrored
    gaps = torch.minimum(straight, turned).clamp(max=CAP)
    cost = gaps + TIE * ~right  # between w and -w, both there, the right one is meant
    rows, columns = assign(cost)
    return float(right[rows, columns].sum())


def _spread(claim: Network, layer: int, rows: Tensor, width: int) -> Network:
    """The claim with its neurons at `rows` of a layer of `width`, zeros elsewhere."""
    w, b = list(claim.weights), list(claim.biases)
    w[layer] = w[layer].new_zeros(w[layer].shape[0], width).index_copy(1, rows, w[layer])
    b[layer] = b[layer].new_zeros(width).index_copy(0, rows, b[layer])
    w[layer + 1] = w[layer + 1].new_zeros(width, w[layer + 1].shape[1]).index_copy(0, rows, w[layer + 1])
    return claim.with_layers(w, b)


def _largest_entry(truth: Network, aligned: Network) -> float:
    """The largest error of a single weight."""
    return max(float((a - b).abs().max()) for a, b in zip(truth.weights, aligned.weights, strict=True))


def _sees_only_gram(network: Network) -> bool:
    return network.activations == ("square", "identity") and network.outputs == 1
